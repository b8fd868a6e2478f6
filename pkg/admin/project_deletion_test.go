package admin_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestOwner has a user make a project: it is theirs, with all that may be done in it, until it is gone.
func TestOwner(t *testing.T) {
	s := serve(t)
	id, editor := s.person(t, flags.RoleEditor)
	_, other := s.person(t, flags.RoleEditor)
	_, viewer := s.person(t, flags.RoleViewer)
	forbidden := func(permission flags.Permission) string { return failure("NoAccessError", string(permission)) }
	const p = projects + "/p"
	for _, c := range []struct {
		as string
		call
	}{
		{viewer, call{"a viewer makes none", "POST", projects, `{"id":"p"}`, 403, forbidden(flags.CreateProject)}},
		{editor, call{"an editor does", "POST", projects, `{"id":"p"}`, 201, anything}},
		{viewer, call{"a viewer reads it", "GET", p, "", 200, `{"...":0,"members":1}`}},
		{editor, call{"and the list", "GET", projects, "", 200, `{"version":1,"projects":[{"...":0,"memberCount":0},{"...":0,"id":"p","memberCount":1}]}`}},
		{other, call{"another editor does not change it", "PUT", p, `{"name":"x"}`, 403, forbidden(flags.UpdateProject)}},
		{other, call{"nor its settings", "PUT", p + "/settings", `{"mode":"private"}`, 403, forbidden(flags.UpdateProject)}},
		{other, call{"nor its environments", "DELETE", p + "/environments/production", "", 403, forbidden(flags.UpdateProject)}},
		{other, call{"nor adds one", "POST", p + "/environments", `{"environment":"default"}`, 403, forbidden(flags.UpdateProject)}},
		{other, call{"nor sets a default strategy", "POST", p + "/environments/production/default-strategy", `{"name":"default"}`, 403, forbidden(flags.UpdateProject)}},
		{other, call{"nor deletes it", "DELETE", p, "", 403, forbidden(flags.DeleteProject)}},
		{viewer, call{"a viewer does not either", "DELETE", p, "", 403, forbidden(flags.DeleteProject)}},
		{editor, call{"the owner does change it", "PUT", p, `{"name":"x"}`, 200, ""}},
		{editor, call{"and its environments", "DELETE", p + "/environments/production", "", 200, ""}},
		{editor, call{"not those of the service", "DELETE", environments + "/production", "", 403, forbidden(flags.DeleteEnvironment)}},
		{editor, call{"nor makes some", "POST", environments, `{"name":"e","type":"test"}`, 403, forbidden(flags.CreateEnvironment)}},
		{editor, call{"nor changes them", "PUT", environments + "/update/production", `{"type":"test"}`, 403, forbidden(flags.UpdateEnvironment)}},
		{viewer, call{"but reads them", "GET", environments, "", 200, anything}},
		{editor, call{"not one that is taken: that is the 409", "POST", projects, `{"id":"p"}`, 409, failure("NameExistsError", `"p"`)}},
		{editor, call{"the owner deletes it", "DELETE", p, "", 200, ""}},
		{other, call{"another makes it again", "POST", projects, `{"id":"p"}`, 201, anything}},
		{other, call{"and is its one member", "GET", p, "", 200, `{"...":0,"members":1}`}},
		{editor, call{"the first is none", "PUT", p, `{"name":"x"}`, 403, forbidden(flags.UpdateProject)}},
		{editor, call{"whoever makes one again has it once", "POST", projects, `{"id":"q"}`, 201, anything}},
	} {
		s.check(t, c.call, c.as)
	}
	view, err := s.store.Load(t.Context(), []flags.Key{flags.UserKey(id)})
	if err != nil {
		t.Fatal(err)
	}
	u := flags.Find[*flags.User](view, flags.UserKey(id))
	if got := fmt.Sprint(u.Projects); got != "[p q]" { // p is of the project that is gone, and means nothing
		t.Errorf("the editor's projects are %s, want [p q]", got)
	}
}

// TestParallelOwner has one user make projects at once: each is theirs.
func TestParallelOwner(t *testing.T) {
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	id, editor := s.person(t, flags.RoleEditor)
	const n = 16
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			s.check(t, call{"made", "POST", projects, fmt.Sprintf(`{"id":"p%d"}`, i), 201, anything}, editor)
			s.check(t, call{"owned", "PUT", fmt.Sprintf("%s/p%d", projects, i), `{"name":"mine"}`, 200, ""}, editor)
		})
	}
	wg.Wait()
	view, err := s.store.Load(t.Context(), []flags.Key{flags.UserKey(id)})
	if err != nil {
		t.Fatal(err)
	}
	if u := flags.Find[*flags.User](view, flags.UserKey(id)); len(u.Projects) != n {
		t.Errorf("the user's projects are %q, want %d of them", u.Projects, n)
	}
}

// TestParallelDeletion has a project deleted while flags are made, archived and revived in it. Afterwards it is there,
// with its active flags, or it is gone, and then none is left that is active.
func TestParallelDeletion(t *testing.T) {
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
		t.Errorf("%d deleted and %d flags refused, want some of both: this run has shown nothing", deleted, refused)
	}
}

// TestParallelDeletionFaults does the same over a network that loses answers, and an engine with other transactions
// under way.
func TestParallelDeletionFaults(t *testing.T) {
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
		t.Errorf("faults %v, want some: this run has shown nothing", raised)
	}
}

// raceDeletion makes a project with an archived flag, and lets writers and deletions loose on it. It tells whether the
// project is gone, and how many flags were refused because of it.
func (s *server) raceDeletion(t *testing.T, id string) (gone bool, refused int) {
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
			if i%3 == 0 { // a flag that is active keeps its project
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
	gone = s.do(t, "GET", p, "").status == 404
	rows, err := s.store.Summaries(t.Context(), uid, false)
	if err != nil {
		t.Fatal(err)
	}
	active, _, err := s.store.Counts(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	if active != len(rows) || gone && active > 0 {
		t.Errorf("gone: %t, with %d active flags in its list, and %d counted", gone, len(rows), active)
	}
	return gone, refused
}
