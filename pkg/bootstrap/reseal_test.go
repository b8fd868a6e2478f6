package bootstrap_test

import (
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/bootstrap"
	"guidon/pkg/flags"
	"guidon/pkg/seal"
)

// TestSeedEncryptsAgain replaces the key as docs/operations/rotate.md does. Afterwards the new key alone decrypts the secrets of tokens,
// signup tokens and addons, and another Seed writes nothing. A secret whose key is missing stays.
func TestSeedEncryptsAgain(t *testing.T) {
	store := newStore(t)
	old, other, lost := strings.Repeat("a", seal.MinKey), strings.Repeat("b", seal.MinKey), box(t, "c")
	before := box(t, "a")
	seed(t, store, before, tokens(t)...)
	signup := &access.SignupToken{Hash: access.HashSecret("sign-up"), Name: "sign-up"}
	signup.Sealed = before.Seal("sign-up", signup.Hash)
	commit(t, store, nil, signup)
	secret := func(addon int64) string { return flags.AddonSecret(addon, flags.AddonURL) }
	commit(t, store, nil, &flags.Addons{List: []flags.Addon{
		{ID: 1, Provider: flags.AddonWebhook, Sealed: map[string]string{flags.AddonURL: before.Seal("https://example.com", secret(1))}},
		{ID: 2, Provider: flags.AddonWebhook, Sealed: map[string]string{flags.AddonURL: lost.Seal("https://example.com", secret(2))}},
	}})

	both, err := seal.New(other + "\n" + old)
	if err != nil {
		t.Fatal(err)
	}
	after, written := box(t, "b"), int64(0)
	for range 2 {
		if err := bootstrap.Seed(t.Context(), store, bootstrap.Options{Sealer: both}); err != nil {
			t.Fatal(err)
		}
		token := load(t, store, client)
		if got, err := after.Open(token.Sealed, token.Hash); err != nil || got != client {
			t.Errorf("the new key opens the token: %q, %v", got, err)
		}
		view, err := store.Load(t.Context(), []flags.Key{signup.Key(), flags.AddonsKey()})
		if err != nil {
			t.Fatal(err)
		}
		stored := flags.Find[*access.SignupToken](view, signup.Key())
		if got, err := after.Open(stored.Sealed, stored.Hash); err != nil || got != "sign-up" {
			t.Errorf("the new key opens the signup token: %q, %v", got, err)
		}
		addons := flags.Find[*flags.Addons](view, flags.AddonsKey())
		if got, err := addons.List[0].OpenParameters(after); err != nil || got[flags.AddonURL] != "https://example.com" {
			t.Errorf("the new key opens the addon: %v, %v", got, err)
		}
		if _, err := addons.List[1].OpenParameters(lost); err != nil {
			t.Errorf("a secret whose key is missing has changed: %v", err)
		}
		sum := token.Version + stored.Version + addons.Version
		if written != 0 && written != sum {
			t.Errorf("the second Seed wrote: versions %d, then %d", written, sum)
		}
		written = sum
	}
}
