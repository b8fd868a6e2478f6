package requests

import (
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/review"
)

// addChanges adds changes to the caller's draft in an environment, or begins one.
func addChanges(tx *httpapi.Tx, at httpapi.InProjectEnvironment, in changesBody) (requestView, error) {
	p, env := at.Find(tx)
	if _, on := p.Review(env.Environment); !on {
		return requestView{}, flags.Errorf(flags.Invalid, "change requests are off in environment %q of project %q: change it directly", env.Name, p.ID)
	}
	if err := checkSubmit(tx, p); err != nil {
		return requestView{}, err
	}
	r, err := draftIn(tx, p, env)
	if err != nil {
		return requestView{}, err
	}
	isNew := r.ID == 0
	if !isNew {
		if err := r.CheckBase("extended", standingOf(tx, p, r)); err != nil {
			return requestView{}, err
		}
	}
	var added []review.Change
	for _, c := range in.list {
		r.LastChange++
		added = append(added, c.change(tx, r.LastChange))
	}
	if err := edit(tx, p, env, r, append(r.Changes, added...)); err != nil {
		return requestView{}, err
	}
	if isNew {
		if gone := abandoned(tx, p); gone != nil {
			if err := gone.Cancel(tx.Now); err != nil {
				return requestView{}, err
			}
			tx.Save(events.OfRequest(flags.RequestDiscarded, gone), gone)
		}
		r.ID = tx.NextID(review.EntityRequest)
		tx.RetryNameExists()
		tx.Save(events.OfRequest(flags.RequestCreated, r), r)
		tx.Save(events.OfRequest(flags.ChangeAdded, r))
	} else {
		tx.Save(events.OfRequest(flags.ChangeAdded, r), r)
	}
	return viewOf(tx, p, r), nil
}

// checkSubmit returns Forbidden if the caller may not submit change requests in the project: everyone may in an open project, and its members
// and administrators in any other.
func checkSubmit(tx *httpapi.Tx, p *flags.Project) error {
	if p.Mode == flags.ModeOpen || p.Mode == "" || tx.Caller.Admin || tx.Caller.User != nil && len(p.Members[tx.Caller.User.ID]) > 0 {
		return nil
	}
	return flags.Errorf(flags.Forbidden, "only members of project %q can submit change requests there, because its mode is %s", p.ID, p.Mode)
}

// draftIn is the caller's draft in an environment, or a new one without an ID.
func draftIn(tx *httpapi.Tx, p *flags.Project, env flags.ProjectEnvironment) (*review.Request, error) {
	draft := review.New(p, env, me(tx), tx.Now)
	open, drafts := 0, 0
	for _, r := range requestsOf(tx, p, true) {
		if r.DraftName() == draft.DraftName() {
			found := httpapi.Find[*review.Request](tx, r.Key())
			if found == nil || found.State != review.Draft {
				return nil, flags.Errorf(flags.VersionConflict, "change request %d was sent or discarded at the same time", r.ID)
			}
			return found, nil
		}
		if mine(tx, r) {
			open++
			if r.State == review.Draft {
				drafts++
			}
		}
	}
	if drafts >= review.MaxDraftsOfOne {
		return nil, flags.Errorf(flags.Conflict, "%s has %d drafts of change requests in project %q, which is the limit; send or discard some first", tx.Caller.Name, drafts, p.ID)
	}
	if open >= review.MaxOpenOfOne {
		return nil, flags.Errorf(flags.Conflict, "%s has %d open change requests in project %q, which is the limit; apply or cancel some first", tx.Caller.Name, open, p.ID)
	}
	return draft, nil
}

// abandoned is a draft of a user who no longer exists, if the project has as many open requests as it can have: nobody else could discard it.
func abandoned(tx *httpapi.Tx, p *flags.Project) *review.Request {
	all := tx.Requests([]*flags.Project{p}, true)[p.UID]
	if len(all) < review.MaxOpen {
		return nil
	}
	tx.Load(httpapi.Each(all, func(r *review.Request) flags.Key { return access.UserKey(r.CreatedBy.ID) })...)
	for _, listed := range all {
		if listed.State != review.Draft || listed.CreatedBy.ID == flags.TokenUserID || tx.FindUser(listed.CreatedBy.ID) != nil {
			continue
		}
		if r := httpapi.Find[*review.Request](tx, listed.Key()); r != nil && r.State == review.Draft {
			return r
		}
	}
	return nil
}

// edit replaces the changes of a request, tries them, and re-validates them against the current state. Unless it is re-based, nothing has changed
// since it was edited before: see review.Request.CheckBase.
func edit(tx *httpapi.Tx, p *flags.Project, env flags.ProjectEnvironment, r *review.Request, changes []review.Change) error {
	if err := review.CheckLimits(changes); err != nil {
		return err
	}
	changes = slices.Clone(changes)
	load(tx, env, changes, nil)
	guarded, uses, err := rehearse(tx, p, env, changes)
	if err != nil {
		return err
	}
	load(tx, env, changes, uses)
	bases := basesOf(tx, env, elsewhere(tx, p, env, guarded), changes, uses)
	noteUses(tx, bases.Segments, func(int64, review.SegmentBase) bool { return true })
	return r.Edit(changes, bases, guarded, me(tx), tx.Now)
}

// keep restores the old values of the keys that both maps have.
func keep[K comparable, V any](in, old map[K]V) {
	for key := range in {
		if value, had := old[key]; had {
			in[key] = value
		}
	}
}

// editable is the environment of a request that the caller can edit now.
func editable(tx *httpapi.Tx, p *flags.Project, r *review.Request, what string) (flags.ProjectEnvironment, error) {
	env, _ := environmentOf(tx, p, r)
	if err := authorizeAuthor(tx, p, r, what); err != nil {
		return env, err
	}
	if err := r.CheckEditable(); err != nil {
		return env, err
	}
	_, err := tx.CheckRevision(r.Revision)
	return env, err
}

// editChange replaces a change by another one, which keeps its ID.
func editChange(tx *httpapi.Tx, at inChange, in changeBody) (requestView, error) {
	p, r, i := at.find(tx)
	env, err := editable(tx, p, r, "edit")
	if err != nil {
		return requestView{}, err
	}
	if err := r.CheckBase("edited", standingOf(tx, p, r)); err != nil {
		return requestView{}, err
	}
	before, changes := r.Changes[i], slices.Clone(r.Changes)
	changes[i] = in.change(tx, before.ID)
	if err := edit(tx, p, env, r, changes); err != nil {
		return requestView{}, err
	}
	tx.Save(events.ChangeEdited(r, before, r.Changes[i]), r)
	return viewOf(tx, p, r), nil
}

// deleteChange removes a change. It is also possible if what other changes were made on has changed since: then these are not tried, and the
// request must be re-based.
func deleteChange(tx *httpapi.Tx, at inChange) error {
	p, r, i := at.find(tx)
	env, err := editable(tx, p, r, "edit")
	if err != nil {
		return err
	}
	removed, rest := r.Changes[i], slices.Delete(slices.Clone(r.Changes), i, i+1)
	left := r.Clone()
	left.Changes, left.Untried = rest, false
	if s := standingOf(tx, p, left); s.Gone != "" {
		return r.CheckBase("edited", s)
	} else if len(s.Conflicts) == 0 {
		err = edit(tx, p, env, r, rest)
	} else {
		bases := basesOf(tx, env, elsewhere(tx, p, env, r.Guarded), rest, r.Bases.Uses)
		keep(bases.Features, r.Bases.Features)
		keep(bases.Segments, r.Bases.Segments)
		err = r.Edit(rest, bases, r.Guarded, me(tx), tx.Now)
		r.Untried = len(rest) > 0
	}
	if err != nil {
		return err
	}
	tx.Save(events.OfRequest(flags.ChangeDiscarded, r, removed), r)
	return nil
}

// rebase has the changes of a request stand on what is there now.
func rebase(tx *httpapi.Tx, at inRequest) (requestView, error) {
	p, r := at.find(tx)
	env, err := editable(tx, p, r, "re-base")
	if err != nil {
		return requestView{}, err
	}
	s := standingOf(tx, p, r)
	if s.Gone != "" {
		return requestView{}, r.CheckBase("re-based", s)
	}
	if len(s.Conflicts) == 0 {
		return viewOf(tx, p, r), nil
	}
	if err := edit(tx, p, env, r, r.Changes); err != nil {
		return requestView{}, err
	}
	tx.Save(events.OfRequest(flags.RequestRebased, r), r)
	return viewOf(tx, p, r), nil
}

// setTitle changes the title, which is an edit: see review.Request.Rename.
func setTitle(tx *httpapi.Tx, at inRequest, in titleBody) error {
	p, r := at.find(tx)
	if _, err := editable(tx, p, r, "rename"); err != nil {
		return err
	}
	if err := r.Rename(in.Title, me(tx), tx.Now); err != nil {
		return err
	}
	tx.Save(events.OfRequest(flags.RequestTitled, r), r)
	return nil
}

// discardDraft closes a draft of the caller. Other requests are cancelled by their state.
func discardDraft(tx *httpapi.Tx, at inRequest) error {
	_, r := at.find(tx)
	switch {
	case r.State == review.Cancelled && mine(tx, r):
		return nil
	case r.State != review.Draft:
		return flags.Errorf(flags.Conflict, "change request %d is not a draft: cancel it with PUT …/change-requests/%d/state", r.ID, r.ID)
	}
	if err := r.Cancel(tx.Now); err != nil {
		return err
	}
	tx.Save(events.OfRequest(flags.RequestDiscarded, r), r)
	return nil
}
