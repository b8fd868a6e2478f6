package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"
)

// A server may take shownWithin until applications see the prepared flags. Unleash looks for changes once a second, so the
// answer must be the same twice, after more than that.
const (
	shownWithin = time.Minute
	lookup      = 1500 * time.Millisecond
)

// connect creates the token of an application, and waits until its answer has all prepared flags.
func (b *bench) connect(ctx context.Context) error {
	secret, err := b.createToken(ctx)
	if err != nil {
		return fmt.Errorf("creating a token: %w", err)
	}
	b.header = map[string]string{"Authorization": secret, "Unleash-AppName": "bench", "Unleash-SDK": "bench:1"}
	if b.phase.application == client {
		b.header["Unleash-Client-Spec"] = "5.2.0"
		b.header["Unleash-InstanceId"] = "bench"
	}
	deadline := time.Now().Add(shownWithin)
	for before := "none"; ; {
		n, etag, err := b.shown(ctx)
		if err != nil {
			return err
		}
		if n == len(b.names) && etag == before {
			if b.phase.unchanged {
				b.header["If-None-Match"] = etag
			}
			break
		}
		if before = etag; time.Now().After(deadline) {
			return fmt.Errorf("applications see %d flags after %s, expected %d", n, shownWithin, len(b.names))
		}
		select {
		case <-time.After(lookup):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	maps.Copy(b.header, b.phase.header)
	return nil
}

func (b *bench) createToken(ctx context.Context) (string, error) {
	name := fmt.Sprintf("%s%d", ours, time.Now().UnixNano())
	body := fmt.Sprintf(`{"tokenName":%q,"type":%q,"environment":%q,"projects":["default"]}`, name, b.phase.application, environment)
	var answer bytes.Buffer
	r := request{method: http.MethodPost, path: "/api/admin/api-tokens", body: body, want: http.StatusCreated}
	if _, err := b.target.send(ctx, r, &answer); err != nil {
		return "", err
	}
	var token struct{ Secret string }
	err := json.Unmarshal(answer.Bytes(), &token)
	return token.Secret, err
}

// shown returns how many of the prepared flags the application sees enabled, and the ETag of that answer.
func (b *bench) shown(ctx context.Context) (n int, etag string, err error) {
	r := poll(http.StatusOK)(0, "", "")
	if b.phase.application == frontend {
		r = evaluate(0)
	}
	r.header = b.header
	var body bytes.Buffer
	header, _, err := b.target.exchange(ctx, r, &body)
	if err != nil {
		return 0, "", err
	}
	type flag struct {
		Name    string
		Enabled bool
	}
	var answer struct{ Features, Toggles []flag }
	if err := json.Unmarshal(body.Bytes(), &answer); err != nil {
		return 0, "", fmt.Errorf("reading what the application gets: %w", err)
	}
	ours := make(map[string]bool, len(b.names))
	for _, name := range b.names {
		ours[name] = true
	}
	for _, f := range append(answer.Features, answer.Toggles...) {
		if f.Enabled && ours[f.Name] {
			n++
		}
	}
	return n, header.Get("ETag"), nil
}
