package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"guidon/internal/child"
	"guidon/internal/engine"
	"guidon/internal/guard"
	"guidon/internal/runtimeapi"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

// A cold measures new instances of the functions for applications over a large table. The functions run as built programs
// over the Runtime API, as on Lambda, and their calls to DynamoDB are counted.
type cold struct {
	guidon *guidon
	size   int // the number of flags
	engine *engine.Engine
	calls  *counter
	server *guard.Server // counts, and passes to the engine
	store  *dynamo.Store
}

const (
	coldTable  = "guidon"
	coldMemory = 512 // MB, as in the template
)

// The tokens of applications are created at the first start.
var coldTokens = map[string]string{
	client:   "default:development.bench-client-token",
	frontend: "default:development.bench-frontend-token",
}

// coldFigures are the requests to new instances.
type coldFigures struct {
	Flags          int           `json:"flags"`
	Requests       []coldRequest `json:"requests"`
	SnapshotBytes  int           `json:"snapshot_bytes"`
	SnapshotChunks int           `json:"snapshot_items"`
}

// A coldRequest is a request, the calls that it caused, and the units that AWS would bill for these. The processor time and
// the memory are those of the whole process, after the first request of an instance.
type coldRequest struct {
	Title  string  `json:"title"`
	Took   float64 `json:"ms"`
	Calls  string  `json:"calls"`
	Read   float64 `json:"read_units"`
	Write  float64 `json:"write_units"`
	Bytes  int     `json:"bytes"`
	CPU    float64 `json:"cpu_ms,omitempty"`
	Heap   int     `json:"peak_heap_mb,omitempty"`
	Memory float64 `json:"peak_memory_mb,omitempty"`
}

// measureCold measures the first requests of new instances, and the next ones after that.
func measureCold(ctx context.Context, g *guidon, size int) (*coldFigures, error) {
	figures := &coldFigures{Flags: size}
	c, err := openCold(ctx, g, size)
	if err != nil {
		return nil, err
	}
	defer c.close()
	for _, run := range []struct{ function, title string }{
		{client, "client, first, no snapshot"}, // writes one
		{client, "client, first"},
		{frontend, "frontend, first"},
	} {
		requests, err := c.instance(ctx, run.function, run.title)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", run.title, err)
		}
		figures.Requests = append(figures.Requests, requests...)
	}
	head, err := c.snapshot(ctx)
	if err != nil || head == nil {
		return nil, fmt.Errorf("no snapshot was written: %w", err)
	}
	content, err := c.store.ReadSnapshot(ctx, head)
	figures.SnapshotBytes, figures.SnapshotChunks = len(content), head.Chunks
	return figures, err
}

// openCold starts an engine and creates the flags.
func openCold(ctx context.Context, g *guidon, size int) (*cold, error) {
	e, err := engine.Start(ctx, engine.Options{})
	if err != nil {
		return nil, err
	}
	c := &cold{guidon: g, size: size, engine: e, calls: &counter{next: e}}
	if c.server, err = guard.Serve("0", c.calls); err != nil {
		e.Stop()
		return nil, err
	}
	if c.store, err = dynamo.Open(ctx, dynamo.Options{Table: coldTable, Endpoint: c.server.URL}); err == nil {
		err = c.setUp(ctx)
	}
	if err == nil {
		err = c.fill(ctx)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("creating %d flags: %w", size, err)
	}
	return c, nil
}

func (c *cold) close() {
	_ = c.server.Close()
	c.engine.Stop()
}

// snapshot loads the head of the current snapshot; nil if there is none.
func (c *cold) snapshot(ctx context.Context) (*flags.SnapshotHead, error) {
	view, err := c.store.Load(ctx, []flags.Key{flags.SnapshotKey()})
	return flags.Find[*flags.SnapshotHead](view, flags.SnapshotKey()), err
}

// instance starts an instance and sends it three requests: the first one, one without a change, and one after a change.
func (c *cold) instance(ctx context.Context, function, title string) ([]coldRequest, error) {
	var log bytes.Buffer
	f := &runtimeapi.Function{
		Name: function, Command: []string{c.guidon.program(function)}, Timeout: time.Minute, Memory: coldMemory, Log: &log,
		Env: environmentOf(c.server.URL),
	}
	f.Env["GODEBUG"] = "gctrace=1"
	defer f.Stop()
	if err := f.Start(ctx); err != nil {
		return nil, err
	}
	etag := ""
	var requests []coldRequest
	for _, step := range []struct {
		title string
		want  int
	}{{title, http.StatusOK}, {"unchanged", http.StatusNotModified}, {"after a change", http.StatusOK}} {
		if step.title == "after a change" {
			if err := c.change(ctx); err != nil {
				return nil, err
			}
		}
		if function == frontend && step.want == http.StatusNotModified { // the answer has no ETag
			step.want = http.StatusOK
		}
		event, err := json.Marshal(coldEvent(function, etag))
		if err != nil {
			return nil, err
		}
		c.calls.reset()
		began := time.Now()
		raw, err := f.Invoke(ctx, event)
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, log.Bytes())
		}
		took := time.Since(began)
		var answer events.APIGatewayV2HTTPResponse
		if err := json.Unmarshal(raw, &answer); err != nil {
			return nil, err
		}
		if answer.StatusCode != step.want {
			return nil, fmt.Errorf("%s: got status %d, expected %d: %.1000s", step.title, answer.StatusCode, step.want, answer.Body)
		}
		if answer.IsBase64Encoded {
			plain, _ := base64.StdEncoding.DecodeString(answer.Body)
			answer.Body = string(plain)
		}
		if function == client {
			etag = headerOf(answer, "ETag")
		}
		read, write := c.calls.units()
		request := coldRequest{Title: step.title, Took: milliseconds(took), Calls: c.calls.String(), Read: read, Write: write, Bytes: len(answer.Body)}
		if len(requests) == 0 {
			report := f.Report()
			request.CPU, request.Heap, request.Memory = milliseconds(report.CPU), peakHeap(log.Bytes()), float64(report.PeakRSS)/(1<<20)
		}
		requests = append(requests, request)
	}
	return requests, nil
}

func headerOf(answer events.APIGatewayV2HTTPResponse, name string) string {
	for key, value := range answer.Headers {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

// coldEvent is the event of a request of an application.
func coldEvent(function, etag string) events.APIGatewayV2HTTPRequest {
	event := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RawPath: "/api/client/features", RouteKey: "ANY /api/client/features",
		Headers: map[string]string{
			"authorization": coldTokens[function], "host": "localhost", "accept-encoding": "gzip", "unleash-client-spec": "5.2.0",
		},
	}
	if function == frontend {
		event.RawPath, event.RouteKey, event.RawQueryString = "/api/frontend", "ANY /api/frontend", "appName=bench&userId=1"
	}
	if etag != "" {
		event.Headers["if-none-match"] = etag
	}
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path = http.MethodGet, event.RawPath
	event.RequestContext.RouteKey = event.RouteKey
	return event
}

var heapLine = regexp.MustCompile(`(\d+)->(\d+)->(\d+) MB`)

// peakHeap returns the peak of the heap in MB, from the lines of the collector.
func peakHeap(log []byte) (peak int) {
	lines := bufio.NewScanner(bytes.NewReader(log))
	for lines.Scan() {
		if m := heapLine.FindStringSubmatch(lines.Text()); m != nil {
			n, _ := strconv.Atoi(m[2])
			peak = max(peak, n)
		}
	}
	return peak
}

// setUp creates the table with what every service has, and a third environment, with the local server.
func (c *cold) setUp(ctx context.Context) error {
	port, err := child.FreePort()
	if err != nil {
		return err
	}
	data := filepath.Join(c.guidon.dir, "cold")
	p, err := c.guidon.start(ctx, port, data, "AWS_ENDPOINT_URL_DYNAMODB="+c.server.URL, "TABLE_NAME="+coldTable,
		"INIT_CLIENT_API_TOKENS="+coldTokens[client], "INIT_FRONTEND_API_TOKENS="+coldTokens[frontend])
	if err != nil {
		return err
	}
	defer p.Stop(syscall.SIGTERM, stopTimeout)
	t := newTarget("http://127.0.0.1:"+port, defaultToken)
	defer t.close()
	for _, r := range []request{
		{method: http.MethodPost, path: "/api/admin/environments", body: `{"name":"staging","type":"preproduction"}`, want: http.StatusCreated},
		{method: http.MethodPost, path: "/api/admin/projects/default/environments", body: `{"environment":"staging"}`, want: http.StatusOK},
	} {
		if _, err := t.send(ctx, r, io.Discard); err != nil {
			return err
		}
	}
	return nil
}
