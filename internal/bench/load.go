package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// warmUp is the part of a phase's time that runs unmeasured first, for connections, caches and just-in-time compilers: 1/8.
const warmUp = 8

// A load sends the requests of one round to one server.
type load struct {
	options
	server *server
	prefix string   // of the names of flags
	names  []string // of the prepared flags
}

// A server may take shownWithin until applications see the prepared flags. Unleash looks for changes once a second, so the
// response must be the same twice, after more than that.
const (
	shownWithin = time.Minute
	lookup      = 1500 * time.Millisecond
)

// prepare creates the flags.
func (l *load) prepare(ctx context.Context) error {
	for i := range l.flags {
		l.names = append(l.names, fmt.Sprintf("%s%06d", l.prefix, i)) // of one length, so that each search finds as many
	}
	on := func(name string) request { return turn(name, "on") }
	for _, step := range []func(string) request{create, addStrategy, on} {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(l.callers)
		for _, name := range l.names {
			g.Go(func() error { return l.send(ctx, step(name), nil) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	return l.server.settle(ctx)
}

// measure runs a phase, after a warm-up.
func (l *load) measure(ctx context.Context, p phase) (figure, error) {
	header := http.Header{"Authorization": {adminToken}}
	if p.application != "" {
		if err := l.connect(ctx, p, header); err != nil {
			return figure{}, fmt.Errorf("connecting: %w", err)
		}
		header.Set("Accept-Encoding", "gzip")
	}
	sent := make([]int, l.callers)
	if _, _, err := l.run(ctx, p, header, sent, l.spend/warmUp); err != nil {
		return figure{}, fmt.Errorf("warming up: %w", err)
	}
	before, began := l.server.own(), time.Now()
	times, size, err := l.run(ctx, p, header, sent, l.spend)
	n := float64(max(1, len(times)))
	return figure{
		own: milliseconds(l.server.own()-before) / n, rate: n / time.Since(began).Seconds(), p99: percentile(times, 99), bytes: float64(size) / n,
	}, err
}

// run sends requests from all callers for a time. Each caller has flags of its own, so no two change a flag at the same time;
// sent counts what each has sent so far. It returns the time of each response in milliseconds, and the size of all.
func (l *load) run(ctx context.Context, p phase, header http.Header, sent []int, spend time.Duration) (times []float64, size int64, err error) {
	deadline := time.Now().Add(spend)
	each, sizes := make([][]float64, l.callers), make([]int64, l.callers)
	g, ctx := errgroup.WithContext(ctx)
	for caller := range l.callers {
		g.Go(func() error {
			for time.Now().Before(deadline) {
				i := sent[caller]*l.callers + caller
				sent[caller]++
				began := time.Now()
				_, n, err := l.exchange(ctx, p.request(i, i/len(l.names), l.names[i%len(l.names)]), header, io.Discard)
				if err != nil {
					return err
				}
				each[caller] = append(each[caller], milliseconds(time.Since(began)))
				sizes[caller] += n
			}
			return nil
		})
	}
	err = g.Wait()
	for _, n := range sizes {
		size += n
	}
	return slices.Concat(each...), size, err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// connect creates the token of an application, waits until its response has all prepared flags, and sets its headers.
func (l *load) connect(ctx context.Context, p phase, header http.Header) error {
	name := fmt.Sprintf("%s%d", l.prefix, time.Now().UnixNano())
	var token struct{ Secret string }
	if err := l.send(ctx, request{http.MethodPost, "/api/admin/api-tokens",
		fmt.Sprintf(`{"tokenName":%q,"type":%q,"environment":%q,"projects":["default"]}`, name, p.application, environment), http.StatusCreated}, &token); err != nil {
		return err
	}
	header.Set("Authorization", token.Secret)
	header.Set("Unleash-AppName", "bench")
	header.Set("Unleash-SDK", "bench:1")
	read := get(pollPath)
	if p.application == client {
		header.Set("Unleash-Client-Spec", "5.2.0")
		header.Set("Unleash-InstanceId", "bench")
	} else {
		read = evaluate(0)
	}
	deadline := time.Now().Add(shownWithin)
	for before := "none"; ; {
		var body strings.Builder
		response, _, err := l.exchange(ctx, read, header, &body)
		if err != nil {
			return err
		}
		shown, etag := strings.Count(body.String(), `"name":"`+l.prefix), response.Get("ETag")
		if shown == l.flags && etag == before {
			if p.unchanged {
				header.Set("If-None-Match", etag)
			}
			return nil
		}
		if before = etag; time.Now().After(deadline) {
			return fmt.Errorf("applications see %d flags after %s, expected %d", shown, shownWithin, l.flags)
		}
		select {
		case <-time.After(lookup):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// cleanUp deletes the flags on a server that keeps running: archived ones would slow down later rounds.
func (l *load) cleanUp(ctx context.Context) error {
	var list struct{ Features []struct{ Name string } }
	if err := l.send(ctx, get(projectPath), &list); err != nil {
		return err
	}
	for some := range slices.Chunk(list.Features, 100) {
		var names []string
		for _, f := range some {
			names = append(names, f.Name)
		}
		body, err := json.Marshal(map[string]any{"features": names})
		if err != nil {
			return err
		}
		const project = "/api/admin/projects/default/"
		if err := l.send(ctx, request{http.MethodPost, project + "archive", string(body), http.StatusAccepted}, nil); err != nil {
			return err
		}
		if err := l.send(ctx, request{http.MethodPost, project + "delete", string(body), http.StatusOK}, nil); err != nil {
			return err
		}
	}
	return nil
}

// send sends a request of the administration, and reads its response if answer is not nil.
func (l *load) send(ctx context.Context, r request, answer any) error {
	var body strings.Builder
	if _, _, err := l.exchange(ctx, r, http.Header{"Authorization": {adminToken}}, &body); err != nil || answer == nil {
		return err
	}
	return json.Unmarshal([]byte(body.String()), answer)
}

// httpClient keeps a connection for each caller. Responses are compressed only in phases that ask for it.
var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}, Timeout: time.Minute}

// exchange sends a request, writes the response, and returns its header and size. An unexpected status is an error.
func (l *load) exchange(ctx context.Context, r request, header http.Header, into io.Writer) (http.Header, int64, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, l.server.url+r.path, strings.NewReader(r.body))
	if err != nil {
		return nil, 0, err
	}
	req.Header = header.Clone()
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != r.want {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 4096))
		return nil, 0, fmt.Errorf("%s %s: got status %d, expected %d: %s", r.method, r.path, res.StatusCode, r.want, text)
	}
	size, err := io.Copy(into, res.Body)
	return res.Header, size, err
}
