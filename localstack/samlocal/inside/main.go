// Command inside runs in a container beside those of `sam local`: it is DynamoDB and Secrets Manager to the functions.
//
// Its arguments are the engine's command. It runs that, serves the secrets of SECRETS, a JSON object, at SECRETS_ADDRESS, and
// ends when the engine does, or when it is told to.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"guidon/localstack/secrets"
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
	ended := make(chan error, 2)

	var values map[string]string
	if err := json.Unmarshal([]byte(os.Getenv("SECRETS")), &values); err != nil {
		return fmt.Errorf("SECRETS: %w", err)
	}
	server := &http.Server{
		Addr:              os.Getenv("SECRETS_ADDRESS"),
		Handler:           secrets.New(values),
		ReadHeaderTimeout: time.Minute,
	}
	go func() { ended <- server.ListenAndServe() }()

	engine := exec.Command(command[0], command[1:]...)
	engine.Stdout, engine.Stderr = os.Stdout, os.Stderr
	if err := engine.Start(); err != nil {
		return err
	}
	go func() { ended <- engine.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-told:
		return engine.Process.Kill() // it is in memory
	}
}
