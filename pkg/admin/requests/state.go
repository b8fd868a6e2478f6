package requests

import (
	"context"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/review"
)

// readRequest returns a request with its comments.
func readRequest(tx *httpapi.Tx, at inRequest) (requestView, error) {
	p, r := at.findToRead(tx)
	return viewOf(tx, p, r), nil
}

// setState sends a draft to review, approves, rejects, schedules, applies or cancels a request. Doing again what was done changes nothing.
func setState(tx *httpapi.Tx, at inRequest, in stateBody) (requestView, error) {
	p, r := at.find(tx)
	before := r.State
	if before == in.State && !r.Open() {
		return viewOf(tx, p, r), nil
	}
	seen, err := tx.CheckRevision(r.Revision)
	if err != nil {
		return requestView{}, err
	}
	act := map[review.State]func(*httpapi.Tx, *flags.Project, *review.Request) error{
		review.InReview: send, review.Rejected: reject, review.Cancelled: cancel,
		review.Approved: func(tx *httpapi.Tx, p *flags.Project, r *review.Request) error { return approve(tx, p, r, seen) },
		review.Applied:  func(tx *httpapi.Tx, p *flags.Project, r *review.Request) error { return apply(tx, tx.Caller, p, r) },
		review.Scheduled: func(tx *httpapi.Tx, p *flags.Project, r *review.Request) error {
			return schedule(tx, p, r, httpapi.MomentOf(&in.ScheduledAt.Value))
		},
	}[in.State]
	if act == nil {
		return requestView{}, flags.Errorf(flags.Conflict, "change request %d cannot become %s", r.ID, in.State)
	}
	if err := act(tx, p, r); err != nil {
		return requestView{}, err
	}
	if in.Comment.Value == "" || before == r.State && in.State != review.Approved {
		return viewOf(tx, p, r), nil
	}
	added, err := comment(tx, p, r, in.Comment.Value)
	if err != nil {
		return requestView{}, err
	}
	view := viewOf(tx, p, r)
	view.Comments = append(view.Comments, commentViewOf(added))
	return view, nil
}

// send sends a draft to review.
func send(tx *httpapi.Tx, p *flags.Project, r *review.Request) error {
	if err := authorizeAuthor(tx, p, r, "send"); err != nil {
		return err
	}
	if r.State == review.Draft {
		if err := r.CheckBase("sent to review", standingOf(tx, p, r)); err != nil {
			return err
		}
	}
	if err := r.Send(tx.Now); err != nil {
		return err
	}
	tx.Save(events.OfRequest(flags.RequestSent, r), r)
	return nil
}

// checkReviewer returns Forbidden unless the caller is a person who is signed in: programs do not approve.
func checkReviewer(tx *httpapi.Tx) error {
	if tx.Caller.Session == "" || tx.Caller.User == nil || tx.Caller.User.ServiceAccount {
		return flags.Errorf(flags.Forbidden, "only people who are signed in can approve change requests, with their session: %s uses a token", tx.Caller.Name)
	}
	return nil
}

// authorizeIn returns Forbidden unless a caller has a permission in the environments of a request in which change requests are on; in its
// own if they are off there.
func authorizeIn(tx *httpapi.Tx, caller access.Caller, permission access.Permission, p *flags.Project, r *review.Request) error {
	environments, _ := guardedNow(tx, p, r)
	if len(environments) == 0 {
		environments = []string{r.Environment}
	}
	for _, env := range environments {
		if err := caller.Authorize(permission, p, env); err != nil {
			return err
		}
	}
	return nil
}

// approve adds the approval of the caller. seen says that the caller named the present revision.
func approve(tx *httpapi.Tx, p *flags.Project, r *review.Request, seen bool) error {
	if err := checkReviewer(tx); err != nil {
		return err
	}
	if err := authorizeIn(tx, tx.Caller, access.ApproveChangeRequest, p, r); err != nil {
		return err
	}
	before := standingOf(tx, p, r)
	if err := r.Approve(me(tx), seen, before, tx.Now); err != nil {
		return err
	}
	tx.Save(events.OfRequest(flags.RequestApprovalAdded, r), r)
	if r.StateAt(before) != review.Approved && r.StateAt(standingOf(tx, p, r)) == review.Approved {
		tx.Save(events.OfRequest(flags.RequestApproved, r))
	}
	return nil
}

// reject closes a request. Those who could approve it can, also with a token: it changes nothing.
func reject(tx *httpapi.Tx, p *flags.Project, r *review.Request) error {
	if err := authorizeIn(tx, tx.Caller, access.ApproveChangeRequest, p, r); err != nil {
		return err
	}
	keepPresent(tx, p, r)
	if err := r.Reject(me(tx), tx.Now); err != nil {
		return err
	}
	tx.Save(events.OfRequest(flags.RequestRejected, r), r)
	return nil
}

// cancel closes a request without applying it. Those who configure change requests in the project can too, so that nobody can fill its queue.
func cancel(tx *httpapi.Tx, p *flags.Project, r *review.Request) error {
	if !mine(tx, r) && !tx.Caller.HasPermission(access.ChangeRequestWrite, p, "") {
		return flags.Errorf(flags.Forbidden, "only %s, who created change request %d, and those with the permission %s can cancel it", r.CreatedBy.Name, r.ID, access.ChangeRequestWrite)
	}
	keepPresent(tx, p, r)
	if err := r.Cancel(tx.Now); err != nil {
		return err
	}
	tx.Save(events.OfRequest(flags.RequestCancelled, r), r)
	return nil
}

// keepPresent keeps what the changes of an open request would have replaced, so that it shows their differences also when it is closed.
func keepPresent(tx *httpapi.Tx, p *flags.Project, r *review.Request) {
	if r.Open() {
		standingOf(tx, p, r)
		r.KeepBefore(presentOf(tx, p, r, r.RoomForBefore()))
	}
}

// apply applies a request: all of its changes, or none. The caller needs APPLY_CHANGE_REQUEST while change requests are on, and the permissions of the changes.
func apply(tx *httpapi.Tx, caller access.Caller, p *flags.Project, r *review.Request) error {
	if environments, _ := guardedNow(tx, p, r); len(environments) > 0 {
		if err := authorizeIn(tx, caller, access.ApplyChangeRequest, p, r); err != nil {
			return err
		}
	}
	s := standingOf(tx, p, r)
	if err := r.CheckAppliable(s); err != nil {
		return readOnce(tx, r, err)
	}
	for _, ids := range r.Bases.Uses {
		for _, id := range ids {
			if s := tx.FindSegment(id); s != nil {
				tx.AssumeSegment(s)
			}
		}
	}
	if len(s.Approvals) > 0 { // as many approvals are still needed at the commit, and those who gave them still may approve
		tx.Assume(p, tx.Roles())
		for _, a := range s.Approvals[:min(s.Needed, len(s.Approvals))] {
			tx.Assume(tx.FindUser(a.By.ID))
		}
	}
	env, _ := environmentOf(tx, p, r)
	tx.Group(r.ID)
	tx.Approved(func(part flags.GuardedPart, env flags.Environment) bool {
		return part.ProjectUID == r.ProjectUID && concerns(r.Guarded, env)
	})
	for i, c := range r.Changes {
		tx.CheckTime()
		if err := run(tx, caller, c, p, env); err != nil {
			return readOnce(tx, r, aboutChange(err, i+1, c, flags.Conflict))
		}
	}
	r.MarkApplied(s, presentOf(tx, p, r, r.RoomForBefore()), tx.Now)
	tx.Save(events.RequestApplied(r, tx.StepEvents()), r)
	return nil
}

// readOnce is an error about a request, unless the request has changed since it was read: then it, and what it is about, were not read at one
// time, so the operation must run again.
func readOnce(tx *httpapi.Tx, r *review.Request, err error) error {
	if isOutdated(tx, r) {
		return flags.Errorf(flags.VersionConflict, "change request %d was changed at the same time", r.ID)
	}
	return err
}

// addComment adds a comment. Everyone who sees the request can.
func addComment(tx *httpapi.Tx, at inRequest, in wire.CommentBody) error {
	p, r := at.find(tx)
	_, err := comment(tx, p, r, in.Text)
	return err
}

func comment(tx *httpapi.Tx, p *flags.Project, r *review.Request, text string) (*review.Comment, error) {
	most := review.MaxCommentsOfOne
	if !takesPart(tx, p, r) {
		most = review.MaxCommentsOfReader
	}
	if r.Comments >= most {
		tx.Load(r.CommentKeys()...)
		by := 0
		for _, key := range r.CommentKeys() {
			if c := httpapi.Find[*review.Comment](tx, key); c != nil && c.By.Key == me(tx).Key {
				by++
			}
		}
		if by >= most {
			return nil, flags.Errorf(flags.Conflict, "%s has written %d comments on change request %d, which is the limit", tx.Caller.Name, by, r.ID)
		}
	}
	c, err := r.AddComment(text, me(tx), tx.Now)
	if err != nil {
		return nil, err
	}
	tx.Save(events.OfRequest(flags.RequestCommented, r), r, c)
	return c, nil
}

// takesPart reports whether the caller has contributed to the request, can approve it, or is a member of the project.
func takesPart(tx *httpapi.Tx, p *flags.Project, r *review.Request) bool {
	u := tx.Caller.User
	return tx.Caller.Admin || u != nil && len(p.Members[u.ID]) > 0 || r.Contributed(me(tx)) || authorizeIn(tx, tx.Caller, access.ApproveChangeRequest, p, r) == nil
}

// isOutdated reports whether others have changed a request since it was read. Ask before an error that depends on several aggregates:
// these may have been read before and after one change.
func isOutdated(tx *httpapi.Tx, r *review.Request) bool {
	type outdated struct{ key flags.Key }
	return httpapi.Read(tx, outdated{r.Key()}, func(ctx context.Context, store httpapi.Store) (bool, error) {
		now, err := store.Load(ctx, []flags.Key{r.Key()})
		return err == nil && (now[r.Key()] == nil || flags.VersionOf(now[r.Key()]) != flags.VersionOf(r)), err
	})
}
