package admin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestAuthentication(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	expired, expires := s.AdminToken(t, now), s.AdminToken(t, now.Add(time.Millisecond))
	unauthenticated, forbidden := apitest.Failure("AuthenticationRequired", "Authorization"), apitest.Failure("NoAccessError", "READ")
	tests := []struct {
		name, header string
		status       int
		want         string
	}{
		{"an admin token", dynamotest.AdminToken, 200, apitest.Anything},
		{"a bearer token", "Bearer " + dynamotest.AdminToken, 200, apitest.Anything},
		{"a bearer token with a lowercase scheme", "bearer  " + dynamotest.AdminToken, 200, apitest.Anything},
		{"a token that expires later", expires, 200, apitest.Anything},
		{"no token", "", 401, unauthenticated},
		{"an empty bearer token", "Bearer ", 401, unauthenticated},
		{"an unknown token", "*:*.nosuch", 401, unauthenticated},
		{"an unknown bearer token", "Bearer *:*.nosuch", 401, unauthenticated},
		{"a token in another case", strings.ToUpper(dynamotest.AdminToken), 401, unauthenticated},
		{"another scheme", "Basic " + dynamotest.AdminToken, 401, unauthenticated},
		{"the hash of a token", access.HashSecret(dynamotest.AdminToken), 401, unauthenticated},
		{"an expired token", expired, 401, unauthenticated},
		{"a very long token", strings.Repeat("x", 10_000), 401, unauthenticated},
		{"a client token", dynamotest.ClientToken, 403, forbidden},
		{"a frontend token", dynamotest.FrontendToken, 403, forbidden},
		{"a client token as a bearer token", "Bearer " + dynamotest.ClientToken, 403, forbidden},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.Check(t, apitest.Call{tt.name, "GET", apitest.Project, "", tt.status, tt.want}, "Authorization: "+tt.header)
		})
	}
}

// TestEveryOperationRequiresAuthorization calls every operation without a token and with tokens that lack its permission.
// Each call fails and changes nothing.
func TestEveryOperationRequiresAuthorization(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	on := newSubject(t, s)
	was := s.Do(t, "GET", apitest.Features, "").Body
	for _, route := range protectedRoutes(t) {
		t.Run(route, func(t *testing.T) {
			for _, caller := range []struct {
				header string
				status int
				name   string
			}{
				{"", 401, "AuthenticationRequired"}, {"nosuch", 401, "AuthenticationRequired"},
				{dynamotest.ClientToken, 403, "NoAccessError"}, {dynamotest.FrontendToken, 403, "NoAccessError"},
			} {
				c := on.call(route)
				c.Status, c.Want = caller.status, apitest.Failure(caller.name, "")
				s.Check(t, c, "Authorization: "+caller.header)
			}
		})
	}
	if now := s.Do(t, "GET", apitest.Features, "").Body; now != was {
		t.Errorf("flags are now %s, want %s", now, was)
	}
	if got := s.Events(t, on.flag); len(got) != 4 {
		t.Errorf("events %q, want only the 4 from its creation", got)
	}
}

func TestAuthenticationDisabled(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Open = true })
	s.Check(t, apitest.Call{"create without a token", "POST", apitest.Features, `{"name":"f"}`, 201, apitest.Created("f")}, "Authorization:")
	s.Check(t, apitest.Call{"read with an unknown token", "GET", apitest.Features + "/f", "", 200, apitest.Anything}, "Authorization: nosuch")
	s.Check(t, apitest.Call{"read with a client token", "GET", apitest.Features + "/f", "", 200, apitest.Anything}, "Authorization: "+dynamotest.ClientToken)
	events, err := s.Store.Events(t.Context(), &flags.Feature{Name: "f"})
	if err != nil || len(events) != 1 || events[0].CreatedBy != "admin" {
		t.Errorf("events %v, %v; want one by admin", events, err)
	}
}

// TestEventsNameTheCaller checks that an event names the caller, the place and the change.
func TestEventsNameTheCaller(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	secret := s.AdminToken(t, time.Time{})
	s.Create(t, "f")
	s.Check(t, apitest.Call{"", "POST", apitest.In("f", "production") + "/strategies", `{"name":"default"}`, 200, apitest.Anything}, "Authorization: "+secret)
	events, err := s.Store.Events(t.Context(), &flags.Feature{Name: "f"})
	if err != nil || len(events) != 2 {
		t.Fatalf("events %v, %v; want 2", events, err)
	}
	got := events[1]
	if got.Type != flags.FeatureStrategyAdd || got.CreatedBy != "named-"+access.HashSecret(secret)[:8] || got.Project != "default" || got.FeatureName != "f" ||
		got.Environment != "production" || !got.CreatedAt.Equal(flags.EventTime(got.ID)) || got.ID <= events[0].ID || got.Data == nil {
		t.Errorf("event %+v, want a strategy added by that token in production, with an id after %s", got, events[0].ID)
	}
}

func TestConfigFromEnv(t *testing.T) {
	limits := flags.DefaultLimits()
	limits.Strategies, limits.Environments, limits.Constraints, limits.ConstraintValues, limits.ConstraintValueLength = 1, 2, 3, 4, 5
	limits.Tags, limits.StrategySegments, limits.SegmentValues, limits.ContextFields = 6, 7, 8, 9
	tests := []struct {
		name   string
		env    []string // name, value and so on
		open   bool
		limits flags.Limits
		error  string // part of the error
	}{
		{"nothing set", nil, false, flags.DefaultLimits(), ""},
		{"open", []string{"AUTH_TYPE", "none"}, true, flags.DefaultLimits(), ""},
		{"tokens required", []string{"AUTH_TYPE", "api-token"}, false, flags.DefaultLimits(), ""},
		{"every limit", []string{"LIMITS", "strategies=1,environments=2,constraints=3, constraintValues=4,constraintValueLength=5,tags=6,strategySegments=7,segmentValues=8,contextFields=9"}, false, limits, ""},
		{"an unknown AUTH_TYPE", []string{"AUTH_TYPE", "None"}, false, flags.Limits{}, "AUTH_TYPE"},
		{"an unknown log level", []string{"LOG_LEVEL", "loud"}, false, flags.Limits{}, "LOG_LEVEL"},
		{"a limit of 0", []string{"LIMITS", "tags=9,strategies=0"}, false, flags.Limits{}, `LIMITS: the limit strategies is "0"`},
		{"sign-in over https", []string{"PUBLIC_URL", "https://flags.example.com/", "SESSION_HOURS", "720"}, false, flags.DefaultLimits(), ""},
		{"sign-in on this machine", []string{"PUBLIC_URL", "http://localhost:4242"}, false, flags.DefaultLimits(), ""},
		{"sign-in over http", []string{"PUBLIC_URL", "http://flags.example.com"}, false, flags.Limits{}, "http is only allowed for localhost"},
		{"a public URL with a path", []string{"PUBLIC_URL", "https://flags.example.com/guidon"}, false, flags.Limits{}, "without a path"},
		{"a public URL without a scheme", []string{"PUBLIC_URL", "flags.example.com"}, false, flags.Limits{}, "PUBLIC_URL"},
		{"a public URL with a password", []string{"PUBLIC_URL", "https://a:b@flags.example.com"}, false, flags.Limits{}, "PUBLIC_URL"},
		{"no session hours", []string{"SESSION_HOURS", "0"}, false, flags.Limits{}, "SESSION_HOURS"},
		{"too many session hours", []string{"SESSION_HOURS", "721"}, false, flags.Limits{}, "SESSION_HOURS"},
		{"a limit that is not a number", []string{"LIMITS", "environments=many"}, false, flags.Limits{}, "environments"},
		{"a limit without a number", []string{"LIMITS", "environments"}, false, flags.Limits{}, "environments=50"},
		{"an unknown limit", []string{"LIMITS", "tag=1"}, false, flags.Limits{}, "the limits are constraintValueLength"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for pair := range slices.Chunk(tt.env, 2) {
				t.Setenv(pair[0], pair[1])
			}
			got, err := httpapi.ConfigFromEnv()
			if (err != nil) != (tt.error != "") || err != nil && !strings.Contains(err.Error(), tt.error) {
				t.Fatalf("error %v, want %q in it", err, tt.error)
			}
			if err == nil && (got.Open != tt.open || got.Limits != tt.limits) {
				t.Errorf("open %t, limits %+v; want %t, %+v", got.Open, got.Limits, tt.open, tt.limits)
			}
		})
	}
}
