package wire

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// AlarmStates returns the states of the alarms of safeguards.
func AlarmStates(tx *httpapi.Tx, list []flags.Safeguard) (map[string]flags.AlarmState, error) {
	var arns []string
	for _, s := range list {
		if s.IsAlarm() {
			arns = append(arns, s.Signal)
		}
	}
	if len(arns) == 0 || tx.Alarms() == nil {
		return nil, nil
	}
	type states struct {
		of  map[string]flags.AlarmState
		err error
	}
	read := httpapi.OncePerRequest(tx, alarmsOf(strings.Join(arns, "\n")), func(ctx context.Context) states {
		of, err := tx.Alarms().Read(ctx, arns)
		return states{of, err}
	})
	return read.of, read.err
}

type alarmsOf string

// A SignalNow is what the signal of a safeguard says.
type SignalNow struct {
	flags.Safeguard

	Firing bool
	Since  time.Time // when it began to fire last; zero if that is not known
	Holds  string    // what keeps the next milestone from starting by itself; "" for nothing
}

// SignalsNow returns what the signals of the safeguards of a plan say. With why, that includes what an alarm says.
func SignalsNow(tx *httpapi.Tx, plan *flags.ReleasePlan, why bool) (list []SignalNow) {
	states, err := AlarmStates(tx, plan.Safeguards)
	for _, s := range plan.Safeguards {
		now := SignalNow{Safeguard: s}
		if s.IsAlarm() {
			state, found := states[s.Signal]
			switch {
			case err != nil || tx.Alarms() == nil:
				now.Holds = "cannot be read"
			case !found:
				now.Holds = "does not exist"
			case state.State != "OK":
				now.Firing, now.Since = state.State == "ALARM", state.Since
				now.Holds = "is in the state " + state.State
				if why && state.Reason != "" {
					now.Holds += " (" + state.Reason + ")"
				}
			}
		} else {
			signals := httpapi.Find[*flags.Signals](tx, flags.SignalsKey(plan.Attachment))
			now.Firing, now.Since = signals.Fires(s.Signal)
			switch {
			case !signals.Has(s.Signal):
				now.Holds = "does not exist"
			case now.Firing:
				now.Holds = "is firing"
			}
		}
		list = append(list, now)
	}
	return list
}

// HeldBy says what keeps the next milestone of a plan from starting by itself; "" for nothing. why is as for SignalsNow.
func HeldBy(tx *httpapi.Tx, plan *flags.ReleasePlan, why bool) string {
	for _, s := range SignalsNow(tx, plan, why) {
		if s.Holds != "" {
			return s.Says() + " " + s.Holds
		}
	}
	return ""
}

// CheckQuiet returns Conflict if a signal fires, unless force says why the plan is to go on in spite of it. It returns what the safeguards then
// do not act on, see Acknowledge, and what to note.
func CheckQuiet(tx *httpapi.Tx, plan *flags.ReleasePlan, force string) (since map[string]time.Time, cause string, err error) {
	since = map[string]time.Time{}
	for _, s := range SignalsNow(tx, plan, false) {
		if !s.Firing {
			continue
		}
		if force == "" {
			return nil, "", flags.Errorf(flags.Conflict, "the %s of release plan %q is firing; wait until it is quiet, or give a reason for going on in spite of it (force): its safeguard then does not act until the signal has been quiet once", s.Says(), plan.Name)
		}
		since[s.ID] = s.Since
		if s.Since.IsZero() {
			since[s.ID] = tx.Now
		}
		cause = cmp.Or(cause, fmt.Sprintf("Started although %s fires: %s", s.Says(), force))
	}
	return since, cause, nil
}

// A ForceBody says why a plan goes on although a signal fires.
type ForceBody struct {
	Force jsonbody.Maybe[string] `json:"force"`
}

// Check adds the problems that can be found without the store.
func (b ForceBody) Check(_ flags.Limits, problems *flags.Problems) {
	if b.Force.Set && strings.TrimSpace(b.Force.Value) == "" {
		problems.Add("/force", "must be the reason")
	}
	flags.CheckLength("/force", b.Force.Value, flags.MaxDescription, problems)
	flags.CheckControl("/force", b.Force.Value, problems)
}
