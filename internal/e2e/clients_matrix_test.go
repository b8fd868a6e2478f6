//go:build clients

package e2e

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"guidon/internal/matrix"
)

// TestClientsMatrix evaluates the flags of internal/matrix with Yggdrasil, in the SDK for Python, and with the SDK for Node.js, and compares
// their results with the recorded ones, which the tests of pkg/evaluate compare with Guidon. UPDATE_MATRIX=1 records them.
func TestClientsMatrix(t *testing.T) {
	flags, values := matrix.Flags(), matrix.Values()
	var names []string
	var features, contexts []any
	for _, f := range flags {
		names, features = append(names, f.Name), append(features, f.Flag)
	}
	for _, v := range values {
		context := map[string]any{"sessionId": v.Context().SessionID}
		if !v.None {
			context["userId"], context["remoteAddress"], context["currentTime"], context["properties"] = v.Text, v.Text, v.Text, v.Context().Properties
		}
		contexts = append(contexts, context)
	}
	state := encoded(t, map[string]any{"version": 2, "features": features})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/api/client/features" {
			_, _ = w.Write([]byte(state))
		}
	}))
	defer upstream.Close()

	node := nodeFolder(t)
	sources := filepath.Join(root, "internal", "clients")
	if err := os.CopyFS(node, os.DirFS(filepath.Join(sources, "node"))); err != nil {
		t.Fatal(err)
	}
	evaluated := map[string]matrix.Results{}
	var all sync.WaitGroup
	var mu sync.Mutex
	for name, args := range map[string][]string{
		"yggdrasil": {tool(t, "CLIENTS_PYTHON"), filepath.Join(sources, "python", "evaluate_engine.py")},
		"node":      {"node", "evaluate-bits.mjs"},
	} {
		command := exec.Command(args[0], args[1:]...)
		command.Dir = node
		command.Env = clientEnvironment(t, "GUIDON_URL="+upstream.URL, "TOKEN=x", "FLAGS="+encoded(t, names), "TZ=UTC", "LC_ALL=C.UTF-8",
			"HOSTNAME="+matrix.Hostname, "hostname="+matrix.Hostname) // Node.js reads the first, Yggdrasil the second
		command.Stdin = strings.NewReader(encoded(t, contexts))
		all.Go(func() {
			var messages bytes.Buffer
			command.Stderr = &messages
			out, err := command.Output()
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, messages.Bytes()[max(0, messages.Len()-5_000):])
				return
			}
			var results matrix.Results
			decode(t, out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:], &results)
			mu.Lock()
			defer mu.Unlock()
			evaluated[name] = results
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	const shown = 50
	changed := 0
	for evaluator, results := range evaluated {
		for _, name := range names {
			if len(results[name]) != len(values) {
				t.Fatalf("%s: %d results of %s", name, len(results[name]), evaluator)
			}
		}
		if os.Getenv("UPDATE_MATRIX") != "" {
			if err := os.WriteFile(filepath.Join(root, "internal", "matrix", evaluator+".txt"), []byte(results.Text()), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		recorded, err := matrix.Recorded(evaluator)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			for i, v := range values {
				got, want := results[name][i], recorded[name][i]
				if got == want {
					continue
				}
				if changed++; changed <= shown {
					t.Errorf("%s, %s for %q: %c, recorded %c", evaluator, name, v.Name, got, want)
				}
			}
		}
	}
	if changed > 0 {
		t.Errorf("%d results are not the recorded ones. If an SDK has changed: UPDATE_MATRIX=1 make test-clients, then go test ./pkg/evaluate", changed)
	}
}
