package bootstrap_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guidon/internal/engine"
	"guidon/pkg/access"
	"guidon/pkg/bootstrap"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/localtable"
	"guidon/pkg/flags"
)

var (
	running *engine.Engine
	tables  atomic.Int64
)

func TestMain(m *testing.M) {
	e, err := engine.Start(context.Background(), engine.Options{Direct: true, Log: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	running = e
	code := m.Run()
	e.Stop()
	os.Exit(code)
}

func newStore(t *testing.T) *dynamo.Store {
	t.Helper()
	options := dynamo.Options{Table: fmt.Sprintf("bootstrap-%d", tables.Add(1)), Endpoint: running.URL()}
	err := localtable.Create(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	store, err := dynamo.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// seeded summarizes the content of a store after Seed.
type seeded struct {
	Environments []string
	Project      string
	Available    []string
	TagTypes     []flags.TagType
	Tokens       []string
	Events       int // of all these
}

func look(t *testing.T, store *dynamo.Store, secrets ...string) seeded {
	t.Helper()
	keys := []flags.Key{flags.EnvironmentsKey(), flags.ProjectKey(flags.DefaultProject), flags.TagTypesKey()}
	for _, secret := range secrets {
		keys = append(keys, access.TokenKey(access.HashSecret(secret)))
	}
	view, err := store.Load(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	environments := flags.Find[*flags.Environments](view, keys[0])
	project := flags.Find[*flags.Project](view, keys[1])
	tagTypes := flags.Find[*flags.TagTypes](view, keys[2])
	if environments == nil || project == nil || tagTypes == nil {
		t.Fatalf("environments are %v, the project is %v and the tag types are %v", environments, project, tagTypes)
	}
	got := seeded{Project: project.ID + " " + project.Name, TagTypes: tagTypes.List}
	for _, e := range environments.List {
		got.Environments = append(got.Environments,
			fmt.Sprintf("%d %s %s enabled=%t protected=%t", e.SortOrder, e.Name, e.Type, e.Enabled, e.Protected))
	}
	for _, e := range project.AvailableEnvironments(environments) {
		got.Available = append(got.Available, e.Name)
	}
	for _, key := range keys[3:] {
		token := flags.Find[*access.Token](view, key)
		if token == nil {
			t.Fatalf("no token for %s", key.ID)
		}
		got.Tokens = append(got.Tokens, fmt.Sprintf("%s %s %v %s", token.Name, token.NamedType(), token.Projects, token.Environment))
	}
	for _, aggregate := range view {
		list, err := store.Events(t.Context(), aggregate)
		if err != nil {
			t.Fatal(err)
		}
		got.Events += len(list)
	}
	return got
}

const (
	admin   = "*:*.one"
	second  = "*:*.two"
	client  = "default:development.three"
	front   = "[]:*.four.five"
	backend = "*:production.six"
)

func tokens(t *testing.T) []bootstrap.Token {
	t.Helper()
	list, err := bootstrap.TokensFromEnv(func(name string) string {
		return map[string]string{
			"INIT_ADMIN_API_TOKENS": admin + ", " + second + ",", "INIT_CLIENT_API_TOKENS": client,
			"INIT_BACKEND_API_TOKENS": backend, "INIT_FRONTEND_API_TOKENS": front,
		}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var want = seeded{
	Environments: []string{
		"1 default production enabled=false protected=true",
		"2 development development enabled=true protected=false",
		"3 production production enabled=true protected=false",
	},
	Project:   "default Default",
	Available: []string{"development", "production"},
	TagTypes:  []flags.TagType{flags.SimpleTagType},
	Tokens: []string{
		"admin admin [*] *", "admin-2 admin [*] *", "backend backend [*] production", "client client [default] development", "frontend frontend [] *",
	},
	Events: 8,
}

func TestSeed(t *testing.T) {
	store := newStore(t)
	o := bootstrap.Options{Tokens: tokens(t), Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}
	for _, time := range []string{"the first time", "again"} {
		if err := bootstrap.Seed(t.Context(), store, o); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, look(t, store, admin, second, backend, client, front)); diff != "" {
			t.Errorf("after seeding %s (-want +got):\n%s", time, diff)
		}
	}
}

// TestSeedAtOnce seeds a new table from several processes at the same time.
func TestSeedAtOnce(t *testing.T) {
	store := newStore(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := bootstrap.Seed(t.Context(), store, bootstrap.Options{Tokens: tokens(t)}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if diff := cmp.Diff(want, look(t, store, admin, second, backend, client, front)); diff != "" {
		t.Errorf("after seeding (-want +got):\n%s", diff)
	}
}

// TestSeedRefusesOtherForms opens a table whose data says nothing of the version of its forms, as before there was one.
func TestSeedRefusesOtherForms(t *testing.T) {
	store := newStore(t)
	commit(t, store, nil, &flags.Project{ID: "shop", UID: "u"})
	err := bootstrap.Seed(t.Context(), store, bootstrap.Options{})
	if err == nil || !strings.Contains(err.Error(), "export them with a server of that version") {
		t.Errorf("%v, want to be told how to keep the flags", err)
	}
	if all, err := store.List(t.Context(), access.EntityUser); err != nil || len(all) > 0 {
		t.Errorf("%d users (%v), want nothing to be written", len(all), err)
	}
}

// TestSeedKeepsChanges checks that Seed does not undo later changes.
func TestSeedKeepsChanges(t *testing.T) {
	store := newStore(t)
	if err := bootstrap.Seed(t.Context(), store, bootstrap.Options{}); err != nil {
		t.Fatal(err)
	}
	key := flags.ProjectKey(flags.DefaultProject)
	view, err := store.Load(t.Context(), []flags.Key{key})
	if err != nil {
		t.Fatal(err)
	}
	before := flags.Find[*flags.Project](view, key)
	after := before.Clone()
	after.Name = "Renamed"
	change := flags.Change{
		Writes: []flags.Write{{Before: before, After: after}},
		Event:  flags.Event{ID: "0198c0de-0000-7000-8000-000000000000", Type: "project-updated"},
	}
	if err := store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if err := bootstrap.Seed(t.Context(), store, bootstrap.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := look(t, store).Project; got != "default Renamed" {
		t.Errorf("project is %q, want it as it was left", got)
	}
}

func TestTokensThatCannotBe(t *testing.T) {
	tests := []struct {
		name, variable, value, says string
	}{
		{"no shape", "INIT_ADMIN_API_TOKENS", "sesame", "must look like"},
		{"no secret", "INIT_CLIENT_API_TOKENS", "default:development.", "must look like"},
		{"no environment", "INIT_CLIENT_API_TOKENS", "default.abc", "must look like"},
		{"a bad project", "INIT_CLIENT_API_TOKENS", "a b:development.abc", "project"},
		{"a bad environment", "INIT_FRONTEND_API_TOKENS", "default:.abc", "environment"},
		{"an admin token of one project", "INIT_ADMIN_API_TOKENS", "default:*.abc", "*:*."},
		{"the second of a list", "INIT_ADMIN_API_TOKENS", admin + ",sesame", "must look like"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := bootstrap.TokensFromEnv(func(name string) string {
				if name == tt.variable {
					return tt.value
				}
				return ""
			})
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, says := range []string{tt.variable, tt.says} {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("error is %q, want it to contain %q", err, says)
				}
			}
			if strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "abc") {
				t.Errorf("error is %q, which shows the secret", err)
			}
		})
	}
}
