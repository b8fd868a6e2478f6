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
// their answers with the recorded ones, which the tests of pkg/evaluate compare with Guidon. UPDATE_MATRIX=1 records them.
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
	evaluated := map[string]map[string]string{}
	var all sync.WaitGroup
	var mu sync.Mutex
	for name, args := range map[string][]string{
		"Yggdrasil": {tool(t, "CLIENTS_PYTHON"), filepath.Join(sources, "python", "evaluate_engine.py")},
		"Node":      {"node", "evaluate-bits.mjs"},
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
			var results map[string]string
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
	answers := matrix.Answers{}
	for _, name := range names {
		yggdrasil, node := evaluated["Yggdrasil"][name], evaluated["Node"][name]
		if len(yggdrasil) != len(values) || len(node) != len(values) {
			t.Fatalf("%s: %d results of Yggdrasil, %d of Node.js", name, len(yggdrasil), len(node))
		}
		for i := range values {
			answers[name] = append(answers[name], matrix.Answer{Yggdrasil: yggdrasil[i] == '1', Node: node[i] == '1'})
		}
	}
	if os.Getenv("UPDATE_MATRIX") != "" {
		if err := os.WriteFile(filepath.Join(root, "internal", "matrix", "answers.txt"), []byte(answers.Text()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded, err := matrix.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	const shown = 50
	changed := 0
	for _, name := range names {
		for i, v := range values {
			got, want := answers[name][i], recorded[name][i]
			if got == want {
				continue
			}
			if changed++; changed <= shown {
				t.Errorf("%s for %q: %+v, recorded %+v", name, v.Name, got, want)
			}
		}
	}
	if changed > 0 {
		t.Errorf("%d results are not the recorded ones. If an SDK has changed: UPDATE_MATRIX=1 make test-clients, then go test ./pkg/evaluate", changed)
	}
}
