//go:build sam

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tests of `make test-sam`, which builds the binaries of the functions. They run over the Runtime API of Lambda.

// TestProcesses runs the built functions as processes. It needs Linux.
func TestProcesses(t *testing.T) {
	g := startFunctions(t, binary, os.Getenv("FUNCTIONS"), filepath.Join(root, "template.yaml"))
	t.Run("operations", func(t *testing.T) { checkOperations(t, g) })
	t.Run("quick start", func(t *testing.T) { takeQuickStart(t, g) })
	t.Run("walk", func(t *testing.T) { takeWalk(t, g) })
	t.Run("walk of an application", func(t *testing.T) { takeApplicationsWalk(t, g) })
	t.Run("console", func(t *testing.T) { checkConsole(t, g) })
	t.Run("preflight", func(t *testing.T) { checkPreflight(t, g) })
	t.Run("samples", func(t *testing.T) { checkSamples(t, g.invoke) })
	g.stop(t)
	checkReports(t, g)
}

// TestSAMLocal runs the functions in the containers of sam local, as make sam-local does. SAM is the path of the SAM CLI.
func TestSAMLocal(t *testing.T) {
	sam, work, port := os.Getenv("SAM"), filepath.Join(t.TempDir(), "work"), freePort(t)
	cmd := exec.Command("internal/samlocal/serve.sh")
	cmd.Dir = root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), "PORT="+port, "DIR="+work, "SAM="+sam, "GUIDON="+binary)
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
