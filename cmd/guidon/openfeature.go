package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/iancoleman/strcase"
	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
)

func (a *app) openFeature() *cobra.Command {
	return a.group(&cobra.Command{
		Use:     "openfeature",
		Short:   "Check flags for the code generators of OpenFeature",
		Long:    "Check whether the OpenFeature CLI can generate code from the flags of a project.",
		Example: "  guidon openfeature check",
	}, a.openFeatureCheck())
}

// A badName is a flag for which no generator makes code that compiles.
type badName struct {
	Name    string `json:"name"`
	Problem string `json:"problem"`
}

func (a *app) openFeatureCheck() *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Fail if names of flags break generated code",
		Long: `Fail with exit code 1 if "openfeature generate" would make code that does not compile from the
flags of a project: because two names become the same identifier, as new-flag and new_flag do, or
because a name does not become one. Flags cannot be renamed: create one with another name.`,
		Example: `  guidon openfeature check
  guidon openfeature check --project shop --output json | jq -r '.[].name'`,
		Args: cobra.NoArgs,
	}
	a.addProject(cmd, &project)
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, _ []string) error {
		list, err := listFlags(ctx, server, a.projectOf(project))
		if err != nil {
			return err
		}
		bad := badNames(list)
		if len(bad) == 0 {
			a.note("The names of all %d flags become identifiers of their own.", len(list))
			if a.output != formatJSON {
				return nil
			}
		}
		rows := [][]string{{"NAME", "PROBLEM"}}
		for _, b := range bad {
			rows = append(rows, []string{b.Name, b.Problem})
		}
		if err := a.print(bad, rows); err != nil || len(bad) == 0 {
			return err
		}
		return errReported
	})
}

// badNames returns the names that break generated code. The OpenFeature CLI makes its identifiers with strcase, too.
func badNames(list []flagRow) []badName {
	strcase.ConfigureAcronym("API", "api") // as the CLI does
	bad, taken := []badName{}, map[string]string{}
	for _, f := range list {
		pascal, camel, constant := strcase.ToCamel(f.Name), strcase.ToLowerCamel(f.Name), strcase.ToScreamingSnake(f.Name)
		if !isIdentifier(pascal) || !isIdentifier(constant) {
			bad = append(bad, badName{f.Name, "does not become an identifier: it must begin with a letter, and have no ~"})
			continue
		}
		for _, identifier := range []string{pascal, camel, camel + "Details", constant} {
			if other := taken[identifier]; other != "" && other != f.Name {
				bad = append(bad, badName{f.Name, fmt.Sprintf("becomes %s, as %s does", identifier, other)})
				break
			}
			taken[identifier] = f.Name
		}
	}
	return bad
}

// isIdentifier reports whether languages take a text as the name of something.
func isIdentifier(text string) bool {
	isLetter := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
	return strings.IndexFunc(text, isLetter) == 0 &&
		!strings.ContainsFunc(text, func(r rune) bool { return !isLetter(r) && (r < '0' || r > '9') && r != '_' })
}
