//go:build clients

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A client is a program with an SDK, or a part of a page in a browser. It reports all its answers whenever one changes.
type client struct {
	name    string
	process *process
	stdin   io.Closer // its end ends a program
	page    *page     // of clients in the browser
}

// programs has the clients that are programs of internal/clients. startClients builds those in Go. Only Guidon Edge streams.
var programs = []struct {
	name, program, env string
}{
	{"node-streaming", "node/unleash.mjs", "MODE=streaming"},
	{"go-sdk-streaming", "go/gosdk", "MODE=streaming"},
	{"node", "node/unleash.mjs", ""},
	{"node-delta", "node/unleash.mjs", "MODE=delta"},
	{"node-ofrep", "node/ofrep.mjs", ""},
	{"nextjs", "node/next.mjs", ""},
	{"python", "python/unleash.py", ""},
	{"go-client", "go/clientgo", ""},
	{"go-sdk", "go/gosdk", ""},
	{"go-ofrep", "go/ofrep", ""},
	{javaClient, "java/Follow.java", ""},
	{"proxy", "node/proxy.mjs", ""},
	{"python-openfeature", "python/unleash.py", "MODE=openfeature"},
}

// javaClient needs Maven, so it only runs in make test-clients-more.
const javaClient = "java"

// uncounted has clients that evaluate a flag as often as they like: the components of a page when they are drawn, the proxy at each
// poll, too, and that of OpenFeature either whether a flag is on or its variant.
var uncounted = []string{"browser-react", "browser-vue", "proxy", "python-openfeature"}

// pages has the scripts of the page in the browser, and their clients.
var pages = []struct {
	script  string
	clients []string
}{
	{"unleash.js", []string{"browser", "browser-post"}},
	{"ofrep.js", []string{"browser-ofrep"}},
	{"react.js", []string{"browser-react"}},
	{"vue.js", []string{"browser-vue"}},
}

// A clientRun is what clients are started for.
type clientRun struct {
	url    string // the server that they use; "" for Guidon
	ofrep  string // that of OFREP and browsers, for which the server evaluates; "" for url
	prefix string // of their names
	flags  []clientFlag
	users  []clientUser           // nil for clientUsers
	rounds int                    // how often they evaluate each flag for each user; 0 for no end
	only   func(name string) bool // the clients to start; nil for all
}

// throughEdge is the prefix of clients that use Guidon Edge.
const throughEdge = "edge-"

// starts reports whether a client is to be started.
func (r *clientRun) starts(name string) bool {
	return isMore(name) == moreClients() && (r.only == nil || r.only(name)) && (r.prefix == throughEdge || !strings.HasSuffix(name, "-streaming"))
}

// isMore reports whether only make test-clients-more runs a client.
func isMore(name string) bool { return name == javaClient || slices.Contains(uncounted, name) }

// moreClients reports whether this is make test-clients-more.
func moreClients() bool { return os.Getenv("CLIENTS_JAVA") != "" }

// reports reports whether a client reports how often it evaluated flags. OpenFeature has no such thing.
func reports(name string) bool { return !strings.HasSuffix(name, "-ofrep") }

// counted reports whether it reports two evaluations of each flag in each round.
func counted(name string) bool { return reports(name) && !slices.Contains(uncounted, name) }

// startClients starts every client with a token of its own kind.
func startClients(t *testing.T, g *gateway, run clientRun) (clients []*client) {
	t.Helper()
	if run.users == nil {
		run.users = clientUsers
	}
	sources := filepath.Join(root, "internal", "clients")
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./...")
	build.Dir = filepath.Join(sources, "go")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build in internal/clients/go: %v\n%s", err, out)
	}
	env := []string{"TOKEN=" + sdkToken(t, g, run.prefix, "client"), "FLAGS=" + encoded(t, run.flags),
		"USERS=" + encoded(t, run.users), "ROUNDS=" + strconv.Itoa(run.rounds)}
	for _, p := range programs {
		if !run.starts(p.name) {
			continue
		}
		url := cmp.Or(run.url, g.url())
		if !reports(p.name) {
			url = cmp.Or(run.ofrep, url)
		}
		var cmd *exec.Cmd
		dir := t.TempDir()
		switch path := filepath.Join(sources, p.program); filepath.Ext(path) {
		case ".mjs":
			dir = nodeFolder(t)
			if err := os.CopyFS(dir, os.DirFS(filepath.Dir(path))); err != nil {
				t.Fatal(err)
			}
			cmd = exec.Command("node", filepath.Base(path))
		case ".py":
			cmd = exec.Command(tool(t, "CLIENTS_PYTHON"), path)
		case ".java":
			cmd = exec.Command("java", "-cp", os.Getenv("CLIENTS_JAVA"), "Follow")
		default:
			cmd = exec.Command(filepath.Join(bin, filepath.Base(path)))
		}
		cmd.Dir, cmd.Env = dir, clientEnvironment(t, append(env, "GUIDON_URL="+url, "APP_NAME="+run.prefix+p.name, p.env)...)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, &client{name: run.prefix + p.name, process: follow(t, cmd, []string{"client " + run.prefix + p.name}), stdin: stdin})
	}
	return append(clients, startBrowser(t, g, run)...)
}

// sdkToken creates a token for the development environment. The prefix makes its name unique.
func sdkToken(t *testing.T, g *gateway, prefix, kind string) string {
	t.Helper()
	return g.createToken(t, prefix+"clients-"+kind, kind, "default", "development")
}

// nodeFolder returns a new folder in which programs for Node find the SDKs.
func nodeFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(tool(t, "CLIENTS_NODE"), "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// clientEnvironment returns the variables for a client. SDKs keep a copy of the flags in the folder for temporary files, and no
// client may find that of another.
func clientEnvironment(t *testing.T, env ...string) []string {
	t.Helper()
	return append(append(os.Environ(), "TMPDIR="+t.TempDir()), env...)
}

// tool returns the path of what make has installed.
func tool(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is %q (%v): run make test-clients, which installs the SDKs", variable, path, err)
	}
	return path
}

// A page is a web page with clients, on an origin of its own.
type page struct {
	mu       sync.Mutex
	latest   map[string]string // lines by client
	messages []string
}

// startBrowser opens a page with the clients for browsers in Chromium.
func startBrowser(t *testing.T, g *gateway, run clientRun) []*client {
	t.Helper()
	p := &page{latest: map[string]string{}}
	settings := encoded(t, map[string]any{"url": cmp.Or(run.ofrep, run.url, g.url()), "token": sdkToken(t, g, run.prefix, "frontend"), "prefix": run.prefix, "flags": run.flags, "users": run.users, "rounds": run.rounds})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /settings", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, settings) })
	mux.HandleFunc("POST /answers/{client}", func(_ http.ResponseWriter, r *http.Request) {
		line, _ := io.ReadAll(r.Body) // a line that is cut is no JSON
		p.mu.Lock()
		defer p.mu.Unlock()
		p.latest[r.PathValue("client")] = string(line)
	})
	mux.HandleFunc("POST /messages", func(_ http.ResponseWriter, r *http.Request) {
		message, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.messages = append(p.messages, string(message))
	})
	var program string
	var names []string
	for _, page := range pages {
		if run.starts(page.clients[0]) {
			program += fmt.Sprintf("import %q;\n", "./"+page.script)
			names = append(names, page.clients...)
		}
	}
	if names == nil {
		return nil
	}
	process := browse(t, "http://"+address(servePage(t, mux, "", program)))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the page reported:\n%s", strings.Join(p.messages, "\n"))
		}
	})
	var clients []*client
	for _, name := range names {
		clients = append(clients, &client{name: run.prefix + name, process: process, page: p})
	}
	return clients
}

// servePage serves a page with a program for browsers, which esbuild bundles with its modules, and with more in its head. It returns
// its port. Other files of its origin come from mux.
func servePage(t *testing.T, mux *http.ServeMux, head, program string) (port string) {
	t.Helper()
	dir := nodeFolder(t)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "internal", "clients", "browser"))); err != nil {
		t.Fatal(err)
	}
	build := exec.Command(filepath.Join(dir, "node_modules", ".bin", "esbuild"), "--bundle", "--format=esm", "--define:process.env.NODE_ENV=\"production\"", "--log-level=error")
	build.Dir, build.Stdin, build.Stderr = dir, strings.NewReader(program), os.Stderr
	bundle, err := build.Output()
	if err != nil {
		t.Fatalf("esbuild: %v", err)
	}
	mux.HandleFunc("GET /main.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(bundle)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><meta charset="utf-8"><title>clients</title>`+head+`<body><script type="module" src="/main.js"></script>`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return strconv.Itoa(server.Listener.Addr().(*net.TCPAddr).Port)
}

// browse opens a page in Chromium.
func browse(t *testing.T, page string) *process {
	t.Helper()
	dir := t.TempDir()
	// The sandbox of Chromium does not work for root. /dev/shm is small in containers.
	cmd := exec.Command(chromium(t), "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--remote-debugging-port=0", "--user-data-dir="+filepath.Join(dir, "profile"), "--enable-logging=stderr", page)
	cmd.Dir = dir
	return follow(t, cmd, []string{"Chromium"})
}

// chromium returns the path of the browser.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("Chromium is missing: install it, on Debian with apt-get install chromium")
	return ""
}

// latest returns what the client reported last, or nothing.
func (c *client) latest(t *testing.T) (latest answers) {
	t.Helper()
	select {
	case <-c.process.ended:
		t.Fatalf("the client %s has ended", c.name)
	default:
	}
	var line string
	if c.page != nil {
		c.page.mu.Lock()
		defer c.page.mu.Unlock()
		line = c.page.latest[c.name]
	} else {
		lines := strings.Split(c.process.stdout.String(), "\n")
		line = lines[max(0, len(lines)-2)] // the last one is not complete
	}
	if line == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(line), &latest); err != nil {
		t.Fatalf("the client %s reported %q: %v", c.name, line, err)
	}
	return latest
}

// end ends a program, which must exit with 0.
func (c *client) end(t *testing.T) {
	t.Helper()
	if c.stdin == nil {
		return
	}
	if err := c.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if code := c.process.wait(t); code != 0 {
		t.Errorf("the client %s exited with %d", c.name, code)
	}
}

func encoded(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
