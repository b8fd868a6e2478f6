//go:build clients

package e2e

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// snippet matches a heading of a page, and a program below it.
var snippet = regexp.MustCompile("(?ms)^### ([^\n]+)\n.*?^```(js|python|go)\n(.*?)^```$")

// TestConnectPage runs the programs of docs/how-to/sdks.md word for word, with other tokens and another port. Each prints the same.
func TestConnectPage(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "docs", "how-to", "sdks.md"))
	if err != nil {
		t.Fatal(err)
	}
	g := start(t)
	createBanner(t, g)
	clientToken, frontendToken := sdkToken(t, g, "client"), sdkToken(t, g, "frontend")
	found := snippet.FindAllStringSubmatch(string(raw), -1)
	if len(found) != 7 {
		t.Fatalf("the page has %d programs, want 7", len(found))
	}
	for _, m := range found {
		name, language := m[1], m[2]
		program := strings.NewReplacer("127.0.0.1:4242", address(g.port), "default:development.your-frontend-token", frontendToken).Replace(m[3])
		run := func(t *testing.T, program string) {
			t.Helper()
			const want = "true Welcome back"
			var got string
			if strings.Contains(program, frontendToken) {
				got = logOfPage(t, program)
			} else {
				got = printed(t, language, program, "CLIENT_TOKEN="+clientToken)
			}
			if got != want {
				t.Errorf("it printed %q, want %q", got, want)
			}
		}
		t.Run(name, func(t *testing.T) { run(t, program) })
		if predecessor := strings.ReplaceAll(program, "unleash-go-sdk/v5", "unleash-client-go/v4"); predecessor != program {
			t.Run(name+", version 4", func(t *testing.T) { run(t, predecessor) })
		}
	}
}

// createBanner runs the commands of the page, which create the flag.
func createBanner(t *testing.T, g *gateway) {
	t.Helper()
	followGuide(t, filepath.Join(root, "docs", "how-to", "sdks.md"), g.port)
}

// printed returns what a program prints.
func printed(t *testing.T, language, program string, env ...string) string {
	t.Helper()
	dir := nodeFolder(t)
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var cmd *exec.Cmd
	switch language {
	case "js":
		write("main.mjs", program)
		cmd = exec.CommandContext(ctx, "node", "main.mjs")
	case "python":
		write("main.py", program)
		cmd = exec.CommandContext(ctx, tool(t, "CLIENTS_PYTHON"), "main.py")
	case "go":
		for _, name := range []string{"go.mod", "go.sum"} {
			raw, err := os.ReadFile(filepath.Join(root, "internal", "clients", "go", name))
			if err != nil {
				t.Fatal(err)
			}
			write(name, string(raw))
		}
		write("main.go", program)
		cmd = exec.CommandContext(ctx, "go", "run", ".")
	}
	cmd.Dir, cmd.Env = dir, clientEnvironment(t, env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v; it printed\n%s%s", err, out, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// logOfPage returns the first line that a program logs in Chromium.
func logOfPage(t *testing.T, program string) string {
	t.Helper()
	lines := make(chan string, 100)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /log", func(_ http.ResponseWriter, r *http.Request) {
		line, _ := io.ReadAll(r.Body)
		select {
		case lines <- string(line):
		default: // the first is enough
		}
	})
	mux.HandleFunc("GET /main.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, program)
	})
	openPage(t, mux, `<script>
		const log = (...words) => fetch('/log', { method: 'POST', body: words.join(' ') });
		Object.assign(console, { log, warn: log, error: log });
		addEventListener('error', (event) => log(event.message));
		addEventListener('unhandledrejection', (event) => log(event.reason));
	</script><script type="module" src="/main.js"></script>`)
	select {
	case line := <-lines:
		return line
	case <-time.After(time.Minute):
		t.Fatal("the page logged nothing in a minute")
		return ""
	}
}
