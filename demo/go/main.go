// Command demo is the sample application in Go: it evaluates all flags for 100 users, and serves the dashboard of the demo.
//
// Settings (environment): ADDRESS to listen on, GUIDON_URL and TOKEN of the flags, PEER with the address of the other
// application, CONSOLE with the address of the console, to which the dashboard links, ORIGIN_PID with the process of Guidon, which the
// dashboard can pause (without it, there is no button for that), and SIGNAL_URL and SIGNAL_SECRET of the signal that stops a bad release.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	unleash "github.com/Unleash/unleash-go-sdk/v6"
)

//go:embed page
var page embed.FS

// data is what the dashboard shows.
type data struct {
	Console      string            `json:"console"`
	Origin       string            `json:"origin"`       // running or stopped; "" if the dashboard cannot pause it
	Health       *health           `json:"health"`       // of the bad release; nil without one
	Applications []json.RawMessage `json:"applications"` // this one, and the peer
}

// listener prints problems of the SDK. The SDK needs one, or it blocks.
type listener struct{}

func (listener) OnError(err error)   { fmt.Fprintln(os.Stderr, "go application:", err) }
func (listener) OnWarning(err error) { fmt.Fprintln(os.Stderr, "go application:", err) }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "go application:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := unleash.NewClient(
		unleash.WithListener(listener{}),
		unleash.WithUrl(os.Getenv("GUIDON_URL")+"/api"),
		unleash.WithAppName("demo-go"),
		unleash.WithCustomHeaders(http.Header{"Authorization": {os.Getenv("TOKEN")}}),
		unleash.WithRefreshInterval(time.Second),
		unleash.WithMetricsInterval(10*time.Second),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	guidon := &origin{}
	guidon.pid, _ = strconv.Atoi(os.Getenv("ORIGIN_PID"))
	defer guidon.resume()
	release := &watcher{client: client, url: os.Getenv("SIGNAL_URL"), secret: os.Getenv("SIGNAL_SECRET")}
	go release.watch(ctx)
	files, err := fs.Sub(page, "page")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /data", func(w http.ResponseWriter, r *http.Request) {
		own, err := json.Marshal(evaluate(client))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(data{os.Getenv("CONSOLE"), guidon.state(), release.health(), []json.RawMessage{own, peer(r.Context(), os.Getenv("PEER"))}})
	})
	mux.HandleFunc("POST /origin", func(w http.ResponseWriter, _ *http.Request) {
		if err := guidon.toggle(); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	server := &http.Server{Addr: os.Getenv("ADDRESS"), Handler: http.NewCrossOriginProtection().Handler(mux), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// peer returns what the other application evaluates, or an object with the error.
func peer(ctx context.Context, address string) json.RawMessage {
	const limit = 1 << 20
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	body, err := func() ([]byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		return io.ReadAll(io.LimitReader(resp.Body, limit))
	}()
	if err == nil && json.Valid(body) {
		return body
	}
	return json.RawMessage(`{"error":"the other application does not answer"}`)
}
