//go:build sam || release

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"guidon/internal/samples"
)

// checkSamples sends every function its event of internal/samples. The first one creates the flag that others use.
func checkSamples(t *testing.T, invoke func(t *testing.T, function, event string) []byte) {
	t.Helper()
	for i, sample := range samples.Samples {
		t.Run(sample.Function, func(t *testing.T) {
			if i > 0 {
				t.Parallel()
			}
			answer := invoke(t, logicalID(sample.Function), filepath.Join(root, "internal", "samples", sample.Function+".json"))
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

// startFunctions serves built functions over the Runtime API (internal/gateway/run), with the table that a guidon creates.
func startFunctions(t *testing.T, guidon, functions, template string) *gateway {
	t.Helper()
	program := filepath.Join(t.TempDir(), "gateway")
	build := exec.Command("go", "build", "-o", program, "./internal/gateway/run")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	port, data := freePort(t), filepath.Join(t.TempDir(), "data")
	settings := []string{"PORT=" + port, "DATA_DIR=" + data}
	cmd := exec.Command(program, "-guidon", guidon, "-functions", functions, "-template", template)
	cmd.Dir = root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), settings...)
	return serving(t, follow(t, cmd, settings), port, data, nil)
}

// invoke sends an event to a function that startFunctions serves.
func (g *gateway) invoke(t *testing.T, function, event string) []byte {
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
}

// checkReports checks the log of startFunctions after its end: every function has run, as one process, and says what it took.
func checkReports(t *testing.T, g *gateway) {
	t.Helper()
	for _, sample := range samples.Samples {
		if want := "REPORT " + logicalID(sample.Function) + ": "; !strings.Contains(g.stderr.String(), want) {
			t.Errorf("%s was not called", logicalID(sample.Function))
		}
	}
}

// logicalID returns the name of a function in template.yaml.
func logicalID(group string) string { return strings.ToUpper(group[:1]) + group[1:] + "Function" }
