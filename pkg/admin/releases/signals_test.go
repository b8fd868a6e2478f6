package releases_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
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

// TestSignalOfManyPlans has a signal fire that more plans name than act in its request. The run of the next minute has the others act, although the
// signal is quiet again, but not those that have begun since.
func TestSignalOfManyPlans(t *testing.T) {
	t.Parallel()
	clock := apitest.NewClock()
	s := apitest.ServeAt(t, clock)
	secret := newSignal(t, s, signalsPath, "errors")
	const plans = 23
	var names []string
	for i := range plans {
		name := fmt.Sprint("f-", i)
		names = append(names, name)
		s.Create(t, name)
		s.Must(t, "POST", plansOf(name), guarded([]string{share(10)}, safeguard("errors", "off")))
		s.Must(t, "POST", apitest.In(name, "development")+"/on", "")
	}
	isOff := func(name string) bool {
		return strings.Contains(s.Must(t, "GET", plansOf(name), "").Body, `"state":"off"`)
	}
	off := func() (n int) { return plans - len(slices.DeleteFunc(slices.Clone(names), isOff)) }
	clock.Advance(time.Second)
	if status, n := post(t, s, "errors", secret, `{"status":"firing"}`), off(); status != 204 || n != 20 {
		t.Errorf("status %d, and %d flags are off; want 20", status, n)
	}
	clock.Advance(time.Second)
	post(t, s, "errors", secret, `{"status":"resolved"}`)
	left := slices.DeleteFunc(slices.Clone(names), isOff)
	s.Must(t, "POST", apitest.In(left[0], "development")+"/off", "")
	s.Must(t, "POST", apitest.In(left[0], "development")+"/on", "")
	minute(t, s, clock, nil, 2)
	if n := off(); n != plans-1 || isOff(left[0]) {
		t.Errorf("%d flags are off after a minute, want all but %s, which began after the signal had fired", n, left[0])
	}
}

// TestSignalsOnFailingStore posts signals while the store does not answer: the sender is to send them again, and has the whole effect then.
func TestSignalsOnFailingStore(t *testing.T) {
	t.Parallel()
	faults := &dynamotest.Faults{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	s.Create(t, "f")
	secret := newSignal(t, s, signalsPath, "errors")
	s.Must(t, "POST", plansOf("f"), guarded([]string{share(10)}, safeguard("errors", "off")))
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	for _, fails := range []string{"PutItem", "TransactWriteItems"} { // to store the signal, and to have the safeguard act
		faults.Change(func(f *dynamotest.Faults) {
			f.Script = func(operation string, _ int) dynamotest.Fault {
				if operation == fails {
					return dynamotest.Throttle
				}
				return dynamotest.NoFault
			}
		})
		got := s.Do(t, "POST", "/api/signals/errors", `{"status":"firing"}`, "Authorization: Bearer "+secret)
		if got.Status != 503 || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s fails: status %d, Retry-After %q; want 503 with one", fails, got.Status, got.Header.Get("Retry-After"))
		}
		faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
		stands(t, s, "last", 1, "10")
	}
	if got := post(t, s, "errors", secret, `{"status":"firing"}`); got != 204 {
		t.Errorf("status %d of the signal that was sent again, want 204", got)
	}
	stands(t, s, "off", 1, "10")
}

// TestSignalCalls counts the calls to DynamoDB of a signal, as docs/interface.md tells them.
func TestSignalCalls(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	secret := newSignal(t, s, signalsPath, "errors")
	for _, c := range []struct {
		name, secret, body string
		calls              int
	}{
		{"a secret of another form", "signal.x", `{"status":"firing"}`, 0},
		{"a stranger's", "signal.x.y", `{"status":"firing"}`, 1},
		{"resolved", secret, `{"status":"resolved"}`, 3},
		{"the same again", secret, `{"status":"ok"}`, 2},
		{"firing", secret, `{"status":"firing"}`, 5},
		{"the same again", secret, `{"status":"firing"}`, 4},
	} {
		if got := count.During(func() { post(t, s, "errors", c.secret, c.body) }); len(got) != c.calls {
			t.Errorf("%s: %d calls %v, want %d", c.name, len(got), got, c.calls)
		}
	}
	for n := 1; n <= 3; n++ { // flags
		post(t, s, "errors", secret, `{"status":"resolved"}`)
		for i := range n {
			name := fmt.Sprint("of-", n, "-", i)
			s.Create(t, name)
			s.Must(t, "POST", plansOf(name), guarded([]string{share(10)}, safeguard("errors", "off")))
			s.Must(t, "POST", apitest.In(name, "development")+"/on", "")
		}
		if got := count.During(func() { post(t, s, "errors", secret, `{"status":"firing"}`) }); len(got) != 9+n {
			t.Errorf("safeguards of %d flags act: %d calls %v, want %d", n, len(got), got, 9+n)
		}
	}
}
