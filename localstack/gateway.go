package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"guidon/internal/engine"
	"guidon/pkg/bootstrap"
	"guidon/pkg/docs"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
	"guidon/pkg/seal"
)

// dataFile is the engine's file in the data folder.
const dataFile = "guidon.db"

// A gateway answers HTTP requests by the functions of the template.
type gateway struct {
	routes  *router
	metrics *metrics
	admin   string         // the secret of an admin token that works, for the greeting; empty without one
	engine  *engine.Engine // nil when another is used

	processes *processes // nil unless FUNCTIONS has them run
}

// open makes everything ready that the template describes.
func open(ctx context.Context, s settings) (*gateway, error) {
	t, err := readTemplate(s.template)
	if err != nil {
		return nil, err
	}
	g := &gateway{metrics: newMetrics()}
	options := dynamo.Options{Table: s.table}
	if s.endpoint == "" {
		g.engine, err = engine.Start(ctx, engine.Options{
			DataFile: filepath.Join(s.data, dataFile), Log: &prefixed{out: os.Stderr, name: "engine"}, Begins: true,
		})
		if err != nil {
			return nil, err
		}
		options.Endpoint = g.engine.URL()
	} else {
		options = elsewhere(s)
	}
	if err := g.prepare(ctx, s, t, options); err != nil {
		g.close()
		return nil, s.blame(err)
	}
	return g, nil
}

// setUp makes the table of the template in an engine that somebody else runs, and seeds it.
func setUp(ctx context.Context, s settings) error {
	if s.endpoint == "" {
		return errors.New("setup makes a table in another's engine: name its address in AWS_ENDPOINT_URL_DYNAMODB")
	}
	t, err := readTemplate(s.template)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	_, _, err = makeTable(ctx, s, t, elsewhere(s))
	return s.blame(err)
}

// elsewhere is an engine that somebody else runs: with credentials that any but AWS takes, unless there are real ones.
func elsewhere(s settings) dynamo.Options {
	if hasCredentials() {
		return dynamo.Options{Table: s.table} // the SDK finds the address too
	}
	return dynamo.Options{Table: s.table, Endpoint: s.endpoint}
}

// blame says which engine an error is about, if it is another's.
func (s settings) blame(err error) error {
	if err == nil || s.endpoint == "" {
		return err
	}
	return fmt.Errorf("with the engine that AWS_ENDPOINT_URL_DYNAMODB names, %s: %w", s.endpoint, err)
}

// hasCredentials tells whether somebody has set up real ones, for an engine that asks for them.
func hasCredentials() bool {
	return os.Getenv("AWS_ACCESS_KEY_ID") != "" || os.Getenv("AWS_PROFILE") != ""
}

// prepare makes and seeds the table, and a handler for every function.
func (g *gateway) prepare(ctx context.Context, s settings, t *template, options dynamo.Options) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	store, box, err := makeTable(ctx, s, t, options)
	if err == nil && g.engine != nil {
		err = g.engine.Finish()
	}
	if err != nil {
		return err
	}
	s.config.Sealer = func(context.Context) (flags.Sealer, error) { return box, nil }
	if g.admin, err = workingToken(ctx, store, s); err != nil {
		return err
	}
	if s.functions != "" {
		if g.processes, err = newProcesses(s, t, cmp.Or(options.Endpoint, s.endpoint)); err != nil {
			return err
		}
	}
	routes, err := g.functions(t, store, s.config)
	if err != nil {
		return err
	}
	g.routes, err = newRouter(routes)
	return err
}

// makeTable makes the template's table where it is not, and seeds it.
func makeTable(ctx context.Context, s settings, t *template, options dynamo.Options) (*dynamo.Store, *seal.Box, error) {
	store, err := dynamo.Open(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	if err := store.CreateTable(ctx, t.table); err != nil {
		return nil, nil, fmt.Errorf("making the table: %w", err)
	}
	box, err := seal.FromFile(s.keyFile)
	if err != nil {
		return nil, nil, err
	}
	return store, box, bootstrap.Seed(ctx, store, bootstrap.Options{Tokens: s.tokens, Sealer: box})
}

// workingToken is the first seeded admin token that nobody has deleted or let expire since; empty without any.
func workingToken(ctx context.Context, store flags.Store, s settings) (string, error) {
	for _, seeded := range s.tokens {
		if seeded.Type != flags.AdminToken {
			continue
		}
		key := flags.TokenKey(flags.HashSecret(seeded.Secret))
		view, err := store.Load(ctx, []flags.Key{key})
		if err != nil {
			return "", err
		}
		if _, err := flags.Authenticate(flags.Find[*flags.Token](view, key), time.Now()); err == nil {
			return seeded.Secret, nil
		}
	}
	return "", nil
}

// functions gives every function of the template the handler of its group, or the process with it.
func (g *gateway) functions(t *template, store flags.Store, config httpapi.Config) ([]route, error) {
	handlers := map[string]http.Handler{docs.Name: docs.Handler(config)}
	for _, group := range httpapi.Groups() {
		handlers[group.Name] = httpapi.New(store, group, config)
	}
	var routes []route
	for _, f := range t.functions {
		if len(f.routes) == 0 {
			continue
		}
		handler, ok := handlers[f.group]
		if !ok {
			return nil, fmt.Errorf("template.yaml has a function for the group %q, and pkg/httpapi has no such group", f.group)
		}
		delete(handlers, f.group)
		invoke := &function{
			handle:  lambdahttp.Handler(handler),
			timeout: f.timeout,
		}
		if g.processes != nil {
			invoke.handle = g.processes.handler(f.id)
		}
		for _, key := range f.routes {
			routes = append(routes, route{key: key, function: invoke, group: f.group})
		}
	}
	for name := range handlers {
		return nil, fmt.Errorf("pkg/httpapi has the group %q, and template.yaml has no function for it", name)
	}
	return routes, nil
}

func (g *gateway) close() {
	g.processes.close()
	if g.engine != nil {
		g.engine.Stop()
	}
}

// ServeHTTP answers a request, and counts it.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == prometheusPath {
		g.metrics.page.ServeHTTP(w, r)
		return
	}
	started := time.Now()
	answer := &statusWriter{w, http.StatusOK}
	path := r.URL.Path
	if strings.Contains(strings.ToLower(r.URL.EscapedPath()), "%2f") && !lambdahttp.EndsInText(path) {
		path = "/" // no name has a slash: $default answers that there is no such path
	}
	matched, parameters := g.routes.match(r.Method, path)
	g.serve(answer, r, matched, parameters)
	route := "none"
	if matched != nil {
		route = matched.key
	}
	g.metrics.observe(r.Method, route, answer.status, time.Since(started))
}

// serve is a request's way through API Gateway: make the event, call the function of the route, write its answer.
func (g *gateway) serve(w http.ResponseWriter, r *http.Request, matched *route, parameters map[string]string) {
	if matched == nil { // only without a $default route
		writeError(w, http.StatusNotFound, "NotFoundError", "there is no route for this path and method")
		return
	}
	event, err := newEvent(r, matched, parameters)
	switch {
	case errors.Is(err, errTooLarge):
		writeError(w, http.StatusRequestEntityTooLarge, "PayloadTooLargeError", err.Error())
		return
	case err != nil:
		writeError(w, http.StatusBadRequest, "ValidationError", err.Error())
		return
	}
	response, err := matched.function.call(event)
	if err != nil {
		writeError(w, http.StatusInternalServerError, "InternalError", "the function failed; its log says why")
		return
	}
	writeResponse(w, response)
}

// engineEnded is closed when the engine has gone; nil, which is never, when another's is used.
func (g *gateway) engineEnded() <-chan struct{} {
	if g.engine == nil {
		return nil
	}
	return g.engine.Ended()
}

// revive starts an engine again that has ended by itself. Its data is what it was: requests go on where they were.
func (g *gateway) revive(ctx context.Context) error {
	fmt.Fprintln(os.Stderr, "guidon: the DynamoDB engine has ended by itself; starting it again")
	if err := g.engine.Restart(ctx); err != nil {
		return fmt.Errorf("the DynamoDB engine cannot be started again: %w", err)
	}
	return nil
}

// prefixed marks the lines of another process, which come in pieces.
type prefixed struct {
	out  io.Writer
	name string
	line []byte
}

func (p *prefixed) Write(b []byte) (int, error) {
	p.line = append(p.line, b...)
	for {
		line, rest, whole := bytes.Cut(p.line, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		p.line = rest
		if line = bytes.TrimSpace(line); len(line) > 0 {
			_, _ = fmt.Fprintf(p.out, "%s: %s\n", p.name, line)
		}
	}
}
