// Command path prints where the engine's program for a system is, and downloads it if necessary: path linux arm64.
package main

import (
	"context"
	"fmt"
	"os"

	"guidon/internal/engine"
)

func main() {
	path, err := engine.Dynoxide(context.Background(), os.Args[1], os.Args[2], os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}
