// Command release packs a release: `make release VERSION=1.2.3`. The Makefile builds the programs, and this command writes the
// folder that users download: programs, an archive for AWS per architecture, the list of components, the changelog and checksums.
// docs/development/releasing.md describes it.
//
// The same source, Go and Node.js give the same bytes: no file contains a time, a random number or a path of the machine.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// options are the arguments of the command.
type options struct {
	version   string
	source    string // the folder of the repository
	programs  string // has guidon/guidon-<platform>, and functions/<architecture>/<function>/bootstrap
	out       string // the folder of the release
	swaggerUI string // the version of Swagger UI in pkg/docs/assets
	node      string // the version of Node.js that built the console
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("the first argument must be check or pack; use make release VERSION=1.2.3")
	}
	var o options
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	set.StringVar(&o.version, "version", "", "the `version` of the release, such as 1.2.3")
	set.StringVar(&o.source, "source", ".", "the `folder` of the repository")
	set.StringVar(&o.programs, "programs", "", "the `folder` of the built programs")
	set.StringVar(&o.out, "out", "", "the `folder` to write")
	set.StringVar(&o.swaggerUI, "swagger-ui", "", "the `version` of Swagger UI in pkg/docs/assets")
	set.StringVar(&o.node, "node", "", "the `version` of Node.js that built the console")
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "check":
		return check(o)
	case "pack":
		return pack(o)
	}
	return fmt.Errorf("the first argument is %q; it must be check or pack", args[0])
}
