package admin_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestOwner checks that the user who creates a project owns it, until it is deleted.
func TestOwner(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id, editor := s.person(t, access.RoleEditor)
	_, other := s.person(t, access.RoleEditor)
	_, viewer := s.person(t, access.RoleViewer)
	forbidden := func(permission access.Permission) string { return failure("NoAccessError", string(permission)) }
	const p = projects + "/p"
	for _, c := range []struct {
		as string
		call
	}{
		{viewer, call{"a viewer cannot create it", "POST", projects, `{"id":"p"}`, 403, forbidden(access.CreateProject)}},
		{editor, call{"an editor creates it", "POST", projects, `{"id":"p"}`, 201, anything}},
		{viewer, call{"a viewer reads it", "GET", p, "", 200, `{"...":0,"members":1}`}},
		{editor, call{"the list counts the owner", "GET", projects, "", 200, `{"version":1,"projects":[{"...":0,"memberCount":0},{"...":0,"id":"p","memberCount":1}]}`}},
		{other, call{"another editor cannot update it", "PUT", p, `{"name":"x"}`, 403, forbidden(access.UpdateProject)}},
		{other, call{"another editor cannot update its settings", "PUT", p + "/settings", `{"mode":"private"}`, 403, forbidden(access.UpdateProject)}},
		{other, call{"another editor cannot remove an environment", "DELETE", p + "/environments/production", "", 403, forbidden(access.UpdateProject)}},
		{other, call{"another editor cannot add an environment", "POST", p + "/environments", `{"environment":"default"}`, 403, forbidden(access.UpdateProject)}},
		{other, call{"another editor cannot set a default strategy", "POST", p + "/environments/production/default-strategy", `{"name":"default"}`, 403, forbidden(access.UpdateProject)}},
		{other, call{"another editor cannot delete it", "DELETE", p, "", 403, forbidden(access.DeleteProject)}},
		{viewer, call{"a viewer cannot delete it", "DELETE", p, "", 403, forbidden(access.DeleteProject)}},
		{editor, call{"the owner updates it", "PUT", p, `{"name":"x"}`, 200, ""}},
		{editor, call{"the owner removes an environment", "DELETE", p + "/environments/production", "", 200, ""}},
		{editor, call{"the owner cannot delete an environment of the service", "DELETE", environments + "/production", "", 403, forbidden(access.DeleteEnvironment)}},
		{editor, call{"the owner cannot create one", "POST", environments, `{"name":"e","type":"test"}`, 403, forbidden(access.CreateEnvironment)}},
		{editor, call{"the owner cannot update one", "PUT", environments + "/update/production", `{"type":"test"}`, 403, forbidden(access.UpdateEnvironment)}},
		{viewer, call{"a viewer lists them", "GET", environments, "", 200, anything}},
		{editor, call{"a taken id is a 409", "POST", projects, `{"id":"p"}`, 409, failure("NameExistsError", `"p"`)}},
		{editor, call{"the owner deletes it", "DELETE", p, "", 200, ""}},
		{other, call{"another editor creates it again", "POST", projects, `{"id":"p"}`, 201, anything}},
		{other, call{"the new owner is its only member", "GET", p, "", 200, `{"...":0,"members":1}`}},
		{editor, call{"the first owner is not a member", "PUT", p, `{"name":"x"}`, 403, forbidden(access.UpdateProject)}},
		{editor, call{"the first owner creates another project", "POST", projects, `{"id":"q"}`, 201, anything}},
	} {
		s.check(t, c.call, c.as)
	}
	view, err := s.store.Load(t.Context(), []flags.Key{access.UserKey(id)})
	if err != nil {
		t.Fatal(err)
	}
	u := flags.Find[*access.User](view, access.UserKey(id))
	if got := fmt.Sprint(u.Projects); got != "[p q]" { // p refers to the deleted project and has no effect
		t.Errorf("the editor's projects are %s, want [p q]", got)
	}
}

// TestParallelOwner creates projects in parallel as one user, who must own all of them.
func TestParallelOwner(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	id, editor := s.person(t, access.RoleEditor)
	const n = 16
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			s.check(t, call{"created", "POST", projects, fmt.Sprintf(`{"id":"p%d"}`, i), 201, anything}, editor)
			s.check(t, call{"the creator can update it", "PUT", fmt.Sprintf("%s/p%d", projects, i), `{"name":"mine"}`, 200, ""}, editor)
		})
	}
	wg.Wait()
	view, err := s.store.Load(t.Context(), []flags.Key{access.UserKey(id)})
	if err != nil {
		t.Fatal(err)
	}
	if u := flags.Find[*access.User](view, access.UserKey(id)); len(u.Projects) != n {
		t.Errorf("the user's projects are %q, want %d of them", u.Projects, n)
	}
}

// TestParallelDeletion deletes a project while flags are created, archived and revived in it. Afterwards it either exists
// with its active flags, or is deleted and has no active flags.
func TestParallelDeletion(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	var deleted, kept, refused int
	for round := 0; round < 12 || (deleted == 0 || refused == 0) && round < 60; round++ { // until both have happened
		d, r := s.raceDeletion(t, fmt.Sprintf("p%d", round))
		refused += r
		if d {
			deleted++
		} else {
			kept++
		}
	}
	t.Logf("%d projects deleted, %d kept; %d flags refused", deleted, kept, refused)
	if deleted == 0 || refused == 0 {
		t.Errorf("%d deleted and %d flags refused, want both to happen: this run has tested nothing", deleted, refused)
	}
}

// TestParallelDeletionFaults does the same with lost responses, failing calls and conflicting transactions.
func TestParallelDeletionFaults(t *testing.T) {
	t.Parallel()
	faults := &dynamotest.Faults{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	for round := range 4 {
		faults.Change(func(f *dynamotest.Faults) {
			f.LoseResponses, f.Failures, f.Conflicts, f.Delay = 0.1, 0.05, true, time.Millisecond
		})
		s.raceDeletion(t, fmt.Sprintf("p%d", round))
	}
	if raised := faults.Injected(); raised[dynamotest.LoseResponse] == 0 {
		t.Errorf("faults %v, want some: this run has tested nothing", raised)
	}
}

// raceDeletion creates a project with an archived flag, and changes and deletes it in parallel. It reports whether the
// project was deleted, and how many flags were rejected for that reason.
func (s *server) raceDeletion(t *testing.T, id string) (deleted bool, refused int) {
	t.Helper()
	p := projects + "/" + id
	s.must(t, "POST", projects, fmt.Sprintf(`{"id":%q}`, id))
	s.must(t, "POST", p+"/features", fmt.Sprintf(`{"name":"%s-old"}`, id))
	s.must(t, "DELETE", p+"/features/"+id+"-old", "")
	uid := s.projectAt(t, id).UID
	var (
		mu       sync.Mutex
		wg       sync.WaitGroup
		start    = make(chan struct{})
		answered = func(c call, allowed ...int) int {
			got, err := s.try(c.method, c.path, c.body)
			if err != nil {
				t.Error(err)
			}
			for _, status := range append(allowed, 503) {
				if got.status == status {
					return status
				}
			}
			t.Errorf("%s %s: %d %s, want one of %v", c.method, c.path, got.status, got.body, allowed)
			return got.status
		}
	)
	for i := range 6 {
		wg.Go(func() {
			<-start
			name := fmt.Sprintf("%s-%d", id, i)
			if answered(call{method: "POST", path: p + "/features", body: fmt.Sprintf(`{"name":%q}`, name)}, 201, 404) == 404 {
				mu.Lock()
				refused++
				mu.Unlock()
				return
			}
			answered(call{method: "DELETE", path: p + "/features/" + name}, 202, 404)
			if i%3 == 0 { // a project with an active flag cannot be deleted
				answered(call{method: "POST", path: p + "/features", body: fmt.Sprintf(`{"name":"%s-more"}`, name)}, 201, 404)
			}
		})
	}
	wg.Go(func() {
		<-start
		answered(call{method: "POST", path: "/api/admin/archive/revive/" + id + "-old"}, 200, 404)
		answered(call{method: "DELETE", path: p + "/features/" + id + "-old"}, 202, 404)
	})
	for range 2 {
		wg.Go(func() {
			<-start
			for range 8 {
				if status := answered(call{method: "DELETE", path: p}, 200, 404, 409); status != 409 {
					return
				}
			}
		})
	}
	close(start)
	wg.Wait()
	deleted = s.do(t, "GET", p, "").status == 404
	rows, err := s.store.Summaries(t.Context(), uid, false)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := s.store.Counts(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	if active := counts.Active; active != len(rows) || deleted && active > 0 {
		t.Errorf("deleted: %t, with %d active flags in its list, and %d counted", deleted, len(rows), active)
	}
	return deleted, refused
}
