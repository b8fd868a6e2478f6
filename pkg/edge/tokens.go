package edge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/published"
)

// The limits of tokens. A token that is not known takes a place in a queue, which is sent to the upstream once a second.
const (
	maxTokens    = 10_000
	maxWaiting   = 1_000
	maxGroup     = 200 // that Guidon takes in one request
	smallGroup   = 10  // that Guidon looks up even if none of them is valid
	refusedFor   = 30 * time.Second
	validatePace = time.Second
	maxWait      = 5 * time.Second // of a request, until its token was validated and its flags are there
)

// A hash is the SHA-256 of a secret, by which Edge knows tokens.
type hash = [sha256.Size]byte

func hashOf(secret string) hash { return sha256.Sum256([]byte(secret)) }

// A grant is what a valid token may read.
type grant struct {
	hash        hash
	secret      atomic.Pointer[string] // nil after a restart, until an application sends it
	kind        access.TokenType
	environment string
	projects    []string
	scope       answers.Scope
	fixed       bool         // of the settings: it is not validated
	used        atomic.Int64 // when it was last used, in Unix seconds

	// checked is when the upstream last said that it is valid. It has the monotonic clock, so a jump of the other one changes nothing.
	checked atomic.Pointer[time.Time]

	source atomic.Pointer[source] // that has its flags
	tags   [4]atomic.Pointer[tagged]
}

// A tagged is the ETag of a token's flags in a state, for one version of the client specification: most polls need nothing else.
type tagged struct {
	state  *state
	spec   string
	header []string // the ETag
}

func newGrant(secret string, kind access.TokenType, projects []string, environment string) *grant {
	g := &grant{hash: hashOf(secret), kind: kind, environment: environment, projects: projects, scope: scopeOf(projects, environment)}
	g.secret.Store(&secret)
	g.confirm(0)
	g.used.Store(time.Now().Unix())
	return g
}

// confirm notes that the upstream said some time ago that the token is valid.
func (g *grant) confirm(ago time.Duration) {
	at := time.Now().Add(-ago)
	g.checked.Store(&at)
}

// parseSecret returns the projects and the environment that the text of a secret names: project:environment.secret, with *: for all
// projects and []: for several ones, which it does not name.
func parseSecret(secret string) (projects []string, environment string, ok bool) {
	project, rest, found := strings.Cut(secret, ":")
	environment, key, found2 := strings.Cut(rest, ".")
	if !found || !found2 || project == "" || environment == "" || key == "" || len(secret) > 512 {
		return nil, "", false
	}
	if project != "[]" {
		projects = []string{project}
	}
	return projects, environment, true
}

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

// A validToken is a token in the response of POST /edge/validate.
type validToken struct {
	Token       string   `json:"token"`
	Type        string   `json:"type"`
	Projects    []string `json:"projects"`
	Environment string   `json:"environment,omitzero"` // Unleash has it only in the text of the token
}

// validTokens is that response, and with only their texts the request.
type validTokens struct {
	Tokens []validToken `json:"tokens"`
}

// validate asks the upstream about tokens, and takes its answer. The tokens of the settings are asked about too: an answer that refuses
// one of these is a mistake rather than the end of the tokens of applications.
func (t *tokens) validate(ctx context.Context, group []string) error {
	asked := slices.Clone(t.own())
	for _, secret := range group {
		if !slices.Contains(asked, secret) {
			asked = append(asked, secret)
		}
	}
	body, err := json.Marshal(map[string][]string{"tokens": asked})
	if err != nil {
		return err
	}
	var answer validTokens
	var tooMany, absent error
	err = t.edge.client.any(t.pauses, validatePace, func(upstream string) (err error) {
		if tooMany = nil; isPublication(upstream) {
			answer.Tokens, err = t.edge.published.validate(ctx, upstream, asked)
			if errors.Is(err, published.ErrAbsent) { // the upstream is not paused: strangers can name environments that do not exist
				absent = fmt.Errorf("%s: %w", upstream, err)
				return errNotThere
			}
			return err
		}
		got, err := t.edge.client.send(ctx, http.MethodPost, upstream+"/edge/validate", "", nil, body, maxReply)
		if statusOf(err) == http.StatusBadRequest && len(group) > smallGroup {
			tooMany = err
			return nil
		}
		if err != nil {
			return err
		}
		answer = validTokens{}
		if err := json.Unmarshal(got.body, &answer); err != nil || answer.Tokens == nil {
			return errors.New("its response to /edge/validate has no tokens")
		}
		return nil
	})
	if absent != nil && errors.Is(err, errPaused) {
		err = absent
	}
	if err = cmp.Or(err, tooMany); err != nil {
		return err
	}
	t.take(group, answer.Tokens)
	return nil
}

// own returns the tokens of the settings that are in every question.
func (t *tokens) own() []string {
	own := t.edge.config.Tokens
	return own[:min(len(own), maxGroup/2)]
}

// take takes an answer about a group of tokens.
func (t *tokens) take(group []string, valid []validToken) {
	byText := map[string]*grant{}
	for _, v := range valid {
		if g := v.grant(); g != nil {
			byText[v.Token] = g
		}
	}
	refused := map[string]bool{}
	for _, own := range t.own() {
		if g := byText[own]; g != nil {
			t.edge.learn(own, g)
			if g.kind == access.FrontendToken {
				t.edge.warn("tokens", "TOKENS has a frontend token, which cannot read the flags for Edge. Give it a client token", nil)
			}
		} else {
			refused[own] = true
			t.edge.warn("tokens", "the upstream refuses a token of TOKENS; Edge keeps serving with the flags and tokens that it has. Give it a valid one", nil)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, secret := range group {
		h := hashOf(secret)
		now, before := byText[secret], t.known[h]
		switch {
		case now != nil && before != nil && before.same(now):
			before.confirm(0)
			now = before
		case now != nil:
			t.add(now)
		case before != nil && before.dependsOn(refused):
			now = before
		default:
			if delete(t.known, h); before != nil {
				t.edge.dropSource(secret)
			}
			t.refuse(h)
		}
		t.answer(h, now)
	}
}

// dependsOn reports whether the flags of a token come with one of these upstream tokens.
func (g *grant) dependsOn(upstreamTokens map[string]bool) bool {
	s := g.source.Load()
	return s != nil && upstreamTokens[s.token]
}

// answer ends the wait for a token. The caller holds the lock.
func (t *tokens) answer(h hash, g *grant) {
	if q := t.waiting[h]; q != nil {
		q.grant = g
		if g == nil {
			q.err = access.ErrNoToken
		}
		delete(t.waiting, h)
		close(q.done)
	}
}

// failed ends the wait for tokens that could not be validated.
func (t *tokens) failed(group []string, err error) {
	if !errors.Is(err, errPaused) {
		t.edge.warn("tokens", "the upstream did not say which tokens are valid; Edge keeps those that it knows", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, secret := range group {
		h := hashOf(secret)
		if q := t.waiting[h]; q != nil {
			q.err = errUnknown
			delete(t.waiting, h)
			close(q.done)
		}
	}
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

// grant returns what a valid token may read; nil for a token that Edge cannot serve.
func (v validToken) grant() *grant {
	projects, environment, ok := parseSecret(v.Token)
	kind := access.TokenType(strings.ToLower(v.Type))
	if kind == "backend" { // as newer versions of Unleash call it
		kind = access.ClientToken
	}
	if len(v.Projects) > 0 {
		projects = v.Projects
	}
	if !ok || len(projects) == 0 || kind != access.ClientToken && kind != access.FrontendToken && kind != access.AdminToken {
		return nil
	}
	return newGrant(v.Token, kind, projects, cmp.Or(v.Environment, environment))
}

// same reports whether two grants allow the same.
func (g *grant) same(other *grant) bool {
	return g.kind == other.kind && g.environment == other.environment && strings.Join(g.projects, ",") == strings.Join(other.projects, ",")
}

// getAll is get for several tokens, which it waits for together. As Guidon does, it asks about the first smallGroup, and about as many
// more for each valid one among them: a caller who knows none cannot fill the queue.
func (t *tokens) getAll(ctx context.Context, secrets []string) ([]question, error) {
	ctx, cancel := context.WithTimeout(ctx, t.edge.maxWait)
	defer cancel()
	answers, valid := make([]question, len(secrets)), 0
	for n := 0; n < len(secrets); {
		end := min(len(secrets), smallGroup*(1+valid))
		if n == end {
			return nil, flags.Errorf(flags.Invalid, "only %d tokens are looked up, and %d more for each valid one among them; %d of %d were valid: leave out deleted tokens, or ask about fewer",
				smallGroup, smallGroup, valid, n)
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
			if answers[n].grant != nil {
				valid++
			}
		}
	}
	return answers, nil
}
