package server

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Little of the gateway's memory stays in use, so the collector runs only after a growth of gcPercent. On reads, that takes
// a fifth less processor time than Go's default. A large request, such as the validation of an import of 10,000 flags, needs
// more memory for a moment: the collector runs more often only near memoryShare of the memory of the machine or container,
// and never below leastMemory bytes. With a limit of 80 MB, twelve such validations at once took three times the processor
// time.
const (
	gcPercent   = 400
	memoryShare = 0.25
	leastMemory = 80 << 20
)

// An idle gateway returns memory to the system, except for idleMemory bytes, within twice idleTime.
const (
	idleMemory = 64 << 20
	idleTime   = 15 * time.Second
)

// limitMemory configures the garbage collector. GOGC and GOMEMLIMIT take precedence. If the size of the memory is unknown,
// there is no limit.
func limitMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	_, _ = memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithMin(leastMemory),
		memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)))
}

// releaseIdleMemory returns memory to the system while the gateway is idle, until ctx ends. The runtime itself keeps the
// memory of a burst for many minutes.
func releaseIdleMemory(ctx context.Context) {
	ticker := time.NewTicker(idleTime)
	defer ticker.Stop()
	var collections uint32
	for {
		select {
		case <-ticker.C:
			collections = releaseIfIdle(collections)
		case <-ctx.Done():
			return
		}
	}
}

// releaseIfIdle returns memory if the collector has not run since the last call. It returns the number of collections.
func releaseIfIdle(collections uint32) uint32 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.NumGC == collections && memory.HeapSys-memory.HeapReleased > idleMemory {
		debug.FreeOSMemory()
		runtime.ReadMemStats(&memory)
	}
	return memory.NumGC
}
