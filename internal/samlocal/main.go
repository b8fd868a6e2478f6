// Command samlocal runs Guidon with `sam local start-api` over a local engine: `make sam-local`.
//
// It builds the functions for this machine, starts DynamoDB and Secrets Manager in a container (package inside) on the
// network of the functions, creates and seeds the table, and writes a samconfig.toml for other `sam local` commands. It
// removes container and network when it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"guidon/pkg/bootstrap"
)

// settings are the arguments.
type settings struct {
	port   string // of the API, on 127.0.0.1
	dir    string // for the build, the configuration and the key
	sam    string // path of the SAM CLI
	guidon string // path of guidon, which creates the table
}

func main() {
	s := settings{port: os.Getenv("PORT")}
	if s.port == "" {
		s.port = "4242"
	}
	flag.StringVar(&s.dir, "dir", "", "folder for the build, the configuration and the key")
	flag.StringVar(&s.sam, "sam", "sam", "path of the SAM CLI")
	flag.StringVar(&s.guidon, "guidon", "", "path of guidon")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, s)
	interrupted := ctx.Err() != nil
	stop()
	if err != nil && !interrupted {
		fmt.Fprintln(os.Stderr, "sam-local:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, s settings) (err error) {
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if err := checkPort(s.port); err != nil {
		return err
	}
	arch, err := dockerArch(ctx)
	if err != nil {
		return err
	}
	c := newSAM(s, arch)
	say("building the functions for %s: sam build", arch.sam)
	if err := c.build(ctx); err != nil {
		return err
	}
	secret, err := guardSecret(s.dir)
	if err != nil {
		return err
	}
	if err := buildImage(ctx, s.dir, arch, secret); err != nil {
		return err
	}
	b := &backend{name: backendName(s.port), dir: s.dir, arch: arch, secret: secret}
	defer func() { err = errors.Join(err, b.remove()) }()
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := b.setUp(ctx, s.guidon); err != nil {
		return err
	}
	if err := c.configure(b.name); err != nil {
		return err
	}
	return c.serve(ctx, func() { greet(s, c) })
}

// checkPort reports a port in use before the long build, and what to do about it.
func checkPort(port string) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %s is in use, maybe by `make run`: stop it, or set another PORT", port)
	}
	if err != nil {
		return err
	}
	return l.Close()
}

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "sam-local: "+format+"\n", args...) }

func greet(s settings, c *sam) {
	token := os.Getenv("INIT_ADMIN_API_TOKENS")
	if token == "" {
		token = bootstrap.LocalAdminToken
	}
	fmt.Printf(`
Guidon is ready, with sam local. Ctrl-C stops it and deletes its data.

  address      http://127.0.0.1:%[1]s
  admin token  %[2]s

Try:  curl -s -H 'Authorization: %[2]s' http://127.0.0.1:%[1]s/api/admin/projects/default/features

To invoke one function, in another terminal:

  %[3]s local invoke FeaturesFunction --event internal/samples/features.json --config-file '%[4]s'

`, s.port, token, c.program, c.config())
}
