package serve

import (
	"math"
	"runtime/debug"
	"testing"
)

// TestLimitMemory checks that the collector runs less often, and more often near the end of the function's memory.
func TestLimitMemory(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	for _, tt := range []struct {
		name    string
		env     map[string]string
		percent int
		limit   int64
	}{
		{"on Lambda", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512"}, gcPercent, 429_496_729},
		{"with settings", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "GOGC": "50", "GOMEMLIMIT": "1GiB"}, 100, math.MaxInt64},
		{"elsewhere", nil, 100, math.MaxInt64},
	} {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
		limitMemory(func(name string) string { return tt.env[name] })
		if got, limited := debug.SetGCPercent(100), debug.SetMemoryLimit(-1); got != tt.percent || limited != tt.limit {
			t.Errorf("%s: the percentage is %d and the limit %d, want %d and %d", tt.name, got, limited, tt.percent, tt.limit)
		}
	}
}
