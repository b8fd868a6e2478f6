// Package webhook sends events to webhooks and to Slack: a Sender posts a message, and a Deliverer sends what is in the outboxes
// of the addons.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"guidon/pkg/flags"
	"guidon/pkg/retryafter"
	"guidon/pkg/version"
)

// The headers of a signed message, as https://www.standardwebhooks.com has them.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

// maxResponse is how many bytes of a response are read, and kept for the list of deliveries.
const maxResponse = 500

// maxResponseHeader bounds the headers of a response. More is a failure.
const maxResponseHeader = 16 << 10

// maxRetryAfter is the longest wait that a receiver can ask for, so that each event still gets many attempts in the day before it is parked.
const maxRetryAfter = time.Hour

// Options are what a Sender needs to know. The zero value is for production.
type Options struct {
	Networks  Networks      // what is allowed besides the public internet
	Timeout   time.Duration // for a message, from DNS to the headers of the response; 10 s if it is 0
	PublicURL string        // the address of the console, to which messages link; "" for no links

	resolver *net.Resolver  // nil for the system's
	roots    *x509.CertPool // nil for the system's
}

// A Sender posts messages. It connects to addresses of the public internet, and to those of the allowed networks. The address
// is checked when the connection is made, after the name was resolved, so a name cannot lead to another address than the one
// that was checked. Redirects are not followed and proxies of the environment are not used.
type Sender struct {
	client    *http.Client
	timeout   time.Duration
	publicURL string
	now       func() time.Time
}

// NewSender returns a sender.
func NewSender(options Options) *Sender {
	if options.Timeout == 0 {
		options.Timeout = 10 * time.Second
	}
	dialer := &net.Dialer{Timeout: options.Timeout / 2, Resolver: options.resolver, ControlContext: options.Networks.check}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // a message a flag at a time gains nothing from HTTP/2
	transport := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    options.Timeout / 2,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: options.roots},
		ResponseHeaderTimeout:  options.Timeout,
		MaxResponseHeaderBytes: maxResponseHeader,
		DisableCompression:     true, // the first bytes of a response are kept as they come
		DisableKeepAlives:      true, // a Lambda function sleeps between messages: its old connections would be dead
		Protocols:              protocols,
	}
	return &Sender{
		client: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		timeout:   options.Timeout,
		publicURL: options.PublicURL,
		now:       time.Now,
	}
}

// errNetwork means that a connection was refused before it was made.
var errNetwork = errors.New("the host is in a private or reserved network, see the setting WEBHOOK_PRIVATE_NETWORKS")

// check refuses connections to other networks. The dialer calls it with the address that it connects to.
func (n Networks) check(_ context.Context, network, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") || !n.Allow(addr.Addr()) {
		return errNetwork
	}
	return nil
}

// A Message is what is posted to a URL.
type Message struct {
	ID            string // the same in every attempt, so that receivers recognize what they have already
	URL           string
	ContentType   string
	Authorization string            // the header; "" for none
	Headers       map[string]string // in addition
	Body          []byte
	Secret        string // that it is signed with; "" if it is not signed
}

// A Result is what became of a message. It was delivered if Failure is empty.
type Result struct {
	Status    int    // of the response; 0 if there was none
	Response  string // the first characters of its body
	Failure   string // why the message was not delivered
	Permanent bool   // whether another attempt will probably fail too

	RetryAfter time.Duration // how long a busy receiver asks for no requests; 0 if it does not
}

// SendEvent sends what a receiver gets of an event, see MessageOf.
func (s *Sender) SendEvent(ctx context.Context, provider string, parameters map[string]string, event flags.Event) Result {
	message, err := MessageOf(provider, parameters, event, s.publicURL)
	if err != nil {
		return Result{Failure: err.Error(), Permanent: true}
	}
	return s.Send(ctx, message)
}

// Send posts a message and waits for the response. A status of 200 to 299 means that it was delivered.
func (s *Sender) Send(ctx context.Context, m Message) Result {
	if err := CheckURL(m.URL); err != nil {
		return Result{Failure: err.Error(), Permanent: true}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := s.request(ctx, m)
	if err != nil {
		return Result{Failure: "the request could not be made: " + printable(err.Error()), Permanent: true}
	}
	response, err := s.client.Do(request)
	if err != nil {
		return Result{Failure: reason(ctx, err), Permanent: errors.Is(err, errNetwork)}
	}
	// What was received until the time is up is enough: the status decides.
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	_ = response.Body.Close()
	result := Result{Status: response.StatusCode, Response: printable(string(body))}
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
	case status >= 300 && status < 400:
		result.Failure, result.Permanent = fmt.Sprintf("status %d: redirects are not followed; set the URL that it leads to", status), true
	default:
		result.Failure = fmt.Sprintf("status %d", status)
		result.Permanent = status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooEarly && status != http.StatusTooManyRequests
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			result.RetryAfter = retryafter.Of(response.Header, s.now(), maxRetryAfter)
		}
	}
	return result
}

// request is the signed request of a message.
func (s *Sender) request(ctx context.Context, m Message) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	for name, value := range m.Headers {
		if headerNameAllowed(name) {
			request.Header.Set(name, value)
		}
	}
	request.Header.Set("Content-Type", m.ContentType)
	if m.Authorization != "" {
		request.Header.Set("Authorization", m.Authorization)
	}
	if request.Header.Get("User-Agent") == "" {
		request.Header.Set("User-Agent", "Guidon/"+version.Number())
	}
	timestamp := strconv.FormatInt(s.now().Unix(), 10)
	request.Header.Set(headerID, m.ID)
	request.Header.Set(headerTimestamp, timestamp)
	if m.Secret != "" {
		signature, err := sign(m.Secret, m.ID, timestamp, m.Body)
		if err != nil {
			return nil, err
		}
		request.Header.Set(headerSignature, signature)
	}
	return request, nil
}

// sign is the signature of a message: HMAC-SHA256 over its ID, the time and the body. So an old message cannot be sent again
// as a new one.
func sign(secret, id, timestamp string, body []byte) (string, error) {
	key, err := secretKey(secret)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}

// reason is why there was no response, without the address that was connected to: users who can see the deliveries must
// not learn the addresses of internal names.
func reason(ctx context.Context, err error) string {
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		call        syscall.Errno
		timeout     net.Error
	)
	switch {
	case errors.Is(err, errNetwork):
		return errNetwork.Error()
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host does not exist"
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return "there was no response in time"
	case errors.As(err, &dns):
		return "the name of the host could not be resolved"
	case errors.As(err, &certificate):
		return "the certificate of the host is not valid: " + printable(certificate.Err.Error())
	case errors.As(err, &call):
		return "the connection failed: " + call.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the host closed the connection without a response"
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return "the headers of the response are too large"
	}
	return "the response was not HTTP, or the connection failed"
}

// printable keeps what can be shown of a text from outside, and cuts it.
func printable(text string) string {
	text = strings.ToValidUTF8(text, "�")
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '�'
	}, text)
	if runes := []rune(text); len(runes) > maxResponse {
		text = string(runes[:maxResponse])
	}
	return text
}
