// Package ingest records how applications use flags.
//
//	ingest.go  the operations that SDKs and Unleash Edge call: each request is stored as one post
//	edge.go    what Unleash Edge calls in addition
//	repeats.go leaves out a report that changes nothing
//	bodies.go  the bodies that they send, values.go what Unleash accepts in them leniently
//
// A post is stored as it came in. It is added to the sums later, so that a request costs one write, however many flags it
// reports.
package ingest

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

// A Store has the tokens, and takes what is reported.
type Store interface {
	flags.Store
	usage.UsageStore

	// PutPostOnce stores a post unless one of that name was stored in usage.PostTTL.
	PutPostOnce(ctx context.Context, name string, post *usage.Post) error
}

// Group returns the operations with which applications report usage.
func Group(store Store, config httpapi.Config) httpapi.Group {
	s := &server{store: store, uses: httpapi.NewPostedUses(store, config.Logger), open: config.Open, now: config.Now}
	if s.now == nil {
		s.now = time.Now
	}
	ok := httpapi.Response{Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: []byte("OK")} // as Unleash responds
	none := httpapi.Response{}
	return httpapi.Group{Name: "usage", Function: "applications", Operations: []httpapi.Operation{
		post("POST /api/client/register", http.StatusAccepted, registerBody{}, receive[registerBody](s, none, usage.MaxBody, access.ClientToken)),
		post("POST /api/client/metrics", http.StatusAccepted, metricsBody{}, receive[metricsBody](s, none, usage.MaxBody, access.ClientToken)),
		post("POST /api/client/metrics/bulk", http.StatusAccepted, bulkBody{}, receive[bulkBody](s, none, usage.MaxBody, access.ClientToken)),
		post("POST /api/client/metrics/edge", http.StatusAccepted, edgeMetricsBody{}, s.edgeInstance),
		post("POST /api/frontend/client/register", http.StatusOK, registerBody{}, receive[registerBody](s, ok, usage.MaxFrontendBody, access.FrontendToken)),
		post("POST /api/frontend/client/metrics", http.StatusOK, metricsBody{}, receive[metricsBody](s, ok, usage.MaxFrontendBody, access.FrontendToken)),
		{
			Route: "POST /edge/validate", MaxBody: maxValidateBody,
			Handle: httpapi.Serve(validateTokensBody{}, validatedTokens{}, s.validate),
		},
		{Route: "POST /edge/metrics", Status: http.StatusNotFound, Handle: httpapi.Serve(nil, disabledMetrics{}, oldEdgeMetrics)},
	}}
}

// post returns an operation that takes a body of usage.
func post(route string, status int, takes any, serve func(context.Context, *http.Request) (httpapi.Response, error)) httpapi.Operation {
	return httpapi.Operation{Route: route, Status: status, MaxBody: usage.MaxBody, Handle: httpapi.Serve(takes, nil, serve)}
}

// A server serves the operations.
type server struct {
	store Store
	uses  *httpapi.PostedUses
	open  bool // AUTH_TYPE=none
	now   func() time.Time
	repeats
}

// A sender is who reports usage.
type sender struct {
	hash        string   // of the token; "" without one
	frontend    bool     // it is a frontend token, which is public
	projects    []string // whose flags it may report
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

// receive authenticates the caller, reads the body, and stores what it reports: one read and one write. A request that is refused, or
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
		post := &usage.Post{ID: uuid.NewString(), At: s.time(), TokenHash: from.hash, Projects: from.projects}
		name, err := batchName(r, from)
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
		if name == "" {
			err = s.store.PutPost(ctx, post)
		} else {
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
// token is part of the name, so that no sender can take the names of another one. With a frontend token there is none: it doubles the cost.
func batchName(r *http.Request, from *sender) (string, error) {
	header := r.Header.Get("Guidon-Batch")
	if header == "" || from.frontend {
		return "", nil
	}
	id, err := uuid.Parse(header)
	if err != nil {
		return "", flags.Errorf(flags.Invalid, "the header Guidon-Batch must be a UUID")
	}
	return from.hash + "." + id.String(), nil
}

// authenticate returns who sends a request. It reads the token. Whether the projects and the environment of the token still exist
// is checked when the post is added to the sums.
func (s *server) authenticate(ctx context.Context, r *http.Request, types ...access.TokenType) (*sender, error) {
	from := &sender{projects: []string{flags.All}, address: httpapi.RemoteAddress(r), sdk: headerText(r, "Unleash-Sdk")}
	secret := httpapi.Secret(r)
	if secret == "" {
		if s.open {
			return from, nil
		}
		return nil, access.ErrNoToken
	}
	hash := access.HashSecret(secret)
	view, err := s.store.Load(ctx, []flags.Key{access.TokenKey(hash)})
	if err != nil {
		return nil, err
	}
	token := flags.Find[*access.Token](view, access.TokenKey(hash))
	if err := access.AuthenticateApplication(token, hash, s.now(), types...); err != nil {
		if s.open {
			return from, nil
		}
		return nil, err
	}
	from.hash, from.frontend = hash, token.Type == access.FrontendToken
	if token.Type != access.AdminToken {
		from.projects = token.Projects
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
