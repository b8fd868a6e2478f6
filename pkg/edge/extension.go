package edge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
)

// runtimeAPI is the variable with the address of Lambda's API for runtimes and extensions.
const runtimeAPI = "AWS_LAMBDA_RUNTIME_API"

// extensionPrefix begins the variables of the extension, because it shares its environment with a function, which may have a PORT too.
const extensionPrefix = "GUIDON_EDGE_"

// extensionVariables returns the variables of the extension without their prefix. Only its function reaches it, on 127.0.0.1.
func extensionVariables(getenv func(string) string) func(string) string {
	defaults := map[string]string{"PORT": "2475", "INTERFACE": "127.0.0.1", "LOG_FORMAT": "json"}
	return func(name string) string { return cmp.Or(getenv(extensionPrefix+name), defaults[name]) }
}

// An extension is an Edge in the environment of a Lambda function. Lambda freezes all processes there between invocations, so nothing
// runs by time: everything is done beside an invocation, within a limit, and no request is open when it asks for the next event.
type extension struct {
	edge   *Edge // nil if the settings are wrong
	logger *slog.Logger
	api    string
	id     string
	http   *http.Client

	validating          sync.Mutex // held to ask about tokens
	validated, reported time.Time  // when this was last tried
}

// An extensionEvent is what Lambda sends.
type extensionEvent struct {
	Type     string `json:"eventType"` // INVOKE or SHUTDOWN
	Deadline int64  `json:"deadlineMs"`
}

// shutdownMargin is how long before the end of the two seconds after SHUTDOWN the last report is given up.
const shutdownMargin = 300 * time.Millisecond

// runExtension serves a function until Lambda ends it. A process that ends earlier would fail the invocation, so with wrong settings,
// which are in wrong, it only waits for the end: SDKs then find nobody at its port, and use their defaults.
func runExtension(ctx context.Context, config Config, wrong error, api string, logs io.Writer) error {
	if api == "" {
		return fmt.Errorf("%s is not set: Lambda sets it, and starts this program itself when it is in the folder extensions of a layer", runtimeAPI)
	}
	x := &extension{
		api: "http://" + api + "/2020-01-01/extension/", http: &http.Client{Transport: &http.Transport{}}, // without a proxy and a limit
		logger: slog.New(slog.NewJSONHandler(logs, nil)),
	}
	events := []string{"INVOKE", "SHUTDOWN"}
	if wrong == nil {
		wrong = x.open(ctx, config, logs)
	}
	if wrong != nil {
		x.logger.Error("Guidon Edge does not serve this function, because of its settings: "+wrong.Error(), "variables", extensionPrefix+"…")
		x.edge, events = nil, events[1:]
	}
	if err := x.register(ctx, events); err != nil {
		return fmt.Errorf("registering as an extension: %w", err)
	}
	if x.edge != nil {
		x.refresh(ctx, config.ExtensionStart)
		for _, s := range x.edge.all() {
			s.useRestored()
		}
	}
	return x.follow(ctx)
}

// open begins to serve. The tokens of the settings are trusted before the upstream has confirmed them: nobody else reaches this Edge.
func (x *extension) open(ctx context.Context, config Config, logs io.Writer) (err error) {
	if _, err := os.Stat(config.BackupFolder); err != nil && config.BackupFolder != "" {
		x.logger.Warn("BACKUP_FOLDER cannot be read, so Guidon Edge starts without a copy of the flags", "cause", err.Error())
		config.BackupFolder = ""
	}
	if n := len(config.Upstreams); n > 1 { // so that there is time for the next one
		config.UpstreamSocketTimeout = min(config.UpstreamSocketTimeout, config.ExtensionRefresh/time.Duration(n))
	}
	if x.edge, err = New(config, logs); err != nil {
		return err
	}
	e := x.edge
	e.maxWait = config.ExtensionStart
	for _, token := range config.Tokens {
		if projects, environment, _ := parseSecret(token); projects != nil {
			g := newGrant(token, access.ClientToken, projects, environment)
			e.tokens.known[g.hash] = g
		}
	}
	servers, listeners, err := e.listen()
	if err != nil {
		return err
	}
	e.start = func(s *source) { go x.within(ctx, e.maxWait, s.poll) }
	for i, server := range servers {
		go func() { _ = server.Serve(listeners[i]) }() // until the process ends
	}
	go func() {
		for ctx.Err() == nil {
			select {
			case <-e.tokens.wake:
				x.within(ctx, e.maxWait, func(ctx context.Context) {
					x.validating.Lock()
					defer x.validating.Unlock()
					x.validate(ctx, nil)
				})
			case <-ctx.Done():
			}
		}
	}()
	return nil
}

// follow handles the events of Lambda.
func (x *extension) follow(ctx context.Context) error {
	for {
		event, err := x.next(ctx)
		switch {
		case ctx.Err() != nil || event.Type == "SHUTDOWN":
			if x.edge != nil {
				x.edge.usage.pauses = x.edge.client.newPauses() // one last attempt, whatever failed before
				x.within(context.WithoutCancel(ctx), event.left(2*time.Second)-shutdownMargin, x.edge.usage.flush)
			}
			return nil
		case err != nil:
			x.logger.Warn("Lambda did not send an event", "cause", err.Error())
			sleep(ctx, 100*time.Millisecond)
		case x.edge != nil:
			x.refresh(ctx, min(x.edge.config.ExtensionRefresh, event.left(time.Minute)))
		}
	}
}

// left returns how much time there is until the deadline of an event.
func (event extensionEvent) left(without time.Duration) time.Duration {
	if event.Deadline == 0 {
		return without
	}
	return time.Until(time.UnixMilli(event.Deadline))
}

// refresh does what is due: it asks for changes where the flags are older than FEATURES_REFRESH_INTERVAL_SECONDS, checks tokens, and
// reports usage. When it returns, no connection to the upstream is open.
func (x *extension) refresh(ctx context.Context, limit time.Duration) {
	e := x.edge
	var group sync.WaitGroup
	do := func(what func(context.Context)) { group.Go(func() { x.within(ctx, limit, what) }) }
	for _, s := range e.all() {
		at := s.confirmed.Load()
		if at == nil {
			for _, p := range s.pauses {
				p.succeeded() // without flags, each invocation tries
			}
		}
		if s.token != "" && (at == nil || isOlder(*at, e.config.RefreshInterval)) {
			do(s.poll)
		}
	}
	if isOlder(x.validated, e.config.RevalidationInterval) {
		x.validated = time.Now()
		do(func(ctx context.Context) {
			if x.validating.TryLock() { // otherwise there is a question that was frozen
				defer x.validating.Unlock()
				x.validate(ctx, e.tokens.secrets())
			}
		})
	}
	if isOlder(x.reported, e.config.MetricsInterval) {
		x.reported = time.Now()
		do(e.usage.flush)
	}
	group.Wait()
	e.client.http.CloseIdleConnections()
}

// isOlder compares times on the clock: the monotonic one of a process may stand still while it is frozen.
func isOlder(at time.Time, limit time.Duration) bool {
	age := time.Now().Round(0).Sub(at)
	return age < 0 || age >= limit
}

// validate asks about the tokens that requests wait for, and about those that are due. The caller holds validating.
func (x *extension) validate(ctx context.Context, due []string) {
	tokens := x.edge.tokens
	for group := tokens.nextGroup(&due); len(group) > 0; group = tokens.nextGroup(&due) {
		tokens.settle(ctx, group, &due)
	}
	tokens.forget()
}

// within does something within a limit. A panic is logged, and does not end the process.
func (x *extension) within(ctx context.Context, limit time.Duration, do func(context.Context)) {
	defer func() {
		if cause := recover(); cause != nil {
			x.logger.Error("Guidon Edge goes on after a panic", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	do(ctx)
}

// register tells Lambda about this extension, by the name of its file. Lambda starts the function after that.
func (x *extension) register(ctx context.Context, events []string) error {
	body, err := json.Marshal(map[string][]string{"events": events})
	if err != nil {
		return err
	}
	header, _, err := x.call(ctx, http.MethodPost, "register", body, "Lambda-Extension-Name", filepath.Base(os.Args[0]))
	if x.id = header.Get("Lambda-Extension-Identifier"); err == nil && x.id == "" {
		err = errors.New("the response has no identifier")
	}
	return err
}

// next says that this extension has done its work, and waits for an event.
func (x *extension) next(ctx context.Context) (event extensionEvent, err error) {
	_, body, err := x.call(ctx, http.MethodGet, "event/next", nil, "Lambda-Extension-Identifier", x.id)
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	return event, err
}

func (x *extension) call(ctx context.Context, method, path string, body []byte, name, value string) (http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, x.api+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set(name, value)
	resp, err := x.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("it responded with %d: %.300s", resp.StatusCode, text)
	}
	return resp.Header, text, err
}
