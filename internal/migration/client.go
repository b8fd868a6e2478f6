package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// callTimeout is for one answer.
const callTimeout = 2 * time.Minute

type (
	object = map[string]any
	list   = []any
)

// A client speaks with one server as an administrator.
type client struct {
	*process
	url, token string
	http       *http.Client
}

func newClient(p *process, port string) *client {
	return &client{p, "http://127.0.0.1:" + port, adminToken, &http.Client{Timeout: callTimeout}}
}

// A refusal is an answer that is no success.
type refusal struct {
	call    string
	status  int
	message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s: %d %s", r.call, r.status, r.message) }

func (c *client) get(ctx context.Context, path string, into any) error {
	return c.send(ctx, http.MethodGet, path, nil, into)
}

// send sends a request and reads the answer of a success. Numbers of a tree are as they were written.
func (c *client) send(ctx context.Context, method, path string, body, into any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	if c.token != "" {
		r.Header.Set("Authorization", c.token)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return &refusal{method + " " + path, answer.StatusCode, reason(said)}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(said, into); err != nil {
		return fmt.Errorf("%s %s answers %q: %w", method, path, said[:min(len(said), 200)], err)
	}
	return nil
}

// reason is the message of an error, with its first detail, which says what is wrong.
func reason(body []byte) string {
	var said struct {
		Message string
		Details []struct{ Message string }
	}
	if json.Unmarshal(body, &said) != nil {
		return string(body[:min(len(body), 200)])
	}
	if len(said.Details) > 0 {
		return said.Details[0].Message
	}
	return said.Message
}
