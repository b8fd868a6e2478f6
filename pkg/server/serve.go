// Package server runs all of Guidon in one process on a developer's machine: `guidon serve`, which `make run` starts.
//
// It starts the embedded DynamoDB engine, creates the table and its first content, and serves the same handlers as the Lambda functions
// (http.go), with the limits of API Gateway and Lambda (bodies.go). It runs what EventBridge calls on AWS (schedule.go). A test compares the
// routes of template.yaml with the operations.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

const (
	startTimeout    = time.Minute      // for a start, except for downloading the engine
	shutdownTimeout = 30 * time.Second // for the requests in progress: longer than callTimeout
)

// A SettingError is a wrong value in the environment. Nothing was started or changed.
type SettingError struct{ error }

// Serve runs the server until ctx ends, with the settings of the environment (see settings). Then it calls stopping, so
// that a second Ctrl-C ends the process at once, finishes the requests in progress, and stops the engine.
func Serve(ctx context.Context, getenv func(string) string, stopping func()) error {
	limitMemory()
	warnOfUnsupported(os.Stderr, os.Environ())
	s, err := readSettings(getenv)
	if err != nil {
		return &SettingError{err}
	}
	if err := runServer(ctx, s, stopping); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func runServer(ctx context.Context, s settings, stopping func()) error {
	// The port is opened first: a second server on the same port must not touch the engine of the first.
	listener, err := net.Listen("tcp", net.JoinHostPort(s.host, s.port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %s is in use, maybe by another Guidon: stop that, or choose another with PORT=…", s.port)
	}
	if err != nil {
		return fmt.Errorf("the server cannot listen on the address of HOST and PORT: %w", err)
	}
	defer listener.Close()

	if s.config.PublicURL == "" {
		s.config.PublicURL = localURL(listener.Addr())
	}
	a, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer a.close()
	defer run(ctx, a.jobs())() // before the engine stops

	server := &http.Server{
		Handler:           s.onlyOwnNames(a),
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second, // as of API Gateway
		WriteTimeout:      time.Minute,      // until there is a response; respond sets another
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	greet(os.Stdout, listener.Addr(), s, a.tokens, a.signIn)
	if warning := s.exposed(a.knownToken); warning != "" {
		fmt.Fprintln(os.Stderr, "guidon: warning:", warning)
	}

	for ctx.Err() == nil {
		select {
		case err := <-served:
			return err
		case <-a.engineEnded():
			if err := a.restartEngine(ctx); err != nil && ctx.Err() == nil {
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

// SetUp creates the table and its first content in the DynamoDB at AWS_ENDPOINT_URL_DYNAMODB. Repeated,
// it changes nothing.
func SetUp(ctx context.Context, getenv func(string) string) error {
	warnOfUnsupported(os.Stderr, os.Environ())
	s, err := readSettings(getenv)
	if err != nil {
		return &SettingError{err}
	}
	if s.endpoint == "" {
		return &SettingError{errors.New("setup needs the address of a running DynamoDB in AWS_ENDPOINT_URL_DYNAMODB")}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	options, err := externalEngine(ctx, s)
	if err != nil {
		return err
	}
	_, _, err = createTable(ctx, s, options)
	return s.wrapEngineError(err)
}
