package serving

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/usage"
)

// over is an instance over a reader. Its clock is ahead by a duration.
func over(r *Reader, ahead time.Duration) instance {
	config := httpapi.Config{Now: func() time.Time { return time.Now().Add(ahead) }}
	return instance{httpapi.New(nil, ClientGroup(r, nil, config), config)}
}

// A reads collects the sort keys of the items that are read with BatchGetItem.
type reads struct {
	mu   sync.Mutex
	keys []string
}

func (r *reads) request(operation string, body []byte) {
	var input struct {
		RequestItems map[string]struct {
			Keys []struct {
				SK struct{ S string } `json:"sk"`
			}
		}
	}
	_ = json.Unmarshal(body, &input)
	r.mu.Lock()
	defer r.mu.Unlock()
	if operation != "BatchGetItem" {
		r.keys = append(r.keys, operation)
	}
	for _, table := range input.RequestItems {
		for _, key := range table.Keys {
			r.keys = append(r.keys, key.SK.S)
		}
	}
}

// take returns what was read since the last call.
func (r *reads) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := strings.Join(r.keys, " ")
	r.keys = nil
	return keys
}

const (
	pollPath     = "/api/client/features"
	unknownReads = 5
)

// TestReadsOfPolls compares what polls read: one small item for a token of an application, known or unknown.
func TestReadsOfPolls(t *testing.T) {
	a := administer(t)
	a.flag("f")
	now, read := time.Now(), &reads{}
	i := over(NewReader(a.another(&dynamotest.Faults{OnRequest: read.request}), ReaderOptions{UnknownReads: unknownReads, Now: func() time.Time { return now }}), 0)
	poll := func(what, token string, status int, want string) {
		t.Helper()
		if got := i.get(pollPath, token, ""); got.Code != status {
			t.Errorf("%s: %d %s, want %d", what, got.Code, got.Body, status)
		}
		if got := read.take(); got != want {
			t.Errorf("%s reads %q, want %q", what, got, want)
		}
	}
	i.get(pollPath, dynamotest.ClientToken, "")
	read.take()
	poll("a known token", dynamotest.ClientToken, 200, "FEED")
	poll("a token of the wrong type", dynamotest.FrontendToken, 403, "FEED")
	poll("an unknown token", "default:development.unknown", 401, "FEED")
	created := a.apiToken("development", "default")
	poll("a new token", created, 200, "FEED TOKEN")
	poll("the new token again", created, 200, "FEED")
	a.do("PUT", "/api/admin/api-tokens/"+created, `{"expiresAt": "2099-01-01T00:00:00Z"}`)
	poll("a changed token", created, 200, "FEED TOKEN")
	a.do("DELETE", "/api/admin/api-tokens/"+created, "")
	poll("a deleted token", created, 401, "FEED")
	poll("the deleted token again", created, 401, "FEED")

	now = now.Add(time.Second)
	poll("an unknown token of an administrator", "*:*.unknown", 401, "TOKEN FEED")
	poll("an unknown token of a user", "user:unknown", 401, "TOKEN FEED")
	for range 2 * unknownReads {
		poll("an admin token", dynamotest.AdminToken, 200, "TOKEN FEED")
	}

	now = now.Add(time.Second)
	for n := range unknownReads {
		poll("an unknown token", fmt.Sprint("default:development.", n), 401, "FEED")
	}
	poll("an unknown token after its turn", "default:development.more", 401, "FEED")
	poll("a known token beside it", dynamotest.ClientToken, 200, "FEED")
}

// TestReadsOfReports compares what reports of usage read: nothing for 10 seconds after any read of the feed. A new instance reads the token
// alone, and no flags.
func TestReadsOfReports(t *testing.T) {
	a := administer(t)
	a.flag("f")
	now, read := time.Now(), &reads{}
	opened := func(open bool) *Reader {
		return NewReader(a.another(&dynamotest.Faults{OnRequest: read.request}), ReaderOptions{Open: open, UnknownReads: unknownReads, Now: func() time.Time { return now }})
	}
	r := opened(false)
	report := func(what, token, want string, refused ...error) {
		t.Helper()
		request := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
		request.Header.Set("Authorization", token)
		got, err := r.Authenticate(t.Context(), request, access.ClientToken)
		if (err != nil) != (len(refused) > 0) || err != nil && flags.KindOf(err) != flags.KindOf(refused[0]) {
			t.Errorf("%s: %v, want %v", what, err, refused)
		}
		if err == nil && token != "" && !r.options.Open && got.Hash != access.HashSecret(token) {
			t.Errorf("%s: another token, or none", what)
		}
		if keys := read.take(); keys != want {
			t.Errorf("%s reads %q, want %q", what, keys, want)
		}
	}
	forbidden := flags.Errorf(flags.Forbidden, "")
	const client, frontend, admin, unknown = dynamotest.ClientToken, dynamotest.FrontendToken, dynamotest.AdminToken, "default:development.unknown"
	report("a new instance", client, "TOKEN")
	report("the same token", client, "")
	report("a token of the wrong type", frontend, "TOKEN", forbidden)
	report("the same token of the wrong type", frontend, "", forbidden)
	report("an unknown token", unknown, "TOKEN", access.ErrNoToken)
	if left := r.unknown.TokensAt(now); left > unknownReads-3 { // three tokens were new
		t.Errorf("%v reads for unknown tokens are left, want %d", left, unknownReads-3)
	}
	report("an unknown token of an administrator", "*:*.unknown", "TOKEN", access.ErrNoToken)
	report("an admin token", admin, "TOKEN")
	report("no token", "", "", access.ErrNoToken)
	created := a.apiToken("development", "default")
	report("another token", created, "TOKEN")
	a.do("DELETE", "/api/admin/api-tokens/"+created, "")
	report("a deleted token", created, "")
	mustRead(t, r)
	read.take()
	report("a deleted token after a poll with another one", created, "TOKEN FEED", access.ErrNoToken)

	now = now.Add(reportAge - time.Millisecond)
	report("a token in the state", client, "")
	report("a token of the wrong type in the state", frontend, "", forbidden)
	report("no token", "", "", access.ErrNoToken)
	now = now.Add(time.Millisecond)
	report("a token in an old state", client, "FEED")
	report("another token", frontend, "", forbidden)
	report("an unknown token", unknown, "FEED", access.ErrNoToken)
	report("an admin token", admin, "TOKEN FEED")
	report("the same admin token", admin, "")
	a.do("DELETE", "/api/admin/api-tokens/"+client, "")
	report("a deleted token", client, "")
	now = now.Add(reportAge)
	report("a deleted token after a while", client, "FEED", access.ErrNoToken)

	r = opened(true)
	report("no token with AUTH_TYPE=none", "", "")
	report("an unknown token with AUTH_TYPE=none", unknown, "TOKEN")
}

// TestReadsWithMaxAge polls, evaluates and reports with several tokens while the clock goes on: one instance reads the feed once in MaxAge for
// all of them. Tokens of administrators are in no state: each is read once in MaxAge, too.
func TestReadsWithMaxAge(t *testing.T) {
	a := administer(t)
	a.flag("f")
	clients, frontends := []string{dynamotest.ClientToken}, []string{dynamotest.FrontendToken}
	for range 3 {
		clients = append(clients, a.apiToken("development", "default"))
	}
	now, read := time.Now(), &reads{}
	store := a.another(&dynamotest.Faults{OnRequest: read.request})
	config := httpapi.Config{MaxAge: time.Second, Now: func() time.Time { return now }}
	r := NewReader(store, OptionsOf(config))
	handler := httpapi.New(nil, httpapi.Join(append(Groups(r, nil, config), ingest.Groups(noPosts{store}, r, config)...)...), config)
	send := func(method, path, token, body string) {
		t.Helper()
		if w := call(handler, method, path, body, "Authorization: "+token); w.Code >= 300 {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	}
	all := func(clients []string) {
		t.Helper()
		for _, token := range clients {
			send("GET", "/api/client/features", token, "")
			send("GET", "/api/client/features/f", token, "")
			send("GET", "/api/client/delta", token, "")
			send("POST", "/ofrep/v1/evaluate/flags", token, `{"context":{"targetingKey":"7"}}`)
			send("POST", "/api/client/metrics", token, `{"appName":"a","bucket":{"toggles":{"f":{"yes":1}}}}`)
		}
		for _, token := range frontends {
			send("GET", "/api/frontend", token, "")
			send("POST", "/ofrep/v1/evaluate/flags/f", token, `{"context":{"targetingKey":"7"}}`)
			send("POST", "/api/frontend/client/metrics", token, `{"appName":"a","bucket":{"toggles":{"f":{"yes":1}}}}`)
		}
	}
	all(clients)
	for second := range 4 {
		now = now.Add(time.Second)
		read.take()
		for range 4 {
			all(clients)
			now = now.Add(200 * time.Millisecond)
		}
		now = now.Add(-800 * time.Millisecond)
		if got := read.take(); got != "FEED" {
			t.Errorf("second %d: reads %q, want the feed once", second, got)
		}
	}
	all([]string{dynamotest.AdminToken})
	for second := range 4 {
		now = now.Add(time.Second)
		read.take()
		for range 3 {
			all(append(clients, dynamotest.AdminToken))
		}
		if got := read.take(); got != "FEED TOKEN FEED" {
			t.Errorf("second %d: reads %q, want the feed, and the token of the administrator with it", second, got)
		}
	}
}

// noPosts is a store that takes posts and stores none.
type noPosts struct{ ingest.Store }

func (noPosts) PutPost(context.Context, *usage.Post) error { return nil }

func (noPosts) PutPublicPost(context.Context, *usage.Post) error { return nil }

// TestNewTokenAmongStrangers polls with a new token while many unknown ones wait for their turn, which does not come. All are answered by the
// next read that a known token makes anyway, and unknown ones cause no read.
func TestNewTokenAmongStrangers(t *testing.T) {
	a := administer(t)
	a.flag("f")
	now, read := time.Now(), &reads{}
	r := NewReader(a.another(&dynamotest.Faults{OnRequest: read.request}), ReaderOptions{UnknownReads: unknownReads, Now: func() time.Time { return now }})
	i := over(r, 0)
	i.get(pollPath, dynamotest.ClientToken, "")
	created := a.apiToken("development", "default")
	for range 10_000 {
		r.unknown.ReserveN(now, 1)
	}
	read.take()
	const strangers = 100
	answers := make(chan string, strangers+1)
	poll := func(token, name string) { answers <- fmt.Sprint(name, " ", i.get(pollPath, token, "").Code) }
	for n := range strangers {
		go poll(fmt.Sprint("default:development.", n), "unknown")
	}
	go poll(created, "new")
	got, known := map[string]int{}, 0
	for done := 0; done <= strangers; known++ {
		if w := i.get(pollPath, dynamotest.ClientToken, ""); w.Code != 200 {
			t.Fatalf("a known token: %d %s", w.Code, w.Body)
		}
		for more := true; more; {
			select {
			case answer := <-answers:
				got[answer]++
				done++
			default:
				more = false
			}
		}
	}
	if got["unknown 401"] != strangers || got["new 200"] != 1 {
		t.Errorf("the responses are %v", got)
	}
	// The poll with the new token makes a read of its own if it comes when the state has the token.
	if reads := strings.Count(read.take(), "FEED"); reads != known && reads != known+1 {
		t.Errorf("%d reads of the feed for %d polls with a known token", reads, known)
	}
}

// TestStrangersBeforeNewToken polls with a new token after a handful of unknown ones, on an instance that nobody else polls.
func TestStrangersBeforeNewToken(t *testing.T) {
	a := administer(t)
	a.flag("f")
	i := over(NewReader(a.another(nil), ReaderOptions{UnknownReads: unknownReads}), 0)
	i.get(pollPath, dynamotest.ClientToken, "")
	client, admin := a.apiToken("development", "default"), dynamotest.AdminToken
	for n := range unknownReads + 1 {
		for _, form := range []string{"default:development.", "*:*."} {
			if got := i.get(pollPath, fmt.Sprint(form, n), "").Code; got != 401 {
				t.Errorf("an unknown token: %d, want 401", got)
			}
		}
	}
	for _, token := range []string{client, admin} {
		if got := i.get(pollPath, token, "").Code; got != 200 {
			t.Errorf("a new token: %d, want 200", got)
		}
	}
}

// TestStrangersAlone polls with an unknown token after many others, on an instance that serves one request at a time: it does not wait.
func TestStrangersAlone(t *testing.T) {
	a := administer(t)
	r := NewReader(a.store, OptionsOf(httpapi.Config{}))
	for range 10_000 {
		r.unknown.ReserveN(time.Now(), 1)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // much less than 10,000 reads would take
	defer cancel()
	if reading, err := r.recent(ctx, access.HashSecret("default:development.unknown"), false); err != nil || reading.Token != nil {
		t.Errorf("%+v, %v; want no token", reading.Token, err)
	}
}

// TestStrangersFillReads polls with more unknown tokens of the form of administrators than one read can look up.
func TestStrangersFillReads(t *testing.T) {
	a := administer(t)
	a.flag("f")
	i := over(NewReader(a.another(nil), ReaderOptions{UnknownReads: unknownReads}), 0)
	i.get(pollPath, dynamotest.ClientToken, "")
	var polls sync.WaitGroup
	for n := range 3 * maxTokens {
		polls.Go(func() {
			if got := i.get(pollPath, fmt.Sprint("*:*.", n), "").Code; got != 401 {
				t.Errorf("an unknown token: %d, want 401", got)
			}
		})
	}
	polls.Go(func() {
		if got := i.get(pollPath, dynamotest.AdminToken, "").Code; got != 200 {
			t.Errorf("a token of an administrator: %d, want 200", got)
		}
	})
	polls.Wait()
}

// TestTokensMakeNoSet changes a token. The Set, and with it everything that was encoded, stays.
func TestTokensMakeNoSet(t *testing.T) {
	a := administer(t)
	a.flag("f")
	r, s := NewReader(a.store, ReaderOptions{}), sets{max: maxSets}
	state := mustRead(t, r)
	before := s.of(state, state.Environments.Find("development"))
	a.apiToken("development", "default")
	a.apiToken("development", "default")
	if state = mustRead(t, r); s.of(state, state.Environments.Find("development")) != before {
		t.Error("a new token made another Set")
	}
	a.do("POST", in("f", "development")+"/on", "")
	if state = mustRead(t, r); s.of(state, state.Environments.Find("development")) == before {
		t.Error("a change of a flag made no other Set")
	}
}

// TestUnreadableChange polls with an unknown token while the change of the feed cannot be read. That is no 401: SDKs stop for good.
func TestUnreadableChange(t *testing.T) {
	a := administer(t)
	var away atomic.Bool
	i := over(NewReader(a.another(roundTripper(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil || away.Load() && strings.Contains(string(body), "TOKEN#") {
			return nil, context.DeadlineExceeded
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return http.DefaultTransport.RoundTrip(r)
	})), ReaderOptions{}), 0)
	i.get(pollPath, dynamotest.ClientToken, "")
	away.Store(true)
	created := a.apiToken("development", "default")
	if got := i.get(pollPath, created, "").Code; got != 503 {
		t.Errorf("%d while the token cannot be read, want 503", got)
	}
	away.Store(false)
	if got := i.get(pollPath, created, "").Code; got != 200 {
		t.Errorf("%d, want 200", got)
	}
}

// TestTokensEndWithTheNextPoll creates, changes and deletes tokens and their projects, each on several instances at once, while
// responses of the store are lost and epochs begin. After each response of the
// administration, the next poll of any instance must follow it.
func TestTokensEndWithTheNextPoll(t *testing.T) {
	a := administer(t)
	var instances []instance
	var later []instance // the same, two hours later
	for n := range 4 {
		faults := &dynamotest.Faults{LoseResponses: 0.02, Duplicates: 0.02, Delay: time.Millisecond, Seed: uint64(n)}
		r := NewReader(a.another(faults), ReaderOptions{})
		instances, later = append(instances, over(r, 0)), append(later, over(r, 2*time.Hour))
	}
	faulty := &dynamotest.Faults{LoseResponses: 0.05, Duplicates: 0.05, LateDeliveries: 0.02, Seed: 9}
	writer := &administration{t: t, handler: administrationOver(a.another(faulty))}
	must := func(method, path, body string, accept ...int) string {
		for range 100 {
			status, answer := writer.try(method, path, body)
			if status < 300 {
				return answer
			}
			for _, other := range accept {
				if status == other {
					return answer
				}
			}
			if status != 503 {
				t.Errorf("%s %s: %d %s", method, path, status, answer)
			}
		}
		t.Errorf("%s %s: never", method, path)
		return ""
	}
	var polls, refusals atomic.Int64
	check := func(what string, on []instance, random *rand.Rand, token string, want int) {
		for attempt := 0; ; attempt++ {
			got := on[random.IntN(len(on))].get(pollPath, token, "").Code
			if got == want {
				break
			}
			if attempt < 200 && got == 503 {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			t.Errorf("%s: %d, want %d", what, got, want)
			return
		}
		if polls.Add(1); want == 401 {
			refusals.Add(1)
		}
	}
	ended := make(chan struct{})
	var chaos sync.WaitGroup
	chaos.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-ended:
				return
			case <-time.After(300 * time.Millisecond):
			}
			if err := a.store.ResetFeed(context.WithoutCancel(t.Context()), fmt.Sprint("epoch-", n)); err != nil {
				t.Error(err)
			}
		}
	})
	var workers sync.WaitGroup
	for w := range 6 {
		workers.Go(func() {
			random, id := rand.New(rand.NewPCG(7, uint64(w))), fmt.Sprint("p", w)
			for n := range dynamotest.Times(6, 100) {
				must("POST", "/api/admin/projects", fmt.Sprintf(`{"id": %q, "name": %[1]q, "environments": ["development"]}`, id), 409)
				var secrets []string
				for len(secrets) < 3 {
					name := fmt.Sprintf("t-%d-%d-%d", w, n, random.Int64())
					var created struct{ Secret string }
					answer := must("POST", "/api/admin/api-tokens", fmt.Sprintf(`{"tokenName": %q, "type": "client", "environment": "development", "projects": [%q]}`, name, id), 409)
					if _ = json.Unmarshal([]byte(answer), &created); created.Secret == "" {
						continue // it was created, and the response was lost
					}
					secrets = append(secrets, created.Secret)
					check("a new token", instances, random, created.Secret, 200)
				}
				must("PUT", "/api/admin/api-tokens/"+secrets[0], fmt.Sprintf(`{"expiresAt": %q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
				check("a token that expires in an hour", instances, random, secrets[0], 200)
				check("a token that expired an hour ago", later, random, secrets[0], 401)
				must("PUT", "/api/admin/api-tokens/"+secrets[0], `{"expiresAt": null}`)
				check("a token that no longer expires", later, random, secrets[0], 200)
				must("DELETE", "/api/admin/api-tokens/"+secrets[1], "", 404)
				check("a deleted token", instances, random, secrets[1], 401)
				check("another token", instances, random, secrets[2], 200)
				must("DELETE", "/api/admin/projects/"+id, "", 404)
				check("a token of a deleted project", instances, random, secrets[2], 401)
				must("POST", "/api/admin/projects", fmt.Sprintf(`{"id": %q, "name": %[1]q, "environments": ["development"]}`, id), 409)
				check("a token of a deleted project of the same name", instances, random, secrets[0], 401)
			}
		})
	}
	workers.Wait()
	close(ended)
	chaos.Wait()
	t.Logf("%d polls, %d refused", polls.Load(), refusals.Load())
	dynamotest.Check(t, a.store)
}

// TestHalfDeletedToken looks up a token whose deletion the feed tells, and whose item is not changed yet.
func TestHalfDeletedToken(t *testing.T) {
	client, admin := testToken(access.ClientToken, "client", flags.All), testToken(access.AdminToken, "admin", flags.All)
	read := &sharedRead{state: &State{}, view: flags.View{client.Key(): client, admin.Key(): admin}}
	if got := read.of(client.Hash).Token; got != nil {
		t.Errorf("the item of a token that is not in the state counted: %+v", got)
	}
	if got := read.of(admin.Hash).Token; got != admin {
		t.Errorf("the admin token is %+v", got)
	}
}
