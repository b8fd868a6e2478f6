package ingest

import (
	"context"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
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
	s.noteUse(ctx, from)
	return httpapi.Response{}, nil
}

// disabledMetrics is Unleash's response at /edge/metrics, where old versions of Unleash Edge post without a token.
type disabledMetrics struct {
	Status string `json:"status"`
	Reason string `json:"reason"`
	Help   string `json:"help"`
}

func oldEdgeMetrics(context.Context, *http.Request) (httpapi.Response, error) {
	return answerJSON(disabledMetrics{"disabled", "disabled by killswitch", "You should upgrade Edge to the most recent version to not lose metrics"})
}

// The limits of POST /edge/validate, which needs no token: Unleash Edge sends none. A request that guesses costs freeTokens reads.
const (
	maxValidateBody = 64 << 10 // bytes
	maxTokens       = 200
	freeTokens      = 10 // that are looked up without a valid client token among them, and as many more for each valid frontend token
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
	Token       string           `json:"token"`
	Type        access.TokenType `json:"type"`
	Projects    []string         `json:"projects"`
	Environment string           `json:"environment"` // for Guidon Edge; Unleash has it only in the text of the token
}

// validate tells Unleash Edge which of its tokens are valid, and what they are for. Tokens are left out that are unknown, expired,
// personal, or that were revoked with their projects or their environment.
func (s *server) validate(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	text, err := httpapi.ReadBody(r, maxValidateBody)
	if err != nil {
		return httpapi.Response{}, err
	}
	var b validateTokensBody
	problems, err := jsonbody.DecodeLenient(text, &b)
	if err != nil {
		return httpapi.Response{}, err
	}
	if b.Tokens != nil {
		problems = nil // an odd token is left out, as one that is unknown
	} else if len(problems) == 0 {
		problems.Add("/tokens", "is required")
	}
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

// validTokens returns those of these secrets that are valid: one call for the first freeTokens, at most two more for others, and one
// for their projects and environments.
func (s *server) validTokens(ctx context.Context, secrets []text) ([]validatedToken, error) {
	tokens, err := s.findTokens(ctx, secrets)
	valid := []validatedToken{}
	if err != nil || len(tokens) == 0 {
		return valid, err
	}
	keys := []flags.Key{flags.EnvironmentsKey()}
	for _, token := range tokens {
		for _, id := range token.Projects {
			if id != flags.All {
				keys = append(keys, flags.ProjectKey(id))
			}
		}
	}
	view, err := s.store.Load(ctx, keys)
	if err != nil {
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
				valid = append(valid, validatedToken{string(secret), token.Type, scope.ProjectIDs(), token.Environment})
			}
		}
	}
	return valid, nil
}

// findTokens returns the tokens of these secrets, by secret, that are neither unknown nor expired. It looks up the first freeTokens,
// and all others for a caller who knows a client token. Frontend tokens are public: they only pay for as many more, less the projects that
// are read for them.
func (s *server) findTokens(ctx context.Context, secrets []text) (map[text]*access.Token, error) {
	var others []text
	for _, secret := range secrets {
		if secret != "" && !slices.Contains(others, secret) {
			others = append(others, secret)
		}
	}
	tokens, projects, trusted := map[text]*access.Token{}, map[string]bool{}, false
	for looked := 0; len(others) > 0; {
		next := others
		if !trusted {
			next = others[:min(len(others), max(freeTokens*(1+len(tokens))-looked-len(projects), 0))]
		}
		if len(next) == 0 {
			var problems flags.Problems
			problems.Add("/tokens", "only %d tokens are looked up without a valid client token among them, and %d more for each valid frontend token, less its projects; "+
				"%d of %d were valid: put a client token first, leave out deleted tokens, or ask about fewer", freeTokens, freeTokens, len(tokens), looked)
			return nil, problems.Err()
		}
		keys := make([]flags.Key, len(next))
		for i, secret := range next {
			keys[i] = access.TokenKey(access.HashSecret(string(secret)))
		}
		view, err := s.store.Load(ctx, keys)
		if err != nil {
			return nil, err
		}
		for i, secret := range next {
			token := flags.Find[*access.Token](view, keys[i])
			if access.AuthenticateApplication(token, access.HashSecret(string(secret)), s.now(), access.ClientToken, access.FrontendToken) == nil {
				tokens[secret] = token
				trusted = trusted || token.Type != access.FrontendToken
				for _, id := range token.Projects {
					projects[id] = true
				}
			}
		}
		looked, others = looked+len(next), others[len(next):]
	}
	return tokens, nil
}

// answerJSON responds with JSON that no cache may keep.
func answerJSON(body any) (httpapi.Response, error) {
	text, err := json.Marshal(body)
	return httpapi.Response{Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Cache-Control": {"no-store"}}, Body: text}, err
}
