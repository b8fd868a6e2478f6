package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"guidon/internal/engine"
	"guidon/internal/guard"
	"guidon/internal/runtimeapi"
	"guidon/pkg/dynamo"
)

// scaleSizes are the numbers of flags in the project "default" that -only scale measures by default.
const scaleSizes = "100,1000,10000"

// A scaleOperation is a request that is measured in projects of several sizes.
type scaleOperation struct {
	title, function, method string
	path, body              string // {flag} is the flag in the middle, {new} a new name each time
	plain                   bool   // not compressed
	times                   int    // how often it is sent; 1 if 0
}

// scaleTimeout is the time of a function. The local engine takes far longer for large pages than DynamoDB.
const scaleTimeout = 5 * time.Minute

const scaleProject = "/api/admin/projects/default"

var scaleOperations = []scaleOperation{
	{title: "read a flag", function: "features", method: "GET", path: scaleProject + "/features/{flag}", times: 50},
	{title: "off and on", function: "features", method: "POST", path: scaleProject + "/features/{flag}/environments/development/{switch}", times: 50},
	{title: "create", function: "features", method: "POST", path: scaleProject + "/features", body: `{"name":"{new}"}`, times: 50},
	{title: "PUT", function: "features", method: "PUT", path: scaleProject + "/features/{flag}", body: `{"description":"{new}"}`, times: 50},
	{title: "page of 1,000", function: "features", method: "GET", path: scaleProject + "/features?limit=1000"},
	{title: "page in the middle", function: "features", method: "GET", path: scaleProject + "/features?limit=1000&cursor={flag}"},
	{title: "whole list", function: "features", method: "GET", path: scaleProject + "/features"},
	{title: "whole list, plain", function: "features", method: "GET", path: scaleProject + "/features", plain: true},
	{title: "archived flags, first 1,000", function: "features", method: "GET", path: "/api/admin/archive/features?limit=1000"},
	{title: "project with flags", function: "projects", method: "GET", path: scaleProject},
	{title: "project overview", function: "projects", method: "GET", path: scaleProject + "/overview"},
	{title: "all projects", function: "projects", method: "GET", path: "/api/admin/projects"},
	{title: "tags", function: "tags", method: "GET", path: "/api/admin/tags"},
	{title: "export, first 1,000", function: "imports", method: "POST", path: "/api/admin/features-batch/export", body: `{"environment":"development","project":"default","limit":1000}`},
	{title: "whole export", function: "imports", method: "POST", path: "/api/admin/features-batch/export", body: `{"environment":"development","features":[]}`},
}

// measureScale prints what operations cost in projects with those numbers of flags.
func measureScale(ctx context.Context, g *guidon, sizes []int, out io.Writer) error {
	fmt.Fprint(out, "\nOperations by the number of flags in the project, which has 3 environments; each flag has a constraint and two variants in each. Calls and units of DynamoDB, processor time and time are for one request, memory is the peak of the function's process.\n\n")
	for _, size := range sizes {
		if err := measureSize(ctx, g, size, out); err != nil {
			return fmt.Errorf("%d flags: %w", size, err)
		}
	}
	return nil
}

func measureSize(ctx context.Context, g *guidon, size int, out io.Writer) error {
	e, err := engine.Start(ctx, engine.Options{})
	if err != nil {
		return err
	}
	defer e.Stop()
	c := &cold{guidon: g, size: 1, calls: &counter{next: e}}
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
	if err := c.fill(ctx); err != nil {
		return err
	}
	began := time.Now()
	if err := copyFlag(ctx, e, size); err != nil {
		return fmt.Errorf("creating %d flags: %w", size, err)
	}
	fmt.Fprintf(os.Stderr, "created %d flags in %.0f s\n", size, time.Since(began).Seconds())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d flags\tstatus\tcalls\tread units\twrite units\tbytes\tCPU ms\tms\tMB\t\n", size)
	for _, o := range scaleOperations {
		row, err := c.measureOperation(ctx, o, size)
		if err != nil {
			return fmt.Errorf("%s: %w", o.title, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", o.title, strings.ReplaceAll(row, "\t", " "))
		fmt.Fprintf(w, "%s\t%s\t\n", o.title, row)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// measureOperation measures one operation in a process of its own, after a first request that opens its connections.
func (c *cold) measureOperation(ctx context.Context, o scaleOperation, size int) (string, error) {
	var log bytes.Buffer
	f := &runtimeapi.Function{Name: o.function, Command: []string{c.guidon.program(o.function)}, Timeout: scaleTimeout, Memory: coldMemory, Log: &log, Env: environmentOf(c.server.URL)}
	defer f.Stop()
	first := scaleOperation{method: "GET", path: "/api/admin/projects/default/nosuch"}
	if _, err := f.Invoke(ctx, c.event(first, size, 0)); err != nil {
		return "", fmt.Errorf("%w\n%s", err, log.Bytes())
	}
	times := max(1, o.times)
	for i := range min(10, times-1) { // connections, and code that runs for the first time
		if _, err := f.Invoke(ctx, c.event(o, size, -1-i)); err != nil {
			return "", err
		}
	}
	var answer events.APIGatewayV2HTTPResponse
	c.calls.reset()
	cpu, began := f.Report().CPU, time.Now()
	for i := range times {
		raw, err := f.Invoke(ctx, c.event(o, size, i))
		if err != nil {
			return "", fmt.Errorf("%w\n%s", err, log.Bytes())
		}
		answer = events.APIGatewayV2HTTPResponse{}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return "", err
		}
		if answer.StatusCode >= 400 {
			fmt.Fprintf(os.Stderr, "%s: status %d: %.500s\n", o.title, answer.StatusCode, answer.Body)
		}
	}
	took, report := time.Since(began), f.Report()
	if answer.IsBase64Encoded {
		plain, _ := base64.StdEncoding.DecodeString(answer.Body)
		answer.Body = string(plain)
	}
	n := float64(times)
	read, write := c.calls.units()
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) / n }
	return fmt.Sprintf("%d\t%.1f\t%.1f\t%.1f\t%d\t%.1f\t%.1f\t%.0f", answer.StatusCode, float64(c.calls.total())/n, read/n, write/n,
		len(answer.Body), ms(report.CPU-cpu), ms(took), float64(report.PeakRSS)/(1<<20)), nil
}

// event is the event of the i-th request of an operation.
func (c *cold) event(o scaleOperation, size, i int) []byte {
	fill := strings.NewReplacer("{flag}", coldFlag(size/2), "{new}", fmt.Sprintf("new-%s-%d", o.title[:min(3, len(o.title))], i), "{switch}", []string{"off", "on"}[i&1])
	path, query, _ := strings.Cut(fill.Replace(o.path), "?")
	event := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RawPath: path, RawQueryString: query, RouteKey: "$default", Body: fill.Replace(o.body),
		Headers: map[string]string{"authorization": defaultToken, "host": "localhost", "accept-encoding": "gzip", "content-type": "application/json"},
	}
	if o.plain {
		delete(event.Headers, "accept-encoding")
	}
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path = o.method, path
	event.RequestContext.RouteKey = event.RouteKey
	raw, _ := json.Marshal(event) // only texts
	return raw
}
