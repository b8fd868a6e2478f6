package serving

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// A randomChange is a request that may fail: with a 4xx.
type randomChange func(a *administration, r *rand.Rand)

func flagName(r *rand.Rand) string { return fmt.Sprintf("flag-%d", r.IntN(8)) }

func projectName(r *rand.Rand) string {
	return []string{"default", "team", "other"}[r.IntN(3)]
}

func environmentName(r *rand.Rand) string {
	return []string{"development", "production", "qa"}[r.IntN(3)]
}

// at is the path of a random flag of a random project in a random environment.
func at(r *rand.Rand) string {
	return fmt.Sprintf("/api/admin/projects/%s/features/%s/environments/%s", projectName(r), flagName(r), environmentName(r))
}

var randomChanges = []randomChange{
	func(a *administration, r *rand.Rand) {
		a.try("POST", "/api/admin/projects/"+projectName(r)+"/features", fmt.Sprintf(`{"name": %q}`, flagName(r)))
	},
	func(a *administration, r *rand.Rand) { a.try("POST", at(r)+"/on", "") },
	func(a *administration, r *rand.Rand) { a.try("POST", at(r)+"/off", "") },
	func(a *administration, r *rand.Rand) {
		segments := ""
		if r.IntN(2) == 0 {
			segments = fmt.Sprint(1 + r.IntN(6))
		}
		a.try("POST", at(r)+"/strategies", fmt.Sprintf(`{"name": "flexibleRollout", "parameters": {"rollout": "%d"}, "segments": [%s]}`, r.IntN(100), segments))
	},
	func(a *administration, r *rand.Rand) {
		a.try("PUT", at(r)+"/variants", fmt.Sprintf(`[{"name": "a", "weight": 1000, "weightType": "variable", "stickiness": "default", "payload": {"type": "string", "value": "%d"}}]`, r.IntN(9)))
	},
	func(a *administration, r *rand.Rand) {
		a.try("DELETE", "/api/admin/projects/"+projectName(r)+"/features/"+flagName(r), "")
	},
	func(a *administration, r *rand.Rand) { a.try("POST", "/api/admin/archive/revive/"+flagName(r), "") },
	func(a *administration, r *rand.Rand) {
		a.try("POST", "/api/admin/projects/"+projectName(r)+"/features/"+flagName(r)+"/changeProject", fmt.Sprintf(`{"newProjectId": %q}`, projectName(r)))
	},
	func(a *administration, r *rand.Rand) {
		a.try("POST", "/api/admin/projects/"+projectName(r)+"/features/"+flagName(r)+"/dependencies", fmt.Sprintf(`{"feature": %q}`, flagName(r)))
	},
	func(a *administration, r *rand.Rand) {
		a.try("DELETE", "/api/admin/projects/"+projectName(r)+"/features/"+flagName(r)+"/dependencies", "")
	},
	func(a *administration, r *rand.Rand) {
		a.try("POST", "/api/admin/features/"+flagName(r)+"/tags", `{"type": "simple", "value": "t"}`)
	},
	func(a *administration, r *rand.Rand) {
		owner := ""
		if r.IntN(3) == 0 {
			owner = fmt.Sprintf(`, "project": %q`, projectName(r))
		}
		a.try("POST", "/api/admin/segments", fmt.Sprintf(`{"name": "segment-%d", "constraints": []%s}`, r.IntN(6), owner))
	},
	func(a *administration, r *rand.Rand) {
		a.try("PUT", fmt.Sprintf("/api/admin/segments/%d", 1+r.IntN(6)), fmt.Sprintf(
			`{"name": "segment-%d", "constraints": [{"contextName": "userId", "operator": "IN", "values": ["%d"]}]}`, r.IntN(6), r.IntN(9)))
	},
	func(a *administration, r *rand.Rand) {
		a.try("DELETE", fmt.Sprintf("/api/admin/segments/%d", 1+r.IntN(6)), "")
	},
	func(a *administration, r *rand.Rand) {
		id := projectName(r)
		a.try("POST", "/api/admin/projects", fmt.Sprintf(`{"id": %q, "name": %[1]q}`, id))
	},
	func(a *administration, r *rand.Rand) { a.try("DELETE", "/api/admin/projects/"+projectName(r), "") },
	func(a *administration, r *rand.Rand) {
		a.try("POST", "/api/admin/projects/"+projectName(r)+"/environments", fmt.Sprintf(`{"environment": %q}`, environmentName(r)))
	},
	func(a *administration, r *rand.Rand) {
		a.try("DELETE", "/api/admin/projects/"+projectName(r)+"/environments/"+environmentName(r), "")
	},
	func(a *administration, r *rand.Rand) {
		a.try("POST", "/api/admin/environments", `{"name": "qa", "type": "test"}`)
	},
	func(a *administration, r *rand.Rand) { a.try("DELETE", "/api/admin/environments/qa", "") },
	func(a *administration, r *rand.Rand) {
		if secret := a.apiToken(environmentName(r), projectName(r)); secret != "" {
			a.secrets = append(a.secrets, secret)
		}
	},
	func(a *administration, r *rand.Rand) {
		a.try("PUT", "/api/admin/api-tokens/"+a.secret(r), fmt.Sprintf(`{"expiresAt": "2099-01-0%dT00:00:00Z"}`, 1+r.IntN(9)))
	},
	func(a *administration, r *rand.Rand) { a.try("DELETE", "/api/admin/api-tokens/"+a.secret(r), "") },
}

// secret is the secret of a random token that was created.
func (a *administration) secret(r *rand.Rand) string {
	if len(a.secrets) == 0 {
		return "none"
	}
	return a.secrets[r.IntN(len(a.secrets))]
}

// TestReadersAgree makes random changes. After each one, a reader that follows every change, one that looks now and then, and
// one that began with a snapshot must have what is in the table.
func TestReadersAgree(t *testing.T) {
	a := administer(t)
	random := rand.New(rand.NewPCG(13, 1))
	follower, occasional, fromSnapshot := NewReader(a.store, ReaderOptions{}), NewReader(a.store, ReaderOptions{}), NewReader(a.store, ReaderOptions{})
	mustRead(t, occasional)
	for _, p := range []string{"team", "other"} {
		a.do("POST", "/api/admin/projects", fmt.Sprintf(`{"id": %q, "name": %[1]q}`, p))
	}
	for i := range dynamotest.Times(200, 4000) {
		randomChanges[random.IntN(len(randomChanges))](a, random)
		want, err := NewReader(a.store, ReaderOptions{}).everything(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		compareStates(t, fmt.Sprintf("change %d, following", i), mustRead(t, follower), want)
		if random.IntN(60) == 0 {
			compareStates(t, fmt.Sprintf("change %d, looking now and then", i), mustRead(t, occasional), want)
		}
		if random.IntN(60) == 0 {
			if err := occasional.writeSnapshot(t.Context(), mustRead(t, occasional)); err != nil {
				t.Fatal(err)
			}
			fromSnapshot = NewReader(a.store, ReaderOptions{})
		}
		if random.IntN(20) == 0 {
			compareStates(t, fmt.Sprintf("change %d, from a snapshot", i), mustRead(t, fromSnapshot), want)
		}
	}
	state := mustRead(t, follower)
	if len(state.Flags) == 0 || len(state.Segments) == 0 || len(state.Tokens) < 3 || state.Number < 50 {
		t.Errorf("too little happened: %d flags, %d segments, %d tokens, number %d", len(state.Flags), len(state.Segments), len(state.Tokens), state.Number)
	}
}

// TestUnchangedPoll counts the calls of a poll without and with a change.
func TestUnchangedPoll(t *testing.T) {
	a := administer(t)
	for i := range 20 {
		a.flag(fmt.Sprintf("f%d", i))
	}
	calls := &dynamotest.Faults{}
	r := NewReader(a.another(calls), ReaderOptions{})
	mustRead(t, r)
	for _, step := range []struct {
		name   string
		change func()
		want   int
	}{
		{"unchanged", func() {}, 1},
		{"favorite", func() { a.do("POST", features+"/f1/favorites", "") }, 1},
		{"one flag", func() { a.do("POST", in("f1", "development")+"/on", "") }, 2},
		{"three flags", func() {
			for i := range 3 {
				a.do("POST", in(fmt.Sprintf("f%d", i), "production")+"/on", "")
			}
		}, 2},
	} {
		step.change()
		calls.ResetCalls()
		mustRead(t, r)
		if got := calls.Calls(); len(got) != 1 || got["BatchGetItem"] != step.want {
			t.Errorf("%s: %v, want %d calls of BatchGetItem", step.name, got, step.want)
		}
	}
}

// TestSharedReads sends many requests at once, with different tokens. Those that wait share the next read, and each gets its
// own token.
func TestSharedReads(t *testing.T) {
	a := administer(t)
	calls := &dynamotest.Faults{Delay: 20 * time.Millisecond}
	r := NewReader(a.another(calls), ReaderOptions{})
	mustRead(t, r)
	calls.ResetCalls()
	secrets := []string{dynamotest.ClientToken, dynamotest.FrontendToken, dynamotest.AdminToken, "unknown"}
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			hash := access.HashSecret(secrets[i%len(secrets)])
			reading, err := r.Read(t.Context(), hash, maybeInNoState(secrets[i%len(secrets)]))
			switch {
			case err != nil:
				t.Error(err)
			case secrets[i%len(secrets)] == "unknown":
				if reading.Token != nil {
					t.Error("an unknown token was found")
				}
			case reading.Token == nil || reading.Token.Hash != hash:
				t.Error("another token, or none, was found")
			}
		})
	}
	wg.Wait()
	if n := calls.Calls()["BatchGetItem"]; n > 20 {
		t.Errorf("200 requests at once made %d calls", n)
	}
}

// TestSlowRead sends a request while a read hangs. It must not wait for that read.
func TestSlowRead(t *testing.T) {
	a := administer(t)
	var hangs atomic.Bool // the next request
	hanging, release := make(chan struct{}), make(chan struct{})
	r := NewReader(a.another(&dynamotest.Faults{OnRequest: func(string, []byte) {
		if hangs.CompareAndSwap(true, false) {
			close(hanging)
			<-release
		}
	}}), ReaderOptions{})
	mustRead(t, r)
	first := make(chan error)
	hangs.Store(true)
	go func() {
		_, err := r.Read(t.Context(), access.HashSecret(dynamotest.FrontendToken), false)
		first <- err
	}()
	<-hanging
	mustRead(t, r)
	select {
	case err := <-first:
		t.Fatalf("the second read waited for the first one (%v)", err)
	default:
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// TestMaxAge reads from memory for that long, by the wall clock.
func TestMaxAge(t *testing.T) {
	a := administer(t)
	a.flag("f")
	now := time.Now()
	r := NewReader(a.store, ReaderOptions{MaxAge: 5 * time.Second, Now: func() time.Time { return now }})
	first := mustRead(t, r)
	a.do("POST", in("f", "development")+"/on", "")
	if now = now.Add(4 * time.Second); mustRead(t, r) != first {
		t.Error("the table was read before MaxAge was over")
	}
	if again, err := r.Again(t.Context(), hash); err != nil || again.State == first {
		t.Errorf("Again returned the state in memory (%v)", err)
	}
	if now = now.Add(5 * time.Second); mustRead(t, r) == first {
		t.Error("the table was not read after MaxAge was over")
	}

	began := now
	mustRead(t, r)
	now = began.Add(-time.Hour) // the clock is set back
	before := mustRead(t, r)
	a.do("POST", in("f", "development")+"/off", "")
	if now = began.Add(time.Second); mustRead(t, r) == before {
		t.Error("a state that was read an hour before came from memory, after the clock had been set back")
	}
}

// TestDeadConnections loses the first reads without an answer, as after an instance was frozen.
func TestDeadConnections(t *testing.T) {
	a := administer(t)
	var dead atomic.Bool
	r := NewReader(a.another(roundTripper(func(req *http.Request) (*http.Response, error) {
		if dead.CompareAndSwap(true, false) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}
		return http.DefaultTransport.RoundTrip(req)
	})), ReaderOptions{})
	mustRead(t, r)
	dead.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := r.Read(ctx, hash, false); err != nil {
		t.Fatal(err)
	}
	if dead.Load() {
		t.Error("no read was lost")
	}
}

type roundTripper func(req *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestPanic does not let a panic in a shared read end the process or block others.
func TestPanic(t *testing.T) {
	a := administer(t)
	r := NewReader(panicking{a.store}, ReaderOptions{})
	for range 10 {
		if _, err := r.Read(t.Context(), hash, false); flags.KindOf(err) != flags.Internal {
			t.Errorf("got %v, want Internal", err)
		}
	}
}

type panicking struct{ Store }

func (panicking) Load(context.Context, []flags.Key) (flags.View, error) { panic("a defect") }
