package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
	"guidon/pkg/version"
)

// defaultURL is the address of `guidon serve`.
const defaultURL = "http://127.0.0.1:4242"

const exitCodes = `Exit codes:
  0    success
  1    failed: the reason is printed
  2    the command line or a setting is wrong
  3    the server refused the request (4xx): a wrong token, a missing permission, an unknown name
  4    the server is not available: it cannot be reached, or returns 429 or 5xx; try again
  130  interrupted by Ctrl-C`

// An app has the state of one command line.
type app struct {
	stopping      func()
	getenv        func(string) string
	in            io.Reader
	out, messages io.Writer
	started       bool // the command line is valid, and a command runs

	url, token, output string // flags; the environment has the defaults
}

func (a *app) root() *cobra.Command {
	root := a.group(&cobra.Command{
		Use:   "guidon",
		Short: "Feature flags: run Guidon locally, and work with any Guidon or Unleash",
		Long: `Guidon is a feature-flag service with the API of Unleash.

This command runs it on this machine (serve), and works with the flags and tokens of any
Guidon or Unleash. Set the server once, in the environment:

  GUIDON_URL    the URL of the server, by default ` + defaultURL + `
  GUIDON_TOKEN  an admin token or a personal token of that server

` + exitCodes + `
migrate and freeze check have exit codes of their own; see their --help.`,
		Example: `  guidon serve
  export GUIDON_TOKEN='*:*.unleash-insecure-admin-api-token'
  guidon flag list
  guidon flag on new-checkout --environment development --rollout 50`,
		Version:       version.String(), // the flag --version
		SilenceErrors: true,             // run prints them
		SilenceUsage:  true,
	})
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.messages)
	root.AddCommand(a.serve(), a.setUp(), a.edge(), a.health(), a.link(), a.flag(), a.plan(), a.freeze(), a.openFeature(), a.request(), a.tokenCommand(), a.export(), a.importCommand(), a.mcp(), a.migrate(), a.version())
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	return root
}

// group is a command that only has subcommands.
func (a *app) group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.NoArgs // cobra's message for an argument is: unknown command
	cmd.RunE = a.runs(func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.AddCommand(subcommands...)
	return cmd
}

// runs notes that a command has started: errors before that are mistakes in the command line.
func (a *app) runs(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		return do(cmd, args)
	}
}

// calls is runs for a command that calls a server: it adds the flags that such commands share.
func (a *app) calls(cmd *cobra.Command, do func(ctx context.Context, server *adminapi.Client, args []string) error) *cobra.Command {
	cmd.Flags().StringVar(&a.url, "url", "", "the `URL` of the server (environment: GUIDON_URL; default "+defaultURL+")")
	cmd.Flags().StringVar(&a.token, "token", "", "an admin or personal `token` of the server (environment: GUIDON_TOKEN, which keeps it out of the list of processes)")
	cmd.Flags().StringVarP(&a.output, "output", "o", formatTable, "the `format` of the output: table or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{formatTable, formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = a.runs(func(cmd *cobra.Command, args []string) error {
		if a.output != formatTable && a.output != formatJSON {
			return &usageError{errors.New("--output must be table or json, not " + a.output)}
		}
		server, err := a.server()
		if err != nil {
			return err
		}
		err = do(cmd.Context(), server, args)
		if refusal, ok := errors.AsType[*adminapi.Refusal](err); ok && refusal.Status == http.StatusUnauthorized && server.Token == "" {
			return &noTokenError{refusal}
		}
		return err
	})
	return cmd
}

// A noTokenError is the 401 of a command without a token. A server with AUTH_TYPE=none needs none, so the server decides.
type noTokenError struct{ refusal *adminapi.Refusal }

func (e *noTokenError) Error() string { return "no token: set GUIDON_TOKEN or use --token" }

func (e *noTokenError) Unwrap() error { return e.refusal }

// server is a client of the server that the flags or the environment name.
func (a *app) server() (*adminapi.Client, error) {
	server, err := adminapi.New("the server", cmp.Or(a.url, a.getenv("GUIDON_URL"), defaultURL), cmp.Or(a.token, a.getenv("GUIDON_TOKEN")))
	if err != nil {
		return nil, &usageError{errors.New("--url or GUIDON_URL: " + err.Error())}
	}
	return server, nil
}

// addEnvironment adds the flag --environment, which completes the names of the server's environments.
func (a *app) addEnvironment(cmd *cobra.Command, into *string, usage string) {
	cmd.Flags().StringVarP(into, "environment", "e", "", usage)
	_ = cmd.RegisterFlagCompletionFunc("environment", a.completes(environmentNames))
}

// completionTimeout bounds how long a Tab waits for the server.
const completionTimeout = 2 * time.Second

// completes offers names that the server has; none if it does not answer in time.
func (a *app) completes(names func(ctx context.Context, server *adminapi.Client) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		a.started = true
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		server, err := a.server()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		server.Attempts = 1
		list, _ := names(ctx, server)
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

func environmentNames(ctx context.Context, server *adminapi.Client) ([]string, error) {
	var list struct{ Environments []struct{ Name string } }
	err := server.Get(ctx, "/api/admin/environments", &list)
	names := make([]string, len(list.Environments))
	for i, e := range list.Environments {
		names[i] = e.Name
	}
	return names, err
}
