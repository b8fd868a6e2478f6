package seal

import (
	"strings"
	"testing"
)

const (
	secret = "*:*.0123456789abcdef"
	hash   = "hash-of-it"
)

func box(t *testing.T, keys ...string) *Box {
	t.Helper()
	b, err := New(strings.Join(keys, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var (
	first  = strings.Repeat("a", MinKey)
	second = strings.Repeat("b", MinKey)
)

func TestSealAndOpen(t *testing.T) {
	b := box(t, first)
	sealed := b.Seal(secret, hash)
	if got, err := b.Open(sealed, hash); err != nil || got != secret {
		t.Errorf("opened %q, %v; want %q", got, err, secret)
	}
	if again := b.Seal(secret, hash); again == sealed {
		t.Errorf("sealed twice to the same %q, want another nonce", sealed)
	}
	if strings.Contains(sealed, "0123") || strings.Contains(sealed, first[:8]) {
		t.Errorf("%q shows a secret", sealed)
	}
}

func TestOpenErrors(t *testing.T) {
	b := box(t, first)
	sealed := b.Seal(secret, hash)
	id, text, _ := strings.Cut(sealed, ".")
	flipped := []byte(text)
	flipped[5] ^= 1
	tests := []struct{ name, sealed, hash, says string }{
		{"of another token", sealed, "another", "altered"},
		{"altered", id + "." + string(flipped), hash, "altered"},
		{"truncated", sealed[:len(sealed)-1], hash, "altered"},
		{"no nonce", id + ".AAAA", hash, "altered"},
		{"not base64", id + ".???", hash, "altered"},
		{"another key", box(t, second).Seal(secret, hash), hash, "no key"},
		{"empty", "", hash, "no key"},
		{"the secret itself", secret, hash, "no key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := b.Open(tt.sealed, tt.hash)
			if err == nil || got != "" || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("opened %q, %v; want an error with %q", got, err, tt.says)
			}
			if err != nil && strings.Contains(err.Error(), "0123456789abcdef") {
				t.Errorf("error %q shows the secret", err)
			}
		})
	}
}

// TestKeyRotation follows the steps in the package documentation.
func TestKeyRotation(t *testing.T) {
	old := box(t, first)
	both, moved := box(t, first, second), box(t, second, first)
	byOld, byNew := both.Seal(secret, hash), moved.Seal(secret, hash)
	for name, c := range map[string]struct {
		box    *Box
		sealed string
		opens  bool
	}{
		"old key, before": {old, byOld, true}, "old key, after the new one was moved": {moved, byOld, true},
		"new key, while it is second": {both, byNew, true}, "new key, before it was added": {old, byNew, false},
	} {
		if got, err := c.box.Open(c.sealed, hash); (err == nil) != c.opens || c.opens && got != secret {
			t.Errorf("%s: %q, %v; want it to open: %t", name, got, err, c.opens)
		}
	}
}

func TestInvalidKeys(t *testing.T) {
	for name, keys := range map[string]string{
		"none": "", "blank": " \n\t\n", "too short": strings.Repeat("k", MinKey-1), "the second too short": first + "\nkkk",
	} {
		if _, err := New(keys); err == nil || strings.Contains(err.Error(), "kkk") {
			t.Errorf("%s: error %v, want one without a key", name, err)
		}
	}
}
