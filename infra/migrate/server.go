package main

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
)

// A server is one side of the move.
type server struct {
	name  string // as messages call it
	base  string // without a slash at the end
	token string
	http  *http.Client
}

// Limits of a conversation with a server.
const (
	perCall  = time.Minute // for one answer: an import of hundreds of flags may take its time
	attempts = 6           // at a call that a server was too busy for
	maxWait  = 10 * time.Second
)

func newServer(name, address, token string) (*server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is not an address such as https://flags.example.com", address)
	}
	base := strings.TrimSuffix(strings.TrimRight(address, "/"), "/api")
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: atOnce}
	client := &http.Client{Timeout: perCall, Transport: transport, CheckRedirect: elsewhere}
	return &server{name: name, base: base, token: token, http: client}, nil
}

// elsewhere refuses to be led on: a body would be lost on the way, and a token is for whom it was given to.
func elsewhere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// A refusal is an answer that is no success.
type refusal struct {
	server, call string
	status       int
	message      string
}

func (r *refusal) Error() string {
	said := fmt.Sprintf("%s answers %d to %s: %s", r.server, r.status, r.call, r.message)
	switch r.status {
	case http.StatusUnauthorized:
		said += " (is its token right, and of this server?)"
	case http.StatusForbidden:
		said += " (its token lacks a permission: take an admin's, or a personal one of somebody who may)"
	}
	return said
}

// refused tells whether err is an answer with one of the statuses.
func refused(err error, statuses ...int) bool {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		return false
	}
	for _, status := range statuses {
		if r.status == status {
			return true
		}
	}
	return false
}

func (s *server) get(ctx context.Context, path string, into any) error {
	return s.call(ctx, http.MethodGet, path, nil, into)
}

// call sends a request and decodes what it answers. One that a busy server turned away, or whose answer was lost, is sent
// again: each call of this command may be made twice.
func (s *server) call(ctx context.Context, method, path string, body, into any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for attempt := 1; ; attempt++ {
		wait, err := s.once(ctx, method, path, content, into)
		if err == nil || wait < 0 || attempt == attempts || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(min(max(wait, 200*time.Millisecond<<attempt), maxWait)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// final says that another attempt would get the same answer.
const final = time.Duration(-1)

// once makes one attempt. It tells how long to wait before another, final for none.
func (s *server) once(ctx context.Context, method, path string, content []byte, into any) (wait time.Duration, err error) {
	call := method + " " + path
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(content))
	if err != nil {
		return final, err
	}
	r.Header.Set("Authorization", s.token)
	if content != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := s.http.Do(r)
	if err != nil {
		return 0, fmt.Errorf("%s cannot be reached: %w", s.name, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, fmt.Errorf("the answer of %s to %s broke off: %w", s.name, call, err)
	}
	switch {
	case answer.StatusCode >= http.StatusBadRequest:
		return waitFor(answer), &refusal{server: s.name, call: call, status: answer.StatusCode, message: reason(body)}
	case answer.StatusCode >= http.StatusMultipleChoices:
		return final, fmt.Errorf("%s sends on to %s: name that address instead", s.name, answer.Header.Get("Location"))
	case into == nil || len(bytes.TrimSpace(body)) == 0:
		return final, nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return final, fmt.Errorf("what %s answers to %s cannot be read: %w", s.name, call, err)
	}
	return final, nil
}

// waitFor is how long a busy server wants to be left alone; final if it is not busy.
func waitFor(answer *http.Response) time.Duration {
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return final
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return max(0, time.Duration(seconds)*time.Second)
}

// reason is what a server says about a refusal, in one line.
func reason(body []byte) string {
	var said struct {
		Message string `json:"message"`
		Details []struct {
			Message string `json:"message"`
			Path    string `json:"path"`
		} `json:"details"`
	}
	if json.Unmarshal(body, &said) != nil || said.Message == "" {
		return strconv.Quote(string(body[:min(len(body), 200)]))
	}
	for _, d := range said.Details[:min(len(said.Details), 5)] {
		if d.Message != said.Message {
			said.Message += "; " + strings.TrimSpace(d.Path+" "+d.Message)
		}
	}
	return said.Message
}
