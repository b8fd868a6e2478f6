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
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
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

// measureCold prints what the first requests of new instances cost, and the next ones after that.
func measureCold(ctx context.Context, g *guidon, size int, out io.Writer) error {
	e, err := engine.Start(ctx, engine.Options{})
	if err != nil {
		return err
	}
	defer e.Stop()
	c := &cold{guidon: g, size: size, calls: &counter{next: e}}
	if c.server, err = guard.Serve("0", c.calls); err != nil {
		return err
	}
	defer func() { _ = c.server.Close() }()
	if c.store, err = dynamo.Open(ctx, dynamo.Options{Table: coldTable, Endpoint: c.server.URL}); err != nil {
		return err
	}
	if err := c.setUp(ctx); err != nil {
		return fmt.Errorf("setting up: %w", err)
	}
	began := time.Now()
	if err := c.fill(ctx); err != nil {
		return fmt.Errorf("creating %d flags: %w", size, err)
	}
	if head, err := c.snapshot(ctx); err != nil || head != nil {
		return fmt.Errorf("there is a snapshot before the first request: %v (%w)", head, err)
	}
	fmt.Fprintf(os.Stderr, "created %d flags in %.0f s\n", size, time.Since(began).Seconds())
	fmt.Fprintf(out, "\nNew instances over %d flags in 3 environments, each with a constraint and two variants. Memory and processor time are those of the whole process; heap is its peak. Units are DynamoDB's, from the sizes of the items.\n\n", size)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "request\tms\tcalls\tread units\twrite units\tanswer\tCPU ms\theap\tmemory\t")
	for _, run := range []struct{ function, title string }{
		{client, "client, first, no snapshot"}, // writes one
		{client, "client, first"},
		{frontend, "frontend, first"},
	} {
		if err := c.instance(ctx, w, run.function, run.title); err != nil {
			return fmt.Errorf("%s: %w", run.title, err)
		}
	}
	_ = w.Flush()
	head, err := c.snapshot(ctx)
	if err != nil || head == nil {
		return fmt.Errorf("no snapshot was written: %w", err)
	}
	content, err := c.store.ReadSnapshot(ctx, head)
	fmt.Fprintf(out, "\nsnapshot: %.2f MB in %d items\n", float64(len(content))/(1<<20), head.Chunks)
	return err
}

// snapshot loads the head of the current snapshot; nil if there is none.
func (c *cold) snapshot(ctx context.Context) (*flags.SnapshotHead, error) {
	view, err := c.store.Load(ctx, []flags.Key{flags.SnapshotKey()})
	return flags.Find[*flags.SnapshotHead](view, flags.SnapshotKey()), err
}

// instance starts an instance and sends it three requests: the first one, one without a change, and one after a change.
func (c *cold) instance(ctx context.Context, w io.Writer, function, title string) error {
	binary, err := c.guidon.build(ctx, "./functions/"+function)
	if err != nil {
		return err
	}
	var log bytes.Buffer
	f := &runtimeapi.Function{
		Name: function, Command: []string{binary}, Timeout: time.Minute, Memory: coldMemory, Log: &log,
		Env: environmentOf(c.server.URL),
	}
	f.Env["GODEBUG"] = "gctrace=1"
	defer f.Stop()
	if _, err := f.Invoke(ctx, []byte("{}")); err != nil { // starts the process; it refuses the event without asking the store
		return err
	}
	etag := ""
	var rows []string
	for _, step := range []struct {
		title string
		want  int
	}{{title, http.StatusOK}, {"unchanged", http.StatusNotModified}, {"after a change", http.StatusOK}} {
		if step.title == "after a change" {
			if err := c.change(ctx); err != nil {
				return err
			}
		}
		if function == frontend && step.want == http.StatusNotModified { // the answer has no ETag
			step.want = http.StatusOK
		}
		event, err := json.Marshal(coldEvent(function, etag))
		if err != nil {
			return err
		}
		c.calls.reset()
		began := time.Now()
		raw, err := f.Invoke(ctx, event)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, log.Bytes())
		}
		took := time.Since(began)
		var answer events.APIGatewayV2HTTPResponse
		if err := json.Unmarshal(raw, &answer); err != nil {
			return err
		}
		if answer.StatusCode != step.want {
			return fmt.Errorf("%s: got status %d, expected %d: %.1000s", step.title, answer.StatusCode, step.want, answer.Body)
		}
		if answer.IsBase64Encoded {
			plain, _ := base64.StdEncoding.DecodeString(answer.Body)
			answer.Body = string(plain)
		}
		if function == client {
			etag = headerOf(answer, "ETag")
		}
		read, write := c.calls.units()
		rows = append(rows, fmt.Sprintf("%s\t%.1f\t%s\t%.1f\t%.0f\t%d", step.title, float64(took)/float64(time.Millisecond), c.calls, read, write, len(answer.Body)))
		if len(rows) == 1 { // of the first request only
			report := f.Report()
			rows[0] += fmt.Sprintf("\t%d\t%d MB\t%.0f MB", report.CPU.Milliseconds(), peakHeap(log.Bytes()), float64(report.PeakRSS)/(1<<20))
		} else {
			rows[len(rows)-1] += "\t\t\t"
		}
	}
	for _, row := range rows {
		fmt.Fprintln(w, row+"\t")
	}
	return nil
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
	t := newTarget("http://127.0.0.1:"+port, c.guidon.token)
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

// build builds a program of the repository once, and returns its path.
func (g *guidon) build(ctx context.Context, source string) (string, error) {
	program := filepath.Join(g.dir, filepath.Base(source))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-tags", "lambda.norpc", "-o", program, source)
	build.Dir = g.root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", source, err, out)
	}
	return program, nil
}
