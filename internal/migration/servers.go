package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"guidon/internal/engine"
)

const (
	unleashVersion = "5.12.8"
	adminToken     = "*:*.migration-admin-token"
)

// unleash starts an Unleash over an empty database of that name.
func (s *stage) unleash(ctx context.Context, database string) (*client, error) {
	dir, err := engine.NPM(ctx, "unleash-server", s.version, os.Stderr)
	if err != nil {
		return nil, err
	}
	if err := s.createDatabase(ctx, dir, database); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", filepath.Join(dir, "dist", "server.js"))
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), "DATABASE_HOST=127.0.0.1", "DATABASE_PORT="+s.postgres.port, "DATABASE_NAME="+database,
		"DATABASE_USERNAME=postgres", "DATABASE_PASSWORD=x", "DATABASE_SSL=false", "PORT="+port, "HTTP_HOST=127.0.0.1",
		"CHECK_VERSION=false", "SEND_TELEMETRY=false", "LOG_LEVEL=warn", "INIT_ADMIN_API_TOKENS="+adminToken)
	p, err := s.start("Unleash "+s.version+" on "+database, cmd)
	if err != nil {
		return nil, err
	}
	c := newClient(p, port)
	if err := p.await(ctx, func(ctx context.Context) error { return c.get(ctx, "/api/admin/projects", &struct{}{}) }); err != nil {
		return nil, err
	}
	s.say("Unleash %s serves %s", s.version, database)
	return c, nil
}

// createDatabase makes an empty database, by the driver that came with Unleash: psql is not everywhere that PostgreSQL is.
func (s *stage) createDatabase(ctx context.Context, unleash, name string) error {
	script := fmt.Sprintf(`const { Client } = require('pg'); const c = new Client({ host: '127.0.0.1', port: %s, user: 'postgres', database: 'postgres' });
		c.connect().then(() => c.query('create database %s')).then(() => c.end())`, s.postgres.port, name)
	var out []byte
	var err error
	for range 100 { // it listens before it is ready
		cmd := exec.CommandContext(ctx, "node", "-e", script)
		cmd.Dir = unleash
		if out, err = cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "starting up") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("a database for Unleash: %w\n%s", err, out)
	}
	return nil
}

// personalToken is one of the first user, whom Unleash makes itself. Imports want a person.
func personalToken(ctx context.Context, c *client) (string, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	person := *c
	person.token, person.http = "", &http.Client{Jar: jar, Timeout: callTimeout}
	if err := person.send(ctx, "POST", "/auth/simple/login", object{"username": "admin", "password": "unleash4all"}, nil); err != nil {
		return "", err
	}
	var made struct{ Secret string }
	err = person.send(ctx, "POST", "/api/admin/user/tokens", object{"description": "to import", "expiresAt": time.Now().Add(time.Hour)}, &made)
	return made.Secret, err
}

// guidon starts a gateway with no data.
func (s *stage) guidon(ctx context.Context, name string) (*client, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(s.command, "serve")
	cmd.Dir = s.root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), "PORT="+port, "DATA_DIR="+filepath.Join(s.folder, name), "INIT_ADMIN_API_TOKENS="+adminToken)
	p, err := s.start("Guidon "+name, cmd)
	if err != nil {
		return nil, err
	}
	c := newClient(p, port)
	return c, p.await(ctx, func(ctx context.Context) error { return c.get(ctx, "/api/admin/projects", &struct{}{}) })
}

// isSetting tells whether a variable of the environment is one that the gateway reads.
func isSetting(variable string) bool {
	for _, prefix := range []string{"DATA_DIR=", "FUNCTIONS=", "TOKEN_KEY_FILE=", "TABLE_NAME=", "AUTH_TYPE=", "LOG_LEVEL=", "LIMIT_", "INIT_", "AWS_"} {
		if strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	return false
}
