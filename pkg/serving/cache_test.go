package serving

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/flags"
)

// TestCacheBound requests many different answers: the cache stays within its size, and keeps the answers that were used last.
func TestCacheBound(t *testing.T) {
	c := newCache(10_000)
	key := func(i int) (k [32]byte) { copy(k[:], fmt.Sprint(i)); return k }
	fill := func(i, bytes int) *cachedAnswer {
		answer := c.get(key(i))
		answer.plain = body{bytes: make([]byte, bytes)}
		c.resize(key(i), answer)
		return answer
	}
	first := fill(0, 1000)
	for i := 1; i < 1000; i++ {
		fill(i, 100)
		if c.get(key(0)) != first {
			t.Fatalf("after %d: an answer that is used all the time was dropped", i)
		}
		if c.size > 10_000 || c.order.Len() != len(c.byKey) || c.order.Len() > 20 {
			t.Fatalf("%d bytes, %d and %d entries", c.size, c.order.Len(), len(c.byKey))
		}
	}
	fill(1000, 20_000) // larger than the cache
	if c.size != 0 || c.order.Len() != 0 {
		t.Errorf("%d bytes, %d entries", c.size, c.order.Len())
	}
	dropped := c.get(key(1))
	fill(2, 20_000)
	c.resize(key(1), dropped) // no longer in it
	if c.size != 0 {
		t.Errorf("%d bytes", c.size)
	}
}

// TestHostilePrefixes requests answers for many prefixes, in which every flag is. They do not stay in memory.
func TestHostilePrefixes(t *testing.T) {
	w := large(t, 1000)
	c := w.client(w.token("t"))
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
	if grown := heap() - before; grown > 2*maxCache {
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
		s.Constraints = []flags.Constraint{{ContextName: "userId", Operator: flags.In, Values: []string{"one", "two", "three"}}}
		s.Variants = []flags.Variant{
			{Name: "a", WeightType: flags.Variable, Stickiness: "default", Payload: &flags.Payload{Type: "string", Value: "first"}},
			{Name: "b", WeightType: flags.Variable, Stickiness: "default", Payload: &flags.Payload{Type: "string", Value: "second"}},
		}
		if err := f.AddStrategy(env, s, flags.DefaultLimits()); err != nil {
			t.Fatal(err)
		}
		if err := f.Enable(env, w.newID); err != nil {
			t.Fatal(err)
		}
		w.features[name] = f
		updates[i] = update{key: f.Key(), number: w.state.Number + 1, now: f}
	}
	w.state = w.state.with(w.state.Number+1, updates, nil)
	return w
}

// TestConcurrentRequests polls with several tokens and filters while flags change. Run it with -race.
func TestConcurrentRequests(t *testing.T) {
	w := recorded(t)
	w.addProject("other")
	w.addFlag("other", "secret", nil)
	c := w.client(w.token("t"), w.token("scoped", "default"), w.token("other", "other"))
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
				answer := c.send(path, []string{"t", "scoped", "other", "admin"}[i%4], "If-None-Match", etag, "Accept-Encoding", []string{"gzip", ""}[n%2], "Unleash-Client-Spec", []string{newSpec, ""}[n/2%2])
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
