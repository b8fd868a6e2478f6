package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"guidon/internal/guard"
	"guidon/internal/runtimeapi"
	"guidon/internal/secrets"
	"guidon/pkg/dynamo"
)

// Each call of the store takes storeCall, about as long as DynamoDB takes. Events in which the local engine took longer, by more than
// storeLate, are not counted. The engine takes long for long queries, so an event that reads is sent twice, and the second time the store
// gives the same responses from memory.
const (
	storeCall = 4 * time.Millisecond
	storeLate = time.Millisecond
)

const report = "report"

// billedPhases are a report of usage, as an SDK sends it, and the phases.
var billedPhases = slices.Concat([]phase{{name: report, application: client, request: func(i, _ int, flag string) request {
	used := map[string]any{}
	for n := range 50 {
		used[fmt.Sprintf("%s-%d", flag, n)] = map[string]int{"yes": i, "no": n}
	}
	now := time.Now().UTC()
	body, _ := json.Marshal(map[string]any{"appName": "bench", "instanceId": "bench", "bucket": map[string]any{
		"start": now.Add(-time.Minute), "stop": now, "toggles": used,
	}})
	return request{http.MethodPost, "/api/client/metrics", string(body), http.StatusAccepted}
}}}, phases)

// scheduled lists the functions that EventBridge calls. transfer applies scheduled change requests.
var scheduled = []string{"snapshot", "aggregate", "deliver", "transfer"}

// measureBilled prints the time that Lambda bills for an event of each phase, and for a run of each scheduled function that finds nothing to
// do. A function has one event at a time. Lambda bills the time from an event to its response, rounded up to a millisecond.
func measureBilled(ctx context.Context, opts options, p *programs) error {
	if opts.billed == 0 {
		return nil
	}
	s, err := p.startGuidon(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	l := &load{options: opts, server: s, prefix: "billed-"}
	if err := l.prepare(ctx); err != nil {
		return fmt.Errorf("preparing: %w\n%s", err, s.log())
	}
	b := &billing{load: l, store: &slowStore{}}
	address, err := url.Parse(s.endpoint)
	if err != nil {
		return err
	}
	proxy := &httputil.ReverseProxy{Transport: b.store, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(address) }}
	slow, err := guard.Serve("0", proxy)
	if err != nil {
		return err
	}
	defer func() { _ = slow.Close() }()
	key, err := os.ReadFile(filepath.Join(s.data, "token.key"))
	if err != nil {
		return err
	}
	manager, err := guard.Serve("0", secrets.New(map[string]string{"key": string(key)}))
	if err != nil {
		return err
	}
	defer func() { _ = manager.Close() }()
	b.env = map[string]string{
		"TABLE_NAME": "guidon", "AWS_ENDPOINT_URL_DYNAMODB": slow.URL, "AWS_ENDPOINT_URL_SECRETS_MANAGER": manager.URL, "TOKEN_KEY_SECRET": "key",
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_REGION": dynamo.LocalRegion, "LOG_LEVEL": "warn",
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.Debug)
	fmt.Fprintf(w, "\nBilled ms, store of %s a call\tcalls\tlowest\tquartile\tmedian\tfirst of a process\tevents\t\n", storeCall)
	for _, name := range scheduled {
		if _, err := b.events(ctx, w, p, name, name, false, func(int) ([]byte, int, error) { return []byte(`{"source":"aws.events"}`), 0, nil }); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, ph := range billedPhases {
		if err := b.phase(ctx, w, p, ph); err != nil {
			return fmt.Errorf("%s: %w", ph.name, err)
		}
	}
	return w.Flush()
}

// A billing sends events to functions.
type billing struct {
	load  *load
	store *slowStore
	env   map[string]string // of the functions
}

// phase measures an operation.
func (b *billing) phase(ctx context.Context, w io.Writer, p *programs, ph phase) error {
	header, function := http.Header{"Authorization": {adminToken}}, "features"
	if ph.application != "" {
		if err := b.load.connect(ctx, ph, header); err != nil {
			return err
		}
		header.Set("Accept-Encoding", "gzip")
		function = map[string]string{client: "applications", frontend: "frontend"}[ph.application]
	}
	reads := ph.request(0, 0, b.load.names[0]).method == http.MethodGet
	calls, err := b.events(ctx, w, p, ph.name, function, reads, func(i int) ([]byte, int, error) {
		names := b.load.names
		r := ph.request(i, i/len(names), names[i%len(names)])
		event, err := json.Marshal(eventOf(r, header))
		return event, r.want, err
	})
	if err == nil && !reads && ph.application == "" && calls > 0 && calls < 2 { // a change is read and written
		err = fmt.Errorf("%.1f calls of the store for each request: the requests change nothing", calls)
	}
	return err
}

// eventOf is the event that API Gateway sends to a function for a request.
func eventOf(r request, header http.Header) events.APIGatewayV2HTTPRequest {
	path, query, _ := strings.Cut(r.path, "?")
	event := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: path, RawQueryString: query, Body: r.body, Headers: map[string]string{}}
	for name := range header {
		event.Headers[strings.ToLower(name)] = header.Get(name)
	}
	if r.body != "" {
		event.Headers["content-type"] = "application/json"
	}
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path, event.RequestContext.HTTP.SourceIP = r.method, path, "127.0.0.1"
	return event
}

// events sends the events to a new process of a function, prints their times, and returns the mean of the calls of the store. A status of 0
// means that the event is no request.
func (b *billing) events(ctx context.Context, w io.Writer, p *programs, name, function string, reads bool, event func(i int) (event []byte, status int, err error)) (calls float64, err error) {
	f := &runtimeapi.Function{Name: function, Command: []string{p.function(function)}, Timeout: time.Minute, Memory: 512, Env: b.env}
	defer f.Stop()
	if err := f.Start(ctx); err != nil {
		return 0, err
	}
	var first float64
	var times []float64
	for i := range b.load.billed {
		data, want, err := event(i)
		if err != nil {
			return 0, err
		}
		b.store.reset(nil)
		if reads && i > 0 {
			b.store.reset(map[string]stored{})
			if _, err := f.Invoke(ctx, data); err != nil {
				return 0, err
			}
			b.store.reset(b.store.known)
		}
		began := time.Now()
		answer, err := f.Invoke(ctx, data)
		took := milliseconds(time.Since(began))
		var response struct{ StatusCode int }
		if err == nil && want != 0 {
			err = json.Unmarshal(answer, &response)
		}
		if err == nil && response.StatusCode != want {
			err = errors.New("unexpected response")
		}
		if err != nil {
			return 0, fmt.Errorf("event %d: %w; expected status %d, got %.500s", i, err, want, answer)
		}
		switch {
		case i == 0:
			first = took
		case !b.store.late.Load():
			times, calls = append(times, took), calls+float64(b.store.calls.Load())
		}
	}
	calls /= float64(max(1, len(times)))
	up := func(ms float64) int { return int(ms + 0.999) }
	fmt.Fprintf(w, "%s\t%.1f\t%d\t%d\t%d\t%d\t%d\t\n", name, calls, up(percentile(times, 0)), up(percentile(times, 25)), up(median(times)), up(first), len(times))
	return calls, nil
}

// A slowStore passes calls to the engine, and makes each take storeCall.
type slowStore struct {
	calls atomic.Int64
	late  atomic.Bool // whether a call took longer
	mu    sync.Mutex
	known map[string]stored // responses by call; nil if they are not kept
}

type stored struct {
	response http.Response
	body     string
}

func (s *slowStore) reset(known map[string]stored) {
	s.calls.Store(0)
	s.late.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = known
}

// RoundTrip is part of http.RoundTripper.
func (s *slowStore) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	s.calls.Add(1)
	response, err := s.exchange(r)
	time.Sleep(storeCall - time.Since(began))
	if time.Since(began) > storeCall+storeLate {
		s.late.Store(true)
	}
	return response, err
}

func (s *slowStore) exchange(r *http.Request) (*http.Response, error) {
	call, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	key := r.Header.Get("X-Amz-Target") + string(call)
	s.mu.Lock()
	answer, found := s.known[key]
	s.mu.Unlock()
	if !found {
		r.Body = io.NopCloser(strings.NewReader(string(call)))
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		answer = stored{*response, string(body)}
		s.mu.Lock()
		if s.known != nil {
			s.known[key] = answer
		}
		s.mu.Unlock()
	}
	response := answer.response
	response.Header, response.Request, response.Body = answer.response.Header.Clone(), r, io.NopCloser(strings.NewReader(answer.body))
	return &response, nil
}
