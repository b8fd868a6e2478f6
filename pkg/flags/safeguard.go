package flags

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Safeguard pauses a release plan or switches its flag off when a signal fires, once in each run.
type Safeguard struct {
	ID     string          `json:"id"`
	Signal string          `json:"signal"` // the ARN of a CloudWatch alarm, or the name of a signal of the environment
	Action SafeguardAction `json:"action"`

	TriggeredAt  time.Time `json:"triggeredAt,omitzero"`  // when it acted last
	Acted        int64     `json:"acted,omitzero"`        // the run in which it acted last
	Acknowledged time.Time `json:"acknowledged,omitzero"` // what has begun to fire until then does not have it act
}

// A SafeguardAction is what a safeguard does.
type SafeguardAction string

// The actions of safeguards.
const (
	SafeguardPause SafeguardAction = "pause" // the plan
	SafeguardOff   SafeguardAction = "off"   // the flag in the environment
)

// The limits of safeguards.
const (
	MaxSafeguards = 3   // of a template or plan
	maxOfFlag     = 15  // of all plans of a flag: the transaction that archives the flag moves the items of each
	MaxAlarm      = 512 // bytes of an ARN
	maxAlarmName  = 255 // bytes: CloudWatch refuses a call with a longer one
)

// IsAlarm reports whether the signal of a safeguard is a CloudWatch alarm.
func (s Safeguard) IsAlarm() bool { return strings.Contains(s.Signal, ":") }

// Says describes the signal.
func (s Safeguard) Says() string {
	if s.IsAlarm() {
		return "alarm " + strconv.Quote(s.alarm())
	}
	return "signal " + strconv.Quote(s.Signal)
}

// alarm is the name of the alarm.
func (s Safeguard) alarm() string {
	_, name, _ := strings.Cut(s.Signal, ":alarm:")
	return name
}

var alarmARN = regexp.MustCompile(`^arn:[a-z-]+:cloudwatch:[a-z0-9-]+:[0-9]{12}:alarm:[^\x00-\x1f]+$`)

// checkSafeguards adds the problems of safeguards that can be found without the store.
func checkSafeguards(list []Safeguard, p *Problems) {
	if !CheckCount("/safeguards", "safeguards", len(list), MaxSafeguards, p) {
		return
	}
	for i, s := range list {
		at := "/safeguards/" + strconv.Itoa(i)
		s.Check(at, p)
		if slices.ContainsFunc(list[:i], func(other Safeguard) bool { return other.Signal == s.Signal }) {
			p.Add(at+"/signal", "is that of another safeguard")
		}
	}
}

// Check adds the problems of a safeguard that can be found without the store.
func (s Safeguard) Check(at string, p *Problems) {
	switch {
	case !s.IsAlarm():
		CheckSignalName(at+"/signal/name", s.Signal, p)
	case len(s.Signal) > MaxAlarm || len(s.alarm()) > maxAlarmName || !alarmARN.MatchString(s.Signal):
		p.Add(at+"/signal/alarm", "must be the ARN of a CloudWatch alarm, with a name of at most %d bytes", maxAlarmName)
	}
	if s.Action != SafeguardPause && s.Action != SafeguardOff {
		p.Add(at+"/action/type", "must be pause or off")
	}
}

// AlarmState is the state of a CloudWatch alarm.
type AlarmState struct {
	State       string    // OK, ALARM or INSUFFICIENT_DATA
	Since       time.Time // when it got that state; zero if CloudWatch does not say
	Reason      string
	MissingData bool // it has no state without data, so that it holds steps (TreatMissingData: missing)
}

// withoutProgress returns the safeguard as if it had never acted.
func (s Safeguard) withoutProgress() Safeguard {
	return Safeguard{ID: s.ID, Signal: s.Signal, Action: s.Action}
}

// SetSafeguard adds a safeguard to the flag's plan, or replaces what the one of the same signal does.
func (f *Feature) SetSafeguard(env ProjectEnvironment, plan string, s Safeguard) error {
	changed, err := f.FindPlan(env, plan)
	if err != nil {
		return err
	}
	changed.Safeguards = slices.Clone(changed.Safeguards)
	i := slices.IndexFunc(changed.Safeguards, func(had Safeguard) bool { return had.Signal == s.Signal })
	switch {
	case i >= 0 && changed.Safeguards[i].Action == s.Action:
		return nil
	case i >= 0:
		s.ID = changed.Safeguards[i].ID
		changed.Safeguards[i] = s
	case len(changed.Safeguards) >= MaxSafeguards:
		return Errorf(Conflict, "release plan %q has %d safeguards, and no more are allowed: delete one first", changed.Name, MaxSafeguards)
	default:
		changed.Safeguards = append(changed.Safeguards, s)
	}
	f.setPlan(env, &changed, f.In(env).Strategies)
	return f.checkSafeguards()
}

// checkSafeguards returns Conflict if the plans of the flag have too many safeguards together.
func (f *Feature) checkSafeguards() error {
	n := 0
	for _, fe := range f.Environments {
		if fe.Plan != nil {
			n += len(fe.Plan.Safeguards)
		}
	}
	if n > maxOfFlag {
		return Errorf(Conflict, "the release plans of flag %q would have %d safeguards in its environments together, and no more than %d are allowed: delete some first", f.Name, n, maxOfFlag)
	}
	return nil
}

// RemoveSafeguard removes a safeguard from the flag's plan, and returns it.
func (f *Feature) RemoveSafeguard(env ProjectEnvironment, plan, id string) (gone Safeguard, err error) {
	changed, err := f.FindPlan(env, plan)
	if err != nil {
		return gone, err
	}
	i := slices.IndexFunc(changed.Safeguards, func(s Safeguard) bool { return s.ID == id })
	if i < 0 {
		return gone, Errorf(NotFound, "release plan %q has no safeguard %q", changed.Name, id)
	}
	gone = changed.Safeguards[i]
	changed.Safeguards = slices.Delete(slices.Clone(changed.Safeguards), i, i+1)
	f.setPlan(env, &changed, f.In(env).Strategies)
	return gone, nil
}

// SwitchesOff reports whether a safeguard of the plan switches the flag off.
func (p *ReleasePlan) SwitchesOff() bool {
	return p != nil && slices.ContainsFunc(p.Safeguards, func(s Safeguard) bool { return s.Action == SafeguardOff })
}

// CheckSwitchesOff returns Conflict if a safeguard of the flag's plan switches the flag off and a child needs it to be off: the safeguard would
// switch the child on. children are those of the flag.
func (f *Feature) CheckSwitchesOff(env ProjectEnvironment, children []*Feature) error {
	if !f.Plan(env).SwitchesOff() {
		return nil
	}
	for _, child := range children {
		if i := child.parentIndex(f.Name); i >= 0 && !child.Dependencies[i].Enabled {
			return Errorf(Conflict, "a safeguard cannot switch flag %q off, because flag %q is on where %[1]q is off; let the safeguard pause, or remove that dependency", f.Name, child.Name)
		}
	}
	return nil
}

// StoppedBy returns the safeguard that acted last in the present run of the plan; nil for none.
func (p *ReleasePlan) StoppedBy() (last *Safeguard) {
	for i, s := range p.Safeguards {
		if p.Run > 0 && s.Acted == p.Run && (last == nil || s.TriggeredAt.After(last.TriggeredAt)) {
			last = &p.Safeguards[i]
		}
	}
	return last
}

// Trigger has a safeguard of the flag's plan act.
func (f *Feature) Trigger(env ProjectEnvironment, id string, at time.Time) {
	off := false
	f.changeSafeguards(env, []string{id}, func(plan *ReleasePlan, s *Safeguard) {
		s.TriggeredAt, s.Acted = at, plan.Run
		plan.Paused = plan.Paused || s.Action == SafeguardPause
		off = s.Action == SafeguardOff
	})
	if off {
		f.Disable(env)
	}
}

// Acknowledge keeps safeguards of the flag's plan from acting until their signals, which fire, have been quiet once. since is when these began to,
// by the IDs of the safeguards.
func (f *Feature) Acknowledge(env ProjectEnvironment, since map[string]time.Time) {
	if len(since) > 0 {
		f.changeSafeguards(env, slices.Collect(maps.Keys(since)), func(_ *ReleasePlan, s *Safeguard) { s.Acknowledged = since[s.ID] })
	}
}

// Acts reports whether a safeguard acts: once in each run, if its signal fires, or no longer does but began to in this run. since is when it
// began to fire last; zero if that is not known.
func (p *ReleasePlan) Acts(s Safeguard, firing bool, since time.Time) bool {
	later := since.After(s.Acknowledged)
	return s.Acted != p.Run && (firing && (later || s.Acknowledged.IsZero()) || later && since.After(p.RunAt))
}

// Acts reports whether a safeguard that is watched acts. It is true for one that the flag no longer has: the attempt finds that out.
func (f *Feature) Acts(watched Due, firing bool, since time.Time) bool {
	for _, fe := range f.Environments {
		if fe.Plan != nil && fe.Plan.ID == watched.Plan {
			for _, s := range fe.Plan.Safeguards {
				if s.ID == watched.Safeguard {
					return fe.Plan.Acts(s, firing, since)
				}
			}
		}
	}
	return true
}

// changeSafeguards changes those safeguards of the flag's plan.
func (f *Feature) changeSafeguards(env ProjectEnvironment, ids []string, change func(plan *ReleasePlan, s *Safeguard)) {
	plan := *f.Plan(env)
	plan.Safeguards = slices.Clone(plan.Safeguards)
	for i := range plan.Safeguards {
		if s := &plan.Safeguards[i]; slices.Contains(ids, s.ID) {
			change(&plan, s)
		}
	}
	f.setPlan(env, &plan, f.In(env).Strategies)
}

// watch is when the signals of safeguards are looked at: always while the plan runs and they have not acted, and else never. They are listed
// then, too, because their signals are in use.
func (fe FeatureEnvironment) watch(flag Key) (list []Due) {
	if fe.Plan == nil || fe.Plan.Attachment == "" {
		return nil
	}
	for _, s := range fe.Plan.Safeguards {
		d := Due{Key: flag, At: WatchNever, Plan: fe.Plan.ID, Attachment: fe.Plan.Attachment, Safeguard: s.ID, Signal: s.Signal}
		if fe.EnabledIn == fe.Plan.Attachment && s.Acted != fe.Plan.Run {
			d.At = WatchAlways
		}
		list = append(list, d)
	}
	return list
}

// The times at which safeguards are looked at.
var (
	WatchAlways = time.Time{}
	WatchNever  = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// checkMoved returns Conflict if a safeguard of the plan has a signal of the project that the flag would leave.
func (p *ReleasePlan) checkMoved(flag string) error {
	for _, s := range p.Safeguards {
		if !s.IsAlarm() {
			return Errorf(Conflict, "flag %q cannot be moved: a safeguard of its release plan %q has %s of this project; delete that safeguard first", flag, p.Name, s.Says())
		}
	}
	return nil
}

// stopped says what a safeguard has done.
func (s *Safeguard) stopped() string {
	did := "paused the plan"
	if s.Action == SafeguardOff {
		did = "switched the flag off"
	}
	return fmt.Sprintf("A safeguard %s at %s, because %s fired.", did, s.TriggeredAt.UTC().Format(time.RFC3339), s.Says())
}
