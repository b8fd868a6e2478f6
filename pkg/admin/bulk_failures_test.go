package admin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// some returns n flag names and a body that lists them, with further members.
func some(n int, members string) (names []string, body string) {
	for i := range n {
		names = append(names, fmt.Sprintf("f%d", i))
	}
	list, _ := json.Marshal(names)
	return names, fmt.Sprintf(`{"features":%s%s}`, list, members)
}

// TestBulkFaults archives flags over a network that loses requests and responses, and an engine that throttles, fails and
// reports transaction conflicts. Other callers update the same flags in parallel. Every flag is archived exactly once, and no
// response says otherwise.
func TestBulkFaults(t *testing.T) {
	t.Parallel()
	faults := &dynamotest.Faults{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	names, body := some(40, "")
	s.Create(t, names...)
	faults.Change(func(f *dynamotest.Faults) {
		f.DropRequests, f.LoseResponses, f.TruncateResponses, f.Throttles, f.Failures, f.Conflicts = 0.03, 0.1, 0.03, 0.03, 0.06, true
		f.Delay = 2 * time.Millisecond
	})
	got := s.Parallel(t, 12, func(i int) apitest.Call {
		if i < 4 {
			return apitest.Call{Method: "POST", Path: apitest.Project + "/archive", Body: body}
		}
		return apitest.Call{Method: "PUT", Path: apitest.Features + "/" + names[i], Body: `{"description":"changed"}`} // 200 before the flag is archived, 404 after
	})
	faults.Change(func(f *dynamotest.Faults) {
		f.DropRequests, f.LoseResponses, f.TruncateResponses, f.Throttles, f.Failures, f.Conflicts, f.Delay = 0, 0, 0, 0, 0, false, 0
	})
	t.Logf("statuses %v, faults %v", got, faults.Injected())
	if got[202]+got[503]+got[200]+got[404] != 12 || got[200]+got[404] > 8 {
		t.Errorf("statuses %v, want 202 for archiving, 200 or 404 for updates, or 503", got)
	}
	s.Must(t, "POST", apitest.Project+"/archive", body) // the rest after a 503
	for _, name := range names {
		s.WantEvents(t, name, flags.FeatureArchived, 1)
	}
	if active, stale := s.FlagCounts(t, "default"); active != 0 || stale != 0 {
		t.Errorf("counted %d active and %d stale flags, want none", active, stale)
	}
	if raised := faults.Injected(); raised[dynamotest.LoseResponse] == 0 || raised[dynamotest.Conflict] == 0 {
		t.Errorf("faults %v, want lost responses and conflicts among them", raised)
	}
}

// TestParallelBulkChanges tags the same flags in eight parallel bulk requests. No tag is lost.
func TestParallelBulkChanges(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	names, _ := some(12, "")
	s.CreateEnabled(t, names...)
	s.WantParallel(t, map[int]int{200: 8}, 8, func(i int) apitest.Call {
		_, body := some(12, fmt.Sprintf(`,"tags":{"addedTags":[{"type":"simple","value":"tag-%d"}],"removedTags":[]}`, i))
		return apitest.Call{Method: "PUT", Path: apitest.Project + "/tags", Body: body}
	})
	for _, name := range names {
		s.WantEvents(t, name, flags.FeatureTagged, 8)
		if n := strings.Count(s.Must(t, "GET", "/api/admin/features/"+name+"/tags", "").Body, `"tag-`); n != 8 {
			t.Errorf("%s has %d tags, want 8: an update was lost", name, n)
		}
	}
}

// A partialError is an error with a detail for each flag that was not changed.
type partialError struct {
	Name, Message string
	Details       []struct{ Message, Path string }
}

// TestBulkDeadline makes all transactions but the first seven fail until the deadline. The response says which flags were
// archived, and for each of the others whether that is certain.
func TestBulkDeadline(t *testing.T) {
	const n, done = 20, 7
	for _, fault := range []dynamotest.Fault{dynamotest.DropRequest, dynamotest.LoseResponse, dynamotest.Throttle, dynamotest.Conflict} {
		t.Run(string(fault), func(t *testing.T) {
			faults := &dynamotest.Faults{}
			s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
			names, body := some(n, "")
			s.Create(t, names...)
			failTransactions(faults, fault, done)
			got := apitest.DirectIn(shortDeadline(t), s.Handler, "POST", apitest.Project+"/archive", body)
			faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
			var result partialError
			if err := json.Unmarshal([]byte(got.Body), &result); err != nil || got.Status != 503 || got.Header.Get("Retry-After") == "" {
				t.Fatalf("%d %s (%v), want a 503 with a JSON body", got.Status, got.Body, err)
			}
			if len(result.Details) != n-done || !strings.Contains(result.Message, fmt.Sprintf("the time ran out after %d of %d flags", done, n)) {
				t.Errorf("%s with %d details, want %d of %d archived", result.Message, len(result.Details), done, n)
			}
			failed := map[string]bool{}
			for _, d := range result.Details {
				failed[d.Path] = true
				if found := detail.FindString(d.Message); found != "" {
					t.Errorf("%s: shows %q, want no internals", d.Message, found)
				}
				maybe := strings.Contains(d.Message, "may or may not")
				if never := strings.Contains(d.Message, "not changed") || strings.Contains(d.Message, "nothing was changed"); maybe == never {
					t.Errorf("%s: %q, want either that it was not changed, or that it may have been", d.Path, d.Message)
				}
				if i := strings.TrimPrefix(d.Path, "/features/"); !maybe && s.Do(t, "GET", apitest.Features+"/f"+i, "").Status != 200 {
					t.Errorf("%s is archived, but the response says that it was not changed", d.Path)
				}
			}
			for i, name := range names {
				if !failed[fmt.Sprintf("/features/%d", i)] {
					s.WantEvents(t, name, flags.FeatureArchived, 1)
				}
			}
			s.Must(t, "POST", apitest.Project+"/archive", body)
			for _, name := range names {
				s.WantEvents(t, name, flags.FeatureArchived, 1)
			}
		})
	}
}

// failTransactions injects a fault into every transaction but the first few.
func failTransactions(faults *dynamotest.Faults, fault dynamotest.Fault, done int64) {
	var sent atomic.Int64
	faults.Change(func(f *dynamotest.Faults) {
		f.Script = func(operation string, _ int) dynamotest.Fault {
			if operation == "TransactWriteItems" && sent.Add(1) > done {
				return fault
			}
			return dynamotest.NoFault
		}
	})
}

// TestImportDeadline makes all transactions but the first seven of an import fail until the deadline. The response says how much
// is left and to repeat the import. After that every flag exists exactly once.
func TestImportDeadline(t *testing.T) {
	const n, done = 20, 7
	faults := &dynamotest.Faults{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"name":"f%d"}`, i))
	}
	data := fmt.Sprintf(`{"features":[%s]}`, strings.Join(list, ","))
	failTransactions(faults, dynamotest.Throttle, done)
	got := apitest.DirectIn(shortDeadline(t), s.Handler, "POST", apitest.Import, fmt.Sprintf(`{"project":"default","environment":"development","data":%s}`, data))
	faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
	var result partialError
	if err := json.Unmarshal([]byte(got.Body), &result); err != nil || got.Status != 503 || got.Header.Get("Retry-After") == "" {
		t.Fatalf("%d %s (%v), want a 503 with a JSON body", got.Status, got.Body, err)
	}
	left := fmt.Sprintf("%d of %d", n-done, n)
	if len(result.Details) != n-done || !strings.Contains(result.Message, left) || !strings.Contains(result.Message, "the same import again") {
		t.Errorf("%s with %d details, want %s left, and the advice to repeat the import", result.Message, len(result.Details), left)
	}
	if again := s.ImportHere(t, data); again.Counts() != [4]int{n - done, 0, done, 0} {
		t.Errorf("the import repeated: %+v, want %d created and %d unchanged", again, n-done, done)
	}
	for i := range n {
		s.WantEvents(t, fmt.Sprintf("f%d", i), flags.FeatureCreated, 1)
	}
}

// TestBulkStoreErrors uses a store with unexpected errors, and changes data between two rounds of a bulk request.
func TestBulkStoreErrors(t *testing.T) {
	s := apitest.Serve(t)
	s.Create(t, "f0", "f1")
	_, body := some(2, `,"stale":true`)
	outdated := func() error { return flags.Errorf(flags.VersionConflict, "outdated") }
	later := func(then func(view flags.View) (flags.View, error)) func(context.Context, []flags.Key) (flags.View, error) {
		rounds := 0
		return func(ctx context.Context, keys []flags.Key) (flags.View, error) {
			view, err := s.Store.Load(ctx, keys)
			if _, first := view[flags.ProjectKey("default")]; first {
				if rounds++; rounds > 1 {
					return then(view)
				}
			}
			return view, err
		}
	}
	without := func(entity flags.Entity) func(flags.View) (flags.View, error) {
		return func(view flags.View) (flags.View, error) {
			for key := range view {
				if key.Entity == entity {
					delete(view, key)
				}
			}
			return view, nil
		}
	}
	unreachable := func(flags.View) (flags.View, error) {
		return nil, flags.Errorf(flags.Unavailable, "the store did not answer in time")
	}
	tests := []struct {
		name   string
		store  brokenStore
		status int
		kind   string
		part   string
	}{
		{"an unknown error", brokenStore{commit: func() error { return errorOf("TOKEN#secret: connection refused at 127.0.0.1") }}, 500, "InternalError", "none of the 2 flags"},
		{"a version conflict in every round", brokenStore{commit: outdated}, 503, "ServiceUnavailableError", "after 0 of 2 flags"},
		{"an unavailable store in the second round", brokenStore{commit: outdated, load: later(unreachable)}, 503, "ServiceUnavailableError", "0 of 2"},
		{"a project deleted before the second round", brokenStore{commit: outdated, load: later(without(flags.EntityProject))}, 404, "NotFoundError", "none of the 2"},
		{"a token deleted before the second round", brokenStore{commit: outdated, load: later(without(access.EntityToken))}, 401, "AuthenticationRequired", "none of the 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.store.Store = s.Store
			handler := httpapi.New(tt.store, admin.Group("features"), httpapi.Config{})
			got := apitest.DirectIn(shortDeadline(t), handler, "POST", apitest.Project+"/stale", body)
			var result partialError
			if err := json.Unmarshal([]byte(got.Body), &result); err != nil || got.Status != tt.status || result.Name != tt.kind ||
				!strings.Contains(result.Message, tt.part) || len(result.Details) != 2 {
				t.Errorf("%d %s (%v), want %d %s, %q and two details", got.Status, got.Body, err, tt.status, tt.kind, tt.part)
			}
			if found := detail.FindString(got.Body); found != "" {
				t.Errorf("%s: shows %q, want no internals", got.Body, found)
			}
		})
	}
}
