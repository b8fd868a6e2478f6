// Command inside runs in a container beside those of `sam local`: it is DynamoDB and Secrets Manager to the functions.
//
// Its arguments are the engine's command. It runs the engine and serves it at DYNAMODB_ADDRESS, and the secrets of SECRETS,
// a JSON object, at SECRETS_ADDRESS. Both need the secret GUARD in the path: the host, and with it every web page in a
// browser there, can reach the addresses of containers. The program ends when the engine does, or when it is told to.
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
	told := make(chan os.Signal, 1) // the first process of a container has to ask for its signals
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	ended := make(chan error, 3)

	var values map[string]string
	if err := json.Unmarshal([]byte(os.Getenv("SECRETS")), &values); err != nil {
		return fmt.Errorf("SECRETS: %w", err)
	}
	guarded := os.Getenv("GUARD")
	if guarded == "" {
		return errors.New("GUARD must hold a secret")
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
	case <-told:
		return engine.Process.Kill() // it is in memory
	}
}

// pipes are the standard input and output of a command that is to be started.
func pipes(cmd *exec.Cmd) (io.WriteCloser, io.ReadCloser, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	stdout, err := cmd.StdoutPipe()
	return stdin, stdout, err
}
