package storetest

import (
	"guidon/pkg/flags"
)

var nameCases = []testCase{
	{"two users with one name", func(t *trial) {
		t.mustAdd(&flags.User{ID: 1, Username: "zoe", Email: "Zoe@example.com"}, &flags.User{ID: 2}, &flags.User{ID: 3})
		for _, other := range []*flags.User{
			{ID: 4, Username: "zoe"}, {ID: 4, Email: "zoe@EXAMPLE.com"}, {ID: 4, Username: "other", Email: "Zoe@example.com"},
		} {
			t.wantKind(t.commit(change("added", added(other))), flags.Invalid)
			t.wantAbsent(other.Key())
		}
		second := mustFind[*flags.User](t, flags.UserKey(2))
		after := *second
		after.Username = "zoe"
		t.wantKind(t.commit(change("renamed", flags.Write{Before: second, After: &after})), flags.Invalid)
		t.wantVersion(second, 1)
	}},
	{"a name that was given up can be taken", func(t *trial) {
		t.mustAdd(&flags.User{ID: 1, Username: "zoe", Email: "zoe@example.com"})
		first := mustFind[*flags.User](t, flags.UserKey(1))
		after := *first
		after.Username, after.Email = "ann", "ZOE@example.com" // the same address
		t.mustCommit(change("renamed", flags.Write{Before: first, After: &after}))
		t.mustAdd(&flags.User{ID: 2, Username: "zoe"})
		t.wantKind(t.commit(change("added", added(&flags.User{ID: 3, Username: "ann"}))), flags.Invalid)
		t.mustCommit(change("deleted", deleted(mustFind[*flags.User](t, flags.UserKey(1)))))
		t.mustAdd(&flags.User{ID: 3, Username: "ann", Email: "zoe@example.com"})
	}},
	{"two API tokens with one name", func(t *trial) {
		t.mustAdd(&flags.Token{Hash: "1", Name: "ci", Type: flags.ClientToken})
		t.wantKind(t.commit(change("added", added(&flags.Token{Hash: "2", Name: "ci", Type: flags.AdminToken}))), flags.NameExists)
		t.wantAbsent(flags.TokenKey("2"))
		t.mustAdd(&flags.Token{Hash: "3", Name: "ci", Type: flags.PersonalToken}) // its user knows it by another
		t.mustAdd(&flags.Token{Hash: "4", Name: "ci", Type: flags.PersonalToken})
		first := mustFind[*flags.Token](t, flags.TokenKey("1"))
		gone := *first
		gone.Deleted = true
		t.mustCommit(change("deleted", flags.Write{Before: first, After: &gone}))
		t.mustAdd(&flags.Token{Hash: "5", Name: "ci", Type: flags.ClientToken})
		t.wantKind(t.commit(change("added", added(&flags.Token{Hash: "1", Name: "new", Type: flags.ClientToken}))), flags.NameExists)
	}},
}
