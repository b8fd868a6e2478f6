package serving

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A world has aggregates as the store has them, and the state that a reader makes from them.
type world struct {
	t        testing.TB
	features map[string]*flags.Feature
	segments map[int64]*flags.Segment
	projects map[string]*flags.Project
	registry *flags.Environments
	state    *State
	ids      int
}

// newWorld has the environments development and production, and a project named default with both.
func newWorld(t testing.TB) *world {
	w := &world{
		t: t, features: map[string]*flags.Feature{}, segments: map[int64]*flags.Segment{}, projects: map[string]*flags.Project{},
		registry: &flags.Environments{Version: 1, List: []flags.Environment{
			{Name: "development", UID: "development-uid", Enabled: true}, {Name: "production", UID: "production-uid", Enabled: true},
		}},
		state: &State{Epoch: "e", Environments: &flags.Environments{}, Flags: map[string]*Flag{}, Segments: map[int64]*Segment{}, Projects: map[string]*flags.Project{}},
	}
	w.commit(flags.Write{After: w.registry})
	w.addProject("default")
	return w
}

func (w *world) newID() string {
	w.ids++
	return fmt.Sprintf("%08d-id", w.ids)
}

// commit makes the next state, if applications see a difference.
func (w *world) commit(writes ...flags.Write) {
	entry, loaded := flags.FeedEntry{Number: w.state.Number + 1}, flags.View{}
	for _, write := range writes {
		if !write.ChangesServed() {
			continue
		}
		change := flags.FeedChange{Left: write.Left()}
		if write.After != nil {
			change.Key, change.Version = write.After.Key(), flags.VersionOf(write.After)
			loaded[change.Key] = write.After
		} else {
			change.Key = write.Before.Key()
		}
		entry.Changes = append(entry.Changes, change)
	}
	if entries := []flags.FeedEntry{entry}; len(entry.Changes) > 0 {
		w.state = w.state.with(entry.Number, updatesOf(lastChangesOf(entries), loaded), goneOf(entries))
	}
}

func (w *world) addProject(id string) {
	p := &flags.Project{Version: 1, ID: id, UID: w.newID(), Name: id}
	for _, env := range w.registry.List {
		if err := p.Attach(env, w.newID()); err != nil {
			w.t.Fatal(err)
		}
	}
	w.projects[id] = p
	w.commit(flags.Write{After: p})
}

func (w *world) changeProject(id string, change func(*flags.Project)) {
	before := w.projects[id]
	after := before.Clone()
	change(after)
	after.Version++
	w.projects[id] = after
	w.commit(flags.Write{Before: before, After: after})
}

func (w *world) deleteProject(id string) {
	before := w.projects[id]
	delete(w.projects, id)
	w.commit(flags.Write{Before: before})
}

func (w *world) addFlag(project, name string, change func(*flags.Feature)) {
	description := ""
	f := flags.NewFeature(w.projects[project], name, flags.Metadata{Type: flags.Release, Description: &description}, "test", time.Now())
	f.Version = 1
	if change != nil {
		change(f)
	}
	w.features[name] = f
	w.commit(flags.Write{After: f})
}

// changeFlags changes flags in one transaction.
func (w *world) changeFlags(change func([]*flags.Feature) error, names ...string) error {
	var writes []flags.Write
	var clones []*flags.Feature
	for _, name := range names {
		clone := w.features[name].Clone()
		clone.Version++
		writes, clones = append(writes, flags.Write{Before: w.features[name], After: clone}), append(clones, clone)
	}
	if err := change(clones); err != nil {
		return err
	}
	for _, clone := range clones {
		w.features[clone.Name] = clone
	}
	w.commit(writes...)
	return nil
}

func (w *world) changeFlag(name string, change func(*flags.Feature)) {
	_ = w.changeFlags(func(f []*flags.Feature) error { change(f[0]); return nil }, name)
}

func (w *world) setSegment(id int64, change func(*flags.Segment)) {
	before := w.segments[id]
	after := &flags.Segment{ID: id, Name: fmt.Sprintf("segment-%d", id)}
	write := flags.Write{}
	if before != nil {
		after, write.Before = before.Clone(), before
	}
	change(after)
	after.Version++
	w.segments[id], write.After = after, after
	w.commit(write)
}

func (w *world) deleteSegment(id int64) {
	before := w.segments[id]
	delete(w.segments, id)
	w.commit(flags.Write{Before: before})
}

// environment returns an environment of a flag's project.
func (w *world) environment(project, name string) flags.ProjectEnvironment {
	for _, env := range w.projects[project].AvailableEnvironments(w.registry) {
		if env.Name == name {
			return env
		}
	}
	w.t.Fatalf("project %s has no environment %s", project, name)
	return flags.ProjectEnvironment{}
}

// strategy returns a strategy that matches everyone, with segments.
func (w *world) strategy(feature string, segments ...int64) flags.Strategy {
	return flags.Strategy{ID: w.newID(), Name: "flexibleRollout", Segments: segments}.WithDefaults(feature)
}

// on adds a strategy and enables the flag.
func (w *world) on(name, environment string, s flags.Strategy) {
	env := w.environment(w.features[name].Project, environment)
	w.changeFlag(name, func(f *flags.Feature) {
		if err := f.AddStrategy(env, s, flags.DefaultLimits()); err != nil {
			w.t.Fatal(err)
		}
		if err := f.Enable(env, w.newID, time.Time{}); err != nil {
			w.t.Fatal(err)
		}
	})
}

// token returns a client token of the environment development, whose secret is its name.
func (w *world) token(name string, projects ...string) *access.Token {
	var list []*flags.Project
	for _, id := range projects {
		list = append(list, w.projects[id])
	}
	return testToken(access.ClientToken, name, "development", list...)
}

// A client sends requests to the client and frontend APIs, over the state of a world at that moment.
type client struct {
	t       testing.TB
	source  *fixedSource
	world   *world
	handler http.Handler
}

func (w *world) client(tokens ...*access.Token) *client {
	return w.configured(httpapi.Config{}, tokens...)
}

func (w *world) configured(config httpapi.Config, tokens ...*access.Token) *client {
	c := &client{t: w.t, source: &fixedSource{tokens: map[string]*access.Token{}}, world: w}
	for _, token := range append(tokens, testToken(access.AdminToken, "admin", flags.All)) {
		c.source.tokens[token.Hash] = token
	}
	c.handler = httpapi.New(nil, httpapi.Join(ClientGroup(c.source, nil, config), FrontendGroup(c.source, nil, config)), config)
	return c
}

const newSpec = "5.2.0"

// get sends a request with headers, as names and values, to the world as it is. Its SDK knows segments.
func (c *client) get(path, token string, headers ...string) *httptest.ResponseRecorder {
	c.t.Helper()
	c.source.set(c.world.state)
	return c.send(path, token, headers...)
}

// send is get without a look at the world.
func (c *client) send(path, token string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Authorization", token)
	r.Header.Set("Unleash-Client-Spec", newSpec)
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	return w
}

// decode checks the status and decodes the body.
func (c *client) decode(w *httptest.ResponseRecorder, into any) {
	c.t.Helper()
	if w.Code != http.StatusOK {
		c.t.Fatalf("%d %s", w.Code, w.Body)
	}
	content := io.Reader(w.Body)
	if w.Header().Get("Content-Encoding") == "gzip" {
		var err error
		if content, err = gzip.NewReader(w.Body); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := json.NewDecoder(content).Decode(into); err != nil {
		c.t.Fatal(err)
	}
}

// names returns the names of the flags of an answer, those that are on with a plus.
func (c *client) names(w *httptest.ResponseRecorder) string {
	c.t.Helper()
	var answer answers.ClientFeatures
	c.decode(w, &answer)
	names := []string{}
	for _, f := range answer.Features {
		if f.Enabled {
			f.Name += "+"
		}
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}
