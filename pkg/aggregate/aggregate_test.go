package aggregate_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/aggregate"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// noon is when the tests begin.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// A world is a table with flags, and a clock.
type world struct {
	*testing.T
	store *dynamo.Store
	now   time.Time
}

// newWorld returns a table with the first content and with flags in the project default.
func newWorld(t *testing.T, names ...string) *world {
	t.Helper()
	w := &world{T: t, store: dynamotest.Open(t, nil), now: noon}
	dynamotest.Seed(t, w.store)
	for _, name := range names {
		w.create(name)
	}
	return w
}

// create creates a flag with the variant blue.
func (w *world) create(name string) {
	w.Helper()
	project := find[*flags.Project](w, flags.ProjectKey(flags.DefaultProject))
	f := flags.NewFeature(project, name, flags.DefaultMetadata(), "test", noon.Add(-time.Hour))
	env := find[*flags.Environments](w, flags.EnvironmentsKey()).Find("development")
	f.Environments = map[string]flags.FeatureEnvironment{"development": {
		EnvironmentState: flags.EnvironmentState{EnvironmentUID: env.UID}, Variants: []flags.Variant{{Name: "blue", Weight: 1000}},
	}}
	w.commit(flags.Write{After: f})
}

func (w *world) commit(writes ...flags.Write) {
	w.Helper()
	event := flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: "test", CreatedAt: w.now, CreatedBy: "test"}
	if err := w.store.Commit(w.Context(), flags.Change{Writes: writes, Event: event}); err != nil {
		w.Fatal(err)
	}
}

func find[A flags.Aggregate](w *world, key flags.Key) A {
	w.Helper()
	view, err := w.store.Load(w.Context(), []flags.Key{key})
	if err != nil {
		w.Fatal(err)
	}
	return flags.Find[A](view, key)
}

// post stores a post that was received at a time.
func (w *world) post(at time.Time, counts ...usage.Count) {
	w.Helper()
	if err := w.store.PutPost(w.Context(), newPost(at, counts...)); err != nil {
		w.Fatal(err)
	}
}

func newPost(at time.Time, counts ...usage.Count) *usage.Post {
	p := &usage.Post{ID: uuid.NewString(), At: at, TokenHash: access.HashSecret(dynamotest.ClientToken), Counts: counts}
	seen := map[string]bool{}
	for _, c := range counts {
		if !seen[c.Application] {
			seen[c.Application] = true
			p.Instances = append(p.Instances, usage.PostInstance{
				Application: c.Application, Instance: "host", Environment: c.Environment, SDK: "sdk:1", Address: "192.0.2.1",
			})
		}
	}
	return p
}

// yes is a count of an application in the environment development.
func yes(feature string, n int64) usage.Count {
	return usage.Count{Feature: feature, Application: "shop", Environment: "development", Yes: n}
}

// run aggregates at the time of the clock.
func (w *world) run() aggregate.Result {
	w.Helper()
	r, err := aggregate.New(w.store, aggregate.Settings{Settle: 10 * time.Second, Now: func() time.Time { return w.now }}).Run(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// total is the sum of the positive evaluations of a flag.
func (w *world) total(feature string, unit usage.Unit) (n int64) {
	w.Helper()
	sums, err := w.store.Usage(w.Context(), feature, unit, noon.Add(-24*time.Hour))
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range sums {
		for _, c := range s.Counts {
			n += c.Yes
		}
	}
	return n
}

func (w *world) wantTotal(feature string, want int64) {
	w.Helper()
	for _, unit := range []usage.Unit{usage.Hour, usage.Day} {
		if got := w.total(feature, unit); got != want {
			w.Errorf("the sums of each %s of %s have %d evaluations, want %d", unit, feature, got, want)
		}
	}
}

func TestSums(t *testing.T) {
	w := newWorld(t, "f", "g")
	for i := range 25 {
		w.post(noon.Add(time.Duration(i)*time.Second),
			usage.Count{Feature: "f", Application: fmt.Sprint("app", i%2), Environment: "development", Yes: 1, No: 2, Variants: map[string]int64{"blue": 3}},
			usage.Count{Feature: "unknown", Application: "app1", Environment: "development", Yes: 1},
			usage.Count{Feature: "g", Application: "app1", Environment: "nowhere", Yes: 1})
	}
	w.now = noon.Add(time.Minute)
	if r := w.run(); r.Posts != 25 {
		t.Errorf("the run added %d posts, want 25", r.Posts)
	}
	row := func(app string, n int64) usage.Count {
		return usage.Count{Feature: "f", Application: app, Environment: "development", Yes: n, No: 2 * n, Variants: map[string]int64{"blue": 3 * n}}
	}
	for unit, start := range map[usage.Unit]time.Time{usage.Hour: noon, usage.Day: noon.Add(-12 * time.Hour)} {
		sums, err := w.store.Usage(t.Context(), "f", unit, start)
		if err != nil || len(sums) != 1 {
			t.Fatalf("there are %d sums of f (%v), want 1", len(sums), err)
		}
		want := usage.Sum{Feature: "f", Unit: unit, Start: start, Batch: sums[0].Batch, Counts: []usage.Count{row("app0", 13), row("app1", 12)}}
		if diff := cmp.Diff(want, sums[0]); diff != "" {
			t.Errorf("the sum of the %s (-want +got):\n%s", unit, diff)
		}
	}
	w.wantTotal("g", 0)
	w.wantTotal("unknown", 0)

	f := find[*flags.Feature](w, flags.FeatureKey("f"))
	if want := noon.Add(24 * time.Second); !f.LastSeenAt.Equal(want) || !f.Environments["development"].LastSeenAt.Equal(want) || f.Version != 1 {
		t.Errorf("f was last seen at %s, in development at %s, at version %d; want %s at version 1", f.LastSeenAt, f.Environments["development"].LastSeenAt, f.Version, want)
	}
	if f.Phase().Stage != flags.StagePreLive {
		t.Errorf("f is in stage %s, want pre-live", f.Phase().Stage)
	}
	app := find[*usage.Application](w, usage.ApplicationKey("app1"))
	wantApp := &usage.Application{
		Version: 1, Name: "app1", CreatedAt: noon.Add(24 * time.Second), LastSeenAt: noon.Add(24 * time.Second),
		Projects: map[string][]string{"default": {"development"}}, Uses: map[string][]string{"default": {"development"}},
		Environments: map[string]usage.ApplicationEnvironment{
			"development": {SDKs: []string{"sdk:1"}, LastSeenAt: noon.Add(24 * time.Second), Instances: 1},
		},
	}
	app.CreatedAt = app.LastSeenAt
	if diff := cmp.Diff(wantApp, app); diff != "" {
		t.Errorf("the application (-want +got):\n%s", diff)
	}
	names := find[*usage.ApplicationNames](w, usage.ApplicationNamesKey("app1"))
	wantNames := &usage.ApplicationNames{
		Version: 1, Application: "app1", Features: []string{"f"}, Unknown: map[string][]string{"development": {"unknown"}}, SeenAt: noon.Add(24 * time.Second),
	}
	if diff := cmp.Diff(wantNames, names); diff != "" {
		t.Errorf("the names of its flags (-want +got):\n%s", diff)
	}
	dynamotest.Check(t, w.store)
}

// TestLastUse stores the last use of tokens that polled or reported, at most once in an hour of the clock, and never an earlier one.
func TestLastUse(t *testing.T) {
	w := newWorld(t)
	polls := func(at, used time.Time, tokens ...string) {
		t.Helper()
		p := &usage.Post{ID: uuid.NewString(), At: at, Uses: map[string]time.Time{}}
		for _, token := range tokens {
			p.Uses[token] = used
		}
		if err := w.store.PutPost(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	check := func(token string, want time.Time) {
		t.Helper()
		w.now = w.now.Add(time.Minute)
		w.run()
		if use := find[*access.TokenUse](w, access.TokenUseKey(token)); use == nil || !use.At.Equal(want) {
			t.Errorf("%s was last used %v, want %s", token, use, want)
		}
	}
	reports := access.HashSecret(dynamotest.ClientToken)
	polls(noon, noon, "a", "b")
	polls(noon.Add(time.Second), noon.Add(time.Second), "a")
	w.post(noon.Add(2 * time.Second))
	check("a", noon.Add(time.Second))
	check("b", noon)
	check(reports, noon.Add(2*time.Second))
	w.now = noon.Add(59 * time.Minute)
	polls(w.now, w.now, "a")
	check("a", noon.Add(time.Second))
	polls(w.now, w.now, "a")
	hour := w.now
	check("a", hour)
	polls(w.now, noon, "a") // an instance that was frozen tells late
	polls(w.now, noon.Add(30*time.Minute), "c")
	check("a", hour)
	check("c", noon.Add(30*time.Minute))
	if w.run(); find[*access.TokenUse](w, access.TokenUseKey("")) != nil {
		t.Error("posts without a token have stored a use")
	}
	dynamotest.Check(t, w.store)
}

// TestScope reports flags with tokens that have lost something. Reports count only for flags of the token's projects that exist,
// in environments that exist.
func TestScope(t *testing.T) {
	w := newWorld(t, "f")
	project := flags.ProjectKey(flags.DefaultProject)
	p, registry := find[*flags.Project](w, project), find[*flags.Environments](w, flags.EnvironmentsKey())
	other := p.Clone()
	other.ID, other.UID, other.Version = "other", "other-uid", 0
	w.commit(flags.Write{After: other})
	w.commit(flags.Write{After: flags.NewFeature(other, "g", flags.DefaultMetadata(), "test", noon)})
	token := func(name string, kind access.TokenType, environment string, projects ...string) *access.Token {
		token := &access.Token{Hash: access.HashSecret(name), Name: "scope-" + name, Type: kind, Projects: projects, Environment: environment, CreatedAt: noon}
		token.Bind(func(id string) *flags.Project { return map[string]*flags.Project{p.ID: p, other.ID: other}[id] }, registry)
		return token
	}
	revoked := token("revoked", access.ClientToken, "development", "other")
	revoked.ProjectUIDs = []string{"an earlier project of this name"}
	gone := token("gone", access.ClientToken, "development", "default")
	gone.EnvironmentUID = "an earlier environment of this name"
	for _, c := range []struct {
		token        *access.Token
		environment  string
		wantF, wantG int64
		projects     []string // of the post
	}{
		{token("default", access.ClientToken, "development", "default"), "development", 1, 0, nil},
		{token("both", access.FrontendToken, "development", "default", "other"), "development", 1, 1, nil},
		{token("all", access.ClientToken, flags.All, flags.All), "production", 1, 1, nil},
		{token("admin", access.AdminToken, flags.All, flags.All), "development", 1, 1, nil},
		{token("deleted", access.ClientToken, "development", "other").AsDeleted(), "development", 0, 1, nil},
		{token("nowhere", access.ClientToken, flags.All, flags.All), "nowhere", 0, 0, nil},
		{&access.Token{}, "development", 1, 1, nil}, // AUTH_TYPE=none
		{revoked, "development", 0, 0, nil},
		{gone, "development", 0, 0, nil},
		{&access.Token{Hash: "unknown"}, "development", 0, 0, nil},
		{token("edge", access.ClientToken, "development", "default"), "development", 1, 1, []string{flags.All}}, // a report in bulk
	} {
		t.Run(c.token.Name, func(t *testing.T) {
			if c.token.Name != "" {
				w.commit(flags.Write{After: c.token})
			}
			beforeF, beforeG := w.total("f", usage.Day), w.total("g", usage.Day)
			post := newPost(w.now, usage.Count{Feature: "f", Application: "a", Environment: c.environment, Yes: 1},
				usage.Count{Feature: "g", Application: "a", Environment: c.environment, Yes: 1})
			post.TokenHash, post.Projects = c.token.Hash, c.projects
			if err := w.store.PutPost(t.Context(), post); err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(time.Minute)
			w.run()
			if f, g := w.total("f", usage.Day)-beforeF, w.total("g", usage.Day)-beforeG; f != c.wantF || g != c.wantG {
				t.Errorf("f got %d and g %d evaluations, want %d and %d", f, g, c.wantF, c.wantG)
			}
		})
	}
	dynamotest.Check(t, w.store)
}

// TestOFREP counts evaluations through OFREP as uses of their flags, and notes once an hour for which projects all flags were asked for.
func TestOFREP(t *testing.T) {
	w := newWorld(t, "f", "g")
	check := func(project string, want time.Time) {
		t.Helper()
		w.now = w.now.Add(time.Minute)
		w.run()
		var got time.Time
		if asked := find[*usage.AskedForAll](w, usage.AskedForAllKey(project)); asked != nil {
			got = asked.At
		}
		if !got.Equal(want) {
			t.Errorf("all flags of %s were asked for %v, want %v", project, got, want)
		}
	}
	put := func(p *usage.Post) {
		t.Helper()
		if p.ID = uuid.NewString(); w.store.PutPost(t.Context(), p) != nil {
			t.Fatal("not stored")
		}
	}
	all := func(hash string, at time.Time) {
		put(&usage.Post{At: at, TokenHash: hash, Instances: []usage.PostInstance{{Application: usage.OFREP, Environment: "development"}}})
	}
	put(&usage.Post{At: noon, Counts: []usage.Count{{Feature: "f", Application: usage.OFREP, Environment: "development"}}})
	check(flags.DefaultProject, time.Time{})
	for name, want := range map[string]time.Time{"f": noon, "g": {}} {
		f := find[*flags.Feature](w, flags.FeatureKey(name))
		if !f.LastSeenAt.Equal(want) || (f.Phase().Stage == flags.StagePreLive) != !want.IsZero() {
			t.Errorf("%s was seen %v and is %s", name, f.LastSeenAt, f.Phase().Stage)
		}
	}
	token := &access.Token{Hash: "own", Name: "own", Type: access.FrontendToken, Projects: []string{flags.DefaultProject}, Environment: "development", CreatedAt: noon}
	token.Bind(func(string) *flags.Project { return find[*flags.Project](w, flags.ProjectKey(flags.DefaultProject)) }, find[*flags.Environments](w, flags.EnvironmentsKey()))
	w.commit(flags.Write{After: token})
	first := w.now
	all("own", first)
	all("unknown", first)
	check(flags.DefaultProject, first)
	all("own", w.now)
	check(flags.DefaultProject, first)
	check(flags.All, time.Time{})
	w.now = noon.Add(time.Hour)
	all("own", w.now)
	all("", w.now)
	check(flags.DefaultProject, noon.Add(time.Hour))
	check(flags.All, noon.Add(time.Hour))
	if got := find[*flags.Feature](w, flags.FeatureKey("g")); !got.LastSeenAt.IsZero() {
		t.Error("a flag was seen because all were asked for")
	}
	dynamotest.Check(t, w.store)
}

// TestSeenBesideChanges changes a flag between the moments at which the aggregation reads and writes it. The change must win, and
// the next batch must store when the flag was seen.
func TestSeenBesideChanges(t *testing.T) {
	w := newWorld(t, "f")
	w.post(noon, yes("f", 1))
	w.now = noon.Add(time.Minute)
	changed := false
	store := dynamotest.OpenOn(t, dynamotest.Engine(), w.store.Table(), &dynamotest.Faults{OnRequest: func(operation string, _ []byte) {
		if operation == "TransactWriteItems" && !changed {
			changed = true
			before := find[*flags.Feature](w, flags.FeatureKey("f"))
			after := before.Clone()
			after.Stale = true
			w.commit(flags.Write{Before: before, After: after})
		}
	}})
	if _, err := aggregate.New(store, aggregate.Settings{Now: func() time.Time { return w.now }}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := find[*flags.Feature](w, flags.FeatureKey("f")); !changed || !f.Stale || f.Version != 2 || !f.LastSeenAt.IsZero() {
		t.Fatalf("the flag is %+v, want the user's change at version 2", f)
	}
	w.post(w.now, yes("f", 1))
	w.now = w.now.Add(time.Minute)
	w.run()
	f := find[*flags.Feature](w, flags.FeatureKey("f"))
	if want := noon.Add(time.Minute); !f.Stale || f.Version != 2 || !f.LastSeenAt.Equal(want) {
		t.Errorf("the flag is %+v, want it last seen at %s", f, want)
	}
	w.wantTotal("f", 2)
	dynamotest.Check(t, w.store)
}

// TestTooManyApplications reports more applications than a token may have. Their counts must be in the sums.
func TestTooManyApplications(t *testing.T) {
	w := newWorld(t, "f")
	const many = usage.MaxTokenApplications + 20
	for i := range many {
		w.post(noon, usage.Count{Feature: "f", Application: fmt.Sprintf("app-%03d", i), Environment: "development", Yes: 1})
	}
	w.now = noon.Add(time.Minute)
	w.run()
	w.wantTotal("f", many)
	list, err := w.store.List(t.Context(), usage.EntityApplication)
	if err != nil || len(list) != usage.MaxTokenApplications {
		t.Errorf("there are %d applications (%v), want %d", len(list), err, usage.MaxTokenApplications)
	}
}

// TestClockAhead sets the clock back. Runs must fail then, and not do nothing without an error.
func TestClockAhead(t *testing.T) {
	w := newWorld(t, "f")
	w.now = noon.Add(time.Hour)
	w.run()
	for back, fails := range map[time.Duration]bool{time.Minute: false, 30 * time.Minute: true} {
		_, err := aggregate.New(w.store, aggregate.Settings{Now: func() time.Time { return w.now.Add(-back) }}).Run(t.Context())
		if (err != nil) != fails {
			t.Errorf("%s back: %v", back, err)
		}
	}
	w.post(w.now.Add(-time.Minute), yes("f", 1)) // in a period that is looked at again
	w.now = w.now.Add(time.Hour)
	w.run()
	w.wantTotal("f", 1)
}
