package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"guidon/pkg/server"
	"guidon/pkg/version"
)

const serveSettings = `
Settings (environment):
  HOST                       the IP address to listen on, by default 127.0.0.1; 0.0.0.0 for all networks
  PORT                       the port, by default 4242; 0 for a free one
  DATA_DIR                   the folder with the data, by default data in the folder GUIDON_LOCAL
  GUIDON_LOCAL               the folder for downloads and data, by default .local in the repository,
                             elsewhere guidon in your folder for configurations (Linux: ~/.config)
  INIT_ADMIN_API_TOKENS      admin tokens to create, separated by commas
  INIT_BACKEND_API_TOKENS    the same for backend tokens, as Unleash calls client tokens since version 7
  INIT_CLIENT_API_TOKENS     the same for client tokens
  INIT_FRONTEND_API_TOKENS   the same for frontend tokens
  AUTH_TYPE                  none: requests need no token
  PUBLIC_URL                 the URL that people use, by default that of the server
  PRINT_SECRETS              always: print the sign-in link and all tokens even if the output is
                             not a terminal, such as the log of a container. make run sets it
  SESSION_HOURS              hours for which people stay signed in, by default 12
  OIDC_…                     an OpenID provider at which people sign in: OIDC_ISSUER,
                             OIDC_CLIENT_ID and more, see docs/reference/settings.md
  LOG_LEVEL                  debug, info, warn or error
  CORS_ORIGINS               origins whose pages may call the API
  FRONTEND_ORIGINS           origins whose pages may evaluate flags, by default all (*)
  CLIENT_MAX_AGE             seconds for which responses to applications may be older, by default 0
  WEBHOOK_PRIVATE_NETWORKS   private networks that webhooks may be in, such as 127.0.0.0/8, by default none
  LIMITS                     limits, such as strategies=50,tags=40; see docs/operations/limits.md
  AWS_ENDPOINT_URL_DYNAMODB  a running DynamoDB to use instead of starting one
  ENGINE                     dynoxide, dynamodb-local, or the absolute path of a dynoxide program
  TABLE_NAME                 the table, by default guidon
  TOKEN_KEY_FILE             the key that encrypts the secrets of tokens, by default token.key in DATA_DIR`

func (a *app) serve() *cobra.Command {
	var port, data string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run Guidon on this machine",
		Long: `Run all of Guidon in one process, on 127.0.0.1, with a DynamoDB engine that it starts itself
(npm downloads the engine once, unless ENGINE is its path). It prints its URL, a one-time link
that signs in as the first administrator, the URL of the API documentation and a token of each
kind. Ctrl-C stops it; the data stays.
` + serveSettings,
		Example: `  guidon serve
  guidon serve --port 8080 --data-dir /tmp/guidon
  INIT_ADMIN_API_TOKENS='*:*.secret' INIT_CLIENT_API_TOKENS='default:development.secret' guidon serve`,
		Args: cobra.NoArgs,
		RunE: a.runs(func(cmd *cobra.Command, _ []string) error {
			return server.Serve(cmd.Context(), a.overridden(map[string]string{"PORT": port, "DATA_DIR": data}), a.stopping)
		}),
	}
	cmd.Flags().StringVar(&port, "port", "", "the `port` (environment: PORT)")
	cmd.Flags().StringVar(&data, "data-dir", "", "the `folder` with the data (environment: DATA_DIR)")
	return cmd
}

func (a *app) setUp() *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Create the table and its first content in a running DynamoDB",
		Long: `Create the table and its first content in a DynamoDB that runs already, such as LocalStack's, and
exit. Repeated, it changes nothing. The settings are those of guidon serve; AWS_ENDPOINT_URL_DYNAMODB
is required.`,
		Example: `  AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:4566 guidon setup`,
		Args:    cobra.NoArgs,
		RunE:    a.runs(func(cmd *cobra.Command, _ []string) error { return server.SetUp(cmd.Context(), a.getenv) }),
	}
}

// overridden is the environment with the values that flags have set.
func (a *app) overridden(values map[string]string) func(string) string {
	return func(name string) string {
		if value := values[name]; value != "" {
			return value
		}
		return a.getenv(name)
	}
}

func (a *app) version() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version, the Go version it was built with, and the platform.",
		Example: "  guidon version\n  guidon version --output json",
		Args:    cobra.NoArgs,
		RunE: a.runs(func(*cobra.Command, []string) error {
			build := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{version.String(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return a.print(build, [][]string{{"guidon " + build.Version + " (" + build.Go + ", " + build.Platform + ")"}})
		}),
	}
	cmd.Flags().StringVarP(&a.output, "output", "o", formatTable, "the `format` of the output: table or json")
	return cmd
}
