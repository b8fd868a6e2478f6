package serving

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestHostilePrefixes requests answers for many prefixes, in which every flag is. They do not stay in memory.
func TestHostilePrefixes(t *testing.T) {
	w := large(t, 1000)
	now := time.Now()
	slow := httpapi.Config{Now: func() time.Time { now = now.Add(time.Minute); return now }} // so that each response fits into the budget of plain ones
	c := w.configured(slow, w.token("t"))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	c.get("/api/client/features", "t")
	before := heap()
	for i := range 500 { // about 500 KB each
		answer := c.get(fmt.Sprintf("/api/client/features?namePrefix=flag&tag=none:%03d&tag=simple:all", i), "t")
		if answer.Code != http.StatusOK || answer.Body.Len() < 100_000 {
			t.Fatalf("%d, %d bytes", answer.Code, answer.Body.Len())
		}
	}
	const cached = 64 << 20 // package answers keeps no more
	if grown := heap() - before; grown > 2*cached {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	runtime.KeepAlive(c)
}

// large returns a world with n flags that have a constraint, two variants and the tag simple:all.
func large(t testing.TB, n int) *world {
	w := newWorld(t)
	updates := make([]update, n)
	env := w.environment("default", "development")
	for i := range n {
		name := fmt.Sprintf("flag-%05d", i)
		f := flags.NewFeature(w.projects["default"], name, flags.DefaultMetadata(), "test", w.registry.List[0].CreatedAt)
		f.Version, f.Tags = 1, []flags.Tag{{Type: "simple", Value: "all"}}
		s := w.strategy(name)
		s.Constraints = []flags.Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"one", "two", "three"}}}
		s.Variants = []flags.Variant{
			{Name: "a", WeightType: flags.Variable, Stickiness: "default", Payload: &flags.Payload{Type: "string", Value: "first"}},
			{Name: "b", WeightType: flags.Variable, Stickiness: "default", Payload: &flags.Payload{Type: "string", Value: "second"}},
		}
		if err := f.AddStrategy(env, s, flags.DefaultLimits()); err != nil {
			t.Fatal(err)
		}
		if err := f.Enable(env, w.newID, time.Time{}); err != nil {
			t.Fatal(err)
		}
		w.features[name] = f
		updates[i] = update{key: f.Key(), number: w.state.Number + 1, now: f}
	}
	w.state = w.state.with(w.state.Number+1, updates, nil)
	return w
}

// TestConcurrentRequests polls with several tokens and filters, and evaluates, while flags change. Run it with -race.
func TestConcurrentRequests(t *testing.T) {
	w := recorded(t)
	w.addProject("other")
	w.addFlag("other", "secret", nil)
	c := w.client(w.token("t"), w.token("scoped", "default"), w.token("other", "other"), testToken(access.FrontendToken, "page", "development"))
	c.source.state = w.state
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range 8 {
		wg.Go(func() {
			etag := ""
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				path := []string{"/api/client/features", "/api/client/delta", "/api/client/features?namePrefix=dif", "/api/client/features/dif-sdk-on"}[n%4]
				token := []string{"t", "scoped", "other", "admin"}[i%4]
				if i == 0 {
					path, token = "/api/frontend?userId=7", "page"
				}
				answer := c.send(path, token, "If-None-Match", etag, "Accept-Encoding", []string{"gzip", ""}[n%2], "Unleash-Client-Spec", []string{newSpec, ""}[n/2%2])
				etag = answer.Header().Get("ETag")
				if answer.Code >= http.StatusInternalServerError {
					t.Errorf("%d %s", answer.Code, answer.Body)
				}
				if i%4 == 2 && strings.Contains(answer.Body.String(), "dif-sdk-variants") {
					t.Errorf("the token of another project got %s", answer.Body)
				}
			}
		})
	}
	for i := range 200 {
		w.on([]string{"dif-sdk-on", "secret"}[i%2], []string{"development", "production"}[i/2%2], w.strategy("x"))
		w.setSegment(3, func(s *flags.Segment) { s.Name = fmt.Sprint(i) })
		w.changeFlag("dif-sdk-on", func(f *flags.Feature) { f.Environments = nil })
		w.changeFlag("secret", func(f *flags.Feature) { f.Environments = nil })
		c.source.set(w.state)
	}
	close(stop)
	wg.Wait()
}
