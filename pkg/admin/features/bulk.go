package features

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// bulkOperations apply one change to many flags of a project. Each flag changes in a transaction of its own, by the same rules
// and with the same events as in the operation on one flag. If some fail, the others are still changed.
func bulkOperations() []httpapi.Operation {
	const environment = inProject + "/bulk_features/environments/{environment}"
	return []httpapi.Operation{
		{Route: "POST " + inProject + "/archive", Permission: access.DeleteFeature, Ahead: environments, Status: http.StatusAccepted, Handle: httpapi.DoManyBody(archiveFeatures)},
		{Route: "POST " + inProject + "/archive/validate", Permission: access.Read, Handle: httpapi.HandleBody(validateArchive)},
		{Route: "POST " + inProject + "/revive", Permission: access.UpdateFeature, Handle: httpapi.DoManyBody(reviveFeatures)},
		{Route: "POST " + inProject + "/stale", Permission: access.UpdateFeature, Status: http.StatusAccepted, Handle: httpapi.DoManyBody(markFeatures)},
		{Route: "PUT " + inProject + "/tags", Permission: access.UpdateFeature, Ahead: []flags.Key{flags.TagTypesKey()}, Handle: httpapi.DoManyBody(tagFeatures)},
		{Route: "POST " + inProject + "/changeProject", Permission: access.MoveFeature, Ahead: environments, Handle: httpapi.DoManyBody(moveFeatures)},
		{Route: "POST " + environment + "/on", Permission: access.UpdateFeatureEnvironment, Ahead: environments, Handle: httpapi.DoManyBody(enableFeatures)},
		{Route: "POST " + environment + "/off", Permission: access.UpdateFeatureEnvironment, Ahead: environments, Handle: httpapi.DoManyBody(disableFeatures)},
	}
}

// A flagsBody names flags.
type flagsBody struct {
	Features jsonbody.Maybe[[]string] `json:"features"`
}

func (b flagsBody) Check(_ flags.Limits, problems *flags.Problems) {
	if !b.Features.Set {
		problems.Add("/features", "is required; it may be empty: []")
	}
	if n := len(b.Features.Value); n > wire.MaxBulk {
		problems.Add("/features", "must name at most %d flags, names %d; send several requests", wire.MaxBulk, n)
		return
	}
	for i, name := range b.Features.Value {
		flags.CheckLength("/features/"+strconv.Itoa(i), name, flags.MaxName, problems)
	}
}

// names are the names of the body, each once, and where each comes first.
func (b flagsBody) names() (names []string, places []int) {
	for i, name := range b.Features.Value {
		if !slices.Contains(names, name) {
			names, places = append(names, name), append(places, i)
		}
	}
	return names, places
}

// without returns the names that are absent from the body.
func (b flagsBody) without(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(b.Features.Value, name) })
}

// load loads the flags of the body with other keys, in one call.
func (b flagsBody) load(tx *httpapi.Tx, keys ...flags.Key) {
	tx.Load(append(httpapi.FeatureKeys(b.Features.Value...), keys...)...)
}

// prepare checks that the project exists, and loads the flags of the body.
func (b flagsBody) prepare(m *httpapi.Many, at httpapi.InProject) error {
	return m.Read(func(tx *httpapi.Tx) error {
		at.Project(tx)
		b.load(tx)
		return nil
	})
}

// each changes every flag of the body, and returns an error that tells which ones failed. needs, if it is not nil, names flags
// of the body that are changed before a flag.
func (b flagsBody) each(m *httpapi.Many, done string, needs func(name string) []string, change func(tx *httpapi.Tx, name string) error) error {
	names, places := b.names()
	index := map[string]int{}
	for i, name := range names {
		index[name] = i
	}
	after := func(i int) (before []int) {
		if needs == nil {
			return nil
		}
		for _, name := range needs(names[i]) {
			if j, named := index[name]; named {
				before = append(before, j)
			}
		}
		return before
	}
	return failure(done, places, m.Each(len(names), after, func(tx *httpapi.Tx, i int) error { return change(tx, names[i]) }))
}

// archiveFeatures archives flags. Those that depend on others come first.
func archiveFeatures(m *httpapi.Many, at httpapi.InProject, in flagsBody) error {
	children := map[string][]string{}
	err := m.Read(func(tx *httpapi.Tx) error {
		at.Project(tx)
		in.load(tx)
		for _, name := range in.Features.Value {
			if f := tx.FindFeature(name); f != nil {
				children[name] = f.Children
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	childrenOf := func(name string) []string { return children[name] }
	return in.each(m, "archived", childrenOf, func(tx *httpapi.Tx, name string) error {
		return archiveIn(tx, tx.FeatureOrArchivedOf(at.Project(tx), name))
	})
}

// An archiveReport tells what archiving some flags would mean for others.
type archiveReport struct {
	Parents          []string `json:"parentsWithChildFeatures"`
	EndsDependencies bool     `json:"hasDeletedDependencies"`
}

// validateArchive tells what archiving flags would mean for others. Names without a flag are ignored.
func validateArchive(tx *httpapi.Tx, at httpapi.InProject, in flagsBody) (archiveReport, error) {
	p := at.Project(tx)
	in.load(tx)
	report := archiveReport{Parents: []string{}}
	names, _ := in.names()
	for _, name := range names {
		f := tx.FindFeature(name)
		if f == nil || f.Archived || f.ProjectUID != p.UID {
			continue
		}
		report.EndsDependencies = report.EndsDependencies || f.Relation() != ""
		if len(in.without(f.Children)) > 0 {
			report.Parents = append(report.Parents, name)
		}
	}
	return report, nil
}

func reviveFeatures(m *httpapi.Many, at httpapi.InProject, in flagsBody) error {
	if err := in.prepare(m, at); err != nil {
		return err
	}
	return in.each(m, "revived", nil, func(tx *httpapi.Tx, name string) error {
		return reviveIn(tx, tx.FeatureOrArchivedOf(at.Project(tx), name))
	})
}

// enableFeatures switches flags on. A plan that a safeguard stopped waits for a person who looks at it: its new run begins paused.
func enableFeatures(m *httpapi.Many, at httpapi.InProjectEnvironment, in flagsBody) error {
	return switchFeatures(m, at, in, "enabled", func(tx *httpapi.Tx, f *flags.Feature, env flags.ProjectEnvironment) error {
		stopped := f.KeepStopped(env)
		if err := enableIn(tx, f, env, ""); err != nil {
			return err
		}
		if stopped {
			const cause = "A safeguard had stopped the plan, and the flag was switched on together with others."
			tx.Save(events.ReleasePlanProgressed(flags.ReleasePlanPaused, httpapi.Was(tx, f), f, env, cause))
		}
		return nil
	})
}

func disableFeatures(m *httpapi.Many, at httpapi.InProjectEnvironment, in flagsBody) error {
	return switchFeatures(m, at, in, "disabled", func(tx *httpapi.Tx, f *flags.Feature, env flags.ProjectEnvironment) error {
		disableIn(tx, f, env)
		return nil
	})
}

func switchFeatures(m *httpapi.Many, at httpapi.InProjectEnvironment, in flagsBody, done string,
	change func(tx *httpapi.Tx, f *flags.Feature, env flags.ProjectEnvironment) error,
) error {
	if err := m.Read(func(tx *httpapi.Tx) error {
		at.Find(tx)
		in.load(tx)
		return nil
	}); err != nil {
		return err
	}
	return in.each(m, done, nil, func(tx *httpapi.Tx, name string) error {
		p, env := at.Find(tx)
		return change(tx, tx.FeatureOf(p, name), env)
	})
}

// A markBody tells whether flags are stale.
type markBody struct {
	flagsBody
	Stale jsonbody.Maybe[bool] `json:"stale"`
}

func (b markBody) Check(limits flags.Limits, problems *flags.Problems) {
	b.flagsBody.Check(limits, problems)
	if !b.Stale.Set {
		problems.Add("/stale", "is required: true or false")
	}
}

func markFeatures(m *httpapi.Many, at httpapi.InProject, in markBody) error {
	if err := in.prepare(m, at); err != nil {
		return err
	}
	return in.each(m, "marked", nil, func(tx *httpapi.Tx, name string) error {
		f := tx.FeatureOf(at.Project(tx), name)
		saveMetadata(tx, f, wire.MetadataBody{Stale: in.Stale}.ApplyTo(f.Metadata))
		return nil
	})
}

// A tagFlagsBody adds tags to flags and removes others.
type tagFlagsBody struct {
	flagsBody
	Tags jsonbody.Maybe[wire.ChangeTagsBody] `json:"tags"`
}

func (b tagFlagsBody) Check(limits flags.Limits, problems *flags.Problems) {
	b.flagsBody.Check(limits, problems)
	if !b.Tags.Set {
		problems.Add("/tags", "is required")
		return
	}
	problems.CheckAt("/tags", func(below *flags.Problems) { b.Tags.Value.Check(limits, below) })
}

func tagFeatures(m *httpapi.Many, at httpapi.InProject, in tagFlagsBody) error {
	added, removed := in.Tags.Value.Tags()
	if err := m.Read(func(tx *httpapi.Tx) error {
		at.Project(tx)
		in.load(tx)
		return tx.TagTypes().CheckTags(added)
	}); err != nil {
		return err
	}
	return in.each(m, "changed", nil, func(tx *httpapi.Tx, name string) error {
		f := tx.FeatureOf(at.Project(tx), name)
		if err := tx.TagTypes().CheckTags(added); err != nil {
			return err
		}
		if err := f.ChangeTags(added, removed, tx.Limits); err != nil {
			return err
		}
		tx.Save(events.FeatureTagsChanged(httpapi.Was(tx, f), f, added), f)
		return nil
	})
}

// A moveFlagsBody names the project that flags move to.
type moveFlagsBody struct {
	flagsBody
	moveBody
}

func (b moveFlagsBody) Check(limits flags.Limits, problems *flags.Problems) {
	b.flagsBody.Check(limits, problems)
	b.moveBody.Check(limits, problems)
}

func moveFeatures(m *httpapi.Many, at httpapi.InProject, in moveFlagsBody) error {
	if err := m.Read(func(tx *httpapi.Tx) error {
		p := at.Project(tx)
		in.load(tx, flags.ProjectKey(in.NewProjectID))
		_, err := in.target(tx, p)
		return err
	}); err != nil {
		return err
	}
	return in.each(m, "moved", nil, func(tx *httpapi.Tx, name string) error {
		p := at.Project(tx)
		to, err := in.target(tx, p)
		if err != nil {
			return err
		}
		f := tx.FeatureOf(p, name)
		tx.Again(loadForMove(f)...)
		return moveIn(tx, p, f, to)
	})
}

// failure is nil when all flags were changed, or an error that tells why each of the others was not. Its kind is that of the
// failures if they are all of one kind, else Conflict; Unavailable, which can be tried again, and Internal come before others.
func failure(done string, places []int, errs []error) error {
	all := &flags.Error{}
	kinds := map[flags.Kind]bool{}
	for i, err := range errs {
		if err == nil {
			continue
		}
		one, ok := errors.AsType[*flags.Error](err)
		if !ok {
			one = flags.Errorf(flags.Internal, "internal error; search the log for this id")
		}
		kinds[one.Kind] = true
		all.Kind, all.Permissions, all.Err = one.Kind, one.Permissions, errors.Join(all.Err, err)
		all.Details = append(all.Details, flags.Detail{Path: "/features/" + strconv.Itoa(places[i]), Message: inOneLine(one)})
	}
	switch {
	case len(kinds) == 0:
		return nil
	case kinds[flags.Unavailable]:
		all.Kind = flags.Unavailable
	case kinds[flags.Internal]:
		all.Kind = flags.Internal
	case len(kinds) > 1:
		all.Kind = flags.Conflict
	}
	if all.Kind != flags.ReviewRequired {
		all.Permissions = nil
	}
	all.Message = summary(done, len(errs), all)
	return all
}

// inOneLine is the message of an error with the names of its details that the message does not have.
func inOneLine(e *flags.Error) string {
	var names []string
	for _, d := range e.Details {
		if d.Path == "" && !strings.Contains(e.Message, d.Message) {
			names = append(names, d.Message)
		}
	}
	if len(names) == 0 {
		return e.Message
	}
	return e.Message + " (" + strings.Join(names, ", ") + ")"
}

// summary tells how many of all flags were not changed.
func summary(done string, all int, failure *flags.Error) string {
	switch failed := len(failure.Details); {
	case failure.Kind == flags.Unavailable:
		return fmt.Sprintf("the time ran out after %d of %d flags; send the same request again", all-failed, all)
	case all == 1:
		return fmt.Sprintf("the flag could not be %s: %s", done, failure.Details[0].Message)
	case failed == all:
		return fmt.Sprintf("none of the %d flags could be %s", all, done)
	default:
		return fmt.Sprintf("%d of %d flags could not be %s; the others were", failed, all, done)
	}
}
