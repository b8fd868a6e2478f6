package oldapi

import (
	"guidon/pkg/flags"
)

// uses are what flags use, where they are listed.
func (c *call) uses() []flags.FeatureUse {
	return each(c.lists[flags.EntityUse], func(a flags.Aggregate) flags.FeatureUse { return a.(flags.FeatureUse) })
}

// A contextFieldView is a context field as it is answered.
type contextFieldView struct {
	Name        string           `json:"name"`
	Description *string          `json:"description"`
	Stickiness  bool             `json:"stickiness"`
	SortOrder   int64            `json:"sortOrder"`
	LegalValues []legalValueView `json:"legalValues"`
	CreatedAt   timestamp        `json:"createdAt"`
}

type legalValueView struct {
	Value       string  `json:"value"`
	Description *string `json:"description,omitzero"`
}

func contextFieldViewOf(f flags.ContextField) contextFieldView {
	return contextFieldView{f.Name, f.Description, f.Stickiness, f.SortOrder,
		each(f.LegalValues, func(v flags.LegalValue) legalValueView { return legalValueView(v) }), timestamp(f.CreatedAt)}
}
