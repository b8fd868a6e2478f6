package server

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// TestMemoryLimit checks that the limit depends on the machine or container, and is large enough for an idle gateway.
func TestMemoryLimit(t *testing.T) {
	percent := debug.SetGCPercent(100)
	limit := debug.SetMemoryLimit(math.MaxInt64)
	defer func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) }()
	t.Setenv("GOGC", "")
	total, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil {
		t.Fatal(err)
	}
	limitMemory()
	if got, want := debug.SetMemoryLimit(-1), max(int64(total)/4, leastMemory); got != want {
		t.Errorf("a limit of %d MB of %d MB, want %d MB: a quarter, or the least", got>>20, total>>20, want>>20)
	}
	if got := debug.SetGCPercent(100); got != gcPercent {
		t.Errorf("the collector runs at %d %% of growth, want %d %%", got, gcPercent)
	}

	t.Setenv("GOMEMLIMIT", "1GiB")
	debug.SetMemoryLimit(1 << 30)
	limitMemory()
	if got := debug.SetMemoryLimit(-1); got != 1<<30 {
		t.Errorf("a limit of %d MB, want that of GOMEMLIMIT", got>>20)
	}
}
