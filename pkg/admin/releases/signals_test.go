package releases_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

const signalsPath = "/api/admin/projects/default/environments/development/signals"

// newSignal creates a signal and returns its secret.
func newSignal(t *testing.T, s *apitest.Server, path, name string) string {
	t.Helper()
	return apitest.SecretIn(s.Must(t, "POST", path, fmt.Sprintf(`{"name":%q}`, name)).Body)
}

// post posts a signal as a monitoring system does, and returns the status.
func post(t *testing.T, s *apitest.Server, name, secret, body string) int {
	t.Helper()
	return s.Do(t, "POST", "/api/signals/"+name, body, "Authorization: Bearer "+secret).Status
}

func TestSignals(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	secret := newSignal(t, s, signalsPath, "errors")
	other := newSignal(t, s, strings.Replace(signalsPath, "development", "production", 1), "errors")
	status := func(want string) {
		t.Helper()
		s.Check(t, apitest.Call{"the list", "GET", signalsPath, "", 200, `[{"...":0,"name":"errors","status":` + want + `}]`})
	}
	status(`null`)
	for body, want := range map[string]int{
		`{"status":"firing","id":9007199254740993,"alerts":[{"status":"firing"}]}`: 204,
		`{"status":"on"}`: 400, `{}`: 400, `[]`: 400, `{"status":null}`: 400,
		`{"status":"ok","text":"` + strings.Repeat("x", 16<<10) + `"}`: 413,
	} {
		if got := post(t, s, "errors", secret, body); got != want {
			t.Errorf("%.40s: status %d, want %d", body, got, want)
		}
	}
	status(`"firing"`)
	before := s.Do(t, "GET", signalsPath, "").Body
	if got := post(t, s, "errors", secret, `{"status":"triggered"}`); got != 204 {
		t.Errorf("an equal signal has status %d", got)
	}
	if after := s.Do(t, "GET", signalsPath, "").Body; after != before {
		t.Errorf("an equal signal within a minute was stored: %s after %s", after, before)
	}
	post(t, s, "errors", other, `{"status":"resolved"}`)
	status(`"firing"`) // the secret was of the other environment
	post(t, s, "errors", secret, `{"status":"ok"}`)
	status(`"resolved"`)

	for name, stranger := range map[string]string{"errors": "signal.nosuch.0", "other": secret, "error": secret + "0"} {
		if got := post(t, s, name, stranger, `{"status":"firing"}`); got != http.StatusUnauthorized {
			t.Errorf("%s: status %d, want 401", name, got)
		}
	}
	rotated := apitest.SecretIn(s.Must(t, "POST", signalsPath+"/errors/rotate", "").Body)
	if old, now := post(t, s, "errors", secret, `{"status":"firing"}`), post(t, s, "errors", rotated, `{"status":"firing"}`); old != 401 || now != 204 {
		t.Errorf("after a rotation the secrets have the statuses %d and %d", old, now)
	}
	s.Run(t, []apitest.Call{
		{"the name is taken", "POST", signalsPath, `{"name":"errors"}`, 409, apitest.Failure("NameExistsError", "errors")},
		{"no name", "POST", signalsPath, `{"name":"Errors!"}`, 400, apitest.Anything},
		{"delete", "DELETE", signalsPath + "/errors", "", 200, apitest.Anything},
		{"delete again", "DELETE", signalsPath + "/errors", "", 404, apitest.NotFound("errors")},
		{"rotate", "POST", signalsPath + "/errors/rotate", "", 404, apitest.NotFound("errors")},
	})
	if got := post(t, s, "errors", rotated, `{"status":"firing"}`); got != 401 {
		t.Errorf("a deleted signal has status %d", got)
	}
}

// TestSignalsOfRemovedEnvironment removes an environment from the project and adds it again: its signals do not return.
func TestSignalsOfRemovedEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	secret := newSignal(t, s, signalsPath, "errors")
	s.Must(t, "DELETE", "/api/admin/projects/default/environments/development", "")
	if got := post(t, s, "errors", secret, `{"status":"firing"}`); got != 401 {
		t.Errorf("status %d of a signal of a removed environment", got)
	}
	s.Must(t, "POST", "/api/admin/projects/default/environments", `{"environment":"development"}`)
	if got := post(t, s, "errors", secret, `{"status":"firing"}`); got != 401 {
		t.Errorf("status %d of a signal of an environment that was added again", got)
	}
	s.Check(t, apitest.Call{"the list", "GET", signalsPath, "", 200, `[]`})
}

func TestSignalLimit(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for i := range 50 {
		newSignal(t, s, signalsPath, fmt.Sprint("s-", i))
	}
	s.Check(t, apitest.Call{"one more", "POST", signalsPath, `{"name":"more"}`, 409, apitest.Failure("ConflictError", "50")})
}
