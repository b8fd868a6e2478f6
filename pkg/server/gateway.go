package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"guidon/internal/engine"
	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/admin/requests"
	"guidon/pkg/aggregate"
	"guidon/pkg/bootstrap"
	"guidon/pkg/docs"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/localtable"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/lambdahttp"
	"guidon/pkg/seal"
	"guidon/pkg/serving"
	"guidon/pkg/webhook"
)

// dataFile is the engine's file in the data folder.
const dataFile = "guidon.db"

// A gateway answers HTTP requests with the functions of the template.
type gateway struct {
	routes     *router
	metrics    *metrics
	tokens     map[access.TokenType]bootstrap.Token // valid ones, by their rights, for the greeting
	signIn     string                               // secret of a new sign-in link, for the greeting; "" with AUTH_TYPE=none or without a terminal
	engine     *engine.Engine                       // nil if an external DynamoDB is used
	knownToken bool                                 // whether the default admin token is valid, perhaps since an earlier start

	processes *processes // nil unless FUNCTIONS is set

	requests, answers budget
	readGrace         time.Duration // how long a caller may take for a small response

	reader         *serving.Reader // reads for applications
	snapshotEvery  time.Duration   // see runSchedule
	aggregator     *aggregate.Aggregator
	aggregateEvery time.Duration
	deliverer      *webhook.Deliverer
	scheduler      *requests.Scheduler
	deliverEvery   time.Duration
}

func newGateway() *gateway {
	return &gateway{metrics: newMetrics(), requests: newBudget(requestsInFlight), answers: newBudget(answersInFlight), readGrace: readGrace}
}

// open starts the engine and prepares everything that the template describes.
func open(ctx context.Context, s settings) (*gateway, error) {
	t, err := readTemplate(s.template)
	if err != nil {
		return nil, err
	}
	g := newGateway()
	options := dynamo.Options{Table: s.table}
	if s.endpoint == "" {
		g.engine, err = engine.Start(ctx, engine.Options{
			DataFile: filepath.Join(s.data, dataFile), Log: &prefixed{out: os.Stderr, name: "engine"}, Begins: true,
		})
		if err != nil {
			return nil, err
		}
		options.Endpoint = g.engine.URL()
	} else if options, err = externalEngine(ctx, s); err != nil {
		return nil, err
	}
	if err := g.prepare(ctx, s, t, options); err != nil {
		g.close()
		return nil, s.wrapEngineError(err)
	}
	return g, nil
}

// externalEngine connects to the DynamoDB at AWS_ENDPOINT_URL_DYNAMODB. Without configured credentials it uses fixed ones,
// which every emulator accepts.
func externalEngine(ctx context.Context, s settings) (dynamo.Options, error) {
	if !hasCredentials() {
		return dynamo.Options{Table: s.table, Endpoint: s.endpoint}, nil
	}
	cfg, err := config.LoadDefaultConfig(ctx) // it reads the address from the environment, too
	return dynamo.Options{Table: s.table, Config: &cfg}, err
}

// wrapEngineError adds the address of an external engine to an error.
func (s settings) wrapEngineError(err error) error {
	if err == nil || s.endpoint == "" {
		return err
	}
	return fmt.Errorf("the DynamoDB at %s (AWS_ENDPOINT_URL_DYNAMODB): %w", s.endpoint, err)
}

// hasCredentials reports whether AWS credentials are configured.
func hasCredentials() bool {
	return os.Getenv("AWS_ACCESS_KEY_ID") != "" || os.Getenv("AWS_PROFILE") != ""
}

// prepare creates the table, its first content, and a handler for every function.
func (g *gateway) prepare(ctx context.Context, s settings, t *template, options dynamo.Options) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	store, box, err := createTable(ctx, s, t, options)
	if err == nil && g.engine != nil {
		err = g.engine.Finish()
	}
	if err != nil {
		return err
	}
	s.config.Sealer = func(context.Context) (flags.Sealer, error) { return box, nil }
	if g.tokens, err = validTokens(ctx, store, s); err != nil {
		return err
	}
	if g.knownToken, err = isValid(ctx, store, bootstrap.LocalAdminToken); err != nil {
		return err
	}
	if !s.config.Open && s.terminal {
		if g.signIn, err = bootstrap.SignInLink(ctx, store, time.Now()); err != nil {
			return err
		}
	}
	if s.functions != "" {
		if g.processes, err = newProcesses(s, t, cmp.Or(options.Endpoint, s.endpoint)); err != nil {
			return err
		}
	}
	g.reader = serving.NewReader(store, serving.OptionsOf(s.config))
	g.aggregator = aggregate.New(store, aggregate.Settings{Settle: settle, Logger: s.config.Logger})
	sender := webhook.NewSender(webhook.Options{Networks: s.networks, PublicURL: s.config.PublicURL})
	g.deliverer = webhook.NewDeliverer(store, s.config.Sealer, sender, cmp.Or(s.config.Logger, slog.New(slog.DiscardHandler)))
	g.scheduler = requests.NewScheduler(store, s.config)
	routes, err := g.functions(t, store, s.config)
	if err != nil {
		return err
	}
	g.routes, err = newRouter(routes)
	return err
}

// createTable creates the template's table if it is missing, with its first content. It does not reset the feed, see
// functions/setup.
func createTable(ctx context.Context, s settings, t *template, options dynamo.Options) (*dynamo.Store, *seal.Box, error) {
	if err := localtable.Create(ctx, options, t.table); err != nil {
		return nil, nil, fmt.Errorf("creating the table: %w", err)
	}
	store, err := dynamo.Open(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	box, err := seal.FromFile(s.keyFile)
	if err != nil {
		return nil, nil, err
	}
	return store, box, bootstrap.Seed(ctx, store, bootstrap.Options{Tokens: s.tokens, Sealer: box})
}

// validTokens returns the first seeded token with each kind of rights that has not been deleted and has not expired.
func validTokens(ctx context.Context, store flags.Store, s settings) (map[access.TokenType]bootstrap.Token, error) {
	valid := map[access.TokenType]bootstrap.Token{}
	for _, seeded := range s.tokens {
		kind := seeded.Type.Rights()
		if valid[kind].Secret != "" {
			continue
		}
		ok, err := isValid(ctx, store, seeded.Secret)
		if err != nil {
			return nil, err
		}
		if ok {
			valid[kind] = seeded
		}
	}
	return valid, nil
}

// isValid reports whether there is a token with a secret that has not been deleted and has not expired.
func isValid(ctx context.Context, store flags.Store, secret string) (bool, error) {
	key := access.TokenKey(access.HashSecret(secret))
	view, err := store.Load(ctx, []flags.Key{key})
	token := flags.Find[*access.Token](view, key)
	return token != nil && !token.Deleted && !token.Expired(time.Now()), err
}

// functions connects every function of the template with the handler of its groups, or with its process.
func (g *gateway) functions(t *template, store *dynamo.Store, config httpapi.Config) ([]route, error) {
	served := map[string][]httpapi.Group{} // by function
	for _, group := range groups(g.reader, store, config) {
		served[group.Function] = append(served[group.Function], group)
	}
	var routes []route
	for _, f := range t.functions {
		switch f.group {
		case "snapshot":
			g.snapshotEvery = f.every
		case "aggregate":
			g.aggregateEvery = min(f.every, aggregateEvery)
		case "deliver":
			g.deliverEvery = min(f.every, deliverEvery)
		}
		if len(f.routes) == 0 {
			continue
		}
		of, ok := served[f.group]
		if !ok {
			return nil, fmt.Errorf("template.yaml has routes for the function %q, which serves no group of operations", f.group)
		}
		delete(served, f.group)
		invoke := &function{
			handle:  lambdahttp.Handler(httpapi.New(store, httpapi.Join(of...), config)),
			timeout: f.timeout,
		}
		for _, group := range of {
			if group.Site != nil {
				invoke.slots = make(chan struct{}, maxSiteCalls)
			}
			for _, op := range group.Operations {
				invoke.maxBody = max(invoke.maxBody, op.Shape().MaxBody)
			}
		}
		if g.processes != nil {
			invoke.handle = g.processes.handler(f.id)
		}
		for _, key := range f.routes {
			routes = append(routes, route{key: key, function: invoke, group: f.group})
		}
	}
	for name := range served {
		return nil, fmt.Errorf("there are operations for the function %q, which template.yaml does not have", name)
	}
	return routes, nil
}

// groups are all groups of operations: those of the administration, those for applications, and the page with the description.
func groups(reader *serving.Reader, store ingest.Store, config httpapi.Config) []httpapi.Group {
	return append(append(admin.Groups(), serving.Groups(reader, store, config)...), ingest.Group(store, config), docs.Group())
}

func (g *gateway) close() {
	g.processes.close()
	if g.engine != nil {
		g.engine.Stop()
	}
}

// ServeHTTP answers a request and counts it.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == prometheusPath {
		g.metrics.page.ServeHTTP(w, r)
		return
	}
	started := time.Now()
	response := &httpapi.StatusWriter{ResponseWriter: w, Status: http.StatusOK}
	path := r.URL.Path
	if strings.Contains(strings.ToLower(r.URL.EscapedPath()), "%2f") && !lambdahttp.EndsInText(path) {
		path = "/%2f" // no name contains a slash: $default answers 404
	}
	matched, parameters := g.routes.match(r.Method, path)
	g.serve(response, r, matched, parameters)
	route := "none"
	if matched != nil {
		route = matched.key
	}
	g.metrics.observe(r.Method, route, response.Status, time.Since(started))
}

// serve does what API Gateway does: it creates the event, calls the function of the route and writes its response.
func (g *gateway) serve(w http.ResponseWriter, r *http.Request, matched *route, parameters map[string]string) {
	if matched == nil { // the template has no $default route
		writeError(w, http.StatusNotFound, "NotFoundError", "no such endpoint; see /docs")
		return
	}
	body, release, err := g.requests.readBody(r, matched.function.maxBody)
	if err != nil {
		refuse(w, err)
		return
	}
	release = sync.OnceFunc(release)
	defer release()
	event, err := newEvent(r, body, matched, parameters)
	if err != nil {
		refuse(w, err)
		return
	}
	response, err := matched.function.call(r.Context(), event)
	release() // a caller that reads slowly needs no room for its request
	if err != nil {
		writeError(w, http.StatusInternalServerError, "InternalError", "the function failed; see its log")
		return
	}
	g.writeResponse(r.Context(), w, response)
}

// refuse writes the error of a body that was not passed to a function.
func refuse(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errTooLarge):
		writeError(w, http.StatusRequestEntityTooLarge, "PayloadTooLargeError", err.Error())
	case errors.Is(err, errNoRoom):
		w.Header().Set("Retry-After", "1")
		writeError(w, http.StatusServiceUnavailable, "ServiceUnavailableError", err.Error())
	default:
		writeError(w, http.StatusBadRequest, "ValidationError", err.Error())
	}
}

// engineEnded is closed when the engine has ended. It is nil, which blocks forever, with an external DynamoDB.
func (g *gateway) engineEnded() <-chan struct{} {
	if g.engine == nil {
		return nil
	}
	return g.engine.Ended()
}

// restartEngine starts an engine again that has ended unexpectedly. Its data is unchanged.
func (g *gateway) restartEngine(ctx context.Context) error {
	fmt.Fprintln(os.Stderr, "guidon: the DynamoDB engine ended unexpectedly; restarting it")
	if err := g.engine.Restart(ctx); err != nil {
		return fmt.Errorf("the DynamoDB engine cannot be restarted: %w", err)
	}
	return nil
}

// prefixed writes the output of another process with its name before each line.
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
