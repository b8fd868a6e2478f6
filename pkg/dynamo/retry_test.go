package dynamo

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/backoff"
	"guidon/pkg/flags"
)

// hosts records the host of each request, and responds with an empty table.
type hosts struct{ seen []string }

func (h *hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	h.seen = append(h.seen, r.URL.Host)
	return (&script{responses: []response{{200, nil, `{"Responses":{}}`}}}).RoundTrip(r)
}

// openFromEnvironment opens a store as a function on AWS does, with a transport that records hosts.
func openFromEnvironment(t *testing.T, environment map[string]string) (*Store, *hosts) {
	t.Helper()
	for _, name := range []string{
		"AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_SESSION_TOKEN", "AWS_ACCOUNT_ID",
		"AWS_ACCOUNT_ID_ENDPOINT_MODE", "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	for name, value := range environment {
		t.Setenv(name, value)
	}
	transport := &hosts{}
	store, err := Open(t.Context(), Options{Table: "t", HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return store, transport
}

// TestEndpoints checks that the endpoint settings of AWS reach the requests.
func TestEndpoints(t *testing.T) {
	for _, c := range []struct {
		name        string
		environment map[string]string
		want        string
	}{
		{"of a region", nil, "dynamodb.us-east-1.amazonaws.com"},
		{"FIPS", map[string]string{"AWS_USE_FIPS_ENDPOINT": "true"}, "dynamodb-fips.us-east-1.amazonaws.com"},
		{"dual stack", map[string]string{"AWS_USE_DUALSTACK_ENDPOINT": "true"}, "dynamodb.us-east-1.api.aws"},
		{"of an account", map[string]string{"AWS_ACCOUNT_ID": "123456789012"}, "123456789012.ddb.us-east-1.amazonaws.com"},
		{
			"of an account, disabled", map[string]string{"AWS_ACCOUNT_ID": "123456789012", "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled"},
			"dynamodb.us-east-1.amazonaws.com",
		},
		{"of a local engine", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "http://localhost:8000"}, "localhost:8000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, transport := openFromEnvironment(t, c.environment)
			if _, err := store.Load(t.Context(), []flags.Key{flags.FeatureKey("f")}); err != nil {
				t.Fatal(err)
			}
			if len(transport.seen) != 1 || transport.seen[0] != c.want {
				t.Errorf("the requests went to %q, want one to %q", transport.seen, c.want)
			}
		})
	}
}

// TestWrongSettings checks that a call without credentials or with an unusable endpoint fails at once, with a cause for the log that
// names the reason, which the caller does not see.
func TestWrongSettings(t *testing.T) {
	for _, c := range []struct {
		name        string
		environment map[string]string
		cause       string
	}{
		{"no credentials", map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "credentials"},
		{"no region", map[string]string{"AWS_REGION": ""}, "region"},
		{"no account", map[string]string{"AWS_ACCOUNT_ID_ENDPOINT_MODE": "required"}, "accountid"},
		{"FIPS with an endpoint", map[string]string{"AWS_USE_FIPS_ENDPOINT": "true", "AWS_ENDPOINT_URL": "http://localhost:8000"}, "fips"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, transport := openFromEnvironment(t, c.environment)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			change := flags.Change{
				Writes: []flags.Write{{After: &flags.Feature{Name: "f"}}}, Event: flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: "test"},
			}
			_, read := store.Load(ctx, []flags.Key{flags.FeatureKey("f")})
			for call, err := range map[string]error{"load": read, "commit": store.Commit(ctx, change)} {
				var e *flags.Error
				is := errors.As(err, &e)
				if !is || e.Kind != flags.Internal || e.Err == nil || !strings.Contains(strings.ToLower(e.Err.Error()), c.cause) || strings.Contains(strings.ToLower(e.Message), c.cause) {
					t.Errorf("%s: %+v; want an internal error whose cause contains %q and whose message does not", call, err, c.cause)
				}
			}
			if ctx.Err() != nil || len(transport.seen) > 0 {
				t.Errorf("%d requests, %v; want none, and an error at once", len(transport.seen), ctx.Err())
			}
		})
	}
}

// TestAttemptsAreBounded checks that a call without a deadline ends after some attempts.
func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	const unavailable, ok = `{"message":"Service Unavailable"}`, `{"Responses":{}}`
	store, wire := openScript(t, response{503, nil, unavailable})
	_, err := store.Load(t.Context(), []flags.Key{flags.FeatureKey("f")})
	if flags.KindOf(err) != flags.Unavailable || wire.n != backoff.Patient.Attempts {
		t.Errorf("%d attempts, %v; want %d, and that the store is unavailable", wire.n, err, backoff.Patient.Attempts)
	}
	var script []response
	for range backoff.Patient.Attempts - 1 {
		script = append(script, response{503, nil, unavailable})
	}
	store, wire = openScript(t, append(script, response{200, nil, ok})...)
	if _, err := store.Load(t.Context(), []flags.Key{flags.FeatureKey("f")}); err != nil {
		t.Errorf("%d attempts: %v; want that the last one succeeds", wire.n, err)
	}
}

// TestRetryQuota checks that calls are sent only once after too many attempts have failed.
func TestRetryQuota(t *testing.T) {
	t.Parallel()
	store, wire := openScript(t, response{503, nil, `{"message":"Service Unavailable"}`})
	for range 15 {
		if _, err := store.Load(t.Context(), []flags.Key{flags.FeatureKey("f")}); flags.KindOf(err) != flags.Unavailable {
			t.Fatalf("%v; want that the store is unavailable", err)
		}
	}
	if n := wire.n; n != 15+500/5 {
		t.Errorf("%d attempts of 15 calls, want 15 and the 100 retries of the quota", n)
	}
}

// TestUnprocessedKeysAreBounded reads a batch of which the engine never returns an item.
func TestUnprocessedKeysAreBounded(t *testing.T) {
	t.Parallel()
	store, wire := openScript(t, response{200, nil, `{"Responses":{},"UnprocessedKeys":{"t":{"Keys":[{"pk":{"S":"FLAG#f"},"sk":{"S":"FLAG"}}]}}}`})
	if _, err := store.Load(t.Context(), []flags.Key{flags.FeatureKey("f")}); flags.KindOf(err) != flags.Unavailable || wire.n != backoff.Patient.Attempts {
		t.Errorf("%d requests, %v; want %d, and that the store is unavailable", wire.n, err, backoff.Patient.Attempts)
	}
}

// TestPollsAreNotRetried checks the reads of polls: a throttled one is sent once, also if the engine leaves only some of the keys
// unprocessed, and one that failed twice. Other calls keep their retries.
func TestPollsAreNotRetried(t *testing.T) {
	t.Parallel()
	const item = `{"pk":{"S":"FLAG#f"},"sk":{"S":"FLAG"}}`
	for _, c := range []struct {
		name string
		response
		polls, others int
	}{
		{"throttled", response{400, nil, `{"__type":"ThrottlingException","Message":"m"}`}, 1, backoff.Patient.Attempts},
		{"unprocessed", response{200, nil, `{"Responses":{},"UnprocessedKeys":{"t":{"Keys":[` + item + `]}}}`}, 1, backoff.Patient.Attempts},
		{"fails", response{500, nil, `{"__type":"InternalServerError","message":"m"}`}, 2, backoff.Patient.Attempts},
	} {
		for bounds, want := range map[*backoff.Retries]int{&backoff.Polls: c.polls, &backoff.Patient: c.others} {
			store, wire := openScript(t, c.response)
			_, err := store.Load(backoff.WithRetries(t.Context(), *bounds), []flags.Key{flags.FeatureKey("f"), flags.FeedKey()})
			if flags.KindOf(err) != flags.Unavailable || wire.n != want {
				t.Errorf("%s, at most %d attempts: %d requests, %v; want %d, and that the store is unavailable", c.name, bounds.Attempts, wire.n, err, want)
			}
		}
	}
}
