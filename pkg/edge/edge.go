// Package edge answers applications from memory, close to them: SDKs, browsers and OpenFeature providers. It follows Guidon, an Unleash
// or another Edge, and goes on when that is gone.
//
//	config.go    the settings: those of Unleash Edge
//	upstream.go  the requests to upstreams, and the pause after one failed; published.go upstreams that are buckets or folders
//	source.go    what Edge reads with one upstream token; reading.go decodes it, and leaves out what it cannot read; state.go what it read
//	tokens.go    which tokens of applications are valid; validate.go asks the upstream, grant.go is what a token may read
//	http.go      the requests of applications; stream.go streams; events.go those of OFREP; usage.go what they report
//	backup.go    the last state in a folder
//	command.go   the commands: edge, offline, health, ready; extension.go the extension of AWS Lambda
//
// The responses are made by pkg/answers, as Guidon's own are.
package edge

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/flags"
)

// maxSources is how many upstream tokens there can be. Without STRICT, client tokens of applications are among them.
const maxSources = 200

// An Edge serves applications.
type Edge struct {
	config    Config
	client    *client
	published *publications
	logger    *slog.Logger
	responder *answers.Responder
	tokens    *tokens
	usage     *usageSums
	backup    backup
	metrics   metrics
	problems  problems

	mu      sync.Mutex
	sources []*source
	start   func(*source) // starts to read a source; nil before Run

	streams streams

	maxWait time.Duration // shorter in an extension

	compareInterval, holdFor, heartbeat, streamTimeout, spread time.Duration // shorter in tests
}

// New returns an Edge with settings. It serves what it has; Run reads more.
func New(config Config, logs io.Writer) (*Edge, error) {
	handler := slog.Handler(slog.NewTextHandler(logs, nil))
	if config.LogJSON {
		handler = slog.NewJSONHandler(logs, nil)
	}
	e := &Edge{
		config: config, logger: slog.New(handler), responder: answers.NewResponder(answers.Options{}),
		maxWait: maxWait, compareInterval: compareInterval, holdFor: holdFor, heartbeat: heartbeat, streamTimeout: streamTimeout, spread: spread,
		streams: streams{ending: make(chan struct{}), over: streamsEnd},
	}
	var err error
	if e.client, err = newClient(&e.config); err != nil {
		return nil, err
	}
	if e.published, err = newPublications(&e.config); err != nil {
		return nil, err
	}
	e.tokens, e.usage = newTokens(e), newUsageSums(e)
	for _, token := range config.Tokens {
		projects, environment, _ := parseSecret(token)
		s := e.newSource(token, environment, projects)
		s.configured = true
		e.sources = append(e.sources, s)
	}
	for _, token := range config.Pretrusted {
		g, err := pretrusted(token)
		if err != nil {
			return nil, err
		}
		e.tokens.known[g.hash] = g
	}
	if config.Command == "offline" {
		return e, e.openFile()
	}
	return e, e.backup.open(e)
}

// pretrusted reads an item of PRETRUSTED_TOKENS.
func pretrusted(token string) (*grant, error) {
	projects, environment, ok := parseSecret(token)
	if i := strings.LastIndexByte(token, '@'); !ok && i > 0 {
		projects, environment, ok = []string{flags.All}, token[i+1:], true
	}
	if !ok || environment == "" {
		return nil, errors.New("PRETRUSTED_TOKENS has one that is neither project:environment.secret nor text@environment")
	}
	if projects == nil {
		projects = []string{flags.All}
	}
	g := newGrant(token, access.FrontendToken, projects, environment)
	g.fixed = true
	return g, nil
}

func (e *Edge) isOwn(secret string) bool { return slices.Contains(e.config.Tokens, secret) }

// learn takes what the upstream says about a token of the settings.
func (e *Edge) learn(token string, g *grant) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sources {
		if s.token == token {
			s.projects.Store(&g.projects)
		}
	}
}

// dropSource ends the reading with the token of an application, which is no longer valid.
func (e *Edge) dropSource(token string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sources = slices.DeleteFunc(e.sources, func(s *source) bool {
		drop := s.token == token && !s.configured
		if drop {
			s.dropped.Store(true)
			s.stop()
			e.backup.remove(s)
		}
		return drop
	})
}

// sourceOf returns the source with the flags of a token. Without STRICT, a client token becomes one itself if there is none.
func (e *Edge) sourceOf(g *grant) (*source, error) {
	if s := g.source.Load(); s != nil && !s.dropped.Load() {
		return s, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.adopt(g)
	unknown := false
	for _, s := range e.sources {
		if s.covers(g.projects, g.environment) {
			g.source.Store(s)
			return s, nil
		}
		unknown = unknown || s.projects.Load() == nil && s.environment == g.environment
	}
	secret := g.secret.Load()
	switch {
	case unknown:
		return nil, errNoFlags
	case e.config.Strict || e.config.Command == "offline":
		return nil, flags.Errorf(flags.Forbidden, "Edge does not read the flags of this token: add a client token of the environment %q, and of its projects, to TOKENS", g.environment)
	case g.kind != access.ClientToken || secret == nil || e.start == nil || len(e.sources) >= maxSources:
		return nil, flags.Errorf(flags.Unavailable, "Edge has no flags for this token yet: add a client token of the environment %q, and of its projects, to TOKENS", g.environment)
	}
	s := e.newSource(*secret, g.environment, g.projects)
	e.sources = append(e.sources, s)
	g.source.Store(s)
	e.start(s)
	return s, nil
}

// adopt goes on with a state of the backup folder, once an application sends its token. The caller holds the lock.
func (e *Edge) adopt(g *grant) {
	secret := g.secret.Load()
	i := slices.IndexFunc(e.sources, func(s *source) bool { return s.token == "" && s.hash == g.hash })
	if secret == nil || i < 0 || e.start == nil {
		return
	}
	old := e.sources[i]
	s := e.newSource(*secret, old.environment, *old.projects.Load())
	s.restored, s.restoredAt = old.restored, old.restoredAt
	s.useRestored()
	old.dropped.Store(true)
	e.sources[i] = s
	e.start(s)
}

// errNoFlags is the response before the first state.
var errNoFlags = flags.Errorf(flags.Unavailable, "Edge has no flags yet; try again")

// all returns the sources.
func (e *Edge) all() []*source {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.sources)
}

// ready returns why Edge cannot serve all environments of its settings; nil if it can.
func (e *Edge) ready() error {
	for _, s := range e.all() {
		switch {
		case !s.configured:
		case s.state.Load() == nil:
			return flags.Errorf(flags.Unavailable, "there are no flags of the environment %q yet", s.environment)
		case e.config.MaxAge > 0 && s.age() > e.config.MaxAge:
			return flags.Errorf(flags.Unavailable, "the flags of the environment %q are older than MAX_AGE", s.environment)
		}
	}
	return nil
}

// Run serves until ctx ends. Then it finishes the requests in progress, and reports the usage that it has.
func (e *Edge) Run(ctx context.Context, listening func(addresses []net.Addr)) error {
	servers, listeners, err := e.listen()
	if err != nil {
		return err
	}
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	e.begin(reading, &group)
	failed := make(chan error, len(servers))
	var addresses []net.Addr
	for i, server := range servers {
		addresses = append(addresses, listeners[i].Addr())
		go func() { failed <- server.Serve(listeners[i]) }()
	}
	if listening != nil {
		listening(addresses)
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	var early sync.WaitGroup
	early.Go(func() { within(ctx, shutdownTimeout, e.usage.flush) }) // nearly everything is reported even if Edge is killed while streams end
	e.streams.end()
	within(ctx, shutdownTimeout, func(ctx context.Context) {
		for _, server := range servers {
			_ = server.Shutdown(ctx)
		}
	})
	early.Wait()
	stop()
	group.Wait()
	e.usage.pauses = e.client.newPauses() // one last attempt, whatever failed before
	within(ctx, lastReportTimeout, e.usage.flush)
	return err
}

const (
	shutdownTimeout   = 10 * time.Second // of the requests in progress
	lastReportTimeout = 5 * time.Second
)

// within does something within a limit after the end of ctx.
func within(ctx context.Context, limit time.Duration, do func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	do(ctx)
}

// begin starts to read.
func (e *Edge) begin(ctx context.Context, group *sync.WaitGroup) {
	if e.config.Command == "offline" {
		group.Go(func() { e.reloadFile(ctx) })
		return
	}
	e.mu.Lock()
	e.start = func(s *source) {
		own, cancel := context.WithCancel(ctx)
		s.stop = cancel
		group.Go(func() { s.run(own) })
	}
	for _, s := range e.sources {
		if s.token != "" {
			e.start(s)
		}
	}
	e.mu.Unlock()
	group.Go(func() { e.tokens.run(ctx) })
	group.Go(func() { e.usage.run(ctx) })
	group.Go(func() { e.backup.run(ctx) })
}

// listen opens the ports.
func (e *Edge) listen() (servers []*http.Server, listeners []net.Listener, err error) {
	newServer := func() *http.Server {
		return &http.Server{
			Handler: e, MaxHeaderBytes: 32 << 10, ReadHeaderTimeout: e.config.RequestTimeout, ReadTimeout: e.config.RequestTimeout,
			WriteTimeout: e.config.RequestTimeout + maxWait, IdleTimeout: e.config.KeepaliveTimeout,
			ErrorLog: slog.NewLogLogger(e.logger.Handler(), slog.LevelDebug),
		}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(e.config.Interface, e.config.Port))
	if err != nil {
		return nil, nil, fmt.Errorf("PORT: %w", err)
	}
	servers, listeners = append(servers, newServer()), append(listeners, listener)
	if !e.config.TLS.Enable {
		return servers, listeners, nil
	}
	pair, err := tls.LoadX509KeyPair(e.config.TLS.Cert, e.config.TLS.Key)
	if err == nil {
		listener, err = net.Listen("tcp", net.JoinHostPort(e.config.Interface, e.config.TLS.Port))
	}
	if err != nil {
		_ = listeners[0].Close()
		return nil, nil, fmt.Errorf("TLS_ENABLE: %w", err)
	}
	listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	return append(servers, newServer()), append(listeners, listener), nil
}

// warn logs a problem, once a minute at most.
func (e *Edge) warn(kind, message string, err error) {
	if !e.problems.report(kind) {
		return
	}
	if err != nil {
		e.logger.Warn(message, "about", kind, "cause", err.Error())
	} else {
		e.logger.Warn(message, "about", kind)
	}
}

// solved logs that a problem that was logged is over.
func (e *Edge) solved(kind, message string) {
	if e.problems.end(kind) {
		e.logger.Info(message, "about", kind)
	}
}

// problems remembers what was logged last.
type problems struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func (p *problems) report(kind string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.last) > 1000 || p.last == nil {
		p.last = map[string]time.Time{}
	}
	if at, ok := p.last[kind]; ok && time.Since(at) < time.Minute {
		return false
	}
	p.last[kind] = time.Now()
	return true
}

func (p *problems) end(kind string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, reported := p.last[kind]
	delete(p.last, kind)
	return reported
}

// openFile reads BOOTSTRAP_FILE, and makes it what every token of the settings reads.
func (e *Edge) openFile() error {
	kinds := map[access.TokenType][]string{access.ClientToken: e.config.ClientTokens, access.FrontendToken: e.config.FrontendTokens}
	for kind, list := range kinds {
		for _, token := range list {
			projects, environment, ok := parseSecret(token)
			if !ok || projects == nil { // a token of several projects does not name them
				projects = []string{flags.All}
			}
			g := newGrant(token, kind, projects, environment)
			g.fixed = true
			e.tokens.known[g.hash] = g
			if !slices.ContainsFunc(e.sources, func(s *source) bool { return s.environment == environment }) {
				s := e.newSource("", environment, []string{flags.All})
				s.configured = true
				e.sources = append(e.sources, s)
			}
		}
	}
	return e.readFile()
}

// readFile reads BOOTSTRAP_FILE.
func (e *Edge) readFile() error {
	body, err := os.ReadFile(e.config.BootstrapFile)
	if err != nil {
		return fmt.Errorf("BOOTSTRAP_FILE: %w", err)
	}
	r, err := readFile(body)
	if err != nil {
		return fmt.Errorf("BOOTSTRAP_FILE: %s: %w", e.config.BootstrapFile, err)
	}
	r.numbered = false
	for _, s := range e.sources {
		before := s.state.Load()
		next, err := r.after(before, s.environment)
		if err != nil {
			return err
		}
		if before != nil && sameContent(before, next) {
			s.confirm(time.Now())
			continue
		}
		s.take(next, time.Now())
	}
	return nil
}

// reloadFile reads BOOTSTRAP_FILE again after each RELOAD_INTERVAL. A broken one changes nothing.
func (e *Edge) reloadFile(ctx context.Context) {
	for e.config.ReloadInterval > 0 && sleep(ctx, e.config.ReloadInterval) {
		if err := e.readFile(); err != nil {
			e.warn("file", "the file cannot be used; Edge keeps serving the flags that it has", err)
		}
	}
}
