//go:build migration

package migration

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"guidon/internal/adminapi"
	"guidon/internal/child"
	"guidon/internal/unleash"
)

// edgeTimeout is how long Edge may take to show a change. It asks each second.
const edgeTimeout = time.Minute

// An edge is a Guidon Edge whose upstream is an Unleash.
type edge struct {
	t       *test
	url     string
	env     []string
	process *child.Process
}

// startEdge starts a Guidon Edge for the flags of development, and waits until it has some.
func (t *test) startEdge(token string, upstreams ...string) *edge {
	port, err := unleash.FreePort()
	t.must(err)
	folder, err := os.MkdirTemp(t.folder, "edge-")
	t.must(err)
	e := &edge{t: t, url: "http://127.0.0.1:" + port, env: append(os.Environ(), "UPSTREAM_URL="+strings.Join(upstreams, ","), "TOKENS="+token,
		"INTERFACE=127.0.0.1", "PORT="+port, "BACKUP_FOLDER="+folder, "FEATURES_REFRESH_INTERVAL_SECONDS=1", "METRICS_INTERVAL_SECONDS=1",
		"TOKEN_REVALIDATION_INTERVAL_SECONDS=1", "UPSTREAM_SOCKET_TIMEOUT=1")}
	e.run()
	return e
}

func (e *edge) run() {
	cmd := exec.Command(e.t.guidonPath, "edge")
	cmd.Env = e.env
	e.process = e.t.start(cmd)
	ctx, cancel := context.WithTimeout(e.t.Context(), startTimeout)
	defer cancel()
	e.t.must(e.process.Await(ctx, child.Serves(e.url+"/ready", http.StatusOK)))
}

// get reads from a server with a token, and returns the status of the response.
func (t *test) get(url, path, token string, into any) int {
	client, err := adminapi.New(url, url, token)
	t.must(err)
	client.Attempts = 1
	err = client.Get(t.Context(), path, into)
	for _, status := range []int{http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable} {
		if adminapi.Refused(err, status) {
			return status
		}
	}
	t.must(err)
	return http.StatusOK
}

// await waits until something is so.
func (t *test) await(what string, is func() bool) {
	for began := time.Now(); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > edgeTimeout {
			t.Fatalf("%s: not after %s", what, edgeTimeout)
		}
	}
	t.Logf("Guidon Edge: %s", what)
}

// isOn reports whether a flag is on, as a server tells it.
func (t *test) isOn(url, token, name string) bool {
	var one struct{ Enabled bool }
	t.get(url, "/api/client/features/"+name, token, &one)
	return one.Enabled
}

// TestGuidonEdge runs Guidon Edge in front of a real Unleash, and a second one that has Unleash and the first one as upstreams.
func TestGuidonEdge(tt *testing.T) {
	t := newTest(tt)
	u := t.unleash("edge")
	t.fillFirst(u)
	own, client := u.token("edge-own", "client", "*"), u.token("edge-client", "client", "default")
	frontend := u.token("edge-frontend", "frontend", "default")
	first := t.startEdge(own, u.Base)
	second := t.startEdge(own, u.Base, first.url)
	t.sameThroughEdge(u, first.url, client, frontend)

	const flag = "edge-flag"
	u.call("POST", flagsPath, object{"name": flag}, nil)
	u.call("POST", inEnvironment(flag, "development")+"/strategies", object{"name": "default"}, nil)
	u.call("POST", inEnvironment(flag, "development")+"/on", nil, nil)
	for _, e := range []*edge{first, second} {
		t.await("a change of Unleash arrives", func() bool { return t.isOn(e.url, client, flag) })
	}

	reported := object{"appName": "edge-app", "instanceId": "i", "bucket": object{"start": time.Now().UTC(), "stop": time.Now().UTC(), "toggles": object{flag: object{"yes": 7, "no": 2}}}}
	app, err := adminapi.New("Edge", second.url, client)
	t.must(err)
	t.must(app.Call(t.Context(), http.MethodPost, "/api/client/metrics", reported, nil))
	t.await("Unleash has the usage", func() bool {
		var usage struct {
			Data []struct {
				AppName string
				Yes, No int
			}
		}
		u.call("GET", "/api/admin/client-metrics/features/"+flag+"/raw", nil, &usage)
		yes, no := 0, 0
		for _, row := range usage.Data {
			if row.AppName == "edge-app" {
				yes, no = yes+row.Yes, no+row.No
			}
		}
		return yes == 7 && no == 2
	})

	u.signal(syscall.SIGSTOP) // it hangs
	t.await("the second reads from the first one, which keeps its flags", func() bool {
		return strings.Contains(first.metrics(), `{route="GET /api/client/delta",status="304"}`) && first.age() > second.age()
	})
	t.await("the first one has noticed", func() bool { return strings.Contains(first.process.Output.String(), "did not say which flags") })
	if !t.isOn(first.url, client, flag) || !t.isOn(second.url, client, flag) {
		t.Error("the flag is not on while Unleash hangs")
	}
	u.signal(syscall.SIGCONT)
	u.call("POST", inEnvironment(flag, "development")+"/off", nil, nil)
	for _, e := range []*edge{first, second} {
		t.await("both follow Unleash again", func() bool { return !t.isOn(e.url, client, flag) })
	}

	u.call("DELETE", "/api/admin/api-tokens/"+client, nil, nil)
	t.await("a deleted token is refused", func() bool { return t.get(first.url, "/api/client/features", client, nil) == http.StatusUnauthorized })
	u.stop()
	first.process.Kill()
	first.run()
	if t.isOn(first.url, own, flag) {
		t.Error("after a restart without Unleash, Edge has an older state")
	}
	if status := t.get(first.url, "/api/frontend", frontend, nil); status != http.StatusOK {
		t.Errorf("after a restart without Unleash, a browser gets %d", status)
	}
}

// metrics returns what Prometheus reads.
func (e *edge) metrics() string {
	response, err := http.Get(e.url + "/metrics")
	e.t.must(err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	e.t.must(err)
	return string(page)
}

// age returns how old the flags of Edge are, in seconds.
func (e *edge) age() (age float64) {
	_, value, _ := strings.Cut(e.metrics(), `guidon_edge_age_seconds{environment="development",source="0"} `)
	_, err := fmt.Sscan(value, &age)
	e.t.must(err)
	return age
}

// differsForBrowsers lists flags that Unleash 5.12.8 evaluates for browsers differently from Edge. Two have a parent that must be off: its
// SDKs say that they are on. The rollout of the third has no group: Edge takes the name of the flag, as SDKs on Yggdrasil do.
var differsForBrowsers = []string{"multiple.parents.satisfied.child.enabled", "parent.disabled.satisfied.child.enabled", withoutGroup}

// sameThroughEdge compares what the SDK and browsers get from Unleash and from Edge.
func (t *test) sameThroughEdge(u *server, url, client, frontend string) {
	contexts := t.specContexts()
	want, got := t.evaluateWith(u.Base, client, contexts), t.evaluateWith(url, client, contexts)
	if len(want) != flagsFilled || !maps.EqualFunc(want, got, slices.Equal) {
		for name := range want {
			if !slices.Equal(want[name], got[name]) {
				t.Errorf("through Edge, the SDK evaluates %s as %q, not as %q", name, got[name], want[name])
			}
		}
		t.Errorf("the SDK has %d flags, and %d through Edge", len(want), len(got))
	}
	t.Logf("through Guidon Edge, unleash-client evaluates %d flags for %d contexts as it does with Unleash", len(got), len(contexts))
	for _, query := range []string{"?sessionId=1", "?userId=7&sessionId=42", "?userId=123&sessionId=2&appName=web&properties[email]=a@example.com"} {
		var names [2][]string
		for i, from := range []string{u.Base, url} {
			var on struct{ Toggles []struct{ Name string } }
			t.get(from, "/api/frontend"+query, frontend, &on)
			for _, toggle := range on.Toggles {
				if !slices.Contains(differsForBrowsers, toggle.Name) {
					names[i] = append(names[i], toggle.Name)
				}
			}
			slices.Sort(names[i])
		}
		if len(names[0]) == 0 || !slices.Equal(names[0], names[1]) {
			t.Errorf("for a browser with %q, these are on in Unleash: %q, and through Edge: %q", query, names[0], names[1])
		}
	}
}

// token creates a token of development.
func (s *server) token(name, kind, project string) string {
	var created struct{ Secret string }
	s.call("POST", "/api/admin/api-tokens", object{"tokenName": name, "type": kind, "environment": "development", "projects": list{project}}, &created)
	return created.Secret
}

func (s *server) signal(signal syscall.Signal) { s.t.must(s.process.Cmd.Process.Signal(signal)) }
