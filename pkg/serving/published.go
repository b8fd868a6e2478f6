package serving

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/published"
	"guidon/pkg/shape"
)

// A Publisher publishes the state of each environment, see package published. Use it in one goroutine.
type Publisher struct {
	reader *Reader
	places []Place

	epoch  string // what the last run without an error published, and when
	number int64
	at     time.Time
	ended  []string // deleted environments that have an empty state everywhere
}

// A Place is where states are published, such as a bucket.Bucket.
type Place interface {
	// Publish makes a document current, unless a newer one is, and reports whether it wrote the head.
	Publish(ctx context.Context, head published.Head, content []byte) (written bool, err error)

	// Environments returns the names of all environments that have a state there.
	Environments(ctx context.Context) ([]string, error)
}

// publishedAge is how often a state without changes is offered again, so that readers learn that it is still current.
const publishedAge = time.Minute * 5

// maxPublish is the longest time after which a place that failed is asked again in the same run, for the next environment.
const maxPublish = 5 * time.Second

// NewPublisher returns a publisher with the places where it publishes.
func NewPublisher(reader *Reader, places ...Place) *Publisher {
	return &Publisher{reader: reader, places: places}
}

// Run publishes each environment whose state has changed, and returns how many heads it wrote. An environment that was deleted gets a state
// without flags and tokens, so that its tokens end at Edge, too. A place that fails or hangs does not keep the others from it. A scheduled
// function calls it each minute.
func (p *Publisher) Run(ctx context.Context) (heads int, err error) {
	if len(p.places) == 0 {
		return 0, nil
	}
	view, err := p.reader.loadFeed(ctx, nil, true)
	if err != nil {
		return 0, err
	}
	state, err := p.reader.update(ctx, view)
	if err != nil {
		return 0, err
	}
	now := p.reader.wallClock().UTC()
	if state.Epoch == p.epoch && state.Number == p.number && now.Sub(p.at) < publishedAge {
		return 0, nil
	}
	var failed []error
	hangs := make([]bool, len(p.places))
	each := func(do func(i int, place Place) error) {
		errs := make([]error, len(p.places))
		var group sync.WaitGroup
		for i, place := range p.places {
			if hangs[i] {
				continue // until the next run
			}
			group.Go(func() {
				begun := time.Now()
				errs[i] = do(i, place)
				hangs[i] = errs[i] != nil && time.Since(begun) > maxPublish
			})
		}
		group.Wait()
		failed = append(failed, errs...)
	}
	there := make([][]string, len(p.places))
	each(func(i int, place Place) (err error) {
		there[i], err = place.Environments(ctx)
		return err
	})
	deleted := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(slices.Concat(there...)))), func(name string) bool {
		return state.Environments.Find(name) != nil || flags.CheckName(name) != ""
	})
	environments := slices.Clone(state.Environments.List)
	for _, name := range deleted {
		if !slices.Contains(p.ended, name) {
			environments = append(environments, flags.Environment{Name: name})
		}
	}
	for _, environment := range environments {
		content, hash, err := state.document(environment, now).Encode()
		if err != nil {
			return heads, err
		}
		head := published.Head{
			Format: published.Format, Environment: environment.Name, Epoch: state.Epoch, EpochAt: published.EpochTime(state.Epoch), Number: state.Number,
			Revision: state.served().Number, Hash: hash, WrittenAt: now,
		}
		written := make([]bool, len(p.places))
		each(func(i int, place Place) (err error) {
			written[i], err = place.Publish(ctx, head, content)
			return err
		})
		for _, is := range written {
			if is {
				heads++
			}
		}
	}
	if err := errors.Join(failed...); err != nil {
		return heads, err
	}
	p.epoch, p.number, p.at, p.ended = state.Epoch, state.Number, now, deleted
	return heads, nil
}

// document returns what an environment serves to the tokens that may read it: nothing, if it was deleted.
func (s *State) document(environment flags.Environment, now time.Time) *published.Document {
	d := &published.Document{
		Environment: environment.Name, Features: []answers.ClientFeature{}, Segments: []answers.ClientSegment{}, Tokens: []published.Token{},
	}
	if environment.UID == "" {
		return d
	}
	for _, f := range s.Flags {
		if p := s.projectOf(f.Project, f.ProjectUID); p != nil {
			d.Features = append(d.Features, clientFeature(f.Feature, inProject(p, &environment)))
		}
	}
	for id, segment := range s.Segments {
		if segment.ProjectUID == "" || s.projectOf(segment.Project, segment.ProjectUID) != nil {
			d.Segments = append(d.Segments, answers.ClientSegment{
				ID: id, Name: segment.Name, Project: segment.Project, Constraints: shape.Constraints(segment.Constraints),
			})
		}
	}
	for _, token := range s.Tokens {
		if token.Type != access.ClientToken && token.Type != access.FrontendToken {
			continue // there are no others, and none may ever be published
		}
		if scope, ok := newTokenScope(s, token, environment.Name); ok && !token.Expired(now) && scope.environment != nil && scope.environment.UID == environment.UID {
			d.Tokens = append(d.Tokens, publishedToken(token, scope.scope))
		}
	}
	slices.SortFunc(d.Features, func(a, b answers.ClientFeature) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(d.Segments, func(a, b answers.ClientSegment) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(d.Tokens, func(a, b published.Token) int { return cmp.Compare(a.Hash, b.Hash) })
	return d
}

func publishedToken(token *access.Token, scope answers.Scope) published.Token {
	t := published.Token{Hash: token.Hash, Type: token.Type, Projects: scope.ProjectIDs, ExpiresAt: token.ExpiresAt}
	if scope.All {
		t.Projects = []string{flags.All}
	}
	return t
}
