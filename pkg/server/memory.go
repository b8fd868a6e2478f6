package server

import (
	"os"
	"runtime/debug"

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

// limitMemory configures the garbage collector. GOGC and GOMEMLIMIT take precedence. If the size of the memory is unknown,
// there is no limit.
func limitMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	_, _ = memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithMin(leastMemory),
		memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)))
}
