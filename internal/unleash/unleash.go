// Package unleash runs a real Unleash over a PostgreSQL of its own, for tests and measurements beside it. npm installs
// Unleash once; PostgreSQL and Node.js must be installed.
package unleash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"guidon/internal/child"
	"guidon/internal/engine"
)

// Version is the version of Unleash that Guidon is compared with.
const Version = "5.12.8"

const (
	startTimeout = 3 * time.Minute
	stopTimeout  = 20 * time.Second
)

// Missing returns what this machine lacks to run Unleash; nil if nothing is missing.
func Missing() error {
	var missing error
	for _, name := range []string{"initdb", "postgres", "psql"} {
		if _, err := postgresProgram(name); err != nil {
			missing = err
		}
	}
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			missing = errors.Join(missing, fmt.Errorf("there is no %s in the path: install Node.js", name))
		}
	}
	return missing
}

// A Server is a running Unleash.
type Server struct {
	URL     string
	Process *child.Process
}

// Start creates a database and starts Unleash over it. It accepts adminToken.
func (p *Postgres) Start(ctx context.Context, database, adminToken string) (*Server, error) {
	dir, err := engine.NPM(ctx, "unleash-server", Version, os.Stderr)
	if err != nil {
		return nil, err
	}
	if err := p.Query(ctx, "postgres", "create database "+database); err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", filepath.Join(dir, "dist", "server.js"))
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "DATABASE_HOST=127.0.0.1", "DATABASE_PORT="+p.port, "DATABASE_NAME="+database,
		"DATABASE_USERNAME=postgres", "DATABASE_PASSWORD=x", "DATABASE_SSL=false", "PORT="+port, "HTTP_HOST=127.0.0.1",
		"CHECK_VERSION=false", "SEND_TELEMETRY=false", "LOG_LEVEL=warn", "INIT_ADMIN_API_TOKENS="+adminToken)
	process, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s := &Server{"http://127.0.0.1:" + port, process}
	if err := process.Await(ctx, child.Serves(s.URL+"/health", http.StatusOK)); err != nil {
		process.Kill()
		return nil, err
	}
	return s, nil
}

// Stop stops Unleash. Its database remains.
func (s *Server) Stop() { s.Process.Stop(syscall.SIGINT, stopTimeout) }

// FreePort returns a port outside of the range of outgoing connections: these could take it before the server starts.
func FreePort() (string, error) {
	for range 100 {
		port := strconv.Itoa(20000 + rand.IntN(10000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", fmt.Errorf("found no free port in 100 attempts")
}
