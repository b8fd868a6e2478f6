package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	unleash "github.com/Unleash/unleash-go-sdk/v6"
)

const (
	badRelease = "one-page-checkout"
	capacity   = 40 // how many users the bad release can serve
	maxErrors  = 5  // percent; more makes the signal fire
)

// A watcher measures the error rate of the bad release, and posts it as a signal, as a monitoring system does.
type watcher struct {
	client      *unleash.Client
	url, secret string // of the signal
	firing      atomic.Bool
}

// A health tells the dashboard how the bad release does.
type health struct {
	Flag   string `json:"flag"`
	Errors int    `json:"errors"` // percent
	Most   int    `json:"most"`
	Firing bool   `json:"firing"` // Guidon knows that the signal fires
}

func (w *watcher) health() *health {
	if w.url == "" {
		return nil
	}
	return &health{badRelease, w.errors(), maxErrors, w.firing.Load()}
}

// errors returns how many of the 100 users get an error: those with the bad release whom it has no room for.
func (w *watcher) errors() int {
	with := 0
	for i := range users {
		if answer(w.client, badRelease, "user-"+strconv.Itoa(i+1)) != "" {
			with++
		}
	}
	return max(0, with-capacity)
}

// watch posts the signal whenever it begins or ceases to fire.
func (w *watcher) watch(ctx context.Context) {
	if w.url == "" {
		return
	}
	for tick := time.Tick(500 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		firing := w.errors() > maxErrors
		if firing == w.firing.Load() {
			continue
		}
		if err := w.post(ctx, firing); err != nil {
			fmt.Fprintln(os.Stderr, "go application: signal:", err)
			continue // the next tick posts it again
		}
		w.firing.Store(firing)
	}
}

func (w *watcher) post(ctx context.Context, firing bool) error {
	body := `{"status":"resolved"}`
	if firing {
		body = `{"status":"firing"}`
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewBufferString(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+w.secret)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}
