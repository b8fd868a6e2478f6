package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"guidon/internal/child"
	"guidon/internal/engine"
	"guidon/internal/unleash"
)

// The names of the servers.
const (
	guidonName    = "Guidon"
	functionsName = "Functions"
	unleashName   = "Unleash"
)

// A server is one of the programs that are compared.
type server struct {
	name, url string
	own       func() time.Duration        // processor time so far, without the database
	settle    func(context.Context) error // called after the flags were created
	log       func() string               // the end of what it printed
	stop      func()

	data, endpoint string // of Guidon: its folder, and the address of its engine
}

// startGuidon starts a server with an empty table: `guidon serve`, or the built functions as processes. The processor time of what runs
// these, API Gateway's and Lambda's work, does not count.
//
// The engine belongs to this program, not to the server: what translates its protocol into DynamoDB's would otherwise count
// as the server's own processor time.
func (p *programs) startGuidon(ctx context.Context, functions bool) (*server, error) {
	data, err := os.MkdirTemp(p.dir, "data-")
	if err != nil {
		return nil, err
	}
	port, err := child.FreePort()
	if err != nil {
		return nil, err
	}
	e, err := engine.Start(ctx, engine.Options{DataFile: filepath.Join(data, "bench.db")})
	if err != nil {
		return nil, err
	}
	var process *child.Process
	start := func(ctx context.Context) (err error) {
		cmd := exec.Command(filepath.Join(p.dir, "guidon"), "serve")
		if functions {
			cmd = exec.Command(filepath.Join(p.dir, "run"), "-guidon", filepath.Join(p.dir, "guidon"), "-functions", filepath.Join(p.dir, "functions"))
		}
		cmd.Dir, cmd.Env = p.root, append(os.Environ(), "PORT="+port, "DATA_DIR="+data, "INIT_ADMIN_API_TOKENS="+adminToken, "LOG_LEVEL=warn", "AWS_ENDPOINT_URL_DYNAMODB="+e.URL())
		if process, err = child.Start(cmd); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return process.Await(ctx, child.Serves("http://127.0.0.1:"+port+"/health", http.StatusOK))
	}
	s := &server{name: guidonName, url: "http://127.0.0.1:" + port, data: data, endpoint: e.URL(), log: func() string { return process.Output.End() }}
	s.own = func() time.Duration { return processorTime(process.PID()) }
	if functions {
		s.name, s.own = functionsName, func() time.Duration { return functionsTime(process.PID()) }
	}
	s.stop = func() {
		process.Stop(syscall.SIGTERM, 10*time.Second)
		e.Stop()
	}
	// Each phase begins with new processes, which have not just created all flags.
	s.settle = func(ctx context.Context) error {
		process.Stop(syscall.SIGTERM, 10*time.Second)
		if err := e.Restart(ctx); err != nil {
			return err
		}
		return start(ctx)
	}
	if err := start(ctx); err != nil {
		e.Stop()
		return nil, err
	}
	return s, nil
}

// startUnleash starts Unleash with a database in the folder.
func startUnleash(ctx context.Context, folder string) (*server, error) {
	const database = "unleash"
	postgres, err := unleash.StartPostgres(ctx, folder)
	if err != nil {
		return nil, err
	}
	u, err := postgres.Start(ctx, database, adminToken)
	if err != nil {
		postgres.Stop()
		return nil, err
	}
	return &server{
		name: unleashName, url: u.URL, log: u.Process.Output.End,
		own: func() time.Duration { return processorTime(u.Process.PID()) },
		// Right after 1,000 flags were created, PostgreSQL plans with the statistics of an empty table.
		settle: func(ctx context.Context) error {
			return postgres.Query(ctx, database, "vacuum analyze")
		},
		stop: func() { u.Stop(); postgres.Stop() },
	}, nil
}

const functionProcess = "bootstrap"

// processorTime is the user and system time of all threads of a process so far; 0 where the system has no /proc. The system
// counts it in hundredths of a second.
func processorTime(pid int) time.Duration {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	stat, _ := p.Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

// functionsTime is the processor time of the functions that a server runs.
func functionsTime(server int) (spent time.Duration) {
	all, _ := procfs.AllProcs()
	for _, p := range all {
		if stat, err := p.Stat(); err == nil && stat.PPID == server && stat.Comm == functionProcess {
			spent += processorTime(p.PID)
		}
	}
	return spent
}
