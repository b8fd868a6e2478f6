package edge

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"guidon/pkg/flags"
	"guidon/pkg/published"
	"guidon/pkg/published/bucket"
)

// publications are the upstreams at which Guidon publishes states, and the newest states that Edge has found there, by environment.
type publications struct {
	places map[string]*publication // by the text of the upstream

	mu      sync.Mutex
	states  map[string]*publishedState
	unknown map[string]time.Time // environments of which nothing was published a moment ago
}

// A publication is a bucket or a folder.
type publication struct {
	store published.Store

	mu      sync.Mutex
	heads   map[string]publishedHead // by environment
	revoked map[string]bool          // hashes of tokens
	list    string                   // the ETag of revoked
}

type publishedHead struct {
	published.Head
	etag string
}

// A publishedState is a document, and what Edge needs of it.
type publishedState struct {
	head     published.Head
	document *published.Document
	tokens   map[string]published.Token // by hash
}

// isPublication tells whether an upstream is a bucket or a folder.
func isPublication(upstream string) bool {
	return strings.HasPrefix(upstream, "s3://") || strings.HasPrefix(upstream, "file://")
}

// newPublications opens the buckets and folders among the upstreams.
func newPublications(c *Config) (*publications, error) {
	p := &publications{places: map[string]*publication{}, states: map[string]*publishedState{}, unknown: map[string]time.Time{}}
	for _, upstream := range c.Upstreams {
		place := &publication{heads: map[string]publishedHead{}}
		switch folder, isFolder := strings.CutPrefix(upstream, "file://"); {
		case isFolder:
			place.store = published.Folder(folder)
		case isPublication(upstream):
			cfg, err := awsconfig.LoadDefaultConfig(context.Background(), awsconfig.WithHTTPClient(awshttp.NewBuildableClient().
				WithTimeout(c.UpstreamRequestTimeout).
				WithDialerOptions(func(d *net.Dialer) { d.Timeout = c.UpstreamSocketTimeout }).
				WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = c.UpstreamSocketTimeout })))
			if err != nil {
				return nil, fmt.Errorf("UPSTREAM_URL: %w", err)
			}
			if place.store, err = bucket.Open(cfg, upstream); err != nil {
				return nil, fmt.Errorf("UPSTREAM_URL: %w", err)
			}
		default:
			continue
		}
		p.places[upstream] = place
	}
	return p, nil
}

// read returns the newest state of an environment. It is an error if the one at an upstream is older than one that Edge has read, from this
// upstream or another one.
func (p *publications) read(ctx context.Context, upstream, environment string) (*publishedState, error) {
	if flags.CheckName(environment) != "" {
		return nil, published.ErrAbsent
	}
	place := p.places[upstream]
	place.mu.Lock()
	defer place.mu.Unlock()
	last := place.heads[environment]
	head, etag, err := published.ReadHead(ctx, place.store, environment, last.etag)
	switch {
	case errors.Is(err, published.ErrSame):
		head = last.Head
	case err != nil:
		return nil, err
	default:
		place.heads[environment] = publishedHead{head, etag}
	}
	now := p.state(environment)
	if now != nil {
		switch order := head.Compare(now.head); {
		case order < 0:
			return nil, errOlder
		case head == now.head:
			return now, nil
		case head.Hash == now.head.Hash: // it was only found to be current again
			return p.take(&publishedState{head, now.document, now.tokens})
		}
	}
	document, err := published.ReadDocument(ctx, place.store, head)
	if err != nil {
		return nil, err
	}
	next := &publishedState{head, document, map[string]published.Token{}}
	for _, token := range document.Tokens {
		next.tokens[token.Hash] = token
	}
	return p.take(next)
}

func (p *publications) state(environment string) *publishedState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.states[environment]
}

// take makes a state the newest of its environment, unless another upstream has told a newer one.
func (p *publications) take(next *publishedState) (*publishedState, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.states[next.head.Environment]; now != nil && next.head.Compare(now.head) < 0 {
		return nil, errOlder
	}
	p.states[next.head.Environment] = next
	return next, nil
}

// fetchPublished returns the flags that an upstream publishes, and when they were known to be current; no flags if the source has these.
func (s *source) fetchPublished(ctx context.Context, upstream string, before *state) (*reading, time.Time, error) {
	state, err := s.edge.published.read(ctx, upstream, s.environment)
	if err != nil {
		return nil, time.Time{}, err
	}
	at := state.head.WrittenAt
	if before != nil && before.revision.Epoch == state.head.Epoch && before.revision.Number == state.head.Revision {
		return nil, at, nil
	}
	r := newReading(reading{epoch: state.head.Epoch, number: state.head.Revision, numbered: true, guidon: true, complete: true})
	projects := s.projects.Load() // the document has those of all projects
	sees := func(id string) bool {
		return projects == nil || slices.Contains(*projects, flags.All) || slices.Contains(*projects, id)
	}
	for _, f := range state.document.Features {
		if sees(f.Project) {
			r.features[f.Name] = &f
		}
	}
	for _, segment := range state.document.Segments {
		if segment.Project == "" || sees(segment.Project) {
			r.segments[segment.ID] = &segment
		}
	}
	return r, at, nil
}

// unknownFor is how long an environment without a state is not looked for again.
const unknownFor = refusedFor

// validate returns those of the tokens that a published state lists, and that are not revoked. While no state was found at all, it is an
// error: the upstream may be the wrong folder.
func (p *publications) validate(ctx context.Context, upstream string, secrets []string) ([]validToken, error) {
	if err := p.readRevoked(ctx, upstream); err != nil {
		return nil, err
	}
	valid, states := []validToken{}, map[string]*publishedState{}
	for _, secret := range secrets {
		_, environment, _ := parseSecret(secret)
		state, read := states[environment]
		if !read {
			var err error
			if state, err = p.readKnown(ctx, upstream, environment); err != nil {
				return nil, err
			}
			states[environment] = state
		}
		if state == nil {
			continue
		}
		h := hashOf(secret)
		token, listed := state.tokens[hex.EncodeToString(h[:])]
		if listed && (token.ExpiresAt.IsZero() || time.Now().Before(token.ExpiresAt)) && !p.isRevoked(token.Hash) {
			valid = append(valid, validToken{Token: secret, Type: string(token.Type), Projects: token.Projects, Environment: environment})
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.states) == 0 {
		return nil, published.ErrAbsent
	}
	return valid, nil
}

// readKnown is read for the environment that a token names: nil if there is no such environment.
func (p *publications) readKnown(ctx context.Context, upstream, environment string) (*publishedState, error) {
	p.mu.Lock()
	unknown := time.Now().Before(p.unknown[environment])
	p.mu.Unlock()
	if unknown {
		return nil, nil
	}
	state, err := p.read(ctx, upstream, environment)
	if !errors.Is(err, published.ErrAbsent) {
		return state, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.states[environment] != nil:
		return nil, err
	case len(p.states) == 0:
		return nil, nil
	case len(p.unknown) >= maxTokens:
		clear(p.unknown)
	}
	p.unknown[environment] = time.Now().Add(unknownFor)
	return nil, nil
}

// readRevoked reads the list of revoked tokens, if there is one. A broken list is an error, so that Edge goes on with what it knows.
func (p *publications) readRevoked(ctx context.Context, upstream string) error {
	place := p.places[upstream]
	place.mu.Lock()
	defer place.mu.Unlock()
	hashes, etag, err := published.ReadRevoked(ctx, place.store, place.list)
	switch {
	case errors.Is(err, published.ErrSame):
		return nil
	case err != nil && !errors.Is(err, published.ErrAbsent):
		return err
	}
	place.list, place.revoked = etag, map[string]bool{}
	for _, h := range hashes {
		place.revoked[strings.ToLower(strings.TrimSpace(h))] = true
	}
	return nil
}

// isRevoked tells whether any upstream lists a token as revoked.
func (p *publications) isRevoked(hash string) bool {
	for _, place := range p.places {
		place.mu.Lock()
		revoked := place.revoked[hash]
		place.mu.Unlock()
		if revoked {
			return true
		}
	}
	return false
}

// reports tells whether an upstream takes reports of usage: buckets and folders do not.
func (c *Config) reports() bool {
	return slices.ContainsFunc(c.Upstreams, func(upstream string) bool { return !isPublication(upstream) })
}

// beganBefore reports whether an epoch of Guidon began before another one. Other epochs, whose names do not tell the time, have no order.
func beganBefore(epoch, than string) bool {
	a, b := published.EpochTime(epoch), published.EpochTime(than)
	return !a.IsZero() && !b.IsZero() && cmp.Or(a.Compare(b), cmp.Compare(epoch, than)) < 0
}
