package webhook

import (
	"bufio"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
)

// localNetworks allows the listeners of the tests.
func localNetworks(t *testing.T) Networks {
	t.Helper()
	n, err := ParseNetworks("127.0.0.1/32")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// receive starts a receiver.
func receive(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// listen starts a receiver that does what it wants with each connection, after it has read the request.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					serve(conn)
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

func TestDelivery(t *testing.T) {
	var got *http.Request
	var body string
	server := receive(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got, body = r, string(raw)
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, "thank \x00 you")
	})
	sender := NewSender(Options{Networks: localNetworks(t)})
	sender.now = func() time.Time { return time.Unix(1731705121, 0) }
	result := sender.Send(t.Context(), Message{
		ID: "msg_loFOjxBNrRLzqYUf", URL: server.URL + "/hook?a=b", ContentType: "application/json", Authorization: "Bearer x",
		Headers: map[string]string{"X-Team": "checkout", "authorization": "other", "host": "evil", "content-length": "1", "webhook-id": "other"},
		Body:    []byte(`{"event_type":"ping","data":{"success":true}}`), Secret: "whsec_plJ3nmyCDGBKInavdOK15jsl",
	})
	if result != (Result{Status: 202, Response: "thank � you"}) {
		t.Errorf("result %+v", result)
	}
	if got.Method != http.MethodPost || got.RequestURI != "/hook?a=b" || got.Host != strings.TrimPrefix(server.URL, "http://") || body != `{"event_type":"ping","data":{"success":true}}` {
		t.Errorf("%s %s of %s: %q", got.Method, got.RequestURI, got.Host, body)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Authorization": "Bearer x", "X-Team": "checkout",
		"Webhook-Id": "msg_loFOjxBNrRLzqYUf", "Webhook-Timestamp": "1731705121",
		// The example of https://github.com/standard-webhooks/standard-webhooks, checked with its library for Go.
		"Webhook-Signature": "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
	} {
		if got.Header.Get(name) != want || len(got.Header.Values(name)) != 1 {
			t.Errorf("%s: %q, want %q", name, got.Header.Values(name), want)
		}
	}
	if !strings.HasPrefix(got.UserAgent(), "Guidon/") {
		t.Errorf("user agent %q", got.UserAgent())
	}
}

func TestSignature(t *testing.T) {
	const want = "v1,9TJIK3r9RgqyZ5NL3V19FwRl9MY1nPXyoGAc45vzs28=" // of the same library
	got, err := sign("0123456789abcdef", "msg_loFOjxBNrRLzqYUf", "1731705121", []byte(`{"event_type":"ping","data":{"success":true}}`))
	if err != nil || got != want {
		t.Errorf("signature %q, %v; want %q", got, err, want)
	}
}

func TestStatuses(t *testing.T) {
	server := receive(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.WriteHeader(status)
	})
	sender := NewSender(Options{Networks: localNetworks(t)})
	for status, want := range map[int]string{
		200: "delivered", 204: "delivered", 299: "delivered",
		300: "permanent", 304: "permanent", 400: "permanent", 401: "permanent", 404: "permanent", 410: "permanent", 422: "permanent",
		408: "again", 425: "again", 429: "again", 500: "again", 502: "again", 503: "again", 599: "again",
	} {
		result := sender.Send(t.Context(), Message{URL: fmt.Sprintf("%s/%d", server.URL, status)})
		got := map[bool]string{true: "permanent", false: "again"}[result.Permanent]
		if result.Failure == "" {
			got = "delivered"
		}
		if got != want || result.Status != status {
			t.Errorf("%d: %+v, want %s", status, result, want)
		}
	}
}

// TestForbiddenAddresses posts to this machine under many names, without the setting.
func TestForbiddenAddresses(t *testing.T) {
	var reached counter
	server := receive(t, func(http.ResponseWriter, *http.Request) { reached.add() })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	resolver := serveDNS(t, func(int) []string { return []string{"127.0.0.1"} })
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]",
		"0.0.0.0", "[::]", "internal.example.com",
	} {
		for _, sender := range []*Sender{NewSender(Options{}), NewSender(Options{resolver: resolver})} {
			result := sender.Send(t.Context(), Message{URL: "http://" + host + ":" + port})
			if result.Failure == "" || result.Status != 0 || strings.Contains(result.Failure, "127.0.0.1") {
				t.Errorf("%s: %+v", host, result)
			}
		}
	}
	if n := reached.value(); n != 0 {
		t.Errorf("the receiver was reached %d times", n)
	}
	result := NewSender(Options{}).Send(t.Context(), Message{URL: server.URL})
	if result.Failure != errNetwork.Error() || !result.Permanent {
		t.Errorf("%+v", result)
	}
}

// TestRedirects checks that a receiver that is allowed cannot lead to an address that is not, nor anywhere else.
func TestRedirects(t *testing.T) {
	var reached counter
	inner := receive(t, func(http.ResponseWriter, *http.Request) { reached.add() })
	for _, status := range []int{301, 302, 303, 307, 308} {
		outer := receive(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inner.URL, status) })
		result := NewSender(Options{Networks: localNetworks(t)}).Send(t.Context(), Message{URL: outer.URL, Authorization: "Bearer x"})
		if result.Status != status || !strings.Contains(result.Failure, "redirects are not followed") || !result.Permanent {
			t.Errorf("%d: %+v", status, result)
		}
	}
	if n := reached.value(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// TestDNSRebinding asks a DNS server that names an allowed address for the first lookup and this machine for all others, and
// one that names both at once. What counts is the address that is connected to.
func TestDNSRebinding(t *testing.T) {
	var reached counter
	server := receive(t, func(http.ResponseWriter, *http.Request) { reached.add() })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	only, err := ParseNetworks("127.0.0.2/32") // an address of the loopback interface at which nothing listens
	if err != nil {
		t.Fatal(err)
	}
	var asked counter
	sender := NewSender(Options{Networks: only, Timeout: 2 * time.Second, resolver: serveDNS(t, func(n int) []string {
		asked.add()
		if n == 0 {
			return []string{"127.0.0.2"}
		}
		return []string{"127.0.0.1"}
	})})
	first := sender.Send(t.Context(), Message{URL: "http://rebind.example.com:" + port})
	if first.Failure == "" || first.Failure == errNetwork.Error() {
		t.Errorf("first: %+v, want a connection that fails", first)
	}
	for range 3 {
		if result := sender.Send(t.Context(), Message{URL: "http://rebind.example.com:" + port}); result.Failure != errNetwork.Error() {
			t.Errorf("then: %+v", result)
		}
	}
	if asked.value() != 4 {
		t.Errorf("the DNS server was asked %d times, want 4", asked.value())
	}
	both := NewSender(Options{Networks: only, Timeout: 2 * time.Second, resolver: serveDNS(t, func(int) []string { return []string{"127.0.0.2", "127.0.0.1"} })})
	if result := both.Send(t.Context(), Message{URL: "http://both.example.com:" + port}); result.Failure == "" {
		t.Errorf("both: %+v", result)
	}
	if n := reached.value(); n != 0 {
		t.Errorf("the receiver was reached %d times", n)
	}
	allowed := NewSender(Options{Networks: localNetworks(t), resolver: serveDNS(t, func(int) []string { return []string{"127.0.0.2", "127.0.0.1"} })})
	if result := allowed.Send(t.Context(), Message{URL: "http://both.example.com:" + port}); result.Failure != "" || reached.value() != 1 {
		t.Errorf("a name with an allowed address: %+v", result)
	}
}

// TestProxies checks that proxies of the environment are not used: they would connect to any address. net/http reads the
// environment once, so the test runs in a process of its own.
func TestProxies(t *testing.T) {
	const own = "GUIDON_TEST_PROXIES"
	if os.Getenv(own) == "" {
		test := exec.Command(os.Args[0], "-test.run=^TestProxies$")
		test.Env = append(os.Environ(), own+"=true")
		if out, err := test.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	var reached counter
	proxy := receive(t, func(http.ResponseWriter, *http.Request) { reached.add() })
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("ALL_PROXY", proxy.URL)
	resolver := serveDNS(t, func(int) []string { return []string{"10.0.0.1"} })
	for _, url := range []string{"http://name.example.com:8080", "https://name.example.com"} {
		result := NewSender(Options{Networks: localNetworks(t), resolver: resolver}).Send(t.Context(), Message{URL: url})
		if result.Failure != errNetwork.Error() {
			t.Errorf("%s: %+v", url, result)
		}
	}
	if reached.value() != 0 {
		t.Error("the proxy was used")
	}
}

// TestBadReceivers posts to receivers that are slow, endless or broken. No message takes much longer than the timeout.
func TestBadReceivers(t *testing.T) {
	const timeout = 500 * time.Millisecond
	const ok = "HTTP/1.1 200 OK\r\n"
	endless := func(conn net.Conn, text string) {
		for {
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) } // until the sender closes the connection
	for name, test := range map[string]struct {
		serve func(net.Conn)
		want  string // in the failure; "" if the message was delivered
	}{
		"never answers":      {silent, "in time"},
		"closes":             {func(net.Conn) {}, "closed the connection"},
		"half a status line": {func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1."); silent(conn) }, "in time"},
		"not HTTP":           {func(conn net.Conn) { endless(conn, "SSH-2.0 hello\r\n") }, "not HTTP"},
		"endless line":       {func(conn net.Conn) { endless(conn, strings.Repeat("x", 1000)) }, "too large"},
		"endless headers": {func(conn net.Conn) {
			_, _ = io.WriteString(conn, ok)
			endless(conn, "X-A: "+strings.Repeat("x", 100)+"\r\n")
		}, "too large"},
		"one huge header": {func(conn net.Conn) { _, _ = io.WriteString(conn, ok+"X-A: "); endless(conn, strings.Repeat("x", 1000)) }, "too large"},
		"endless 103":     {func(conn net.Conn) { endless(conn, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") }, "too large"},
		"slow headers": {func(conn net.Conn) {
			_, _ = io.WriteString(conn, ok)
			for range 100 {
				if _, err := io.WriteString(conn, "X-A: b\r\n"); err != nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
		}, "in time"},
		"endless body": {func(conn net.Conn) { _, _ = io.WriteString(conn, ok+"\r\n"); endless(conn, "hello ") }, ""},
		"body that never ends": {func(conn net.Conn) {
			_, _ = io.WriteString(conn, ok+"Content-Length: 9999999999\r\n\r\nhello ")
			silent(conn)
		}, ""},
		"broken chunks": {func(conn net.Conn) { _, _ = io.WriteString(conn, ok+"Transfer-Encoding: chunked\r\n\r\nzz\r\n") }, ""},
		"a compressed bomb": {func(conn net.Conn) {
			_, _ = io.WriteString(conn, ok+"Content-Encoding: gzip\r\n\r\n")
			endless(conn, "\x1f\x8b")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := listen(t, test.serve)
			sender := NewSender(Options{Networks: localNetworks(t), Timeout: timeout})
			began := time.Now()
			result := sender.Send(t.Context(), Message{URL: url, Body: []byte("{}")})
			if took := time.Since(began); took > 20*timeout {
				t.Errorf("took %v", took)
			}
			if (test.want == "") != (result.Failure == "") || !strings.Contains(result.Failure, test.want) {
				t.Errorf("%+v, want a failure with %q", result, test.want)
			}
			if result.Permanent || len([]rune(result.Response)) > maxResponse {
				t.Errorf("%+v", result)
			}
		})
	}
}

func TestUnreachableReceivers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()
	sender := NewSender(Options{Networks: localNetworks(t)})
	if result := sender.Send(t.Context(), Message{URL: "http://" + closed}); result.Failure != "the connection failed: connection refused" || result.Permanent {
		t.Errorf("refused: %+v", result)
	}
	sender = NewSender(Options{Networks: localNetworks(t), resolver: serveDNS(t, func(int) []string { return nil })})
	if result := sender.Send(t.Context(), Message{URL: "http://none.example.com"}); result.Failure != "the host does not exist" || result.Permanent {
		t.Errorf("no address: %+v", result)
	}
	if result := sender.Send(t.Context(), Message{URL: "ftp://example.com"}); result.Failure == "" || !result.Permanent {
		t.Errorf("another protocol: %+v", result)
	}
}

// TestCertificates checks that a certificate must be valid for the host and issued by an authority that is trusted.
func TestCertificates(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the failures are expected
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "https://"))
	resolver := serveDNS(t, func(int) []string { return []string{"127.0.0.1"} })
	for name, test := range map[string]struct {
		options Options
		url     string
		want    bool
	}{
		"trusted":       {Options{roots: roots}, server.URL, true},
		"unknown":       {Options{}, server.URL, false},
		"another name":  {Options{roots: roots, resolver: resolver}, "https://other.test:" + port, false},
		"a name of it":  {Options{roots: roots, resolver: resolver}, "https://example.com:" + port, true},
		"HTTP to HTTPS": {Options{roots: roots}, "http://127.0.0.1:" + port, false},
	} {
		test.options.Networks = localNetworks(t)
		result := NewSender(test.options).Send(t.Context(), Message{URL: test.url})
		if (result.Failure == "") != test.want {
			t.Errorf("%s: %+v", name, result)
		}
	}
}

func TestInvalidParametersAreNotSent(t *testing.T) {
	var reached counter
	server := receive(t, func(http.ResponseWriter, *http.Request) { reached.add() })
	sender := NewSender(Options{Networks: localNetworks(t)})
	for _, parameters := range []map[string]string{
		{flags.AddonURL: ""}, {flags.AddonURL: server.URL, flags.AddonHeaders: "x"}, {flags.AddonURL: server.URL, flags.AddonBodyTemplate: "{{#a}}"},
		{flags.AddonURL: server.URL, flags.AddonContentType: "a\r\nb: c"}, {flags.AddonURL: server.URL, flags.AddonAuthorization: "a\nb"}, {flags.AddonURL: server.URL, flags.AddonSecretKey: "whsec_!"},
	} {
		if result := sender.SendEvent(t.Context(), flags.AddonWebhook, parameters, sampleEvent()); result.Failure == "" || !result.Permanent {
			t.Errorf("%v: %+v", parameters, result)
		}
	}
	if reached.value() != 0 {
		t.Error("a message with invalid parameters was sent")
	}
	if result := sender.SendEvent(t.Context(), flags.AddonSlack, map[string]string{flags.AddonURL: server.URL}, flags.Event{Type: flags.FeatureCreated}); result.Failure != "" {
		t.Errorf("valid parameters: %+v", result)
	}
}
