package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
)

// exitFrozen is the exit code of freeze check in a freeze.
const exitFrozen = 5

func (a *app) freeze() *cobra.Command {
	return a.group(&cobra.Command{
		Use:     "freeze",
		Short:   "Ask whether an environment is frozen",
		Long:    "Ask whether an environment of a project is frozen now, so that a pipeline can stop.",
		Example: "  guidon freeze check shop production",
	}, a.freezeCheck())
}

func (a *app) freezeCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check PROJECT ENVIRONMENT",
		Short: "Fail if an environment of a project is frozen",
		Long: fmt.Sprintf(`Fail with exit code %d if an environment of a project is frozen now, by the project or in all
projects, and say until when and why. It is frozen for every caller, also for those who may change
it in spite of the freeze. With --output json, print its freezes.

Exit code 0 means that it is not frozen. The others are those of guidon --help; 3 also means that
the server does not have freezes.`, exitFrozen),
		Example: `  guidon freeze check shop production
  guidon freeze check shop production --output json | jq -r .current.until`,
		Args: cobra.ExactArgs(2),
	}
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, args []string) error {
		var raw json.RawMessage
		if err := server.Get(ctx, "/api/admin/projects/"+url.PathEscape(args[0])+"/environments/"+url.PathEscape(args[1])+"/freezes", &raw); err != nil {
			return err
		}
		var list struct {
			Freezes []json.RawMessage
			Current *struct {
				Reason string
				Until  time.Time
			}
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("the server's freezes are not in the expected form: %w", err)
		}
		if list.Freezes == nil {
			return errors.New("the response has no freezes: is GUIDON_URL the URL of a Guidon?")
		}
		text := args[1] + " of " + args[0] + " is not frozen"
		if f := list.Current; f != nil {
			text = fmt.Sprintf("%s of %s is frozen until %s: %s", args[1], args[0], f.Until.UTC().Format(time.RFC3339), strings.Map(printable, f.Reason))
		}
		if a.output == formatJSON {
			if err := a.print(raw, nil); err != nil {
				return err
			}
		} else if _, err := fmt.Fprintln(a.out, text); err != nil {
			return err
		}
		if list.Current != nil {
			return codeError{exitFrozen, errReported}
		}
		return nil
	})
}
