package edge

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// The limits of tokens. A token that is not known takes a place in a queue, which is sent to the upstream once a second.
const (
	maxTokens    = 10_000
	maxWaiting   = 1_000
	maxGroup     = 200 // that Guidon takes in one request
	smallGroup   = 10  // that Guidon looks up even if none of them is valid, and maxGroup with a client token among the first
	refusedFor   = 30 * time.Second
	validatePace = time.Second
	maxWait      = 5 * time.Second // of a request, until its token was validated and its flags are there
)

// tokens are the tokens of applications.
type tokens struct {
	edge *Edge

	mu      sync.Mutex
	known   map[hash]*grant
	refused map[hash]time.Time // until when
	waiting map[hash]*question
	wake    chan struct{}
	changed chan struct{} // has something when Guidon's tokens or projects have changed
	pauses  []*pause
	careful time.Time // until when to ask only for small groups
}

// A question is a token that is not known yet. done is closed with the answer in the other fields.
type question struct {
	secret  string
	waiters int // requests
	done    chan struct{}
	grant   *grant
	err     error
}

func newTokens(e *Edge) *tokens {
	return &tokens{
		edge: e, known: map[hash]*grant{}, refused: map[hash]time.Time{}, waiting: map[hash]*question{},
		wake: make(chan struct{}, 1), changed: make(chan struct{}, 1), pauses: e.client.newPauses(),
	}
}

// errUnknown is the response for a token that cannot be checked now. It is no 401: the SDK for Node.js stops for good at one.
var errUnknown = flags.Errorf(flags.Unavailable, "Edge does not know this token, and cannot ask the upstream about it now; try again")

// get returns what a token may read. It waits for the upstream if the token is not known. A question for whose answer nobody waits any more
// leaves the queue.
func (t *tokens) get(ctx context.Context, secret string) (*grant, error) {
	if secret == "" {
		return nil, access.ErrNoToken
	}
	h := hashOf(secret)
	t.mu.Lock()
	if g := t.known[h]; g != nil {
		t.mu.Unlock()
		if g.secret.Load() == nil {
			g.secret.Store(&secret)
		}
		return g, nil
	}
	q, err := t.ask(h, secret)
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, t.edge.maxWait)
	defer cancel()
	select {
	case <-q.done:
		return q.grant, q.err
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		if q.waiters--; q.waiters == 0 && t.waiting[h] == q {
			delete(t.waiting, h)
		}
		return nil, errUnknown
	}
}

// ask puts a token into the queue. The caller holds the lock.
func (t *tokens) ask(h hash, secret string) (*question, error) {
	if _, _, ok := parseSecret(secret); !ok || time.Now().Before(t.refused[h]) || t.edge.config.Command == "offline" {
		return nil, access.ErrNoToken
	}
	if q := t.waiting[h]; q != nil {
		q.waiters++
		return q, nil
	}
	if len(t.waiting) >= maxWaiting {
		return nil, errUnknown
	}
	q := &question{secret: secret, waiters: 1, done: make(chan struct{})}
	t.waiting[h] = q
	signal(t.wake)
	return q, nil
}

// signal puts something into a channel that has room for one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// checkAgain has all tokens validated again at once, and those that were refused when they are used again.
func (t *tokens) checkAgain() {
	t.mu.Lock()
	clear(t.refused)
	t.mu.Unlock()
	signal(t.changed)
}

// run validates tokens: new ones at once, and all of them again after the interval, or when Guidon says that they have changed. It asks at
// most once a second. Strangers can send new tokens faster than that, so it never waits until there are none.
func (t *tokens) run(ctx context.Context) {
	again := time.NewTimer(0) // the upstream tokens
	defer again.Stop()
	var due []string
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		case <-t.changed:
			due = t.secrets()
		case <-again.C:
			due = t.secrets()
			again.Reset(jitter(t.edge.config.RevalidationInterval))
		}
		if group := t.nextGroup(&due); len(group) > 0 {
			t.settle(ctx, group, &due)
			if !sleep(ctx, validatePace) {
				return
			}
			signal(t.wake) // there can be more
		}
		t.forget()
	}
}

// settle validates a group of tokens. If it is too large for the upstream, all tokens are due again; those that requests wait for still are.
func (t *tokens) settle(ctx context.Context, group []string, due *[]string) {
	err := t.validate(ctx, group)
	if statusOf(err) == http.StatusBadRequest && len(group) > smallGroup {
		t.careful = time.Now().Add(time.Minute) // Guidon does not look up many unknown tokens at once
		*due = t.secrets()
	} else if err != nil {
		t.failed(group, err)
	}
}

// nextGroup returns the tokens to ask about next: those that requests wait for, and those that are due. The latter may fill half of the
// group before the others, so that strangers cannot keep a deleted token valid.
func (t *tokens) nextGroup(due *[]string) (group []string) {
	most := maxGroup - len(t.own())
	if time.Now().Before(t.careful) {
		most = smallGroup
	}
	takeDue := func(n int) {
		n = min(n, len(*due))
		group = append(group, (*due)[:n]...)
		*due = (*due)[n:]
	}
	takeDue(most / 2)
	t.mu.Lock()
	for _, q := range t.waiting {
		if len(group) == most {
			break
		}
		group = append(group, q.secret)
	}
	t.mu.Unlock()
	takeDue(most - len(group))
	return group
}

// has reports whether a token is still valid.
func (t *tokens) has(g *grant) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known[g.hash] == g
}

// secrets returns all tokens that can be validated: those of the settings, and then the others, beginning with the one that was checked
// the longest time ago, so that each has its turn even if this list is made again before its end is reached.
func (t *tokens) secrets() (list []string) {
	list = append(list, t.edge.config.Tokens...)
	t.mu.Lock()
	defer t.mu.Unlock()
	byAge := slices.SortedFunc(maps.Values(t.known), func(a, b *grant) int { return a.checked.Load().Compare(*b.checked.Load()) })
	for _, g := range byAge {
		if secret := g.secret.Load(); secret != nil && !g.fixed && !t.edge.isOwn(*secret) {
			list = append(list, *secret)
		}
	}
	return list
}

// add adds a token. If there are too many, the one that was not used for the longest time makes room. The caller holds the lock.
func (t *tokens) add(g *grant) {
	if len(t.known) >= maxTokens {
		var oldest *grant
		for _, k := range t.known {
			if !k.fixed && (oldest == nil || k.used.Load() < oldest.used.Load()) {
				oldest = k
			}
		}
		if oldest != nil {
			delete(t.known, oldest.hash)
		}
	}
	t.known[g.hash] = g
	delete(t.refused, g.hash)
}

// refuse remembers that a token is invalid. The caller holds the lock.
func (t *tokens) refuse(h hash) {
	if len(t.refused) >= maxTokens {
		clear(t.refused) // they are asked about again
	}
	t.refused[h] = time.Now().Add(refusedFor)
}

// forget drops what is too old: tokens that the upstream has not confirmed for KEEP_TOKENS, and refusals.
func (t *tokens) forget() {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for h, until := range t.refused {
		if now.After(until) {
			delete(t.refused, h)
		}
	}
	for h, g := range t.known {
		if secret := g.secret.Load(); !g.fixed && (secret == nil || !t.edge.isOwn(*secret)) && now.Sub(*g.checked.Load()) > t.edge.config.KeepTokens {
			delete(t.known, h)
		}
	}
}

// getAll is get for several tokens, which it waits for together. As Guidon does, it asks about the first smallGroup, about as many
// more for each valid frontend token among them, and about all with a client token: a caller who knows none cannot fill the queue.
func (t *tokens) getAll(ctx context.Context, secrets []string) ([]question, error) {
	ctx, cancel := context.WithTimeout(ctx, t.edge.maxWait)
	defer cancel()
	answers, valid, trusted := make([]question, len(secrets)), 0, false
	for n := 0; n < len(secrets); {
		end := len(secrets)
		if !trusted {
			end = min(end, smallGroup*(1+valid))
		}
		if n == end {
			return nil, flags.Errorf(flags.Invalid, "only %d tokens are looked up without a valid client token among them, and %d more for each valid frontend token; "+
				"%d of %d were valid: put a client token first, leave out deleted tokens, or ask about fewer", smallGroup, smallGroup, valid, n)
		}
		var group sync.WaitGroup
		for i := n; i < end; i++ {
			group.Go(func() {
				g, err := t.get(ctx, secrets[i])
				answers[i] = question{secret: secrets[i], grant: g, err: err}
			})
		}
		group.Wait()
		for ; n < end; n++ {
			if errors.Is(answers[n].err, errUnknown) {
				return nil, errUnknown
			}
			if g := answers[n].grant; g != nil {
				valid++
				trusted = trusted || g.kind != access.FrontendToken
			}
		}
	}
	return answers, nil
}
