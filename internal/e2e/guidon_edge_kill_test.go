package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
)

// TestGuidonEdgeKilled ends Guidon Edge, its upstream or both with kill -9, while applications report usage to Edge. Nothing counts twice.
// What Edge had reported stays, and if Edge goes on, so does what it had not. 2 kills of each in `make test`, 20 in `make trust`.
func TestGuidonEdgeKilled(t *testing.T) {
	g := start(t)
	r := &edgeReports{t: t, g: g, token: g.createToken(t, "killed", "client", "default", "development"), want: answers{}}
	r.edge = startGuidonEdge(t, g, "METRICS_INTERVAL_SECONDS=200ms")
	unsure := map[string]int64{} // what applications sent to an Edge that was killed
	for round := range 3 * dynamotest.Times(2, 20) {
		name := fmt.Sprint("killed-", round)
		r.send(name+"-reported", 20*time.Millisecond)(true)
		awaitThat(t, "Edge has reported everything", func() bool { return strings.Contains(r.edge.get(t, "/metrics", ""), "guidon_edge_usage_waiting 0\n") })
		end := r.send(name, 100*time.Millisecond+rand.N(300*time.Millisecond))
		switch round % 3 {
		case 0:
			r.g.kill(t)
			r.g = r.g.again(t)
			end(true)
			continue
		case 1:
			r.edge.signal(t, os.Kill)
		case 2:
			r.edge.signal(t, os.Kill)
			r.g.kill(t)
			r.g = r.g.again(t)
		}
		r.edge.wait(t)
		unsure["app development "+name] = end(false)
		r.edge.run(t)
	}
	r.send("last", 20*time.Millisecond)(true)
	got := r.await(unsure)
	lost := int64(0)
	for name, sent := range unsure {
		yes := yesOf(t, got[name])
		if lost += sent - yes; yes > sent {
			t.Errorf("%s: Edge got %d, and Guidon has %d", name, sent, yes)
		}
	}
	r.send("afterwards", 20*time.Millisecond)(true)
	after := r.await(unsure)
	if !maps.Equal(after, got) {
		t.Errorf("the usage has changed:\n%s", differences(after, got))
	}
	t.Logf("%d evaluations were counted exactly; of the %d that Edge had not reported when it was killed, %d were lost", r.sent.Load(), total(unsure), lost)
	if r.sent.Load() == 0 || total(unsure) == 0 {
		t.Error("nothing was sent")
	}
}

// edgeReports is a Guidon Edge with applications that report to it, and its upstream.
type edgeReports struct {
	t     *testing.T
	g     *gateway
	edge  *guidonEdge
	token string
	flags []string
	want  answers // the usage that Guidon must have
	sent  atomic.Int64
}

// send lets an application report evaluations of a new flag for a while, and goes on until the function that it returns is called. That returns how many
// evaluations were sent. If they are exact, all must be counted.
func (r *edgeReports) send(flag string, during time.Duration) (end func(exact bool) int64) {
	r.g.do(r.t, 201, "POST", project+"/features", map[string]string{"name": flag}, nil)
	r.flags = append(r.flags, flag)
	var sent atomic.Int64
	halt := make(chan struct{})
	var group sync.WaitGroup
	body := fmt.Sprintf(`{"appName": "app", "instanceId": "i", "bucket": {"start": "2026-01-01T00:00:00Z", "stop": "2026-01-01T00:01:00Z", "toggles": {%q: {"yes": 1, "no": 0}}}}`, flag)
	for range 4 {
		group.Go(func() {
			for {
				sent.Add(1)
				request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.edge.url()+"/api/client/metrics", strings.NewReader(body))
				if err != nil {
					r.t.Error(err)
					return
				}
				request.Header.Set("Authorization", r.token)
				request.Header.Set("Content-Type", "application/json")
				response, err := http.DefaultClient.Do(request)
				if err != nil { // Edge was killed
					return
				}
				if _ = response.Body.Close(); response.StatusCode != http.StatusAccepted {
					r.t.Errorf("a report got %s", response.Status)
					return
				}
				select {
				case <-halt:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	time.Sleep(during)
	return func(exact bool) int64 {
		close(halt)
		group.Wait()
		if exact {
			r.sent.Add(sent.Load())
			r.want["app development "+flag] = fmt.Sprintf("yes %d, no 0", sent.Load())
		}
		return sent.Load()
	}
}

// await waits until Guidon has all usage, and returns that of the flags for which Edge was killed.
func (r *edgeReports) await(unsure map[string]int64) answers {
	r.t.Helper()
	var got answers
	rest := answers{}
	for began := time.Now(); time.Since(began) < usageTimeout; time.Sleep(500 * time.Millisecond) {
		got, rest = r.g.usage(r.t, r.flags...), answers{}
		maps.DeleteFunc(got, func(name, text string) bool {
			_, ok := unsure[name]
			if !ok {
				rest[name] = text
			}
			return !ok
		})
		if maps.Equal(rest, r.want) {
			return got
		}
	}
	r.t.Fatalf("after %s the usage differs:\n%s", usageTimeout, differences(rest, r.want))
	return nil
}

// yesOf returns the number of a usage without variants; 0 for none.
func yesOf(t *testing.T, text string) (yes int64) {
	t.Helper()
	if text == "" {
		return 0
	}
	if _, err := fmt.Sscanf(text, "yes %d, no 0", &yes); err != nil {
		t.Fatalf("the usage is %q", text)
	}
	return yes
}

func total(counts map[string]int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
