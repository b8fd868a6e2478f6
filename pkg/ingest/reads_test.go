package ingest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/internal/capacity"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

// TestTokensOfReports reports with tokens that are created, deleted, changed and expire while the clock goes on, and counts the reads.
func TestTokensOfReports(t *testing.T) {
	count, now := &counter{}, time.Now()
	s := serve(t, count, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	report := func(what, token string, status int, want string) {
		t.Helper()
		got := count.during(func() {
			if w := s.post("/api/client/metrics", token, nodeMetrics); w.Code != status {
				t.Errorf("%s: %d %s, want %d", what, w.Code, w.Body, status)
			}
		})
		if got != want {
			t.Errorf("%s: calls %q, want %q", what, got, want)
		}
	}
	const known, stale, created = "PutItem", "BatchGetItem PutItem", "BatchGetItem BatchGetItem PutItem"
	at := now
	report("at first", dynamotest.ClientToken, 202, known)
	client := s.token(t, `{"tokenName":"a","type":"client","environment":"development"}`)
	report("a new token", client, 202, created)
	now = at.Add(10*time.Second - time.Millisecond)
	report("after nearly 10 seconds", client, 202, known)
	report("another token", dynamotest.ClientToken, 202, known)
	now = at.Add(10 * time.Second)
	report("after 10 seconds", client, 202, stale)
	report("another token", dynamotest.ClientToken, 202, known)
	s.administer(t, "tokens", "DELETE", "/api/admin/api-tokens/"+client, "")
	now = now.Add(10*time.Second - time.Millisecond)
	report("deleted nearly 10 seconds before", client, 202, known)
	now = now.Add(time.Millisecond)
	report("deleted 10 seconds before", client, 401, "BatchGetItem")

	expires := func(seconds int) string {
		return fmt.Sprintf(`"expiresAt":%q`, now.Add(time.Duration(seconds)*time.Second).UTC().Format(time.RFC3339Nano))
	}
	expiring := s.token(t, `{"tokenName":"b","type":"client","environment":"development",`+expires(5)+`}`)
	report("a token that expires", expiring, 202, created)
	now = now.Add(5 * time.Second)
	report("an expired token", expiring, 401, "BatchGetItem")
	s.administer(t, "tokens", "PUT", "/api/admin/api-tokens/"+expiring, `{`+expires(5)+`}`)
	report("a token that was extended", expiring, 202, created)
	s.administer(t, "projects", "POST", "/api/admin/projects", `{"id":"gone","name":"Gone"}`)
	revoked := s.token(t, `{"tokenName":"c","type":"client","environment":"development","projects":["gone"]}`)
	report("a token of a project", revoked, 202, created)
	s.administer(t, "projects", "DELETE", "/api/admin/projects/gone", "")
	now = now.Add(10 * time.Second)
	report("a token of a deleted project", revoked, 401, "BatchGetItem")

	report("an administrator at first", dynamotest.AdminToken, 202, stale)
	report("an administrator", dynamotest.AdminToken, 202, known)
	now = now.Add(10 * time.Second)
	report("an administrator after 10 seconds", dynamotest.AdminToken, 202, stale)

	s.replace()
	report("a new instance", dynamotest.ClientToken, 202, stale)
	report("the same instance", dynamotest.ClientToken, 202, known)
	report("an unknown token", "default:development.unknown", 401, "BatchGetItem")
	report("a deleted token", client, 401, "BatchGetItem")

	s.replace()
	report("a token of a deleted project on an instance without flags", revoked, 202, stale)
	now = now.Add(10 * time.Second)
	report("the same 10 seconds later", revoked, 401, "BatchGetItem BatchGetItem BatchGetItem") // the snapshot, and what changed since
}

// TestUnknownTokensOfReports sends many reports with unknown tokens at once, to an instance with and one without flags: they share a few reads.
func TestUnknownTokensOfReports(t *testing.T) {
	count := &counter{}
	s := serve(t, count, still)
	for _, state := range []string{"with flags", "without flags"} {
		calls := count.during(func() {
			var senders sync.WaitGroup
			for n := range 40 {
				senders.Go(func() {
					if w := s.post("/api/client/metrics", fmt.Sprint("default:development.", n), nodeMetrics); w.Code != 401 {
						t.Errorf("%s: %d %s, want 401", state, w.Code, w.Body)
					}
				})
			}
			senders.Wait()
		})
		if n := strings.Count(calls, "BatchGetItem"); n > 10 {
			t.Errorf("%s: %d reads for 40 unknown tokens", state, n)
		}
		s.replace()
	}
}

// TestReportsWithoutStore reports while the store throttles: an instance that knows the token needs no read, any other refuses with 503.
func TestReportsWithoutStore(t *testing.T) {
	faults, now := &dynamotest.Faults{}, time.Now()
	s := serve(t, faults, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	faults.Change(func(f *dynamotest.Faults) {
		f.Script = func(operation string, _ int) dynamotest.Fault {
			if operation == "BatchGetItem" {
				return dynamotest.Throttle
			}
			return dynamotest.NoFault
		}
	})
	report := func(what string, status int) {
		t.Helper()
		w := s.post("/api/client/metrics", dynamotest.ClientToken, nodeMetrics)
		if w.Code != status || status == 503 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v, want %d", what, w.Code, w.Header(), status)
		}
	}
	report("a known token", 202)
	now = now.Add(10 * time.Second)
	report("a token that was read 10 seconds before", 503)
	s.replace()
	report("a new instance", 503)
}

// TestFrontendSize sends reports of browsers, and compares what they cost: an honest one is stored whole, and none takes more than 8 write
// units or a read.
func TestFrontendSize(t *testing.T) {
	count, log := &capacity.Counter{}, &bytes.Buffer{}
	s := serve(t, count, still, func(c *httpapi.Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	honest := make([]string, 500)
	for i := range honest {
		area, kind := []string{"payment", "basket", "address", "search", "profile"}[i%5], []string{"new-layout", "experiment", "kill-switch", "migration"}[i/5%4]
		honest[i] = fmt.Sprintf(`"%s.%s-%d": {"yes": %d, "no": %d, "variants": {"%s": %d}}`, area, kind, i, 1+i*7%40, i*3%11, []string{"disabled", "control"}[i%2], 1+i*7%40)
	}
	source := rand.NewChaCha8([32]byte{})
	random := func(n int) string {
		b := make([]byte, n/2)
		_, _ = source.Read(b) // never fails
		return hex.EncodeToString(b)
	}
	names := func(n, length int, format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(format, random(length))
		}
		return strings.Join(parts, ",")
	}
	for _, tt := range []struct {
		name, path, body string
		atLeast, atMost  int // counts
		warns            bool
	}{
		{"500 flags", "metrics", metricsOf(strings.Join(honest, ",")), 500, 500, false},
		{"too many flags", "metrics", metricsOf(list(5_000, `"%d":{"yes":1}`)), usage.MaxFrontendCounts, usage.MaxFrontendCounts, true},
		{"random names", "metrics", metricsOf(names(400, 200, `"%s":{"yes":1}`)), 50, 80, true},
		{"random names of variants", "metrics", metricsOf(`"a":{"variants":{` + names(usage.MaxVariants, 250, `"%s":1`) + `}}`), 0, 0, true},
		{"random strategies", "register", `{"appName":"a","strategies":[` + names(usage.MaxStrategies, 250, `"%s"`) + `]}`, 0, 0, true},
		{"random names of an application", "register", fmt.Sprintf(`{"appName":%q,"instanceId":%q,"sdkVersion":%q}`, random(254), random(254), random(254)), 0, 0, false},
	} {
		log.Reset()
		status := 0
		cost := count.During(func() { status = s.post("/api/frontend/client/"+tt.path, dynamotest.FrontendToken, tt.body).Code })
		post := s.store.last(t)
		t.Logf("%s: %v write units for %d counts", tt.name, cost.Write, len(post.Counts))
		if n := len(post.Counts); status != 200 || n < tt.atLeast || n > tt.atMost || len(post.Instances) != 1 || cost.Read != 0 || cost.Write > 8 {
			t.Errorf("%s: %d, %d counts of %d instances, %v read and %v write units", tt.name, status, n, len(post.Instances), cost.Read, cost.Write)
		}
		if warns := strings.Contains(log.String(), "too large"); warns != tt.warns {
			t.Errorf("%s: the log is %q", tt.name, log)
		}
	}
}
