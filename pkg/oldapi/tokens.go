package oldapi

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// Tokens serves API tokens, personal tokens and public signup tokens (contract: Tokens). No other group makes or reads
// secrets: in the store they are hashed and sealed, and no event and no log line has one.
func Tokens() Group {
	const all, one = "/api/admin/api-tokens", "/api/admin/api-tokens/{token}"
	// Everybody with an account may ask; what they may do depends on the token, see flags.Caller.HasTokenRight.
	operations := []Operation{
		{"GET " + all, flags.Read, theEnvironments, does(listTokens).answers(200, tokenList{}).over(flags.ReadTokens).
			listing(flags.EntityToken).loading(listedKeys).sealing()},
		{"POST " + all, flags.Read, theEnvironments, loadingFor(takes(createToken), namedKeys).answers(201, apiToken{}).
			over(flags.CreateTokens).listing(flags.EntityToken).sealing()},
		{"GET " + all + "/{name}", flags.Read, theEnvironments, does(tokensByName).answers(200, tokenList{}).over(flags.ReadTokens).
			listing(flags.EntityToken).loading(listedKeys).sealing()},
		{"PUT " + one, flags.Read, theToken | theEnvironments, takes(updateToken).answers(200).
			over(flags.UpdateTokens).loading(reachKeys)},
		{"DELETE " + one, flags.Read, theToken | theEnvironments, does(deleteToken).answers(200).
			over(flags.DeleteTokens).loading(reachKeys)},
	}
	return Group{Name: "tokens", Operations: slices.Concat(operations, projectTokens(), personalTokens(), signupTokens())}
}

// over has whoever has a right over no token that there can be refused, before the body is read.
func (d decider) over(right flags.TokenRight) decider {
	d.knowsMine = true
	return d.allowing(func(c *call) error { return c.caller.AuthorizeAnyToken(right, c.mine) })
}

// An apiToken is a token on the wire (contract: API token).
type apiToken struct {
	Secret      string          `json:"secret"`
	Username    string          `json:"username"` // deprecated, for tokenName
	TokenName   string          `json:"tokenName"`
	Type        flags.TokenType `json:"type"`
	Environment string          `json:"environment"`
	Project     string          `json:"project"` // the first of projects
	Projects    []string        `json:"projects"`
	ExpiresAt   *timestamp      `json:"expiresAt"`
	CreatedAt   timestamp       `json:"createdAt"`
	SeenAt      *timestamp      `json:"seenAt"`
	Alias       *string         `json:"alias"` // always null
}

// A tokenList is a list of tokens.
type tokenList struct {
	Tokens []apiToken `json:"tokens"`
}

func listTokens(c *call) (decision, error) {
	list, err := c.tokens(func(*flags.Token) bool { return true })
	if err != nil {
		return decision{}, err
	}
	return ok(tokenList{pageOf(c.query, list)})
}

func tokensByName(c *call) (decision, error) {
	name := c.param("name")
	list, err := c.tokens(func(t *flags.Token) bool { return t.Name == name })
	if err != nil {
		return decision{}, err
	}
	return ok(tokenList{list})
}

// tokens are those that the caller may see, the newest first.
func (c *call) tokens(wanted func(*flags.Token) bool) ([]apiToken, error) {
	list := []apiToken{}
	for _, a := range c.lists[flags.EntityToken] {
		t := a.(*flags.Token)
		reach, there := c.reach(t)
		if !there || !wanted(t) || !c.caller.HasTokenRight(flags.ReadTokens, t.Type, reach) {
			continue
		}
		wire, err := c.apiToken(t, reach)
		if err != nil {
			return nil, err
		}
		list = append(list, wire)
	}
	slices.SortFunc(list, func(a, b apiToken) int {
		return cmp.Or(time.Time(b.CreatedAt).Compare(time.Time(a.CreatedAt)), strings.Compare(a.TokenName, b.TokenName))
	})
	return list, nil
}

func (c *call) apiToken(t *flags.Token, reach flags.TokenScope) (apiToken, error) {
	secret, err := c.open(t.Sealed, t.Hash, t.Name)
	wire := apiToken{
		Secret: secret, Username: t.Name, TokenName: t.Name, Type: t.Type, Environment: t.Environment, Projects: reach.ProjectIDs(),
		ExpiresAt: timestampOf(t.ExpiresAt), CreatedAt: timestamp(t.CreatedAt), SeenAt: c.seenAt(t.Hash),
	}
	if len(wire.Projects) > 0 {
		wire.Project = wire.Projects[0]
	}
	return wire, err
}

// open is a secret that was sealed; "" for one that never was: it was seeded by an earlier version, and is sealed when
// it is seeded again.
func (c *call) open(sealed, hash, name string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	secret, err := c.sealer.Open(sealed, hash)
	if err != nil {
		return "", &flags.Error{Kind: flags.Internal, Err: err,
			Message: "the secret of the token " + strconv.Quote(name) + " cannot be decrypted: the key that it was encrypted with is missing"}
	}
	return secret, nil
}

// seenAt is when a token was last used, to the hour; null when it was not.
func (c *call) seenAt(hash string) *timestamp {
	if seen := flags.Find[*flags.TokenUse](c.more, flags.TokenUseKey(hash)); seen != nil {
		return timestampOf(seen.At)
	}
	return nil
}

// listedKeys names the last uses of all tokens, and the projects that they are scoped to.
func listedKeys(c *call) []flags.Key {
	var keys []flags.Key
	for _, a := range c.lists[flags.EntityToken] {
		t := a.(*flags.Token)
		keys = append(append(keys, flags.TokenUseKey(t.Hash)), projectKeys(t.Projects)...)
	}
	return compact(keys)
}

// reachKeys names the projects that the call's token is scoped to.
func reachKeys(c *call) []flags.Key { return projectKeys(c.token.Projects) }

func projectKeys(ids []string) []flags.Key {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return flags.CheckName(id) != "" }) // "*" is none
	return each(ids, flags.ProjectKey)
}

// compact leaves out keys that are there twice: a load of a hundred keys is one call.
func compact(keys []flags.Key) []flags.Key {
	seen := make(map[flags.Key]bool, len(keys))
	return slices.DeleteFunc(keys, func(key flags.Key) bool {
		twice := seen[key]
		seen[key] = true
		return twice
	})
}

func (c *call) projectNamed(id string) *flags.Project {
	return flags.Find[*flags.Project](c.more, flags.ProjectKey(id))
}

func (c *call) reach(t *flags.Token) (flags.TokenScope, bool) {
	return t.Scope(c.projectNamed, c.registry)
}

// A createTokenBody makes an API token.
type createTokenBody struct {
	TokenName   maybe[string]   `json:"tokenName"`
	Username    maybe[string]   `json:"username"` // deprecated, for tokenName
	Type        maybe[string]   `json:"type"`     // client, frontend or admin, in any case
	Environment maybe[string]   `json:"environment"`
	Project     maybe[string]   `json:"project"`
	Projects    maybe[[]string] `json:"projects"`
	ExpiresAt   maybe[*string]  `json:"expiresAt"`
}

// maxTokenProjects is how many projects one token may name: each is looked up when it is made, and in every list.
const maxTokenProjects = 1000

func (b createTokenBody) check(_ flags.Limits, problems *flags.Problems) {
	checkTitle("/tokenName", b.name(), problems)
	flags.CheckLength("/username", b.Username.Value, maxTitle, problems)
	switch kind := b.kind(); kind {
	case flags.AdminToken, flags.ClientToken, flags.FrontendToken:
	case "backend":
		problems.Add("/type", "must be client, frontend or admin; what is called backend elsewhere is client")
	case "":
		problems.Add("/type", "is required, and is client, frontend or admin")
	default:
		problems.Add("/type", "must be client, frontend or admin, not %q", shorten(b.Type.Value))
	}
	if b.Projects.Set && len(b.Projects.Value) == 0 {
		problems.Add("/projects", "must name at least one project; left out it is every project")
	}
	if n := len(b.Projects.Value); n > maxTokenProjects {
		problems.Add("/projects", "must name at most %d projects, names %d; * is every project", maxTokenProjects, n)
	}
	if b.Projects.Set && b.Project.Set && !slices.Equal(b.Projects.Value, []string{b.Project.Value}) {
		problems.Add("/project", "must be left out where there are projects, or be the only one of them")
	}
	if b.kind() == flags.AdminToken {
		if !slices.Equal(b.projects(), []string{flags.All}) {
			problems.Add("/projects", "must be * or be left out: an admin token reaches every project")
		}
		if b.environment() != flags.All {
			problems.Add("/environment", "must be * or be left out: an admin token reaches every environment")
		}
	}
	checkExpiry(b.ExpiresAt.Value, problems)
}

func (b createTokenBody) name() string { return b.TokenName.or(b.Username.Value) }

func (b createTokenBody) kind() flags.TokenType {
	return flags.TokenType(strings.ToLower(b.Type.Value))
}

// projects are the ids that the body names, each once; All alone when it is among them or nothing is said.
func (b createTokenBody) projects() []string {
	ids := b.Projects.or([]string{b.Project.or(flags.All)})
	if slices.Contains(ids, flags.All) {
		return []string{flags.All}
	}
	var once []string
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			once = append(once, id)
		}
	}
	return once
}

func (b createTokenBody) environment() string {
	if b.kind() == flags.AdminToken {
		return b.Environment.or(flags.All)
	}
	return b.Environment.or("development")
}

// namedKeys names the projects that a new token is scoped to.
func namedKeys(_ *call, in createTokenBody) []flags.Key { return projectKeys(in.projects()) }

func createToken(c *call, in createTokenBody) (decision, error) {
	t := &flags.Token{
		Name: in.name(), Type: in.kind(), Projects: in.projects(), Environment: in.environment(),
		CreatedAt: c.now, ExpiresAt: momentOf(in.ExpiresAt.Value),
	}
	t.Bind(c.projectNamed, c.registry)
	reach, _ := c.reach(t)
	if err := c.caller.AuthorizeToken(flags.CreateTokens, t.Type, reach); err != nil {
		return decision{}, err
	}
	if err := unknownIn(t, reach); err != nil {
		return decision{}, err
	}
	secret := t.FormatSecret(c.random())
	t.Hash = flags.HashSecret(secret)
	t.Sealed = c.sealer.Seal(secret, t.Hash)
	if err := flags.CheckListSize(c.lists[flags.EntityToken], nil, t); err != nil {
		return decision{}, err
	}
	answer, err := c.apiToken(t, reach)
	if err != nil {
		return decision{}, err
	}
	d, err := c.changes(nil, t, events.TokenCreated(t), http.StatusCreated, answer)
	return created(d, "/api/admin/api-tokens", t.Name), err
}

// unknownIn says which projects and which environment a token names that are not there.
func unknownIn(t *flags.Token, reach flags.TokenScope) error {
	var problems flags.Problems
	for _, id := range reach.Unbound {
		problems.Add("/projects/"+strconv.Itoa(slices.Index(t.Projects, id)), "there is no project %q", shorten(id))
	}
	if t.Environment != flags.All && t.EnvironmentUID == "" {
		problems.Add("/environment", "there is no environment %q", shorten(t.Environment))
	}
	return problems.Err()
}

// An updateTokenBody gives a token another expiry.
type updateTokenBody struct {
	ExpiresAt maybe[*string] `json:"expiresAt"` // null for never
}

func (b updateTokenBody) check(_ flags.Limits, problems *flags.Problems) {
	if !b.ExpiresAt.Set {
		problems.Add("/expiresAt", "is required; null is for a token that does not expire")
	}
	checkExpiry(b.ExpiresAt.Value, problems)
}

func updateToken(c *call, in updateTokenBody) (decision, error) {
	reach, there := c.reach(c.token)
	if err := c.caller.AuthorizeToken(flags.UpdateTokens, c.token.Type, reach); err != nil {
		return decision{}, err
	}
	if !there {
		return decision{}, flags.Errorf(flags.NotFound, "this API token is revoked: what it was scoped to is gone")
	}
	after := c.token.Clone()
	after.ExpiresAt = momentOf(in.ExpiresAt.Value)
	return c.changes(c.token, after, events.TokenUpdated(c.token, after), http.StatusOK, nil)
}

// deleteToken takes a revoked token too: its name is free again then.
func deleteToken(c *call) (decision, error) {
	reach, _ := c.reach(c.token)
	if err := c.caller.AuthorizeToken(flags.DeleteTokens, c.token.Type, reach); err != nil {
		return decision{}, err
	}
	return c.changes(c.token, c.token.AsDeleted(), events.TokenDeleted(c.token), http.StatusOK, nil)
}

// randomDigits is what makes a secret one: 256 bits, as 64 hex digits.
func randomDigits() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// maxTitle is how long the name or description of a token may be, in characters.
const maxTitle = flags.MaxTitle

// checkTitle says what is wrong with the name or description of a token: people read it, and any words will do.
func checkTitle(path, title string, problems *flags.Problems) {
	switch {
	case title == "":
		problems.Add(path, "is required, and must not be empty")
	case strings.TrimSpace(title) == "":
		problems.Add(path, "must not be blank")
	case utf8.RuneCountInString(title) > maxTitle:
		problems.Add(path, "must have at most %d characters, has %d", maxTitle, utf8.RuneCountInString(title))
	case strings.ContainsFunc(title, unicode.IsControl):
		problems.Add(path, "must not have control characters in it")
	}
}
