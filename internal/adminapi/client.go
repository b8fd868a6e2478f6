// Package adminapi calls the admin API that Guidon and Unleash (5.x to 8.x) share.
package adminapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"guidon/pkg/retryafter"
)

// A Client calls one server. Several goroutines may use it.
type Client struct {
	Name     string // how errors name the server, such as "the source"
	Base     string // its address, without a slash at the end
	Token    string // sent as Authorization; empty for none
	IfMatch  string // sent as If-Match; empty for none
	Attempts int    // how often Call sends a request that the server was too busy for or whose response got lost
	http     *http.Client
}

const (
	requestTimeout = time.Minute // an import of hundreds of flags takes a while
	maxWait        = 10 * time.Second
	idleConns      = 8 // kept for concurrent requests
)

// New returns a client of the server at address, which may end in /api.
func New(name, address, token string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is not an address such as https://flags.example.com", address)
	}
	base := strings.TrimSuffix(strings.TrimRight(address, "/"), "/api")
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: idleConns}
	client := &http.Client{Timeout: requestTimeout, Transport: transport, CheckRedirect: noRedirect}
	return &Client{Name: name, Base: base, Token: token, Attempts: 3, http: client}, nil
}

// noRedirect stops redirects: following one would drop the body and could send the token to another server.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// A Refusal is a response with a status of 400 or more.
type Refusal struct {
	Server, Call string
	Status       int
	Message      string
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("%s answers %d to %s: %s", r.Server, r.Status, r.Call, r.Message)
	switch r.Status {
	case http.StatusUnauthorized:
		text += " (check the token, and that it belongs to this server)"
	case http.StatusForbidden:
		text += " (the token lacks a permission: use an admin token, or a personal token of a user with that permission)"
	}
	return text
}

// An UnreachableError reports that no response arrived, or only a part of one.
type UnreachableError struct {
	Server, Base string
	Err          error
}

func (u *UnreachableError) Error() string {
	return fmt.Sprintf("%s cannot be reached at %s: %v", u.Server, u.Base, u.Err)
}

func (u *UnreachableError) Unwrap() error { return u.Err }

// Refused reports whether err is a Refusal with one of the statuses.
func Refused(err error, statuses ...int) bool {
	r, ok := errors.AsType[*Refusal](err)
	if !ok {
		return false
	}
	for _, status := range statuses {
		if r.Status == status {
			return true
		}
	}
	return false
}

// Get decodes the response to a GET request into the value.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.Call(ctx, http.MethodGet, path, nil, into)
}

// Call sends a request and decodes its response. It retries when the server is busy or the response got lost, so the
// request must be safe to repeat; CallOnce is for those that are not.
func (c *Client) Call(ctx context.Context, method, path string, body, into any) error {
	content, err := encode(body)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		wait, err := c.send(ctx, method, path, content, into)
		if err == nil || wait < 0 || attempt >= c.Attempts || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(min(max(wait, 200*time.Millisecond<<attempt), maxWait)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// CallOnce sends a request that must not be repeated, such as one that creates a token.
func (c *Client) CallOnce(ctx context.Context, method, path string, body, into any) error {
	content, err := encode(body)
	if err != nil {
		return err
	}
	_, err = c.send(ctx, method, path, content, into)
	return err
}

func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	return json.Marshal(body)
}

// noRetry is the wait that send returns when a retry would get the same response.
const noRetry = time.Duration(-1)

// send makes one attempt. It returns how long to wait before the next one.
func (c *Client) send(ctx context.Context, method, path string, content []byte, into any) (wait time.Duration, err error) {
	call := method + " " + path
	status, header, body, err := c.exchange(ctx, method, path, content, "")
	if _, lost := errors.AsType[*UnreachableError](err); lost {
		return 0, err
	}
	switch {
	case err != nil:
		return noRetry, err
	case status >= http.StatusBadRequest:
		return retryAfter(status, header), &Refusal{Server: c.Name, Call: call, Status: status, Message: reason(body)}
	case status >= http.StatusMultipleChoices:
		return noRetry, fmt.Errorf("%s redirects to %s: use that address instead", c.Name, header.Get("Location"))
	case into == nil || len(bytes.TrimSpace(body)) == 0:
		return noRetry, nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return noRetry, fmt.Errorf("the response of %s to %s is not the expected JSON: %w", c.Name, call, err)
	}
	return noRetry, nil
}

// Exchange sends a request once, and returns the status and body of its response.
func (c *Client) Exchange(ctx context.Context, method, path string, content []byte, userAgent string) (status int, body []byte, err error) {
	status, _, body, err = c.exchange(ctx, method, path, content, userAgent)
	return status, body, err
}

// exchange sends a request and reads its response. The error is an UnreachableError if the response did not arrive.
func (c *Client) exchange(ctx context.Context, method, path string, content []byte, userAgent string) (status int, header http.Header, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(content))
	if err != nil {
		return 0, nil, nil, err
	}
	for name, value := range map[string]string{"Authorization": c.Token, "If-Match": c.IfMatch, "User-Agent": userAgent} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	if content != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		var failed *url.Error // without the URL, which UnreachableError names
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return 0, nil, nil, &UnreachableError{Server: c.Name, Base: c.Base, Err: err}
	}
	defer func() { _ = response.Body.Close() }()
	if body, err = io.ReadAll(response.Body); err != nil {
		return 0, nil, nil, &UnreachableError{Server: c.Name, Base: c.Base, Err: fmt.Errorf("the response to %s %s ended early: %w", method, path, err)}
	}
	return response.StatusCode, response.Header, body, nil
}

// retryAfter is how long a busy server asks clients to wait; noRetry if it is not busy.
func retryAfter(status int, header http.Header) time.Duration {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return noRetry
	}
	return retryafter.Of(header, time.Now(), maxWait)
}

// reason is the message of an error response, in one line.
func reason(body []byte) string {
	var failure struct {
		Message string `json:"message"`
		Details []struct {
			Message string `json:"message"`
			Path    string `json:"path"`
		} `json:"details"`
	}
	if json.Unmarshal(body, &failure) != nil || failure.Message == "" {
		return strconv.Quote(string(body[:min(len(body), 200)]))
	}
	for _, d := range failure.Details[:min(len(failure.Details), 5)] {
		if !strings.Contains(failure.Message, d.Message) {
			failure.Message += "; " + strings.TrimSpace(d.Path+" "+d.Message)
		}
	}
	return failure.Message
}
