package bootstrap_test

import (
	"slices"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/bootstrap"
	"guidon/pkg/flags"
	"guidon/pkg/seal"
)

func box(t *testing.T, key string) flags.Sealer {
	t.Helper()
	b, err := seal.New(strings.Repeat(key, seal.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func seed(t *testing.T, store bootstrap.Store, sealer flags.Sealer, tokens ...bootstrap.Token) {
	t.Helper()
	if err := bootstrap.Seed(t.Context(), store, bootstrap.Options{Tokens: tokens, Sealer: sealer}); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, store flags.Store, secret string) *access.Token {
	t.Helper()
	key := access.TokenKey(access.HashSecret(secret))
	view, err := store.Load(t.Context(), []flags.Key{key})
	if err != nil {
		t.Fatal(err)
	}
	return flags.Find[*access.Token](view, key)
}

func commit(t *testing.T, store flags.Store, before, after flags.Aggregate) {
	t.Helper()
	change := flags.Change{Writes: []flags.Write{{Before: before, After: after}}, Event: flags.Event{ID: "event", Type: "test"}}
	if err := store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

// TestSeedSealsTokens checks that lists show the secrets of seeded tokens, including those that were seeded without a key
// and those whose key was lost. A Seed that changes nothing records no event.
func TestSeedSealsTokens(t *testing.T) {
	store := newStore(t)
	for _, step := range []struct {
		name   string
		sealer flags.Sealer
		events int
	}{
		{"without a key", nil, 1}, {"the first time with a key", box(t, "a"), 2}, {"again", box(t, "a"), 2}, {"with another key", box(t, "b"), 3},
	} {
		seed(t, store, step.sealer, tokens(t)...)
		list, err := store.List(t.Context(), access.EntityToken)
		if err != nil || len(list) != 5 {
			t.Fatalf("%s: %d tokens, %v; want 5", step.name, len(list), err)
		}
		for _, a := range list {
			token := a.(*access.Token)
			if step.sealer == nil {
				continue
			}
			if secret, err := step.sealer.Open(token.Sealed, token.Hash); err != nil || access.HashSecret(secret) != token.Hash {
				t.Errorf("%s: the secret of %s is %q, %v", step.name, token.Name, secret, err)
			}
		}
		if events, err := store.Events(t.Context(), load(t, store, admin)); err != nil || len(events) != step.events {
			t.Errorf("%s: %d events, %v; want %d", step.name, len(events), err, step.events)
		}
	}
}

func TestSeedKeepsDeletedTokens(t *testing.T) {
	store := newStore(t)
	seed(t, store, box(t, "a"), tokens(t)...)
	token := load(t, store, client)
	commit(t, store, token, token.AsDeleted())
	seed(t, store, box(t, "a"), tokens(t)...)
	if got := load(t, store, client); !got.Deleted || got.Sealed != "" {
		t.Errorf("token %+v, want it deleted still", got)
	}
}

// TestSeedFindsNames changes the list of secrets between starts: new tokens get names that are not taken.
func TestSeedFindsNames(t *testing.T) {
	store := newStore(t)
	start := func(secrets ...string) {
		t.Helper()
		list, err := bootstrap.TokensFromEnv(func(name string) string {
			return map[string]string{"INIT_ADMIN_API_TOKENS": strings.Join(secrets, ",")}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		seed(t, store, box(t, "a"), list...)
	}
	start("*:*.one", "*:*.two")
	start("*:*.three", "*:*.one")
	start("*:*.four")
	for secret, want := range map[string]string{"*:*.one": "admin", "*:*.two": "admin-2", "*:*.three": "admin-3", "*:*.four": "admin-4"} {
		if got := load(t, store, secret); got == nil || got.Name != want {
			t.Errorf("token of %s is %+v, want it named %s", secret, got, want)
		}
	}
}

// TestSeedBindsTokens checks that tokens are bound to their projects when those exist, and not to later ones with the name.
func TestSeedBindsTokens(t *testing.T) {
	store := newStore(t)
	token, err := bootstrap.ParseToken(access.ClientToken, "shop:production.secret")
	if err != nil {
		t.Fatal(err)
	}
	token.Name = "client"
	bound := func(when, project string) {
		t.Helper()
		seed(t, store, box(t, "a"), token)
		got := load(t, store, token.Secret)
		want := []string{project}
		if project == "" {
			want = nil
		}
		if !slices.Equal(got.ProjectUIDs, want) || got.EnvironmentUID == "" {
			t.Errorf("%s: bound to %q in %q, want %q and the environment", when, got.ProjectUIDs, got.EnvironmentUID, want)
		}
	}
	bound("before there is a project", "")
	project := &flags.Project{ID: "shop", UID: "first"}
	commit(t, store, nil, project)
	bound("once it is there", "first")
	project.Version = 1
	commit(t, store, project, nil)
	commit(t, store, nil, &flags.Project{ID: "shop", UID: "second"})
	bound("when it was deleted and created again", "first")
}
