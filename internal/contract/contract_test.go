//go:build contract

// Package contract checks a running Guidon against its own OpenAPI description with Schemathesis: `make contract`.
//
// It starts servers with their own data, creates fixtures, and lets Schemathesis send thousands of valid and invalid requests
// generated from /docs/openapi.json. Schemathesis uses one processor, so three parts of the run go on at the same time. Every
// response must match the description, no status may be 500, valid requests must be accepted and invalid ones refused.
// schemathesis.toml has the exceptions. A seed makes the requests the same in each run.
package contract

import (
	"cmp"
	"os"
	"strings"
	"testing"
	"time"
)

const (
	adminToken = "*:*.contract-admin-token"
	atLeast    = 3000 // requests that a run must send

	ofProjects = "^/api/admin/projects/" // the paths of about half of the parameters and fields

	startTimeout = 2 * time.Minute // the first start downloads the engine
	stopTimeout  = 20 * time.Second
)

// TestContract takes the programs from GUIDON and SCHEMATHESIS, and the seed and the maximum number of generated requests for each
// operation from SEED and EXAMPLES.
func TestContract(t *testing.T) {
	// Each part begins with the examples: what Schemathesis sends later depends on the responses to them.
	parts := []*part{{
		name: "examples, and the limits of each parameter and field, of projects",
		args: []string{"--phases", "examples,coverage", "--include-path-regex", ofProjects},
	}, {
		name: "examples, and the limits of each parameter and field, of all else",
		args: []string{"--phases", "examples,coverage", "--exclude-path-regex", ofProjects},
	}, {
		name: "examples, fuzzing and sequences of requests", other: true,
		args: []string{"--phases", "examples,fuzzing,stateful", "--max-examples", cmp.Or(os.Getenv("EXAMPLES"), "5")},
	}}
	t.Run("parts", func(t *testing.T) {
		for _, p := range parts {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.run(t)
			})
		}
	})
	sent, log := 0, strings.Builder{}
	for _, p := range parts {
		sent += p.sent
		log.WriteString(p.log)
	}
	if sent < atLeast {
		t.Errorf("only %d requests were sent, expected at least %d", sent, atLeast)
	}
	review(t, log.String())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
