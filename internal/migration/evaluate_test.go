//go:build migration

package migration

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"guidon/internal/clientspec"
)

const (
	contextsOfSpec  = 146 // different ones
	evaluateTimeout = time.Minute

	// withoutGroup is the flag of extras_test.go whose strategy has no groupId in Unleash. The SDKs for Node.js and Go take none then,
	// those that are built on Yggdrasil the name of the flag, as Guidon does.
	withoutGroup = "sparse"
)

// sameEvaluations checks that every flag gives the same for every context of the specification on both servers, with the same
// SDK: unleash-client, unmodified. The only exception is withoutGroup.
func (t *test) sameEvaluations(first, second *server) {
	contexts := t.specContexts()
	if len(contexts) != contextsOfSpec {
		t.Errorf("the specification has %d contexts, expected %d", len(contexts), contextsOfSpec)
	}
	for _, environment := range environments {
		want, got := t.evaluate(first, environment, contexts), t.evaluate(second, environment, contexts)
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) || len(want) != flagsFilled {
			t.Errorf("the SDK has %d flags of %s and %d of %s in %s, expected the same %d", len(want), first.Name, len(got), second.Name, environment, flagsFilled)
		}
		on, differ, groupless := 0, 0, 0
		for _, name := range slices.Sorted(maps.Keys(want)) {
			for i, was := range want[name] {
				if strings.HasPrefix(was, "true") {
					on++
				}
				now := got[name]
				switch {
				case i < len(now) && now[i] == was:
				case name == withoutGroup:
					groupless++
				default:
					if differ++; differ <= 10 {
						t.Errorf("%s in %s for %s is %q, was %q", name, environment, contexts[i], now[min(i, len(now)):min(i+1, len(now))], was)
					}
				}
			}
		}
		if differ > 0 || on == 0 {
			t.Errorf("%d evaluations differ in %s; %d were on", differ, environment, on)
		}
		if environment == "development" && groupless == 0 {
			t.Errorf("%s should differ: it has no groupId in Unleash", withoutGroup)
		}
		t.Logf("unleash-client evaluates %d flags for %d contexts in %s: %d are on, %d differ, and %d of %s, which has no groupId in Unleash",
			len(want), len(contexts), environment, on, differ, groupless, withoutGroup)
	}
}

// specContexts returns the different contexts of the specification's tests.
func (t *test) specContexts() (contexts []json.RawMessage) {
	files, err := clientspec.Load(t.Context(), os.Stderr)
	t.must(err)
	seen := map[string]bool{}
	for _, file := range files {
		var suite struct {
			Tests, VariantTests []struct{ Context json.RawMessage }
		}
		t.must(json.Unmarshal(file.JSON, &suite))
		for _, test := range append(suite.Tests, suite.VariantTests...) {
			if !seen[string(test.Context)] {
				seen[string(test.Context)] = true
				contexts = append(contexts, test.Context)
			}
		}
	}
	return contexts
}

// evaluate runs unleash-client on a server, with a new token. It returns the results by flag, in the order of the contexts.
func (t *test) evaluate(s *server, environment string, contexts []json.RawMessage) (results map[string][]string) {
	var token struct{ Secret string }
	body := object{"tokenName": "evaluate-" + environment, "type": "client", "environment": environment, "projects": list{"*"}}
	s.call("POST", "/api/admin/api-tokens", body, &token)
	return t.evaluateWith(s.Base, token.Secret, contexts)
}

// evaluateWith runs unleash-client with a URL and a token.
func (t *test) evaluateWith(url, token string, contexts []json.RawMessage) (results map[string][]string) {
	folder, err := os.MkdirTemp(t.folder, "evaluate-") // a folder of its own: the SDK keeps the flags there
	t.must(err)
	const program = "evaluate.mjs"
	source, err := os.ReadFile(filepath.Join(t.root, "internal", "clients", "node", program))
	t.must(err)
	t.must(os.WriteFile(filepath.Join(folder, program), source, 0o600))
	t.must(os.Symlink(filepath.Join(os.Getenv("CLIENTS_NODE"), "node_modules"), filepath.Join(folder, "node_modules")))
	input, err := json.Marshal(contexts)
	t.must(err)
	ctx, cancel := context.WithTimeout(t.Context(), evaluateTimeout) // the SDK waits for its first flags
	defer cancel()
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, "node", program)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GUIDON_URL="+url, "TOKEN="+token, "TMPDIR="+folder)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(input)), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("unleash-client on %s: %v; it printed:\n%s", url, err, &stderr)
	}
	t.must(json.Unmarshal(out, &results))
	return results
}
