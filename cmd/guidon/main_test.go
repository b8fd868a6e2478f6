package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"guidon/internal/child"
)

const adminToken = "*:*.unleash-insecure-admin-api-token"

// serverURL is the address of a real server, which runs for all tests of this package.
var serverURL string

// TestMain runs the command itself if a test has started it as a process.
func TestMain(m *testing.M) {
	if os.Getenv("GUIDON_TEST_COMMAND") != "" {
		main()
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	data, err := os.MkdirTemp("", "guidon-cmd-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(data) }()
	server, err := startServer(data)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the tests need a server:", err)
		return 1
	}
	defer server.Kill()
	serverURL = server.url
	return m.Run()
}

// A serverProcess is `guidon serve` as a process.
type serverProcess struct {
	*child.Process
	url string
}

var addressLine = regexp.MustCompile(`address +(http://\S+)`)

func startServer(data string) (*serverProcess, error) {
	cmd := exec.Command(os.Args[0], "serve", "--port", "0", "--data-dir", data)
	cmd.Env = append(os.Environ(), "GUIDON_TEST_COMMAND=1", "AWS_ENDPOINT_URL_DYNAMODB=", "AUTH_TYPE=", "LOG_LEVEL=error", "PORT=1")
	p, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	s := &serverProcess{Process: p}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	err = p.Await(ctx, func(context.Context) error {
		found := addressLine.FindStringSubmatch(p.Output.String())
		if found == nil {
			return errors.New("it has not printed its address")
		}
		s.url = found[1]
		return nil
	})
	if err != nil {
		p.Kill()
	}
	return s, err
}

// A result is what a command line has done.
type result struct {
	code          int
	out, messages string
}

// guidon runs a command line with the server and its admin token in the environment; settings override them.
func guidon(t *testing.T, line string, settings ...string) result {
	t.Helper()
	return guidonWithInput(t, "", strings.Fields(line), settings...)
}

func guidonWithInput(t *testing.T, input string, args []string, settings ...string) result {
	t.Helper()
	env := map[string]string{"GUIDON_URL": serverURL, "GUIDON_TOKEN": adminToken}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		env[name] = value
	}
	var out, messages bytes.Buffer
	code := run(t.Context(), func() {}, args, func(name string) string { return env[name] }, strings.NewReader(input), &out, &messages)
	return result{code, out.String(), messages.String()}
}

// must runs a command line that must succeed, and returns its output.
func must(t *testing.T, line string, settings ...string) string {
	t.Helper()
	r := guidon(t, line, settings...)
	if r.code != exitOK {
		t.Fatalf("guidon %s: exit code %d\n%s%s", line, r.code, r.out, r.messages)
	}
	return r.out
}

// decode runs a command line with JSON output.
func decode[T any](t *testing.T, line string) T {
	t.Helper()
	var value T
	out := must(t, line+" --output json")
	if err := json.Unmarshal([]byte(out), &value); err != nil {
		t.Fatalf("guidon %s: %v\n%s", line, err, out)
	}
	return value
}

// create posts an object to the admin API.
func create(t *testing.T, path, body string) {
	t.Helper()
	send(t, http.MethodPost, path, body)
}

// send sends a change that must succeed.
func send(t *testing.T, method, path, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, serverURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", adminToken)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, path, response.Status)
	}
}

func createFlag(t *testing.T, project, name string) {
	t.Helper()
	create(t, "/api/admin/projects/"+project+"/features", `{"name":"`+name+`","description":"a description"}`)
}

func TestExitCodes(t *testing.T) {
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	t.Cleanup(busy.Close)
	for _, tt := range []struct {
		name, line string
		settings   []string
		code       int
		message    string
	}{
		{"success", "flag list", nil, exitOK, ""},
		{"help", "--help", nil, exitOK, ""},
		{"no command", "", nil, exitOK, ""},
		{"a group without a command", "token", nil, exitOK, ""},
		{"an unknown command", "flags", nil, exitUsage, `unknown command "flags" for "guidon"; see guidon --help`},
		{"the version as a flag", "--version", nil, exitOK, ""},
		{"an unknown subcommand", "flag toggle", nil, exitUsage, `unknown command "toggle" for "guidon flag"; see guidon flag --help`},
		{"an unknown flag", "flag list --all", nil, exitUsage, "unknown flag: --all; see guidon flag list --help"},
		{"a missing argument", "flag show", nil, exitUsage, "accepts 1 arg(s), received 0"},
		{"a missing environment", "flag on x", nil, exitUsage, "--environment is required"},
		{"an unknown format", "flag list --output yaml", nil, exitUsage, "--output must be table or json"},
		{"a malformed address", "flag list --url flags.example.com", nil, exitUsage, "--url or GUIDON_URL"},
		{"no such flag", "flag show nosuch", nil, exitRefused, "the server answers 404 to GET /api/admin/projects/default/features/nosuch"},
		{"no such project", "flag list --project nosuch", nil, exitRefused, "answers 404"},
		{"no such environment", "flag on nosuch --environment nosuch", nil, exitRefused, "answers 404"},
		{"no token", "flag list", []string{"GUIDON_TOKEN="}, exitRefused, "no token: set GUIDON_TOKEN or use --token"},
		{"a wrong token", "flag list --token *:*.wrong", nil, exitRefused, "check the token"},
		{"no server", "flag list --url http://127.0.0.1:1", nil, exitUnavailable, "the server cannot be reached at http://127.0.0.1:1"},
		{"a failing server", "flag list", []string{"GUIDON_URL=" + busy.URL}, exitUnavailable, "answers 500"},
		{"a missing file", "import nosuch.json --environment development", nil, exitFailed, "nosuch.json"},
		{"no such token", "token delete nosuch", nil, exitFailed, "no token has the name or id nosuch"},
		{"migrate without addresses", "migrate", nil, exitUsage, "--from and --to are required"},
		{"setup without a database", "setup", nil, exitUsage, "AWS_ENDPOINT_URL_DYNAMODB"},
		{"serve with a wrong setting", "serve", []string{"PORT=http"}, exitUsage, `PORT is "http"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := guidon(t, tt.line, tt.settings...)
			if r.code != tt.code || !strings.Contains(r.messages, tt.message) {
				t.Errorf("exit code %d, want %d; message %q, want %q", r.code, tt.code, r.messages, tt.message)
			}
			if tt.code != exitOK && (r.out != "" || strings.Count(r.messages, "\n") != 1 || !strings.HasPrefix(r.messages, "guidon: ")) {
				t.Errorf("printed %q and the message %q, want one line", r.out, r.messages)
			}
			if strings.Contains(r.messages+r.out, "wrong\"") || strings.Contains(r.messages, adminToken) {
				t.Errorf("the output has a token: %s%s", r.out, r.messages)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	asked := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-asked
		stop()
	}()
	var out, messages bytes.Buffer
	code := run(ctx, func() {}, []string{"flag", "list", "--url", slow.URL}, func(string) string { return "" }, strings.NewReader(""), &out, &messages)
	if code != exitInterrupted || !strings.Contains(messages.String(), "interrupted") {
		t.Errorf("exit code %d and %q, want %d", code, &messages, exitInterrupted)
	}
}

// TestServeOutsideRepository runs the server where there is no template.yaml.
func TestServeOutsideRepository(t *testing.T) {
	engines := os.Getenv("GUIDON_LOCAL")
	if engines == "" {
		root, err := exec.Command("go", "env", "GOMOD").Output()
		if err != nil {
			t.Fatal(err)
		}
		engines = strings.TrimSuffix(strings.TrimSpace(string(root)), "go.mod") + ".local"
	}
	t.Setenv("GUIDON_LOCAL", engines) // or it would download the engine again
	t.Chdir(t.TempDir())
	s, err := startServer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Kill()
	must(t, "flag list", "GUIDON_URL="+s.url)
}

// TestBrowser opens the addresses that people try first: the console, and the API documentation.
func TestBrowser(t *testing.T) {
	for path, want := range map[string]string{"/": "/", "/docs": "/docs", "/docs/": "/docs"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, serverURL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK || response.Request.URL.Path != want || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %s, %s at %s, want the page at %s", path, response.Status, response.Header.Get("Content-Type"), response.Request.URL, want)
		}
	}
}

func TestVersion(t *testing.T) {
	if out := must(t, "version"); !regexp.MustCompile(`^guidon \d+\.\d+\.\d+\S* \(go`).MatchString(out) {
		t.Errorf("it prints %q", out)
	}
	if v := decode[map[string]string](t, "version"); v["version"] == "" || v["go"] != runtime.Version() {
		t.Errorf("the JSON is %v", v)
	}
}

func TestCompletion(t *testing.T) {
	for shell, want := range map[string]string{
		"bash": "__start_guidon", "zsh": "#compdef guidon", "fish": "complete -c guidon", "powershell": "Register-ArgumentCompleter",
	} {
		if out := must(t, "completion "+shell); !strings.Contains(out, want) {
			t.Errorf("the completion for %s has no %q", shell, want)
		}
	}
	createFlag(t, "default", "completed")
	for line, want := range map[string]string{
		"__complete flag":                                "off",
		"__complete flag on --output":                    "json",
		"__complete flag show comp":                      "completed",
		"__complete flag on completed --environment dev": "development",
		"__complete token create x --type f":             "frontend",
		"__complete export comp":                         "completed",
	} {
		args := strings.Fields(line)
		if strings.HasSuffix(line, "flag") || strings.HasSuffix(line, "--output") {
			args = append(args, "")
		}
		if r := guidonWithInput(t, "", args); r.code != exitOK || !strings.Contains(r.out, want) {
			t.Errorf("%s: exit code %d, %q, want %q", line, r.code, r.out, want)
		}
	}
	if r := guidon(t, "__complete flag show comp", "GUIDON_URL=http://127.0.0.1:1"); r.code != exitOK || strings.Contains(r.out, "completed") {
		t.Errorf("without a server: exit code %d, %q, want no names and no error", r.code, r.out)
	}
}
