package features_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// BenchmarkSearch measures searches and the usage of a segment among BENCH_FLAGS flags (default 1,000), of which each uses a
// segment: calls, bytes of their answers, CPU time of this process, allocated bytes, and the peak of the heap. Every
// measurement is one request; the first is repeated. The figures are in docs/performance.md.
func BenchmarkSearch(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("BENCH_FLAGS"))
	if err != nil {
		n = 1_000
	}
	count := &apitest.Counter{}
	store := dynamotest.Open(b, count)
	dynamotest.Seed(b, store)
	handler := apitest.Handler(store, httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer})
	send := func(method, path, body string) {
		if got := apitest.Direct(handler, method, path, body); got.Status >= 300 {
			b.Fatalf("%s %s: %d %.300s", method, path, got.Status, got.Body)
		}
	}
	send("POST", apitest.Segments, `{"name":"beta","constraints":[]}`)
	send("POST", apitest.Segments, `{"name":"unused","constraints":[]}`)
	send("POST", apitest.Features, `{"name":"template-of-flags","description":"Shows the page of a flag to some users."}`)
	for _, env := range []string{"development", "production"} {
		send("POST", apitest.In("template-of-flags", env)+"/strategies", `{"name":"default","segments":[1],"constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`)
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("flag-%06d", i)
	}
	dynamotest.AddCopies(b, store, "template-of-flags", names)
	const search = "/api/admin/search/features?limit=50"
	for _, m := range []struct{ name, path string }{
		{"first page, by createdAt", search},
		{"first page, by name", search + "&sortBy=name"},
		{"page 100", search + "&sortBy=name&offset=4950"},
		{"text", search + "&query=00042"},
		{"tag", search + "&tag=INCLUDE:simple:none"},
		{"cursor, first page", search + "&cursor="},
		{"cursor, text", search + "&cursor=&query=flag-"},
		{"cursor, tag of none", search + "&cursor=&tag=INCLUDE:simple:none"},
		{"segment usage, 50", apitest.Segments + "/1/strategies?limit=50"},
		{"segment usage by cursor, 50", apitest.Segments + "/1/strategies?limit=50&cursor="},
		{"unused segment", apitest.Segments + "/2/strategies"},
		{"context field usage, 50", "/api/admin/context/userId/strategies?limit=50"},
		{"segments", apitest.Segments},
	} {
		b.Run(m.name, func(b *testing.B) {
			for b.Loop() {
				debug.FreeOSMemory()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				cpu, peak := cpuTime(), peakHeap()
				calls, read := count.Cost(func() { send("GET", m.path, "") })
				b.ReportMetric(float64(peak()-before.HeapAlloc)/1e6, "MB-peak")
				b.ReportMetric((cpuTime()-cpu).Seconds()*1000, "ms-cpu")
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6, "MB-alloc")
				b.ReportMetric(float64(len(strings.Fields(calls))), "calls")
				b.ReportMetric(float64(read)/1000, "KB-read")
			}
		})
	}
}

// cpuTime is the CPU time of this process.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peakHeap samples the heap until the result is called, which returns the largest size.
func peakHeap() func() uint64 {
	var peak atomic.Uint64
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapAlloc))
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(end)
		<-ended
		return peak.Load()
	}
}
