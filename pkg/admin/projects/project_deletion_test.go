package projects_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// TestOwner checks that the user who creates a project owns it, until it is deleted.
func TestOwner(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, editor := s.Person(t, access.RoleEditor)
	_, other := s.Person(t, access.RoleEditor)
	_, viewer := s.Person(t, access.RoleViewer)
	forbidden := func(permission access.Permission) string { return apitest.Failure("NoAccessError", string(permission)) }
	const p = apitest.Projects + "/p"
	for _, c := range []struct {
		as string
		apitest.Call
	}{
		{viewer, apitest.Call{"a viewer cannot create it", "POST", apitest.Projects, `{"id":"p"}`, 403, forbidden(access.CreateProject)}},
		{editor, apitest.Call{"an editor creates it", "POST", apitest.Projects, `{"id":"p"}`, 201, apitest.Anything}},
		{viewer, apitest.Call{"a viewer reads it", "GET", p, "", 200, `{"...":0,"members":1}`}},
		{editor, apitest.Call{"the list counts the owner", "GET", apitest.Projects, "", 200, `{"version":1,"projects":[{"...":0,"memberCount":0},{"...":0,"id":"p","memberCount":1}]}`}},
		{other, apitest.Call{"another editor cannot update it", "PUT", p, `{"name":"x"}`, 403, forbidden(access.UpdateProject)}},
		{other, apitest.Call{"another editor cannot delete it", "DELETE", p, "", 403, forbidden(access.DeleteProject)}},
		{editor, apitest.Call{"the owner updates it", "PUT", p, `{"name":"x"}`, 200, ""}},
		{editor, apitest.Call{"the owner removes an environment", "DELETE", p + "/environments/production", "", 200, ""}},
		{editor, apitest.Call{"a taken id is a 409", "POST", apitest.Projects, `{"id":"p"}`, 409, apitest.Failure("NameExistsError", `"p"`)}},
		{editor, apitest.Call{"the owner deletes it", "DELETE", p, "", 200, ""}},
		{other, apitest.Call{"another editor creates it again", "POST", apitest.Projects, `{"id":"p"}`, 201, apitest.Anything}},
		{other, apitest.Call{"the new owner is its only member", "GET", p, "", 200, `{"...":0,"members":1}`}},
		{editor, apitest.Call{"the first owner is not a member", "PUT", p, `{"name":"x"}`, 403, forbidden(access.UpdateProject)}},
		{editor, apitest.Call{"the first owner creates another project", "POST", apitest.Projects, `{"id":"q"}`, 201, apitest.Anything}},
	} {
		s.Check(t, c.Call, c.as)
	}
	u := apitest.Load[*access.User](t, s, access.UserKey(id))
	if got := fmt.Sprint(u.Projects); got != "[p q]" { // p refers to the deleted project and has no effect
		t.Errorf("the editor's projects are %s, want [p q]", got)
	}
}

// TestParallelOwner creates projects in parallel as one user, who must own all of them.
func TestParallelOwner(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id, editor := s.Person(t, access.RoleEditor)
	const n = 16
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			s.Check(t, apitest.Call{"created", "POST", apitest.Projects, fmt.Sprintf(`{"id":"p%d"}`, i), 201, apitest.Anything}, editor)
			s.Check(t, apitest.Call{"the creator can update it", "PUT", fmt.Sprintf("%s/p%d", apitest.Projects, i), `{"name":"mine"}`, 200, ""}, editor)
		})
	}
	wg.Wait()
	if u := apitest.Load[*access.User](t, s, access.UserKey(id)); len(u.Projects) != n {
		t.Errorf("the user's projects are %q, want %d of them", u.Projects, n)
	}
}

// TestParallelDeletion deletes a project while flags are created, archived and revived in it. Afterwards it either exists
// with its active flags, or is deleted and has no active flags.
func TestParallelDeletion(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	var deleted, kept, refused int
	for round := 0; round < 12 || (deleted == 0 || refused == 0) && round < 60; round++ { // until both have happened
		d, r := raceDeletion(t, s, fmt.Sprintf("p%d", round))
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
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	for round := range 4 {
		faults.Change(func(f *dynamotest.Faults) {
			f.LoseResponses, f.Failures, f.Conflicts, f.Delay = 0.1, 0.05, true, time.Millisecond
		})
		raceDeletion(t, s, fmt.Sprintf("p%d", round))
	}
	if raised := faults.Injected(); raised[dynamotest.LoseResponse] == 0 {
		t.Errorf("faults %v, want some: this run has tested nothing", raised)
	}
}

// raceDeletion creates a project with an archived flag, and changes and deletes it in parallel. It reports whether the
// project was deleted, and how many flags were rejected for that reason.
func raceDeletion(t *testing.T, s *apitest.Server, id string) (deleted bool, refused int) {
	t.Helper()
	p := apitest.Projects + "/" + id
	s.Must(t, "POST", apitest.Projects, fmt.Sprintf(`{"id":%q}`, id))
	s.Must(t, "POST", p+"/features", fmt.Sprintf(`{"name":"%s-old"}`, id))
	s.Must(t, "DELETE", p+"/features/"+id+"-old", "")
	uid := projectAt(t, s, id).UID
	var (
		mu       sync.Mutex
		wg       sync.WaitGroup
		start    = make(chan struct{})
		answered = func(c apitest.Call, allowed ...int) int {
			got, err := s.Try(c.Method, c.Path, c.Body)
			if err != nil {
				t.Error(err)
			}
			for _, status := range append(allowed, 503) {
				if got.Status == status {
					return status
				}
			}
			t.Errorf("%s %s: %d %s, want one of %v", c.Method, c.Path, got.Status, got.Body, allowed)
			return got.Status
		}
	)
	for i := range 6 {
		wg.Go(func() {
			<-start
			name := fmt.Sprintf("%s-%d", id, i)
			if answered(apitest.Call{Method: "POST", Path: p + "/features", Body: fmt.Sprintf(`{"name":%q}`, name)}, 201, 404) == 404 {
				mu.Lock()
				refused++
				mu.Unlock()
				return
			}
			answered(apitest.Call{Method: "DELETE", Path: p + "/features/" + name}, 202, 404)
			if i%3 == 0 { // a project with an active flag cannot be deleted
				answered(apitest.Call{Method: "POST", Path: p + "/features", Body: fmt.Sprintf(`{"name":"%s-more"}`, name)}, 201, 404)
			}
		})
	}
	wg.Go(func() {
		<-start
		answered(apitest.Call{Method: "POST", Path: "/api/admin/archive/revive/" + id + "-old"}, 200, 404)
		answered(apitest.Call{Method: "DELETE", Path: p + "/features/" + id + "-old"}, 202, 404)
	})
	for range 2 {
		wg.Go(func() {
			<-start
			for range 8 {
				if status := answered(apitest.Call{Method: "DELETE", Path: p}, 200, 404, 409); status != 409 {
					return
				}
			}
		})
	}
	close(start)
	wg.Wait()
	deleted = s.Do(t, "GET", p, "").Status == 404
	rows, err := s.Store.Summaries(t.Context(), uid, false)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := s.Store.Counts(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	if active := counts.Active; active != len(rows) || deleted && active > 0 {
		t.Errorf("deleted: %t, with %d active flags in its list, and %d counted", deleted, len(rows), active)
	}
	return deleted, refused
}
