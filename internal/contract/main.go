// Command contract checks a running Guidon against its own OpenAPI description with Schemathesis: `make contract`.
//
// It starts servers with their own data, creates fixtures, and lets Schemathesis send thousands of valid and invalid requests
// generated from /docs/openapi.json. Schemathesis uses one processor, so three parts of the run go on at the same time. Every
// response must match the description, no status may be 500, valid requests must be accepted and invalid ones refused.
// schemathesis.toml has the exceptions. A seed makes the requests the same in each run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"guidon/internal/engine"
)

const (
	adminToken = "*:*.contract-admin-token"
	atLeast    = 3000 // requests that a run must send

	ofProjects = "^/api/admin/projects/" // the paths of about half of the parameters and fields

	startTimeout = 2 * time.Minute // the first start downloads the engine
	stopTimeout  = 20 * time.Second
	runTimeout   = 20 * time.Minute
)

func main() {
	seed := flag.Int("seed", 1, "seed of the generated requests")
	examples := flag.Int("examples", 5, "maximum number of generated requests for each operation")
	st := flag.String("st", "st", "path of the program schemathesis")
	guidon := flag.String("guidon", "", "path of the program guidon")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *guidon, *st, *seed, *examples)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, guidon, st string, seed, examples int) error {
	root, err := engine.Root()
	if err != nil {
		return err
	}
	common := []string{"--seed", strconv.Itoa(seed), "--workers", "1", "--no-color"}
	// Each part begins with the examples: what Schemathesis sends later depends on the responses to them.
	parts := []*part{{
		name: "examples, and the limits of each parameter and field, of projects", st: st, common: common,
		args: []string{"--phases", "examples,coverage", "--include-path-regex", ofProjects},
	}, {
		name: "examples, and the limits of each parameter and field, of all else", st: st, common: common,
		args: []string{"--phases", "examples,coverage", "--exclude-path-regex", ofProjects},
	}, {
		name: "examples, fuzzing and sequences of requests", st: st, common: common, other: true,
		args: []string{"--phases", "examples,fuzzing,stateful", "--max-examples", strconv.Itoa(examples)},
	}}
	for _, p := range parts {
		if err := p.start(ctx, guidon, root); err != nil {
			return err
		}
		defer p.stop()
	}
	fmt.Printf("contract: %d parts run at the same time; each prints at its end\n", len(parts))
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for i, p := range parts {
		all.Go(func() { errs[i] = p.run(ctx) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	sent, log := 0, ""
	for _, p := range parts {
		sent += p.sent
		log += p.process.Output.String()
	}
	if sent < atLeast {
		return fmt.Errorf("only %d requests were sent, expected at least %d", sent, atLeast)
	}
	return review(log)
}
