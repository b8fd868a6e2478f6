package wire

import (
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A LegalValueView is an allowed value of a context field in a response.
type LegalValueView struct {
	Value       string  `json:"value"`
	Description *string `json:"description,omitzero"`
}

// LegalValueViews returns the allowed values of a context field.
func LegalValueViews(f flags.ContextField) []LegalValueView {
	return httpapi.Each(f.LegalValues, func(v flags.LegalValue) LegalValueView { return LegalValueView(v) })
}
