// Command run serves the built functions as package gateway runs them, over a DynamoDB engine of its own or the one at
// AWS_ENDPOINT_URL_DYNAMODB, until it is interrupted. PORT, DATA_DIR and the settings of tokens are as for `guidon serve`.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"guidon/internal/engine"
	"guidon/internal/gateway"
	"guidon/pkg/bootstrap"
)

func main() {
	guidon := flag.String("guidon", "guidon", "path of guidon, which creates the table")
	template := flag.String("template", "template.yaml", "path of the template")
	functions := flag.String("functions", "", "folder with <name>/bootstrap for each function")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *guidon, gateway.Options{Template: *template, Functions: *functions, Endpoint: os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, guidon string, o gateway.Options) error {
	data := os.Getenv("DATA_DIR")
	if o.Endpoint == "" {
		e, err := engine.Start(ctx, engine.Options{DataFile: filepath.Join(data, "guidon.db")})
		if err != nil {
			return err
		}
		defer e.Stop()
		o.Endpoint = e.URL()
	}
	setup := exec.CommandContext(ctx, guidon, "setup")
	setup.Env = append(os.Environ(), "AWS_ENDPOINT_URL_DYNAMODB="+o.Endpoint)
	if out, err := setup.CombinedOutput(); err != nil {
		return fmt.Errorf("guidon setup: %w\n%s", err, out)
	}
	key, err := os.ReadFile(filepath.Join(data, "token.key"))
	if err != nil {
		return err
	}
	o.Key, o.Token = string(key), cmp.Or(os.Getenv("INIT_ADMIN_API_TOKENS"), bootstrap.LocalAdminToken)
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", os.Getenv("PORT")))
	if err != nil {
		return err
	}
	o.PublicURL = "http://" + listener.Addr().String()
	g, err := gateway.New(o)
	if err != nil {
		return err
	}
	defer g.Close()
	scheduled := make(chan struct{})
	go func() {
		defer close(scheduled)
		g.RunSchedules(ctx, 5*time.Second)
	}()
	server := &http.Server{Handler: g, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Printf("Try:  curl %s/api/admin/projects/default/features\n", o.PublicURL)
	select {
	case err = <-served:
	case <-ctx.Done():
		err = server.Shutdown(context.WithoutCancel(ctx))
		<-scheduled
	}
	return err
}
