package edge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"guidon/pkg/jsonbody"
	"guidon/pkg/retryafter"
	"guidon/pkg/version"
)

const (
	// maxState is the largest response of an upstream with flags, in bytes before compression.
	maxState = 256 << 20

	// maxReply is the largest other response of an upstream.
	maxReply = 4 << 20

	// The pause after failures grows up to maxPause, unless the upstream asks for a longer one, up to maxRetryAfter.
	maxPause      = time.Minute
	maxRetryAfter = 10 * time.Minute
)

// A client sends the requests to all upstreams.
type client struct {
	config *Config
	http   *http.Client
}

func newClient(config *Config) (*client, error) {
	trust, err := trusted(config.CAFile)
	if err != nil {
		return nil, fmt.Errorf("UPSTREAM_CERTIFICATE_FILE: %w", err)
	}
	security := &tls.Config{RootCAs: trust, InsecureSkipVerify: config.SkipVerification, MinVersion: tls.VersionTLS12} //nolint:gosec // G402: only with SKIP_SSL_VERIFICATION
	if config.ClientCert != "" {
		pair, err := tls.LoadX509KeyPair(config.ClientCert, config.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("PKCS8_CLIENT_CERTIFICATE_FILE: %w", err)
		}
		security.Certificates = []tls.Certificate{pair}
	}
	return &client{config: config, http: &http.Client{
		Timeout: config.UpstreamRequestTimeout,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: security, ForceAttemptHTTP2: true,
			DialContext:           (&net.Dialer{Timeout: config.UpstreamSocketTimeout}).DialContext,
			TLSHandshakeTimeout:   config.UpstreamSocketTimeout,
			ResponseHeaderTimeout: config.UpstreamSocketTimeout,
			IdleConnTimeout:       90 * time.Second, MaxIdleConnsPerHost: 8, MaxResponseHeaderBytes: 64 << 10,
		},
		// A redirect would send the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// trusted returns the certificates of the system with those of a file; nil for only those of the system.
func trusted(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file) //nolint:gosec // G304: the operator names the file
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate", file)
	}
	return pool, nil
}

// A reply is what an upstream responded: a 200 with JSON, a 2xx without, or a 304.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// A statusError is another response.
type statusError struct {
	status     int
	retryAfter time.Duration
}

func (e *statusError) Error() string {
	return fmt.Sprintf("it responded with %d %s", e.status, http.StatusText(e.status))
}

// statusOf returns the status of a response that was an error; 0 for other errors.
func statusOf(err error) int {
	if bad, ok := errors.AsType[*statusError](err); ok {
		return bad.status
	}
	return 0
}

// request returns a request to an upstream.
func (c *client) request(ctx context.Context, method, url, token string, header http.Header, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body)) //nolint:gosec // G704: the operator names the upstreams
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "guidon-edge/"+version.Number())
	req.Header.Set("Unleash-Client-Spec", "5.2.0")
	req.Header.Set("Unleash-Appname", c.config.AppName)
	req.Header.Set("Unleash-Instanceid", c.config.InstanceID)
	req.Header.Set("Unleash-Interval", strconv.FormatInt(c.config.RefreshInterval.Milliseconds(), 10))
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, more := range []http.Header{header, c.config.UpstreamHeaders} {
		for name, values := range more {
			req.Header[name] = values
		}
	}
	if token != "" {
		req.Header.Set(cmp.Or(c.config.UpstreamHeader, "Authorization"), token)
	}
	return req, nil
}

// send sends a request to an upstream. A response that is not JSON, such as a page of a proxy, is an error.
func (c *client) send(ctx context.Context, method, url, token string, header http.Header, body []byte, most int64) (reply, error) {
	req, err := c.request(ctx, method, url, token, header, body)
	if err != nil {
		return reply{}, err
	}
	resp, err := c.http.Do(req) //nolint:gosec // G704: the operator names the upstreams
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case resp.StatusCode == http.StatusNotModified:
		return reply{resp.StatusCode, resp.Header, nil}, nil
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return reply{}, &statusError{resp.StatusCode, retryafter.Of(resp.Header, time.Now(), maxRetryAfter)}
	case err != nil:
		return reply{}, fmt.Errorf("its response ended early: %w", err)
	case int64(len(text)) > most:
		return reply{}, fmt.Errorf("its response is larger than %d MB", most>>20)
	}
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode == http.StatusOK && len(text) > 0 && media != "application/json" {
		return reply{}, fmt.Errorf("its response is %q instead of JSON", media)
	}
	return reply{resp.StatusCode, resp.Header, jsonbody.WithoutMark(text)}, nil
}

// A pause says until when not to ask an upstream that failed.
type pause struct {
	mu       sync.Mutex
	failures int
	until    time.Time
}

func (p *pause) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !time.Now().Before(p.until)
}

func (p *pause) succeeded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures, p.until = 0, time.Time{}
}

// failed begins a pause. The first failures are repeated with the next interval.
func (p *pause) failed(err error, interval time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := interval << min(p.failures, 10) / 2
	wait = jitter(min(wait, max(maxPause, interval)))
	if bad, ok := errors.AsType[*statusError](err); ok {
		wait = max(wait, bad.retryAfter)
	}
	p.failures++
	p.until = time.Now().Add(wait)
}

// jitter returns a duration up to a tenth shorter or longer, so that many Edges do not ask at the same moment.
func jitter(d time.Duration) time.Duration {
	return d + time.Duration((rand.Float64()-0.5)*0.2*float64(d)) //nolint:gosec // G404: no secret
}

// sleep waits, and reports false if the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// errPaused is the error of a request that no upstream got, because all of them failed a moment ago.
var errPaused = errors.New("every upstream failed a moment ago")

// errNotThere says that an upstream takes nothing of that kind, as buckets take no reports.
var errNotThere = errors.New("it takes no such requests")

// any sends something to the first upstream that takes it, in the order of preference. An upstream that failed is left out for a
// while, so Edge is back at the first one soon after that answers.
func (c *client) any(pauses []*pause, interval time.Duration, send func(upstream string) error) error {
	err := errPaused
	for i, upstream := range c.config.Upstreams {
		if !pauses[i].over() {
			continue
		}
		failure := send(upstream)
		switch {
		case failure == nil:
			pauses[i].succeeded()
			return nil
		case errors.Is(failure, errNotThere):
			continue
		}
		pauses[i].failed(failure, interval)
		err = fmt.Errorf("%s: %w", upstream, failure)
	}
	return err
}

func (c *client) newPauses() []*pause {
	pauses := make([]*pause, len(c.config.Upstreams))
	for i := range pauses {
		pauses[i] = &pause{}
	}
	return pauses
}
