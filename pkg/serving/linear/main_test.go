package linear

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"context"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/serving"
)

// settings is the environment variable with the settings of a process that serves: the test program starts itself again.
const settings = "GUIDON_TEST_INSTANCE"

func TestMain(m *testing.M) {
	text := os.Getenv(settings)
	if text == "" {
		os.Exit(m.Run())
	}
	var o options
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = o.serve()
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// The options of a process that serves.
type options struct {
	Engine, Table, Port string
	Program             string // that serves; "" for this one
	Seed                uint64
	Loss                float64       // the share of calls without an answer
	Delay               time.Duration // the longest delay of a call
	Clock               time.Duration // how far its clock is off
}

// serve answers applications and the administration, as Lambda functions do. Its calls to the engine are slow, get lost, and are throttled.
func (o options) serve() error {
	var pages, chunks atomic.Int64
	faults := &dynamotest.Faults{
		Seed: o.Seed, Delay: o.Delay,
		DropRequests: o.Loss * 0.2, LoseResponses: o.Loss * 0.4, TruncateResponses: o.Loss * 0.4,
		Throttles: o.Loss * 0.2, Failures: o.Loss * 0.2,
		OnRequest: func(operation string, body []byte) {
			switch {
			case operation == "Query" && strings.Contains(string(body), `"PAGE#`):
				pages.Add(1)
			case operation == "BatchGetItem" && strings.Contains(string(body), `"CHUNK#`):
				chunks.Add(1)
			}
		},
	}
	store, err := dynamo.Open(context.Background(), dynamo.Options{
		Table: o.Table, Endpoint: o.Engine, HTTPClient: &http.Client{Transport: faults, Timeout: 2 * time.Second},
	})
	if err != nil {
		return err
	}
	var reports atomic.Int64
	now := func() time.Time { return time.Now().Add(o.Clock) }
	reader := serving.NewReader(store, serving.ReaderOptions{
		Now:    now,
		Report: func(context.Context, string, error) { reports.Add(1) },
	})
	config := httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, Now: now}
	mux := &httpapi.Mux{}
	for _, group := range append(admin.Groups(), serving.ClientGroup(reader, store, config), serving.FrontendGroup(reader, store, config)) {
		handler := httpapi.New(store, group, config)
		for _, route := range group.Routes() {
			mux.Handle(route, handler)
		}
	}
	mux.Handle("GET /test/counts", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c := counts{Pages: pages.Load(), Snapshots: chunks.Load(), Reports: reports.Load()}
		for _, n := range faults.Injected() {
			c.Faults += int64(n)
		}
		for _, n := range faults.Calls() {
			c.Calls += int64(n)
		}
		_ = json.NewEncoder(w).Encode(c)
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:"+o.Port)
	if err != nil {
		return err
	}
	return (&http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}).Serve(listener)
}

// The counts of a process that serves.
type counts struct {
	Calls, Faults    int64 // to the engine
	Pages, Snapshots int64 // reads of pages of the feed, and of snapshots
	Reports          int64 // problems without harm
}

func (c *counts) add(o counts) {
	c.Calls, c.Faults, c.Pages, c.Snapshots, c.Reports = c.Calls+o.Calls, c.Faults+o.Faults, c.Pages+o.Pages, c.Snapshots+o.Snapshots, c.Reports+o.Reports
}
