package admin_test

import (
	"testing"

	"guidon/pkg/apitest"
)

// TestPlainNames checks that display names of projects and names of users that look like others are rejected, and not
// trimmed.
func TestPlainNames(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Run(t, []apitest.Call{
		{"a project", "POST", apitest.Projects, `{"id":"plain","name":"Équipe 👩 1"}`, 201, apitest.Anything},
		{"a user", "POST", apitest.Users, `{"username":"plain","name":"Ada Lovelace","rootRole":3}`, 201, `{"...":0,"id":2}`},
	})
	for _, name := range []string{
		"❤", "❤\ufe0f", "Go 1\ufe0f\u20e3", "🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F England", "葛\U000E0100", "ᠠ\u180b",
	} {
		s.Run(t, []apitest.Call{
			{"project " + name, "PUT", apitest.Projects + "/plain", `{"name":"` + name + `"}`, 200, ""},
			{"user " + name, "PUT", apitest.Users + "/2", `{"name":"` + name + `"}`, 200, apitest.Anything},
		})
	}
	for _, name := range []string{
		"\ufe0f", "a\ufe0f", "1\ufe0f", "❤\ufe0f\ufe0f", "a\ufe00", "a\U000E0100", "\u2800", "a\u2800b", "🏴\U000E0067\U000E0062", "a\U000E0067\U000E007F", "🏴\U000E0061\U000E0062\U000E007F",
		"\u180b\u180b", "a\u180b\u180b", "a\u180e\u180b", "①\ufe0e", "\U0001D159",
		" x", "x ", "x\\n", "a\\tb", "a\\u200bb", "a\\u200db", "\\ufeffx", "a\\u00adb", "a\\u034fb", "a\\u202eb", "a\\u0000b", "a\\u3164b",
	} {
		s.Run(t, []apitest.Call{
			{"new project " + name, "POST", apitest.Projects, `{"name":"` + name + `"}`, 400, apitest.Faulty("/name: must not")},
			{"project " + name, "PUT", apitest.Projects + "/plain", `{"name":"` + name + `"}`, 400, apitest.Faulty("/name: must not")},
			{"new user " + name, "POST", apitest.Users, `{"username":"other","name":"` + name + `","rootRole":3}`, 400, apitest.Faulty("/name: must not")},
			{"user " + name, "PUT", apitest.Users + "/2", `{"name":"` + name + `"}`, 400, apitest.Faulty("/name: must not")},
			{"user name " + name, "POST", apitest.Users, `{"username":"` + name + `","rootRole":3}`, 400, apitest.Faulty("/username: must not")},
		})
	}
}
