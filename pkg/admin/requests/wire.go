package requests

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/access"
	"guidon/pkg/admin/releases"
	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/review"
	"guidon/pkg/shape"
)

// A changesBody is one change, or a list of changes.
type changesBody struct {
	list  []changeBody
	alone bool // it is not in a list
}

// UnmarshalJSONFrom reads a change, or a list of changes.
func (b *changesBody) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		return json.UnmarshalDecode(d, &b.list)
	}
	b.list, b.alone = make([]changeBody, 1), true
	return json.UnmarshalDecode(d, &b.list[0])
}

// Check finds what is wrong with the changes by themselves.
func (b changesBody) Check(limits flags.Limits, problems *flags.Problems) {
	if b.alone {
		b.list[0].Check(limits, problems)
		return
	}
	if len(b.list) == 0 {
		problems.Add("", "must have at least one change")
	}
	if !flags.CheckCount("", "changes", len(b.list), review.MaxChanges, problems) {
		return
	}
	for i, c := range b.list {
		problems.CheckAt("/"+strconv.Itoa(i), func(below *flags.Problems) { c.Check(limits, below) })
	}
}

// A changeBody is a change: an action, and what the operation that makes it directly takes.
type changeBody struct {
	Feature string         `json:"feature"`
	Action  review.Action  `json:"action"`
	Payload jsontext.Value `json:"payload"`
}

// Check finds what is wrong with the change by itself.
func (b changeBody) Check(_ flags.Limits, problems *flags.Problems) {
	review.CheckAction("/action", b.Action, problems)
	if !slices.Contains(review.Actions(), b.Action) {
		return
	}
	if len(b.Payload) > review.MaxSize {
		problems.Add("/payload", "must have at most %d KiB", review.MaxSize>>10)
		return
	}
	c := b.plain()
	switch {
	case b.Action.OfSegment() && c.Segment <= 0:
		problems.Add("/payload/id", "must be the id of a segment")
	case !b.Action.OfSegment() && b.Feature == "":
		problems.Add("/feature", "is required")
	case !b.Action.OfSegment():
		if fault := flags.CheckName(b.Feature); fault != "" {
			problems.Add("/feature", "%s", fault)
			return
		}
	}
	if b.Action == review.ReorderStrategy {
		checkOrder(b.Payload, problems)
	}
	if len(*problems) == 0 && b.Action != review.DeleteSegment {
		if _, err := stepOf(c, &flags.Project{}, flags.ProjectEnvironment{}); err != nil {
			problems.Add("/payload", "%s", err.Error())
		}
	}
	if at, unknown := unknownMember(c); unknown {
		problems.Add("/payload"+at, "is unknown to %s: it would be shown to those who approve, and do nothing", c.Action)
	}
}

// unknownMember finds a member of a payload that nothing reads, with its path in the payload. The ids of a strategy that a response has may be
// sent back.
func unknownMember(c review.Change) (at string, found bool) {
	payload := map[review.Action]any{
		review.UpdateEnabled: &struct {
			Enabled bool `json:"enabled"`
			forced
		}{},
		review.AddStrategy: &strategyPayload{}, review.UpdateStrategy: &strategyPayload{}, review.DeleteStrategy: &idPayload{},
		review.PatchVariant: &struct {
			Variants []wire.VariantBody `json:"variants"`
		}{},
		review.ReorderStrategy: &[]struct {
			idPayload

			SortOrder float64 `json:"sortOrder"`
		}{},
		review.ArchiveFeature: &struct{}{}, review.AddDependency: &wire.DependencyBody{},
		review.DeleteDependency: &struct {
			Feature string `json:"feature"`
		}{},
		review.UpdateSegment: &struct {
			idPayload
			wire.SegmentBody
		}{},
		review.DeleteSegment: &idPayload{}, review.AddReleasePlan: &releases.PlanBody{},
		review.DeleteReleasePlan: &planPayload{}, review.StartMilestone: &forcedPayload{}, review.ResumeMilestoneProgression: &forcedPayload{},
	}[c.Action]
	err, is := errors.AsType[*json.SemanticError](json.Unmarshal(c.Payload, payload, json.RejectUnknownMembers(true)))
	if !is || !errors.Is(err, json.ErrUnknownName) { // other faults are those of the operation
		return "", false
	}
	return string(err.JSONPointer), true
}

// checkOrder finds a strategy that an order has twice: those who approve could not tell which of its places counts.
func checkOrder(payload jsontext.Value, problems *flags.Problems) {
	var order []struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(payload, &order) // checked when the change is tried
	seen := map[string]bool{}
	for i, place := range order {
		if seen[place.ID] {
			problems.Add("/payload/"+strconv.Itoa(i)+"/id", "is the strategy %s again", jsonbody.Shorten(place.ID))
		}
		seen[place.ID] = true
	}
}

type idPayload struct {
	ID jsontext.Value `json:"id"`
}

// A planPayload names a release plan, and one of its milestones to start it.
type planPayload struct {
	Plan      string `json:"planId"`
	Milestone string `json:"milestoneId"`
}

// forced is the reason for which a plan goes on although a signal fires.
type forced struct {
	Force jsontext.Value `json:"force,omitzero"`
}

type forcedPayload struct {
	planPayload
	forced
}

type strategyPayload struct {
	idPayload
	wire.StrategyBody

	FeatureName jsontext.Value `json:"featureName"`
}

// plain is the change that the body describes.
func (b changeBody) plain() review.Change {
	c := review.Change{Action: b.Action, Feature: b.Feature, Payload: slices.Clone(b.Payload)}
	if b.Action.OfSegment() {
		var payload struct {
			ID int64 `json:"id"`
		}
		_ = json.Unmarshal(b.Payload, &payload) // 0 is no ID
		c.Feature, c.Segment = "", payload.ID
	}
	if b.Action == review.UpdateStrategy || b.Action == review.DeleteStrategy {
		var payload struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(b.Payload, &payload) // checked by stepOf
		c.Strategy = payload.ID
	}
	return c
}

// change is the change that the body describes, with an ID.
func (b changeBody) change(tx *httpapi.Tx, id int64) review.Change {
	c := b.plain()
	c.ID, c.By, c.At = id, me(tx), tx.Now
	return c
}

// A stateBody is the state that a request is to get.
type stateBody struct {
	State       review.State           `json:"state"`
	Comment     jsonbody.Maybe[string] `json:"comment"`
	ScheduledAt jsonbody.Maybe[string] `json:"scheduledAt"`
}

func (b stateBody) Check(_ flags.Limits, problems *flags.Problems) {
	switch b.State {
	case review.InReview, review.Approved, review.Applied, review.Cancelled, review.Rejected:
	case review.Scheduled:
		if _, ok := httpapi.ParseMoment(b.ScheduledAt.Value); !ok {
			problems.Add("/scheduledAt", "must be a date-time such as 2030-01-31T12:00:00Z, not %q", jsonbody.Shorten(b.ScheduledAt.Value))
		}
	default:
		problems.Add("/state", "must be In review, Approved, Scheduled, Applied, Cancelled or Rejected")
	}
	if b.State != review.Scheduled && b.ScheduledAt.Set {
		problems.Add("/scheduledAt", "is only for the state Scheduled")
	}
	wire.CheckComment("/comment", b.Comment.Value, problems)
}

// A titleBody is a title.
type titleBody struct {
	Title string `json:"title"`
}

func (b titleBody) Check(_ flags.Limits, problems *flags.Problems) {
	flags.CheckLength("/title", b.Title, review.MaxTitle, problems)
	flags.CheckText("/title", b.Title, problems)
}

// A reviewersBody is the people who are asked to review a request.
type reviewersBody struct {
	Reviewers jsonbody.Maybe[[]int64] `json:"reviewers"`
}

func (b reviewersBody) Check(_ flags.Limits, problems *flags.Problems) {
	if !b.Reviewers.Set {
		problems.Add("/reviewers", "is required; it can be []")
	}
	if !flags.CheckCount("/reviewers", "reviewers", len(b.Reviewers.Value), review.MaxReviewers, problems) {
		return
	}
	for i, id := range b.Reviewers.Value {
		if slices.Contains(b.Reviewers.Value[:i], id) {
			problems.Add("/reviewers/"+strconv.Itoa(i), "user %d is listed twice", id)
		}
	}
}

// A personView is who did something, with the names at that time.
type personView struct {
	ID             int64   `json:"id"`
	Username       string  `json:"username"`
	Name           string  `json:"name,omitzero"`
	ServiceAccount bool    `json:"serviceAccount,omitzero"`
	ImageURL       *string `json:"imageUrl"` // always null
}

func personViewOf(p review.Person) personView {
	return personView{ID: p.ID, Username: p.Name, Name: p.DisplayName, ServiceAccount: p.Program && p.ID != flags.TokenUserID}
}

// A requestView is a change request. In lists, changes have no payload, and there are no comments.
type requestView struct {
	ID           int64                       `json:"id"`
	Title        string                      `json:"title,omitzero"`
	Environment  string                      `json:"environment"`
	MinApprovals int                         `json:"minApprovals"`
	Project      string                      `json:"project"`
	State        review.State                `json:"state"`
	Revision     string                      `json:"revision"`
	Conflict     string                      `json:"conflict,omitzero"`
	Environments []string                    `json:"guardedEnvironments"`
	Features     []requestFeature            `json:"features"`
	Segments     []segmentChange             `json:"segments"`
	Approvals    []approvalView              `json:"approvals"`
	Rejections   []approvalView              `json:"rejections"`
	Comments     []commentView               `json:"comments"`
	Reviewers    []int64                     `json:"reviewers"`
	CreatedBy    personView                  `json:"createdBy"`
	CreatedAt    shape.Time                  `json:"createdAt"`
	Entered      map[review.State]shape.Time `json:"stateTimestamps"`
	Schedule     *scheduleView               `json:"schedule,omitzero"`
	Freeze       *heldView                   `json:"freeze,omitzero"` // not in lists
}

// A requestFeature is the changes of a flag.
type requestFeature struct {
	Name     string         `json:"name"`
	Conflict string         `json:"conflict,omitzero"`
	Changes  []changeView   `json:"changes"`
	Default  *defaultChange `json:"defaultChange,omitzero"`
}

// A defaultChange is the strategy that switching on a flag without strategies adds.
type defaultChange struct {
	Action  review.Action  `json:"action"`
	Payload jsontext.Value `json:"payload"`
}

// A changeView is one change.
type changeView struct {
	ID        int64          `json:"id"`
	Action    review.Action  `json:"action"`
	Payload   jsontext.Value `json:"payload,omitzero"`
	Before    jsontext.Value `json:"before,omitzero"` // see beforeOf; not in lists
	CreatedBy personView     `json:"createdBy"`
	CreatedAt shape.Time     `json:"createdAt"`
}

// A segmentChange is one change of a segment.
type segmentChange struct {
	changeView
	Name     string `json:"name"`
	Segment  int64  `json:"segmentId"`
	Conflict string `json:"conflict,omitzero"`
}

// An approvalView is an approval or rejection.
type approvalView struct {
	CreatedBy personView `json:"createdBy"`
	CreatedAt shape.Time `json:"createdAt"`
}

// A commentView is a comment.
type commentView struct {
	ID        int        `json:"id"`
	Text      string     `json:"text"`
	CreatedBy personView `json:"createdBy"`
	CreatedAt shape.Time `json:"createdAt"`
}

func commentViewOf(c *review.Comment) commentView {
	return commentView{c.Number, c.Text, personViewOf(c.By), shape.Time(c.At)}
}

// viewOf is a request by itself, with its comments that are stored.
func viewOf(tx *httpapi.Tx, p *flags.Project, r *review.Request) requestView {
	tx.Load(append(r.CommentKeys(), httpapi.Each(r.Approvals, func(a review.Approval) flags.Key { return access.UserKey(a.By.ID) })...)...)
	s, d := examine(tx, p, r)
	view := listedView(r, s)
	view.Conflict, view.Freeze = s.Gone, heldViewOf(tx, p, r)
	before := beforeOf(tx, p, r)
	untried := ""
	if r.Untried && d.features != nil {
		untried = review.NotTried
	}
	for i, f := range view.Features {
		view.Features[i].Conflict = cmp.Or(d.features[f.Name], untried)
		for j, c := range f.Changes {
			f.Changes[j].Before = before[c.ID]
		}
	}
	for i, c := range view.Segments {
		view.Segments[i].Conflict, view.Segments[i].Before = cmp.Or(d.segments[c.Segment], untried), before[c.ID]
	}
	for _, key := range r.CommentKeys() {
		if c := httpapi.Find[*review.Comment](tx, key); c != nil {
			view.Comments = append(view.Comments, commentViewOf(c))
		}
	}
	return view
}

// listedViews are requests in a list.
func listedViews(tx *httpapi.Tx, p *flags.Project, list []*review.Request) []requestView {
	return httpapi.Each(list, func(r *review.Request) requestView { return listedView(r, listedStanding(tx, p, r)) })
}

func listedView(r *review.Request, s review.Standing) requestView {
	view := requestView{
		ID: r.ID, Title: r.Title, Environment: r.Environment, MinApprovals: s.Needed, Project: r.Project, State: r.StateAt(s), Revision: r.Revision,
		Environments: httpapi.Each(r.Guarded, func(g review.Guarded) string { return g.Name }),
		Features:     []requestFeature{}, Segments: []segmentChange{}, Comments: []commentView{}, Reviewers: append([]int64{}, r.Reviewers...),
		Approvals: approvalViews(s.Approvals), Rejections: approvalViews(r.Rejections),
		CreatedBy: personViewOf(r.CreatedBy), CreatedAt: shape.Time(r.CreatedAt), Entered: map[review.State]shape.Time{},
		Schedule: scheduleViewOf(r, s),
	}
	for state, at := range r.Entered {
		view.Entered[state] = shape.Time(at)
	}
	for _, name := range r.Features() {
		view.Features = append(view.Features, requestFeature{Name: name, Changes: []changeView{}})
	}
	for _, c := range r.Changes {
		change := changeView{c.ID, c.Action, c.Payload, nil, personViewOf(c.By), shape.Time(c.At)}
		if c.Action.OfSegment() {
			view.Segments = append(view.Segments, segmentChange{changeView: change, Name: c.Name, Segment: c.Segment})
			continue
		}
		i := slices.IndexFunc(view.Features, func(f requestFeature) bool { return f.Name == c.Feature })
		view.Features[i].Changes = append(view.Features[i].Changes, change)
		if c.Default != nil {
			view.Features[i].Default = &defaultChange{review.AddStrategy, c.Default}
		}
	}
	return view
}

func approvalViews(list []review.Approval) []approvalView {
	return httpapi.Each(list, func(a review.Approval) approvalView { return approvalView{personViewOf(a.By), shape.Time(a.At)} })
}

// A requestCount is how many requests a project has.
type requestCount struct {
	Total          int `json:"total"`
	Applied        int `json:"applied"`
	Rejected       int `json:"rejected"`
	ReviewRequired int `json:"reviewRequired"`
	Approved       int `json:"approved"`
	Scheduled      int `json:"scheduled"`
}

// An actionable is how many requests wait for the caller.
type actionable struct {
	Total int `json:"total"`
}

// A reviewerList is people who may review, or who were asked to.
type reviewerList struct {
	Reviewers []reviewerView `json:"reviewers"`
}

// A reviewerView is a person who may review. The e-mail address is always empty: everyone who reads a project sees the list.
type reviewerView struct {
	ID       int64  `json:"id"`
	Email    string `json:"email"`
	Username string `json:"username"`
	Name     string `json:"name"`
	ImageURL string `json:"imageUrl"`
}

func reviewerViewOf(u *access.User) reviewerView {
	return reviewerView{ID: u.ID, Username: u.Username, Name: u.DisplayName(), ImageURL: u.Image()}
}

// A searchResult is a page of the requests of all projects.
type searchResult struct {
	Requests []searchRow `json:"changeRequests"`
	Total    int         `json:"total"`
}

// A searchRow is a request in a search.
type searchRow struct {
	ID           int64        `json:"id"`
	Title        string       `json:"title,omitzero"`
	Environment  string       `json:"environment"`
	Project      string       `json:"project"`
	CreatedBy    personView   `json:"createdBy"`
	CreatedAt    shape.Time   `json:"createdAt"`
	Features     []string     `json:"features"`
	Segments     []string     `json:"segments"`
	State        review.State `json:"state"`
	MinApprovals int          `json:"minApprovals"`
	Approvals    int          `json:"approvals"`
	Reviewers    []int64      `json:"reviewers"`
	Actionable   bool         `json:"actionable"`

	Schedule *scheduleView `json:"schedule,omitzero"`
}

func searchRowOf(r *review.Request, s review.Standing) searchRow {
	row := searchRow{
		ID: r.ID, Title: r.Title, Environment: r.Environment, Project: r.Project, CreatedBy: personViewOf(r.CreatedBy), CreatedAt: shape.Time(r.CreatedAt),
		Features: append([]string{}, r.Features()...), Segments: []string{}, State: r.StateAt(s),
		MinApprovals: s.Needed, Approvals: len(s.Approvals), Reviewers: append([]int64{}, r.Reviewers...),
		Schedule: scheduleViewOf(r, s),
	}
	for _, c := range r.Changes {
		if c.Action.OfSegment() && !slices.Contains(row.Segments, c.Name) {
			row.Segments = append(row.Segments, c.Name)
		}
	}
	return row
}
