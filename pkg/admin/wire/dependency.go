package wire

import (
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// A DependencyBody makes another flag a parent.
type DependencyBody struct {
	Feature  string               `json:"feature"`
	Enabled  jsonbody.Maybe[bool] `json:"enabled"` // default true
	Variants []string             `json:"variants"`
}

func (b DependencyBody) Check(_ flags.Limits, problems *flags.Problems) {
	b.Dependency().Check(problems)
}

// Dependency returns what the body says.
func (b DependencyBody) Dependency() flags.Dependency {
	return flags.Dependency{Feature: b.Feature, Enabled: b.Enabled.Or(true), Variants: b.Variants}
}
