package edge

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/apipath"
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/jsonbody"
	"guidon/pkg/usage"
)

// maxValidateBody is the largest body of POST /edge/validate, in bytes.
const maxValidateBody = 64 << 10

// ServeHTTP responds to a request.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	counted := &httpapi.StatusWriter{ResponseWriter: w, Status: http.StatusOK}
	route, err := e.serve(counted, r)
	if err != nil {
		httpapi.WriteError(counted, err)
	}
	e.metrics.count(route, counted.Status)
}

// An application is who sends a request, and what it may read.
type application struct {
	*grant
	source *source
	state  *state
}

// serve responds to a request, and returns its route for the metrics.
func (e *Edge) serve(w http.ResponseWriter, r *http.Request) (route string, err error) {
	at, found := strings.CutPrefix(r.URL.Path, e.config.BasePath)
	if !found {
		return "other", errNotFound
	}
	if strings.Contains(at, "//") || len(at) > 1 && strings.HasSuffix(at, "/") { // SDKs with a slash at the end of their URL
		at = path.Clean(at)
	}
	if probed := strings.TrimPrefix(at, "/internal-backstage"); probed != "/health" && probed != "/ready" && !e.allows(e.address(r)) {
		return "other", flags.Errorf(flags.Forbidden, "ALLOW_LIST or DENY_LIST excludes the address of the caller")
	}
	if apipath.ForBrowsers(at) && e.cors(w, r) {
		return "preflight", nil
	}
	if name, found := strings.CutPrefix(at, "/api/client/features/"); found {
		return "GET /api/client/features/{name}", e.on(r, http.MethodGet, func() error { return e.feature(w, r, name) })
	}
	if key, found := strings.CutPrefix(at, "/ofrep/v1/evaluate/flags/"); found {
		return "POST /ofrep/v1/evaluate/flags/{key}", e.on(r, http.MethodPost, func() error { return e.evaluation(w, r, key) })
	}
	if ticket, found := strings.CutPrefix(at, eventsPath); found {
		return "GET " + eventsPath + "{ticket}", e.on(r, http.MethodGet, func() error { return e.events(w, r, ticket) })
	}
	switch at {
	case "/api/client/features":
		return "GET " + at, e.on(r, http.MethodGet, func() error { return e.features(w, r) })
	case "/api/client/delta":
		return "GET " + at, e.on(r, http.MethodGet, func() error { return e.delta(w, r) })
	case "/api/client/streaming":
		return "GET " + at, e.on(r, http.MethodGet, func() error { return e.streaming(w, r) })
	case "/api/frontend":
		return at, e.on(r, "", func() error { return e.toggles(w, r, e.responder.Toggles) })
	case "/api/frontend/all":
		if !e.config.DisableAll {
			return at, e.on(r, "", func() error { return e.toggles(w, r, e.responder.AllToggles) })
		}
	case "/ofrep/v1/evaluate/flags":
		return "POST " + at, e.on(r, http.MethodPost, func() error { return e.evaluations(w, r) })
	case "/api/client/register", "/api/frontend/client/register":
		return "POST " + at, e.on(r, http.MethodPost, func() error { return e.report(w, r, ingest.Registration) })
	case "/api/client/metrics", "/api/frontend/client/metrics":
		return "POST " + at, e.on(r, http.MethodPost, func() error { return e.report(w, r, ingest.Metrics) })
	case "/api/client/metrics/bulk":
		return "POST " + at, e.on(r, http.MethodPost, func() error { return e.report(w, r, ingest.Bulk) })
	case "/api/client/metrics/edge":
		return "POST " + at, e.on(r, http.MethodPost, func() error { return e.otherEdge(w, r) })
	case "/edge/validate":
		return "POST " + at, e.on(r, http.MethodPost, func() error { return e.validate(w, r) })
	case "/health", "/internal-backstage/health":
		return at, e.on(r, http.MethodGet, func() error { return writeText(w, "application/json", `{"status":"OK","health":"GOOD"}`) })
	case "/ready", "/internal-backstage/ready":
		return at, e.on(r, http.MethodGet, func() error {
			if err := e.ready(); err != nil {
				return err
			}
			return writeText(w, "application/json", `{"status":"READY"}`)
		})
	case "/metrics", "/internal-backstage/prometheus":
		if !e.config.DisableMetricsEndpoint {
			return at, e.on(r, http.MethodGet, func() error { return writeText(w, "text/plain; version=0.0.4; charset=utf-8", e.metricsPage()) })
		}
	}
	return "other", errNotFound
}

var errNotFound = flags.Errorf(flags.NotFound, "Edge has no such endpoint: SDKs read GET /api/client/features or /api/client/delta, browsers /api/frontend, and "+
	"OpenFeature providers POST /ofrep/v1/evaluate/flags; for the administration, call Guidon or Unleash itself")

// on checks the method: "" for GET and POST.
func (e *Edge) on(r *http.Request, method string, do func() error) error {
	got := r.Method
	if got == http.MethodHead {
		got = http.MethodGet
	}
	if got != method && (method != "" || got != http.MethodGet && got != http.MethodPost) {
		return flags.Errorf(flags.NotFound, "this endpoint takes %s", cmp.Or(method, "GET and POST"))
	}
	return do()
}

func writeText(w http.ResponseWriter, media, text string) error {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(text)) // fails only if the caller is gone
	return nil
}

// address returns the IP address of the caller, as httpapi.Address writes it.
func (e *Edge) address(r *http.Request) string {
	peer := httpapi.RemoteAddress(r)
	forwarded := split(strings.Join(r.Header.Values("X-Forwarded-For"), ","))
	for i := range forwarded {
		forwarded[i] = httpapi.Address(forwarded[i])
	}
	if !e.config.TrustProxy || len(forwarded) == 0 || !inNetworks(e.config.TrustedProxies, peer, true) {
		return peer
	}
	if len(e.config.TrustedProxies) == 0 {
		return forwarded[0]
	}
	for _, hop := range slices.Backward(forwarded) { // the nearest that is no proxy of ours
		if !inNetworks(e.config.TrustedProxies, hop, true) {
			return hop
		}
	}
	return forwarded[0]
}

// inNetworks reports whether an address is in networks; everyone is in none if all.
func inNetworks(networks []netip.Prefix, address string, all bool) bool {
	if len(networks) == 0 {
		return all
	}
	a, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) })
}

func (e *Edge) allows(address string) bool {
	return inNetworks(e.config.AllowList, address, true) && !inNetworks(e.config.DenyList, address, false)
}

// cors lets pages of other origins read the response, and reports whether the request was a preflight.
func (e *Edge) cors(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	c := &e.config.CORS
	if origin == "" {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	switch {
	case slices.Contains(c.Origins, "*"):
		h.Set("Access-Control-Allow-Origin", "*")
	case slices.Contains(c.Origins, origin):
		h.Set("Access-Control-Allow-Origin", origin)
	}
	h.Set("Access-Control-Expose-Headers", c.ExposedHeaders)
	if r.Method != http.MethodOptions {
		return false
	}
	h.Set("Access-Control-Allow-Methods", c.Methods)
	h.Set("Access-Control-Allow-Headers", cmp.Or(c.AllowedHeaders, r.Header.Get("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", c.MaxAge)
	w.WriteHeader(http.StatusNoContent)
	return true
}

// secret returns the token of a request, with or without "Bearer".
func (e *Edge) secret(r *http.Request) string {
	text := strings.TrimSpace(r.Header.Get(e.config.TokenHeader))
	if scheme, rest, found := strings.Cut(text, " "); found && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(rest)
	}
	return text
}

// authenticate returns what the token of a request may read. It must be of one of these types.
func (e *Edge) authenticate(r *http.Request, secret string, types ...access.TokenType) (application, error) {
	g, err := e.tokens.get(r.Context(), secret)
	if err != nil {
		return application{}, err
	}
	if !slices.Contains(types, g.kind) {
		return application{}, flags.Errorf(flags.Forbidden, "invalid token: expected a different token type for this endpoint: use one of the type %s, not %s", types[0], g.kind)
	}
	if now := time.Now().Unix(); g.used.Load() != now {
		g.used.Store(now)
	}
	s, err := e.sourceOf(g)
	return application{grant: g, source: s}, err
}

// authenticateReader authenticates a request that reads flags. It waits for the first state.
func (e *Edge) authenticateReader(r *http.Request, secret string, types ...access.TokenType) (application, error) {
	a, err := e.authenticate(r, secret, types...)
	if err != nil {
		return a, err
	}
	if err := e.awaitFirst(r.Context(), &a); err != nil {
		return a, err
	}
	if most := e.config.MaxAge; most > 0 && a.source.age() > most {
		return a, flags.Errorf(flags.Unavailable, "the flags are older than MAX_AGE, because the upstream is not available")
	}
	return a, nil
}

// awaitFirst waits for the flags that a token reads.
func (e *Edge) awaitFirst(ctx context.Context, a *application) error {
	if a.state = a.source.state.Load(); a.state != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.maxWait)
	defer cancel()
	select {
	case <-a.source.first:
		a.state = a.source.state.Load()
		return nil
	case <-ctx.Done():
		return errNoFlags
	}
}

// The headers of a poll without changes. They are those of pkg/answers.
var (
	pollVary         = []string{"Accept-Encoding, Authorization, Unleash-Client-Spec"}
	pollCacheControl = []string{"private, no-cache"}
)

// features responds to GET /api/client/features. Most requests are polls of SDKs that know the current ETag: for these, nothing is
// computed.
func (e *Edge) features(w http.ResponseWriter, r *http.Request) error {
	a, err := e.authenticateReader(r, e.secret(r), access.ClientToken)
	if err != nil {
		return err
	}
	spec := r.Header.Get("Unleash-Client-Spec")
	slot := &a.tags[0]
	if len(spec) > 0 {
		slot = &a.tags[1+int(spec[0])%(len(a.tags)-1)]
	}
	if known := slot.Load(); r.URL.RawQuery == "" && known != nil && known.state == a.state && known.spec == spec && r.Header.Get("If-None-Match") == known.header[0] {
		h := w.Header()
		h["Etag"], h["Vary"], h["Cache-Control"] = known.header, pollVary, pollCacheControl
		h["Age"] = []string{ageText(a.source)}
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	query, err := answers.ParseQuery(withoutTags(r.URL.RawQuery), spec)
	if err != nil {
		return err
	}
	response, err := e.responder.Features(a.state.set, a.scope, query, e.request(r))
	if err == nil && r.URL.RawQuery == "" {
		slot.Store(&tagged{a.state, spec, response.Header["Etag"]})
	}
	return e.respond(w, a, response, err)
}

// withoutTags removes the filter for tags from a query: upstreams do not tell the tags of flags, so Edge cannot follow it.
func withoutTags(query string) string {
	if !strings.Contains(query, "tag") {
		return query
	}
	values := apipath.Parameters(query)
	values.Del("tag")
	return values.Encode()
}

// feature responds to GET /api/client/features/{name}.
func (e *Edge) feature(w http.ResponseWriter, r *http.Request, name string) error {
	a, err := e.authenticateReader(r, e.secret(r), access.ClientToken)
	if err != nil {
		return err
	}
	query, err := answers.ParseQuery("", r.Header.Get("Unleash-Client-Spec"))
	if err != nil {
		return err
	}
	response, err := e.responder.Feature(a.state.set, a.scope, query, name, e.request(r))
	return e.respond(w, a, response, err)
}

// selected authenticates a request of an SDK, and returns what it reads.
func (e *Edge) selected(r *http.Request) (a application, query answers.Query, err error) {
	if a, err = e.authenticateReader(r, e.secret(r), access.ClientToken); err == nil {
		query, err = answers.ParseQuery(withoutTags(r.URL.RawQuery), r.Header.Get("Unleash-Client-Spec"))
	}
	return a, query, err
}

// delta responds to GET /api/client/delta.
func (e *Edge) delta(w http.ResponseWriter, r *http.Request) error {
	a, query, err := e.selected(r)
	if err != nil {
		return err
	}
	response, err := e.responder.Delta(a.state.set, a.scope, query, e.request(r))
	return e.respond(w, a, response, err)
}

// toggles responds to /api/frontend with the flags that are on for a context, and at /all with those that are off too.
func (e *Edge) toggles(w http.ResponseWriter, r *http.Request, of func(context.Context, *answers.Set, answers.Scope, *evaluate.Context, answers.Request) (answers.Response, error)) error {
	a, err := e.authenticateReader(r, e.secret(r), access.FrontendToken)
	if err != nil {
		return err
	}
	var body []byte
	if r.Method == http.MethodPost {
		if body, err = readBody(r, answers.MaxContextBody); err != nil {
			return err
		}
	}
	c, err := answers.ReadContext(apipath.Parameters(r.URL.RawQuery), body)
	if err != nil {
		return err
	}
	ctx, cancel := e.bounded(r)
	defer cancel()
	response, err := of(ctx, a.state.set, a.scope, c, e.request(r))
	return e.respond(w, a, response, err)
}

// bounded returns a context that ends when a request has taken too long.
func (e *Edge) bounded(r *http.Request) (context.Context, context.CancelFunc) {
	if e.config.RequestTimeout == 0 {
		return r.Context(), func() {}
	}
	return context.WithTimeout(r.Context(), e.config.RequestTimeout)
}

// evaluation responds to OFREP for one flag.
func (e *Edge) evaluation(w http.ResponseWriter, r *http.Request, key string) error {
	a, c, _, err := e.readOFREP(r)
	if err != nil {
		response, err := answers.OFREPFailure(err, key)
		return e.respond(w, a, response, err)
	}
	response, result := e.responder.Evaluation(a.state.set, a.scope, c, key, e.request(r))
	if result != nil {
		e.usage.add(a, &usage.Post{Counts: []usage.Count{evaluated(a.environment, key, *result)}})
	}
	return e.respond(w, a, response, nil)
}

// evaluated returns what an evaluation counts, as SDKs count it.
func evaluated(environment, key string, result evaluate.Result) usage.Count {
	c := usage.Count{Feature: key, Application: usage.OFREP, Environment: environment}
	if c.Yes = 1; !result.Enabled {
		c.Yes, c.No = 0, 1
	}
	if result.Variant != nil {
		c.Variants = map[string]int64{result.Variant.Name: 1}
	}
	return c
}

// evaluations responds to OFREP for all flags.
func (e *Edge) evaluations(w http.ResponseWriter, r *http.Request) error {
	a, c, body, err := e.readOFREP(r)
	if err != nil {
		response, err := answers.OFREPFailure(err, "")
		return e.respond(w, a, response, err)
	}
	known := apipath.Parameters(r.URL.RawQuery).Get("flagConfigEtag") // of an event, perhaps from another Edge
	a.awaitAhead(r, known)
	ctx, cancel := e.bounded(r)
	defer cancel()
	response, err := e.responder.Evaluations(ctx, a.state.set, a.scope, c, body, e.eventsOf(a.grant, known != ""), e.request(r))
	if err == nil { // which of the flags the page uses is unknown
		e.usage.add(a, &usage.Post{Instances: []usage.PostInstance{{Application: usage.OFREP, Instance: e.config.InstanceID, Environment: a.environment}}})
	}
	return e.respond(w, a, response, err)
}

// readOFREP authenticates a request of OFREP and reads its context. Its token can be in X-API-Key.
func (e *Edge) readOFREP(r *http.Request) (a application, c *evaluate.Context, body []byte, err error) {
	if a, err = e.authenticateReader(r, cmp.Or(e.secret(r), r.Header.Get("X-Api-Key")), access.ClientToken, access.FrontendToken); err != nil {
		return a, nil, nil, err
	}
	if body, err = readBody(r, answers.MaxContextBody); err != nil {
		return a, nil, nil, err
	}
	c, err = answers.ReadOFREPContext(body)
	return a, c, body, err
}

// readBody returns a body of JSON. No Content-Type counts as JSON, because Go's OpenFeature provider sends none.
func readBody(r *http.Request, most int) ([]byte, error) {
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return httpapi.ReadBody(r, most)
}

// report takes what applications report: usage and registrations.
func (e *Edge) report(w http.ResponseWriter, r *http.Request, kind ingest.Kind) error {
	browser := apipath.ForBrowsers(path.Clean(strings.TrimPrefix(r.URL.Path, e.config.BasePath)))
	want, most, status := access.ClientToken, usage.MaxBody, http.StatusAccepted
	if browser {
		want, most, status = access.FrontendToken, usage.MaxFrontendBody, http.StatusOK
	}
	a, err := e.authenticate(r, e.secret(r), want)
	if err != nil {
		return err
	}
	body, err := httpapi.ReadBody(r, most)
	if err != nil {
		return err
	}
	post, err := ingest.Read(kind, body, ingest.Sender{Environment: a.environment, Address: e.address(r), SDK: r.Header.Get("Unleash-Sdk")})
	if err != nil {
		return err
	}
	e.usage.add(a, post)
	w.WriteHeader(status)
	return nil
}

// otherEdge takes what another Edge reports about itself, and ignores it.
func (e *Edge) otherEdge(w http.ResponseWriter, r *http.Request) error {
	if _, err := e.authenticate(r, e.secret(r), access.ClientToken); err != nil {
		return err
	}
	if _, err := httpapi.ReadBody(r, usage.MaxBody); err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// validate tells another Edge which tokens are valid. If it does not know that of one, it answers for none: the other would take a
// missing one for invalid.
func (e *Edge) validate(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(r, maxValidateBody)
	if err != nil {
		return err
	}
	var asked struct {
		Tokens jsonbody.Items[string] `json:"tokens"` // one that cannot be read is none that is valid
	}
	if err := jsonbody.DecodeForeign(jsonbody.WithoutMark(body), &asked); err != nil || asked.Tokens == nil || len(asked.Tokens) > maxGroup {
		return flags.Errorf(flags.Invalid, `the body must be {"tokens": […]} with at most %d tokens`, maxGroup)
	}
	secrets := httpapi.Each(asked.Tokens, func(i jsonbody.Item[string]) string { return i.Value })
	all, err := e.tokens.getAll(r.Context(), secrets)
	if err != nil {
		return err
	}
	valid := validTokens{Tokens: []validToken{}}
	for _, known := range all {
		if g := known.grant; g != nil {
			valid.Tokens = append(valid.Tokens, validToken{known.secret, string(g.kind), g.projects, g.environment})
		}
	}
	text, err := json.Marshal(valid)
	if err != nil {
		return err
	}
	return writeText(w, "application/json; charset=utf-8", string(text))
}

// request returns what every response depends on.
func (e *Edge) request(r *http.Request) answers.Request {
	q := answers.Request{Gzip: httpapi.AcceptsGzip(r), RemoteAddress: e.address(r), Now: time.Now()}
	if r.Header.Get("If-None-Match") != "" {
		q.Tags = slices.Collect(httpapi.ListedTags(r))
	}
	return q
}

func ageText(s *source) string { return strconv.FormatInt(int64(s.age().Seconds()), 10) }

// respond sends a response.
func (e *Edge) respond(w http.ResponseWriter, a application, response answers.Response, err error) error {
	if err != nil {
		return err
	}
	h := w.Header()
	for name, values := range response.Header {
		if before := h[name]; len(before) > 0 { // Vary
			values = append(slices.Clip(before), values...)
		}
		h[name] = values
	}
	if a.source != nil {
		h["Age"] = []string{ageText(a.source)}
	}
	w.WriteHeader(response.Status)
	_, _ = w.Write(response.Body) // fails only if the caller is gone
	return nil
}
