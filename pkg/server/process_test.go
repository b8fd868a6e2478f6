package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"guidon/internal/child"
	"guidon/internal/engine"
	"guidon/pkg/access"
	"guidon/pkg/bootstrap"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestMain runs the server itself in a process that a test has started.
func TestMain(m *testing.M) {
	if os.Getenv("GUIDON_TEST_RUN") != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		if err := Serve(ctx, os.Getenv, stop); err != nil {
			fmt.Fprintln(os.Stderr, "guidon:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A started gateway runs in its own process, as with `make run`.
type started struct {
	cmd  *exec.Cmd
	out  *child.Output
	url  string
	done chan error
}

// greeting matches the whole greeting: the process may print it in pieces.
var greeting = regexp.MustCompile(`(?s)address +(http://\S+).*Try:[^\n]*\n`)

// launch starts a gateway and returns when it has printed its greeting or has ended.
func launch(t *testing.T, env ...string) *started {
	t.Helper()
	s := &started{cmd: exec.Command(os.Args[0]), out: &child.Output{}, done: make(chan error, 1)}
	s.cmd.Env = append(os.Environ(), "GUIDON_TEST_RUN=1", "AWS_ENDPOINT_URL_DYNAMODB=", "AUTH_TYPE=", "LOG_LEVEL=warn")
	s.cmd.Env = append(s.cmd.Env, env...)
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.done <- s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		s.wait(t)
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if found := greeting.FindStringSubmatch(s.out.String()); found != nil {
			s.url = found[1]
			return s
		}
		select {
		case err := <-s.done:
			s.done <- err
			return s
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("the gateway does not start:\n%s", s.out)
		}
	}
}

// wait waits for the end of the gateway and returns its exit code.
func (s *started) wait(t *testing.T) int {
	t.Helper()
	select {
	case err := <-s.done:
		s.done <- err
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		t.Fatalf("the gateway does not end:\n%s", s.out)
		return -1
	}
}

func (s *started) call(t *testing.T, method, path, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.out)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}

func (s *started) wants(t *testing.T, want int, method, path, token, body string) string {
	t.Helper()
	status, answer := s.call(t, method, path, token, body)
	if status != want {
		t.Errorf("%s %s: %d, want %d: %s", method, path, status, want, answer)
	}
	return answer
}

const (
	adminToken = bootstrap.LocalAdminToken
	features   = "/api/admin/projects/default/features"
)

// TestRestart interrupts and kills a gateway and starts it again: the data is kept.
func TestRestart(t *testing.T) {
	data := "DATA_DIR=" + t.TempDir()
	first := launch(t, data, "PORT=0")
	if first.url == "" {
		t.Fatalf("it ended:\n%s", first.out)
	}
	for _, says := range []string{adminToken, "curl", first.url + features} {
		if !strings.Contains(first.out.String(), says) {
			t.Errorf("it does not print %q:\n%s", says, first.out)
		}
	}
	if got := first.wants(t, http.StatusOK, "GET", "/health", "", ""); got != `{"health":"GOOD"}` {
		t.Errorf("health is %s", got)
	}
	first.wants(t, http.StatusCreated, "POST", features, adminToken, `{"name":"kept"}`)
	first.wants(t, http.StatusUnauthorized, "GET", features, "*:*.other", "")

	if runtime.GOOS != "windows" {
		_ = first.cmd.Process.Signal(syscall.SIGINT)
		if code := first.wait(t); code != 0 {
			t.Errorf("Ctrl-C: exit code %d\n%s", code, first.out)
		}
	}
	second := launch(t, data, "PORT=0")
	second.wants(t, http.StatusOK, "GET", features+"/kept", adminToken, "")
	second.wants(t, http.StatusCreated, "POST", features, adminToken, `{"name":"kept-too"}`)
	_ = second.cmd.Process.Kill()
	second.wait(t)

	third := launch(t, data, "PORT=0")
	third.wants(t, http.StatusOK, "GET", features+"/kept", adminToken, "")
	third.wants(t, http.StatusOK, "GET", features+"/kept-too", adminToken, "")
}

// TestKilledAtAnyMoment kills gateways at increasing times during their start. The next start must work.
func TestKilledAtAnyMoment(t *testing.T) {
	data := t.TempDir()
	for after := time.Duration(0); after < 300*time.Millisecond; after += 15 * time.Millisecond {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "GUIDON_TEST_RUN=1", "AWS_ENDPOINT_URL_DYNAMODB=", "AUTH_TYPE=", "DATA_DIR="+data, "PORT=0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	s := launch(t, "DATA_DIR="+data, "PORT=0")
	if s.url == "" {
		t.Fatalf("it ended:\n%s", s.out)
	}
	s.wants(t, http.StatusCreated, "POST", features, adminToken, `{"name":"x"}`)
}

// TestInFlight checks that a request in progress is answered when the gateway is stopped.
func TestInFlight(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	s := launch(t, "DATA_DIR="+t.TempDir(), "PORT=0")
	reader, writer := io.Pipe()
	req, err := http.NewRequest(http.MethodPost, s.url+features, reader)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", adminToken)
	req.Header.Set("Content-Type", "application/json")
	go func() {
		_, _ = io.WriteString(writer, `{"name":`)
		time.Sleep(100 * time.Millisecond)
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		time.Sleep(300 * time.Millisecond)
		_, _ = io.WriteString(writer, `"in-flight"}`)
		_ = writer.Close()
	}()
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Errorf("status is %d, want 201", response.StatusCode)
	}
	if code := s.wait(t); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, s.out)
	}
}

func TestBusy(t *testing.T) {
	data := t.TempDir()
	first := launch(t, "DATA_DIR="+data, "PORT=0")
	_, port, _ := strings.Cut(strings.TrimPrefix(first.url, "http://"), ":")

	for _, tt := range []struct {
		name, says string
		env        []string
	}{
		{"the same port", "port " + port + " is in use", []string{"DATA_DIR=" + data, "PORT=" + port}},
		{"the same data", "is in use by process", []string{"DATA_DIR=" + data, "PORT=0"}},
		{"no port", "PORT is", []string{"PORT=http"}},
		{"a malformed token", "INIT_ADMIN_API_TOKENS", []string{"DATA_DIR=" + data, "PORT=0", "INIT_ADMIN_API_TOKENS=x"}},
		{"every origin", "* is not allowed", []string{"DATA_DIR=" + data, "PORT=0", "CORS_ORIGINS=*"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			second := launch(t, tt.env...)
			if code := second.wait(t); code != 1 || !strings.Contains(second.out.String(), tt.says) {
				t.Errorf("exit code %d, want 1, and %q in:\n%s", code, tt.says, second.out)
			}
		})
	}
	first.wants(t, http.StatusCreated, "POST", features, adminToken, `{"name":"unharmed"}`)
}

// TestInitCWD starts the server as npm run does, which sets a variable that begins like those of tokens.
func TestInitCWD(t *testing.T) {
	s := launch(t, "DATA_DIR="+t.TempDir(), "PORT=0", "INIT_CWD=/tmp")
	s.wants(t, http.StatusOK, "GET", features, adminToken, "")
	if strings.Contains(s.out.String(), "INIT_CWD") {
		t.Errorf("it warns of INIT_CWD:\n%s", s.out)
	}
}

func TestTokens(t *testing.T) {
	s := launch(t, "DATA_DIR="+t.TempDir(), "PORT=0",
		"INIT_ADMIN_API_TOKENS=*:*.a, *:*.b", "INIT_CLIENT_API_TOKENS=default:development.c", "INIT_FRONTEND_API_TOKENS=*:production.d")
	for token, want := range map[string]int{
		"": 401, adminToken: 401, "*:*.a": 200, "Bearer *:*.b": 200, "default:development.c": 403, "*:production.d": 403,
	} {
		s.wants(t, want, "GET", features, token, "")
	}
}

// TestBackendTokens starts the server with the settings of a compose file for Unleash 7.
func TestBackendTokens(t *testing.T) {
	s := launch(t, "DATA_DIR="+t.TempDir(), "PORT=0", "INIT_BACKEND_API_TOKENS=*:development.backend", "INIT_CLIENT_API_TOKENS=*:development.client",
		"DATABASE_PORT=5432", "DATABASE_HOST=db", "UNLEASH_URL=https://flags.example.com", "UNLEASH_SOMETHING_NEW=1", "CHECK_VERSION=")
	for token, want := range map[string]int{adminToken: 401, "*:development.backend": 200, "*:development.client": 200} {
		s.wants(t, want, "GET", "/api/client/features", token, "")
	}
	if got := s.wants(t, 200, "POST", "/edge/validate", "", `{"tokens":["*:development.backend"]}`); !strings.Contains(got, `"type":"client"`) {
		t.Errorf("/edge/validate returns %s, want client, the only name that every Edge knows", got)
	}
	for _, want := range []string{
		"set by INIT_BACKEND_API_TOKENS", "guidon: warning: DATABASE_HOST, DATABASE_PORT are settings of Unleash that Guidon does not have",
		"guidon: warning: UNLEASH_URL is a setting of Unleash that Guidon does not have: use PUBLIC_URL", "warning: UNLEASH_SOMETHING_NEW is",
	} {
		if !strings.Contains(s.out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, s.out)
		}
	}
	if strings.Contains(s.out.String(), "CHECK_VERSION") {
		t.Errorf("it warns of an empty setting:\n%s", s.out)
	}
}

// TestUnknownInitTokens checks that a list of tokens that Guidon does not know does not make the default admin token valid.
func TestUnknownInitTokens(t *testing.T) {
	s := launch(t, "DATA_DIR="+t.TempDir(), "PORT=0", "INIT_EDGE_API_TOKENS=*:development.edge")
	s.wants(t, http.StatusUnauthorized, "GET", features, adminToken, "")
	if want := "warning: INIT_EDGE_API_TOKENS is a setting of Unleash that Guidon does not have: use INIT_ADMIN_API_TOKENS,"; !strings.Contains(s.out.String(), want) {
		t.Errorf("it lacks %q:\n%s", want, s.out)
	}
}

func TestAuthTypeNone(t *testing.T) {
	s := launch(t, "DATA_DIR="+t.TempDir(), "PORT=0", "AUTH_TYPE=none")
	s.wants(t, http.StatusCreated, "POST", features, "", `{"name":"x"}`)
}

// TestCORS sends what a browser sends for a page of another origin, first without a token.
func TestCORS(t *testing.T) {
	const page = "https://console.example.com"
	s := launch(t, "DATA_DIR="+t.TempDir(), "PORT=0", "CORS_ORIGINS="+page)
	for _, tt := range []struct {
		name, method, origin string
		status               int
		allowed              bool
	}{
		{"a preflight", "OPTIONS", page, 204, true},
		{"a preflight for another", "OPTIONS", "https://other.example.com", 204, false},
		{"a call", "GET", page, 200, true},
		{"a call for another", "GET", "https://other.example.com", 200, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			headers := "Origin: " + tt.origin + "\r\nAccess-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: authorization\r\n"
			if tt.method == "GET" {
				headers = "Origin: " + tt.origin + "\r\nAuthorization: " + adminToken + "\r\n"
			}
			response, _ := send(t, s.url, tt.method+" "+features+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+headers+"\r\n")
			got := response.Header.Get("Access-Control-Allow-Origin")
			if response.StatusCode != tt.status || (got == page) != tt.allowed || !tt.allowed && got != "" {
				t.Errorf("%s, allowed origin %q; want %d, allowed %t", response.Status, got, tt.status, tt.allowed)
			}
			if vary := strings.Join(response.Header.Values("Vary"), ","); !strings.Contains(vary, "Origin") {
				t.Errorf("Vary is %q, want Origin in it: caches must not share responses between origins", vary)
			}
		})
	}
}

// TestAnotherEngine checks that a gateway uses the engine of the test and starts none.
func TestAnotherEngine(t *testing.T) {
	e, err := engine.Start(t.Context(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	s := launch(t, "DATA_DIR="+t.TempDir()+"/unused", "PORT=0", "AWS_ENDPOINT_URL_DYNAMODB="+e.URL(), "PATH=")
	if s.url == "" {
		t.Fatalf("it ended:\n%s", s.out)
	}
	s.wants(t, http.StatusCreated, "POST", features, adminToken, `{"name":"elsewhere"}`)
	if strings.Contains(s.out.String(), "engine:") {
		t.Errorf("it started an engine:\n%s", s.out)
	}
}

// TestOddRequests sends unusual requests, and wants JSON errors.
func TestOddRequests(t *testing.T) {
	s := launch(t, "DATA_DIR="+t.TempDir(), "PORT=0")
	auth := "Host: localhost\r\nAuthorization: " + adminToken + "\r\nConnection: close\r\n"
	tests := []struct {
		name, request string
		want          int
	}{
		{"percent", "GET " + features + "/100%25 HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"question mark", "GET " + features + "/a%3Fb HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"hash", "GET " + features + "/a%23b HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"NUL", "GET " + features + "/%00 HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"not UTF-8", "GET " + features + "/%ff HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"escaped slash", "GET /api/admin/projects/default%2Ffeatures HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"escaped slash below a route", "GET " + features + "/f%2Fenvironments%2Fdevelopment HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"dots", "GET /api/../health HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"double slash", "GET //api//admin/nothing HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"slash at the end", "GET /api/admin/projects/ HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"another name of the server", "GET /health HTTP/1.1\r\nHost: attacker.example\r\nConnection: close\r\n\r\n", 403},
		{"unknown method", "PURGE " + features + " HTTP/1.1\r\n" + auth + "\r\n", 404},
		{"invalid UTF-8 in JSON", "POST " + features + " HTTP/1.1\r\n" + auth +
			"Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"name\":\"a\xff\"}\n", 400},
		{"not JSON by its type", "POST " + features + " HTTP/1.1\r\n" + auth +
			"Content-Type: text/plain\r\nContent-Length: 12\r\n\r\n{\"name\":\"a\"}", 415},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			response, body := send(t, s.url, tt.request)
			var failure struct{ ID, Name, Message string }
			err := json.Unmarshal([]byte(body), &failure)
			if response.StatusCode != tt.want || err != nil || failure.ID == "" || failure.Name == "" || failure.Message == "" {
				t.Errorf("answer is %s, %s; want %d with a JSON error", response.Status, body, tt.want)
			}
		})
	}
	response, body := send(t, s.url, fmt.Sprintf("OPTIONS %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", features))
	if response.StatusCode != http.StatusNoContent || body != "" {
		t.Errorf("preflight: %s %q, want 204", response.Status, body)
	}
}

// opened is an app in this process, with its own data and admin token.
func opened(t *testing.T, config httpapi.Config) *app {
	t.Helper()
	s := settings{
		config: config, data: t.TempDir(), table: "guidon",
		tokens: []bootstrap.Token{{
			Name: "admin", Type: access.AdminToken, Secret: bootstrap.LocalAdminToken, Projects: []string{flags.All}, Environment: flags.All,
		}},
	}
	s.keyFile = filepath.Join(s.data, "token.key")
	a, err := open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	return a
}
