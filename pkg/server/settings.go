package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"guidon/internal/engine"
	"guidon/pkg/access"
	"guidon/pkg/admin/signin"
	"guidon/pkg/bootstrap"
	"guidon/pkg/httpapi"
	"guidon/pkg/oidc"
	"guidon/pkg/webhook"
)

// settings are read from environment variables.
type settings struct {
	host     string            // HOST, default 127.0.0.1: the address to listen on
	port     string            // PORT, default 4242; 0 for a free one
	data     string            // DATA_DIR, default data in engine.LocalDir: the folder of the engine's data
	endpoint string            // AWS_ENDPOINT_URL_DYNAMODB: a DynamoDB to use instead of starting an engine
	table    string            // TABLE_NAME, default guidon
	keyFile  string            // TOKEN_KEY_FILE, default token.key in data: the key that encrypts token secrets, created if missing
	tokens   []bootstrap.Token // INIT_…_API_TOKENS
	networks webhook.Networks  // WEBHOOK_PRIVATE_NETWORKS
	terminal bool              // whether a person reads what the server prints, and not a log; always with PRINT_SECRETS
	config   httpapi.Config    // AUTH_TYPE, LIMITS, LOG_LEVEL, PUBLIC_URL, SESSION_HOURS, OIDC_…
}

func readSettings(getenv func(string) string) (settings, error) {
	s := settings{
		host: or(getenv("HOST"), "127.0.0.1"), port: or(getenv("PORT"), "4242"), data: getenv("DATA_DIR"),
		endpoint: getenv("AWS_ENDPOINT_URL_DYNAMODB"), table: or(getenv("TABLE_NAME"), "guidon"),
		terminal: term.IsTerminal(int(os.Stdout.Fd())) || getenv("PRINT_SECRETS") == "always",
	}
	if net.ParseIP(s.host) == nil {
		return s, fmt.Errorf("HOST is %q; it must be an IP address: 127.0.0.1 for this machine only, 0.0.0.0 for all networks", s.host)
	}
	if n, err := strconv.Atoi(s.port); err != nil || n < 0 || n > 65535 {
		return s, fmt.Errorf("PORT is %q; it must be a number up to 65535", s.port)
	}
	if s.endpoint != "" {
		if at, err := url.Parse(s.endpoint); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
			return s, fmt.Errorf("AWS_ENDPOINT_URL_DYNAMODB is %q; it must be an address such as http://127.0.0.1:8000", s.endpoint)
		}
	}
	if s.data == "" {
		local, err := engine.LocalDir()
		if err != nil {
			return s, err
		}
		s.data = filepath.Join(local, "data")
	}
	s.keyFile = or(getenv("TOKEN_KEY_FILE"), filepath.Join(s.data, "token.key"))
	var err error
	if s.config, err = httpapi.ConfigFromEnv(); err != nil {
		return s, err
	}
	if s.networks, err = webhook.ParseNetworks(getenv("WEBHOOK_PRIVATE_NETWORKS")); err != nil {
		return s, err
	}
	s.config.CheckWebhook = s.networks.CheckURL
	openID, err := oidc.Parse(getenv)
	if err != nil {
		return s, err
	}
	if openID != nil {
		provider := oidc.New(*openID, time.Now)
		s.config.OpenID = signin.OpenID(func(context.Context) (*oidc.Provider, error) { return provider, nil })
	}
	s.tokens, err = bootstrap.TokensFromEnv(tokenSettings(os.Environ()))
	return s, err
}

// tokenSettings returns the settings of tokens to create. If the environment has none, also none that Guidon does not know, these are the
// tokens that users of Unleash know.
func tokenSettings(environ []string) func(name string) string {
	set := map[string]string{}
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); isTokenVariable(name) {
			set[name] = value
		}
	}
	if len(set) == 0 {
		set = map[string]string{
			bootstrap.TokenVariable(access.AdminToken):    bootstrap.LocalAdminToken,
			bootstrap.TokenVariable(access.ClientToken):   bootstrap.LocalClientToken,
			bootstrap.TokenVariable(access.FrontendToken): bootstrap.LocalFrontendToken,
		}
	}
	return func(name string) string { return set[name] }
}

// isTokenVariable reports whether a variable has tokens to create, also of a type that Guidon does not know. Others begin with INIT_ too:
// npm sets INIT_CWD.
func isTokenVariable(name string) bool {
	return strings.HasPrefix(name, "INIT_") && strings.HasSuffix(name, "_API_TOKENS")
}

func or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// localURL is the address of the server for a caller on this machine.
func localURL(address net.Addr) string {
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return "http://127.0.0.1:" + strconv.Itoa(tcp.Port)
	}
	return "http://" + address.String()
}

// exposed is a warning if other machines may reach the server and no secret protects it; otherwise "". knownToken tells whether the
// default admin token is valid.
func (s settings) exposed(knownToken bool) string {
	const advice = ", or let only this machine reach it (HOST=127.0.0.1; docker run -p 127.0.0.1:4242:4242)"
	switch {
	case net.ParseIP(s.host).IsLoopback():
		return ""
	case s.config.Open:
		return "HOST is " + s.host + ", and with AUTH_TYPE=none everyone who reaches this server may change it: require tokens" + advice
	case knownToken && slices.ContainsFunc(s.tokens, func(t bootstrap.Token) bool { return t.Secret == bootstrap.LocalAdminToken }):
		return "HOST is " + s.host + ", and the admin token is the default one, which everyone knows: set INIT_ADMIN_API_TOKENS before the first start" + advice
	case knownToken:
		return "HOST is " + s.host + ", and the default admin token of an earlier start, which everyone knows, is still valid: delete it (guidon token delete)" + advice
	}
	return ""
}

// console is the line with the address of the console, by which the first administrator signs in.
func (s settings) console(signIn string) string {
	switch {
	case s.config.Open:
		return "console         " + s.config.PublicURL + "/"
	case signIn == "":
		return "console         " + s.config.PublicURL + "/ (guidon link prints a link to sign in)"
	}
	return "sign in         " + access.SignInURL(s.config.PublicURL, signIn)
}

// shown is the secret of a token as the greeting shows it: one that not everyone knows is only shown in a terminal, since others may
// read a log.
func (s settings) shown(t bootstrap.Token) string {
	if s.terminal || slices.Contains([]string{bootstrap.LocalAdminToken, bootstrap.LocalClientToken, bootstrap.LocalFrontendToken}, t.Secret) {
		return t.Secret
	}
	return "set by " + bootstrap.TokenVariable(t.Type)
}

// greet prints what a new user needs: the addresses, a valid token of each type, and a first request.
func greet(w io.Writer, address net.Addr, s settings, tokens map[access.TokenType]bootstrap.Token, signIn string) {
	url := localURL(address)
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		url = s.config.PublicURL // in a container, the address of this machine is of no use outside of it
	}
	admin, header, token := s.shown(tokens[access.AdminToken]), "", ""
	switch {
	case s.config.Open:
		admin = "none needed (AUTH_TYPE=none)"
	case tokens[access.AdminToken].Secret == "":
		admin = "none is valid; set INIT_ADMIN_API_TOKENS to create one"
	case admin != tokens[access.AdminToken].Secret:
		header = ` -H "Authorization: $GUIDON_TOKEN"`
	default:
		header, token = " -H 'Authorization: "+admin+"'", admin
	}
	where := filepath.Join(s.data, dataFile)
	if s.endpoint != "" {
		where = s.endpoint + ", table " + s.table
	}
	_, _ = fmt.Fprintf(w, `
Guidon is ready. Ctrl-C stops it.

  address         %s
  %s
  API docs        %s/docs
  admin token     %s
`, url, s.console(signIn), url, admin)
	if client := tokens[access.ClientToken]; client.Secret != "" {
		_, _ = fmt.Fprintf(w, "  client token    %s (for SDKs on servers: %s/api)\n", s.shown(client), url)
	}
	if frontend := tokens[access.FrontendToken]; frontend.Secret != "" {
		_, _ = fmt.Fprintf(w, "  frontend token  %s (for browsers: %s/api/frontend)\n", s.shown(frontend), url)
	}
	_, _ = fmt.Fprintf(w, `  data            %s

Try:  curl -s%s %s/api/admin/projects/default/features
%s
`, where, header, url, exports(url, s.host, token))
}

// exports are the lines that let the command find itself and this server in another terminal, and sign in; "" if it needs none.
func exports(url, host, token string) (lines string) {
	program, err := os.Executable()
	if found, missing := exec.LookPath(filepath.Base(program)); err == nil && (missing != nil || found != program) {
		lines += fmt.Sprintf("  export PATH=%q:\"$PATH\"\n", filepath.Dir(program))
	}
	if url != "http://127.0.0.1:4242" && net.ParseIP(host).IsLoopback() {
		lines += fmt.Sprintf("  export GUIDON_URL=%s\n", url)
	}
	if token != "" && net.ParseIP(host).IsLoopback() {
		lines += fmt.Sprintf("  export GUIDON_TOKEN='%s'\n", token)
	}
	if lines == "" {
		return ""
	}
	return "\nFor the command guidon in another terminal:\n\n" + lines
}
