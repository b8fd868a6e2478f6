// Command samlocal runs all of Guidon by `sam local start-api`, the SAM CLI's own API Gateway and Lambda, over a local
// engine: `make sam-local`.
//
// It builds the functions for this machine, starts DynamoDB and Secrets Manager in a container (inside/) on a network
// that the functions' containers join, makes and seeds the table, and writes a samconfig.toml by which every other
// `sam local` command works against the same. When it ends, container and network are gone.
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

// settings say what to run, and where.
type settings struct {
	port   string // of the interface, on 127.0.0.1
	dir    string // for what is made: the build, the configuration, the key
	sam    string // the SAM CLI
	guidon string // the gateway's program, which sets up the table
}

func main() {
	s := settings{port: os.Getenv("PORT")}
	if s.port == "" {
		s.port = "4242"
	}
	flag.StringVar(&s.dir, "dir", "", "the folder for what is made")
	flag.StringVar(&s.sam, "sam", "sam", "the SAM CLI")
	flag.StringVar(&s.guidon, "guidon", "", "the gateway's program")
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
	place := &place{name: placeName(s.port), dir: s.dir, arch: arch, secret: secret}
	defer func() { err = errors.Join(err, place.remove()) }()
	if err := place.start(ctx); err != nil {
		return err
	}
	if err := place.setUp(ctx, s.guidon); err != nil {
		return err
	}
	if err := c.configure(place.name); err != nil {
		return err
	}
	return c.serve(ctx, func() { greet(s, c) })
}

// checkPort fails where the SAM CLI would, but at once and with a way out.
func checkPort(port string) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %s is in use, maybe by `make run`: stop that, or choose another with PORT=…", port)
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
Guidon is ready, by sam local. Ctrl-C stops it, and its flags are gone.

  address      http://127.0.0.1:%[1]s
  admin token  %[2]s

Try:  curl -s -H 'Authorization: %[2]s' http://127.0.0.1:%[1]s/api/admin/projects/default/features

One function by itself, in another terminal:

  %[3]s local invoke FeaturesFunction --event internal/samples/features.json --config-file '%[4]s'

`, s.port, token, c.program, c.config())
}
