//go:build sam

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"guidon/internal/samples"
)

// The tests of `make test-sam`, which builds the binaries of the functions. They run over the Runtime API of Lambda.

// TestProcesses runs the built functions as processes. It needs Linux.
func TestProcesses(t *testing.T) {
	g := start(t, "FUNCTIONS="+os.Getenv("FUNCTIONS"))
	t.Run("quick start", func(t *testing.T) { takeQuickStart(t, g) })
	t.Run("walk", func(t *testing.T) { takeWalk(t, g) })
	t.Run("walk of an application", func(t *testing.T) { takeApplicationsWalk(t, g) })
	t.Run("console", func(t *testing.T) { checkConsole(t, g) })
	t.Run("preflight", func(t *testing.T) { checkPreflight(t, g) })
	t.Run("samples", func(t *testing.T) {
		checkSamples(t, func(t *testing.T, function, event string) []byte {
			t.Helper()
			raw, err := os.ReadFile(event)
			if err != nil {
				t.Fatal(err)
			}
			status, answer, err := g.send(t.Context(), "POST", "/2015-03-31/functions/"+function+"/invocations", string(raw))
			if err != nil || status != 200 {
				t.Fatalf("%d %s, %v; want 200", status, answer, err)
			}
			return answer
		})
	})
	// Every function has run, as one process, and says what it took.
	g.stop(t)
	for _, sample := range samples.Samples {
		if want := "REPORT " + logicalID(sample.Group) + ": "; !strings.Contains(g.stderr.String(), want) {
			t.Errorf("%s was not called", logicalID(sample.Group))
		}
	}
}

// TestSAMLocal runs the functions in the containers of sam local, as make sam-local does. SAM is the path of the SAM CLI.
func TestSAMLocal(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "samlocal")
	build := exec.Command("go", "build", "-o", program, "./internal/samlocal")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	sam, work, port := os.Getenv("SAM"), filepath.Join(dir, "work"), freePort(t)
	cmd := exec.Command(program, "-dir", work, "-sam", sam, "-guidon", binary)
	cmd.Dir = root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), "PORT="+port)
	g := serving(t, follow(t, cmd, nil), port, work, nil)

	t.Run("quick start", func(t *testing.T) { takeQuickStart(t, g) })
	t.Run("walk", func(t *testing.T) { takeWalk(t, g) })
	t.Run("walk of an application", func(t *testing.T) { takeApplicationsWalk(t, g) })
	t.Run("console", func(t *testing.T) { checkConsole(t, g) })
	t.Run("samples", func(t *testing.T) {
		checkSamples(t, func(t *testing.T, function, event string) []byte {
			t.Helper()
			cmd := exec.Command(sam, "local", "invoke", function, "--event", event, "--config-file", filepath.Join(work, "samconfig.toml"))
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "SAM_CLI_TELEMETRY=0")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			answer, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v; it printed\n%s%s", err, answer, &stderr)
			}
			return answer
		})
	})
	g.stop(t)
	for _, list := range [][]string{
		{"ps", "--all", "--quiet", "--filter", "network=guidon-sam-local-" + port},
		{"ps", "--all", "--quiet", "--filter", "name=guidon-sam-local-" + port},
		{"network", "ls", "--quiet", "--filter", "name=guidon-sam-local-" + port},
	} {
		if left, err := exec.Command("docker", list...).Output(); err != nil || len(left) > 0 {
			t.Errorf("docker %s: %s, %v; want nothing left", strings.Join(list, " "), left, err)
		}
	}
}

// checkSamples sends every function its event of internal/samples. The first one creates the flag that others use.
func checkSamples(t *testing.T, invoke func(t *testing.T, function, event string) []byte) {
	t.Helper()
	for i, sample := range samples.Samples {
		t.Run(sample.Group, func(t *testing.T) {
			if i > 0 {
				t.Parallel()
			}
			answer := invoke(t, logicalID(sample.Group), filepath.Join(root, "internal", "samples", sample.Group+".json"))
			if sample.Status == 0 {
				if !strings.Contains(string(answer), sample.Answer) {
					t.Errorf("the answer is %s, want %q in it", answer, sample.Answer)
				}
				return
			}
			var got struct {
				StatusCode int    `json:"statusCode"`
				Body       string `json:"body"`
			}
			if err := json.Unmarshal(answer, &got); err != nil || got.StatusCode != sample.Status {
				t.Errorf("the answer is %s, %v; want status %d", answer, err, sample.Status)
			}
		})
	}
}

// logicalID returns the name of a function in template.yaml.
func logicalID(group string) string { return strings.ToUpper(group[:1]) + group[1:] + "Function" }
