// Package samples contains an event for each function, as API Gateway, CloudFormation or EventBridge sends it. `sam local invoke` uses
// them, and tests check the response of the function.
package samples

import "embed"

//go:embed *.json
var files embed.FS

// A Sample is an event of <Function>.json.
type Sample struct {
	Function string // in lower case, such as "access"
	Status   int    // of the response; 0 for functions that serve no HTTP
	Answer   string // a part of the response of these
}

// Samples lists all of them. The first creates a flag.
var Samples = []Sample{
	{"features", 201, ""},
	{"projects", 200, ""},
	{"configuration", 200, ""},
	{"access", 201, ""},
	{"transfer", 200, ""},
	{"insight", 200, ""},
	{"integrations", 200, ""},
	{"applications", 200, ""},
	{"frontend", 200, ""},
	{"site", 200, ""},
	{"snapshot", 0, "snapshot"},
	{"aggregate", 0, "added"},
	{"deliver", 0, "delivered"},
	{"setup", 0, "the admin token is valid"},
}

// Read returns the event of a function.
func Read(function string) ([]byte, error) { return files.ReadFile(function + ".json") }
