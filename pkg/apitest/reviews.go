package apitest

import (
	"fmt"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// Review switches change requests on in production of the project "default".
func (s *Server) Review(t *testing.T) {
	t.Helper()
	s.Must(t, "PUT", ReviewConfig, `{"changeRequestsEnabled":true}`)
}

// Owner returns the header of a person who owns the project "default" and has permissions by a custom role.
func (s *Server) Owner(t *testing.T, permissions string) string {
	t.Helper()
	id, header := s.Person(t, access.RoleViewer)
	at := fmt.Sprintf("%s/users/%d/roles/", Project, id)
	s.Must(t, "POST", at+"4", "")
	if permissions != "" {
		s.Must(t, "POST", at+s.RoleOf(t, "custom", permissions), "")
	}
	return header
}

// OnInProduction creates flags that are on in production.
func (s *Server) OnInProduction(t *testing.T, names ...string) {
	t.Helper()
	s.Create(t, names...)
	for _, name := range names {
		s.Must(t, "POST", In(name, "production")+"/strategies", `{"name":"default"}`)
		s.Must(t, "POST", In(name, "production")+"/on", "")
	}
}

// PersonWith returns the header of a person with a root role who owns both projects and has permissions there.
func (s *Server) PersonWith(t *testing.T, root, permissions string) string {
	t.Helper()
	var role int64
	if _, err := fmt.Sscan(root, &role); err != nil {
		t.Fatal(err)
	}
	id, header := s.Person(t, role)
	for _, in := range []string{"default", "other"} {
		if s.Do(t, "GET", Projects+"/"+in, "").Status == 404 {
			continue
		}
		at := fmt.Sprintf("%s/%s/users/%d/roles/", Projects, in, id)
		s.Must(t, "POST", at+"4", "")
		if permissions != "" {
			s.Must(t, "POST", at+s.RoleOf(t, "custom", permissions), "")
		}
	}
	return header
}

// unguarded reports whether a write changes what applications see, but no guarded part, although it is none of the free changes: metadata,
// tags, and what is new and off. Every operation of every test is checked with it (see sameTwice).
func unguarded(w flags.Write) bool {
	_, newToken := w.After.(*access.Token)
	_, oldToken := w.Before.(*access.Token)
	if newToken || oldToken { // which flags there are does not change
		return false
	}
	_, guarded := w.SegmentGuarded()
	if guarded || len(w.Guarded())+len(w.RemovedEnvironments()) > 0 || !w.ChangesServed() {
		return false
	}
	switch after := w.After.(type) {
	case *flags.Feature:
		before, _ := w.Before.(*flags.Feature)
		if before == nil || before.Archived {
			for _, fe := range after.Environments {
				if fe.EnabledIn != "" {
					return true
				}
			}
			return false
		}
		after = after.Clone()
		after.Metadata, after.Tags = before.Metadata, before.Tags
		w.After = after
	case *flags.Segment:
		before, _ := w.Before.(*flags.Segment)
		if before == nil {
			return false
		}
		after = after.Clone()
		after.Name = before.Name
		w.After = after
	case *flags.Project:
		return w.Before != nil
	case *flags.Environments:
		before, _ := w.Before.(*flags.Environments)
		return before == nil || len(after.List) <= len(before.List) // adding one is free
	}
	return w.ChangesServed()
}
