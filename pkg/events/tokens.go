package events

import (
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// No event has the secret of a token, its hash or its sealed form.

// A token is an API token.
type token struct {
	TokenName   string           `json:"tokenName"`
	Type        access.TokenType `json:"type"`
	Projects    []string         `json:"projects"`
	Environment string           `json:"environment"`
	ExpiresAt   *shape.Time      `json:"expiresAt"`
}

func tokenOf(t *access.Token) token {
	return token{t.Name, t.NamedType(), t.Projects, t.Environment, shape.TimeOrNull(t.ExpiresAt)}
}

// ofToken is an event of an API token. It belongs to the token's project if there is exactly one, and to its environment.
func ofToken(kind flags.EventType, t *access.Token) flags.Event {
	event := flags.Event{Type: kind}
	if len(t.Projects) == 1 && t.Projects[0] != flags.All {
		event.Project = t.Projects[0]
	}
	if t.Environment != flags.All {
		event.Environment = t.Environment
	}
	return event
}

// TokenCreated is the event of a new API token.
func TokenCreated(t *access.Token) flags.Event {
	event := ofToken(flags.APITokenCreated, t)
	event.Data = tokenOf(t)
	return event
}

// TokenUpdated is the event of an API token that changed.
func TokenUpdated(before, after *access.Token) flags.Event {
	event := ofToken(flags.APITokenUpdated, after)
	event.Data, event.PreData = tokenOf(after), tokenOf(before)
	return event
}

// TokenDeleted is the event of a deleted API token.
func TokenDeleted(t *access.Token) flags.Event {
	event := ofToken(flags.APITokenDeleted, t)
	event.PreData = tokenOf(t)
	return event
}

// A personalToken is a token of a user or service account.
type personalToken struct {
	ID          int64       `json:"id"`
	Description string      `json:"description"`
	UserID      int64       `json:"userId"`
	CreatedAt   shape.Time  `json:"createdAt"`
	ExpiresAt   shape.Time  `json:"expiresAt"`
	SeenAt      *shape.Time `json:"seenAt"` // always null: the use of a token is not read when it changes
}

func personalTokenOf(u *access.User, t access.UserToken) personalToken {
	return personalToken{ID: t.ID, Description: t.Description, UserID: u.ID, CreatedAt: shape.Time(t.CreatedAt), ExpiresAt: shape.Time(t.ExpiresAt)}
}

// PersonalTokenCreated is the event of a user who got a token.
func PersonalTokenCreated(u *access.User, t access.UserToken) flags.Event {
	return flags.Event{Type: flags.PersonalTokenCreated, Data: personalTokenOf(u, t)}
}

// PersonalTokenDeleted is the event of a user one of whose tokens was deleted.
func PersonalTokenDeleted(u *access.User, t access.UserToken) flags.Event {
	return flags.Event{Type: flags.PersonalTokenDeleted, PreData: personalTokenOf(u, t)}
}

// A signupToken is a public signup token.
type signupToken struct {
	Name      string     `json:"name"`
	Enabled   bool       `json:"enabled"` // false from its expiry on
	ExpiresAt shape.Time `json:"expiresAt"`
	Role      int64      `json:"role"`
}

func signupTokenOf(s *access.SignupToken, now time.Time) signupToken {
	return signupToken{s.Name, s.EnabledAt(now), shape.Time(s.ExpiresAt), s.Role}
}

// SignupTokenCreated is the event of a new public signup token.
func SignupTokenCreated(s *access.SignupToken, now time.Time) flags.Event {
	return flags.Event{Type: flags.SignupTokenCreated, Data: signupTokenOf(s, now)}
}

// SignupTokenUpdated is the event of a public signup token that changed.
func SignupTokenUpdated(before, after *access.SignupToken, now time.Time) flags.Event {
	return flags.Event{Type: flags.SignupTokenUpdated, Data: signupTokenOf(after, now), PreData: signupTokenOf(before, now)}
}
