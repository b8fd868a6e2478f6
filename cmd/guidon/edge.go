package main

import (
	"slices"

	"github.com/spf13/cobra"

	"guidon/pkg/edge"
)

func (a *app) edge() *cobra.Command {
	return &cobra.Command{
		Use:   "edge [edge|offline|extension|health|ready] [settings]",
		Short: "Answer applications close to them, with the flags of a Guidon or an Unleash",
		Long: `Run Guidon Edge: it answers SDKs, browsers and OpenFeature providers from memory, and keeps
answering while its upstream is gone. The program guidon-edge is the same without the rest of guidon.

  guidon edge           serve the flags of UPSTREAM_URL
  guidon edge offline   serve the flags of a file
  guidon edge health    check that an Edge responds
  guidon edge ready     check that an Edge has flags

The settings are those of Unleash Edge, as flags and as environment variables: guidon edge --help prints
them, and docs/reference/edge.md lists them.`,
		Example: `  guidon edge --upstream-url https://flags.example.com --tokens '*:production.secret'
  guidon edge offline --bootstrap-file features.json --client-tokens '*:production.secret'
  guidon edge ready --edge-url http://127.0.0.1:3063`,
		DisableFlagParsing: true, // Edge has flags in front of its commands, too
		RunE: a.runs(func(cmd *cobra.Command, args []string) error {
			if !slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(edge.Commands, arg) }) {
				args = append([]string{"edge"}, args...)
			}
			if code := edge.Main(cmd.Context(), "guidon edge", args, a.getenv, a.out, a.messages); code != exitOK {
				return codeError{code, errReported}
			}
			return nil
		}),
	}
}
