package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"guidon/pkg/httpapi"
)

// review looks at what the gateway itself logged, a line a request: no failure of its own, and a success of nearly every
// operation, without which little would have been shown.
func (g *gateway) review() error {
	successes, statuses := map[string]int{}, map[int]int{}
	for line := range strings.Lines(g.stderr.String()) {
		var logged struct {
			Level, Msg, Route string
			Status            int
		}
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &logged) != nil {
			continue // the engine's
		}
		if logged.Level == "ERROR" {
			return fmt.Errorf("the gateway logged a failure: %.2000s", line)
		}
		statuses[logged.Status]++
		if logged.Status < 300 {
			successes[logged.Route]++
		}
	}
	_, _ = fmt.Fprint(os.Stdout, "\nanswers by status:")
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		_, _ = fmt.Fprintf(os.Stdout, " %d: %d", status, statuses[status])
	}
	_, _ = fmt.Fprintln(os.Stdout)
	var never []string
	for _, group := range httpapi.Groups() {
		for _, route := range group.Routes() {
			if successes[route] == 0 {
				never = append(never, route)
			}
		}
	}
	if len(never) > 0 {
		_, _ = fmt.Fprintf(os.Stdout, "never answered with success:\n%s\n", strings.Join(never, "\n"))
	}
	if len(never) > mostUnseen {
		return errors.New("too little was asked for that is there: the run has not shown much (furnish.go puts things there)")
	}
	return nil
}

// mostUnseen is how many operations may have had no success. Which ones is chance, but for a seed and a version.
const mostUnseen = 5
