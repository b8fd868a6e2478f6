package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// hello is the name of the function that does nothing (internal/bench/hello).
const hello = "hello"

// buildFunctions builds all functions and hello as `make build` does, into folders for FUNCTIONS.
func (g *guidon) buildFunctions(ctx context.Context) error {
	fmt.Fprintln(os.Stderr, "building the functions")
	programs := filepath.Join(g.dir, "programs")
	if err := g.buildInto(ctx, programs, runtime.GOARCH); err != nil {
		return err
	}
	if err := g.buildInto(ctx, g.deployedFolder(), deployedArch); err != nil {
		return err
	}
	built, err := os.ReadDir(programs)
	if err != nil {
		return err
	}
	for _, program := range built {
		name := program.Name()
		if name != hello {
			g.functions = append(g.functions, name)
		}
		if err := os.MkdirAll(filepath.Dir(g.program(name)), 0o700); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(programs, name), g.program(name)); err != nil {
			return err
		}
	}
	return nil
}

// deployedArch is the architecture that functions have on AWS by default.
const deployedArch = "arm64"

// deployedFolder is the folder with the programs for that architecture.
func (g *guidon) deployedFolder() string { return filepath.Join(g.dir, "deployed") }

// buildInto builds all functions and hello for an architecture.
func (g *guidon) buildInto(ctx context.Context, folder, arch string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w",
		"-o", folder+string(filepath.Separator), "./functions/...", "./internal/bench/hello")
	build.Dir = g.root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the functions: %w\n%s", err, out)
	}
	return nil
}

// functionsFolder is the folder with the built functions.
func (g *guidon) functionsFolder() string { return filepath.Join(g.dir, "functions") }

// program is the path of a built function.
func (g *guidon) program(function string) string {
	return filepath.Join(g.functionsFolder(), function, functionProcess)
}
