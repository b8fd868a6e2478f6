package oidc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/internal/oidctest"
	"guidon/pkg/access"
)

// TestClaims signs in people of whom the provider says various things.
func TestClaims(t *testing.T) {
	many := make([]string, maxGroups+1)
	for i := range many {
		many[i] = strings.Repeat("g", 1+i%5)
	}
	tests := []struct {
		name   string
		person oidctest.Person
		refuse string // part of the error, "" if the sign-in works
		want   access.Identity
	}{
		{"no groups", oidctest.Person{}, "", access.Identity{}},
		{"list of groups", oidctest.Person{Claims: map[string]any{"groups": []string{"a", "b"}}}, "", access.Identity{Groups: []string{"a", "b"}}},
		{"one group as text", oidctest.Person{Claims: map[string]any{"groups": "a"}}, "", access.Identity{Groups: []string{"a"}}},
		{"groups are null", oidctest.Person{Claims: map[string]any{"groups": nil}}, "", access.Identity{}},
		{"as many groups as possible", oidctest.Person{Claims: map[string]any{"groups": many[:maxGroups]}}, "", access.Identity{Groups: many[:maxGroups]}},
		{"too many groups", oidctest.Person{Claims: map[string]any{"groups": many}}, "501 groups", access.Identity{}},
		{"group with a long name", oidctest.Person{Claims: map[string]any{"groups": []string{strings.Repeat("g", 257)}}}, "257 bytes", access.Identity{}},
		{"group with a control character", oidctest.Person{Claims: map[string]any{"groups": []string{"a\x00"}}}, "printable", access.Identity{}},
		{"groups are a number", oidctest.Person{Claims: map[string]any{"groups": 5}}, "list of texts", access.Identity{}},
		{"groups are elsewhere", oidctest.Person{Claims: map[string]any{
			"_claim_names":   map[string]string{"groups": "src1"},
			"_claim_sources": map[string]any{"src1": map[string]string{"endpoint": "https://graph.example.com"}},
		}}, "too many groups", access.Identity{}},
		{"verified e-mail", oidctest.Person{Email: "a@example.com", EmailVerified: true}, "", access.Identity{Email: "a@example.com", EmailVerified: true}},
		{"e-mail that is not verified", oidctest.Person{Email: "a@example.com"}, "", access.Identity{Email: "a@example.com"}},
		{"e-mail without a domain", oidctest.Person{Email: "a@example", EmailVerified: true}, "", access.Identity{}},
		{"not an e-mail", oidctest.Person{Email: "a b@example.com"}, "not an e-mail", access.Identity{}},
		{"e-mail with a name", oidctest.Person{Email: "A <a@example.com>"}, "not an e-mail", access.Identity{}},
		{"long e-mail", oidctest.Person{Email: strings.Repeat("a", 250) + "@example.com"}, "not an e-mail", access.Identity{}},
		{"long subject", oidctest.Person{ID: strings.Repeat("s", 256)}, "256 bytes", access.Identity{}},
	}
	h := newHarness(t, map[string]string{"OIDC_GROUP_ROLES": "a=Admin"})
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			person := test.person
			if person.ID == "" {
				person.ID = "p" + string(rune('a'+i))
			}
			h.idp.Put(person)
			browser := newBrowser(t)
			back, err := h.idp.SignIn(browser, h.begin(browser, "/").String(), person.ID)
			if err != nil {
				t.Fatal(err)
			}
			h.open(browser, back.String())
			if test.refuse != "" {
				h.wantCode(Refused, test.refuse)
				return
			}
			if h.err != nil {
				t.Fatal(h.err)
			}
			want := test.want
			want.Issuer, want.Subject, want.Username = h.idp.Issuer, person.ID, person.ID
			want.Name = h.who.Name
			if diff := cmp.Diff(&want, h.who); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNames checks names without a provider, whose example builds them itself.
func TestNames(t *testing.T) {
	who, err := newIdentity(Settings{}, "s", claims{
		"name":               []byte(`"` + strings.Repeat("ä", 101) + `"`),
		"preferred_username": []byte(`" a\u0000b\u202ec\n "`),
		"email":              []byte(`"a@example.com"`),
		"email_verified":     []byte(`"true"`),
		"groups":             []byte(`{"not":"used"}`),
	})
	if err != nil || who.Name != strings.Repeat("ä", 100) || who.Username != "abc" || !who.EmailVerified || who.Groups != nil {
		t.Errorf("identity %+v, %v", who, err)
	}
	if _, err := newIdentity(Settings{}, "s", claims{"name": []byte(`5`)}); err == nil {
		t.Error("a name that is a number is accepted")
	}
}
