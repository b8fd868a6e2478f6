package access

import (
	"slices"
	"time"

	"guidon/pkg/flags"
)

// Token returns the user's personal token of that ID, or NotFound.
func (u *User) Token(id int64) (UserToken, error) {
	if i := u.tokenIndex(id); i >= 0 {
		return u.Tokens[i], nil
	}
	return UserToken{}, flags.Errorf(flags.NotFound, "user %[2]d has no token %[1]d", id, u.ID)
}

// The limits of the personal tokens of a user. They are in the user's item, which each request of the user reads.
const (
	maxUserTokens        = 100
	maxTokenDescriptions = 10 << 10 // bytes of all descriptions
)

// WithToken returns the user with another personal token, which has the next ID, and the Token to store with it.
// It returns NameExists if the user has a token of the same description, and Invalid if the user has too many
// tokens, or too long descriptions.
func (u *User) WithToken(description, hash string, at, expiresAt time.Time) (*User, *Token, error) {
	if slices.ContainsFunc(u.Tokens, func(t UserToken) bool { return t.Description == description }) {
		return nil, nil, flags.Errorf(flags.NameExists, "user %[2]d already has a token named %[1]q; choose another description", description, u.ID)
	}
	if len(u.Tokens) >= maxUserTokens {
		return nil, nil, flags.Errorf(flags.Invalid, "user %d has %d tokens, and no more are allowed; delete one first", u.ID, len(u.Tokens))
	}
	size := len(description)
	for _, t := range u.Tokens {
		size += len(t.Description)
	}
	if size > maxTokenDescriptions {
		return nil, nil, flags.Errorf(flags.Invalid, "the descriptions of the tokens of user %d would have %d bytes together, and no more than %d are allowed; choose a shorter one, or delete a token first", u.ID, size, maxTokenDescriptions)
	}
	after, next := *u, max(u.NextToken, 1)
	if len(u.Tokens) > 0 { // sorted by ID
		next = max(next, u.Tokens[len(u.Tokens)-1].ID+1)
	}
	t := UserToken{ID: next, Description: description, Hash: hash, CreatedAt: at, ExpiresAt: expiresAt}
	after.Tokens, after.NextToken = append(slices.Clone(u.Tokens), t), t.ID+1
	return &after, &Token{
		Hash: hash, Name: description, Type: PersonalToken, User: u.ID, Projects: []string{}, CreatedAt: at, ExpiresAt: expiresAt,
	}, nil
}

// WithoutToken returns the user without a personal token. It returns NotFound if there is none of that ID.
func (u *User) WithoutToken(id int64) (*User, error) {
	if _, err := u.Token(id); err != nil {
		return nil, err
	}
	after, i := *u, u.tokenIndex(id)
	after.Tokens = slices.Delete(slices.Clone(u.Tokens), i, i+1)
	return &after, nil
}

func (u *User) tokenIndex(id int64) int {
	return slices.IndexFunc(u.Tokens, func(t UserToken) bool { return t.ID == id })
}
