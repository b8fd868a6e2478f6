package admin_test

import (
	"encoding/base64"
	"testing"

	"guidon/pkg/flags"
)

// TestProjectUIDs checks the UIDs of projects. Nothing checks that a new UID is unique, so each needs 96 random bits.
func TestProjectUIDs(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.run(t, []call{{"create", "POST", projects, `{"id":"one","name":"One"}`, 201, anything}, {"create another", "POST", projects, `{"id":"two","name":"Two"}`, 201, anything}})
	seen := map[string]bool{}
	for _, id := range []string{"default", "one", "two"} {
		view, err := s.store.Load(t.Context(), []flags.Key{flags.ProjectKey(id)})
		if err != nil {
			t.Fatal(err)
		}
		uid := flags.Find[*flags.Project](view, flags.ProjectKey(id)).UID
		if raw, err := base64.RawURLEncoding.DecodeString(uid); err != nil || len(raw) < 12 || seen[uid] {
			t.Errorf("the UID of %s is %q, want 96 unique bits", id, uid)
		}
		seen[uid] = true
	}
}

// TestPlainNames checks that display names of projects and names of users that look like others are rejected, and not
// trimmed.
func TestPlainNames(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.run(t, []call{
		{"a project", "POST", projects, `{"id":"plain","name":"Équipe 👩 1"}`, 201, anything},
		{"a user", "POST", people, `{"username":"plain","name":"Ada Lovelace","rootRole":3}`, 201, `{"...":0,"id":2}`},
	})
	for _, name := range []string{
		"❤", "❤\ufe0f", "Go 1\ufe0f\u20e3", "🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F England", "葛\U000E0100", "ᠠ\u180b",
	} {
		s.run(t, []call{
			{"project " + name, "PUT", projects + "/plain", `{"name":"` + name + `"}`, 200, ""},
			{"user " + name, "PUT", people + "/2", `{"name":"` + name + `"}`, 200, anything},
		})
	}
	for _, name := range []string{
		"\ufe0f", "a\ufe0f", "1\ufe0f", "❤\ufe0f\ufe0f", "a\ufe00", "a\U000E0100", "\u2800", "a\u2800b", "🏴\U000E0067\U000E0062", "a\U000E0067\U000E007F", "🏴\U000E0061\U000E0062\U000E007F",
		"\u180b\u180b", "a\u180b\u180b", "a\u180e\u180b", "①\ufe0e", "\U0001D159",
		" x", "x ", "x\\n", "a\\tb", "a\\u200bb", "a\\u200db", "\\ufeffx", "a\\u00adb", "a\\u034fb", "a\\u202eb", "a\\u0000b", "a\\u3164b",
	} {
		s.run(t, []call{
			{"new project " + name, "POST", projects, `{"name":"` + name + `"}`, 400, faulty("/name: must not")},
			{"project " + name, "PUT", projects + "/plain", `{"name":"` + name + `"}`, 400, faulty("/name: must not")},
			{"new user " + name, "POST", people, `{"username":"other","name":"` + name + `","rootRole":3}`, 400, faulty("/name: must not")},
			{"user " + name, "PUT", people + "/2", `{"name":"` + name + `"}`, 400, faulty("/name: must not")},
			{"user name " + name, "POST", people, `{"username":"` + name + `","rootRole":3}`, 400, faulty("/username: must not")},
		})
	}
}
