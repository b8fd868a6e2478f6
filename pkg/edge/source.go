package edge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// A source is what Edge reads with one upstream token: the flags of an environment, of some projects or of all.
type source struct {
	edge        *Edge
	token       string // "" for one that an application must send again, after a restart
	hash        hash   // of the token
	environment string
	projects    atomic.Pointer[[]string] // IDs, or only flags.All; nil while they are unknown
	configured  bool                     // whether the token is one of the settings, and not that of an application
	stop        context.CancelFunc
	dropped     atomic.Bool // whether its token is no longer valid

	state     atomic.Pointer[state]     // nil until there is one
	confirmed atomic.Pointer[time.Time] // when the upstream last said that the state is current
	first     chan struct{}             // closed when there is a state
	once      sync.Once

	restored   *state // from the backup folder; nil if there is none
	restoredAt time.Time

	from    atomic.Pointer[string] // the upstream that responded last
	wake    chan struct{}          // has something when its stream, or a client, says that there is a change
	hurried atomic.Int64           // when a client last did, in Unix seconds

	// The rest is used by the goroutine that reads, which holds polling.
	polling  sync.Mutex
	pauses   []*pause
	noDelta  []time.Time // by upstream: until when not to ask for deltas again
	tokens   string      // the last Guidon-Tokens of the upstream
	compared time.Time
	held     heldState
}

// A heldState has lost nearly all flags. It is taken if the upstream insists on it.
type heldState struct {
	state *state
	since time.Time
}

const (
	// compareInterval is how often the flags that deltas made are compared with those of the upstream.
	compareInterval = 5 * time.Minute

	// noDeltaFor is how long an upstream without deltas is not asked for them again.
	noDeltaFor = time.Hour

	// useRestoredAfter is how long the upstream has for its first response, before Edge serves the state of the backup folder.
	useRestoredAfter = time.Second

	// holdFor is how long an upstream must insist on a state that has lost nearly all flags.
	holdFor = time.Minute
)

// newSource returns the source of an upstream token, which reads nothing yet.
func (e *Edge) newSource(token, environment string, projects []string) *source {
	s := &source{
		edge: e, token: token, hash: hashOf(token), environment: environment, first: make(chan struct{}), stop: func() {}, wake: make(chan struct{}, 1),
		pauses: e.client.newPauses(), noDelta: make([]time.Time, len(e.config.Upstreams)),
	}
	if projects != nil {
		s.projects.Store(&projects)
	}
	return s
}

// run reads the upstream until the context ends.
func (s *source) run(ctx context.Context) {
	defer time.AfterFunc(useRestoredAfter, s.useRestored).Stop()
	if s.edge.config.Streaming {
		var following sync.WaitGroup
		following.Go(func() { s.follow(ctx) })
		defer following.Wait()
	}
	for {
		s.poll(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-time.After(jitter(s.edge.config.RefreshInterval)):
		}
	}
}

// hurry has the flags read at once, because another Edge knows newer ones: once a second at most, since everyone with a token can say so.
func (s *source) hurry() {
	now := time.Now().Unix()
	if before := s.hurried.Load(); before < now && s.hurried.CompareAndSwap(before, now) {
		signal(s.wake)
	}
}

// poll reads the first upstream that responds.
func (s *source) poll(ctx context.Context) {
	if !s.polling.TryLock() { // two requests for an application in an extension
		return
	}
	defer s.polling.Unlock()
	err := s.edge.client.any(s.pauses, s.edge.config.RefreshInterval, func(upstream string) error {
		err := s.read(ctx, upstream)
		if err == nil {
			s.from.Store(&upstream)
		}
		return err
	})
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
	case err == nil:
		s.edge.metrics.reads.Add(1)
		s.edge.solved("flags of "+s.environment, "the upstream says again which flags there are")
	case !errors.Is(err, errPaused):
		s.edge.metrics.failures.Add(1)
		then := "Edge keeps serving those that it has"
		if s.state.Load() == nil {
			then = "Edge has none to serve yet"
		}
		s.edge.warn("flags of "+s.environment, "the upstream did not say which flags there are; "+then, err)
		s.useRestored()
	}
}

// read asks an upstream for changes, and takes them.
func (s *source) read(ctx context.Context, upstream string) error {
	before := s.state.Load()
	if before == nil {
		before = s.restored
	}
	var r *reading
	var err error
	at, isServer := time.Now(), !isPublication(upstream)
	if isServer {
		r, err = s.fetch(ctx, upstream, tagOf(before))
	} else {
		r, at, err = s.fetchPublished(ctx, upstream, before)
	}
	switch {
	case err != nil:
		return err
	case r == nil:
		s.held = heldState{}
		if s.state.CompareAndSwap(nil, before) { // the backup is current
			s.once.Do(func() { close(s.first) })
		}
		s.confirm(at)
		if !isServer {
			return nil
		}
		return s.compare(ctx, upstream, before)
	}
	next, err := r.after(before, s.environment)
	if err != nil {
		return err
	}
	isChange := r.guidon && before != nil && next.revision.Epoch == before.revision.Epoch // and no mistake
	if !isChange && next.isEmptied(before) && !s.insists(next) {
		s.edge.warn("few flags in "+s.environment, "the upstream has lost nearly all flags; Edge serves those that it had, unless it stays so for a minute", nil)
		return nil
	}
	s.held = heldState{}
	s.take(next, at)
	return nil
}

// insists reports whether the upstream has had the same few flags for long enough.
func (s *source) insists(next *state) bool {
	if s.held.state == nil || !sameContent(s.held.state, next) {
		s.held = heldState{next, time.Now()}
	}
	return time.Since(s.held.since) >= s.edge.holdFor
}

func sameContent(a, b *state) bool { return a.contentTag() == b.contentTag() }

// contentTag returns the ETag of all flags, which is the same wherever the flags are the same.
func (s *state) contentTag() string { return featuresTag(s.set, everything) }

var everything = answers.Scope{All: true}

// take makes a state the current one, and tells streams about it.
func (s *source) take(next *state, at time.Time) {
	next.taken = time.Now()
	before := s.state.Swap(next)
	s.tellOdd(before, next)
	s.confirm(at)
	s.once.Do(func() { close(s.first) })
	if before != nil {
		close(before.next)
	}
	s.edge.backup.changed(s)
}

// maxOddLines is how many parts of a state that cannot be read have a line of their own in the log.
const maxOddLines = 10

// tellOdd logs what Edge leaves out of a state since the one before, which is nil for the first, and what it can read again.
func (s *source) tellOdd(before, next *state) {
	was := map[part]string{}
	if before != nil {
		was = before.odd
	}
	about := func(of part) string { return of.kind + " " + jsonbody.Shorten(of.name) + " of " + s.environment }
	lines := 0
	for of, why := range next.odd {
		if was[of] == why {
			continue
		}
		if lines++; lines <= maxOddLines {
			s.edge.warn(about(of), "Edge cannot read this "+of.kind+" and leaves it out: it is off", errors.New(why))
		}
	}
	if lines > maxOddLines {
		s.edge.warn("flags of "+s.environment+" that are left out", fmt.Sprintf("Edge cannot read %d more flags and segments", lines-maxOddLines), nil)
	}
	for of := range was {
		if _, is := next.odd[of]; !is {
			s.edge.solved(about(of), "Edge does not leave it out any more")
		}
	}
}

// useRestored serves the state of the backup folder, unless there is a newer one.
func (s *source) useRestored() {
	if s.restored == nil || s.state.Load() != nil {
		return
	}
	s.confirmed.CompareAndSwap(nil, &s.restoredAt)
	if s.state.CompareAndSwap(nil, s.restored) {
		s.once.Do(func() { close(s.first) })
		s.edge.logger.Warn("Edge serves the flags of BACKUP_FOLDER until the upstream responds", "environment", s.environment, "at", s.restoredAt)
	}
}

// confirm notes when the state was known to be current.
func (s *source) confirm(at time.Time) {
	if before := s.confirmed.Load(); before == nil || at.After(*before) {
		s.confirmed.Store(&at)
	}
}

// age is how long ago the upstream said that the state is current.
func (s *source) age() time.Duration {
	at := s.confirmed.Load()
	if at == nil {
		return 0
	}
	return max(time.Since(*at), 0)
}

func tagOf(s *state) string {
	if s == nil {
		return ""
	}
	return s.tag
}

// fetch asks an upstream for deltas, or for all flags if it has none. It returns nil if nothing changed.
func (s *source) fetch(ctx context.Context, upstream, tag string) (*reading, error) {
	i := slices.Index(s.edge.config.Upstreams, upstream)
	if time.Now().After(s.noDelta[i]) {
		got, err := s.get(ctx, upstream+"/api/client/delta", tag)
		if err == nil && got.status != http.StatusNotModified {
			r, err := readDelta(got.body, got.header.Get("Etag"))
			if !errors.Is(err, errEvent) {
				return r, err
			}
			s.edge.warn("delta of "+s.environment, "Edge reads all flags instead of the changes for an hour", err)
			s.noDelta[i] = time.Now().Add(noDeltaFor)
			return s.fetch(ctx, upstream, "")
		}
		switch statusOf(err) {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			s.noDelta[i] = time.Now().Add(noDeltaFor)
		case http.StatusInternalServerError: // as Unleash Edge responds without DELTA=true
			if guidonTag.MatchString(tag) {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	got, err := s.get(ctx, upstream+"/api/client/features", tag)
	if err != nil || got.status == http.StatusNotModified {
		return nil, err
	}
	return readFeatures(got.body, got.header.Get("Etag"))
}

func (s *source) get(ctx context.Context, url, tag string) (reply, error) {
	header := http.Header{}
	if tag != "" {
		header.Set("If-None-Match", tag)
	}
	got, err := s.edge.client.send(ctx, http.MethodGet, url, s.token, header, nil, maxState)
	if number := got.header.Get("Guidon-Tokens"); number != "" && number != s.tokens {
		s.tokens = number
		s.edge.tokens.checkAgain()
	}
	if err == nil && got.status == http.StatusNotModified && tag == "" {
		err = errors.New("it responded with 304 to a first request")
	}
	return got, err
}

// compare compares the flags that deltas made with those of Guidon, every five minutes. If they differ, everything is read again.
func (s *source) compare(ctx context.Context, upstream string, now *state) error {
	if !guidonTag.MatchString(now.tag) || time.Since(s.compared) < s.edge.compareInterval {
		return nil
	}
	s.compared = time.Now()
	projects := s.projects.Load()
	if projects == nil {
		return nil
	}
	got, err := s.get(ctx, upstream+"/api/client/features", featuresTag(now.set, scopeOf(*projects, s.environment)))
	if err != nil || got.status == http.StatusNotModified {
		return err
	}
	again, err := s.fetch(ctx, upstream, now.tag)
	if err != nil {
		return err
	}
	if again != nil { // the flags changed in between
		next, err := again.after(now, s.environment)
		if err == nil {
			s.take(next, time.Now())
		}
		return err
	}
	s.edge.warn("difference in "+s.environment, "the flags differ from those of the upstream, so Edge reads all of them again", nil)
	again, err = s.fetch(ctx, upstream, "")
	if err != nil {
		return err
	}
	next, err := again.after(now, s.environment)
	if err == nil {
		s.take(next, time.Now())
	}
	return err
}

// featuresTag returns the ETag of GET /api/client/features for a scope.
func featuresTag(set *answers.Set, scope answers.Scope) string {
	query, _ := answers.ParseQuery("", "5.2.0") // fails for bad queries only
	response, err := answers.NewResponder(answers.Options{}).Features(set, scope, query, answers.Request{Tags: []string{"*"}})
	if err != nil {
		return ""
	}
	return response.Header.Get("Etag")
}

// covers reports whether the source has all flags that a token of some projects may read.
func (s *source) covers(projects []string, environment string) bool {
	has := s.projects.Load()
	if s.environment != environment || has == nil {
		return false
	}
	return slices.Contains(*has, flags.All) || !slices.ContainsFunc(projects, func(id string) bool { return !slices.Contains(*has, id) })
}

// scopeOf returns the scope of a token.
func scopeOf(projects []string, environment string) answers.Scope {
	if slices.Contains(projects, flags.All) {
		return answers.Scope{All: true, Environment: environment, ProjectIDs: []string{}}
	}
	ids := slices.Sorted(slices.Values(projects))
	return answers.Scope{ProjectUIDs: ids, ProjectIDs: ids, Environment: environment}
}
