package dynamo

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
)

var signupEntity = entity{
	name:    access.EntitySignupToken,
	key:     func(hash string) itemKey { return itemKey{signupList, hash} },
	title:   tokenTitle,
	codec:   jsonCodec(func(a *access.SignupToken) *int64 { return &a.Version }),
	list:    signupList,
	history: func(a flags.Aggregate) string { return "SIGNUP#" + a.Key().ID },
}

const signupList = "SIGNUPS"
