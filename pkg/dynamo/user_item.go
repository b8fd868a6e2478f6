package dynamo

import (
	"strconv"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

var userEntity = entity{
	name:    access.EntityUser,
	key:     func(id string) itemKey { return itemKey{userList, id} },
	title:   func(id string) string { return "the user " + id },
	codec:   jsonCodec(func(a *access.User) *int64 { return &a.Version }),
	list:    userList,
	history: func(a flags.Aggregate) string { return "USER#" + a.Key().ID },
	unique: func(a flags.Aggregate) []uniqueName {
		u := a.(*access.User)
		return append(
			unique("email", strings.ToLower(u.Email), flags.Errorf(flags.Invalid, "the email %s is taken", strconv.Quote(u.Email))),
			unique("username", u.Username, flags.Errorf(flags.Invalid, "the username %s is taken", strconv.Quote(u.Username)))...)
	},
	dependents: func(s *Store, tx *transaction, before, after flags.Aggregate) error {
		if after == nil {
			s.deleteAlways(tx, sessionsKey(before.Key().ID))
		}
		return nil
	},
}

const userList = "USERS"
