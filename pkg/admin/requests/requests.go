// Package requests has the operations on change requests: changes of an environment that others approve before they are applied together.
package requests

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/review"
)

// Group serves change requests. Where they are on is configured by operations on projects.
func Group() httpapi.Group {
	const (
		all    = "/api/admin/projects/{projectId}/change-requests"
		one    = all + "/{changeRequestId}"
		change = one + "/changes/{changeId}"
	)
	environments := []flags.Key{flags.EnvironmentsKey()}
	return httpapi.Group{Name: "requests", Function: "features", Operations: []httpapi.Operation{
		{Route: "POST /api/admin/projects/{projectId}/environments/{environment}/change-requests", Permission: access.Read, Handle: httpapi.HandleBody(addChanges)},
		{Route: "GET " + all, Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(listRequests)},
		{Route: "GET " + all + "/pending", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(listPending)},
		{Route: "GET " + all + "/pending/{featureName}", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(listPendingOfFeature)},
		{Route: "GET " + all + "/scheduled", Permission: access.Read, Handle: httpapi.Handle(listScheduled)},
		{Route: "GET " + all + "/count", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(countRequests)},
		{Route: "GET " + all + "/actionable", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(countActionable)},
		{Route: "GET " + all + "/available-reviewers/{environment}", Permission: access.Read, Handle: httpapi.Handle(listAvailableReviewers)},
		{Route: "GET " + one, Permission: access.Read, Handle: httpapi.Handle(readRequest)},
		{Route: "GET " + one + "/evidence", Permission: access.Read, Handle: httpapi.Handle(readEvidence)},
		{Route: "DELETE " + one, Permission: access.Read, Handle: httpapi.Do(discardDraft)},
		{Route: "PUT " + change, Permission: access.Read, Handle: httpapi.HandleBody(editChange)},
		{Route: "DELETE " + change, Permission: access.Read, Handle: httpapi.Do(deleteChange)},
		{Route: "POST " + one + "/rebase", Permission: access.Read, Handle: httpapi.Handle(rebase)},
		{Route: "PUT " + one + "/state", Permission: access.Read, Handle: httpapi.HandleBody(setState)},
		{Route: "PUT " + one + "/title", Permission: access.Read, Status: http.StatusNoContent, Handle: httpapi.DoBody(setTitle)},
		{Route: "POST " + one + "/comments", Permission: access.Read, Status: http.StatusNoContent, Handle: httpapi.DoBody(addComment)},
		{Route: "GET " + one + "/approvers", Permission: access.Read, Handle: httpapi.Handle(listReviewers)},
		{Route: "PUT " + one + "/approvers", Permission: access.Read, Status: http.StatusNoContent, Handle: httpapi.DoBody(setReviewers)},
		{Route: "GET /api/admin/search/change-requests", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(searchRequests)},
	}}
}

// inRequest is the place of an operation on a change request.
type inRequest struct {
	httpapi.InProject
	ID int64 `path:"changeRequestId"`
}

// Keys names the project, the registry of environments and the request.
func (at *inRequest) Keys() []flags.Key {
	return append(at.InProject.Keys(), flags.EnvironmentsKey(), review.RequestKey(at.ID))
}

// find returns the project and the request of the path. NotFound if one of them does not exist, and for a draft of someone else.
func (at inRequest) find(tx *httpapi.Tx) (*flags.Project, *review.Request) {
	p := at.Project(tx)
	r := httpapi.Find[*review.Request](tx, review.RequestKey(at.ID))
	if r == nil || r.ProjectUID != p.UID || !r.VisibleTo(me(tx).Key) {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no change request %d in project %q", at.ID, p.ID))
	}
	return p, r
}

// findToRead is find for reading. Administrators also read requests of a project that was deleted, because these are the evidence of what was
// approved there. The project is one without settings then.
func (at inRequest) findToRead(tx *httpapi.Tx) (*flags.Project, *review.Request) {
	r := httpapi.Find[*review.Request](tx, review.RequestKey(at.ID))
	if r == nil || !tx.Caller.Admin || r.Project != at.ProjectID || !r.VisibleTo(me(tx).Key) {
		return at.find(tx)
	}
	if p := tx.FindProject(at.ProjectID); p != nil && p.UID == r.ProjectUID {
		return p, r
	}
	return &flags.Project{ID: r.Project, UID: r.ProjectUID}, r
}

// inChange is the place of an operation on one change of a request.
type inChange struct {
	inRequest
	Change int64 `path:"changeId"`
}

// find returns the request and the position of the change in it. NotFound if one of them does not exist.
func (at inChange) find(tx *httpapi.Tx) (*flags.Project, *review.Request, int) {
	p, r := at.inRequest.find(tx)
	i := slices.IndexFunc(r.Changes, func(c review.Change) bool { return c.ID == at.Change })
	if i < 0 {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no change %d in change request %d; an edited change has another id", at.Change, r.ID))
	}
	return p, r, i
}

// me is the caller.
func me(tx *httpapi.Tx) review.Person {
	by := review.Person{Key: tx.Caller.FavoritesKey(), ID: tx.Caller.UserID(), Name: tx.Caller.Name}
	if tx.Caller.User != nil {
		by.DisplayName = tx.Caller.User.Name
	}
	by.Program = tx.Caller.User == nil || tx.Caller.User.ServiceAccount
	return by
}

// mine reports whether the caller is the author of the request.
func mine(tx *httpapi.Tx, r *review.Request) bool { return r.CreatedBy.Key == me(tx).Key }

// authorizeAuthor returns Forbidden unless the caller is the author of the request and may still submit some, or an administrator.
func authorizeAuthor(tx *httpapi.Tx, p *flags.Project, r *review.Request, what string) error {
	if mine(tx, r) || tx.Caller.Admin {
		return checkSubmit(tx, p)
	}
	return flags.Errorf(flags.Forbidden, "only %s, who created change request %d, and administrators can %s it", r.CreatedBy.Name, r.ID, what)
}

// requestsOf are the open or the other requests of a project that the caller can read, as lists show them.
func requestsOf(tx *httpapi.Tx, p *flags.Project, open bool) []*review.Request {
	return visible(tx, tx.Requests([]*flags.Project{p}, open)[p.UID])
}

func visible(tx *httpapi.Tx, list []*review.Request) (found []*review.Request) {
	for _, r := range list {
		if r.VisibleTo(me(tx).Key) {
			found = append(found, r)
		}
	}
	return found
}

// listRequests lists the requests of a project, newest first: of those that are closed the latest ones.
func listRequests(tx *httpapi.Tx, at httpapi.InProject) ([]requestView, error) {
	p := at.Project(tx)
	all := slices.Concat(requestsOf(tx, p, true), requestsOf(tx, p, false))
	slices.SortFunc(all, newestFirst)
	return listedViews(tx, p, all), nil
}

func newestFirst(a, b *review.Request) int { return int(b.ID - a.ID) }

// listPending lists the open requests of the caller.
func listPending(tx *httpapi.Tx, at httpapi.InProject) ([]requestView, error) {
	p := at.Project(tx)
	return listedViews(tx, p, slices.DeleteFunc(requestsOf(tx, p, true), func(r *review.Request) bool { return !mine(tx, r) })), nil
}

// listPendingOfFeature lists the open requests that change a flag.
func listPendingOfFeature(tx *httpapi.Tx, at httpapi.InFeature) ([]requestView, error) {
	f := at.FeatureOrArchived(tx)
	p := at.Project(tx)
	return listedViews(tx, p, slices.DeleteFunc(requestsOf(tx, p, true), func(r *review.Request) bool { return !slices.Contains(r.Features(), f.Name) })), nil
}

// countRequests counts the requests of a project that lists show, without drafts.
func countRequests(tx *httpapi.Tx, at httpapi.InProject) (requestCount, error) {
	p := at.Project(tx)
	var n requestCount
	for _, r := range slices.Concat(requestsOf(tx, p, true), requestsOf(tx, p, false)) {
		switch r.StateAt(listedStanding(tx, p, r)) {
		case review.Draft:
			continue
		case review.InReview:
			n.ReviewRequired++
		case review.Approved:
			n.Approved++
		case review.Scheduled:
			n.Scheduled++
		case review.Applied:
			n.Applied++
		case review.Rejected:
			n.Rejected++
		}
		n.Total++
	}
	return n, nil
}

// countActionable counts the requests of a project that wait for the caller: to approve them, or to apply them.
func countActionable(tx *httpapi.Tx, at httpapi.InProject) (actionable, error) {
	p := at.Project(tx)
	n := 0
	for _, r := range requestsOf(tx, p, true) {
		if waits(tx, p, r, listedStanding(tx, p, r)) {
			n++
		}
	}
	return actionable{n}, nil
}

// waits reports whether a request waits for the caller: to approve it, or to apply it.
func waits(tx *httpapi.Tx, p *flags.Project, r *review.Request, s review.Standing) bool {
	switch r.StateAt(s) {
	case review.InReview:
		approved := slices.ContainsFunc(s.Approvals, func(a review.Approval) bool { return a.By.Key == me(tx).Key })
		return !approved && !r.Contributed(me(tx)) && checkReviewer(tx) == nil && mayIn(tx.Caller, access.ApproveChangeRequest, p, r)
	case review.Approved, review.Scheduled:
		return mayIn(tx.Caller, access.ApplyChangeRequest, p, r)
	}
	return false
}

// mayIn reports whether a caller has a permission in all environments that a request concerns.
func mayIn(caller access.Caller, permission access.Permission, p *flags.Project, r *review.Request) bool {
	return !slices.ContainsFunc(r.Guarded, func(g review.Guarded) bool { return !caller.HasPermission(permission, p, g.Name) })
}

// searchRequests lists requests of all projects, newest first.
func searchRequests(tx *httpapi.Tx, _ httpapi.InService) (searchResult, error) {
	q, problems := tx.Query(), flags.Problems{}
	author, byAuthor := userFilter(q.Get("createdBy"), "createdBy", &problems)
	reviewer, byReviewer := userFilter(q.Get("requestedApproverId"), "requestedApproverId", &problems)
	state := q.Get("state")
	if !slices.Contains([]string{"", "IS:open", "IS:closed", "IS:actionable"}, state) {
		problems.Add("/state", "must be IS:open, IS:closed or IS:actionable, not %q", state)
	}
	if err := problems.Err(); err != nil {
		return searchResult{}, err
	}
	// The others have no requests: they have never switched them on.
	projects := slices.DeleteFunc(slices.Clone(tx.Projects()), func(p *flags.Project) bool { return p.ReviewChange == 0 })
	byID := map[string]*flags.Project{}
	for _, p := range projects {
		byID[p.UID] = p
	}
	var found []*review.Request
	for open, wanted := range map[bool]bool{true: state != "IS:closed", false: state == "" || state == "IS:closed"} {
		if wanted {
			for _, list := range tx.Requests(projects, open) {
				found = append(found, visible(tx, list)...)
			}
		}
	}
	found = slices.DeleteFunc(found, func(r *review.Request) bool {
		if state == "IS:actionable" && !waits(tx, byID[r.ProjectUID], r, listedStanding(tx, byID[r.ProjectUID], r)) {
			return true
		}
		return byAuthor && r.CreatedBy.ID != author || byReviewer && !slices.Contains(r.Reviewers, reviewer)
	})
	slices.SortFunc(found, newestFirst)
	result := searchResult{Requests: []searchRow{}, Total: len(found)}
	offset, limit := searchBounds(q)
	for _, r := range found[min(offset, len(found)):min(offset+limit, len(found))] {
		p := byID[r.ProjectUID]
		s := listedStanding(tx, p, r)
		row := searchRowOf(r, s)
		row.Actionable = waits(tx, p, r, s)
		result.Requests = append(result.Requests, row)
	}
	return result, nil
}

// userFilter reads a filter such as IS:3.
func userFilter(text, name string, problems *flags.Problems) (user int64, is bool) {
	if text == "" {
		return 0, false
	}
	id, err := strconv.ParseInt(strings.TrimPrefix(text, "IS:"), 10, 32)
	if err != nil {
		problems.Add("/"+name, "must be the id of a user, such as IS:3")
	}
	return id, true
}

// searchBounds are the page of a search: 50 requests by default, at most 1,000.
func searchBounds(q httpapi.Query) (offset, limit int) {
	offset, limit = httpapi.PageBounds(q)
	if limit <= 0 || limit > 1000 {
		limit = 50
	}
	return offset, limit
}
