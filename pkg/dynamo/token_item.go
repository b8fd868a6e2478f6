package dynamo

import (
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

var tokenCodec = jsonCodec(func(a *access.Token) *int64 { return &a.Version })

var tokenEntity = entity{
	name:  access.EntityToken,
	key:   func(hash string) itemKey { return itemKey{"TOKEN#" + hash, "TOKEN"} },
	title: tokenTitle,
	codec: tokenCodec,
	list:  tokenList,
	row: func(a flags.Aggregate) (string, itemKey, error) {
		t := a.(*access.Token)
		if !isListed(t) {
			return "", itemKey{}, nil
		}
		document, err := tokenCodec.encode(t)
		return document, itemKey{tokenList, t.Hash}, err
	},
	unique: func(a flags.Aggregate) []uniqueName {
		t := a.(*access.Token)
		if !isListed(t) {
			return nil
		}
		return unique("token", t.Name, flags.Errorf(flags.NameExists, "an API token named %s already exists", strconv.Quote(t.Name)))
	},
}

const tokenList = "TOKENS"

// tokenTitle does not have the hash: it is not for callers.
func tokenTitle(string) string { return "the token" }

// isListed tells whether a token is an API token that was not deleted. Others are in no list, and their names are free.
func isListed(t *access.Token) bool { return !t.Deleted && t.Type != access.PersonalToken }

// tokenUseEntity is when a token was last used. Touch writes it, outside transactions. It has a partition of its own, because the
// function Aggregate may write there, and not where tokens are.
var tokenUseEntity = entity{
	name:  access.EntityTokenUse,
	key:   func(hash string) itemKey { return itemKey{"SEEN#" + hash, "SEEN"} },
	title: func(string) string { return "the last use of the token" },
	codec: jsonCodec(func(*access.TokenUse) *int64 { return new(int64) }),
}
