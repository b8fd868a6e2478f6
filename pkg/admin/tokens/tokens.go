// Package tokens has the operations on API tokens, personal tokens and public signup tokens (contract: Tokens). No other
// group creates or returns secrets. The store has their hash and encrypted form; events and log lines have no secret.
package tokens

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// Group is the operations on tokens.
func Group() httpapi.Group {
	return httpapi.Group{Name: "tokens", Function: "access", Operations: slices.Concat(apiTokens(), projectTokens(), personalTokens(), signupTokens())}
}

const apiTokensPath = "/api/admin/api-tokens"

// tokenParam is the path parameter that is the secret of a token.
const tokenParam = "token"

// apiTokens are the operations on all API tokens. They take the permission Read, which every user has: what a caller may do
// depends on the token, see access.Caller.HasTokenRight.
func apiTokens() []httpapi.Operation {
	const one = apiTokensPath + "/{" + tokenParam + "}"
	ahead := []flags.Key{flags.EnvironmentsKey()}
	return []httpapi.Operation{
		{Route: "GET " + apiTokensPath, Permission: access.Read, Ahead: ahead, Allow: requireTokenRight(access.ReadTokens), Handle: httpapi.Handle(listTokens)},
		{Route: "POST " + apiTokensPath, Permission: access.Read, Ahead: ahead, Allow: requireTokenRight(access.CreateTokens), Status: 201, Handle: httpapi.HandleBody(createToken)},
		{Route: "GET " + apiTokensPath + "/{name}", Permission: access.Read, Ahead: ahead, Allow: requireTokenRight(access.ReadTokens), Handle: httpapi.Handle(listTokensByName)},
		{Route: "PUT " + one, Permission: access.Read, Ahead: ahead, Allow: requireTokenRight(access.UpdateTokens), Handle: httpapi.DoBody(updateToken)},
		{Route: "DELETE " + one, Permission: access.Read, Ahead: ahead, Allow: requireTokenRight(access.DeleteTokens), Handle: httpapi.Do(deleteToken)},
	}
}

// requireTokenRight rejects callers who do not have a right over any token, before the body is read.
func requireTokenRight(right access.TokenRight) func(tx *httpapi.Tx) error {
	return func(tx *httpapi.Tx) error { return tx.Caller.AuthorizeAnyToken(right, tx.CallersProjects()) }
}

// inToken is the place of an operation on an API token.
type inToken struct {
	httpapi.InService
	secretInPath
}

// secretInPath is the part of a place whose path has the secret of a token.
type secretInPath struct{ hash string }

// Parse reads the secret.
func (at *secretInPath) Parse(r httpapi.Request) error {
	at.hash = access.HashSecret(r.Path(tokenParam))
	return nil
}

func (at *inToken) Keys() []flags.Key { return []flags.Key{access.TokenKey(at.hash)} }

// findAPIToken returns the API token whose secret has that hash, or noToken.
func findAPIToken(tx *httpapi.Tx, hash string) (*access.Token, error) {
	t := findToken(tx, hash)
	if t == nil || t.Deleted || t.Type == access.PersonalToken {
		return nil, noToken
	}
	return t, nil
}

// noToken never repeats the secret: it may be a valid one of something else.
var noToken = flags.Errorf(flags.NotFound, "there is no API token with this secret")

// inTokenName is the place of an operation on the API tokens of a name.
type inTokenName struct {
	httpapi.InService
	Name string `path:"name"`
}

// An apiToken is the response for a token (contract: API token).
type apiToken struct {
	Secret      string           `json:"secret"`
	Username    string           `json:"username"` // deprecated: use tokenName
	TokenName   string           `json:"tokenName"`
	Type        access.TokenType `json:"type"`
	Environment string           `json:"environment"`
	Project     string           `json:"project"` // the first of projects
	Projects    []string         `json:"projects"`
	ExpiresAt   *shape.Time      `json:"expiresAt"`
	CreatedAt   shape.Time       `json:"createdAt"`
	SeenAt      *shape.Time      `json:"seenAt"`
	Alias       *string          `json:"alias"` // always null
}

// A tokenList is a list of tokens.
type tokenList struct {
	Tokens []apiToken `json:"tokens"`
}

func listTokens(tx *httpapi.Tx, _ httpapi.InService) (tokenList, error) {
	visible := visibleTokens(tx)
	return tokenListOf(tx, httpapi.PageOf(tx.Query(), visible))
}

func listTokensByName(tx *httpapi.Tx, at inTokenName) (tokenList, error) {
	visible := visibleTokens(tx)
	return tokenListOf(tx, slices.DeleteFunc(visible, func(t scopedToken) bool { return t.Name != at.Name }))
}

// findToken returns the API token or personal token whose secret has that hash; nil if it does not exist.
func findToken(tx *httpapi.Tx, hash string) *access.Token {
	return httpapi.Find[*access.Token](tx, access.TokenKey(hash))
}

// A scopedToken is an API token with its scope.
type scopedToken struct {
	*access.Token
	scope access.TokenScope
}

// visibleTokens returns the API tokens that the caller can read, the newest first, without revoked tokens.
func visibleTokens(tx *httpapi.Tx) []scopedToken {
	all := tx.Tokens()
	var keys []flags.Key
	for _, t := range all {
		keys = append(keys, access.TokenUseKey(t.Hash))
		keys = append(keys, httpapi.ProjectKeys(t.Projects...)...)
	}
	tx.Again(keys...) // the caller's projects were read before the list, and may be older than its tokens
	var visible []scopedToken
	for _, t := range all {
		scope, valid := scopeOf(tx, t)
		if valid && tx.Caller.HasTokenRight(access.ReadTokens, t.Type, scope) {
			visible = append(visible, scopedToken{t, scope})
		}
	}
	slices.SortFunc(visible, func(a, b scopedToken) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.Name, b.Name))
	})
	return visible
}

func tokenListOf(tx *httpapi.Tx, list []scopedToken) (tokenList, error) {
	tx.NoStore()
	answer := tokenList{Tokens: make([]apiToken, len(list))}
	for i, t := range list {
		var err error
		if answer.Tokens[i], err = apiTokenOf(tx, t.Token, t.scope); err != nil {
			return tokenList{}, err
		}
		answer.Tokens[i].SeenAt = seenAt(tx, t.Hash)
	}
	return answer, nil
}

// scopeOf returns the scope of a token; false if the token is revoked.
func scopeOf(tx *httpapi.Tx, t *access.Token) (scope access.TokenScope, valid bool) {
	return t.Scope(tx.FindProject, tx.Environments())
}

// apiTokenOf is the response for a token, without its last use.
func apiTokenOf(tx *httpapi.Tx, t *access.Token, scope access.TokenScope) (apiToken, error) {
	secret, err := decryptSecret(tx, t.Sealed, t.Hash, t.Name)
	answer := apiToken{
		Secret: secret, Username: t.Name, TokenName: t.Name, Type: t.NamedType(), Environment: t.Environment, Projects: scope.ProjectIDs(),
		ExpiresAt: shape.TimeOrNull(t.ExpiresAt), CreatedAt: shape.Time(t.CreatedAt),
	}
	if len(answer.Projects) > 0 {
		answer.Project = answer.Projects[0]
	}
	return answer, err
}

// decryptSecret decrypts the secret of a token for a response. A token that was seeded without a key has no
// encrypted secret: it is returned as "".
func decryptSecret(tx *httpapi.Tx, sealed, hash, name string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	secret, err := tx.Unseal(sealed, hash)
	if err != nil {
		return "", &flags.Error{Kind: flags.Internal, Err: err,
			Message: "the secret of the token " + strconv.Quote(name) + " cannot be decrypted: the key that it was encrypted with is missing; restore that key"}
	}
	return secret, nil
}

// seenAt returns when a token was last used, to the hour; nil if it was never used.
func seenAt(tx *httpapi.Tx, hash string) *shape.Time {
	use := tx.LastUse(hash)
	if use == nil {
		return nil
	}
	return shape.TimeOrNull(use.At)
}

// An updateTokenBody is a new expiry of a token.
type updateTokenBody struct {
	ExpiresAt jsonbody.Maybe[*string] `json:"expiresAt"` // null for never
}

// Check checks the new expiry.
func (b updateTokenBody) Check(_ flags.Limits, problems *flags.Problems) {
	if !b.ExpiresAt.Set {
		problems.Add("/expiresAt", "is required; use null for a token that does not expire")
	}
	httpapi.CheckMoment("/expiresAt", b.ExpiresAt.Value, problems)
}

func updateToken(tx *httpapi.Tx, at inToken, in updateTokenBody) error {
	t, err := findAPIToken(tx, at.hash)
	if err != nil {
		return err
	}
	tx.Load(httpapi.ProjectKeys(t.Projects...)...)
	scope, valid := scopeOf(tx, t)
	if err := tx.Caller.AuthorizeToken(access.UpdateTokens, t.Type, scope); err != nil {
		return err
	}
	if !valid {
		return flags.Errorf(flags.NotFound, "this API token is revoked, because its projects or its environment were deleted; create another")
	}
	t.ExpiresAt = httpapi.MomentOf(in.ExpiresAt.Value)
	tx.Save(events.TokenUpdated(httpapi.Was(tx, t), t), t)
	return nil
}

func deleteToken(tx *httpapi.Tx, at inToken) error {
	t, err := findAPIToken(tx, at.hash)
	if err != nil {
		return err
	}
	return removeToken(tx, t)
}

// removeToken deletes a token, also a revoked one. Its name can be used again.
func removeToken(tx *httpapi.Tx, t *access.Token) error {
	tx.Load(httpapi.ProjectKeys(t.Projects...)...)
	scope, _ := scopeOf(tx, t)
	if err := tx.Caller.AuthorizeToken(access.DeleteTokens, t.Type, scope); err != nil {
		return err
	}
	tx.Save(events.TokenDeleted(t), t.AsDeleted())
	return nil
}
