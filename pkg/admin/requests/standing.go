package requests

import (
	"maps"
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/review"
)

// environmentOf is the environment of a request as the project has it now. It is not found if the environment was deleted or detached since,
// also if it was attached again: flags are off then.
func environmentOf(tx *httpapi.Tx, p *flags.Project, r *review.Request) (env flags.ProjectEnvironment, found bool) {
	env, found = tx.FindProjectEnvironment(p, r.Environment)
	return env, found && env.UID == r.EnvironmentUID && env.Attachment.ID == r.AttachmentID
}

// guardedNow are the environments that a request concerns in which change requests are on now, and how many approvals it needs there.
func guardedNow(tx *httpapi.Tx, p *flags.Project, r *review.Request) (names []string, approvals int) {
	for _, env := range tx.ProjectEnvironments(p) {
		rule, on := p.Review(env.Environment)
		if on && concerns(r.Guarded, env.Environment) {
			names, approvals = append(names, env.Name), max(approvals, rule.Approvals, env.RequiredApprovals)
		}
	}
	return names, r.Needs(approvals)
}

// standingOf is what counts at present for a request. It loads what the request is about.
func standingOf(tx *httpapi.Tx, p *flags.Project, r *review.Request) review.Standing {
	s, _ := examine(tx, p, r)
	return s
}

// differences are what has changed since the changes of a request were made, in words, by the flags and segments that it changes.
type differences struct {
	features map[string]string
	segments map[int64]string
}

// examine returns the standing of a request, and the differences of an open one.
func examine(tx *httpapi.Tx, p *flags.Project, r *review.Request) (review.Standing, differences) {
	environments, needed := guardedNow(tx, p, r)
	if !r.Open() {
		return review.Standing{Needed: needed, Approvals: r.Approvals}, differences{}
	}
	s := review.Standing{Needed: needed, Approvals: r.Valid(tx.Now, func(user int64) bool { return mayApprove(tx, tx.FindUser(user), p, environments) })}
	env, found := environmentOf(tx, p, r)
	if !found {
		s.Gone = "environment \"" + r.Environment + "\" was deleted, or detached from the project, or the project was deleted"
		return s, differences{}
	}
	d := differences{map[string]string{}, map[int64]string{}}
	if r.Untried {
		s.Conflicts = append(s.Conflicts, review.NotTried)
	}
	load(tx, env, r.Changes, r.Bases.Uses)
	now := basesOf(tx, env, elsewhere(tx, p, env, r.Guarded), r.Changes, r.Bases.Uses)
	noteUses(tx, now.Segments, func(id int64, base review.SegmentBase) bool { return base.Begun != r.Bases.Segments[id].Begun })
	for _, e := range tx.ProjectEnvironments(p) {
		if _, on := p.Review(e.Environment); on && !concerns(r.Guarded, e.Environment) && slices.ContainsFunc(r.Features(), r.OfWholeFlag) {
			s.Conflicts = append(s.Conflicts, "change requests were switched on in environment \""+e.Name+"\", which its changes concern, too")
		}
	}
	for _, name := range r.Features() {
		is, exists := now.Features[name]
		if exists && is.Project != p.UID {
			s.Gone = "flag \"" + name + "\" was moved to another project"
		}
		d.features[name] = r.Bases.Features[name].Difference(name, present(is, exists))
		s.Conflicts = appendText(s.Conflicts, d.features[name])
	}
	for _, id := range r.Segments() {
		is, exists := now.Segments[id]
		d.segments[id] = r.Bases.Segments[id].Difference(id, present(is, exists))
		s.Conflicts = appendText(s.Conflicts, d.segments[id])
	}
	return s, d
}

func present[T any](value T, exists bool) *T {
	if !exists {
		return nil
	}
	return &value
}

func appendText(list []string, text string) []string {
	if text == "" {
		return list
	}
	return append(list, text)
}

// listedStanding is the standing of a request in a list. It does not look at the flags: a request whose flags have changed since looks
// approved in a list, but not if it is read by itself.
func listedStanding(tx *httpapi.Tx, p *flags.Project, r *review.Request) review.Standing {
	_, needed := guardedNow(tx, p, r)
	if !r.Open() {
		return review.Standing{Needed: needed, Approvals: r.Approvals}
	}
	return review.Standing{Needed: needed, Approvals: r.Valid(tx.Now, func(int64) bool { return true })}
}

// mayApprove reports whether a user exists, is a person, and may approve in all of these environments.
func mayApprove(tx *httpapi.Tx, u *access.User, p *flags.Project, environments []string) bool {
	if u == nil || u.ServiceAccount {
		return false
	}
	caller, err := access.AsUser(u, tx.Roles())
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(environments, func(env string) bool { return !caller.HasPermission(access.ApproveChangeRequest, p, env) })
}

// load brings what changes are about, and the segments that the flags use now, or after the changes (see review.Bases).
func load(tx *httpapi.Tx, env flags.ProjectEnvironment, changes []review.Change, uses map[string][]int64) {
	r := review.Request{Changes: changes}
	keys := httpapi.FeatureKeys(r.Features()...)
	for _, id := range r.Segments() {
		keys = append(keys, flags.SegmentKey(id), flags.UseCountKey(id))
	}
	tx.Load(append(keys, flags.StrategyTypesKey())...)
	var used []flags.Key
	for _, name := range r.Features() {
		used = append(used, httpapi.Each(uses[name], flags.SegmentKey)...)
		if f := tx.FindFeature(name); f != nil {
			used = append(used, httpapi.Each(segmentsOf(f, env), flags.SegmentKey)...)
		}
	}
	tx.Load(used...)
}

// elsewhere are the environments of a project, apart from one, that are among the guarded ones.
func elsewhere(tx *httpapi.Tx, p *flags.Project, env flags.ProjectEnvironment, guarded []review.Guarded) []flags.ProjectEnvironment {
	return slices.DeleteFunc(slices.Clone(tx.ProjectEnvironments(p)), func(e flags.ProjectEnvironment) bool {
		return e.UID == env.UID || !concerns(guarded, e.Environment)
	})
}

// basesOf is what changes would be made on now: those of a whole flag also in other environments. What does not exist is missing.
func basesOf(tx *httpapi.Tx, env flags.ProjectEnvironment, others []flags.ProjectEnvironment, changes []review.Change, uses map[string][]int64) review.Bases {
	r, now := review.Request{Changes: changes}, review.Bases{Uses: uses}
	for _, name := range r.Features() {
		if f := tx.FindFeature(name); f != nil {
			if now.Features == nil {
				now.Features = map[string]review.FeatureBase{}
			}
			where := others
			if !r.OfWholeFlag(name) {
				where = nil
			}
			base := review.BaseOf(f, env, where, uses[name], tx.FindSegment)
			if plan := f.Plan(env); plan != nil && slices.ContainsFunc(changes, func(c review.Change) bool { return c.Feature == name && c.Action == review.StartMilestone }) {
				base.Run = plan.Run
			}
			now.Features[name] = base
		}
	}
	for _, id := range r.Segments() {
		if s := tx.FindSegment(id); s != nil {
			if now.Segments == nil {
				now.Segments = map[int64]review.SegmentBase{}
			}
			base := review.SegmentBaseOf(s)
			base.Begun = tx.SegmentForChange(id).UseCount // loaded with the segment, see load
			now.Segments[id] = base
		}
	}
	return now
}

// noteUses notes in bases of segments where flags use these, if needed says so: it reads what all flags use. A use counts where change
// requests are on, in any project: elsewhere, a change of the segment needs no approval.
func noteUses(tx *httpapi.Tx, bases map[int64]review.SegmentBase, needed func(int64, review.SegmentBase) bool) {
	for _, id := range slices.Sorted(maps.Keys(bases)) {
		if base := bases[id]; needed(id, base) {
			base.Uses = review.UsesHash(guardedUses(tx, id))
			bases[id] = base
		}
	}
}

// guardedUses are the uses of a segment by active flags where change requests are on.
func guardedUses(tx *httpapi.Tx, segment int64) (uses []review.SegmentUse) {
	if tx.FlagsUsing(segment) == 0 {
		return nil
	}
	users := tx.SegmentUsers(segment)
	for _, p := range tx.Projects() {
		for _, env := range tx.ProjectEnvironments(p) {
			if _, on := p.Review(env.Environment); !on {
				continue
			}
			for _, u := range users {
				inEnvironment := func(s flags.StrategyUse) bool { return s.EnvironmentUID == env.UID && s.UsesSegment(segment) }
				if u.In(p) && !u.Archived && slices.ContainsFunc(u.Strategies, inEnvironment) {
					uses = append(uses, review.SegmentUse{Feature: u.Feature, ProjectUID: p.UID, EnvironmentUID: env.UID})
				}
			}
		}
	}
	return uses
}
