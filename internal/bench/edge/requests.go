package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// requests measures polls beside the handler, and evaluations.
func (b *bench) requests(flags int) error {
	if err := b.write(flags, 0); err != nil {
		return err
	}
	edge, err := b.startEdge()
	if err != nil {
		return err
	}
	defer edge.stop()
	poll := http.Header{"Authorization": {client}, "Accept-Encoding": {"gzip"}, "Unleash-Client-Spec": {"5.2.0"}}
	answer, body, err := exchange(edge.url+"/api/client/features", poll)
	if err != nil {
		return err
	}
	same := filepath.Join(b.dir, "response")
	if err := os.WriteFile(same, body, 0o600); err != nil {
		return err
	}
	hello, err := b.startHello(same)
	if err != nil {
		return err
	}
	defer hello.stop()
	known := poll.Clone()
	known.Set("If-None-Match", answer.Get("ETag"))
	for _, phase := range []struct {
		name   string
		header http.Header
	}{{"poll 304", known}, {fmt.Sprintf("poll 200 of %d KB", len(body)>>10), poll}} {
		var ratios []float64
		var last figure
		for range 5 {
			own, err := b.load(edge, func(int) string { return edge.url + "/api/client/features" }, phase.header)
			if err != nil {
				return err
			}
			other, err := b.load(hello, func(int) string { return hello.url }, phase.header)
			if err != nil {
				return err
			}
			ratios, last = append(ratios, other.own/own.own), own
		}
		slices.Sort(ratios)
		row(phase.name+", beside the handler", "0.8 ×", "%.2f × (%.2f to %.2f); %.0f a second, %.0f µs of processor time each", ratios[2], ratios[0], ratios[4], last.rate, last.own)
	}
	browser := http.Header{"Authorization": {frontend}, "Accept-Encoding": {"gzip"}}
	f, err := b.load(edge, func(i int) string { return fmt.Sprintf("%s/api/frontend?appName=web&userId=%d", edge.url, i) }, browser)
	if err != nil {
		return err
	}
	row("evaluation of all flags for a browser", "2,300 a core and second", "%.0f", 1e6/f.own)
	return nil
}

// A figure is the number of responses in a second, and the processor time of each in microseconds.
type figure struct{ rate, own float64 }

// load sends requests on all connections for a time, after a warm-up.
func (b *bench) load(p *program, url func(i int) string, header http.Header) (f figure, err error) {
	for _, spend := range []time.Duration{b.spend / 8, b.spend} {
		var sent atomic.Int64
		began, before := time.Now(), p.spent()
		var group errgroup.Group
		for range connections {
			group.Go(func() error {
				for time.Since(began) < spend {
					if _, _, err := exchange(url(int(sent.Add(1))), header); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return f, err
		}
		n := float64(sent.Load())
		f = figure{n / time.Since(began).Seconds(), float64((p.spent() - before).Microseconds()) / n}
	}
	return f, nil
}

var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}, Timeout: time.Minute}

// exchange sends a request, which must get a 200 or 304, and returns the header and the body of the response.
func exchange(url string, header http.Header) (http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header = header
	response, err := httpClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK && response.StatusCode != http.StatusNotModified {
		err = fmt.Errorf("%s: %s %s", url, response.Status, body)
	}
	return response.Header, body, err
}
