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

	guard      string    // what the plan's safeguard does: pause or off; "" for none
	acted      bool      // the safeguard, in this run
	firing     bool      // the signal
	since, ack time.Time // when it began to fire last; what has begun to fire until then does not have the safeguard act
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

func (m *planModel) state(frozen bool, now time.Time) string {
	switch due := m.due(); {
	case !m.on:
		return "off"
	case m.acted:
		return "stopped"
	case m.paused:
		return "paused"
	case frozen:
		return "frozen"
	case m.held() && !due.IsZero() && !due.After(now):
		return "held"
	case m.active == len(percentages):
		return "last"
	}
	return "running"
}

// held reports whether the signal keeps the next milestone from starting by itself.
func (m *planModel) held() bool { return m.firing && m.plan != nil && m.guard != "" }

// act has the safeguard act if its signal fires.
func (m *planModel) act() {
	if !m.held() || !m.on || m.acted || !m.ack.IsZero() && !m.since.After(m.ack) {
		return
	}
	m.acted = true
	m.paused = m.paused || m.guard == "pause"
	m.on = m.guard != "off"
}

// begin begins a run.
func (m *planModel) begin(milestone int, now time.Time) {
	m.acted = false
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
	m.act()
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
		case m.held():
			m.looks[look{now.Add(5 * time.Minute), l.frozen}] = true
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
	sequences, secret := 0, newSignal(t, s, signalsPath, "errors")
	var frozenUntil, since time.Time
	rapid.Check(t, func(rt *rapid.T) {
		sequences++
		name, m := fmt.Sprint("f", sequences), &planModel{kept: []string{"1"}, since: since}
		s.Create(t, name)
		in := apitest.In(name, "development")
		s.AddStrategy(t, name, `{"name":"flexibleRollout","parameters":{"rollout":"1"}}`)
		do := func(want int, method, path string, body ...string) apitest.Answer {
			got := s.Do(t, method, path, strings.Join(body, ""))
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
		signal := func(firing bool) {
			status := map[bool]string{true: "firing", false: "resolved"}[firing]
			if got := post(t, s, "errors", secret, `{"status":"`+status+`"}`); got != 204 {
				rt.Fatalf("%s: status %d", status, got)
			}
			if firing && !m.firing {
				since = clock.Time()
				m.since = since
			}
			m.firing = firing
			m.act()
		}
		// forward is the answer of what begins a run, and the body that has it begin although the signal fires.
		forward := func(rt *rapid.T) (want int, body string) {
			switch force := rapid.Bool().Draw(rt, "force"); {
			case !m.held():
				return 200, ""
			case force:
				m.ack = m.since
				return 200, `{"force":"it is wrong"}`
			}
			return 409, ""
		}
		add := func(rt *rapid.T) {
			guard := rapid.SampledFrom([]string{"pause", "off"}).Draw(rt, "guard")
			got := s.Do(t, "POST", plansOf(name), `{"existing":"keep",`+guarded([]string{share(10, 3), share(50, 3), share(100)}, safeguard("errors", guard))[1:])
			if want := map[bool]int{true: 200, false: 409}[m.plan == nil]; got.Status != want {
				rt.Fatalf("add: status %d %.200s, want %d", got.Status, got.Body, want)
			}
			if m.plan == nil {
				p := apitest.Decode[planned](t, got.Body)
				m.plan, m.active, m.run, m.paused, m.minutes, m.looks = &p, 0, 0, false, [3]int{3, 3}, nil
				m.guard, m.acted, m.ack = guard, false, time.Time{}
				if m.on {
					m.begin(1, clock.Time())
				}
			}
		}
		on := func(rt *rapid.T) {
			want, body := 200, ""
			if !m.on {
				want, body = forward(rt)
			}
			do(want, "POST", in+"/on", body)
			if want == 200 && !m.on {
				m.on = true
				if m.plan != nil {
					m.begin(max(m.active, 1), clock.Time())
				}
			}
		}
		signal(false)
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
				want, body := 200, ""
				if i+1 > m.active && m.on {
					want, body = forward(rt)
				}
				do(want, "POST", fmt.Sprintf("%s?restart=%t", m.plan.start(name, i), restart), body)
				if want == 200 && (i+1 != m.active || restart) {
					m.paused = false
					m.begin(i+1, clock.Time())
				}
			}),
			"pause": planOnly(func(*rapid.T) { do(200, "POST", one()+"/pause"); m.paused = true }),
			"resume": planOnly(func(rt *rapid.T) {
				want, body := 200, ""
				if m.paused && m.on {
					want, body = forward(rt)
				}
				do(want, "POST", m.plan.resume(name), body)
				if want == 200 && m.paused {
					m.paused = false
					m.begin(m.active, clock.Time())
				}
			}),
			"fires":     func(*rapid.T) { signal(true) },
			"is quiet":  func(*rapid.T) { signal(false) },
			"is quiet ": func(*rapid.T) { signal(false) }, // more often than not
			"safeguard": planOnly(func(rt *rapid.T) {
				guard := rapid.SampledFrom([]string{"pause", "off"}).Draw(rt, "guard")
				do(204, "PUT", one()+"/safeguards", safeguard("errors", guard))
				if m.guard != guard {
					m.guard, m.acted, m.ack = guard, false, time.Time{}
					if !m.firing {
						m.ack = m.since
					}
				}
			}),
			"no safeguard": planOnly(func(*rapid.T) {
				if m.guard != "" {
					list := apitest.Decode[[]struct{ Safeguards []struct{ ID string } }](t, s.Must(t, "GET", plansOf(name), "").Body)
					do(204, "DELETE", one()+"/safeguards/"+list[0].Safeguards[0].ID)
					m.guard, m.acted, m.ack = "", false, time.Time{}
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
				state := m.state(clock.Time().Before(frozenUntil), clock.Time())
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
