package dynamotest

import (
	"context"
	"fmt"
	"strings"

	"guidon/pkg/flags"
	"guidon/pkg/review"
)

// checkRequests compares change requests with their list rows, the counts of open ones, what is due, and their comments.
func (c *checker) checkRequests() {
	open, counted, rows, comments := map[string]int{}, map[string]int{}, map[string]int{}, 0
	due, waiting := map[string]bool{}, map[string]bool{}
	lists := map[listOfRequests]map[int64]*review.Request{}
	for k, i := range c.items {
		if _, after, _ := strings.Cut(k.sk, "#"); k.pk == "DUE" && strings.HasPrefix(after, "request#") {
			waiting[k.sk] = true
		}
		if strings.HasPrefix(k.pk, "PROJECT#") && strings.HasPrefix(k.sk, "REQUEST#") {
			rows[k.pk+k.sk[strings.LastIndex(k.sk, "#"):]]++
		}
		if n := i.numbers["open"]; k.sk == "REQUESTS" && n != 0 {
			counted[strings.TrimPrefix(k.pk, "PROJECT#")] = n
		}
	}
	for _, r := range c.requests {
		comments += r.Comments
		if at, scheduled := r.Due(); scheduled {
			due[at.Format("2006-01-02T15:04:05.000Z")+"#request#"+r.Key().ID] = true
		}
		if r.Open() {
			open[r.ProjectUID]++
		}
		if n := rows[fmt.Sprintf("PROJECT#%s#%012d", r.ProjectUID, r.ID)]; n != 1 {
			c.report("change request %d has %d list rows", r.ID, n)
		}
		list := listOfRequests{r.ProjectUID, r.Open()}
		if lists[list] == nil {
			lists[list] = c.listed(list)
		}
		if listed := lists[list][r.ID]; listed != nil {
			want := r.Listed()
			want.Version = 0
			c.compare(fmt.Sprintf("change request %d, and its list row", r.ID), want, listed)
		}
	}
	c.compare("the scheduled change requests, and what is due", due, waiting)
	c.checkDuePlans()
	c.compare("the number of open change requests, and their counts", open, counted)
	c.compare("the number of change requests, and of their list rows", len(c.requests), len(rows))
	c.compare("the number of comments that change requests count, and of comments", comments, c.comments)
}

// A listOfRequests is the open change requests of a project, or the others.
type listOfRequests struct {
	projectUID string
	open       bool
}

// listed reads a list of change requests, by ID.
func (c *checker) listed(list listOfRequests) map[int64]*review.Request {
	c.t.Helper()
	all, err := c.store.Requests(context.WithoutCancel(c.t.Context()), list.projectUID, list.open)
	if err != nil {
		c.t.Fatal(err)
	}
	byID := map[int64]*review.Request{}
	for _, r := range all {
		byID[r.ID] = r
	}
	return byID
}

// checkDuePlans reports a plan whose next milestone is to start by itself, and that has no item for its run, and a safeguard without its item. An
// item of an earlier run may be left: it is deleted when it is due.
func (c *checker) checkDuePlans() {
	due := map[string]bool{}
	for k := range c.items {
		if _, watched, found := strings.Cut(k.sk, "#watch#"); k.pk == "DUE" && found {
			due[watched] = true
		}
		if parts := strings.Split(k.sk, "#"); k.pk == "DUE" && len(parts) >= 5 && parts[1] == "plan" {
			due[strings.Join(parts[2:5], "#")] = true
		}
	}
	for _, f := range c.flags {
		p := c.projects[f.ProjectUID]
		if p == nil {
			continue
		}
		for _, env := range p.AvailableEnvironments(c.registry) {
			plan := f.Plan(env)
			if !f.NextAt(env, flags.Frozen{}).IsZero() && !due[fmt.Sprintf("%s#%s#%d", f.Name, plan.ID, plan.Run)] {
				c.report("the next milestone of flag %s in %s is to start by itself, and will not be due", f.Name, env.Name)
			}
			if plan == nil {
				continue
			}
			for _, s := range plan.Safeguards {
				if !due[strings.Join([]string{plan.Attachment, f.Name, plan.ID, s.ID, s.Signal}, "#")] {
					c.report("%s is not found to be in use by flag %s in %s", s.Says(), f.Name, env.Name)
				}
			}
		}
	}
}
