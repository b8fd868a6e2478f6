// Package review is the domain of change requests: what one contains, who may do what with it, and when it can be applied. It knows
// nothing of HTTP and of the store.
package review

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// The entities.
const (
	EntityRequest flags.Entity = "change request"
	EntityComment flags.Entity = "comment" // on a change request
)

// A State is where a change request stands. Draft, InReview and Approved are open; Applied, Cancelled and Rejected are final.
type State string

// The states. Approved is never stored: a request in review is approved while it has the approvals that are needed now, see StateAt.
const (
	Draft     State = "Draft"
	InReview  State = "In review"
	Approved  State = "Approved"
	Scheduled State = "Scheduled"
	Applied   State = "Applied"
	Cancelled State = "Cancelled"
	Rejected  State = "Rejected"
)

// The limits of change requests.
const (
	MaxOpen             = 300 // open requests of a project
	MaxOpenOfOne        = 50  // of these, by one author
	MaxDraftsOfOne      = 10  // of these, drafts: only their author sees and discards them
	MaxChanges          = 100
	MaxFlags            = 20
	MaxSegments         = 5         // changes of segments: each one looks at all flags
	MaxSize             = 256 << 10 // bytes of all changes
	MaxStored           = 300 << 10 // bytes of a request when it is edited; approvals, the reason of a failure and the like need the rest of 400 KiB
	MaxBefore           = 64 << 10  // bytes of what the changes of an applied request replaced
	MaxEdited           = 16 << 20  // bytes that all edits of a request write, because each one writes the whole request
	MaxItems            = 70        // items that the changes write; addons, the request, and conditions on who has approved it need the rest of 100
	MaxReviewers        = 10
	MaxComments         = 100
	MaxCommentsOfOne    = 25   // of these, by one person
	MaxCommentsOfReader = 5    // of these, by one who only reads: each comment writes the whole request
	MaxComment          = 1000 // characters
	MaxTitle            = 200  // characters
	MaxListed           = 300  // requests of a project that lists show: of the open, of the applied, and of the others
	MaxListedChanges    = 20   // changes of a request that lists show; of one with more, the first of each flag and segment
	ApprovalLasts       = 30 * 24 * time.Hour
	UnseenApproval      = time.Minute // for how long after a change an approval must name the revision that was seen
)

// A Person is who did something: a user, a service account, or the API tokens of a name.
type Person struct {
	Key  string `json:"key"` // access.Caller.FavoritesKey
	ID   int64  `json:"id"`  // of the user; flags.TokenUserID for an API token
	Name string `json:"name"`

	DisplayName string `json:"displayName,omitzero"` // by which people know the user; "" without one

	Program bool `json:"program,omitzero"` // a service account or API token, whose secret several people can have
}

// A Request is a change request: changes of one environment of a project that others review before they are applied together.
type Request struct {
	Version        int64               `json:"version,omitzero"`
	ID             int64               `json:"id"` // never used again
	Project        string              `json:"project"`
	ProjectUID     string              `json:"projectUid"`
	Environment    string              `json:"environment"`
	EnvironmentUID string              `json:"environmentUid"`
	AttachmentID   string              `json:"attachment"` // of the environment to the project
	Title          string              `json:"title,omitzero"`
	State          State               `json:"state"`
	Entered        map[State]time.Time `json:"entered"` // when the request last entered each state
	CreatedBy      Person              `json:"createdBy"`
	CreatedAt      time.Time           `json:"createdAt"`
	Contributors   []Person            `json:"contributors"`      // who created, edited or re-based it: they cannot approve it
	Changes        []Change            `json:"changes,omitempty"` // in the order in which they are applied
	LastChange     int64               `json:"lastChange"`        // ID of the newest change
	Bases          Bases               `json:"bases"`             // what the changes were made on
	Untried        bool                `json:"untried,omitzero"`  // the changes were not tried together since they were edited, see NotTried
	Guarded        []Guarded           `json:"guarded,omitempty"` // the environments in which the changes need approvals
	ChangedAt      time.Time           `json:"changedAt"`         // changes and bases
	Revision       string              `json:"revision"`          // hash of the title, the changes, the bases and the environments
	Approvals      []Approval          `json:"approvals,omitempty"`
	Rejections     []Approval          `json:"rejections,omitempty"`
	Reviewers      []int64             `json:"reviewers,omitempty"` // IDs of the users who were asked to review it
	Comments       int                 `json:"comments,omitzero"`   // how many there are; each is a Comment with its number
	Schedule       *Schedule           `json:"schedule,omitempty"`  // when it was last scheduled; nil for never
	Edited         int                 `json:"edited,omitzero"`     // how many bytes its edits have written, see countEdit
}

// A Guarded is an environment of the project whose protection the changes touch. Most requests have one, their own. Archiving a flag and
// its dependencies concern all guarded environments of the project.
type Guarded struct {
	UID  string `json:"uid"`
	Name string `json:"name"`
}

// An Approval is that a person approved, or rejected, a revision of a request.
type Approval struct {
	By       Person    `json:"by"`
	At       time.Time `json:"at"`
	Revision string    `json:"revision"`
}

// RequestKey returns the key of a change request by ID.
func RequestKey(id int64) flags.Key {
	return flags.Key{Entity: EntityRequest, ID: strconv.FormatInt(id, 10)}
}

// Key returns the key of the request.
func (r *Request) Key() flags.Key { return RequestKey(r.ID) }

// StoredVersion returns the version at which the request was loaded.
func (r *Request) StoredVersion() int64 { return r.Version }

// Clone returns a copy that can be changed.
func (r *Request) Clone() *Request {
	c := *r
	c.Entered, c.Bases = maps.Clone(r.Entered), r.Bases.clone()
	c.Contributors, c.Changes, c.Guarded = slices.Clone(r.Contributors), slices.Clone(r.Changes), slices.Clone(r.Guarded)
	c.Approvals, c.Rejections, c.Reviewers = slices.Clone(r.Approvals), slices.Clone(r.Rejections), slices.Clone(r.Reviewers)
	return &c
}

// Listed returns what lists show of the request: not what its changes contain, nor what they were made on. Of many changes they show some, so that
// nobody makes the lists large with changes that cost nothing: but all of a draft, whose author has few, and of a scheduled request, because
// people are warned of what suspends it.
func (r *Request) Listed() *Request {
	c := r.Clone()
	c.Bases = Bases{}
	if len(c.Changes) > MaxListedChanges && c.State != Draft && c.State != Scheduled {
		type subject struct {
			feature string
			segment int64
		}
		seen := map[subject]bool{}
		c.Changes = slices.DeleteFunc(c.Changes, func(change Change) bool {
			of := subject{change.Feature, change.Segment}
			again := seen[of]
			seen[of] = true
			return again
		})
	}
	for i := range c.Changes {
		c.Changes[i].Payload, c.Changes[i].Default, c.Changes[i].Before = nil, nil, nil
	}
	return c
}

// Open reports whether the request can still be applied.
func (r *Request) Open() bool { return r.State.Open() }

// Open reports whether a request in this state can still be applied.
func (s State) Open() bool { return s != Applied && s != Cancelled && s != Rejected }

// DraftName is the name of which a project has at most one: each author has one draft in each environment. It is "" if the request is no
// draft.
func (r *Request) DraftName() string {
	if r.State != Draft {
		return ""
	}
	return r.ProjectUID + "#" + r.EnvironmentUID + "#" + r.CreatedBy.Key
}

// Private reports whether the request was never sent to review: only its author sees it, also after it was discarded.
func (r *Request) Private() bool { return r.Entered[InReview].IsZero() }

// VisibleTo reports whether someone may read the request.
func (r *Request) VisibleTo(key string) bool { return !r.Private() || r.CreatedBy.Key == key }

// New returns a draft.
func New(p *flags.Project, env flags.ProjectEnvironment, by Person, at time.Time) *Request {
	r := &Request{
		Project: p.ID, ProjectUID: p.UID, Environment: env.Name, EnvironmentUID: env.UID, AttachmentID: env.Attachment.ID,
		CreatedBy: by, CreatedAt: at, ChangedAt: at, Contributors: []Person{by}, Entered: map[State]time.Time{},
	}
	r.enter(Draft, at)
	r.Revision = r.hash()
	return r
}

func (r *Request) enter(s State, at time.Time) { r.State, r.Entered[s] = s, at }

// NotTried is the conflict of a request that is Untried: nobody has seen what its changes do now, such as the strategy that switching on adds.
const NotTried = "its changes were not tried together since one of them was removed"

// A Standing is what counts at present for a request, of its surroundings.
type Standing struct {
	Needed    int      // approvals; 0 if change requests are off
	Gone      string   // why the request can only be cancelled; "" if it can be applied
	Conflicts []string // what has changed since the changes were made
	Approvals []Approval
}

// StateAt returns the state of the request: one in review is Approved while it has the approvals that are needed.
func (r *Request) StateAt(s Standing) State {
	if r.State == InReview && len(r.Changes) > 0 && s.Gone == "" && len(s.Conflicts) == 0 && len(s.Approvals) >= s.Needed {
		return Approved
	}
	return r.State
}

// Needs returns how many approvals the request needs where others need n. It is one more if a program has contributed, because one of those
// who approve may have done so with its token.
func (r *Request) Needs(n int) int {
	if n > 0 && slices.ContainsFunc(r.Contributors, func(p Person) bool { return p.Program }) {
		return n + 1
	}
	return n
}

// Valid returns the approvals that count: of the present revision, not too old, and of someone who may approve.
func (r *Request) Valid(at time.Time, may func(user int64) bool) (list []Approval) {
	for _, a := range r.Approvals {
		if a.Revision == r.Revision && at.Sub(a.At) < ApprovalLasts && !r.Contributed(a.By) && may(a.By.ID) {
			list = append(list, a)
		}
	}
	return list
}

// Contributed reports whether someone has created, edited or re-based the request.
func (r *Request) Contributed(by Person) bool {
	return slices.ContainsFunc(r.Contributors, func(p Person) bool { return p.Key == by.Key })
}

// closedError is the error of what only an open request allows.
func (r *Request) closedError(what string) error {
	return flags.Errorf(flags.Conflict, "change request %d is %s: it cannot be %s", r.ID, stateWords[r.State], what)
}

var stateWords = map[State]string{
	Draft: "a draft", InReview: "in review", Scheduled: "scheduled", Applied: "applied", Cancelled: "cancelled", Rejected: "rejected",
}

// CheckEditable returns Conflict if the changes of the request can no longer be edited, or not while it is scheduled. One whose schedule
// has failed or was suspended can be edited or re-based: it is in review again then.
func (r *Request) CheckEditable() error {
	_, waits := r.Due()
	if r.State == Draft || r.State == InReview || r.State == Scheduled && !waits {
		return nil
	}
	return r.closedError("edited")
}

// Edit replaces the changes by others, which guarded says about, and what they were made on. All approvals end.
func (r *Request) Edit(changes []Change, bases Bases, guarded []Guarded, by Person, at time.Time) error {
	r.Changes, r.Bases, r.Guarded, r.Untried = changes, bases, guarded, false
	return r.revise(by, at)
}

// Rename changes the title. Those who approve go by it, so it is an edit: all approvals end.
func (r *Request) Rename(title string, by Person, at time.Time) error {
	if r.Title == title {
		return nil
	}
	r.Title = title
	return r.revise(by, at)
}

// Ask replaces the users who are asked to review the request.
func (r *Request) Ask(reviewers []int64) error {
	if slices.Equal(r.Reviewers, reviewers) {
		return nil
	}
	r.Reviewers = slices.Clone(reviewers)
	_, err := r.countEdit()
	return err
}

// revise notes who has edited the request, and ends its approvals. Invalid if the request is too large with what its changes are completed with,
// such as default strategies: there must be room for approving, rejecting and the like.
func (r *Request) revise(by Person, at time.Time) error {
	r.Approvals, r.Rejections, r.ChangedAt = nil, nil, at
	if !r.Contributed(by) {
		r.Contributors = append(r.Contributors, by)
	}
	if r.State != Draft {
		r.enter(InReview, at)
	}
	r.Revision = r.hash()
	size, err := r.countEdit()
	if err == nil && size > MaxStored {
		return flags.Errorf(flags.Invalid, "with what its changes are completed with, such as default strategies, the change request can have at most %d KiB, and it would have %d; send it to review and begin another one", MaxStored>>10, size>>10)
	}
	return err
}

// countEdit counts what storing an edit writes: the request and its row in lists. Conflict if all edits have written too much: otherwise whoever
// may only read the project writes a large request again and again, with a title each time. Approving, rejecting, cancelling and applying the
// request stay possible.
func (r *Request) countEdit() (size int, err error) {
	document, err := json.Marshal(r)
	row, other := json.Marshal(r.Listed())
	size = len(document)
	r.Edited += size + len(row)
	if err = errors.Join(err, other); err == nil && r.Edited > MaxEdited {
		todo := "have it applied or cancel it"
		if r.State == Draft {
			todo = "send it to review or discard it"
		}
		err = flags.Errorf(flags.Conflict, "change request %d has been edited too often for its size: its edits can write at most %d MiB together; %s, and propose what is missing in another one", r.ID, MaxEdited>>20, todo)
	}
	return size, err
}

// Send sends a draft to review.
func (r *Request) Send(at time.Time) error {
	switch {
	case r.State == InReview:
		return nil
	case r.State != Draft:
		return r.closedError("sent to review")
	case len(r.Changes) == 0:
		return flags.Errorf(flags.Conflict, "change request %d has no changes; add one first", r.ID)
	}
	r.enter(InReview, at)
	return nil
}

// Approve adds the approval of a person. seen says that the person named the present revision. Approving twice is approving once.
func (r *Request) Approve(by Person, seen bool, s Standing, at time.Time) error {
	switch {
	case r.State != InReview:
		return r.closedError("approved")
	case r.Contributed(by):
		return flags.Errorf(flags.Forbidden, "%s has created, edited or re-based change request %d and cannot approve it: someone else must", by.Name, r.ID)
	}
	if err := r.CheckBase("approved", s); err != nil {
		return err
	}
	switch {
	case slices.ContainsFunc(s.Approvals, func(a Approval) bool { return a.By.Key == by.Key }):
		return nil
	case !seen && at.Sub(r.ChangedAt) < UnseenApproval:
		return flags.Errorf(flags.Conflict, "change request %d was changed less than a minute ago: read it, and send its revision in If-Match", r.ID)
	}
	r.Approvals = slices.DeleteFunc(r.Approvals, func(a Approval) bool { return a.By.Key == by.Key })
	r.Rejections = slices.DeleteFunc(r.Rejections, func(a Approval) bool { return a.By.Key == by.Key })
	r.Approvals = append(r.Approvals, Approval{by, at, r.Revision})
	return nil
}

// movedError is the error of a request whose changes were made on something that has changed since.
func (r *Request) movedError(what string, s Standing) error {
	e := flags.Errorf(flags.Conflict, "change request %d cannot be %s, because %s; look at the difference and re-base it with POST …/change-requests/%d/rebase, or cancel it", r.ID, what, s.Conflicts[0], r.ID)
	for _, c := range s.Conflicts {
		e.Details = append(e.Details, flags.Detail{Message: c})
	}
	return e
}

// CheckBase returns Conflict if what the changes were made on has changed since.
func (r *Request) CheckBase(what string, s Standing) error {
	if s.Gone != "" {
		return flags.Errorf(flags.Conflict, "change request %d can only be cancelled: %s", r.ID, s.Gone)
	}
	if len(s.Conflicts) > 0 {
		return r.movedError(what, s)
	}
	return nil
}

// Reject closes a request in review.
func (r *Request) Reject(by Person, at time.Time) error {
	switch r.State {
	case Rejected:
		return nil
	case InReview, Scheduled:
		r.Rejections = append(r.Rejections, Approval{by, at, r.Revision})
		r.enter(Rejected, at)
		return nil
	}
	return r.closedError("rejected")
}

// Cancel closes an open request. Of a draft, which nobody else has seen, nothing is kept but that it existed.
func (r *Request) Cancel(at time.Time) error {
	switch {
	case r.State == Cancelled:
		return nil
	case !r.Open():
		return r.closedError("cancelled")
	}
	if r.State == Draft {
		r.Changes, r.Bases = nil, Bases{}
	}
	r.enter(Cancelled, at)
	return nil
}

// CheckAppliable returns Conflict unless the request can be applied now.
func (r *Request) CheckAppliable(s Standing) error {
	switch {
	case r.State == Draft:
		return flags.Errorf(flags.Conflict, "change request %d is a draft: it cannot be applied; send it to review first, with the state %q", r.ID, InReview)
	case r.State != InReview && r.State != Scheduled:
		return r.closedError("applied")
	case len(r.Changes) == 0:
		return flags.Errorf(flags.Conflict, "change request %d has no changes", r.ID)
	}
	if err := r.CheckBase("applied", s); err != nil {
		return err
	}
	if n := len(s.Approvals); n < s.Needed {
		return flags.Errorf(flags.Conflict, "change request %d has %d of the %d approvals that it needs; approvals count for 30 days, while nothing was edited, and while those who gave them may approve; what a service account or API token proposes needs one more", r.ID, n, s.Needed)
	}
	return nil
}

// RoomForBefore returns how many bytes of what its changes replace can be stored with the request when it is applied.
func (r *Request) RoomForBefore() int {
	document, _ := json.Marshal(r) // it was stored as JSON
	return min(MaxBefore, MaxStored-len(document))
}

// KeepBefore stores what the changes replace, by their ids.
func (r *Request) KeepBefore(before map[int64]jsontext.Value) {
	for i, c := range r.Changes {
		r.Changes[i].Before = before[c.ID]
	}
}

// MarkApplied closes a request that is applied in the same transaction. The approvals that counted stay with it, and what its changes replaced,
// by their ids.
func (r *Request) MarkApplied(s Standing, before map[int64]jsontext.Value, at time.Time) {
	r.Approvals = s.Approvals
	r.KeepBefore(before)
	r.enter(Applied, at)
}

// A Comment is a comment on a change request.
type Comment struct {
	Version int64     `json:"version,omitzero"`
	Request int64     `json:"request"`
	Number  int       `json:"number"` // from 1
	Text    string    `json:"text"`
	By      Person    `json:"by"`
	At      time.Time `json:"at"`
}

// CommentKey returns the key of a comment by its request and number.
func CommentKey(request int64, number int) flags.Key {
	return flags.Key{Entity: EntityComment, ID: strconv.FormatInt(request, 10) + "#" + strconv.Itoa(number)}
}

// Key returns the key of the comment.
func (c *Comment) Key() flags.Key { return CommentKey(c.Request, c.Number) }

// StoredVersion returns the version at which the comment was loaded.
func (c *Comment) StoredVersion() int64 { return c.Version }

// Clone returns a copy that can be changed.
func (c *Comment) Clone() *Comment {
	d := *c
	return &d
}

// CommentKeys returns the keys of the comments of the request.
func (r *Request) CommentKeys() (keys []flags.Key) {
	for n := range r.Comments {
		keys = append(keys, CommentKey(r.ID, n+1))
	}
	return keys
}

// AddComment returns a new comment on the request.
func (r *Request) AddComment(text string, by Person, at time.Time) (*Comment, error) {
	if r.Comments >= MaxComments {
		return nil, flags.Errorf(flags.Conflict, "change request %d has %d comments, which is the limit", r.ID, r.Comments)
	}
	r.Comments++
	return &Comment{Request: r.ID, Number: r.Comments, Text: text, By: by, At: at}, nil
}

// A Store lists change requests.
type Store interface {
	// Requests returns the open change requests of a project, or the latest of the others, newest first, as Request.Listed returns them. Of
	// the others these are at most MaxListed that were applied, and as many that were not: fewer of each if they have more than 1 MB.
	Requests(ctx context.Context, projectUID string, open bool) ([]*Request, error)

	// Items returns how many items a change would write. Invalid if they are more than one transaction can have.
	Items(change flags.Change) (int, error)
}
