package bootstrap

import (
	"fmt"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// A Token is an API token that somebody chose the secret of.
type Token struct {
	Name        string
	Type        flags.TokenType
	Secret      string
	Projects    []string // ids; "*" is all
	Environment string   // "*" is all
}

// LocalAdminToken is the admin token of a local run that names none; Unleash's users know it.
const LocalAdminToken = "*:*.unleash-insecure-admin-api-token"

// TokensFromEnv reads INIT_ADMIN_API_TOKENS, INIT_CLIENT_API_TOKENS and INIT_FRONTEND_API_TOKENS, each a list of
// secrets between commas. The tokens of a list are named admin, admin-2, and so on.
func TokensFromEnv(getenv func(string) string) ([]Token, error) {
	var tokens []Token
	for _, list := range []struct {
		variable string
		kind     flags.TokenType
	}{
		{"INIT_ADMIN_API_TOKENS", flags.AdminToken},
		{"INIT_CLIENT_API_TOKENS", flags.ClientToken},
		{"INIT_FRONTEND_API_TOKENS", flags.FrontendToken},
	} {
		n := 0
		for secret := range strings.SplitSeq(getenv(list.variable), ",") {
			if secret = strings.TrimSpace(secret); secret == "" {
				continue
			}
			t, err := ParseToken(list.kind, secret)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", list.variable, err)
			}
			n++
			t.Name = string(list.kind)
			if n > 1 {
				t.Name = fmt.Sprintf("%s-%d", list.kind, n)
			}
			tokens = append(tokens, t)
		}
	}
	return tokens, nil
}

// ParseToken reads a secret: <project, * or []>:<environment or *>.<anything>. Its error shows no more of it than what
// stands before the first dot.
func ParseToken(kind flags.TokenType, secret string) (Token, error) {
	project, rest, colon := strings.Cut(secret, ":")
	environment, random, dot := strings.Cut(rest, ".")
	if !colon || !dot || random == "" {
		return Token{}, fmt.Errorf("an API token must look like <project, * or []>:<environment or *>.<secret>, such as %s", LocalAdminToken)
	}
	scope := project + ":" + environment
	if kind == flags.AdminToken && scope != "*:*" {
		return Token{}, fmt.Errorf("an admin token reaches everything, so it must begin with *:*. and not with %s", scope)
	}
	t := Token{Type: kind, Secret: secret, Projects: []string{project}, Environment: environment}
	if project == "[]" { // several projects, which the secret does not name
		t.Projects = []string{"*"}
	} else if problem := checkScope(project); problem != "" {
		return Token{}, fmt.Errorf("the project of the API token %s.… %s", scope, problem)
	}
	if problem := checkScope(environment); problem != "" {
		return Token{}, fmt.Errorf("the environment of the API token %s.… %s", scope, problem)
	}
	return t, nil
}

func checkScope(name string) string {
	if name == "*" {
		return ""
	}
	return flags.CheckName(name)
}

func (t Token) token(at time.Time) *flags.Token {
	return &flags.Token{
		Hash: flags.HashSecret(t.Secret), Name: t.Name, Type: t.Type,
		Projects: t.Projects, Environment: t.Environment, CreatedAt: at,
	}
}
