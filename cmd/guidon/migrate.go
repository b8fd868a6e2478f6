package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"guidon/internal/migrate"
)

func (a *app) migrate() *cobra.Command {
	var o migrate.Options
	cmd := &cobra.Command{
		Use:   "migrate --from URL --to URL",
		Short: "Copy all flags from one server to another, and compare both",
		Long: `Copy all flags from one server to another: from Unleash (5.x to 8.x) to Guidon, from Guidon to
Unleash, or between stages of Guidon. It copies what is missing or different, with everything that
flags need (environments, projects, tag types, context fields, segments, strategy types), and then
compares every flag on both sides. Nothing is written to the source. A run that was stopped
continues where it stopped; another run after a complete one changes nothing.

Exit codes:
  0  both sides are equal
  1  differences remain; they are printed
  2  the migration could not be completed, or the command line is wrong`,
		Example: `  export FROM_TOKEN='*:*.admin-token-of-unleash' TO_TOKEN='*:*.admin-token-of-guidon'
  guidon migrate --from https://unleash.example.com --to https://guidon.example.com --dry-run
  guidon migrate --from https://unleash.example.com --to https://guidon.example.com
  guidon migrate --from http://127.0.0.1:4242 --to https://guidon.example.com --project default`,
		Args: cobra.NoArgs,
		RunE: a.runs(func(cmd *cobra.Command, _ []string) error {
			o.FromToken = cmp.Or(o.FromToken, a.getenv("FROM_TOKEN"))
			o.ToToken = cmp.Or(o.ToToken, a.getenv("TO_TOKEN"))
			remaining, err := migrate.Run(cmd.Context(), o, a.out, a.messages)
			if err != nil {
				return codeError{exitUsage, err}
			}
			if remaining > 0 {
				return codeError{exitFailed, errReported}
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&o.From, "from", "", "the `URL` of the server to read from")
	cmd.Flags().StringVar(&o.FromToken, "from-token", "", "an admin or personal `token` there (environment: FROM_TOKEN)")
	cmd.Flags().StringVar(&o.To, "to", "", "the `URL` of the server to write to")
	cmd.Flags().StringVar(&o.ToToken, "to-token", "", "an admin or personal `token` there (environment: TO_TOKEN); Unleash accepts imports with personal tokens only")
	cmd.Flags().StringVar(&o.Project, "project", "", "copy only the project with this `id`")
	cmd.Flags().StringVar(&o.Environment, "environment", "", "copy only this `environment`")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "change nothing: print what would be created and updated, and what differs")
	return cmd
}
