package httpapi

import (
	"slices"
	"strings"
	_ "time/tzdata" // freezes are in wall times of zones, and where functions run there is no other database of them
	"unicode/utf8"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// BreakGlass is the header in which an administrator sends the reason for skipping change requests that nobody skips.
const BreakGlass = "Break-Glass"

// maxReason is the maximum length of the reason in bytes.
const maxReason = 500

// guard checks what the function of an operation has changed: where change requests are on, and in freezes, guarded parts only change for
// callers who can skip these. It stands between the function and the commit, so it holds for every operation, also for those on many flags and
// for the validation of an import.
//
// It compares what is stored with what is written, so it costs no read: a write of a flag comes with its project and the registry of
// environments. What it has read of change requests and freezes becomes a condition of the change (see flags.ReviewAssumption). A freeze
// begins for the rounds that begin in it: one that began before may be committed until the time of its request is over.
func (tx *Tx) guard() error {
	if tx.asPlan {
		if err := flags.CheckByPlan(tx.change.Writes); err != nil {
			return err
		}
	}
	g := guardian{tx: tx}
	for _, w := range tx.change.Writes {
		if tx.stepView != nil {
			if _, changed := tx.stepView.changed[keyOf(w)]; changed {
				return flags.Errorf(flags.Internal, "internal error: a transaction saved what its steps have changed")
			}
		}
		if err := w.CheckValues(g.registry); err != nil {
			return err
		}
		for _, part := range w.Guarded() {
			g.check(part)
		}
		if s, guarded := w.SegmentGuarded(); guarded {
			g.checkSegment(s)
		}
		g.checkRemoved(w.RemovedEnvironments())
		if g.err != nil {
			return g.err
		}
	}
	return g.record()
}

// Skips are the names of the environments whose change requests and freezes a transaction skips.
type Skips struct{ Reviews, Freezes []string }

// NoteSkips sets skips to what the transaction skips, once its function has returned.
func (tx *Tx) NoteSkips(skips *Skips) {
	*skips = Skips{}
	tx.skips = skips
}

// A guardian guards the writes of one transaction.
type guardian struct {
	tx      *Tx
	err     error
	skipped []string // names of the environments whose change requests the caller skips
	broken  []string // those of them where nobody skips
	off     []string // names of the environments where the write switches a flag off without a change request
	frozen  []string // names of the environments whose freezes the caller skips
}

// check checks a part of a flag or project.
func (g *guardian) check(part flags.GuardedPart) {
	key := flags.ProjectKey(part.Project)
	g.tx.Load(key)
	p, _ := g.tx.round.view[key].(*flags.Project)
	if p == nil || p.UID != part.ProjectUID {
		return // a flag of a deleted project
	}
	g.assume(p)
	g.require(p, part, g.registry())
}

// checkSegment checks a change of a segment: it changes the flags that use it, wherever they are.
func (g *guardian) checkSegment(s *flags.Segment) {
	registry := g.registry()
	if registry.ReviewChanges == 0 {
		return // nothing is guarded
	}
	g.tx.assumed.SegmentUses = append(g.tx.assumed.SegmentUses, s.ID)
	if g.tx.FlagsUsing(s.ID) == 0 {
		return
	}
	uses, list := g.tx.SegmentUsers(s.ID), allOf(g.tx, flags.EntityProject)
	for _, a := range list {
		p := a.(*flags.Project)
		if !registry.Knows(p) {
			g.fail(flags.Errorf(flags.VersionConflict, "change requests or a freeze began at the same time in project %q", p.ID))
		}
		part := flags.GuardedPart{Project: p.ID, ProjectUID: p.UID}
		for _, u := range uses {
			if !u.In(p) || u.Archived {
				continue
			}
			for _, strategy := range u.Strategies {
				if strategy.UsesSegment(s.ID) {
					part.Environments = append(part.Environments, flags.GuardedEnvironment{UID: strategy.EnvironmentUID})
				}
			}
		}
		g.require(p, part, registry)
	}
}

// checkRemoved checks the removal of environments of the service.
func (g *guardian) checkRemoved(environments []flags.Environment) {
	if len(environments) == 0 {
		return
	}
	registry := g.registry()
	for _, a := range allOf(g.tx, flags.EntityProject) {
		p := a.(*flags.Project)
		part := flags.GuardedPart{Project: p.ID, ProjectUID: p.UID}
		for _, env := range environments {
			part.Environments = append(part.Environments, flags.GuardedEnvironment{UID: env.UID})
		}
		g.require(p, part, registry)
	}
}

// registry is the registry of environments as it is stored.
func (g *guardian) registry() *flags.Environments {
	key := flags.EnvironmentsKey()
	g.tx.Load(key)
	registry, _ := g.tx.round.view[key].(*flags.Environments)
	if registry == nil {
		g.tx.Fail(ErrNotSetUp)
	}
	g.tx.assumed.Changes = &registry.ReviewChanges
	return registry
}

// assume has the change depend on what was read of a project.
func (g *guardian) assume(p *flags.Project) {
	if g.tx.assumed.Projects == nil {
		g.tx.assumed.Projects = map[string]int64{}
	}
	g.tx.assumed.Projects[p.UID] = p.ReviewChange
}

// AsPlan has Guidon itself make the transaction, for a release plan. It may only make the strategies of one environment those of one of its
// milestones, or switch the flag off there; change requests and freezes do not keep it from that.
func (tx *Tx) AsPlan() { tx.Caller, tx.asPlan = access.Guidon(), true }

// AssumeSegment has the transaction depend on the content of a segment that it begins to use, as it was read: what was approved with it must
// not be committed with another one.
func (tx *Tx) AssumeSegment(s *flags.Segment) {
	if tx.assumed.Segments == nil {
		tx.assumed.Segments = map[int64]int64{}
	}
	tx.assumed.Segments[s.ID] = s.Version
}

// AssumeServed has the transaction, which must change what applications see, depend on that nothing else has changed that since the feed was
// loaded. Call it before a query that finds what it decides by, such as where flags are on: what a query finds is no condition.
func (tx *Tx) AssumeServed() {
	key := flags.FeedKey()
	tx.Load(key)
	number := int64(0)
	if feed, _ := tx.round.view[key].(*flags.Feed); feed != nil {
		number = feed.Number
	}
	tx.assumed.Served = &number
}

// require checks that a part was approved, or that the caller can skip the change requests of its environments, and their freezes.
func (g *guardian) require(p *flags.Project, part flags.GuardedPart, registry *flags.Environments) {
	if g.tx.asPlan {
		return
	}
	approved := func(env flags.Environment) bool { return g.tx.approved != nil && g.tx.approved(part, env) }
	reviewed, off := part.Reviewed(p, registry)
	for _, env := range off {
		if !approved(env) {
			g.off = append(g.off, env.Name)
		}
	}
	for _, env := range reviewed {
		if approved(env) {
			continue
		}
		if err := g.tx.Caller.AuthorizeSkip(p, env, g.tx.breakGlass()); err != nil {
			g.fail(err)
		}
		g.skipped = append(g.skipped, env.Name)
		if env.NobodySkips {
			g.broken = append(g.broken, env.Name)
		}
	}
	for _, frozen := range part.Frozen(p, registry, g.tx.Now) {
		if err := g.tx.Caller.AuthorizeFrozen(p, frozen); err != nil {
			g.fail(err)
		}
		g.frozen = append(g.frozen, frozen.Environment.Name)
	}
}

func (g *guardian) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// record notes in the events which change requests and freezes the caller has skipped.
func (g *guardian) record() error {
	if len(g.tx.events) == 0 {
		return nil
	}
	slices.Sort(g.frozen)
	slices.Sort(g.skipped)
	g.frozen, g.skipped = slices.Compact(g.frozen), slices.Compact(g.skipped)
	if g.tx.skips != nil {
		*g.tx.skips = Skips{Reviews: g.skipped, Freezes: g.frozen}
	}
	if len(g.frozen) > 0 {
		g.tx.events = append(g.tx.events, events.FreezeSkipped(g.tx.events[0], g.frozen))
	}
	if len(g.broken) > 0 {
		slices.Sort(g.broken)
		g.tx.events = append(g.tx.events, events.GlassBroken(g.tx.events[0], slices.Compact(g.broken), g.tx.breakGlass()))
	}
	if all := slices.Concat(g.skipped, g.off); len(all) > 0 {
		slices.Sort(all)
		for i := range g.tx.events {
			g.tx.events[i].SkippedReviews = slices.Compact(all)
		}
	}
	return nil
}

// breakGlass is the reason for skipping change requests that nobody skips; "" without one.
func (tx *Tx) breakGlass() string {
	sent := strings.Join(tx.request.http.Header.Values(BreakGlass), ", ") // in Lambda, a text with commas arrives as several values
	reason := utf8Of(strings.TrimSpace(sent))
	return strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "") // a header has any bytes, and the cut can be inside a character
}

// utf8Of is a header that was sent in UTF-8. What decodes it on the way as ISO 8859-1, as HTTP once had it, makes a character of each byte.
func utf8Of(header string) string {
	var sent []byte
	for _, r := range header {
		if r > 0xff {
			return header
		}
		sent = append(sent, byte(r)) //nolint:gosec // G115: it is at most 0xff
	}
	if !utf8.Valid(sent) {
		return header
	}
	return string(sent)
}

// SegmentUsers is what the flags use that use a segment. Read their number before, see FlagsUsing: if it is 0, there is nothing to list.
func (tx *Tx) SegmentUsers(segment int64) []flags.FeatureUse {
	type usesOf struct{ segment int64 }
	return OncePerRound(tx, usesOf{segment}, func() (uses []flags.FeatureUse) {
		tx.EachUse(func(u flags.FeatureUse) (goOn bool) {
			if slices.ContainsFunc(u.Strategies, func(s flags.StrategyUse) bool { return s.UsesSegment(segment) }) {
				uses = append(uses, u)
			}
			return true
		})
		return uses
	})
}
