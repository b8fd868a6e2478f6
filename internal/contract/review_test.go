//go:build contract

package contract

import (
	"encoding/json"
	"strings"
	"testing"

	"guidon/pkg/admin"
)

// mostUnseen is how many operations may have no success. Which ones depends on the seed and the version of Schemathesis.
const mostUnseen = 5

// review reads the server's log, which has a line for each request. It must have no error, and a success of nearly every
// operation: without those, a run proves little. Those of the sign-in need a link or a session, which Schemathesis does not have.
func review(t *testing.T, log string) {
	successes, statuses := map[string]int{}, map[int]int{}
	for line := range strings.Lines(log) {
		var logged struct {
			Level, Msg, Route string
			Status            int
		}
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &logged) != nil {
			continue // a line of the engine
		}
		if logged.Level == "ERROR" {
			t.Errorf("the server logged an error: %.2000s", line)
		}
		if logged.Status == 0 {
			continue // a line about something else, such as an event that was delivered
		}
		statuses[logged.Status]++
		if logged.Status < 400 { // the sign-in at an OpenID provider redirects
			successes[logged.Route]++
		}
	}
	t.Logf("responses by status: %v", statuses)
	var unseen []string
	for _, group := range admin.Groups() {
		for _, route := range group.Routes() {
			if successes[route] == 0 && !strings.Contains(route, " /auth/") {
				unseen = append(unseen, route)
			}
		}
	}
	t.Logf("operations without a success:\n%s", strings.Join(unseen, "\n"))
	if len(unseen) > mostUnseen {
		t.Error("too many operations without a success; create what they need in fixtures_test.go")
	}
}
