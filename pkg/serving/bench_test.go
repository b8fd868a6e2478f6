package serving

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"

	"guidon/pkg/flags"
)

// BenchmarkPoll measures polls of the client API without the read of the store: unchanged, with the body, and the first one
// after a change. flags is how many the token sees.
func BenchmarkPoll(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		w := large(b, n)
		c := w.client(w.token("t"))
		for _, path := range []string{"/api/client/features", "/api/client/delta"} {
			etag := c.get(path, "t", "Accept-Encoding", "gzip").Header().Get("ETag")
			poll := func(b *testing.B, etag string, change func()) {
				b.ReportAllocs()
				for b.Loop() {
					if change != nil {
						b.StopTimer()
						change()
						b.StartTimer()
					}
					c.send(path, "t", "Accept-Encoding", "gzip", "If-None-Match", etag)
				}
			}
			flip := func() {
				w.changeFlag("flag-00500", func(f *flags.Feature) { f.Stale = !f.Stale })
				c.source.set(w.state)
			}
			name := fmt.Sprintf("%s/flags=%d", path[len("/api/client/"):], n)
			b.Run(name+"/304", func(b *testing.B) { poll(b, etag, nil) })
			b.Run(name+"/200", func(b *testing.B) { poll(b, "", nil) })
			b.Run(name+"/changed", func(b *testing.B) { poll(b, etag, flip) })
			b.Run(name+"/304-after-other-project", func(b *testing.B) {
				if w.projects["other"] == nil {
					w.addProject("other")
					w.addFlag("other", "other", nil)
				}
				c := w.client(w.token("t", "default"))
				etag := c.get(path, "t", "Accept-Encoding", "gzip").Header().Get("ETag")
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					w.changeFlag("other", func(f *flags.Feature) { f.Stale = !f.Stale })
					c.source.set(w.state)
					b.StartTimer()
					if answer := c.send(path, "t", "Accept-Encoding", "gzip", "If-None-Match", etag); answer.Code != http.StatusNotModified {
						b.Fatal(answer.Code)
					}
				}
			})
		}
	}
}

// BenchmarkFirst measures the first answer of an instance, with everything to encode, and the memory that it keeps.
func BenchmarkFirst(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("flags=%d", n), func(b *testing.B) {
			heap := func() float64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return float64(m.HeapAlloc)
			}
			for b.Loop() {
				b.StopTimer()
				w := large(b, n)
				c := w.client(w.token("t"))
				c.source.state = w.state
				before := heap()
				b.StartTimer()
				answer := c.send("/api/client/features", "t", "Accept-Encoding", "gzip")
				b.StopTimer()
				size := answer.Body.Len()
				b.ReportMetric((heap()-before-float64(answer.Body.Cap()))/1e6, "MB/kept")
				b.ReportMetric(float64(size), "bytes/answer")
				runtime.KeepAlive(c)
				b.StartTimer()
			}
		})
	}
}
