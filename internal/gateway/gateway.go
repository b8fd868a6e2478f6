// Package gateway does for the built functions what API Gateway, Lambda and EventBridge do on AWS, without Docker: for tests and
// measurements. It reads the functions with their routes, timeouts and schedules from template.yaml, runs each function as a process over
// Lambda's Runtime API (package runtimeapi), and makes the event of each request, also those of function URLs. The command in run serves
// it on a port.
package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"guidon/internal/guard"
	"guidon/internal/runtimeapi"
	"guidon/internal/secrets"
	"guidon/pkg/dynamo"
)

// Options say what a gateway runs.
type Options struct {
	Template  string // path of template.yaml
	Functions string // folder with <name>/bootstrap for each function
	Endpoint  string // of the DynamoDB with the table guidon
	Key       string // that encrypts the secrets of tokens
	Token     string // that callers of Lambda's Invoke operation must send, as Authorization
	PublicURL string
	Only      []string  // the logical IDs of the functions to run, such as "FrontendFunction"; empty for all
	Log       io.Writer // for what the functions print, and for errors; nil for standard error
}

// A Gateway runs functions. It is an http.Handler. A function starts with its first event, and has one process.
type Gateway struct {
	http.Handler
	log       io.Writer
	token     string
	functions map[string]*runtimeapi.Function // by logical ID
	scheduled []string                        // logical IDs
	secrets   *guard.Server
}

// The names of the secrets: the key that encrypts tokens, and the first admin token.
const (
	keySecret   = "guidon-token-key"
	adminSecret = "guidon-admin-token"
)

// New returns a gateway for the functions of a template. The caller closes it.
func New(o Options) (*Gateway, error) {
	t, err := ReadTemplate(o.Template)
	if err != nil {
		return nil, err
	}
	if len(o.Only) > 0 {
		t.Functions = slices.DeleteFunc(t.Functions, func(f Function) bool { return !slices.Contains(o.Only, f.ID) })
	}
	g := &Gateway{log: o.Log, token: o.Token, functions: map[string]*runtimeapi.Function{}}
	if g.log == nil {
		g.log = os.Stderr
	}
	if g.Handler, err = NewRouter(t, g.serve); err != nil {
		return nil, err
	}
	if g.secrets, err = guard.Serve("0", secrets.New(map[string]string{keySecret: o.Key, adminSecret: ""})); err != nil {
		return nil, err
	}
	env := o.environment(g.secrets.URL)
	for _, f := range t.Functions {
		binary := filepath.Join(o.Functions, f.Name, "bootstrap")
		if _, err := os.Stat(binary); err != nil {
			g.Close()
			return nil, fmt.Errorf("the folder needs <name>/bootstrap for each function: %w", err)
		}
		g.functions[f.ID] = &runtimeapi.Function{
			Name: f.ID, Command: []string{binary}, Env: env, Timeout: f.Timeout, Memory: f.Memory, Log: g.log,
		}
		if f.Every > 0 {
			g.scheduled = append(g.scheduled, f.ID)
		}
	}
	return g, nil
}

// environment has the variables that the template sets for the functions, with local values and addresses.
func (o Options) environment(secretsManager string) map[string]string {
	env := map[string]string{
		"TABLE_NAME":                       "guidon",
		"TOKEN_KEY_SECRET":                 keySecret,
		"ADMIN_TOKEN_SECRET":               adminSecret,
		"AWS_ENDPOINT_URL_DYNAMODB":        o.Endpoint,
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": secretsManager,
		"AWS_ACCESS_KEY_ID":                "local",
		"AWS_SECRET_ACCESS_KEY":            "local",
		"AWS_REGION":                       dynamo.LocalRegion,
		"PUBLIC_URL":                       o.PublicURL,
	}
	for _, name := range []string{"AUTH_TYPE", "LOG_LEVEL", "CORS_ORIGINS", "FRONTEND_ORIGINS", "CLIENT_MAX_AGE", "SESSION_HOURS", "LIMITS"} {
		if value, set := os.LookupEnv(name); set {
			env[name] = value
		}
	}
	return env
}

// serve calls the function of a route, or the one that a request to Lambda's Invoke operation names.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request, route *Route) {
	if id, ok := invoked(r); ok {
		g.serveInvoke(w, r, id)
		return
	}
	g.answer(w, r, route.Function.ID, func(body []byte) (events.APIGatewayV2HTTPRequest, error) { return NewEvent(r, body, route) })
}

// FunctionURL returns the URL of a function as a handler: it sends all requests to the function with this logical ID.
func (g *Gateway) FunctionURL(id string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.answer(w, r, id, func(body []byte) (events.APIGatewayV2HTTPRequest, error) { return NewURLEvent(r, body) })
	})
}

// answer makes the event of a request, calls a function with it, and writes the response.
func (g *Gateway) answer(w http.ResponseWriter, r *http.Request, id string, newEvent func([]byte) (events.APIGatewayV2HTTPRequest, error)) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var response events.APIGatewayV2HTTPResponse
	if err == nil {
		var event events.APIGatewayV2HTTPRequest
		if event, err = newEvent(body); err == nil {
			response, err = g.send(r.Context(), id, event)
		}
	}
	if err == nil && response.IsBase64Encoded {
		var decoded []byte
		decoded, err = base64.StdEncoding.DecodeString(response.Body)
		response.Body = string(decoded)
	}
	_, long := errors.AsType[*http.MaxBytesError](err)
	switch {
	case long || errors.Is(err, errTooLarge):
		http.Error(w, `{"message":"Request Entity Too Large"}`, http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		fmt.Fprintln(g.log, "gateway:", err)
		http.Error(w, `{"message":"Internal Server Error"}`, http.StatusInternalServerError)
		return
	}
	header := w.Header()
	for name, value := range response.Headers {
		header.Set(name, value)
	}
	for _, cookie := range response.Cookies {
		header.Add("Set-Cookie", cookie)
	}
	w.WriteHeader(response.StatusCode)
	_, _ = io.WriteString(w, response.Body) // fails only if the caller has disconnected
}

// send sends a request to a function.
func (g *Gateway) send(ctx context.Context, id string, event events.APIGatewayV2HTTPRequest) (response events.APIGatewayV2HTTPResponse, err error) {
	raw, err := json.Marshal(event)
	if err != nil {
		return response, err
	}
	answer, err := g.functions[id].Invoke(ctx, raw)
	if err != nil {
		return response, err
	}
	return response, json.Unmarshal(answer, &response)
}

// invoked returns the function of a request to the path of Lambda's Invoke operation.
func invoked(r *http.Request) (id string, ok bool) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/2015-03-31/functions/")
	id, tail := strings.CutSuffix(rest, "/invocations")
	return id, ok && tail && r.Method == http.MethodPost
}

// serveInvoke is the Invoke operation of Lambda: it passes the body to the function unchanged, and returns its response.
func (g *Gateway) serveInvoke(w http.ResponseWriter, r *http.Request, id string) {
	if r.Header.Get("Authorization") != g.token { // a web page cannot send it without asking first
		http.Error(w, `{"Type":"User","Message":"the header Authorization must be the admin token"}`, http.StatusForbidden)
		return
	}
	f, ok := g.functions[id]
	if !ok {
		http.Error(w, `{"Type":"User","Message":"no such function"}`, http.StatusNotFound)
		return
	}
	event, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if err != nil {
		http.Error(w, `{"Type":"User","Message":"the event cannot be read"}`, http.StatusBadRequest)
		return
	}
	answer, err := f.Invoke(r.Context(), event)
	if err != nil {
		fmt.Fprintln(g.log, "gateway:", err)
		http.Error(w, `{"Type":"Service","Message":"the function failed; see the log"}`, http.StatusBadGateway)
		return
	}
	_, _ = w.Write(answer)
}

// scheduledEvent is what EventBridge sends to a function, as far as Guidon's functions need it.
const scheduledEvent = `{"version":"0","source":"aws.events","detail-type":"Scheduled Event","detail":{}}`

// RunSchedules calls the functions that have a schedule until ctx ends, more often than EventBridge does.
func (g *Gateway) RunSchedules(ctx context.Context, every time.Duration) {
	var clocks sync.WaitGroup
	for _, id := range g.scheduled {
		clocks.Go(func() {
			ticker := time.NewTicker(every)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					if _, err := g.functions[id].Invoke(ctx, []byte(scheduledEvent)); err != nil && ctx.Err() == nil {
						fmt.Fprintf(g.log, "gateway: %s: %v\n", id, err)
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	clocks.Wait()
}

// Close ends the processes, and prints for each what Lambda reports in its REPORT line.
func (g *Gateway) Close() {
	for _, id := range slices.Sorted(maps.Keys(g.functions)) {
		f := g.functions[id]
		f.Stop()
		if r := f.Report(); r.Starts > 0 {
			fmt.Fprintf(g.log, "gateway: REPORT %s: %d events in %s (longest %s), %d starts, init %s, peak memory %.1f MB\n",
				id, r.Events, r.Duration.Round(time.Millisecond), r.Longest.Round(time.Millisecond),
				r.Starts, r.Init.Round(100*time.Microsecond), float64(r.PeakRSS)/(1<<20))
		}
	}
	_ = g.secrets.Close()
}
