package dynamo_test

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
)

var nameCases = []testCase{
	{"two users with the same name", func(t *storeTest) {
		t.mustAdd(&access.User{ID: 1, Username: "zoe", Email: "Zoe@example.com"}, &access.User{ID: 2}, &access.User{ID: 3})
		for _, other := range []*access.User{
			{ID: 4, Username: "zoe"}, {ID: 4, Email: "zoe@EXAMPLE.com"}, {ID: 4, Username: "other", Email: "Zoe@example.com"},
		} {
			t.wantKind(t.commit(change("added", addition(other))), flags.Invalid)
			t.wantAbsent(other.Key())
		}
		second := mustFind[*access.User](t, access.UserKey(2))
		after := *second
		after.Username = "zoe"
		t.wantKind(t.commit(change("renamed", flags.Write{Before: second, After: &after})), flags.Invalid)
		t.wantVersion(second, 1)
	}},
	{"a released name can be used again", func(t *storeTest) {
		t.mustAdd(&access.User{ID: 1, Username: "zoe", Email: "zoe@example.com"})
		first := mustFind[*access.User](t, access.UserKey(1))
		after := *first
		after.Username, after.Email = "ann", "ZOE@example.com" // the same address in another case
		t.mustCommit(change("renamed", flags.Write{Before: first, After: &after}))
		t.mustAdd(&access.User{ID: 2, Username: "zoe"})
		t.wantKind(t.commit(change("added", addition(&access.User{ID: 3, Username: "ann"}))), flags.Invalid)
		t.mustCommit(change("deleted", deletion(mustFind[*access.User](t, access.UserKey(1)))))
		t.mustAdd(&access.User{ID: 3, Username: "ann", Email: "zoe@example.com"})
	}},
	{"two API tokens with the same name", func(t *storeTest) {
		t.mustAdd(&access.Token{Hash: "1", Name: "ci", Type: access.ClientToken})
		t.wantKind(t.commit(change("added", addition(&access.Token{Hash: "2", Name: "ci", Type: access.AdminToken}))), flags.NameExists)
		t.wantAbsent(access.TokenKey("2"))
		t.mustAdd(&access.Token{Hash: "3", Name: "ci", Type: access.PersonalToken}) // names of personal tokens need not be unique
		t.mustAdd(&access.Token{Hash: "4", Name: "ci", Type: access.PersonalToken})
		first := mustFind[*access.Token](t, access.TokenKey("1"))
		gone := *first
		gone.Deleted = true
		t.mustCommit(change("deleted", flags.Write{Before: first, After: &gone}))
		t.mustAdd(&access.Token{Hash: "5", Name: "ci", Type: access.ClientToken})
		t.wantKind(t.commit(change("added", addition(&access.Token{Hash: "1", Name: "new", Type: access.ClientToken}))), flags.NameExists)
	}},
}
