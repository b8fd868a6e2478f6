package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
	process *child.Process
}

func (s *server) stop() { s.process.Stop(syscall.SIGINT, stopTimeout) }

// start starts a process, which close stops.
func (t *test) start(cmd *exec.Cmd) (*child.Process, error) {
	p, err := child.Start(cmd)
	if err == nil {
		t.cleanup(func() { p.Stop(syscall.SIGINT, stopTimeout) })
	}
	return p, err
}

// connect waits until a server serves, and returns a client of it.
func (t *test) connect(ctx context.Context, name, url string, p *child.Process) (*server, error) {
	client, err := adminapi.New(name, url, adminToken)
	if err != nil {
		return nil, err
	}
	client.Attempts = 1
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return &server{client, p}, p.Await(ctx, func(ctx context.Context) error { return client.Get(ctx, "/api/admin/projects", nil) })
}

// guidon starts a Guidon without data.
func (t *test) guidon(ctx context.Context, name string) (*server, error) {
	port, err := unleash.FreePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(t.guidonPath, "serve")
	cmd.Dir = t.root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), "PORT="+port, "DATA_DIR="+filepath.Join(t.folder, name), "INIT_ADMIN_API_TOKENS="+adminToken)
	p, err := t.start(cmd)
	if err != nil {
		return nil, err
	}
	return t.connect(ctx, "Guidon "+name, "http://127.0.0.1:"+port, p)
}

// isSetting reports whether Guidon reads the environment variable.
func isSetting(variable string) bool {
	return slices.ContainsFunc([]string{"DATA_DIR=", "FUNCTIONS=", "TOKEN_KEY_FILE=", "TABLE_NAME=", "AUTH_TYPE=", "LOG_LEVEL=", "LIMIT_", "INIT_", "AWS_"},
		func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
}

// unleash starts an Unleash with an empty database.
func (t *test) unleash(ctx context.Context, database string) (*server, error) {
	started, err := t.postgres.Start(ctx, t.version, database, adminToken)
	if err != nil {
		return nil, err
	}
	t.cleanup(started.Stop)
	s, err := t.connect(ctx, "Unleash "+t.version+" "+database, started.URL, started.Process)
	if err == nil {
		t.logf("%s is running", s.Name)
	}
	return s, err
}

// personalToken creates a token of Unleash's first user. Unleash refuses imports with an API token.
func personalToken(ctx context.Context, s *server) (string, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	session := &http.Client{Jar: jar, Timeout: time.Minute}
	post := func(path string, body object, into any) error {
		content, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Base+path, bytes.NewReader(content))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		response, err := session.Do(r)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode >= http.StatusBadRequest {
			return fmt.Errorf("POST %s: %s", path, response.Status)
		}
		return json.NewDecoder(response.Body).Decode(into)
	}
	var created struct{ Secret string }
	if err := post("/auth/simple/login", object{"username": "admin", "password": "unleash4all"}, &struct{}{}); err != nil {
		return "", err
	}
	err = post("/api/admin/user/tokens", object{"description": "to import", "expiresAt": time.Now().Add(time.Hour)}, &created)
	return created.Secret, err
}
