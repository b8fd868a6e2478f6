package ingest

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

// edgeMetricsBody is what an instance of Unleash Edge reports about itself. It is not read.
type edgeMetricsBody struct{}

// edgeInstance accepts what an instance of Unleash Edge reports about itself, and stores nothing.
func (s *server) edgeInstance(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	from, err := s.authenticate(ctx, r, access.ClientToken)
	if err != nil {
		return httpapi.Response{}, err
	}
	if _, err := httpapi.ReadBody(r, usage.MaxBody); err != nil {
		return httpapi.Response{}, err
	}
	s.touch(ctx, from)
	return httpapi.Response{}, nil
}

// disabledMetrics is Unleash's answer at /edge/metrics, where old versions of Unleash Edge post without a token.
type disabledMetrics struct {
	Status string `json:"status"`
	Reason string `json:"reason"`
	Help   string `json:"help"`
}

func oldEdgeMetrics(context.Context, *http.Request) (httpapi.Response, error) {
	return answerJSON(disabledMetrics{"disabled", "disabled by killswitch", "You should upgrade Edge to the most recent version to not lose metrics"})
}

// The limits of POST /edge/validate, which needs no token: what a request may ask for costs at most two reads of 100 tokens each.
const (
	maxValidateBody = 64 << 10 // bytes
	maxTokens       = 200
)

// A validateTokensBody has the tokens that Unleash Edge asks about.
type validateTokensBody struct {
	Tokens []text `json:"tokens"`
}

// validatedTokens has those that are valid.
type validatedTokens struct {
	Tokens []validatedToken `json:"tokens"`
}

type validatedToken struct {
	Token    string           `json:"token"`
	Type     access.TokenType `json:"type"`
	Projects []string         `json:"projects"`
}

// validate tells Unleash Edge which of its tokens are valid, and what they are for. Tokens are left out that are unknown, expired,
// personal, or that were revoked with their projects or their environment.
func (s *server) validate(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	var b validateTokensBody
	if err := decode(r, maxValidateBody, &b); err != nil {
		return httpapi.Response{}, err
	}
	var problems flags.Problems
	checkRequired("/tokens", b.Tokens != nil, &problems)
	flags.CheckCount("/tokens", "tokens", len(b.Tokens), maxTokens, &problems)
	if err := problems.Err(); err != nil {
		return httpapi.Response{}, err
	}
	tokens, err := s.validTokens(ctx, b.Tokens)
	if err != nil {
		return httpapi.Response{}, err
	}
	return answerJSON(validatedTokens{tokens})
}

// validTokens returns those of these secrets that are valid: one call for the tokens, and one for their projects and environments.
func (s *server) validTokens(ctx context.Context, secrets []text) ([]validatedToken, error) {
	var keys []flags.Key
	for _, secret := range secrets {
		if secret != "" {
			keys = append(keys, access.TokenKey(access.HashSecret(string(secret))))
		}
	}
	view, err := s.store.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	tokens := map[text]*access.Token{}
	keys = []flags.Key{flags.EnvironmentsKey()}
	for _, secret := range secrets {
		hash := access.HashSecret(string(secret))
		token := flags.Find[*access.Token](view, access.TokenKey(hash))
		if access.AuthenticateApplication(token, hash, s.now(), access.ClientToken, access.FrontendToken) != nil {
			continue
		}
		tokens[secret] = token
		for _, id := range token.Projects {
			if id != flags.All {
				keys = append(keys, flags.ProjectKey(id))
			}
		}
	}
	valid := []validatedToken{}
	if len(tokens) == 0 {
		return valid, nil
	}
	if view, err = s.store.Load(ctx, keys); err != nil {
		return nil, err
	}
	environments := flags.Find[*flags.Environments](view, flags.EnvironmentsKey())
	if environments == nil {
		return nil, httpapi.ErrNotSetUp
	}
	project := func(id string) *flags.Project { return flags.Find[*flags.Project](view, flags.ProjectKey(id)) }
	for _, secret := range secrets {
		if token := tokens[secret]; token != nil {
			if scope, ok := token.Scope(project, environments); ok {
				valid = append(valid, validatedToken{string(secret), token.Type, scope.ProjectIDs()})
			}
		}
	}
	return valid, nil
}

// answerJSON answers with JSON that no cache may keep.
func answerJSON(body any) (httpapi.Response, error) {
	text, err := json.Marshal(body)
	return httpapi.Response{Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Cache-Control": {"no-store"}}, Body: text}, err
}
