//go:build sam || release

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
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

// invoke sends an event to a function of the server, which runs it as a process.
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

// checkReports checks the log of a server that has ended: every function has run, as one process, and says what it took.
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
