package edge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/jsonbody"
	"guidon/pkg/published"
)

// A validToken is a token in the response of POST /edge/validate.
type validToken struct {
	Token       string   `json:"token"`
	Type        string   `json:"type"`
	Projects    []string `json:"projects"`
	Environment string   `json:"environment,omitzero"` // Unleash has it only in the text of the token
}

// validTokens is that response, and with only their texts the request.
type validTokens struct {
	Tokens []validToken `json:"tokens"`
}

// validate asks the upstream about tokens, and takes its answer. The tokens of the settings are asked about too: an answer that refuses
// one of these is a mistake rather than the end of the tokens of applications.
func (t *tokens) validate(ctx context.Context, group []string) error {
	asked := slices.Clone(t.own())
	for _, secret := range group {
		if !slices.Contains(asked, secret) {
			asked = append(asked, secret)
		}
	}
	body, err := json.Marshal(map[string][]string{"tokens": asked})
	if err != nil {
		return err
	}
	var answer jsonbody.Items[validToken]
	var tooMany, absent error
	err = t.edge.client.any(t.pauses, validatePace, func(upstream string) (err error) {
		if tooMany = nil; isPublication(upstream) {
			valid, err := t.edge.published.validate(ctx, upstream, asked)
			answer = nil
			for _, v := range valid {
				answer = append(answer, jsonbody.Item[validToken]{Value: v})
			}
			if errors.Is(err, published.ErrAbsent) { // the upstream is not paused: strangers can name environments that do not exist
				absent = fmt.Errorf("%s: %w", upstream, err)
				return errNotThere
			}
			return err
		}
		got, err := t.edge.client.send(ctx, http.MethodPost, upstream+"/edge/validate", "", nil, body, maxReply)
		if statusOf(err) == http.StatusBadRequest && len(group) > smallGroup {
			tooMany = err
			return nil
		}
		if err != nil {
			return err
		}
		var response struct {
			Tokens jsonbody.Items[validToken] `json:"tokens"`
		}
		if err := jsonbody.DecodeForeign(got.body, &response); err != nil || response.Tokens == nil {
			return errors.New("its response to /edge/validate has no tokens")
		}
		answer = response.Tokens
		return nil
	})
	if absent != nil && errors.Is(err, errPaused) {
		err = absent
	}
	if err = cmp.Or(err, tooMany); err != nil {
		return err
	}
	t.take(group, answer)
	return nil
}

// own returns the tokens of the settings that are in every question.
func (t *tokens) own() []string {
	own := t.edge.config.Tokens
	return own[:min(len(own), maxGroup/2)]
}

// take takes an answer about a group of tokens. An item that cannot be read changes nothing about its token; if it does not even tell
// which that is, no token counts as refused.
func (t *tokens) take(group []string, valid jsonbody.Items[validToken]) {
	byText, odd, anyOdd := map[string]*grant{}, map[string]bool{}, false
	for _, item := range valid {
		if item.Err != nil {
			var named struct {
				Token string `json:"token"`
			}
			_ = jsonbody.DecodeForeign(item.Raw, &named)
			odd[named.Token], anyOdd = true, anyOdd || named.Token == ""
			t.edge.warn("a token", "the upstream's answer about a token cannot be read, so Edge does not change what it knows about the token", item.Err)
			continue
		}
		if g := item.Value.grant(); g != nil {
			byText[item.Value.Token] = g
		}
	}
	refused := map[string]bool{}
	for _, own := range t.own() {
		if g := byText[own]; g != nil {
			t.edge.learn(own, g)
			if g.kind != access.ClientToken {
				t.edge.warn("tokens", "TOKENS has a token of the type "+string(g.kind)+", with which Edge cannot read flags. Give it a client token", nil)
			}
		} else if !anyOdd && !odd[own] {
			refused[own] = true
			t.edge.warn("tokens", "the upstream refuses a token of TOKENS; Edge keeps serving with the flags and tokens that it has. Give it a valid one", nil)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, secret := range group {
		h := hashOf(secret)
		now, before := byText[secret], t.known[h]
		switch {
		case now != nil && before != nil && before.same(now):
			before.confirm(0)
			now = before
		case now != nil:
			t.add(now)
		case before != nil && (anyOdd || odd[secret] || before.dependsOn(refused)):
			now = before
		case anyOdd || odd[secret]:
			t.leaveOpen(h)
			continue
		default:
			if delete(t.known, h); before != nil {
				t.edge.dropSource(secret)
			}
			t.refuse(h)
		}
		t.answer(h, now)
	}
}

// answer ends the wait for a token. The caller holds the lock.
func (t *tokens) answer(h hash, g *grant) {
	if q := t.waiting[h]; q != nil {
		q.grant = g
		if g == nil {
			q.err = access.ErrNoToken
		}
		delete(t.waiting, h)
		close(q.done)
	}
}

// failed ends the wait for tokens that could not be validated.
func (t *tokens) failed(group []string, err error) {
	if !errors.Is(err, errPaused) {
		t.edge.warn("tokens", "the upstream did not say which tokens are valid; Edge keeps those that it knows", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, secret := range group {
		t.leaveOpen(hashOf(secret))
	}
}

// leaveOpen ends the wait for a token without an answer. The caller holds the lock.
func (t *tokens) leaveOpen(h hash) {
	if q := t.waiting[h]; q != nil {
		q.err = errUnknown
		delete(t.waiting, h)
		close(q.done)
	}
}

// grant returns what a valid token may read; nil for a token that Edge cannot serve.
func (v validToken) grant() *grant {
	projects, environment, ok := parseSecret(v.Token)
	kind := access.TokenType(strings.ToLower(v.Type)).Rights()
	if len(v.Projects) > 0 {
		projects = v.Projects
	}
	if !ok || len(projects) == 0 || kind != access.ClientToken && kind != access.FrontendToken && kind != access.AdminToken {
		return nil
	}
	return newGrant(v.Token, kind, projects, cmp.Or(v.Environment, environment))
}
