package oldapi

import (
	"net/http"

	"guidon/pkg/flags"
)

type featureTypeList struct {
	Version int               `json:"version"`
	Types   []featureTypeView `json:"types"`
}

// A featureTypeView tells people about a feature type.
type featureTypeView struct {
	ID           flags.FeatureType `json:"id"`
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	LifetimeDays *int              `json:"lifetimeDays"` // how long such a flag is expected to be of use; null for no end
}

func listFeatureTypes(*call) (decision, error) {
	return ok(featureTypeList{Version: 1, Types: each(flags.FeatureTypeInfos(), featureTypeViewOf)})
}

func featureTypeViewOf(t flags.FeatureTypeInfo) featureTypeView {
	view := featureTypeView{ID: t.ID, Name: t.Name, Description: t.Description}
	if t.Lifetime > 0 {
		view.LifetimeDays = &t.Lifetime
	}
	return view
}

// A validateFeatureBody asks whether a flag could be made.
type validateFeatureBody struct {
	Name      string         `json:"name"`
	ProjectID maybe[*string] `json:"projectId"`
}

func (b validateFeatureBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/name", b.Name, problems)
	if id := b.ProjectID.Value; id != nil {
		checkName("/projectId", *id, problems)
	}
}

// keys are those of what the body names.
func (b validateFeatureBody) keys() []flags.Key {
	keys := []flags.Key{flags.FeatureKey(b.Name)}
	if id := b.ProjectID.Value; id != nil {
		keys = append(keys, flags.ProjectKey(*id))
	}
	return keys
}

// validateFeature says whether a flag of that name could be made, and makes none. An archived flag keeps its name.
func validateFeature(c *call, in validateFeatureBody) (decision, error) {
	if id := in.ProjectID.Value; id != nil && c.more[flags.ProjectKey(*id)] == nil {
		return decision{}, flags.Problems{{Path: "/projectId", Message: "there is no such project"}}.Err()
	}
	if c.more[flags.FeatureKey(in.Name)] != nil {
		return decision{}, flags.Errorf(flags.NameExists, "the flag name %q is taken; an archived flag keeps its name too", in.Name)
	}
	return decision{status: http.StatusOK}, nil
}
