//go:build clients

package e2e

import (
	"context"
	"io"
	"net"
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

// TestConnectPages runs the programs of docs/how-to/sdks.md word for word, with other tokens and the URL of Guidon, and then that
// of Guidon Edge. Each prints the same.
func TestConnectPages(t *testing.T) {
	g := start(t)
	programs := snippets(t, g)
	edge := startGuidonEdge(t, g)
	for _, s := range programs {
		run := func(t *testing.T, program string) {
			t.Helper()
			var got string
			if s.inBrowser {
				got = startPage(t, program).open(t, "127.0.0.1")
			} else {
				got = printed(t, s.language, program, s.token)
			}
			if got != shownBySnippets {
				t.Errorf("it printed %q, want %q", got, shownBySnippets)
			}
		}
		t.Run(s.name, func(t *testing.T) { run(t, s.program) })
		t.Run(s.name+", Guidon Edge", func(t *testing.T) { run(t, strings.ReplaceAll(s.program, address(g.port), address(edge.port))) })
		if predecessor := withEarlierGo(s.program); predecessor != s.program {
			t.Run(s.name+", version 4", func(t *testing.T) { run(t, predecessor) })
		}
	}
}

// TestReadmeProgram runs the program of the README after the session there, which creates its flag. It prints the same with Guidon Edge.
func TestReadmeProgram(t *testing.T) {
	g := start(t)
	followGuide(t, filepath.Join(root, "README.md"), g.port)
	program := regexp.MustCompile("(?ms)^```js\n(.*?)^```$").FindStringSubmatch(readRoot(t, "README.md"))
	if program == nil {
		t.Fatal("the README has no program in JavaScript")
	}
	for _, port := range []string{g.port, startGuidonEdge(t, g).port} {
		if got := printed(t, "js", strings.ReplaceAll(program[1], "127.0.0.1:4242", address(port))); got != "true" {
			t.Errorf("it printed %q, want true", got)
		}
	}
}

// TestFrontendOrigins checks that a browser lets pages read flags from the origin that is set, and from no other, of Guidon and of Guidon
// Edge. The page has two: its host has two names.
func TestFrontendOrigins(t *testing.T) {
	g := start(t)
	for _, s := range snippets(t, g) {
		if !s.inBrowser {
			continue
		}
		open := func(t *testing.T, p *loggedPage) {
			t.Helper()
			if got := p.open(t, "127.0.0.1"); got != shownBySnippets {
				t.Errorf("the page of the origin that is set logged %q, want %q", got, shownBySnippets)
			}
			if got := p.open(t, "localhost"); strings.Contains(got, "Welcome back") {
				t.Errorf("the page of another origin logged %q, want an error", got)
			}
		}
		t.Run(s.name, func(t *testing.T) {
			p := startPage(t, s.program)
			g.stop(t)
			g = startOn(t, g.port, g.data, "FRONTEND_ORIGINS=http://"+address(p.port))
			open(t, p)
			port := freePort(t)
			p = startPage(t, strings.ReplaceAll(s.program, address(g.port), address(port)))
			startGuidonEdgeOn(t, g, port, "CORS_ORIGIN=http://"+address(p.port))
			open(t, p)
		})
	}
}

// A snippetProgram is a program of the page, for a server and its tokens.
type snippetProgram struct {
	name, language, program string
	inBrowser               bool
	token                   string // a variable for the programs that are not in a browser
}

// shownBySnippets is what every program prints.
const shownBySnippets = "true Welcome back"

// snippets runs the commands of the page, which create the flag, and returns their programs.
func snippets(t *testing.T, g *gateway) (programs []snippetProgram) {
	t.Helper()
	const placeholder = "default:development.your-frontend-token"
	fill := strings.NewReplacer("127.0.0.1:4242", address(g.port), placeholder, sdkToken(t, g, "", "frontend"))
	token := "CLIENT_TOKEN=" + sdkToken(t, g, "", "client")
	const page = "docs/how-to/sdks.md"
	followGuide(t, filepath.Join(root, page), g.port)
	for _, m := range snippet.FindAllStringSubmatch(readRoot(t, page), -1) {
		programs = append(programs, snippetProgram{m[1], m[2], fill.Replace(m[3]), strings.Contains(m[3], placeholder), token})
	}
	if len(programs) != 7 {
		t.Fatalf("the page has %d programs, want 7", len(programs))
	}
	return programs
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

// A loggedPage is a page with a program, and collects what that logs.
type loggedPage struct {
	port  string
	lines chan string
}

func startPage(t *testing.T, program string) *loggedPage {
	t.Helper()
	p := &loggedPage{lines: make(chan string, 100)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /log", func(_ http.ResponseWriter, r *http.Request) {
		line, _ := io.ReadAll(r.Body)
		select {
		case p.lines <- string(line):
		default: // the first ones are enough
		}
	})
	p.port = servePage(t, mux, `<script>
		const log = (...words) => fetch('/log', { method: 'POST', body: words.join(' ') });
		Object.assign(console, { log, warn: log, error: log });
		addEventListener('error', (event) => log(event.message));
		addEventListener('unhandledrejection', (event) => log(event.reason));
	</script>`, program)
	return p
}

// open opens the page in Chromium, by one of the names of its host, and returns the first line that it logs.
func (p *loggedPage) open(t *testing.T, host string) string {
	t.Helper()
	browser := browse(t, "http://"+net.JoinHostPort(host, p.port))
	defer func() {
		browser.signal(t, os.Kill)
		browser.wait(t)
		for len(p.lines) > 0 { // not for the next browser
			<-p.lines
		}
	}()
	select {
	case line := <-p.lines:
		return line
	case <-time.After(time.Minute):
		t.Fatal("the page logged nothing in a minute")
		return ""
	}
}
