// Package ingest records how applications use flags.
//
//	ingest.go  the operations that SDKs and Unleash Edge call: each request is stored as one post
//	edge.go    what Unleash Edge calls in addition
//	repeats.go leaves out a report that changes nothing
//	bodies.go  the bodies that they send, values.go what Unleash accepts in them leniently
//
// A post is stored as it came in. It is added to the sums later, so that a request costs one write, however many flags it
// reports. Those of browsers are limited in size, because their tokens are public.
package ingest

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

// A Store takes what is reported. It has the tokens that Edge asks about.
type Store interface {
	flags.Store
	usage.UsageStore

	// PutPostOnce stores a post unless one of that name was stored in usage.PostTTL.
	PutPostOnce(ctx context.Context, name string, post *usage.Post) error
}

// A Gate authenticates requests of applications. *serving.Reader is the real one.
type Gate interface {
	// Authenticate returns the token of a request: an admin token or one of these types. It is nil with AUTH_TYPE=none and without a valid one.
	Authenticate(ctx context.Context, r *http.Request, types ...access.TokenType) (*access.Token, error)
}

// Groups returns the groups of operations with which applications report usage. With nil for store and gate they only describe themselves.
func Groups(store Store, gate Gate, config httpapi.Config) []httpapi.Group {
	return []httpapi.Group{ClientGroup(store, gate, config), FrontendGroup(store, gate, config)}
}

// ClientGroup returns the operations that server-side SDKs and Unleash Edge call.
func ClientGroup(store Store, gate Gate, config httpapi.Config) httpapi.Group {
	s, none := newServer(store, gate, config), httpapi.Response{}
	return httpapi.Group{Name: "usage", Function: "applications", Operations: []httpapi.Operation{
		post("POST /api/client/register", http.StatusAccepted, registerBody{}, receive[registerBody](s, none, usage.MaxBody, access.ClientToken)),
		post("POST /api/client/metrics", http.StatusAccepted, metricsBody{}, receive[metricsBody](s, none, usage.MaxBody, access.ClientToken)),
		post("POST /api/client/metrics/bulk", http.StatusAccepted, bulkBody{}, receive[bulkBody](s, none, usage.MaxBody, access.ClientToken)),
		post("POST /api/client/metrics/edge", http.StatusAccepted, edgeMetricsBody{}, s.edgeInstance),
		{
			Route: "POST /edge/validate", MaxBody: maxValidateBody,
			Handle: httpapi.Serve(validateTokensBody{}, validatedTokens{}, s.validate),
		},
		{Route: "POST /edge/metrics", Status: http.StatusNotFound, Handle: httpapi.Serve(nil, disabledMetrics{}, oldEdgeMetrics)},
	}}
}

// FrontendGroup returns the operations that browser SDKs call.
func FrontendGroup(store Store, gate Gate, config httpapi.Config) httpapi.Group {
	s := newServer(store, gate, config)
	s.public = true
	ok := httpapi.Response{Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: []byte("OK")} // as Unleash responds
	return httpapi.Group{Name: "usage", Function: "frontend", Operations: []httpapi.Operation{
		post("POST /api/frontend/client/register", http.StatusOK, registerBody{}, receive[registerBody](s, ok, usage.MaxFrontendBody, access.FrontendToken)),
		post("POST /api/frontend/client/metrics", http.StatusOK, metricsBody{}, receive[metricsBody](s, ok, usage.MaxFrontendBody, access.FrontendToken)),
	}}
}

// post returns an operation that takes a body of usage.
func post(route string, status int, takes any, serve func(context.Context, *http.Request) (httpapi.Response, error)) httpapi.Operation {
	return httpapi.Operation{Route: route, Status: status, MaxBody: usage.MaxBody, Handle: httpapi.Serve(takes, nil, serve)}
}

// A server serves the operations of a group.
type server struct {
	store  Store
	gate   Gate
	uses   *httpapi.PostedUses
	logger *slog.Logger // nil for none
	now    func() time.Time
	public bool // anyone can report: the token is public
	repeats
}

func newServer(store Store, gate Gate, config httpapi.Config) *server {
	s := &server{store: store, gate: gate, uses: httpapi.NewPostedUses(store, config.Logger), logger: config.Logger, now: config.Now}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// A sender is who reports usage.
type sender struct {
	hash        string   // of the token; "" without one
	projects    []string // flags.All if it may report the flags of all projects; none for those of the token's
	environment string   // that of everything it reports; "" for what the body says
	address     string   // IP address
	sdk         string   // header Unleash-Sdk
}

// A body is what a sender reports.
type body interface {
	// check adds a problem for each rule that the body as a whole breaks.
	check(problems *flags.Problems)

	// addTo adds what the body reports to a post, and a problem for each part that it leaves out.
	addTo(post *usage.Post, from *sender, left *flags.Problems)
}

// receive authenticates the caller, reads the body, and stores what it reports: one write. A request that is refused, or
// that changes nothing, writes nothing. maximum is that of the body in bytes. The token must be an admin token or of one of these types.
func receive[B body](s *server, answer httpapi.Response, maximum int, types ...access.TokenType) func(context.Context, *http.Request) (httpapi.Response, error) {
	return func(ctx context.Context, r *http.Request) (httpapi.Response, error) {
		from, err := s.authenticate(ctx, r, types...)
		if err != nil {
			return httpapi.Response{}, err
		}
		text, err := httpapi.ReadBody(r, maximum)
		if err != nil {
			return httpapi.Response{}, err
		}
		// The ID is chosen once, so that an attempt to store the post that is repeated stores it once.
		post := &usage.Post{ID: uuid.NewString(), At: s.time(), TokenHash: from.hash, Projects: from.projects, Public: s.public}
		name, err := s.batchName(r, from)
		if err != nil {
			return httpapi.Response{}, err
		}
		if err := read[B](text, post, from); err != nil {
			return httpapi.Response{}, err
		}
		if len(post.Instances) == 0 && len(post.Counts) == 0 {
			s.noteUse(ctx, from) // a post tells it otherwise
			return answer, nil
		}
		if s.repeated(post) {
			return answer, nil
		}
		switch {
		case s.public:
			err = s.putPublic(ctx, post)
		case name == "":
			err = s.store.PutPost(ctx, post)
		default:
			err = s.store.PutPostOnce(ctx, name, post)
		}
		if err != nil {
			return httpapi.Response{}, err
		}
		s.note(post)
		return answer, nil
	}
}

// batchName returns the name of a report that its sender repeats until there is a response, as Guidon Edge does. It must be a UUID. The
// token is part of the name, so that no sender can take the names of another one. Browsers have none: it doubles the cost.
func (s *server) batchName(r *http.Request, from *sender) (string, error) {
	header := r.Header.Get("Guidon-Batch")
	if header == "" || s.public {
		return "", nil
	}
	id, err := uuid.Parse(header)
	if err != nil {
		return "", flags.Errorf(flags.Invalid, "the header Guidon-Batch must be a UUID")
	}
	return from.hash + "." + id.String(), nil
}

// putPublic stores a post that anyone can send. It leaves out what is beyond usage.MaxFrontendCounts, and what does not fit in the item: at
// random, so that each flag counts in some report.
func (s *server) putPublic(ctx context.Context, post *usage.Post) error {
	all, whole := len(post.Counts), true
	keep := func(n int) {
		whole = false
		rand.Shuffle(len(post.Counts), func(i, j int) { post.Counts[i], post.Counts[j] = post.Counts[j], post.Counts[i] })
		post.Counts = post.Counts[:n]
	}
	if all > usage.MaxFrontendCounts {
		keep(usage.MaxFrontendCounts)
	}
	err := s.store.PutPost(ctx, post)
	for flags.KindOf(err) == flags.TooLarge && (len(post.Counts) > 0 || len(post.Instances[0].Strategies) > 0) {
		keep(len(post.Counts) * 3 / 4)
		post.Instances[0].Strategies = nil // they say less than counts
		err = s.store.PutPost(ctx, post)
	}
	if !whole && err == nil && s.logger != nil {
		s.logger.WarnContext(ctx, "usage: a report from a browser was too large", slog.Int("counts", all), slog.Int("stored", len(post.Counts)))
	}
	return err
}

// authenticate returns who sends a request. Whether the projects and the environment of the token still exist is checked again when the
// post is added to the sums.
func (s *server) authenticate(ctx context.Context, r *http.Request, types ...access.TokenType) (*sender, error) {
	token, err := s.gate.Authenticate(ctx, r, types...)
	if err != nil {
		return nil, err
	}
	from := &sender{projects: []string{flags.All}, address: httpapi.RemoteAddress(r), sdk: headerText(r, "Unleash-Sdk")}
	if token == nil {
		return from, nil
	}
	from.hash = token.Hash
	if token.Type != access.AdminToken {
		from.projects = nil
	}
	if token.Environment != flags.All {
		from.environment = token.Environment
	}
	return from, nil
}

// noteUse notes that the token of a sender was used.
func (s *server) noteUse(ctx context.Context, from *sender) {
	if from.hash != "" {
		s.uses.Note(ctx, from.hash, s.time())
	}
}

// time returns the time, as it is stored.
func (s *server) time() time.Time { return s.now().UTC().Truncate(time.Millisecond) }
