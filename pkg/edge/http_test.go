package edge

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bootstrap is a response of GET /api/client/features.
const bootstrap = `{"version": 2, "features": [
	{"name": "on", "enabled": true, "project": "default", "strategies": [{"name": "default"}]},
	{"name": "off", "enabled": false, "project": "default", "strategies": [{"name": "default"}], "impressionData": true},
	{"name": "near", "enabled": true, "project": "other", "strategies": [{"name": "remoteAddress", "parameters": {"IPs": "10.0.0.7"}}]}]}`

// newOffline runs an Edge over a file.
func newOffline(t testing.TB, settings map[string]string) (*instance, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "features.json")
	if err := os.WriteFile(file, []byte(bootstrap), 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"BOOTSTRAP_FILE": file, "CLIENT_TOKENS": "*:development.c,default:development.d", "FRONTEND_TOKENS": "*:development.f"}
	for name, value := range settings {
		all[name] = value
	}
	return newEdge(t, "offline", all), file
}

func TestOffline(t *testing.T) {
	t.Parallel()
	e, file := newOffline(t, map[string]string{"RELOAD_INTERVAL": "50ms"})
	if on := e.on("*:development.c"); on != "near on" {
		t.Errorf("%q is on", on)
	}
	if on := e.on("default:development.d"); on != "on" {
		t.Errorf("%q is on for a token of default", on)
	}
	e.ask("GET", "/api/frontend", "*:development.f", "").want(t, 200, `"name":"on"`)
	e.ask("GET", "/api/client/features", "*:development.nosuch", "").want(t, 401)
	e.ask("GET", "/ready", "", "").want(t, 200)
	e.ask("POST", "/api/client/metrics", "*:development.c", metricsOf("app", "on", 1, 0)).want(t, 202)
	if err := os.WriteFile(file, []byte(`{"features": [{"na`), 0o600); err != nil {
		t.Fatal(err)
	}
	e.awaitLog("the file cannot be used")
	if on := e.on("*:development.c"); on != "near on" {
		t.Errorf("with a broken file, %q is on", on)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(bootstrap, `"on"`, `"changed"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	e.awaitOn("default:development.d", "changed")
}

func TestFrontendAll(t *testing.T) {
	t.Parallel()
	e, _ := newOffline(t, nil)
	if a := e.ask("GET", "/api/frontend", "*:development.f", "").want(t, 200); strings.Contains(a.body, `"off"`) {
		t.Errorf("a flag that is off is in %s", a)
	}
	for _, method := range []string{"GET", "POST"} {
		e.ask(method, "/api/frontend/all", "*:development.f", "").want(t, 200, `{"name":"off","enabled":false,"variant":{"name":"disabled","enabled":false,"feature_enabled":false,"featureEnabled":false},"impressionData":true}`, `"name":"on","enabled":true`)
	}
	e, _ = newOffline(t, map[string]string{"DISABLE_ALL_ENDPOINT": "true"})
	e.ask("GET", "/api/frontend/all", "*:development.f", "").want(t, 404)
}

// TestPaths checks the base path, slashes, methods, and what Edge does not serve.
func TestPaths(t *testing.T) {
	t.Parallel()
	e, _ := newOffline(t, map[string]string{"BASE_PATH": "edge/"})
	const token = "*:development.c"
	e.ask("GET", "/api/client/features", token, "").want(t, 200)
	e.ask("GET", "//api//client/features/", token, "").want(t, 200)
	e.ask("GET", "/api/client/features?tag=simple:x", token, "").want(t, 200, `"on"`) // the filter is ignored
	e.ask("GET", "/api/client/features?namePrefix=o", token, "").want(t, 200, `"on"`)
	e.ask("GET", "/api/client/features", token, "", "Unleash-Client-Spec: five").want(t, 400)
	e.ask("GET", "/api/client/features?"+strings.Repeat("a", 20<<10), token, "").want(t, 400)
	e.ask("POST", "/api/client/features", token, "").want(t, 404)
	e.ask("GET", "/api/admin/projects", token, "").want(t, 404, "the administration")
	e.ask("POST", "/api/frontend", "*:development.f", `{"context": 7}`).want(t, 400)
	e.ask("POST", "/api/frontend", "*:development.f", strings.Repeat("x", 300<<10)).want(t, 413)
	e.ask("POST", "/edge/validate", "", `{"tokens": ["*:development.c", "*:development.nosuch"]}`).want(t, 200, `{"tokens":[{"token":"*:development.c","type":"client","projects":["*"],"environment":"development"}]}`)
	e.ask("POST", "/edge/validate", "", `{}`).want(t, 400)
	for path, want := range map[string]string{
		"/health": `"health":"GOOD"`, "/internal-backstage/health": `"status":"OK"`, "/internal-backstage/ready": `"READY"`,
		"/metrics":                       `guidon_edge_requests_total{route="GET /api/client/features",status="200"} 4`,
		"/internal-backstage/prometheus": `guidon_edge_flags{environment="development",source="0"} 3`,
	} {
		e.ask("GET", path, "", "").want(t, 200, want)
	}
	if got := ask(t, "GET", strings.TrimSuffix(e.url, "/edge")+"/health", "", ""); got.status != 404 {
		t.Errorf("without the base path: %s", got)
	}
	e, _ = newOffline(t, map[string]string{"DISABLE_METRICS_ENDPOINT": "true", "EDGE_AUTH_HEADER": "X-Token"})
	e.ask("GET", "/metrics", "", "").want(t, 404)
	e.ask("GET", "/api/client/features", "", "", "X-Token: "+token).want(t, 200)
	e.ask("GET", "/api/client/features", token, "").want(t, 401)
}

func TestCORS(t *testing.T) {
	t.Parallel()
	e, _ := newOffline(t, nil)
	const origin = "Origin: https://app.example"
	pre := e.ask("OPTIONS", "/api/frontend", "", "", origin, "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: authorization,if-none-match").want(t, 204)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "authorization,if-none-match", "Access-Control-Max-Age": "172800", "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
	} {
		if got := pre.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	a := e.ask("GET", "/api/frontend", "*:development.f", "", origin).want(t, 200)
	if a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Access-Control-Expose-Headers") != "ETag" || !strings.Contains(strings.Join(a.header.Values("Vary"), ","), "Origin") {
		t.Errorf("the headers are %v", a.header)
	}
	if a := e.ask("GET", "/api/frontend", "", "", origin).want(t, 401); a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Error("a page cannot read the 401")
	}
	if a := e.ask("GET", "/api/client/features", "*:development.c", "", origin); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("pages can read what is for servers")
	}
	e, _ = newOffline(t, map[string]string{"CORS_ORIGIN": "https://app.example, https://b.example", "CORS_ALLOWED_HEADERS": "x"})
	for from, want := range map[string]string{"https://app.example": "https://app.example", "https://evil.example": ""} {
		if a := e.ask("GET", "/api/frontend", "*:development.f", "", "Origin: "+from); a.header.Get("Access-Control-Allow-Origin") != want {
			t.Errorf("%s: %v", from, a.header)
		}
	}
}

// TestAddresses checks ALLOW_LIST, DENY_LIST, and whose address a context gets behind a proxy.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		settings map[string]string
		forward  string
		status   int
		near     bool
	}{
		{"a forged address", nil, "10.0.0.7", 200, false},
		{"a trusted proxy", map[string]string{"TRUST_PROXY": "true"}, "10.0.0.7, 192.168.0.1", 200, true},
		{"the nearest that is no proxy", map[string]string{"TRUST_PROXY": "true", "PROXY_TRUSTED_SERVERS": "127.0.0.1,192.168.0.0/16"}, "1.2.3.4, 10.0.0.7, 192.168.0.1", 200, true},
		{"another proxy", map[string]string{"TRUST_PROXY": "true", "PROXY_TRUSTED_SERVERS": "192.168.0.0/16"}, "10.0.0.7", 200, false},
		{"an address with a port", map[string]string{"TRUST_PROXY": "true"}, "10.0.0.7:51234", 200, true},
		{"an address that is mapped to IPv6", map[string]string{"TRUST_PROXY": "true", "ALLOW_LIST": "::ffff:10.0.0.0/104"}, "[::ffff:10.0.0.7]:443", 200, true},
		{"proxies with ports", map[string]string{"TRUST_PROXY": "true", "PROXY_TRUSTED_SERVERS": "127.0.0.1,192.168.0.0/16,2001:db8::/32"}, "1.2.3.4, 10.0.0.7:1, [2001:db8::1]:2, 192.168.0.1:3", 200, true},
		{"an address in brackets", map[string]string{"TRUST_PROXY": "true", "ALLOW_LIST": "2001:db8::/32"}, "[2001:db8::7]", 200, false},
		{"a denied address with a port", map[string]string{"TRUST_PROXY": "true", "DENY_LIST": "2001:db8::7,::ffff:10.0.0.8"}, "[2001:db8::7]:443", 403, false},
		{"a denied address that is mapped to IPv6", map[string]string{"TRUST_PROXY": "true", "DENY_LIST": "::ffff:10.0.0.7"}, "10.0.0.7", 403, false},
		{"no address", map[string]string{"TRUST_PROXY": "true"}, "unknown", 200, false},
		{"not in the list", map[string]string{"ALLOW_LIST": "10.0.0.0/8"}, "10.0.0.7", 403, false},
		{"in the list", map[string]string{"ALLOW_LIST": "127.0.0.0/8,::1"}, "", 200, false},
		{"denied", map[string]string{"DENY_LIST": "127.0.0.1"}, "", 403, false},
		{"denied behind a proxy", map[string]string{"DENY_LIST": "10.0.0.0/8", "TRUST_PROXY": "true"}, "10.0.0.7", 403, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, _ := newOffline(t, tt.settings)
			var headers []string
			if tt.forward != "" {
				headers = []string{"X-Forwarded-For: " + tt.forward}
			}
			a := e.ask("GET", "/api/frontend", "*:development.f", "", headers...).want(t, tt.status)
			e.ask("GET", "/health", "", "", headers...).want(t, 200) // what watches the container asks from other addresses
			e.ask("GET", "/internal-backstage/ready", "", "", headers...).want(t, 200)
			if got := strings.Contains(a.body, `"near"`); got != tt.near {
				t.Errorf("got %s, want near %t", a, tt.near)
			}
		})
	}
}

// certificate writes a new certificate of 127.0.0.1 and its key, and returns the files.
func certificate(t *testing.T) (cert, secret string) {
	t.Helper()
	folder := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, secret = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, secret: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, secret
}

// TestTLS checks HTTPS on both sides, and the commands health and ready.
func TestTLS(t *testing.T) {
	t.Parallel()
	cert, secret := certificate(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	newOffline(t, map[string]string{"TLS_ENABLE": "true", "TLS_SERVER_KEY": secret, "TLS_SERVER_CERT": cert, "TLS_SERVER_PORT": port, "CLIENT_TOKENS": "*:development.own"})
	url := "https://127.0.0.1:" + port
	for _, tt := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"health", "--edge-url", url, "--ca-certificate-file", cert}, 0, "OK"},
		{[]string{"ready", "-e", url, "-c", cert}, 0, "OK"},
		{[]string{"ready", "-e", url}, 1, "certificate"},
		{[]string{"ready", "-e", "http://127.0.0.1:1"}, 1, "refused"},
	} {
		var out bytes.Buffer
		if code := Main(t.Context(), "guidon-edge", tt.args, func(string) string { return "" }, &out, &out); code != tt.code || !strings.Contains(out.String(), tt.text) {
			t.Errorf("%v: %d %s", tt.args, code, out.String())
		}
	}
	for settings, want := range map[string]bool{"UPSTREAM_CERTIFICATE_FILE": true, "SKIP_SSL_VERIFICATION": true, "DELTA": false} {
		value := map[string]string{"UPSTREAM_CERTIFICATE_FILE": cert}[settings]
		if value == "" {
			value = "true"
		}
		e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": url, "TOKENS": "*:development.own", settings: value})
		if want {
			await(t, settings, 200, func() int { return e.ask("GET", "/ready", "", "").status })
		} else {
			e.awaitLog("certificate")
		}
	}
}

// TestClientCertificate checks that Edge shows its certificate to an upstream that asks for one.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own := g.token("client", "*", "development")
	cert, secret := certificate(t)
	pem, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(pem)
	upstream := httptest.NewUnstartedServer(g.Config.Handler)
	upstream.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trust}
	upstream.StartTLS()
	t.Cleanup(upstream.Close)
	settings := map[string]string{"UPSTREAM_URL": upstream.URL, "TOKENS": own, "SKIP_SSL_VERIFICATION": "true"}
	newEdge(t, "edge", settings).awaitLog("certificate required")
	settings["PKCS8_CLIENT_CERTIFICATE_FILE"], settings["PKCS8_CLIENT_KEY_FILE"] = cert, secret
	newEdge(t, "edge", settings).awaitOn(own, "a")
}
