package serving

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// FrontendGroup returns the operations that browsers, apps and OpenFeature providers call: they send a context and get results.
// store stores the last use of tokens; nil to store none.
func FrontendGroup(source Source, store flags.Store, config httpapi.Config) httpapi.Group {
	s := &frontend{server: newServer(source, store, config)}
	return httpapi.Group{
		Name: "frontend",
		Operations: []httpapi.Operation{
			{Route: "GET /api/frontend", Handle: httpapi.Serve(nil, frontendAnswer{}, s.serveToggles)},
			{Route: "POST /api/frontend", MaxBody: maxContextBody, Handle: httpapi.Serve(frontendRequest{}, frontendAnswer{}, s.serveToggles)},
			{Route: "POST /ofrep/v1/evaluate/flags/{key}", MaxBody: maxContextBody, Handle: httpapi.Serve(ofrepRequest{}, ofrepEvaluation{}, s.serveEvaluation)},
			{Route: "POST /ofrep/v1/evaluate/flags", MaxBody: maxContextBody, Handle: httpapi.Serve(ofrepRequest{}, ofrepBulk{}, s.serveEvaluations)},
		},
	}
}

// A frontend answers the group frontend.
type frontend struct {
	*server
	sets compiledSets
}

// A frontendRequest is the body of POST /api/frontend.
type frontendRequest struct {
	Context frontendContext `json:"context"`
}

// A frontendContext describes the contexts that are taken; they are read by contextBuilder.
type frontendContext struct {
	UserID        string            `json:"userId,omitzero"`
	SessionID     string            `json:"sessionId,omitzero"`
	RemoteAddress string            `json:"remoteAddress,omitzero"`
	Environment   string            `json:"environment,omitzero"`
	AppName       string            `json:"appName,omitzero"`
	CurrentTime   string            `json:"currentTime,omitzero"`
	Properties    map[string]string `json:"properties,omitzero"`
}

// A frontendAnswer is the answer of /api/frontend: the flags that are on.
type frontendAnswer struct {
	Toggles []frontendToggle `json:"toggles"`
}

// serveToggles answers /api/frontend with the flags that are on for the context, which is in the query or in the body.
func (s *frontend) serveToggles(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	query := r.URL.Query()
	a, err := s.access(ctx, r, query.Get("environment"), flags.FrontendToken)
	if err != nil {
		return httpapi.Response{}, err
	}
	c, err := readFrontendContext(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	s.complete(c, r)
	set := s.sets.of(a.state, a.environment)
	var on []*answer
	size, tag := 0, make([]byte, 0, 16*len(set.flags))
	visible := a.visible()
	for _, f := range set.flags {
		if !f.enabled || !visible(f.project) {
			continue
		}
		if ctx.Err() != nil {
			return httpapi.Response{}, errTooSlow
		}
		if result, answer := set.evaluate(f, c); result.Enabled {
			on = append(on, answer)
			size += len(answer.toggle) + 1
			tag = append(tag, answer.sum[:]...)
		}
	}
	return s.respond(r, newETag(tag), func() []byte {
		body := append(make([]byte, 0, size+len(`{"toggles":[]}`)), `{"toggles":[`...)
		for i, answer := range on {
			if i > 0 {
				body = append(body, ',')
			}
			body = append(body, answer.toggle...)
		}
		return append(body, `]}`...)
	})
}

// errTooSlow ends a request whose time is over. Only a context that was made for it takes so long.
var errTooSlow = flags.Errorf(flags.Unavailable, "the flags could not be evaluated in time; try again")

// readFrontendContext reads the context from the query and, with POST, from the body, which takes precedence. As in Unleash,
// a context without a session gets a random one, so that all flags see the same user.
func readFrontendContext(r *http.Request) (*evaluate.Context, error) {
	var b contextBuilder
	b.readQuery(r.URL.Query())
	if r.Method == http.MethodPost {
		body, err := readContextBody(r)
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(body)) > 0 {
			if _, err := b.readBody(body); err != nil {
				return nil, invalidContext(err)
			}
		}
	}
	c, err := b.build()
	if err != nil {
		return nil, invalidContext(err)
	}
	if c.SessionID == "" {
		c.SessionID = strconv.FormatUint(rand.Uint64(), 36) //nolint:gosec // G404: it is no secret which user gets a flag
	}
	return c, nil
}

// complete adds to a context what every context has. Unleash's SDKs call the environment default if it is not set.
func (s *frontend) complete(c *evaluate.Context, r *http.Request) {
	c.Now = s.now()
	c.Environment = cmp.Or(c.Environment, "default")
	c.RemoteAddress = cmp.Or(c.RemoteAddress, httpapi.RemoteAddress(r))
}

func invalidContext(err error) error {
	if bad, ok := errors.AsType[*contextError](err); ok {
		return flags.Errorf(flags.Invalid, "%s", bad.message)
	}
	return err
}

// visible returns a function that reports whether the access includes a project. It remembers its results.
func (a *access) visible() func(*flags.Project) bool {
	known := map[*flags.Project]bool{}
	return func(p *flags.Project) bool {
		if a.all {
			return true
		}
		sees, ok := known[p]
		if !ok {
			sees = a.seesProject(p.UID)
			known[p] = sees
		}
		return sees
	}
}

// newETag returns the ETag of an answer that depends on these bytes. It is weak, because the body can be compressed or not.
func newETag(of []byte) string {
	sum := sha256.Sum256(of)
	return `W/"` + hex.EncodeToString(sum[:16]) + `"`
}

// respond answers with a body of JSON, or with a 304 if the caller has it. Caches must ask each time, because an answer depends on
// the caller's address and the time too.
func (s *frontend) respond(r *http.Request, etag string, text func() []byte) (httpapi.Response, error) {
	response, err := s.server.respond(r, etag, func() body {
		return newBody(slices.Values([][]byte{text()}), httpapi.AcceptsGzip(r))
	})
	if err == nil {
		response.Header.Set("Cache-Control", "no-cache")
	}
	return response, err
}
