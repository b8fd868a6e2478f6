package edge

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestReadConfig(t *testing.T) {
	t.Parallel()
	const upstream = "--upstream-url=http://u"
	for _, tt := range []struct {
		args  string
		env   map[string]string
		check func(c Config) bool
	}{
		{"edge " + upstream, nil, func(c Config) bool {
			return c.Upstreams[0] == "http://u" && c.Port == "3063" && c.RefreshInterval == 15*time.Second && c.RevalidationInterval == time.Minute && c.KeepTokens == 24*time.Hour && c.UpstreamHeader == "Authorization"
		}},
		{"edge", map[string]string{"UPSTREAM_URL": "https://u/api/", "TOKENS": "*:a.x, *:b.y", "STRICT": "true", "FEATURES_REFRESH_INTERVAL_SECONDS": "1"}, func(c Config) bool {
			return c.Upstreams[0] == "https://u" && len(c.Tokens) == 2 && c.Tokens[1] == "*:b.y" && c.Strict && c.RefreshInterval == time.Second
		}},
		{"-p 80 --base-path /x/ edge -u http://u -t *:a.x -t *:b.y -b backup -m 5 -H X-A:1 -H X-B:2", nil, func(c Config) bool {
			return c.Port == "80" && c.BasePath == "/x" && len(c.Tokens) == 2 && c.BackupFolder == "backup" && c.MetricsInterval == 5*time.Second && c.UpstreamHeaders.Get("X-B") == "2"
		}},
		{"-b /y edge -u http://u --port 90", map[string]string{"PORT": "80", "TOKEN_HEADER": "X-T"}, func(c Config) bool {
			return c.BasePath == "/y" && c.Port == "90" && c.TokenHeader == "X-T" && c.UpstreamHeader == "X-T"
		}},
		{"edge --strict --tokens *:a.x --disable-all-endpoint --disable-tokens-endpoint --allow-list 10.0.0.0/8,1.2.3.4 " + upstream, nil, func(c Config) bool {
			return c.Strict && c.DisableAll && len(c.AllowList) == 2 && c.AllowList[1].Bits() == 32
		}},
		{"offline -b file -c *:a.x", map[string]string{"FRONTEND_TOKENS": "*:a.y"}, func(c Config) bool {
			return c.BootstrapFile == "file" && len(c.ClientTokens) == 1 && len(c.FrontendTokens) == 1
		}},
		{"offline -b file -t *:a.x", nil, func(c Config) bool { return len(c.ClientTokens) == 1 }},
		{"health -e http://h", nil, func(c Config) bool { return c.EdgeURL == "http://h" }},
		{"ready", nil, func(c Config) bool { return c.EdgeURL == "http://localhost:3063" }},
	} {
		c, err := ReadConfig(strings.Fields(tt.args), func(name string) string { return tt.env[name] })
		if err != nil || !tt.check(c) {
			t.Errorf("%s %v: %v, %+v", tt.args, tt.env, err, c)
		}
	}
}

// TestRefusedConfig checks that a mistake is an error that names the setting, and one of Unleash Edge that is missing here what to use
// instead.
func TestRefusedConfig(t *testing.T) {
	t.Parallel()
	const fine = "edge --upstream-url=http://u "
	for _, tt := range []struct {
		args, variable, value string
		want                  string
	}{
		{"", "", "", "command"},
		{"serve", "", "", "command"},
		{"edge", "", "", "UPSTREAM_URL"},
		{"edge", "UPSTREAM_URL", "guidon", "UPSTREAM_URL"},
		{fine, "REDIS_URL", "redis://r", "BACKUP_FOLDER"},
		{fine + "--redis-host r", "", "", "BACKUP_FOLDER"},
		{fine + "--workers 4", "", "", "GOMAXPROCS"},
		{fine, "S3_BUCKET_NAME", "b", "BACKUP_FOLDER"},
		{fine, "PROMETHEUS_REMOTE_WRITE_URL", "u", "/metrics"},
		{fine, "PKCS12_IDENTITY_FILE", "f", "PKCS8_CLIENT_CERTIFICATE_FILE"},
		{fine + "--nosuch", "", "", "nosuch"},
		{fine + "cert.pem", "", "", "UPSTREAM_CERTIFICATE_FILE"},
		{fine, "TOKENS", "secret", "TOKENS"},
		{fine, "STRICT", "true", "TOKENS"},
		{fine + "--strict --dynamic", "TOKENS", "*:a.x", "exclude"},
		{fine, "STRICT", "perhaps", "STRICT"},
		{fine, "PORT", "http", "PORT"},
		{fine, "FEATURES_REFRESH_INTERVAL_SECONDS", "0", "interval"},
		{fine, "METRICS_INTERVAL_SECONDS", "soon", "METRICS_INTERVAL_SECONDS"},
		{fine, "ALLOW_LIST", "home", "ALLOW_LIST"},
		{fine, "CUSTOM_CLIENT_HEADERS", "X", "CUSTOM_CLIENT_HEADERS"},
		{fine, "TLS_ENABLE", "true", "TLS_SERVER_KEY"},
		{fine, "LOG_FORMAT", "xml", "LOG_FORMAT"},
		{fine, "PKCS8_CLIENT_KEY_FILE", "k", "need each other"},
		{"offline", "CLIENT_TOKENS", "*:a.x", "BOOTSTRAP_FILE"},
		{"offline", "BOOTSTRAP_FILE", "f", "CLIENT_TOKENS"},
	} {
		_, err := ReadConfig(strings.Fields(tt.args), func(name string) string {
			if name == tt.variable {
				return tt.value
			}
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s=%s: %v, want %q in it", tt.args, tt.variable, tt.value, err, tt.want)
		}
		if err != nil && tt.variable == "TOKENS" && strings.Contains(err.Error(), "secret ") {
			t.Errorf("the error has the secret: %v", err)
		}
	}
}

// TestHelp checks that the help has every setting, and that each has a line.
func TestHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := Main(t.Context(), "guidon-edge", []string{"edge", "--help"}, func(string) string { return "" }, &out, &out); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, s := range settings {
		if s.usage == "" || !strings.Contains(out.String(), "  "+s.name) {
			t.Errorf("the help has no %s", s.name)
		}
	}
}
