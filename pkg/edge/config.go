package edge

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A Config has the settings of an Edge. ReadConfig makes one, with the defaults.
type Config struct {
	Command string // one of Commands

	Port, Interface, BasePath string
	TLS                       struct {
		Enable          bool
		Key, Cert, Port string
	}
	CORS struct {
		Origins                                 []string
		AllowedHeaders, ExposedHeaders, Methods string
		MaxAge                                  string
	}
	AllowList, DenyList    []netip.Prefix // empty AllowList: everyone
	TrustProxy             bool
	TrustedProxies         []netip.Prefix // empty: every caller, with TrustProxy
	RequestTimeout         time.Duration
	KeepaliveTimeout       time.Duration
	TokenHeader            string // of requests to Edge
	DisableAll             bool   // /api/frontend/all
	DisableMetricsEndpoint bool
	MaxAge                 time.Duration // of a state; 0 for any
	MaxStreams             int
	LogJSON                bool
	AppName, InstanceID    string

	Upstreams              []string // in the order of preference
	UpstreamHeader         string   // that has the token
	UpstreamHeaders        http.Header
	SkipVerification       bool
	Streaming              bool
	CAFile                 string
	ClientCert, ClientKey  string
	UpstreamRequestTimeout time.Duration
	UpstreamSocketTimeout  time.Duration
	RefreshInterval        time.Duration
	MetricsInterval        time.Duration
	RevalidationInterval   time.Duration
	KeepTokens             time.Duration
	Tokens                 []string
	Pretrusted             []string
	Strict, Dynamic        bool
	BackupFolder           string

	BootstrapFile                string
	ClientTokens, FrontendTokens []string
	ReloadInterval               time.Duration

	ExtensionStart, ExtensionRefresh time.Duration // how long the extension may take before the first invocation, and beside one

	EdgeURL string // of health and ready
}

// A setting is an environment variable, and the flag of the same name in lower case.
type setting struct {
	name     string
	short    string // the flag of one letter; "" for none
	commands string // that have it; "" for those that serve
	fallback string // the default
	usage    string
	isSwitch bool // true or false
	set      func(c *Config, value string) error
}

func (s setting) flag() string { return strings.ToLower(strings.ReplaceAll(s.name, "_", "-")) }

// of reports whether a command has the setting. The extension has those of edge.
func (s setting) of(command string) bool {
	commands := strings.Fields(cmp.Or(s.commands, "edge offline"))
	return slices.Contains(commands, command) || command == "extension" && slices.Contains(commands, "edge")
}

// settings are those of Unleash Edge, and a few of Guidon's own.
var settings = []setting{
	{name: "UPSTREAM_URL", short: "u", commands: "edge", usage: "the URL of Guidon, Unleash or another Edge, without /api, or of what Guidon publishes: s3://bucket/folder, file:///folder; several, separated by commas, in the order of preference", set: list(func(c *Config) *[]string { return &c.Upstreams })},
	{name: "TOKENS", short: "t", commands: "edge", usage: "client tokens whose flags Edge reads from the start, separated by commas: one of all projects for each environment", set: list(func(c *Config) *[]string { return &c.Tokens })},
	{name: "STRICT", commands: "edge", isSwitch: true, usage: "serve only what TOKENS can read", set: yes(func(c *Config) *bool { return &c.Strict })},
	{name: "DYNAMIC", commands: "edge", isSwitch: true, usage: "also read flags with the client tokens of applications: what Edge does without STRICT", set: yes(func(c *Config) *bool { return &c.Dynamic })},
	{name: "PRETRUSTED_TOKENS", short: "p", commands: "edge", usage: "frontend tokens that are valid without asking the upstream: token, or text@environment", set: list(func(c *Config) *[]string { return &c.Pretrusted })},
	{name: "FEATURES_REFRESH_INTERVAL_SECONDS", short: "f", commands: "edge", fallback: "15", usage: "how often to ask for changes", set: seconds(func(c *Config) *time.Duration { return &c.RefreshInterval })},
	{name: "METRICS_INTERVAL_SECONDS", short: "m", commands: "edge", fallback: "60", usage: "how often to report usage", set: seconds(func(c *Config) *time.Duration { return &c.MetricsInterval })},
	{name: "TOKEN_REVALIDATION_INTERVAL_SECONDS", commands: "edge", fallback: "60", usage: "how often to check that tokens are still valid", set: seconds(func(c *Config) *time.Duration { return &c.RevalidationInterval })},
	{name: "KEEP_TOKENS", commands: "edge", fallback: "24h", usage: "how long a token stays valid while the upstream cannot be asked", set: seconds(func(c *Config) *time.Duration { return &c.KeepTokens })},
	{name: "MAX_AGE", commands: "edge", fallback: "0", usage: "answer 503 when the flags are older than this; 0 for never", set: seconds(func(c *Config) *time.Duration { return &c.MaxAge })},
	{name: "BACKUP_FOLDER", short: "b", commands: "edge", usage: "a folder for the last state, from which Edge starts while the upstream is unavailable", set: text(func(c *Config) *string { return &c.BackupFolder })},
	{name: "CUSTOM_CLIENT_HEADERS", short: "H", commands: "edge", usage: "headers to send to the upstream, as Name: value, separated by commas", set: setHeaders},
	{name: "UPSTREAM_AUTH_HEADER", usage: "the header with the token in requests to the upstream", fallback: "Authorization", commands: "edge", set: text(func(c *Config) *string { return &c.UpstreamHeader })},
	{name: "UPSTREAM_REQUEST_TIMEOUT", commands: "edge", fallback: "30", usage: "the longest request to the upstream", set: seconds(func(c *Config) *time.Duration { return &c.UpstreamRequestTimeout })},
	{name: "UPSTREAM_SOCKET_TIMEOUT", commands: "edge", fallback: "5", usage: "the longest wait for a connection to the upstream, and for the start of its response", set: seconds(func(c *Config) *time.Duration { return &c.UpstreamSocketTimeout })},
	{name: "UPSTREAM_CERTIFICATE_FILE", commands: "edge", usage: "certificates (PEM) to trust in addition to those of the system", set: text(func(c *Config) *string { return &c.CAFile })},
	{name: "PKCS8_CLIENT_CERTIFICATE_FILE", commands: "edge", usage: "a client certificate (PEM) for the upstream", set: text(func(c *Config) *string { return &c.ClientCert })},
	{name: "PKCS8_CLIENT_KEY_FILE", commands: "edge", usage: "its key (PEM)", set: text(func(c *Config) *string { return &c.ClientKey })},
	{name: "SKIP_SSL_VERIFICATION", short: "s", commands: "edge", isSwitch: true, usage: "do not check the certificate of the upstream", set: yes(func(c *Config) *bool { return &c.SkipVerification })},
	{name: "STREAMING", commands: "edge", isSwitch: true, usage: "also listen to the stream of the upstream, if it has one, to know of changes at once", set: yes(func(c *Config) *bool { return &c.Streaming })},
	{name: "DELTA", commands: "edge", isSwitch: true, usage: "has no effect: Edge reads only changes wherever the upstream can tell them", set: yes(func(*Config) *bool { return new(bool) })},

	{name: "BOOTSTRAP_FILE", short: "b", commands: "offline", usage: "the file with the flags: a response of GET /api/client/features, or {\"name\": {\"enabled\": true, \"variant\": \"blue\"}}", set: text(func(c *Config) *string { return &c.BootstrapFile })},
	{name: "CLIENT_TOKENS", short: "c", commands: "offline", usage: "tokens that SDKs on servers may use, separated by commas", set: list(func(c *Config) *[]string { return &c.ClientTokens })},
	{name: "FRONTEND_TOKENS", short: "f", commands: "offline", usage: "tokens that browsers may use", set: list(func(c *Config) *[]string { return &c.FrontendTokens })},
	{name: "TOKENS", short: "t", commands: "offline", usage: "an earlier name of CLIENT_TOKENS", set: func(c *Config, value string) error {
		c.ClientTokens = append(c.ClientTokens, split(value)...)
		return nil
	}},
	{name: "RELOAD_INTERVAL", short: "r", commands: "offline", fallback: "0", usage: "how often to read the file again; 0 for never", set: seconds(func(c *Config) *time.Duration { return &c.ReloadInterval })},

	{name: "EXTENSION_START_TIMEOUT", commands: "extension", fallback: "500ms", usage: "how long to wait for the first flags, before the first invocation", set: seconds(func(c *Config) *time.Duration { return &c.ExtensionStart })},
	{name: "EXTENSION_REFRESH_TIMEOUT", commands: "extension", fallback: "200ms", usage: "how long to ask for changes and report usage, beside an invocation", set: seconds(func(c *Config) *time.Duration { return &c.ExtensionRefresh })},

	{name: "PORT", short: "p", fallback: "3063", usage: "the port for HTTP; 0 for a free one", set: port(func(c *Config) *string { return &c.Port })},
	{name: "INTERFACE", short: "i", fallback: "0.0.0.0", usage: "the IP address to listen on", set: text(func(c *Config) *string { return &c.Interface })},
	{name: "BASE_PATH", usage: "a path in front of all others, such as /edge", set: func(c *Config, value string) error {
		if value = strings.Trim(value, "/"); value != "" {
			c.BasePath = "/" + value
		}
		return nil
	}},
	{name: "TLS_ENABLE", isSwitch: true, usage: "also serve HTTPS", set: yes(func(c *Config) *bool { return &c.TLS.Enable })},
	{name: "TLS_SERVER_KEY", usage: "the file with the key for HTTPS (PEM)", set: text(func(c *Config) *string { return &c.TLS.Key })},
	{name: "TLS_SERVER_CERT", usage: "the file with the certificate for HTTPS (PEM)", set: text(func(c *Config) *string { return &c.TLS.Cert })},
	{name: "TLS_SERVER_PORT", fallback: "3043", usage: "the port for HTTPS; 0 for a free one", set: port(func(c *Config) *string { return &c.TLS.Port })},
	{name: "CORS_ORIGIN", fallback: "*", usage: "origins whose pages may evaluate flags, separated by commas", set: list(func(c *Config) *[]string { return &c.CORS.Origins })},
	{name: "CORS_ALLOWED_HEADERS", usage: "headers that pages may send; by default all", set: text(func(c *Config) *string { return &c.CORS.AllowedHeaders })},
	{name: "CORS_EXPOSED_HEADERS", fallback: "ETag", usage: "headers of responses that pages may read", set: text(func(c *Config) *string { return &c.CORS.ExposedHeaders })},
	{name: "CORS_METHODS", fallback: "GET, POST, OPTIONS", usage: "methods that pages may use", set: text(func(c *Config) *string { return &c.CORS.Methods })},
	{name: "CORS_MAX_AGE", fallback: "172800", usage: "how many seconds a browser may remember this", set: text(func(c *Config) *string { return &c.CORS.MaxAge })},
	{name: "ALLOW_LIST", usage: "networks that may call, such as 10.0.0.0/8; by default all. Anyone may ask for /health and /ready", set: networks(func(c *Config) *[]netip.Prefix { return &c.AllowList })},
	{name: "DENY_LIST", usage: "networks that may not call", set: networks(func(c *Config) *[]netip.Prefix { return &c.DenyList })},
	{name: "TRUST_PROXY", isSwitch: true, usage: "take the address of the caller from X-Forwarded-For, without its port and brackets", set: yes(func(c *Config) *bool { return &c.TrustProxy })},
	{name: "PROXY_TRUSTED_SERVERS", usage: "with TRUST_PROXY, only from these networks", set: networks(func(c *Config) *[]netip.Prefix { return &c.TrustedProxies })},
	{name: "DISABLE_ALL_ENDPOINT", isSwitch: true, usage: "do not serve /api/frontend/all", set: yes(func(c *Config) *bool { return &c.DisableAll })},
	{name: "DISABLE_METRICS_ENDPOINT", isSwitch: true, usage: "do not serve /metrics and /internal-backstage/prometheus", set: yes(func(c *Config) *bool { return &c.DisableMetricsEndpoint })},
	{name: "EDGE_REQUEST_TIMEOUT", fallback: "5", usage: "the longest request", set: seconds(func(c *Config) *time.Duration { return &c.RequestTimeout })},
	{name: "EDGE_KEEPALIVE_TIMEOUT", fallback: "75", usage: "how long a connection stays open without a request", set: seconds(func(c *Config) *time.Duration { return &c.KeepaliveTimeout })},
	{name: "EDGE_AUTH_HEADER", fallback: "Authorization", usage: "the header with the token in requests to Edge", set: text(func(c *Config) *string { return &c.TokenHeader })},
	{name: "TOKEN_HEADER", usage: "sets EDGE_AUTH_HEADER and UPSTREAM_AUTH_HEADER", set: func(c *Config, value string) error {
		c.TokenHeader, c.UpstreamHeader = value, value
		return nil
	}},
	{name: "MAX_STREAMS", fallback: "10000", usage: "how many streams there can be; SDKs get 429 for more", set: func(c *Config, value string) (err error) {
		if c.MaxStreams, err = strconv.Atoi(value); err != nil || c.MaxStreams < 0 {
			err = fmt.Errorf("must be a number, not %q", value)
		}
		return err
	}},
	{name: "APP_NAME", short: "a", fallback: "guidon-edge", usage: "the name of this Edge at the upstream", set: text(func(c *Config) *string { return &c.AppName })},
	{name: "INSTANCE_ID", usage: "the name of this instance; by default a random one", set: text(func(c *Config) *string { return &c.InstanceID })},
	{name: "LOG_FORMAT", short: "l", fallback: "plain", usage: "plain (also as pretty) or json", set: func(c *Config, value string) error {
		c.LogJSON = value == "json"
		if value != "json" && value != "plain" && value != "pretty" {
			return fmt.Errorf("must be plain or json, not %q", value)
		}
		return nil
	}},

	{name: "EDGE_URL", short: "e", commands: "health ready", fallback: "http://localhost:3063", usage: "the URL of the Edge to check, with its port and BASE_PATH", set: text(func(c *Config) *string { return &c.EdgeURL })},
	{name: "CA_CERTIFICATE_FILE", short: "c", commands: "health ready", usage: "certificates (PEM) to trust in addition to those of the system", set: text(func(c *Config) *string { return &c.CAFile })},
}

// inert are settings of Unleash Edge for endpoints that this Edge does not have.
var inert = []string{"DISABLE_METRICS_BATCH_ENDPOINT", "DISABLE_FEATURES_ENDPOINT", "DISABLE_TOKENS_ENDPOINT", "DISABLE_INSTANCE_DATA_ENDPOINT"}

// unsupported are settings of Unleash Edge that this Edge does not have, and what to use instead.
var unsupported = map[string]string{
	"WORKERS":                     "set GOMAXPROCS",
	"S3_BUCKET_NAME":              useBackup,
	"REDIS_URL":                   useBackup,
	"REDIS_MODE":                  useBackup,
	"REDIS_PASSWORD":              useBackup,
	"REDIS_USERNAME":              useBackup,
	"REDIS_PORT":                  useBackup,
	"REDIS_HOST":                  useBackup,
	"REDIS_SECURE":                useBackup,
	"REDIS_SCHEME":                useBackup,
	"PKCS12_IDENTITY_FILE":        usePEM,
	"PKCS12_PASSPHRASE":           usePEM,
	"PROMETHEUS_REMOTE_WRITE_URL": useScrape,
	"PROMETHEUS_PUSH_INTERVAL":    useScrape,
	"PROMETHEUS_USERNAME":         useScrape,
	"PROMETHEUS_PASSWORD":         useScrape,
	"PROMETHEUS_USER_ID":          useScrape,

	"REDIS_READ_CONNECTION_TIMEOUT_MILLISECONDS":  useBackup,
	"REDIS_WRITE_CONNECTION_TIMEOUT_MILLISECONDS": useBackup,
}

const (
	useBackup = "use BACKUP_FOLDER, which keeps the last state in a folder"
	usePEM    = "convert the identity to PEM, and use PKCS8_CLIENT_CERTIFICATE_FILE and PKCS8_CLIENT_KEY_FILE"
	useScrape = "have Prometheus scrape /metrics"
)

// Commands are the commands of Edge.
var Commands = []string{"edge", "offline", "extension", "health", "ready"}

// ReadConfig reads a command line and the environment. As with Unleash Edge, a flag of all commands can stand before the command. A flag
// takes precedence over its variable. The error is flag.ErrHelp if help was asked for.
func ReadConfig(args []string, getenv func(string) string) (Config, error) {
	given := map[string][]string{}
	before, err := parseFlags("", args, given)
	if err != nil {
		return Config{}, err
	}
	if len(before) == 0 || !slices.Contains(Commands, before[0]) {
		return Config{}, fmt.Errorf("the command must be %s or version", strings.Join(Commands, ", "))
	}
	c := Config{Command: before[0], InstanceID: "guidon-edge@" + uuid.NewString(), UpstreamHeaders: http.Header{}}
	rest, err := parseFlags(c.Command, before[1:], given)
	if err != nil {
		return c, err
	}
	if len(rest) > 0 {
		return c, fmt.Errorf("%q is no setting; certificates of the upstream are in UPSTREAM_CERTIFICATE_FILE", rest[0])
	}
	if c.Command == "extension" {
		getenv = extensionVariables(getenv)
	}
	var missing []error
	for _, name := range slices.Sorted(maps.Keys(unsupported)) {
		if getenv(name) != "" {
			missing = append(missing, unsupportedError(name, unsupported[name]))
		}
	}
	if len(missing) > 0 {
		return c, errors.Join(missing...)
	}
	for _, s := range settings {
		if !s.of(c.Command) {
			continue
		}
		value := strings.Join(given[s.name], ",")
		if value = cmp.Or(value, getenv(s.name), s.fallback); value == "" {
			continue
		}
		if err := s.set(&c, value); err != nil {
			return c, fmt.Errorf("%s %w", s.name, err)
		}
	}
	return c, c.check()
}

func unsupportedError(name, instead string) error {
	return fmt.Errorf("%s is a setting of Unleash Edge that this Edge does not have: %s", name, instead)
}

// parseFlags adds the values of flags to given, by the name of their setting, and returns the arguments after them. A command of ""
// stands for the flags in front of the command.
func parseFlags(command string, args []string, given map[string][]string) ([]string, error) {
	set := flag.NewFlagSet(command, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, s := range settings {
		if command != "" && !s.of(command) || command == "" && s.commands != "" {
			continue
		}
		add := func(value string) error {
			given[s.name] = append(given[s.name], value)
			return nil
		}
		for _, name := range []string{s.flag(), s.short} {
			switch {
			case name == "" || set.Lookup(name) != nil:
			case s.isSwitch:
				set.BoolFunc(name, "", add)
			default:
				set.Func(name, "", add)
			}
		}
	}
	if command == "" {
		set.Func("b", "", func(value string) error { given["BASE_PATH"] = []string{value}; return nil }) // with a command, the backup folder or the file
	}
	for _, name := range inert {
		set.Bool(setting{name: name}.flag(), false, "")
	}
	for name, instead := range unsupported {
		refuse := func(string) error { return errors.New(instead) }
		set.BoolFunc(setting{name: name}.flag(), "", refuse)
	}
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	return set.Args(), nil
}

// check checks what settings need together.
func (c *Config) check() error {
	switch c.Command {
	case "edge", "extension":
		if len(c.Upstreams) == 0 {
			return errors.New("UPSTREAM_URL is required: the URL of Guidon or Unleash, such as https://flags.example.com")
		}
		for i, text := range c.Upstreams {
			if isPublication(text) || filepath.IsAbs(text) {
				c.Upstreams[i] = strings.TrimRight(text, "/")
				if filepath.IsAbs(text) {
					c.Upstreams[i] = "file://" + c.Upstreams[i]
				}
				continue
			}
			u, err := url.Parse(text)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
				return fmt.Errorf("UPSTREAM_URL has %q; it must be a URL such as https://flags.example.com", text)
			}
			c.Upstreams[i] = strings.TrimSuffix(strings.TrimRight(text, "/"), "/api")
		}
		if c.Strict && c.Dynamic {
			return errors.New("STRICT and DYNAMIC exclude each other")
		}
		if c.Strict && len(c.Tokens) == 0 {
			return errors.New("STRICT needs TOKENS: without them, Edge has nothing to serve")
		}
		for _, token := range c.Tokens {
			if _, _, ok := parseSecret(token); !ok || strings.ContainsAny(token, " \t\r\n") {
				return errors.New("TOKENS has a token that does not look like project:environment.secret")
			}
		}
		for _, interval := range []time.Duration{c.RefreshInterval, c.MetricsInterval, c.RevalidationInterval} {
			if interval <= 0 {
				return errors.New("intervals must be at least one second")
			}
		}
		if (c.ClientCert == "") != (c.ClientKey == "") {
			return errors.New("PKCS8_CLIENT_CERTIFICATE_FILE and PKCS8_CLIENT_KEY_FILE need each other")
		}
	case "offline":
		if c.BootstrapFile == "" {
			return errors.New("BOOTSTRAP_FILE is required: a response of GET /api/client/features, or {\"name\": {\"enabled\": true}}")
		}
		if len(c.ClientTokens)+len(c.FrontendTokens) == 0 {
			return errors.New("CLIENT_TOKENS or FRONTEND_TOKENS is required: the tokens that applications use")
		}
	}
	if c.TLS.Enable && (c.TLS.Key == "" || c.TLS.Cert == "") {
		return errors.New("TLS_ENABLE needs TLS_SERVER_KEY and TLS_SERVER_CERT")
	}
	return nil
}

func split(value string) (items []string) {
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, value string) error {
		*field(c) = value
		return nil
	}
}

func list(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, value string) error {
		*field(c) = split(value)
		return nil
	}
}

func yes(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, value string) error {
		is, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("must be true or false, not %q", value)
		}
		*field(c) = is
		return nil
	}
}

// seconds reads a number of seconds, or a duration with a unit such as 24h.
func seconds(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, value string) error {
		if _, err := strconv.Atoi(value); err == nil {
			value += "s"
		}
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 || d > 365*24*time.Hour {
			return fmt.Errorf("must be a number of seconds, or a duration such as 24h, not %q", value)
		}
		*field(c) = d
		return nil
	}
}

func port(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, value string) error {
		if n, err := strconv.Atoi(value); err != nil || n < 0 || n > 65535 {
			return fmt.Errorf("must be a number up to 65535, not %q", value)
		}
		*field(c) = value
		return nil
	}
}

// mappedBits is how many bits of an IPv6 address are before an IPv4 address that is mapped to it.
const mappedBits = 96

func networks(field func(*Config) *[]netip.Prefix) func(*Config, string) error {
	return func(c *Config, value string) error {
		for _, item := range split(value) {
			network, err := netip.ParsePrefix(item)
			if address, err2 := netip.ParseAddr(item); err != nil && err2 == nil {
				network, err = netip.PrefixFrom(address, address.BitLen()), nil
			}
			if err != nil {
				return fmt.Errorf("has %q; it must be networks such as 10.0.0.0/8, or addresses", item)
			}
			if address := network.Addr(); address.Is4In6() && network.Bits() >= mappedBits { // as httpapi.Address writes those
				network = netip.PrefixFrom(address.Unmap(), network.Bits()-mappedBits)
			}
			*field(c) = append(*field(c), network.Masked())
		}
		return nil
	}
}

func setHeaders(c *Config, value string) error {
	for _, item := range split(value) {
		name, text, found := strings.Cut(item, ":")
		if !found || strings.TrimSpace(name) == "" {
			return fmt.Errorf("has %q; a header is Name: value", item)
		}
		c.UpstreamHeaders.Add(strings.TrimSpace(name), strings.TrimSpace(text))
	}
	return nil
}
