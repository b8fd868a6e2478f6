package overload

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"guidon/pkg/backoff"
)

// What a scenario lasts, and the parts of it that count: from 10 s after the load has risen, and from 10 s after it has fallen.
const (
	warm, high, calm = 20 * time.Second, 300 * time.Second, 40 * time.Second
	settle           = 10
)

var every = []Kind{Node, Python, Go, Java}

// scenario is a stage with the bounds of pkg/backoff, under a load of so many times its capacity. 0.7 is the usual load.
func scenario(peak float64) Scenario {
	return Scenario{
		Seed: 1, Mix: every, Usual: 0.7, Peak: peak, Warm: warm, High: high, Calm: calm, Feed: backoff.Polls,
		RetryAfter: [2]int{backoff.PollAfterLeast, backoff.PollAfterMost}, Concurrency: 40_000,
	}
}

// A result is what a scenario gave.
type result struct {
	peak, after Second
	seconds     float64 // of the peak
	ages        []time.Duration
}

func run(s Scenario) result {
	seconds, ages := Run(s)
	first, last := int(warm.Seconds())+settle, int((warm + high).Seconds())
	return result{peak: Sum(seconds[first:last]), after: Sum(seconds[last+settle:]), seconds: float64(last - first), ages: ages}
}

// missed lists the goals that a result misses.
func (r result) missed() (goals []string) {
	miss := func(missed bool, format string, values ...any) {
		if missed {
			goals = append(goals, fmt.Sprintf(format, values...))
		}
	}
	goodput := float64(r.peak.Served) / r.seconds / Capacity
	miss(goodput < 0.95, "goodput: %.3f of the capacity", goodput)
	refused := share(r.after.Refused, r.after.Served+r.after.Refused)
	miss(refused >= 0.01, "recovery: %.3f of the polls are refused 10 s after the load has fallen", refused)
	reads := share(r.peak.Reads, r.peak.Served+r.peak.Wasted+r.peak.Refused)
	miss(reads > 1.01, "reads: %.2f for each poll", reads)
	miss(r.peak.Busy > 1000, "functions: %d at the same time, of the 1,000 of an account", r.peak.Busy)
	return goals
}

func share(part, whole int) float64 { return float64(part) / max(1, float64(whole)) }

// TestOverload checks that a stage sheds the load that it cannot serve, and recovers.
func TestOverload(t *testing.T) {
	for name, change := range map[string]func(*Scenario){
		"1.7 times, SDK for Node.js":       func(s *Scenario) { s.Mix = []Kind{Node} },
		"3 times, SDK for Python":          func(s *Scenario) { s.Mix, s.Peak = []Kind{Python}, 3 },
		"1.7 times, SDK for Go":            func(s *Scenario) { s.Mix = []Kind{Go} },
		"1.7 times, SDK for Java":          func(s *Scenario) { s.Mix = []Kind{Java} },
		"the concurrency of a new account": func(s *Scenario) { s.Concurrency = 1000; s.Peak = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenario(1.7)
			change(&s)
			for _, goal := range run(s).missed() {
				t.Error(goal)
			}
		})
	}
}

// TestRetriesCollapse is the contrast: with the retries of the administration, and a Retry-After of a second, the same stage misses the
// goals. The quota of the SDK of AWS limits the damage; without it, goodput is lost too.
func TestRetriesCollapse(t *testing.T) {
	for name, c := range map[string]struct {
		quota uint
		want  []string
	}{
		"with the quota":    {0, []string{"reads", "functions"}},
		"without the quota": {1 << 30, []string{"goodput", "reads", "functions"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenario(1.7)
			s.Feed, s.RetryAfter, s.Quota = backoff.Patient, [2]int{1, 1}, c.quota
			missed := run(s).missed()
			t.Log(strings.Join(missed, "; "))
			for _, goal := range c.want {
				if !strings.Contains(strings.Join(missed, "\n"), goal+":") {
					t.Errorf("the goal %q is not missed, so the simulation cannot tell", goal)
				}
			}
		})
	}
}

// TestSilentStore lets DynamoDB respond to nothing for 20 s. Functions wait 1.5 s at most, and everything is as before soon after.
func TestSilentStore(t *testing.T) {
	t.Parallel()
	s := scenario(0.7)
	s.Silent, s.High = 20*time.Second, 30*time.Second
	seconds, _ := Run(s)
	silent, after := Sum(seconds[25:40]), Sum(seconds[50:])
	t.Logf("silent: %+v, after: %+v", silent, after)
	if silent.Served > 0 || silent.Refused == 0 || share(after.Refused, after.Refused+after.Served) >= 0.01 {
		t.Errorf("silent: %+v, 10 s after: %+v; want nothing served, and then less than 1 %% refused", silent, after)
	}
}

// TestRepeatable checks that a seed gives the same result.
func TestRepeatable(t *testing.T) {
	t.Parallel()
	s := scenario(1.2)
	s.High, s.Calm = 20*time.Second, 0
	if a, b := fmt.Sprint(Run(s)), fmt.Sprint(Run(s)); a != b {
		t.Error("two runs with the same seed differ")
	}
}

// TestPage checks the table in docs/operations/limits.md, and the goals for its loads. With ClientMaxAge, the feed is no limit.
func TestPage(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| SDKs that poll every 15 s | polls a second that get a response | that get 503 | reads of the feed a second | functions at the same time | age of the flags: half of the SDKs, 99 % |\n|---|---|---|---|---|---|\n")
	for _, row := range []struct {
		load   float64
		maxAge time.Duration
		note   string
	}{{0.7, 0, ""}, {1.7, 0, ""}, {3, 0, ""}, {10, 0, ""}, {10, time.Second, ", with `ClientMaxAge=1`"}} {
		s := scenario(row.load)
		s.MaxAge = row.maxAge
		r := run(s)
		if row.load > 1 && row.maxAge == 0 {
			for _, goal := range r.missed() {
				t.Errorf("%v times the capacity: %s", row.load, goal)
			}
		}
		if row.maxAge > 0 && (r.peak.Refused > 0 || r.peak.Reads > r.peak.Served/100) {
			t.Errorf("%d refused and %d reads with ClientMaxAge, for %d polls; want none and few", r.peak.Refused, r.peak.Reads, r.peak.Served)
		}
		perSecond := func(n int) string { return rounded(float64(n) / r.seconds) }
		age := func(q float64) string { return rounded(r.ages[int(q*float64(len(r.ages)-1))].Seconds()) }
		fmt.Fprintf(&table, "| %s, %v times the capacity%s | %s | %s | %s | %s | %s s, %s s |\n", rounded(row.load*Capacity*pollEvery.Seconds()), row.load, row.note,
			perSecond(r.peak.Served), perSecond(r.peak.Refused), perSecond(r.peak.Reads), rounded(float64(r.peak.Busy)), age(0.5), age(0.99))
	}
	text, err := os.ReadFile("../../docs/operations/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), table.String()) {
		t.Errorf("docs/operations/limits.md has other figures than the simulation; this is the table:\n\n%s", table.String())
	}
}

// rounded writes a number with two digits that count, and commas.
func rounded(n float64) string {
	if n > 0 {
		unit := math.Pow(10, math.Floor(math.Log10(n))-1)
		n = math.Round(n/unit) * unit
	}
	digits := fmt.Sprintf("%.0f", n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
