package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"time"

	"guidon/internal/child"
	"guidon/internal/dynoxide"
)

const (
	readyTimeout = 30 * time.Second // DynamoDB Local needs seconds on a slow machine, dynoxide milliseconds
	stopTimeout  = 5 * time.Second  // then it is killed; the data of both engines survives that
)

// An instance is one run of an engine.
type instance struct {
	child.Process
	stdin, stdout *os.File // of dynoxide, which is called over them
	port          string   // of DynamoDB Local
}

// launchOnPipes starts an engine that is called over its standard input and output.
func launchOnPipes(cmd *exec.Cmd, log io.Writer) (*instance, error) {
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer childIn.Close() // the child has a copy
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	defer childOut.Close()
	i := &instance{stdin: stdin, stdout: stdout}
	cmd.Stdin, cmd.Stdout = childIn, childOut
	if err := i.launch(cmd, log); err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	return i, nil
}

// launchOnPort starts an engine that listens on a port of 127.0.0.1.
func launchOnPort(cmd *exec.Cmd, port string, log io.Writer) (*instance, error) {
	i := &instance{port: port}
	return i, i.launch(cmd, log)
}

func (i *instance) launch(cmd *exec.Cmd, log io.Writer) error {
	i.Cmd = cmd
	i.Output.Limit = 2048
	cmd.Stderr = io.MultiWriter(&i.Output, log)
	if cmd.Stdout == nil {
		cmd.Stdout = cmd.Stderr
	}
	return i.Start()
}

// connect waits until the engine answers, and returns the handler that calls it.
func (i *instance) connect(ctx context.Context) (handler http.Handler, err error) {
	if i.port != "" {
		address := &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", i.port)}
		return forward(address), i.Await(ctx, child.Serves(address.String(), 0))
	}
	return handler, i.Await(ctx, func(ctx context.Context) error {
		handler, err = dynoxide.NewClient(ctx, i.stdin, i.stdout)
		if err != nil {
			i.Kill() // its output is complete now, and Await does not try again
		}
		return err
	})
}

// forward returns a handler that passes requests to the address. Without an answer it closes the connection.
func forward(address *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(address)
			r.Out.Header.Del("Origin") // otherwise DynamoDB Local adds CORS headers
		},
		Transport:    &http.Transport{MaxIdleConnsPerHost: 256},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// end stops the engine: dynoxide ends when its input is closed.
func (i *instance) end() {
	if i.stdin == nil {
		i.Stop(syscall.SIGTERM, stopTimeout)
		return
	}
	_ = i.stdin.Close() // an error means that it was closed before
	select {
	case <-i.Ended():
	case <-time.After(stopTimeout):
		i.Kill()
	}
}
