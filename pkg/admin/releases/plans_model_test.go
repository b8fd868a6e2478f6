package releases_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// A planModel is what a flag with a strategy of people's and perhaps a plan should be like.
type planModel struct {
	plan   *planned
	on     bool
	active int // from 1; 0 before the first milestone
	run    int64
	paused bool
	kept   []string // the percentages of strategies that are not of the plan

	minutes [3]int // after which the next milestone starts; 0 if a person starts it
	runAt   time.Time
	looks   map[look]bool // when the plan of this run is looked at
}

// A look is when a plan is looked at, and whether it has met a freeze before.
type look struct {
	at     time.Time
	frozen bool
}

var percentages = []string{"10", "50", "100"}

func (m *planModel) shares() []string {
	if m.plan == nil || m.active == 0 {
		return m.kept
	}
	return append(slices.Clone(m.kept), percentages[m.active-1])
}

func (m *planModel) state(frozen bool) string {
	switch {
	case !m.on:
		return "off"
	case m.paused:
		return "paused"
	case frozen:
		return "frozen"
	case m.active == len(percentages):
		return "last"
	}
	return "running"
}

// begin begins a run.
func (m *planModel) begin(milestone int, now time.Time) {
	m.active, m.run, m.runAt, m.looks = milestone, m.run+1, now, map[look]bool{}
	if due := m.due(); !due.IsZero() {
		m.looks[look{due, false}] = true
	}
}

// due is when the next milestone starts by itself; zero if it does not.
func (m *planModel) due() (at time.Time) {
	if m.plan == nil || !m.on || m.paused || m.active == 0 || m.active == 3 || m.minutes[m.active-1] == 0 {
		return at
	}
	return m.runAt.Add(time.Duration(m.minutes[m.active-1]) * time.Minute)
}

// interval changes after how many minutes a milestone is followed by the next one.
func (m *planModel) interval(milestone, minutes int) {
	before := m.due()
	m.minutes[milestone] = minutes
	if after := m.due(); !after.Equal(before) {
		delete(m.looks, look{before, false})
		if !after.IsZero() {
			m.looks[look{after, false}] = true
		}
	}
}

// minute is what is done in a minute.
func (m *planModel) minute(now, frozenUntil time.Time) {
	list := slices.SortedFunc(maps.Keys(m.looks), func(a, b look) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(fmt.Sprint(a.frozen), fmt.Sprint(b.frozen)))
	})
	for _, l := range list {
		due := m.due()
		if l.at.After(now) || due.IsZero() {
			return
		}
		delete(m.looks, l)
		switch {
		case due.After(now):
			m.looks[look{due, false}] = true
		case now.Before(frozenUntil):
			m.looks[look{now.Add(5 * time.Minute), true}] = true
		case l.frozen:
			m.begin(m.active, now)
			return
		default:
			m.begin(m.active+1, now)
			return
		}
	}
}

// TestPlanModel runs random sequences of operations on a flag with a release plan, over a store that loses responses, and compares the state and the
// strategies with a small model after each.
func TestPlanModel(t *testing.T) {
	t.Parallel()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // not set on the command line
		if err := flag.Set("rapid.checks", strconv.Itoa(dynamotest.Times(10, 20))); err != nil {
			t.Fatal(err)
		}
	}
	faults, clock := &dynamotest.Faults{LoseResponses: 0.1, Seed: 7}, apitest.NewClock()
	s := apitest.Serve(t, func(c *httpapi.Config, transport *http.RoundTripper) { c.Now, *transport = clock.Time, faults })
	sequences := 0
	var frozenUntil time.Time
	rapid.Check(t, func(rt *rapid.T) {
		sequences++
		name, m := fmt.Sprint("f", sequences), &planModel{kept: []string{"1"}}
		s.Create(t, name)
		in := apitest.In(name, "development")
		s.AddStrategy(t, name, `{"name":"flexibleRollout","parameters":{"rollout":"1"}}`)
		do := func(want int, method, path string) apitest.Answer {
			got := s.Do(t, method, path, "")
			if got.Status != want {
				rt.Fatalf("%s %s: status %d %.200s, want %d; the model is %+v", method, path, got.Status, got.Body, want, m)
			}
			return got
		}
		defer func() {
			if m.plan != nil {
				s.Do(t, "DELETE", plansOf(name)+"/"+m.plan.ID, "")
			}
		}()
		one := func() string { return plansOf(name) + "/" + m.plan.ID }
		planOnly := func(f func(rt *rapid.T)) func(rt *rapid.T) {
			return func(rt *rapid.T) {
				if m.plan == nil {
					rt.Skip()
				}
				f(rt)
			}
		}
		add := func(rt *rapid.T) {
			got := s.Do(t, "POST", plansOf(name), `{"existing":"keep",`+template("Canary", share(10, 3), share(50, 3), share(100))[1:])
			if want := map[bool]int{true: 200, false: 409}[m.plan == nil]; got.Status != want {
				rt.Fatalf("add: status %d %.200s, want %d", got.Status, got.Body, want)
			}
			if m.plan == nil {
				p := apitest.Decode[planned](t, got.Body)
				m.plan, m.active, m.run, m.paused, m.minutes, m.looks = &p, 0, 0, false, [3]int{3, 3}, nil
				if m.on {
					m.begin(1, clock.Time())
				}
			}
		}
		on := func(*rapid.T) {
			do(200, "POST", in+"/on")
			if was := m.on; !was {
				m.on = true
				if m.plan != nil {
					m.begin(max(m.active, 1), clock.Time())
				}
			}
		}
		add(rt)
		on(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"add": add,
			"on":  on,
			"off": func(*rapid.T) { do(200, "POST", in+"/off"); m.on = false },
			"archive and revive": func(*rapid.T) {
				do(202, "DELETE", apitest.Features+"/"+name)
				do(200, "POST", "/api/admin/archive/revive/"+name)
				m.on = false
			},
			"start": planOnly(func(rt *rapid.T) {
				i, restart := rapid.IntRange(0, 2).Draw(rt, "milestone"), rapid.Bool().Draw(rt, "restart")
				do(200, "POST", fmt.Sprintf("%s?restart=%t", m.plan.start(name, i), restart))
				if i+1 != m.active || restart {
					m.paused = false
					m.begin(i+1, clock.Time())
				}
			}),
			"pause": planOnly(func(*rapid.T) { do(200, "POST", one()+"/pause"); m.paused = true }),
			"resume": planOnly(func(*rapid.T) {
				do(200, "POST", m.plan.resume(name))
				if m.paused {
					m.paused = false
					m.begin(m.active, clock.Time())
				}
			}),
			"interval": planOnly(func(rt *rapid.T) {
				i, minutes := rapid.IntRange(0, 1).Draw(rt, "milestone"), rapid.IntRange(1, 10).Draw(rt, "minutes")
				got := s.Do(t, "PUT", m.plan.progression(name, i), progression(m.plan.Milestones[i+1].ID, minutes))
				if got.Status != 200 {
					rt.Fatalf("interval: status %d %.200s", got.Status, got.Body)
				}
				m.interval(i, minutes)
			}),
			"by hand": planOnly(func(rt *rapid.T) {
				i := rapid.IntRange(0, 1).Draw(rt, "milestone")
				if m.minutes[i] > 0 {
					do(204, "DELETE", m.plan.progression(name, i))
					m.interval(i, 0)
				}
			}),
			"time": func(rt *rapid.T) {
				clock.Advance(time.Duration(rapid.IntRange(0, 8).Draw(rt, "minutes")) * time.Minute)
				if rapid.Bool().Draw(rt, "outage") {
					return
				}
				minute(t, s, clock, faults, rapid.IntRange(1, 2).Draw(rt, "runners"))
				m.minute(clock.Time(), frozenUntil)
			},
			"freeze": func(rt *rapid.T) {
				if until := clock.Time().Add(10 * time.Minute); !clock.Time().Before(frozenUntil) {
					freeze(t, s, until)
					frozenUntil = until
				}
			},
			"remove": planOnly(func(*rapid.T) { do(200, "DELETE", one()); m.plan, m.active = nil, 0 }),
			"detach": planOnly(func(rt *rapid.T) {
				if len(m.kept) > 10 {
					rt.Skip() // the flag would have too many strategies
				}
				do(200, "POST", one()+"/detach")
				m.kept = m.shares()
				m.plan, m.active = nil, 0
			}),
			"": func(rt *rapid.T) {
				if got := shares(t, s, name); !slices.Equal(got, m.shares()) {
					rt.Fatalf("percentages %q, want %q; the model is %+v", got, m.shares(), m)
				}
				state := m.state(clock.Time().Before(frozenUntil))
				list := apitest.Decode[[]planned](t, s.Must(t, "GET", plansOf(name), "").Body)
				if m.plan == nil && len(list) > 0 || m.plan != nil && (len(list) != 1 || list[0].Run != m.run || list[0].State != state) {
					rt.Fatalf("plans %+v, want the state %s and the run %d of %+v", list, state, m.run, m)
				}
			},
		})
	})
	if faults.Injected()[dynamotest.LoseResponse] == 0 {
		t.Error("no response was lost")
	}
}
