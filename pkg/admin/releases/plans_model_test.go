package releases_test

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"

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
}

var percentages = []string{"10", "50", "100"}

func (m *planModel) shares() []string {
	if m.plan == nil || m.active == 0 {
		return m.kept
	}
	return append(slices.Clone(m.kept), percentages[m.active-1])
}

func (m *planModel) state() string {
	switch {
	case !m.on:
		return "off"
	case m.paused:
		return "paused"
	case m.active == len(percentages):
		return "last"
	}
	return "running"
}

func (m *planModel) begin(milestone int) { m.active, m.run, m.paused = milestone, m.run+1, false }

// TestPlanModel runs random sequences of operations on a flag with a release plan, over a store that loses responses, and compares the state and the
// strategies with a small model after each.
func TestPlanModel(t *testing.T) {
	t.Parallel()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // not set on the command line
		if err := flag.Set("rapid.checks", strconv.Itoa(dynamotest.Times(10, 20))); err != nil {
			t.Fatal(err)
		}
	}
	faults := &dynamotest.Faults{LoseResponses: 0.1, Seed: 7}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	sequences := 0
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
		one := func() string { return plansOf(name) + "/" + m.plan.ID }
		planOnly := func(f func(rt *rapid.T)) func(rt *rapid.T) {
			return func(rt *rapid.T) {
				if m.plan == nil {
					rt.Skip()
				}
				f(rt)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(rt *rapid.T) {
				got := s.Do(t, "POST", plansOf(name), `{"existing":"keep",`+template("Canary", share(10), share(50), share(100))[1:])
				if want := map[bool]int{true: 200, false: 409}[m.plan == nil]; got.Status != want {
					rt.Fatalf("add: status %d %.200s, want %d", got.Status, got.Body, want)
				}
				if m.plan == nil {
					p := apitest.Decode[planned](t, got.Body)
					m.plan, m.active, m.run, m.paused = &p, 0, 0, false
					if m.on {
						m.begin(1)
					}
				}
			},
			"on": func(*rapid.T) {
				do(200, "POST", in+"/on")
				if !m.on && m.plan != nil {
					m.active, m.run = max(m.active, 1), m.run+1
				}
				m.on = true
			},
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
					m.begin(i + 1)
				}
			}),
			"pause": planOnly(func(*rapid.T) { do(200, "POST", one()+"/pause"); m.paused = true }),
			"resume": planOnly(func(*rapid.T) {
				do(200, "POST", m.plan.resume(name))
				if m.paused {
					m.paused, m.run = false, m.run+1
				}
			}),
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
				list := apitest.Decode[[]planned](t, s.Must(t, "GET", plansOf(name), "").Body)
				if m.plan == nil && len(list) > 0 || m.plan != nil && (len(list) != 1 || list[0].Run != m.run || list[0].State != m.state()) {
					rt.Fatalf("plans %+v, want the state %s and the run %d of %+v", list, m.state(), m.run, m)
				}
			},
		})
	})
	if faults.Injected()[dynamotest.LoseResponse] == 0 {
		t.Error("no response was lost")
	}
}
