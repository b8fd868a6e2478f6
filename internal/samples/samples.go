// Package samples has a sample event for each function: what API Gateway sends it, or the stack. `sam local invoke` takes
// them, and tests hold each to its function's answer.
package samples

import "embed"

//go:embed *.json
var files embed.FS

// A Sample is an event of <Group>.json.
type Sample struct {
	Group  string
	Status int // of the answer; 0 when the function is no part of the interface
}

// Samples are all of them, in an order in which each finds what it is about: most are about the flag that the first makes.
var Samples = []Sample{
	{"features", 201},
	{"tags", 201},
	{"strategies", 200},
	{"variants", 200},
	{"projects", 200},
	{"environments", 200},
	{"segments", 200},
	{"users", 200},
	{"tokens", 201},
	{"imports", 200},
	{"events", 200},
	{"docs", 200},
	{"fallback", 200},
	{"bootstrap", 0},
}

// Read is the event of a group.
func Read(group string) ([]byte, error) { return files.ReadFile(group + ".json") }
