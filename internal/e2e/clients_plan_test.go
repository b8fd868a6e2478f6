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

// TestClientsPlan takes a flag from milestone to milestone, and ends with a signal that switches it off. Unmodified SDKs with 1,000 users keep
// the flag for each user who had it, until none has it.
func TestClientsPlan(t *testing.T) {
	const flag = "clients-plan"
	s := &clientScenario{t: t, g: start(t)}
	in := inDevelopment("plan")
	signals := project + "/environments/development/signals"
	var signal struct{ Secret string }
	s.call("POST", signals, map[string]string{"name": "errors"}, &signal)
	s.call("POST", project+"/features", map[string]string{"name": flag}, nil)
	var milestones []any
	shares := []int{10, 25, 50, 100}
	for _, share := range shares {
		milestones = append(milestones, map[string]any{"name": fmt.Sprint(share), "strategies": []any{
			map[string]any{"strategyName": "flexibleRollout", "parameters": map[string]string{"rollout": fmt.Sprint(share), "stickiness": "userId"}}}})
	}
	var plan struct {
		ID         string
		Milestones []struct{ ID string }
	}
	s.call("POST", in+"/release-plans", map[string]any{"name": "Steps", "milestones": milestones, "safeguards": []any{
		map[string]any{"signal": map[string]string{"name": "errors"}, "action": map[string]string{"type": "off"}}}}, &plan)
	s.call("POST", in+"/on", nil, nil)

	users := make([]clientUser, 1000)
	for i := range users {
		users[i] = clientUser{Name: fmt.Sprint(i), UserID: fmt.Sprint("user-", i), Plan: "free"}
	}
	s.clients = startClients(t, s.g, clientRun{flags: []clientFlag{{flag, "boolean"}}, users: users,
		only: func(name string) bool {
			return slices.Contains([]string{"node", "python", "go-client", "go-sdk"}, name)
		}})
	for i, share := range shares {
		if i > 0 {
			s.call("POST", in+"/release-plans/"+plan.ID+"/milestones/"+plan.Milestones[i].ID+"/start", nil, nil)
		}
		s.awaitShare(share)
	}
	own := *s.g
	own.token = "Bearer " + signal.Secret
	own.do(t, 204, "POST", "/api/signals/errors", `{"status":"firing"}`, nil)
	s.awaitShare(0)
	for _, c := range s.clients {
		c.end(t)
		before := map[string]bool{}
		for line := range strings.Lines(c.process.stdout.String()) {
			var all answers
			decode(t, []byte(line), &all)
			now := usersWithFlag(all)
			lost := 0
			for user := range before {
				if !now[user] {
					lost++
				}
			}
			if lost > 0 {
				t.Errorf("%s takes the flag from %d of %d users, and %d have it", c.name, lost, len(before), len(now))
			}
			if before = now; len(now) == len(users) { // what follows is the stop, which can come while users are evaluated
				break
			}
		}
	}
}

// awaitShare waits until a percentage of the users has the flag, about, and the same users in every client.
func (s *clientScenario) awaitShare(percent int) {
	s.t.Helper()
	var sets []string
	for began := time.Now(); time.Since(began) < seenTimeout; time.Sleep(100 * time.Millisecond) {
		sets = nil
		for _, c := range s.clients {
			now := usersWithFlag(c.latest(s.t))
			list := slices.Sorted(maps.Keys(now))
			sets = append(sets, fmt.Sprintf("%d users: %s", len(now), strings.Join(list, " ")))
			if n := len(now) - 10*percent; n < -40 || n > 40 || (len(now) == 0) != (percent == 0) {
				sets = append(sets, "not yet")
			}
		}
		if len(slices.Compact(sets)) == 1 {
			s.t.Logf("%d %%: %.20s after %.1f s", percent, sets[0], time.Since(began).Seconds())
			return
		}
	}
	s.t.Fatalf("%d %%: the clients have %.200q", percent, sets)
}

// usersWithFlag returns the users that have the only flag.
func usersWithFlag(all answers) map[string]bool {
	with := map[string]bool{}
	for question, answer := range all {
		if answer != "off" {
			with[question] = true
		}
	}
	return with
}
