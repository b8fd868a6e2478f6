package main

import (
	"context"
	"encoding/json"
	"fmt"
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

	// withoutGroup is the flag of extras.go whose strategy has no groupId in Unleash. The SDKs for Node.js and Go take none then,
	// those that are built on Yggdrasil the name of the flag, as Guidon does.
	withoutGroup = "sparse"
)

// sameEvaluations checks that every flag gives the same for every context of the specification on both servers, with the same
// SDK: unleash-client, unmodified. The only exception is withoutGroup.
func (t *test) sameEvaluations(ctx context.Context, first, second *server) error {
	contexts, err := specContexts(ctx)
	if err != nil {
		return err
	}
	if len(contexts) != contextsOfSpec {
		t.errorf("the specification has %d contexts, expected %d", len(contexts), contextsOfSpec)
	}
	for _, environment := range environments {
		want, err := t.evaluate(ctx, first, environment, contexts)
		if err != nil {
			return err
		}
		got, err := t.evaluate(ctx, second, environment, contexts)
		if err != nil {
			return err
		}
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) || len(want) != flagsFilled {
			t.errorf("the SDK has %d flags of %s and %d of %s in %s, expected the same %d", len(want), first.Name, len(got), second.Name, environment, flagsFilled)
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
						t.errorf("%s in %s for %s is %q, was %q", name, environment, contexts[i], now[min(i, len(now)):min(i+1, len(now))], was)
					}
				}
			}
		}
		if differ > 0 || on == 0 {
			t.errorf("%d evaluations differ in %s; %d were on", differ, environment, on)
		}
		if environment == "development" && groupless == 0 {
			t.errorf("%s should differ: it has no groupId in Unleash", withoutGroup)
		}
		t.logf("unleash-client evaluates %d flags for %d contexts in %s: %d are on, %d differ, and %d of %s, which has no groupId in Unleash",
			len(want), len(contexts), environment, on, differ, groupless, withoutGroup)
	}
	return nil
}

// specContexts returns the different contexts of the specification's tests.
func specContexts(ctx context.Context) (contexts []json.RawMessage, err error) {
	files, err := clientspec.Load(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, file := range files {
		var suite struct {
			Tests, VariantTests []struct{ Context json.RawMessage }
		}
		if err := json.Unmarshal(file.JSON, &suite); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		for _, test := range append(suite.Tests, suite.VariantTests...) {
			if !seen[string(test.Context)] {
				seen[string(test.Context)] = true
				contexts = append(contexts, test.Context)
			}
		}
	}
	return contexts, nil
}

// evaluate runs unleash-client on a server, with a new token. It returns the results by flag, in the order of the contexts.
func (t *test) evaluate(ctx context.Context, s *server, environment string, contexts []json.RawMessage) (map[string][]string, error) {
	var token struct{ Secret string }
	body := object{"tokenName": "evaluate-" + environment, "type": "client", "environment": environment, "projects": list{"*"}}
	if err := s.CallOnce(ctx, "POST", "/api/admin/api-tokens", body, &token); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(t.folder, "evaluate-") // a folder of its own: the SDK keeps the flags there
	if err != nil {
		return nil, err
	}
	const program = "evaluate.mjs"
	source, err := os.ReadFile(filepath.Join(t.root, "internal", "clients", "node", program))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(folder, program), source, 0o600); err != nil {
		return nil, err
	}
	if err := os.Symlink(filepath.Join(t.sdk, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		return nil, err
	}
	input, err := json.Marshal(contexts)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, evaluateTimeout) // the SDK waits for its first flags
	defer cancel()
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, "node", program)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GUIDON_URL="+s.Base, "TOKEN="+token.Secret, "TMPDIR="+folder)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(input)), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("unleash-client on %s: %w; it printed:\n%s", s.Name, err, &stderr)
	}
	var results map[string][]string
	return results, json.Unmarshal(out, &results)
}
