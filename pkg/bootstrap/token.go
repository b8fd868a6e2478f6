package bootstrap

import (
	"context"
	"fmt"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// A Token is an API token with a secret that the operator chose.
type Token struct {
	Name        string
	Type        access.TokenType
	Secret      string
	Projects    []string // ids, or flags.All; empty if the secret does not name them
	Environment string   // name, or flags.All
}

// The default tokens of a local server. Users of Unleash know them.
const (
	LocalAdminToken    = "*:*.unleash-insecure-admin-api-token"
	LocalClientToken   = "default:development.unleash-insecure-client-api-token"
	LocalFrontendToken = "default:development.unleash-insecure-frontend-api-token"
)

// seededTypes are the types of tokens that the environment can name, each in a variable.
var seededTypes = []access.TokenType{access.AdminToken, access.BackendToken, access.ClientToken, access.FrontendToken}

// TokenVariable returns the name of the variable with the tokens of a type.
func TokenVariable(kind access.TokenType) string {
	return "INIT_" + strings.ToUpper(string(kind)) + "_API_TOKENS"
}

// TokenVariables returns the names of the variables that TokensFromEnv reads.
func TokenVariables() []string {
	names := make([]string, len(seededTypes))
	for i, kind := range seededTypes {
		names[i] = TokenVariable(kind)
	}
	return names
}

// TokensFromEnv reads INIT_ADMIN_API_TOKENS, INIT_BACKEND_API_TOKENS, INIT_CLIENT_API_TOKENS and INIT_FRONTEND_API_TOKENS, each a
// comma-separated list of secrets. The tokens are named admin, admin-2, and so on.
func TokensFromEnv(getenv func(string) string) ([]Token, error) {
	var tokens []Token
	for _, kind := range seededTypes {
		n := 0
		for secret := range strings.SplitSeq(getenv(TokenVariable(kind)), ",") {
			if secret = strings.TrimSpace(secret); secret == "" {
				continue
			}
			t, err := ParseToken(kind, secret)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", TokenVariable(kind), err)
			}
			n++
			t.Name = string(kind)
			if n > 1 {
				t.Name = fmt.Sprintf("%s-%d", kind, n)
			}
			tokens = append(tokens, t)
		}
	}
	return tokens, nil
}

// ParseToken parses a secret: <project, * or []>:<environment or *>.<secret>. Its error shows only the part before the first
// dot.
func ParseToken(kind access.TokenType, secret string) (Token, error) {
	project, rest, colon := strings.Cut(secret, ":")
	environment, random, dot := strings.Cut(rest, ".")
	if !colon || !dot || random == "" {
		return Token{}, fmt.Errorf("an API token must look like <project, * or []>:<environment or *>.<secret>, such as %s", LocalAdminToken)
	}
	scope := project + ":" + environment
	if kind == access.AdminToken && scope != "*:*" {
		return Token{}, fmt.Errorf("an admin token must begin with *:*. because it has access to everything; it begins with %s", scope)
	}
	t := Token{Type: kind, Secret: secret, Projects: []string{project}, Environment: environment}
	if project == "[]" { // several projects, which the secret does not name: the token must not get access to all
		t.Projects = []string{}
	} else if problem := checkScope(project); problem != "" {
		return Token{}, fmt.Errorf("the project of the API token %s.… %s", scope, problem)
	}
	if problem := checkScope(environment); problem != "" {
		return Token{}, fmt.Errorf("the environment of the API token %s.… %s", scope, problem)
	}
	return t, nil
}

func checkScope(name string) string {
	if name == flags.All {
		return ""
	}
	return flags.CheckName(name)
}

// token creates a token, or updates it: there may be a key for its secret now, and its projects may have been created since. A deleted
// token stays deleted.
func (s *seeding) token(ctx context.Context, t Token) error {
	key := access.TokenKey(access.HashSecret(t.Secret))
	keys := []flags.Key{key, flags.EnvironmentsKey()}
	for _, id := range t.Projects {
		if id != flags.All {
			keys = append(keys, flags.ProjectKey(id))
		}
	}
	for name, n := t.Name, 2; ; {
		view, err := s.store.Load(ctx, keys)
		if err != nil {
			return fmt.Errorf("seeding the tokens: %w", err)
		}
		before := flags.Find[*access.Token](view, key)
		if before != nil && before.Deleted {
			return nil
		}
		err = s.store.Commit(ctx, s.seedToken(t, name, before, view))
		switch kind := flags.KindOf(err); {
		case err == nil:
			return nil
		case ctx.Err() != nil || kind != flags.NameExists && kind != flags.VersionConflict:
			return fmt.Errorf("seeding the tokens: %w", err)
		case kind == flags.NameExists && !s.has(ctx, key): // another token has the name
			name = fmt.Sprintf("%s-%d", t.Type, n)
			n++
		}
	}
}

// has reports whether an aggregate exists.
func (s *seeding) has(ctx context.Context, key flags.Key) bool {
	view, err := s.store.Load(ctx, []flags.Key{key})
	return err == nil && view[key] != nil
}

// seedToken returns the change that creates the token, or that updates before. The change may be empty.
func (s *seeding) seedToken(t Token, name string, before *access.Token, view flags.View) flags.Change {
	write := flags.Write{}
	after := &access.Token{
		Hash: access.HashSecret(t.Secret), Name: name,
		Projects: t.Projects, Environment: t.Environment, CreatedAt: s.time(),
	}
	after.SetType(t.Type)
	if before != nil {
		write.Before, after = before, before.Clone()
	}
	write.After = after
	after.Bind(func(id string) *flags.Project {
		return flags.Find[*flags.Project](view, flags.ProjectKey(id))
	}, flags.Find[*flags.Environments](view, flags.EnvironmentsKey()))
	if s.sealer != nil && !s.opens(after, t.Secret) {
		after.Sealed = s.sealer.Seal(t.Secret, after.Hash)
	}
	event := events.TokenCreated(after)
	if before != nil {
		event = events.TokenUpdated(before, after)
	}
	event.ID, event.CreatedAt, event.CreatedBy = newEventID(), s.time(), author
	return flags.Change{Writes: []flags.Write{write}, Event: event}
}

// opens reports whether the token contains the secret, encrypted with the current key.
func (s *seeding) opens(token *access.Token, secret string) bool {
	opened, err := s.sealer.Open(token.Sealed, token.Hash)
	return err == nil && opened == secret
}
