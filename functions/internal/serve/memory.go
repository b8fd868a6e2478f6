package serve

import (
	"runtime/debug"
	"strconv"
)

// Little of a function's memory stays in use between two requests, so the collector runs only after a growth of gcPercent, which
// takes a tenth less processor time than Go's default of 100. Near memoryShare of the function's memory it runs more often.
const (
	gcPercent   = 400
	memoryShare = 0.8
)

// limitMemory configures the garbage collector. GOGC and GOMEMLIMIT take precedence. Without a known size of the memory, which
// Lambda sets in MB, it changes nothing.
func limitMemory(getenv func(string) string) {
	size, err := strconv.Atoi(getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"))
	if err != nil || size < 1 {
		return
	}
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(float64(size) * memoryShare * (1 << 20)))
	}
}
