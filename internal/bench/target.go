package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"
)

// target is a server under load.
type target struct {
	url, token string
	client     *http.Client
	temporary  bool                        // gone after the phase, with all its flags
	settle     func(context.Context) error // makes it ready once its flags are in
	printed    func() string               // the end of its log
	close      func()                      // gives back what opening it took
}

// newTarget keeps a connection for every caller. Compression is off, so that
// the bytes counted are those of the answer and both servers do the same work.
func newTarget(url, token string) *target {
	transport := &http.Transport{MaxIdleConns: 0, MaxIdleConnsPerHost: 1024, DisableCompression: true}
	return &target{
		url:     strings.TrimSuffix(url, "/"),
		token:   token,
		client:  &http.Client{Transport: transport, Timeout: time.Minute},
		settle:  func(context.Context) error { return nil },
		printed: func() string { return "" },
		close:   transport.CloseIdleConnections,
	}
}

// running opens a server that somebody else started. settle is the shell
// command that makes it ready once it is filled; empty for none.
func running(url, token, settle string) func(context.Context) (*target, error) {
	return func(context.Context) (*target, error) {
		t := newTarget(url, token)
		t.settle = func(ctx context.Context) error {
			if settle == "" {
				return nil
			}
			if out, err := exec.CommandContext(ctx, "sh", "-c", settle).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", settle, err, out)
			}
			return nil
		}
		return t, nil
	}
}

// send makes one request and gives the number of bytes of its answer.
func (t *target) send(ctx context.Context, r request) (int64, error) {
	res, err := t.do(ctx, r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	return io.Copy(io.Discard, res.Body)
}

// fetch is send for an answer that is read.
func (t *target) fetch(ctx context.Context, r request) ([]byte, error) {
	res, err := t.do(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return io.ReadAll(res.Body)
}

// do makes the request. A status other than the one due is an error that
// shows the body; else the caller reads and closes it.
func (t *target) do(ctx context.Context, r request) (*http.Response, error) {
	var body io.Reader
	if r.body != "" {
		body = bytes.NewReader([]byte(r.body))
	}
	req, err := http.NewRequestWithContext(ctx, r.method, t.url+r.path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", t.token)
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := t.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != r.want {
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(io.LimitReader(res.Body, 4096))
		return nil, fmt.Errorf("%s %s answered %d, not %d: %s", r.method, r.path, res.StatusCode, r.want, bytes.TrimSpace(text))
	}
	return res, nil
}
