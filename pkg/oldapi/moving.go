package oldapi

import (
	"net/http"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// moveFeature takes a flag to another project. It takes two permissions: one where the flag is, which is the
// operation's, and one where it goes.
func moveFeature(c *call, in moveBody) (decision, error) {
	if err := in.allowed(c); err != nil {
		return decision{}, err
	}
	return in.move(c)
}

func moveFlags() decider {
	return toFlags(work[moveFlagsBody]{
		status: http.StatusOK, done: "moved",
		more:   segmentKeys,
		common: func(in moveFlagsBody) []flags.Key { return in.keys() },
		review: func(c *call, in moveFlagsBody) error { return in.allowed(c) },
		decide: func(c *call, in moveFlagsBody) (decision, error) { return in.move(c) },
	})
}

// A moveBody names the project that a flag goes to.
type moveBody struct {
	NewProjectID string `json:"newProjectId"`
}

// A moveFlagsBody names the project that flags go to.
type moveFlagsBody struct {
	flagsBody
	moveBody
}

func (b moveBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/newProjectId", b.NewProjectID, problems)
}

func (b moveFlagsBody) check(limits flags.Limits, problems *flags.Problems) {
	b.flagsBody.check(limits, problems)
	b.moveBody.check(limits, problems)
}

func (b moveBody) keys() []flags.Key { return []flags.Key{flags.ProjectKey(b.NewProjectID)} }

// segmentKeys are the segments that the flag of the call uses, and the environments, again: Move takes those that were
// read after the flag.
func segmentKeys(c *call) []flags.Key {
	segments := c.feature.Segments()
	if len(segments) == 0 {
		return nil
	}
	return append(each(segments, flags.SegmentKey), flags.EnvironmentsKey())
}

// target is the project that flags go to; nil when there is none.
func (b moveBody) target(c *call) *flags.Project {
	return flags.Find[*flags.Project](c.more, flags.ProjectKey(b.NewProjectID))
}

// allowed says why nothing may go there at all. To stay takes no more than to go.
func (b moveBody) allowed(c *call) error {
	to := b.target(c)
	switch {
	case to == nil:
		return flags.Problems{{Path: "/newProjectId", Message: "there is no such project"}}.Err()
	case to.UID == c.project.UID:
		return nil
	}
	return c.caller.Authorize(flags.CreateFeature, to, "")
}

// move takes the flag of the call there.
func (b moveBody) move(c *call) (decision, error) {
	f, to := c.feature.Clone(), b.target(c)
	if err := f.Move(c.environments, to, c.latestRegistry(), c.segmentNamed); err != nil {
		return decision{}, err
	}
	return c.changesFeature(f, events.FeatureMoved(c.feature, f), http.StatusOK, nil)
}
