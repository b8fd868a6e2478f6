package access

import (
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
)

// now is the time of these tests.
var now = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

func TestAuthenticate(t *testing.T) {
	tests := []struct {
		name  string
		token *Token
		want  Caller // zero if unauthenticated
	}{
		{"no token", nil, Caller{}},
		{"an admin token", &Token{Name: "a", Type: AdminToken}, Caller{Name: "a", Admin: true}},
		{"a client token", &Token{Name: "c", Type: ClientToken}, Caller{Name: "c"}},
		{"a frontend token", &Token{Name: "f", Type: FrontendToken}, Caller{Name: "f"}},
		{"one that expires later", &Token{Name: "a", Type: AdminToken, ExpiresAt: now.Add(time.Nanosecond)}, Caller{Name: "a", Admin: true}},
		{"one that expires now", &Token{Name: "a", Type: AdminToken, ExpiresAt: now}, Caller{}},
		{"one that has expired", &Token{Name: "a", Type: AdminToken, ExpiresAt: now.Add(-time.Hour)}, Caller{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Authenticate(tt.token, now)
			if got != tt.want {
				t.Errorf("caller %+v, want %+v", got, tt.want)
			}
			if refused := tt.want == (Caller{}); (err != nil) != refused || refused && flags.KindOf(err) != flags.Unauthenticated {
				t.Errorf("error %v, want Unauthenticated: %t", err, refused)
			}
		})
	}
}

func TestAuthorize(t *testing.T) {
	if err := (Caller{Name: "a", Admin: true}).Authorize(UpdateFeature, nil, ""); err != nil {
		t.Errorf("an admin: %v, want no error", err)
	}
	for _, permission := range []Permission{Read, CreateFeature, CreateProject} {
		err := Caller{Name: "c"}.Authorize(permission, nil, "")
		if err == nil || flags.KindOf(err) != flags.Forbidden || !strings.Contains(err.Error(), string(permission)) {
			t.Errorf("another, %s: %v, want Forbidden with the permission in it", permission, err)
		}
	}
}

func TestHashSecret(t *testing.T) {
	secret := "*:*.secret"
	hash := HashSecret(secret)
	if len(hash) != 64 || strings.Contains(hash, "secret") || hash == HashSecret(secret+"x") {
		t.Errorf("hash %q, want 64 hex digits of its own", hash)
	}
	if got, want := (&Token{Hash: hash}).Key(), TokenKey(hash); got != want {
		t.Errorf("key %v, want %v", got, want)
	}
}
