//go:build sam

package e2e

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"guidon/internal/runtimeapi"
)

// TestLambdaExamples runs the functions of examples/edge/lambda over the Runtime API, with Guidon Edge as an extension, and freezes
// both between invocations. They show a change of the flag, and go on without Guidon.
func TestLambdaExamples(t *testing.T) {
	edge, bootstrap := buildProgram(t, root, "guidon-edge", "./cmd/guidon-edge"), buildProgram(t, filepath.Join(root, "examples", "edge", "lambda", "go"), "bootstrap", ".")
	example := func(parts ...string) string {
		path, err := filepath.Abs(filepath.Join(append([]string{root, "examples", "edge", "lambda"}, parts...)...))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	runtime := func(name string) string {
		return filepath.Join(filepath.Dir(example()), "..", "..", "internal", "e2e", "testdata", name)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output() // the program itself, since the function has another PATH
	if err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{
		"Go":      {bootstrap},
		"Node.js": {node, runtime("runtime.mjs"), example("node", "index.mjs")},
		"Python":  {strings.TrimSpace(string(python)), runtime("runtime.py"), example("python", "app.py")},
	} {
		t.Run(name, func(t *testing.T) {
			g := start(t)
			g.do(t, http.StatusCreated, "POST", project+"/features", map[string]string{"name": "new-checkout"}, nil)
			development := project + "/features/new-checkout/environments/development"
			g.do(t, http.StatusOK, "POST", development+"/strategies", map[string]any{"name": "flexibleRollout", "parameters": map[string]string{"rollout": "100"}}, nil)
			g.do(t, http.StatusOK, "POST", development+"/on", nil, nil)
			f := &runtimeapi.Function{
				Name: "Shop", Command: command, Extensions: [][]string{{edge}}, Freeze: syscall.SIGSTOP, Thaw: syscall.SIGCONT,
				Timeout: time.Minute, Memory: 256, Log: t.Output(), Env: map[string]string{
					"GUIDON_EDGE_UPSTREAM_URL": g.url(), "GUIDON_EDGE_TOKENS": g.createToken(t, "lambda", "client", "*", "development"),
					"GUIDON_EDGE_PORT": freePort(t), "GUIDON_EDGE_FEATURES_REFRESH_INTERVAL_SECONDS": "1ms",
					"GUIDON_EDGE_EXTENSION_START_TIMEOUT": "20s", "GUIDON_EDGE_EXTENSION_REFRESH_TIMEOUT": "20s", // for busy machines
				},
			}
			t.Cleanup(f.Stop)
			expectFlag(t, f, `{"flag":"new-checkout","on":true}`)
			g.do(t, http.StatusOK, "POST", development+"/off", nil, nil)
			if _, err := f.Invoke(t.Context(), []byte(invocation)); err != nil { // with either state: Edge asks for the other one beside it
				t.Fatal(err)
			}
			expectFlag(t, f, `{"flag":"new-checkout","on":false}`)
			g.stop(t)
			expectFlag(t, f, `{"flag":"new-checkout","on":false}`)
		})
	}
}

const invocation = `{"flag": "new-checkout", "userId": "7"}`

// expectFlag invokes a function, and compares the response.
func expectFlag(t *testing.T, f *runtimeapi.Function, want string) {
	t.Helper()
	answer, err := f.Invoke(t.Context(), []byte(invocation))
	if err != nil {
		t.Fatal(err)
	}
	var values any
	if err := json.Unmarshal(answer, &values); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(values); err != nil || string(got) != want {
		t.Errorf("the function responds with %s, want %s", got, want)
	}
}

// buildProgram builds a program in a folder, and returns its path.
func buildProgram(t *testing.T, dir, name, program string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-o", out, program)
	cmd.Dir = dir
	if printed, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, printed)
	}
	return out
}
