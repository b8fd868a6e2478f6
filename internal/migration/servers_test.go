//go:build migration

package migration

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"guidon/internal/adminapi"
	"guidon/internal/child"
	"guidon/internal/unleash"
)

const (
	adminToken = "*:*.migration-admin-token"

	startTimeout = 3 * time.Minute // the first start downloads programs
	stopTimeout  = 20 * time.Second
)

type (
	object = map[string]any
	list   = []any
)

// A server is an Unleash or a Guidon, and a client of its API.
type server struct {
	*adminapi.Client
	t       *test
	process *child.Process
}

// call sends a request, and ends the test if it fails.
func (s *server) call(method, path string, body, into any) {
	s.t.Helper()
	s.t.must(s.Call(s.t.Context(), method, path, body, into))
}

func (s *server) stop() { s.process.Stop(syscall.SIGINT, stopTimeout) }

// start starts a process, which the end of the test stops.
func (t *test) start(cmd *exec.Cmd) *child.Process {
	p, err := child.Start(cmd)
	t.must(err)
	t.Cleanup(func() { p.Stop(syscall.SIGINT, stopTimeout) })
	return p
}

// connect waits until a server serves, and returns a client of it.
func (t *test) connect(name, url string, p *child.Process) *server {
	client, err := adminapi.New(name, url, adminToken)
	t.must(err)
	client.Attempts = 1
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	t.must(p.Await(ctx, func(ctx context.Context) error { return client.Get(ctx, "/api/admin/projects", nil) }))
	t.Logf("%s is running", name)
	return &server{client, t, p}
}

// guidon starts a Guidon without data.
func (t *test) guidon(name string) *server {
	port, err := unleash.FreePort()
	t.must(err)
	cmd := exec.Command(t.guidonPath, "serve")
	cmd.Dir = t.root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), "PORT="+port, "DATA_DIR="+filepath.Join(t.folder, name), "INIT_ADMIN_API_TOKENS="+adminToken)
	return t.connect("Guidon "+name, "http://127.0.0.1:"+port, t.start(cmd))
}

// isSetting reports whether Guidon reads the environment variable.
func isSetting(variable string) bool {
	return slices.ContainsFunc([]string{"DATA_DIR=", "TOKEN_KEY_FILE=", "TABLE_NAME=", "AUTH_TYPE=", "LOG_LEVEL=", "LIMITS=", "INIT_", "AWS_"},
		func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
}

// unleash starts an Unleash with an empty database.
func (t *test) unleash(database string) *server {
	started, err := t.postgres.Start(t.Context(), t.version, database, adminToken)
	t.must(err)
	t.Cleanup(started.Stop)
	return t.connect("Unleash "+t.version+" "+database, started.URL, started.Process)
}

// personalToken creates a token of Unleash's first user. Unleash refuses imports with an API token.
func (s *server) personalToken() string {
	jar, err := cookiejar.New(nil)
	s.t.must(err)
	session := &http.Client{Jar: jar, Timeout: time.Minute}
	post := func(path string, body object, into any) {
		content, err := json.Marshal(body)
		s.t.must(err)
		response, err := session.Post(s.Base+path, "application/json", bytes.NewReader(content))
		s.t.must(err)
		defer response.Body.Close()
		if response.StatusCode >= http.StatusBadRequest {
			s.t.Fatalf("POST %s: %s", path, response.Status)
		}
		s.t.must(json.NewDecoder(response.Body).Decode(into))
	}
	var created struct{ Secret string }
	post("/auth/simple/login", object{"username": "admin", "password": "unleash4all"}, &struct{}{})
	post("/api/admin/user/tokens", object{"description": "to import", "expiresAt": time.Now().Add(time.Hour)}, &created)
	return created.Secret
}
