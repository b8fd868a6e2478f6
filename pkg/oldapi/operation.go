package oldapi

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// An Operation is one row of the interface: where it is, who may, what it reads, and how it decides.
type Operation struct {
	Route      string           // as net/http writes it
	Permission flags.Permission // "" for what is public
	Reads      Reads
	Decide     decider
}

// Reads names what an operation needs before it decides, all of which one load brings. What the path names is found,
// or the answer is a 404, before the operation is asked (see find).
type Reads uint

// What can be read.
const (
	theProject       Reads = 1 << iota // the project that the path names, which must exist
	theFeature                         // the flag that the path names, active, and in that project if one is named
	evenArchived                       // with theFeature: an archived flag will do
	theEnvironments                    // the registry of environments; with a project, which of them it has
	activeRows                         // with theProject: the summaries of its active flags, by one more query
	archivedRows                       // with theProject: the summaries of its archived flags; see also decider.surveys
	theRoles                           // the registry of roles
	theTagTypes                        // the registry of tag types
	theStrategyTypes                   // the registry of strategy types that are not built in
	theUser                            // the user that the path names, who must exist
	theRole                            // with theRoles: the role that the path names, which must exist
	theToken                           // the API token whose secret the path holds, which must exist
	theContextFields                   // the registry of context fields
	theSegment                         // the segment that the path names, which must exist
	theSignup                          // the public signup token whose secret the path holds, which must exist
)

func (r Reads) has(one Reads) bool { return r&one != 0 }

// A call is what an operation decides on: the request, and what was loaded for it. Clock and identifiers are in it, so
// that deciding is a pure function, done again from the start when another writer was first.
type call struct {
	caller flags.Caller
	now    time.Time
	newID  func() string
	random func() string // 64 hex digits that nobody can guess
	late   func() bool   // whether the deadline has passed: see inTime

	load       func(keys []flags.Key) (flags.View, error) // loads more, for an operation that may have to stop in between
	compressed bool                                       // whether the answer may be compressed
	limits     flags.Limits
	param      func(name string) string
	query      url.Values

	project      *flags.Project
	registry     *flags.Environments
	environments []flags.ProjectEnvironment // those of the project, in order
	environment  flags.ProjectEnvironment   // the one that the path names
	feature      *flags.Feature             // as it is stored: change a clone
	summaries    []flags.FeatureSummary
	roles        *flags.Roles
	tagTypes     *flags.TagTypes
	types        *flags.StrategyTypes
	fields       *flags.ContextFields
	field        flags.ContextField // the one that the path names
	segment      *flags.Segment     // as it is stored: change a clone
	tagType      flags.TagType      // the one that the path names
	strategyType flags.StrategyType // the one that the path names
	user         *flags.User
	token        *flags.Token       // as it is stored: change a clone
	signup       *flags.SignupToken // as it is stored
	role         *flags.Role

	mine   []*flags.Project // those that the caller has a role in, for deciders that know them
	sealer flags.Sealer     // for deciders that seal

	id     int64                              // a new one, for deciders that allocate
	lists  map[flags.Entity][]flags.Aggregate // for deciders that list
	more   flags.View                         // for deciders that load more
	count  map[string]counts                  // by project UID, for deciders that count
	survey map[string][]flags.FeatureSummary  // by project UID, for deciders that survey
	tags   []flags.Tag                        // of all flags, for deciders that list them
	log    flags.LogPage                      // for deciders that read the log
}

// inTime returns Unavailable once the deadline of the request has passed. Loops over many flags call it.
func (c *call) inTime() error {
	if !c.late() {
		return nil
	}
	return flags.Errorf(flags.Unavailable, "there was not enough time for this, and nothing was changed; try again, or ask for less at a time")
}

// counts are a project's active flags, and the stale ones among them.
type counts struct{ active, stale int }

// A decision is the answer to a call, and the change that it makes, if any.
type decision struct {
	status int
	body   any // nil for none
	change flags.Change

	secret     bool   // the answer holds secrets of tokens: it is not to be stored
	location   string // the path at which what was created is read; "" for none
	download   string // the name of a file to save the answer as; "" for none
	derived    bool   // the change makes something whose name being taken is no refusal: another round finds another, or finds it there
	unfinished bool   // the change is the first part of one too large for a transaction: another round makes the next
}

// A decider decides on a call, given the body that it decoded.
type decider struct {
	takes   any // the zero value of the body's type; nil without a body
	decode  func(body []byte, limits flags.Limits) (any, error)
	review  func(c *call, in any) error // nil, or what the registries tell about the body
	decide  func(c *call, in any) (decision, error)
	maximum int // bytes of the largest body; 0 for maxBody

	lists     []flags.Entity                                // entities that are listed whole: one query a megabyte each
	surveys   func(c *call, in any) []*flags.Project        // those of the listed projects whose active flags (with archivedRows, archived flags) are listed too: one query a megabyte each
	tags      bool                                          // whether the tags of every listed project's flags are listed: two queries each
	counts    bool                                          // whether the flags of every listed project are counted: one query each
	allocates flags.Entity                                  // the entity that a new integer id is for: one call a request
	loads     func(c *call, in any) []flags.Key             // what a second load brings: one call for a hundred keys
	log       func(c *call, in any) (flags.LogQuery, error) // the page of the log that is read: one query
	allows    func(c *call) error                           // what more than the operation's permission it takes, before the body is read
	searches  func(in any) string                           // the project, named by the body, whose active flags are listed: two calls
	knowsMine bool                                          // whether c.mine is there by then: one call for a person with projects, who is no admin
	batch     func(in any) batch                            // the many changes that the body asks for, in the place of decide (see bulk.go)
	seals     bool                                          // whether the key of the tokens' secrets is needed: no call, or one to its store

	bodyOptional bool // for the description of the interface alone, as are:
	status       int  // what it answers when it succeeds
	answer       any  // the zero value of that answer's type; nil without a body
}

// answers says what the operation answers when it succeeds: the status and, unless there is no body, the zero value of
// its type. Nothing depends on it but the description of the interface (see Operation.Shape), which tests hold every
// answer to.
func (d decider) answers(status int, body ...any) decider {
	d.status = status
	for _, zero := range body {
		d.answer = zero
	}
	return d
}

// A Shape is what an operation takes and answers, by the zero values of wire types: the description of the interface is
// made from them (infra/openapi).
type Shape struct {
	Takes    any  // nil without a body
	Optional bool // whether the body may be left out
	MaxBody  int  // bytes
	Status   int  // of success; 0 when the row says nothing (see answers)
	Answers  any  // nil without a body
}

// Shape is what the operation takes and answers.
func (op Operation) Shape() Shape {
	d := op.Decide
	return Shape{Takes: d.takes, Optional: d.bodyOptional, MaxBody: cmp.Or(d.maximum, maxBody), Status: d.status, Answers: d.answer}
}

// listing has every aggregate of some entities listed before the decision.
func (d decider) listing(entities ...flags.Entity) decider { d.lists = entities; return d }

// surveying has the active flags of some of the listed projects listed before the decision.
func surveying[In any](d decider, projects func(c *call, in In) []*flags.Project) decider {
	d.surveys = func(c *call, in any) []*flags.Project { return projects(c, in.(In)) }
	return d
}

// surveyingAll lists the flags of all listed projects before the decision.
func surveyingAll(d decider) decider {
	d.surveys = func(c *call, _ any) []*flags.Project { return c.projects() }
	return d
}

// counting has the flags of every listed project counted before the decision.
func (d decider) counting() decider { d.counts = true; return d }

// listingTags has the tags of all flags listed before the decision.
func (d decider) listingTags() decider {
	d.tags = true
	return d.listing(flags.EntityProject)
}

// allocating has a new integer id taken for an entity before the decision.
func (d decider) allocating(entity flags.Entity) decider { d.allocates = entity; return d }

// readingLog has a page of the log read before the decision, into c.log.
func (d decider) readingLog(query func(c *call) (flags.LogQuery, error)) decider {
	d.log = func(c *call, _ any) (flags.LogQuery, error) { return query(c) }
	return d
}

// readingLogFor reads the page of the log that the body names before the decision, into c.log.
func readingLogFor[In any](d decider, query func(c *call, in In) (flags.LogQuery, error)) decider {
	d.log = func(c *call, in any) (flags.LogQuery, error) { return query(c, in.(In)) }
	return d
}

// allowing has the caller refused, before the body is read, by more than the operation's permission.
func (d decider) allowing(check func(c *call) error) decider { d.allows = check; return d }

// sealing has the key of the tokens' secrets there before the decision, in c.sealer.
func (d decider) sealing() decider { d.seals = true; return d }

// upTo allows a body of more than the usual size, in bytes.
func (d decider) upTo(bytes int) decider { d.maximum = bytes; return d }

// loading has more loaded before the decision: what is known by name only from what was loaded first.
func (d decider) loading(keys func(c *call) []flags.Key) decider {
	d.loads = func(c *call, _ any) []flags.Key { return keys(c) }
	return d
}

// reviewing has a call refused by what its body says, before anything more is loaded.
func reviewing[In any](d decider, check func(c *call, in In) error) decider {
	review := d.review
	d.review = func(c *call, in any) error {
		if err := review(c, in); err != nil {
			return err
		}
		return check(c, in.(In))
	}
	return d
}

// within has the active flags of a project that the body names listed before the decision, and their environments found.
func (d decider) within(project func(in any) string) decider { d.searches = project; return d }

// loadingFor has more loaded before the decision: what the body names.
func loadingFor[In any](d decider, keys func(c *call, in In) []flags.Key) decider {
	d.loads = func(c *call, in any) []flags.Key { return keys(c, in.(In)) }
	return d
}

// does decides on a call that takes no body.
func does(decide func(c *call) (decision, error)) decider {
	return decider{decide: func(c *call, _ any) (decision, error) { return decide(c) }}
}

// takes decides on a call with a body of type In. A fault of the body is a 400 before anything is looked for: if In
// has a check method, it says what is wrong with the body by itself.
func takes[In any](decide func(c *call, in In) (decision, error)) decider {
	var zero In
	return decider{
		takes: zero,
		decode: func(body []byte, limits flags.Limits) (any, error) {
			var in In
			if err := decodeStrict(body, &in); err != nil {
				return nil, err
			}
			if body, ok := any(in).(checker); ok {
				var problems flags.Problems
				body.check(limits, &problems)
				if err := problems.Err(); err != nil {
					return nil, err
				}
			}
			return in, nil
		},
		review: func(c *call, in any) error {
			var problems flags.Problems
			if body, ok := in.(reviewer); ok {
				body.review(c, &problems)
			}
			return problems.Err()
		},
		decide: func(c *call, in any) (decision, error) { return decide(c, in.(In)) },
	}
}

// optional lets the body of a decider be absent: it is then the zero value of In.
func optional[In any](d decider) decider {
	decode := d.decode
	d.bodyOptional = true
	d.decode = func(body []byte, limits flags.Limits) (any, error) {
		if len(bytes.TrimSpace(body)) == 0 {
			var none In
			return none, nil
		}
		return decode(body, limits)
	}
	return d
}

// A checker is a body that can tell its own faults.
type checker interface {
	check(limits flags.Limits, problems *flags.Problems)
}

// A reviewer is a body that can tell more faults of its own once the registries that the operation reads are in the
// call: a 400, too, before any 404.
type reviewer interface {
	review(c *call, problems *flags.Problems)
}

// created answers 201 with the path at which what was created is read: below path, by name.
func created(d decision, path, name string) decision {
	d.status, d.location = http.StatusCreated, path+"/"+url.PathEscape(name)
	return d
}

// ok answers 200 with a body and changes nothing.
func ok(body any) (decision, error) { return decision{status: http.StatusOK, body: body}, nil }

// changes is a decision that replaces before by after and leaves an event. The store drops it when after is the same.
func (c *call) changes(before, after flags.Aggregate, event flags.Event, status int, body any) (decision, error) {
	return c.changesAll([]flags.Write{{Before: before, After: after}}, event, status, body)
}

// changesAll is a decision of several writes in one transaction.
func (c *call) changesAll(writes []flags.Write, event flags.Event, status int, body any) (decision, error) {
	return decision{status: status, body: body, change: flags.Change{Writes: writes, Event: c.signed(event)}}, nil
}

// signed is an event with its id and time, and who made it.
func (c *call) signed(event flags.Event) flags.Event {
	event.ID, event.CreatedBy, event.UserID = orderedID(), c.caller.Name, flags.TokenUserID
	event.CreatedAt = flags.EventTime(event.ID) // and not c.now: the log is searched by it, in the order of ids
	if c.caller.User != nil {
		event.UserID = c.caller.User.ID
	}
	return event
}

// also adds a further event to the change of a decision.
func (c *call) also(d *decision, event flags.Event) {
	d.change.MoreEvents = append(d.change.MoreEvents, c.signed(event))
}

// changesFeature is a decision that replaces the flag of the call by after, and changes others with it.
func (c *call) changesFeature(after *flags.Feature, event flags.Event, status int, body any, others ...flags.Write) (decision, error) {
	return c.changesAll(slices.Concat([]flags.Write{{Before: c.feature, After: after}}, others), event, status, body)
}

// makesFeature is a decision that makes a new flag, and changes others with it.
func (c *call) makesFeature(f *flags.Feature, event flags.Event, status int, body any, others ...flags.Write) (decision, error) {
	return c.changesAll(slices.Concat([]flags.Write{{After: f}}, others), event, status, body)
}

// orderedID is an id that sorts by time.
func orderedID() string { return uuid.Must(uuid.NewV7()).String() }

// The bounds of what bodies may say that the domain knows nothing of, for the description of the interface. Lengths are
// in characters.
const (
	MaxTitle           = maxTitle
	MaxPatchOperations = maxPatchOperations
)
