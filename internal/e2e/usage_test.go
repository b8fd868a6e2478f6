package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// usageTimeout is how long it may take until Guidon shows what was reported. The local server adds it up every five seconds.
const usageTimeout = time.Minute

// answers has texts by what they answer: what a client says of a flag, such as "on blue hello" for "seven clients-text", or its usage.
type answers map[string]string

// differences lists what differs from what is expected.
func differences(got, want answers) string {
	both := maps.Clone(want)
	maps.Copy(both, got)
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(both)) {
		if got[key] != want[key] {
			lines = append(lines, fmt.Sprintf("%s is %q, want %q", key, got[key], want[key]))
		}
	}
	return strings.Join(lines, "\n")
}

// A usageRow is how often an application evaluated a flag in an hour.
type usageRow struct {
	AppName, Environment string
	Yes, No              int64
	Variants             map[string]int64
}

// add adds the numbers of another row.
func (r *usageRow) add(other usageRow) {
	r.Yes += other.Yes
	r.No += other.No
	if r.Variants == nil {
		r.Variants = map[string]int64{}
	}
	for name, n := range other.Variants {
		r.Variants[name] += n
	}
}

// text returns the numbers: yes 80, no 80, blue 40.
func (r *usageRow) text() string {
	text := fmt.Sprintf("yes %d, no %d", r.Yes, r.No)
	for _, name := range slices.Sorted(maps.Keys(r.Variants)) {
		text += fmt.Sprintf(", %s %d", name, r.Variants[name])
	}
	return text
}

// usage returns what Guidon shows for flags: the sums of all hours, by application, environment and flag.
func (g *gateway) usage(t *testing.T, flags ...string) answers {
	t.Helper()
	shown := answers{}
	for _, flag := range flags {
		var raw struct{ Data []usageRow }
		status, answer, err := g.send(t.Context(), "GET", "/api/admin/client-metrics/features/"+flag+"/raw", nil)
		if err != nil || status != http.StatusOK {
			t.Fatalf("the usage of %s: %d %s, %v", flag, status, answer, err)
		}
		decode(t, answer, &raw)
		sums := map[string]*usageRow{}
		for _, row := range raw.Data {
			key := fmt.Sprintf("%s %s %s", row.AppName, row.Environment, flag)
			if sums[key] == nil {
				sums[key] = &usageRow{}
			}
			sums[key].add(row)
		}
		for key, sum := range sums {
			shown[key] = sum.text()
		}
	}
	return shown
}

// awaitUsage waits until Guidon shows exactly this usage of flags.
func (g *gateway) awaitUsage(t *testing.T, want answers, flags ...string) {
	t.Helper()
	began := time.Now()
	got := g.usage(t, flags...)
	for ; !maps.Equal(got, want) && time.Since(began) < usageTimeout; time.Sleep(500 * time.Millisecond) {
		got = g.usage(t, flags...)
	}
	if !maps.Equal(got, want) {
		t.Fatalf("after %s the usage differs:\n%s", usageTimeout, differences(got, want))
	}
	t.Logf("Guidon showed all usage after %.1f s", time.Since(began).Seconds())
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}
