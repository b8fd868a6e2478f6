// Package serving keeps what applications read up to date, and answers their requests: SDKs, browsers and OpenFeature providers.
//
//	state.go   what applications can read, in memory; change.go makes the next state
//	reader.go  brings the memory up to date with the feed, for each request
//	sets.go    what one environment serves, from which pkg/answers makes responses
//	server.go  authenticates requests
//
// Every response includes every change that was acknowledged before its request began, on any instance. docs/architecture.md
// explains how; advance.go, reader.go and everything.go settle the races.
package serving

import (
	"context"
	"log/slog"
	"net/http"
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/apipath"
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

// Groups returns the groups of operations for applications. With nil for source and store they only describe themselves.
func Groups(source Source, store usage.UsageStore, config httpapi.Config) []httpapi.Group {
	return []httpapi.Group{ClientGroup(source, store, config), FrontendGroup(source, store, config)}
}

// ClientGroup returns the operations that server-side SDKs and Unleash Edge call. store gets posts with the last use
// of tokens; nil for none.
func ClientGroup(source Source, store usage.UsageStore, config httpapi.Config) httpapi.Group {
	s := newServer(source, store, config)
	return httpapi.Group{Name: "client", Function: "applications", Operations: []httpapi.Operation{
		{Route: "GET /api/client/features", Handle: httpapi.Serve(nil, answers.ClientFeatures{}, s.features)},
		{Route: "GET /api/client/features/{featureName}", Handle: httpapi.Serve(nil, answers.ClientFeature{}, s.feature)},
		{Route: "GET /api/client/delta", Handle: httpapi.Serve(nil, answers.ClientDelta{}, s.delta)},
	}}
}

// FrontendGroup returns the operations that browsers, apps and OpenFeature providers call: they send a context and get results.
// store gets posts with the last use of tokens; nil for none.
func FrontendGroup(source Source, store usage.UsageStore, config httpapi.Config) httpapi.Group {
	s := newServer(source, store, config)
	toggles := httpapi.Serve(nil, answers.FrontendAnswer{}, s.toggles)
	posted := httpapi.Serve(answers.FrontendRequest{}, answers.FrontendAnswer{}, s.toggles)
	one := httpapi.Serve(answers.OfrepRequest{}, answers.OfrepEvaluation{}, s.evaluation)
	all := httpapi.Serve(answers.OfrepRequest{}, answers.OfrepBulk{}, s.evaluations)
	return httpapi.Group{Name: "frontend", Function: "frontend", Operations: []httpapi.Operation{
		{Route: "GET /api/frontend", Handle: toggles},
		{Route: "POST /api/frontend", MaxBody: answers.MaxContextBody, Handle: posted},
		{Route: "POST /ofrep/v1/evaluate/flags/{key}", MaxBody: answers.MaxContextBody, Handle: one},
		{Route: "POST /ofrep/v1/evaluate/flags", MaxBody: answers.MaxContextBody, Handle: all},
	}}
}

// OptionsOf returns the options of a Reader that follow from the settings of the API. It logs problems that do no harm.
func OptionsOf(config httpapi.Config) ReaderOptions {
	options := ReaderOptions{MaxAge: config.MaxAge, Open: config.Open, Now: config.Now}
	if logger := config.Logger; logger != nil {
		options.Report = func(ctx context.Context, problem string, err error) {
			logger.WarnContext(ctx, problem, slog.Any("cause", err))
		}
	}
	return options
}

// checkSize refuses a body that is larger than Lambda can return.
func checkSize(body []byte, gzipped bool) error {
	if !httpapi.TooLong(body, gzipped) {
		return nil
	}
	advice := "accept a compressed one (Accept-Encoding: gzip), or "
	if gzipped {
		advice = "even compressed; "
	}
	return flags.Errorf(flags.TooLarge, "the response is larger than the 6 MB that Lambda can return; %s"+
		"use a token of fewer projects, or the parameters namePrefix, tag or project of GET /api/client/features", advice)
}

// request returns what every response depends on.
func (s *server) request(r *http.Request) answers.Request {
	return answers.Request{
		Tags: slices.Collect(httpapi.ListedTags(r)), Gzip: httpapi.AcceptsGzip(r), RemoteAddress: httpapi.RemoteAddress(r), Now: s.now(),
	}
}

// selected authenticates a request of the client API and returns what it reads.
func (s *server) selected(ctx context.Context, r *http.Request) (*tokenScope, answers.Query, error) {
	q, invalid := answers.ParseQuery(r.URL.RawQuery, r.Header.Get("Unleash-Client-Spec"))
	a, err := s.access(ctx, r, q.Environment, access.ClientToken)
	if err == nil {
		err = invalid
	}
	return a, q, err
}

// features answers GET /api/client/features.
func (s *server) features(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	a, q, err := s.selected(ctx, r)
	if err != nil {
		return httpapi.Response{}, err
	}
	response, err := s.responder.Features(a.set, a.scope, q, s.request(r))
	return httpapi.Response(response), err
}

// feature answers GET /api/client/features/{featureName}.
func (s *server) feature(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	a, q, err := s.selected(ctx, r)
	if err != nil {
		return httpapi.Response{}, err
	}
	response, err := s.responder.Feature(a.set, a.scope, q, r.PathValue("featureName"), s.request(r))
	return httpapi.Response(response), err
}

// delta answers GET /api/client/delta. Guidon Edge checks its tokens again when Guidon-Tokens changes.
func (s *server) delta(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	a, q, err := s.selected(ctx, r)
	if err != nil {
		return httpapi.Response{}, err
	}
	response, err := s.responder.Delta(a.set, a.scope, q, s.request(r))
	if err == nil {
		response.Header.Set("Guidon-Tokens", a.state.tokens)
	}
	return httpapi.Response(response), err
}

// toggles answers /api/frontend with the flags that are on for the context, which is in the query or in the body.
func (s *server) toggles(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	query := apipath.Parameters(r.URL.RawQuery)
	a, err := s.access(ctx, r, query.Get("environment"), access.FrontendToken)
	if err != nil {
		return httpapi.Response{}, err
	}
	var body []byte
	if r.Method == http.MethodPost {
		if body, err = readBody(r); err != nil {
			return httpapi.Response{}, err
		}
	}
	c, err := answers.ReadContext(query, body)
	if err != nil {
		return httpapi.Response{}, err
	}
	response, err := s.responder.Toggles(ctx, a.set, a.scope, c, s.request(r))
	return httpapi.Response(response), err
}

// evaluation answers OFREP for one flag.
func (s *server) evaluation(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	key := r.PathValue("key")
	a, c, _, err := s.readOFREP(ctx, r)
	if err != nil {
		response, err := answers.OFREPFailure(err, key)
		return httpapi.Response(response), err
	}
	response, result := s.responder.Evaluation(a.set, a.scope, c, key, s.request(r))
	if result != nil && a.environment != nil {
		s.uses.NoteEvaluation(ctx, a.environment.Name, key, s.time())
	}
	return httpapi.Response(response), nil
}

// evaluations answers OFREP for all flags.
func (s *server) evaluations(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	a, c, body, err := s.readOFREP(ctx, r)
	if err != nil {
		response, err := answers.OFREPFailure(err, "")
		return httpapi.Response(response), err
	}
	response, err := s.responder.Evaluations(ctx, a.set, a.scope, c, body, "", s.request(r))
	if err == nil && a.environment != nil {
		hash := ""
		if a.token != nil {
			hash = a.token.Hash
		}
		s.uses.NoteAll(ctx, hash, a.environment.Name, s.time())
	}
	return httpapi.Response(response), err
}

// readOFREP authenticates a request of OFREP and reads its context. Its token can be in X-API-Key.
func (s *server) readOFREP(ctx context.Context, r *http.Request) (a *tokenScope, c *evaluate.Context, body []byte, err error) {
	authenticated := r
	if key := r.Header.Get("X-Api-Key"); key != "" && httpapi.Secret(r) == "" {
		authenticated = withHeader(r, "Authorization", key)
	}
	if a, err = s.access(ctx, authenticated, apipath.Parameters(r.URL.RawQuery).Get("environment"), access.ClientToken, access.FrontendToken); err != nil {
		return nil, nil, nil, err
	}
	if body, err = readBody(r); err != nil {
		return nil, nil, nil, err
	}
	c, err = answers.ReadOFREPContext(body)
	return a, c, body, err
}

// readBody returns the body of a request with a context. Go's OpenFeature provider sends no Content-Type, so that counts as JSON.
func readBody(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Type") == "" {
		r = withHeader(r, "Content-Type", "application/json")
	}
	return httpapi.ReadBody(r, answers.MaxContextBody)
}

// withHeader returns a request with another value of a header.
func withHeader(r *http.Request, name, value string) *http.Request {
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	r.Header.Set(name, value)
	return r
}
