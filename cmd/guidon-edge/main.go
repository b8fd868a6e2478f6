// Command guidon-edge runs Guidon Edge, without the rest of Guidon: see docs/edge.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"guidon/pkg/edge"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(edge.Main(ctx, "guidon-edge", os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}
