// Package samples contains an event for each function, as API Gateway, CloudFormation or EventBridge sends it. `sam local invoke` uses
// them, and tests check the response of the function.
package samples

import "embed"

//go:embed *.json
var files embed.FS

// A Sample is an event of <Group>.json.
type Sample struct {
	Group  string
	Status int    // of the response; 0 for functions that serve no HTTP
	Answer string // a part of the response of these
}

// Samples lists all of them. The first creates the flag that most of the others use.
var Samples = []Sample{
	{"features", 201, ""},
	{"tags", 201, ""},
	{"strategies", 200, ""},
	{"variants", 200, ""},
	{"projects", 200, ""},
	{"environments", 200, ""},
	{"segments", 200, ""},
	{"addons", 200, ""},
	{"users", 200, ""},
	{"tokens", 201, ""},
	{"imports", 200, ""},
	{"playground", 200, ""},
	{"signin", 200, ""},
	{"events", 200, ""},
	{"metrics", 200, ""},
	{"docs", 200, ""},
	{"fallback", 200, ""},
	{"client", 200, ""},
	{"frontend", 200, ""},
	{"usage", 202, ""},
	{"snapshot", 0, "snapshot"},
	{"aggregate", 0, "added"},
	{"deliver", 0, "delivered"},
	{"bootstrap", 0, "the admin token is valid"},
}

// Read returns the event of a group.
func Read(group string) ([]byte, error) { return files.ReadFile(group + ".json") }
