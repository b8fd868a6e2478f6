package oldapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/flags"
)

// What one operation does to a flag, these do to many: by the very functions, so by the same rules and with the same
// events. A flag that needs no change is done without one.

// bulkOperations are those that name many flags of a project.
func bulkOperations(project string) []Operation {
	environment := project + "/bulk_features/environments/{environment}"
	return []Operation{
		{"POST " + project + "/archive", flags.DeleteFeature, theProject, archiveFlags()},
		{"POST " + project + "/archive/validate", flags.Read, theProject, loadingFor(takes(validateArchive),
			func(_ *call, in flagsBody) []flags.Key { return flagKeys(in.named()) }).answers(200, archiveReport{})},
		{"POST " + project + "/revive", flags.UpdateFeature, theProject, reviveFlags()},
		{"POST " + project + "/stale", flags.UpdateFeature, theProject | theEnvironments, markFlags()},
		{"PUT " + project + "/tags", flags.UpdateFeature, theProject | theTagTypes, tagFlags()},
		{"POST " + project + "/changeProject", flags.MoveFeature, theProject | theEnvironments, moveFlags()},
		{"POST " + environment + "/on", flags.UpdateFeatureEnvironment, theProject | theEnvironments, enableFlags()},
		{"POST " + environment + "/off", flags.UpdateFeatureEnvironment, theProject | theEnvironments, disableFlags()},
	}
}

// MaxBulk is how many flags, environments or strategies one call may list.
const MaxBulk = 100

// A work is what is done to every flag that a body names.
type work[In flagNamer] struct {
	status int    // when all of it is done
	done   string // what the flags are then, for people
	reads  Reads  // evenArchived, or nothing
	common func(in In) []flags.Key
	review func(c *call, in In) error             // nil, or what is wrong with the whole
	more   func(c *call) []flags.Key              // nil, or what else the flag of the call needs
	decide func(c *call, in In) (decision, error) // on the flag of the call
}

// A flagNamer is a body that names flags.
type flagNamer interface{ named() []string }

// toFlags decides on a call that does something to many flags.
func toFlags[In flagNamer](w work[In]) decider {
	return inBatch(w.on).answers(w.status)
}

func (w work[In]) on(in In) batch {
	names, places := once(in.named())
	b := batch{
		size: len(names),
		keys: func(i int) []flags.Key { return flagKeys(names[i : i+1]) },
		decide: func(c *call, i int) (decision, error) {
			if err := c.findFeature(names[i], w.reads, c.more); err != nil {
				return decision{}, err
			}
			return w.decide(c, in)
		},
		answer: func(_ *call, done []result) (decision, error) {
			return decision{status: w.status}, w.undone(done, places)
		},
	}
	if w.more != nil {
		b.more = func(c *call, i int) []flags.Key {
			if one := *c; one.findFeature(names[i], w.reads, c.more) == nil {
				return w.more(&one)
			}
			return nil
		}
	}
	if w.common != nil {
		b.common = w.common(in)
	}
	if w.review != nil {
		b.review = func(c *call) error { return w.review(c, in) }
	}
	return b
}

// flagKeys are the keys of flags by name. What no flag can be called is not there, and the store would refuse to look.
func flagKeys(names []string) []flags.Key {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return flags.CheckName(name) != "" })
	return each(names, flags.FeatureKey)
}

// once are names, each once, and where each comes first.
func once(list []string) (names []string, places []int) {
	for i, name := range list {
		if !slices.Contains(names, name) {
			names, places = append(names, name), append(places, i)
		}
	}
	return names, places
}

// undone is nil when all was done, or an error that says of every flag that was not why. Its kind is that of the
// failures if they are all of one; a call that may be tried again, because time was up, or a defect, outweighs others.
func (w work[In]) undone(done []result, places []int) error {
	failure := &flags.Error{}
	kinds := map[flags.Kind]bool{}
	for i, result := range done {
		if result.err == nil {
			continue
		}
		told, ok := errors.AsType[*flags.Error](result.err)
		if !ok {
			told = flags.Errorf(flags.Internal, "internal error; search the log for the id of this error")
		}
		kinds[told.Kind] = true
		failure.Kind, failure.Err = told.Kind, errors.Join(failure.Err, result.err)
		failure.Details = append(failure.Details, flags.Detail{Path: "/features/" + strconv.Itoa(places[i]), Message: inFull(told)})
	}
	switch {
	case len(kinds) == 0:
		return nil
	case kinds[flags.Unavailable]:
		failure.Kind = flags.Unavailable
	case kinds[flags.Internal]:
		failure.Kind = flags.Internal
	case len(kinds) > 1:
		failure.Kind = flags.Conflict
	}
	failure.Message = w.tell(len(done), failure)
	return failure
}

// inFull is a failure in one line: what it says, with the names that it gives.
func inFull(told *flags.Error) string {
	if len(told.Details) == 0 || told.Details[0].Path != "" {
		return told.Message
	}
	return told.Message + " (" + strings.Join(each(told.Details, func(d flags.Detail) string { return d.Message }), ", ") + ")"
}

// tell says how many of all flags were not done.
func (w work[In]) tell(all int, failure *flags.Error) string {
	switch failed := len(failure.Details); {
	case failure.Kind == flags.Unavailable:
		return fmt.Sprintf("%d of %d flags were %s before time was up, and of the others the details tell; try again, and what is done stays done", all-failed, all, w.done)
	case all == 1:
		return fmt.Sprintf("the flag could not be %s: %s", w.done, failure.Details[0].Message)
	case failed == all:
		return fmt.Sprintf("none of the %d flags could be %s", all, w.done)
	default:
		return fmt.Sprintf("%d of %d flags could not be %s; the others were", failed, all, w.done)
	}
}

// without is the operation of a flag as what is done to each of many, whose body says no more than which they are.
func without(decide func(c *call) (decision, error)) func(c *call, in flagsBody) (decision, error) {
	return func(c *call, _ flagsBody) (decision, error) { return decide(c) }
}

// archiveFlags archives a flag that others depend on after these, where the call names them too.
func archiveFlags() decider {
	return toFlags(work[flagsBody]{
		status: http.StatusAccepted, done: "archived", reads: evenArchived, more: parentKeys,
		decide: func(c *call, in flagsBody) (decision, error) {
			d, err := archiveFeature(c)
			if err != nil && len(in.apart(c.feature.Children)) < len(c.feature.Children) {
				err = later(err)
			}
			return d, err
		},
	})
}

// validateArchive tells what archiving flags would mean for others. Names of no flags are passed over.
func validateArchive(c *call, in flagsBody) (decision, error) {
	view := archiveReport{Parents: []string{}}
	names, _ := once(in.named())
	for _, name := range names {
		if c.findFeature(name, 0, c.more) != nil {
			continue
		}
		view.EndsDependencies = view.EndsDependencies || c.feature.Relation() != ""
		if len(in.apart(c.feature.Children)) > 0 {
			view.Parents = append(view.Parents, name)
		}
	}
	return ok(view)
}

// An archiveReport tells what archiving some flags would mean for others.
type archiveReport struct {
	Parents          []string `json:"parentsWithChildFeatures"`
	EndsDependencies bool     `json:"hasDeletedDependencies"`
}

func reviveFlags() decider {
	return toFlags(work[flagsBody]{status: http.StatusOK, done: "revived", reads: evenArchived, decide: without(reviveFeature)})
}

func enableFlags() decider {
	return toFlags(work[flagsBody]{status: http.StatusOK, done: "switched on", decide: without(enableFeature)})
}

func disableFlags() decider {
	return toFlags(work[flagsBody]{status: http.StatusOK, done: "switched off", decide: without(disableFeature)})
}

func markFlags() decider {
	return toFlags(work[markBody]{status: http.StatusAccepted, done: "marked", decide: func(c *call, in markBody) (decision, error) {
		return c.changeMetadata(metadataBody{Stale: in.Stale}.over(c.feature.Metadata))
	}})
}

func tagFlags() decider {
	return toFlags(work[tagFlagsBody]{
		status: http.StatusOK, done: "changed",
		review: func(c *call, in tagFlagsBody) error { return c.knowTypes(each(in.Tags.Value.Added.Value, tagBody.tag)) },
		decide: func(c *call, in tagFlagsBody) (decision, error) { return changeTags(c, in.Tags.Value) },
	})
}

// A flagsBody names the flags that something is done to.
type flagsBody struct {
	Features maybe[[]string] `json:"features"`
}

func (b flagsBody) named() []string { return b.Features.Value }

// apart are those of some names that the body does not name.
func (b flagsBody) apart(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(b.named(), name) })
}

func (b flagsBody) check(_ flags.Limits, problems *flags.Problems) {
	if !b.Features.Set {
		problems.Add("/features", "is required, if only as []")
	}
	if n := len(b.Features.Value); n > MaxBulk {
		problems.Add("/features", "must name at most %d flags, names %d; make several calls of it", MaxBulk, n)
		return
	}
	for i, name := range b.Features.Value {
		flags.CheckLength("/features/"+strconv.Itoa(i), name, flags.MaxName, problems)
	}
}

// A markBody says whether flags are stale.
type markBody struct {
	flagsBody
	Stale maybe[bool] `json:"stale"`
}

func (b markBody) check(limits flags.Limits, problems *flags.Problems) {
	b.flagsBody.check(limits, problems)
	if !b.Stale.Set {
		problems.Add("/stale", "is required: true or false")
	}
}

// A tagFlagsBody adds some tags to flags and removes others.
type tagFlagsBody struct {
	flagsBody
	Tags maybe[changeTagsBody] `json:"tags"`
}

func (b tagFlagsBody) check(limits flags.Limits, problems *flags.Problems) {
	b.flagsBody.check(limits, problems)
	if !b.Tags.Set {
		problems.Add("/tags", "is required")
		return
	}
	problems.CheckAt("/tags", func(below *flags.Problems) { b.Tags.Value.check(limits, below) })
}
