package dynamo_test

import (
	"guidon/pkg/flags"
)

var nameCases = []testCase{
	{"two users with the same name", func(t *storeTest) {
		t.mustAdd(&flags.User{ID: 1, Username: "zoe", Email: "Zoe@example.com"}, &flags.User{ID: 2}, &flags.User{ID: 3})
		for _, other := range []*flags.User{
			{ID: 4, Username: "zoe"}, {ID: 4, Email: "zoe@EXAMPLE.com"}, {ID: 4, Username: "other", Email: "Zoe@example.com"},
		} {
			t.wantKind(t.commit(change("added", addition(other))), flags.Invalid)
			t.wantAbsent(other.Key())
		}
		second := mustFind[*flags.User](t, flags.UserKey(2))
		after := *second
		after.Username = "zoe"
		t.wantKind(t.commit(change("renamed", flags.Write{Before: second, After: &after})), flags.Invalid)
		t.wantVersion(second, 1)
	}},
	{"a released name can be used again", func(t *storeTest) {
		t.mustAdd(&flags.User{ID: 1, Username: "zoe", Email: "zoe@example.com"})
		first := mustFind[*flags.User](t, flags.UserKey(1))
		after := *first
		after.Username, after.Email = "ann", "ZOE@example.com" // the same address in another case
		t.mustCommit(change("renamed", flags.Write{Before: first, After: &after}))
		t.mustAdd(&flags.User{ID: 2, Username: "zoe"})
		t.wantKind(t.commit(change("added", addition(&flags.User{ID: 3, Username: "ann"}))), flags.Invalid)
		t.mustCommit(change("deleted", deletion(mustFind[*flags.User](t, flags.UserKey(1)))))
		t.mustAdd(&flags.User{ID: 3, Username: "ann", Email: "zoe@example.com"})
	}},
	{"two API tokens with the same name", func(t *storeTest) {
		t.mustAdd(&flags.Token{Hash: "1", Name: "ci", Type: flags.ClientToken})
		t.wantKind(t.commit(change("added", addition(&flags.Token{Hash: "2", Name: "ci", Type: flags.AdminToken}))), flags.NameExists)
		t.wantAbsent(flags.TokenKey("2"))
		t.mustAdd(&flags.Token{Hash: "3", Name: "ci", Type: flags.PersonalToken}) // names of personal tokens need not be unique
		t.mustAdd(&flags.Token{Hash: "4", Name: "ci", Type: flags.PersonalToken})
		first := mustFind[*flags.Token](t, flags.TokenKey("1"))
		gone := *first
		gone.Deleted = true
		t.mustCommit(change("deleted", flags.Write{Before: first, After: &gone}))
		t.mustAdd(&flags.Token{Hash: "5", Name: "ci", Type: flags.ClientToken})
		t.wantKind(t.commit(change("added", addition(&flags.Token{Hash: "1", Name: "new", Type: flags.ClientToken}))), flags.NameExists)
	}},
}
