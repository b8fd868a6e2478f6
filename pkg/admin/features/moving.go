package features

import (
	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A moveBody names the project that a flag moves to.
type moveBody struct {
	NewProjectID string `json:"newProjectId"`
}

func (b moveBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/newProjectId", b.NewProjectID, problems)
}

// moveFeature moves a flag to another project. It takes two permissions: one in the flag's project, which is the
// operation's, and one in the other project.
func moveFeature(tx *httpapi.Tx, at httpapi.InFeature, in moveBody) error {
	from := at.Project(tx)
	f := tx.FeatureOf(from, at.FeatureName)
	again := loadForMove(f)
	if len(again) == 0 {
		tx.Load(flags.ProjectKey(in.NewProjectID))
	} else {
		tx.Again(append(again, flags.ProjectKey(in.NewProjectID))...)
	}
	to, err := in.target(tx, from)
	if err != nil {
		return err
	}
	return moveIn(tx, from, f, to)
}

// loadForMove are the segments that a flag uses, and the environments. They must be read after the flag: Move compares the
// flag with them.
func loadForMove(f *flags.Feature) []flags.Key {
	segments := f.Segments()
	if len(segments) == 0 {
		return nil
	}
	return append(httpapi.Each(segments, flags.SegmentKey), flags.EnvironmentsKey())
}

// target is the project that flags move to. It refuses callers who may not create flags there; a flag that stays where it is
// takes no permission but that of the operation.
func (b moveBody) target(tx *httpapi.Tx, from *flags.Project) (*flags.Project, error) {
	to := tx.FindProject(b.NewProjectID)
	switch {
	case to == nil:
		return nil, flags.Problems{{Path: "/newProjectId", Message: "there is no such project"}}.Err()
	case to.UID == from.UID:
		return to, nil
	}
	return to, tx.Caller.Authorize(access.CreateFeature, to, "")
}

func moveIn(tx *httpapi.Tx, from *flags.Project, f *flags.Feature, to *flags.Project) error {
	envs := tx.ProjectEnvironments(from)
	if err := f.Move(envs, to, tx.Environments(), tx.FindSegment); err != nil {
		return err
	}
	tx.Save(events.FeatureMoved(httpapi.Was(tx, f), f), f)
	return nil
}
