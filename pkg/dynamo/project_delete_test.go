package dynamo_test

import (
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

func newProject(uid string) *flags.Project {
	return &flags.Project{ID: "shop", UID: uid, Name: "n", CreatedAt: at}
}

// projectOf loads the project; nil if it does not exist.
func projectOf(t *testing.T, s flags.Store) *flags.Project {
	t.Helper()
	view, err := s.Load(t.Context(), []flags.Key{flags.ProjectKey("shop")})
	if err != nil {
		t.Fatal(reason(err))
	}
	return flags.Find[*flags.Project](view, flags.ProjectKey("shop"))
}

// TestResolveDelete deletes a project while the first request or its response is lost.
func TestResolveDelete(t *testing.T) {
	first := newProject(newFlag("f").ProjectUID)
	lost, dropped := []dynamotest.Fault{dynamotest.LoseResponse}, []dynamotest.Fault{dynamotest.DropRequest}
	for _, c := range []struct {
		name    string
		faults  []dynamotest.Fault
		forget  bool           // the engine forgets the token before the second attempt
		between func(scripted) // runs before the second attempt
		want    flags.Kind     // Internal for no error
		left    string         // the UID of the project afterwards; "" for none
		events  int            // of the first project
	}{
		{"applied", lost, false, nil, flags.Internal, "", 2},
		{"applied, token forgotten", lost, true, nil, flags.Internal, "", 2},
		{
			"applied, token forgotten, the ID used again", lost, true,
			func(s scripted) { mustCommit(t, s.plain, flags.Write{After: newProject("another1")}) }, flags.Internal, "another1", 2,
		},
		{
			"not applied, a flag created before the retry", dropped, false,
			// The flag may be archived before the lost request arrives after all, so the result is unknown.
			func(s scripted) { mustCommit(t, s.plain, flags.Write{After: newFlag("f")}) }, flags.Unavailable, first.UID, 1,
		},
		{
			"not applied, deleted by another request before the retry", dropped, false,
			func(s scripted) { mustCommit(t, s.plain, flags.Write{Before: projectOf(t, s.plain)}) }, flags.VersionConflict, "", 2,
		},
		{
			"not applied, deleted and created by other requests before the retry", dropped, false, func(s scripted) {
				mustCommit(t, s.plain, flags.Write{Before: projectOf(t, s.plain)})
				mustCommit(t, s.plain, flags.Write{After: newProject("another2")})
			}, flags.VersionConflict, "another2", 2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := dynamotest.Engine()
			if c.forget {
				e = newEngine(t)
			}
			s := openScripted(t, e, inTurn(map[string][]dynamotest.Fault{transactWrite: c.faults}), func(s scripted) {
				if c.forget {
					restart(t, e, false)
				}
				if c.between != nil {
					c.between(s)
				}
			})
			mustCommit(t, s.plain, flags.Write{After: first})
			wantOutcome(t, commit(t, s.faulty, flags.Write{Before: projectOf(t, s.plain)}), c.want)
			left := ""
			if p := projectOf(t, s.plain); p != nil {
				left = p.UID
			}
			list, err := s.plain.Events(t.Context(), first)
			if err != nil {
				t.Fatal(reason(err))
			}
			if left != c.left || len(list) != c.events {
				t.Errorf("the project is %q, and the first one has %d events; want %q and %d", left, len(list), c.left, c.events)
			}
		})
	}
}
