//go:build clients

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// clientRounds is how often the clients of TestClientsUsage evaluate each flag for each user. It takes them some 4 s, in which
// they report every two seconds.
const clientRounds = 40

// endedFor is longer than it takes until a report shows: what a client sent at its end must not be counted again.
const endedFor = 15 * time.Second

// TestClientsUsage lets every SDK evaluate each flag a known number of times, and report it as it always does: to Guidon, and again to
// Guidon Edge. Guidon must show these numbers, by application, environment, result and variant, and nothing else.
func TestClientsUsage(t *testing.T) {
	s := &clientScenario{t: t, g: start(t), want: answers{}}
	s.create()
	s.count(clientRun{only: counted}, s.start)
}

// count lets the clients of a run evaluate each flag, and one that does not exist, and compares what they did with what Guidon shows.
func (s *clientScenario) count(run clientRun, start func(clientRun)) {
	s.t.Helper()
	run.flags, run.rounds = append(slices.Clone(clientFlags), clientFlag{"clients-unknown", "boolean"}), clientRounds
	s.want.set("unknown", "off")
	start(run)
	s.await("the start")
	want, names := s.evaluated()
	s.g.awaitUsage(s.t, want, names...)
	for _, c := range s.clients {
		s.g.ask(s.t, "GET", "/api/admin/metrics/applications/"+c.name+"/overview", s.g.token, "").
			has(s.t, 200, `"missingFeatures":["clients-unknown"]`, `"projects":["default"]`, `"name":"development"`)
		c.end(s.t)
	}
	for _, name := range names {
		var flag struct{ LastSeenAt *time.Time }
		if s.call("GET", project+"/features/"+name, nil, &flag); flag.LastSeenAt == nil {
			s.t.Errorf("%s was never seen", name)
		}
	}
	time.Sleep(endedFor)
	if got := s.g.usage(s.t, names...); !maps.Equal(got, want) {
		s.t.Errorf("after the clients have ended, the usage differs:\n%s", differences(got, want))
	}
}

// evaluated returns what the clients evaluate in all, and the names of the flags. In each round an SDK is asked for the variant of a
// flag, and whether it is on: two evaluations. The variant of a flag without one is counted as "disabled".
func (s *clientScenario) evaluated() (want answers, names []string) {
	want = answers{}
	for _, f := range clientFlags {
		names = append(names, f.Name)
		var sum usageRow
		for _, user := range clientUsers {
			words := strings.Fields(s.want[user.Name+" "+f.Name])
			row := usageRow{No: 2 * clientRounds}
			if words[0] == "on" {
				row = usageRow{Yes: 2 * clientRounds}
			}
			row.Variants = map[string]int64{"disabled": clientRounds}
			if len(words) > 1 {
				row.Variants = map[string]int64{words[1]: clientRounds}
			}
			sum.add(row)
		}
		for _, c := range s.clients {
			want[fmt.Sprintf("%s development %s", c.name, f.Name)] = sum.text()
		}
	}
	return want, names
}
