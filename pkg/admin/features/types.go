package features

import (
	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

type featureTypeList struct {
	Version int               `json:"version"`
	Types   []featureTypeView `json:"types"`
}

// A featureTypeView is a feature type.
type featureTypeView struct {
	ID           flags.FeatureType `json:"id"`
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	LifetimeDays *int              `json:"lifetimeDays"` // how long such a flag is expected to be useful; null for ever
}

func listFeatureTypes(*httpapi.Tx, httpapi.InService) (featureTypeList, error) {
	return featureTypeList{Version: 1, Types: httpapi.Each(flags.FeatureTypeInfos(), featureTypeViewOf)}, nil
}

func featureTypeViewOf(t flags.FeatureTypeInfo) featureTypeView {
	view := featureTypeView{ID: t.ID, Name: t.Name, Description: t.Description}
	if t.Lifetime > 0 {
		view.LifetimeDays = &t.Lifetime
	}
	return view
}

// A validateFeatureBody asks whether a flag could be created.
type validateFeatureBody struct {
	Name      string                  `json:"name"`
	ProjectID jsonbody.Maybe[*string] `json:"projectId"`
}

func (b validateFeatureBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/name", b.Name, problems)
	if id := b.ProjectID.Value; id != nil {
		wire.CheckName("/projectId", *id, problems)
	}
}

// validateFeature tells whether a flag of that name could be created, as far as the name is concerned. An archived flag keeps its name.
func validateFeature(tx *httpapi.Tx, _ httpapi.InService, in validateFeatureBody) error {
	keys := []flags.Key{flags.FeatureKey(in.Name)}
	if id := in.ProjectID.Value; id != nil {
		keys = append(keys, flags.ProjectKey(*id))
	}
	tx.Load(keys...)
	if id := in.ProjectID.Value; id != nil {
		p := tx.FindProject(*id)
		if p == nil {
			return flags.Problems{{Path: "/projectId", Message: "there is no such project"}}.Err()
		}
		if err := p.CheckFlagName(in.Name); err != nil {
			return err
		}
	}
	if tx.FindFeature(in.Name) != nil {
		return flags.Errorf(flags.NameExists, "the flag name %q is taken; an archived flag keeps its name too", in.Name)
	}
	return nil
}
