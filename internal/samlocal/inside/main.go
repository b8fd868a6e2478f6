// Command inside serves DynamoDB and Secrets Manager to the functions of `sam local`, in a container.
//
// Its arguments are the command of the engine, which it serves at DYNAMODB_ADDRESS. It serves the secrets in SECRETS, a JSON
// object, at SECRETS_ADDRESS. Requests need the secret GUARD in the path, because the host, and so web pages in its
// browser, can reach the addresses of containers. It ends when the engine ends, or on SIGTERM.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"guidon/internal/dynoxide"
	"guidon/internal/guard"
	"guidon/internal/secrets"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "guidon:", err)
		os.Exit(1)
	}
}

func run(command []string) error {
	stop := make(chan os.Signal, 1) // process 1 of a container must handle its signals
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	ended := make(chan error, 3)

	var values map[string]string
	if err := json.Unmarshal([]byte(os.Getenv("SECRETS")), &values); err != nil {
		return fmt.Errorf("SECRETS: %w", err)
	}
	guarded := os.Getenv("GUARD")
	if guarded == "" {
		return errors.New("GUARD is empty: set it to a secret")
	}

	engine := exec.Command(command[0], command[1:]...)
	stdin, stdout, err := pipes(engine)
	if err != nil {
		return err
	}
	engine.Stderr = os.Stderr
	if err := engine.Start(); err != nil {
		return err
	}
	go func() { ended <- engine.Wait() }()
	client, err := dynoxide.NewClient(context.Background(), stdin, stdout)
	if err != nil {
		return err
	}
	for address, handler := range map[string]http.Handler{
		os.Getenv("DYNAMODB_ADDRESS"): client,
		os.Getenv("SECRETS_ADDRESS"):  secrets.New(values),
	} {
		server := &http.Server{Addr: address, Handler: guard.Handler(guarded, handler), ReadHeaderTimeout: time.Minute}
		go func() { ended <- server.ListenAndServe() }()
	}
	select {
	case err := <-ended:
		return err
	case <-stop:
		return engine.Process.Kill() // its data is in memory
	}
}

// pipes returns the standard input and output of a command.
func pipes(cmd *exec.Cmd) (io.WriteCloser, io.ReadCloser, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	stdout, err := cmd.StdoutPipe()
	return stdin, stdout, err
}
