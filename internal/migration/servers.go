package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"guidon/internal/adminapi"
	"guidon/internal/child"
	"guidon/internal/engine"
)

const (
	unleashVersion = "5.12.8"
	adminToken     = "*:*.migration-admin-token"

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

// serve starts a server and waits until it serves.
func (t *test) serve(ctx context.Context, name, port string, cmd *exec.Cmd) (*server, error) {
	client, err := adminapi.New(name, "http://127.0.0.1:"+port, adminToken)
	if err != nil {
		return nil, err
	}
	client.Attempts = 1
	p, err := t.start(cmd)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return &server{client, p}, p.Await(ctx, func(ctx context.Context) error { return client.Get(ctx, "/api/admin/projects", nil) })
}

// guidon starts a Guidon without data.
func (t *test) guidon(ctx context.Context, name string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(t.guidonPath, "serve")
	cmd.Dir = t.root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), "PORT="+port, "DATA_DIR="+filepath.Join(t.folder, name), "INIT_ADMIN_API_TOKENS="+adminToken)
	return t.serve(ctx, "Guidon "+name, port, cmd)
}

// isSetting reports whether Guidon reads the environment variable.
func isSetting(variable string) bool {
	return slices.ContainsFunc([]string{"DATA_DIR=", "FUNCTIONS=", "TOKEN_KEY_FILE=", "TABLE_NAME=", "AUTH_TYPE=", "LOG_LEVEL=", "LIMIT_", "INIT_", "AWS_"},
		func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
}

// unleash starts an Unleash with an empty database.
func (t *test) unleash(ctx context.Context, database string) (*server, error) {
	dir, err := engine.NPM(ctx, "unleash-server", t.version, os.Stderr)
	if err != nil {
		return nil, err
	}
	if err := t.createDatabase(ctx, dir, database); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", filepath.Join(dir, "dist", "server.js"))
	cmd.Dir = t.folder
	cmd.Env = append(os.Environ(), "DATABASE_HOST=127.0.0.1", "DATABASE_PORT="+t.postgresPort, "DATABASE_NAME="+database,
		"DATABASE_USERNAME=postgres", "DATABASE_PASSWORD=x", "DATABASE_SSL=false", "PORT="+port, "HTTP_HOST=127.0.0.1",
		"CHECK_VERSION=false", "SEND_TELEMETRY=false", "LOG_LEVEL=warn", "INIT_ADMIN_API_TOKENS="+adminToken)
	s, err := t.serve(ctx, "Unleash "+t.version+" "+database, port, cmd)
	if err == nil {
		t.logf("%s is running", s.Name)
	}
	return s, err
}

// createDatabase uses the PostgreSQL driver of Unleash, because psql is not always installed.
func (t *test) createDatabase(ctx context.Context, unleash, name string) error {
	script := fmt.Sprintf(`const { Client } = require('pg'); const c = new Client({ host: '127.0.0.1', port: %s, user: 'postgres', database: 'postgres' });
		c.connect().then(() => c.query('create database %s')).then(() => c.end())`, t.postgresPort, name)
	for attempt := 1; ; attempt++ {
		cmd := exec.CommandContext(ctx, "node", "-e", script)
		cmd.Dir = unleash
		out, err := cmd.CombinedOutput()
		if err == nil {
			return nil
		}
		if attempt == 100 || !strings.Contains(string(out), "starting up") { // it listens before it is ready
			return fmt.Errorf("creating a database for Unleash: %w\n%s", err, out)
		}
		time.Sleep(50 * time.Millisecond)
	}
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

// freePort returns a port outside of the range of outgoing connections: these could take it before the server starts.
func freePort() (string, error) {
	for range 100 {
		port := strconv.Itoa(20000 + rand.IntN(10000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", fmt.Errorf("found no free port in 100 attempts")
}
