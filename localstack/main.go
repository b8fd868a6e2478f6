// Command localstack runs all of Guidon in one process, for a developer's machine: `make run`.
//
// It is API Gateway and Lambda in small. What there is to run it reads from template.yaml: the table (template.go), the
// functions with their routes (routes.go) and timeouts. It starts the embedded DynamoDB engine, makes the table, seeds
// it, and turns every request into the event that API Gateway would send (event.go) to the very handler that Lambda
// runs. There is no second router: a route that is missing in the template is missing here.
//
// `guidon setup` makes and seeds the table in an engine that somebody else runs, and ends: localstack/ready.sh calls it.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// startTimeout bounds the start, the fetching of the engine apart. shutdownTimeout is for the requests in flight and is
// longer than any function may take.
const (
	startTimeout    = time.Minute
	shutdownTimeout = 30 * time.Second
)

func main() {
	limitMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], stop)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "guidon:", err)
		os.Exit(1)
	}
}

// command is what the arguments ask for: to serve, or to set up another's engine.
func command(ctx context.Context, args []string, stopping func()) error {
	s, err := readSettings(os.Getenv)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return run(ctx, s, stopping)
	case len(args) == 1 && args[0] == "setup":
		return setUp(ctx, s)
	}
	return fmt.Errorf("%q is not a command; there is setup, and without one Guidon is served", args)
}

// run serves until ctx ends. Then it calls stopping, so that a second Ctrl-C ends the process at once, finishes what is
// in flight, and ends the engine.
func run(ctx context.Context, s settings, stopping func()) error {
	// The port comes first: a second start on a busy one must not touch the first one's engine.
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", s.port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %s is in use, maybe by another Guidon: stop that, or choose another with PORT=…", s.port)
	}
	if err != nil {
		return err
	}
	defer listener.Close()

	g, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer g.close()
	go releaseIdleMemory(ctx)

	server := &http.Server{
		Handler:           g.handler(),
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second, // as long as API Gateway waits
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	greet(os.Stdout, listener.Addr(), s, g.admin)

	for ctx.Err() == nil {
		select {
		case err := <-served:
			return err
		case <-g.engineEnded():
			if err := g.revive(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		case <-ctx.Done():
		}
	}
	stopping()
	bounded, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	return server.Shutdown(bounded)
}
