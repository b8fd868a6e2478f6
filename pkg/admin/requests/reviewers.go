package requests

import (
	"slices"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// listAvailableReviewers lists the people who may approve in an environment of the project.
func listAvailableReviewers(tx *httpapi.Tx, at httpapi.InProjectEnvironment) (reviewerList, error) {
	p, env := at.Find(tx)
	list := reviewerList{Reviewers: []reviewerView{}}
	for _, u := range tx.Users() {
		if mayApprove(tx, u, p, []string{env.Name}) {
			list.Reviewers = append(list.Reviewers, reviewerViewOf(u))
		}
	}
	slices.SortFunc(list.Reviewers, func(a, b reviewerView) int { return int(a.ID - b.ID) })
	return list, nil
}

// listReviewers lists the people who were asked to review a request.
func listReviewers(tx *httpapi.Tx, at inRequest) (reviewerList, error) {
	_, r := at.find(tx)
	tx.Load(httpapi.Each(r.Reviewers, access.UserKey)...)
	list := reviewerList{Reviewers: []reviewerView{}}
	for _, id := range r.Reviewers {
		if u := tx.FindUser(id); u != nil {
			list.Reviewers = append(list.Reviewers, reviewerViewOf(u))
		}
	}
	return list, nil
}

// setReviewers replaces the people who are asked to review a request.
func setReviewers(tx *httpapi.Tx, at inRequest, in reviewersBody) error {
	p, r := at.find(tx)
	if err := authorizeAuthor(tx, p, r, "choose reviewers for"); err != nil {
		return err
	}
	if !r.Open() {
		return flags.Errorf(flags.Conflict, "change request %d is closed: nobody reviews it", r.ID)
	}
	environments, _ := guardedNow(tx, p, r)
	tx.Load(append(httpapi.Each(in.Reviewers.Value, access.UserKey), access.RolesKey())...)
	var problems flags.Problems
	for i, id := range in.Reviewers.Value {
		if !mayApprove(tx, tx.FindUser(id), p, environments) {
			problems.Add("/reviewers/"+strconv.Itoa(i), "user %d does not exist, or may not approve this change request", id)
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	if err := r.Ask(in.Reviewers.Value); err != nil {
		return err
	}
	tx.Save(events.OfRequest(flags.ReviewersRequested, r), r)
	return nil
}
