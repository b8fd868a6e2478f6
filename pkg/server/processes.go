package server

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"guidon/internal/guard"
	"guidon/internal/runtimeapi"
	"guidon/internal/secrets"
	"guidon/pkg/access"
	"guidon/pkg/dynamo"
)

// The names of the secrets: the key that encrypts tokens, and the first admin token.
const (
	keySecret   = "guidon-token-key"
	adminSecret = "guidon-admin-token"
)

// processes run the built functions, each in a process over Lambda's Runtime API: FUNCTIONS in the environment names the
// folder with the builds. A function starts with its first request.
type processes struct {
	functions map[string]*runtimeapi.Function // by logical id
	secrets   *guard.Server
}

// newProcesses prepares a process for each function of the template. They use the table at endpoint.
func newProcesses(s settings, t *template, endpoint string) (*processes, error) {
	key, err := os.ReadFile(s.keyFile)
	if err != nil {
		return nil, err
	}
	manager, err := guard.Serve("0", secrets.New(map[string]string{keySecret: string(key), adminSecret: ""}))
	if err != nil {
		return nil, err
	}
	p := &processes{functions: map[string]*runtimeapi.Function{}, secrets: manager}
	env := environment(s, endpoint, manager.URL)
	for _, f := range t.functions {
		binary := filepath.Join(s.functions, f.group, "bootstrap")
		if _, err := os.Stat(binary); err != nil {
			p.close()
			return nil, fmt.Errorf("FUNCTIONS must be a folder with <group>/bootstrap for each function: %w", err)
		}
		p.functions[f.id] = &runtimeapi.Function{
			Name: f.id, Command: []string{binary}, Env: env, Timeout: f.timeout, Memory: f.memory,
			Log: &prefixed{out: os.Stderr, name: f.group},
		}
	}
	return p, nil
}

// environment has the variables that the template sets for the functions, with local values and addresses.
func environment(s settings, endpoint, secretsManager string) map[string]string {
	env := map[string]string{
		"TABLE_NAME":                       s.table,
		"TOKEN_KEY_SECRET":                 keySecret,
		"ADMIN_TOKEN_SECRET":               adminSecret,
		"AWS_ENDPOINT_URL_DYNAMODB":        endpoint,
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": secretsManager,
		"AWS_ACCESS_KEY_ID":                "local",
		"AWS_SECRET_ACCESS_KEY":            "local",
		"AWS_REGION":                       dynamo.LocalRegion,
		"PUBLIC_URL":                       s.config.PublicURL,
	}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		switch name {
		case "AUTH_TYPE", "LOG_LEVEL", "CORS_ORIGINS", "FRONTEND_ORIGINS", "CLIENT_MAX_AGE", "SESSION_HOURS", "LIMITS":
			env[name] = value
		}
	}
	return env
}

// handler passes events to the process of a function.
func (p *processes) handler(id string) func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	f := p.functions[id]
	return func(ctx context.Context, event events.APIGatewayV2HTTPRequest) (response events.APIGatewayV2HTTPResponse, err error) {
		raw, err := json.Marshal(event)
		if err != nil {
			return response, err
		}
		answer, err := f.Invoke(ctx, raw)
		if err != nil {
			fmt.Fprintln(os.Stderr, "guidon:", err)
			return response, err
		}
		return response, json.Unmarshal(answer, &response)
	}
}

// invoked is the function of a request to the path of Lambda's Invoke operation.
func invoked(r *http.Request) (id string, ok bool) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/2015-03-31/functions/")
	id, tail := strings.CutSuffix(rest, "/invocations")
	return id, ok && tail && r.Method == http.MethodPost
}

// serve is the Invoke operation of Lambda, for `aws lambda invoke`: it passes the body to the function unchanged, and
// returns its response.
func (p *processes) serve(w http.ResponseWriter, r *http.Request, id string) {
	f, ok := p.functions[id]
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
	var failed *runtimeapi.Error
	switch {
	case errors.As(err, &failed):
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		answer, _ = json.Marshal(failed)
	case err != nil:
		fmt.Fprintln(os.Stderr, "guidon:", err)
		http.Error(w, `{"Type":"Service","Message":"the function cannot be run; see the log"}`, http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}

// close ends the processes, and prints for each what Lambda reports in its REPORT line.
func (p *processes) close() {
	if p == nil {
		return
	}
	ids := make([]string, 0, len(p.functions))
	for id := range p.functions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		f := p.functions[id]
		f.Stop()
		if r := f.Report(); r.Starts > 0 {
			fmt.Fprintf(os.Stderr, "guidon: REPORT %s: %d events in %s (longest %s), %d starts, init %s, peak memory %.1f MB\n",
				id, r.Events, r.Duration.Round(time.Millisecond), r.Longest.Round(time.Millisecond),
				r.Starts, r.Init.Round(100*time.Microsecond), float64(r.PeakRSS)/(1<<20))
		}
	}
	_ = p.secrets.Close()
}

// handler is the gateway, with Lambda's Invoke operation if the functions are processes. It is not an http.ServeMux, which
// would redirect paths that the functions must see unchanged.
func (g *gateway) handler() http.Handler {
	if g.processes == nil {
		return g
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, ok := invoked(r); ok {
			if given := r.Header.Get("Authorization"); g.tokens[access.AdminToken].Secret == "" || subtle.ConstantTimeCompare([]byte(given), []byte(g.tokens[access.AdminToken].Secret)) != 1 {
				http.Error(w, `{"Type":"User","Message":"the header Authorization must be the admin token"}`, http.StatusForbidden)
				return
			}
			g.processes.serve(w, r, id)
			return
		}
		g.ServeHTTP(w, r)
	})
}
