package releases

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// A safeguardBody is a safeguard. What a read adds may be sent back.
type safeguardBody struct {
	ID          jsonbody.Maybe[string]  `json:"id"`
	Signal      signalRefBody           `json:"signal"`
	Action      safeguardActionBody     `json:"action"`
	TriggeredAt jsonbody.Maybe[*string] `json:"triggeredAt"`

	Impact  jsontext.Value `json:"impactMetric"` // refused: there are no impact metrics
	Trigger jsontext.Value `json:"triggerCondition"`
}

// A signalRefBody is a CloudWatch alarm or a named signal.
type signalRefBody struct {
	Alarm jsonbody.Maybe[string] `json:"alarm"`
	Name  jsonbody.Maybe[string] `json:"name"`
}

type safeguardActionBody struct {
	Type string                 `json:"type"`
	ID   jsonbody.Maybe[string] `json:"id"`
}

func (b safeguardBody) safeguard() flags.Safeguard {
	s := flags.Safeguard{Signal: b.Signal.Name.Value, Action: flags.SafeguardAction(b.Action.Type)}
	if b.Signal.Alarm.Set {
		s.Signal = b.Signal.Alarm.Value
	}
	return s
}

// checkForm adds the problems of the form at a path.
func (b safeguardBody) checkForm(at string, problems *flags.Problems) {
	switch {
	case b.Impact != nil || b.Trigger != nil:
		problems.Add(at+"/impactMetric", `is not supported; send a signal in its place, {"signal": {"alarm": "<ARN>"}} or {"signal": {"name": "<name>"}}, and an action, {"action": {"type": "pause"}}`)
	case b.Signal.Alarm.Set == b.Signal.Name.Set:
		problems.Add(at+"/signal", "must have either alarm, the ARN of a CloudWatch alarm, or name, that of a signal of the environment")
	case b.Signal.Alarm.Set && !b.safeguard().IsAlarm():
		problems.Add(at+"/signal/alarm", "must be the ARN of a CloudWatch alarm")
	case b.Signal.Name.Set && b.safeguard().IsAlarm():
		problems.Add(at+"/signal/name", "must have only the characters a to z, 0 to 9 and -, and at least one of them")
	}
	flags.CheckLength(at+"/id", b.ID.Value, flags.MaxIdentifier, problems)
	flags.CheckLength(at+"/action/id", b.Action.ID.Value, flags.MaxIdentifier, problems)
	if read := b.TriggeredAt.Value; read != nil {
		flags.CheckLength(at+"/triggeredAt", *read, flags.MaxIdentifier, problems)
	}
}

// Check adds the problems that can be found without the store.
func (b safeguardBody) Check(_ flags.Limits, problems *flags.Problems) {
	b.checkForm("", problems)
	if len(*problems) == 0 {
		b.safeguard().Check("", problems)
	}
}

// checkSafeguard adds the problems of a safeguard whose alarm this service cannot read, or whose named signal the environment does not have.
// Without env, as for a template, names are not checked.
func checkSafeguard(tx *httpapi.Tx, env *flags.ProjectEnvironment, s flags.Safeguard, problems *flags.Problems) {
	alarms := tx.Alarms()
	switch {
	case s.IsAlarm() && alarms == nil:
		problems.Add("/signal/alarm", "cannot be read: this stack reads CloudWatch alarms with PlanAlarms=on only; turn that on, or have the alarm post a named signal")
	case s.IsAlarm() && !strings.HasPrefix(s.Signal, alarms.Prefix):
		problems.Add("/signal/alarm", "must be an alarm of this account and region (%s…); others can post a named signal", alarms.Prefix)
	case !s.IsAlarm() && env != nil && !httpapi.Find[*flags.Signals](tx, flags.SignalsKey(env.Attachment.ID)).Has(s.Signal):
		problems.Add("/signal/name", "there is no signal %q in environment %q of the project; create it first", s.Signal, env.Name)
	}
}

// checkSafeguards is checkSafeguard for those of a template or plan.
func checkSafeguards(tx *httpapi.Tx, env *flags.ProjectEnvironment, list []flags.Safeguard, problems *flags.Problems) {
	for i, s := range list {
		problems.CheckAt("/safeguards/"+strconv.Itoa(i), func(below *flags.Problems) { checkSafeguard(tx, env, s, below) })
	}
}

// alarmWarnings says which alarms of safeguards keep milestones from starting by themselves.
func alarmWarnings(tx *httpapi.Tx, list []flags.Safeguard) (warnings []string) {
	states, err := alarmStates(tx, list)
	for _, s := range list {
		switch state, found := states[s.Signal]; {
		case !s.IsAlarm():
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("The state of %s could not be read. While it cannot, no milestone starts by itself.", s.Says()))
		case !found:
			warnings = append(warnings, fmt.Sprintf("There is no %s. As long as it is missing, no milestone starts by itself.", s.Says()))
		case state.MissingData:
			warnings = append(warnings, fmt.Sprintf("Without data, %s has the state INSUFFICIENT_DATA, and no milestone starts by itself. Set TreatMissingData to notBreaching if that is not meant.", s.Says()))
		}
	}
	return warnings
}

// alarmStates returns the states of the alarms of safeguards.
func alarmStates(tx *httpapi.Tx, list []flags.Safeguard) (map[string]flags.AlarmState, error) {
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

// signalsNow returns which safeguards of a plan have a signal that fires, and what keeps its next milestone from starting by itself; "" for
// nothing. With why, that includes what an alarm says.
func signalsNow(tx *httpapi.Tx, plan *flags.ReleasePlan, why bool) (firing []flags.Safeguard, held string) {
	if len(plan.Safeguards) == 0 {
		return nil, ""
	}
	hold := func(s flags.Safeguard, what string) {
		if held == "" {
			held = s.Says() + " " + what
		}
	}
	states, err := alarmStates(tx, plan.Safeguards)
	for _, s := range plan.Safeguards {
		if s.IsAlarm() {
			state, found := states[s.Signal]
			switch {
			case err != nil || tx.Alarms() == nil:
				hold(s, "cannot be read")
			case !found:
				hold(s, "does not exist")
			case state.State != "OK":
				if state.State == "ALARM" {
					firing = append(firing, s)
				}
				what := "is in the state " + state.State
				if why && state.Reason != "" {
					what += " (" + state.Reason + ")"
				}
				hold(s, what)
			}
			continue
		}
		signals := httpapi.Find[*flags.Signals](tx, flags.SignalsKey(plan.Attachment))
		switch {
		case !signals.Has(s.Signal):
			hold(s, "does not exist")
		case signals.Fires(s.Signal):
			firing = append(firing, s)
			hold(s, "is firing")
		}
	}
	return firing, held
}

// act has a safeguard act whose signal fires. It does nothing if the safeguard has acted in the present run, or the plan is not running.
func act(tx *httpapi.Tx, due flags.Due) (did Outcome, then *flags.Due) {
	tx.AsPlan()
	f := tx.FindFeature(due.Key.ID)
	if !slices.Contains(f.Due(), due) {
		return Gone, &due // the transaction that ended it has deleted its item, and a run that begins now puts it there again
	}
	_, env, counts := countsIn(tx, f, due.Plan)
	if !counts {
		return Gone, nil
	}
	firing, _ := signalsNow(tx, f.Plan(env), false)
	i := slices.IndexFunc(firing, func(s flags.Safeguard) bool { return s.ID == due.Safeguard })
	if i < 0 {
		return Gone, &due
	}
	before := httpapi.Was(tx, f)
	f.Trigger(env, due.Safeguard, tx.Now)
	cause := "The " + firing[i].Says() + " fired."
	tx.Save(events.SafeguardTriggered(before, f, env, due.Safeguard, cause), f)
	switch {
	case firing[i].Action == flags.SafeguardOff && before.Enabled(env):
		tx.Save(events.FeatureSwitched(before, f, env))
	case firing[i].Action == flags.SafeguardPause && !before.Plan(env).Paused:
		tx.Save(events.ReleasePlanProgressed(flags.ReleasePlanPaused, before, f, env, cause))
	}
	return Acted, &due
}

// ReadOnce reads each alarm once, and remembers what it found; nil for nil. After an error it reads no more: a call that hangs would take the time of
// a plan each time.
func ReadOnce(alarms *httpapi.Alarms) *httpapi.Alarms {
	if alarms == nil {
		return nil
	}
	known, states, failed := map[string]bool{}, map[string]flags.AlarmState{}, error(nil)
	return &httpapi.Alarms{Prefix: alarms.Prefix, Read: func(ctx context.Context, arns []string) (map[string]flags.AlarmState, error) {
		arns = slices.DeleteFunc(slices.Clone(arns), func(arn string) bool { return known[arn] })
		switch {
		case len(arns) == 0:
			return states, nil
		case failed != nil:
			return nil, failed
		}
		read, err := alarms.Read(ctx, arns)
		if err != nil {
			failed = err
			return nil, err
		}
		maps.Copy(states, read)
		for _, arn := range arns {
			known[arn] = true
		}
		return states, nil
	}}
}

// Firing returns those of the safeguards that are watched whose signals fire: one call for all named signals, and one for a hundred alarms. With
// an error, it returns those that it could find out.
func Firing(ctx context.Context, store httpapi.Store, alarms *httpapi.Alarms, watched []flags.Due) (list []flags.Due, err error) {
	var arns []string
	var keys []flags.Key
	for _, d := range watched {
		if (flags.Safeguard{Signal: d.Signal}).IsAlarm() {
			arns = append(arns, d.Signal)
		} else {
			keys = append(keys, flags.SignalsKey(d.Attachment))
		}
	}
	slices.Sort(arns)
	var states map[string]flags.AlarmState
	if len(arns) > 0 && alarms != nil {
		states, err = alarms.Read(ctx, slices.Compact(arns))
	}
	view, loadErr := store.Load(ctx, keys)
	for _, d := range watched {
		if states[d.Signal].State == "ALARM" || loadErr == nil && flags.Find[*flags.Signals](view, flags.SignalsKey(d.Attachment)).Fires(d.Signal) {
			list = append(list, d)
		}
	}
	return list, cmp.Or(loadErr, err)
}

// checkQuiet returns Conflict if a signal fires, unless force says why the milestone is to start in spite of it. It returns the safeguards that
// then do not act in the new run, and what to note.
func checkQuiet(tx *httpapi.Tx, plan *flags.ReleasePlan, force string) (overridden []string, cause string, err error) {
	firing, _ := signalsNow(tx, plan, false)
	if len(firing) == 0 {
		return nil, "", nil
	}
	for _, s := range firing {
		overridden = append(overridden, s.ID)
	}
	if force == "" {
		return nil, "", flags.Errorf(flags.Conflict, `the %s of release plan %q is firing; wait until it is quiet, or send {"force": "<reason>"}, and then that safeguard does not act in this run`, firing[0].Says(), plan.Name)
	}
	return overridden, fmt.Sprintf("Started although %s fires: %s", firing[0].Says(), force), nil
}

// A forceBody says why a milestone starts although a signal fires.
type forceBody struct {
	Force jsonbody.Maybe[string] `json:"force"`
}

// Check adds the problems that can be found without the store.
func (b forceBody) Check(_ flags.Limits, problems *flags.Problems) {
	if b.Force.Set && strings.TrimSpace(b.Force.Value) == "" {
		problems.Add("/force", "must be the reason")
	}
	flags.CheckLength("/force", b.Force.Value, flags.MaxDescription, problems)
	flags.CheckControl("/force", b.Force.Value, problems)
}

// inSafeguard is the place of an operation on a safeguard of a release plan.
type inSafeguard struct {
	inPlan
	Safeguard string `path:"safeguardId"`
}

// setSafeguard adds a safeguard, or replaces what the one of the same signal does.
func setSafeguard(tx *httpapi.Tx, at inPlan, in safeguardBody) error {
	f, env := at.Find(tx)
	if err := checkWhole(tx, at.InFeatureEnvironment, env); err != nil {
		return err
	}
	s := in.safeguard()
	if err := authorizeOff(tx, at.Project(tx), env, []flags.Safeguard{s}); err != nil {
		return err
	}
	if _, err := f.FindPlan(env, at.ID); err != nil {
		return err
	}
	var problems flags.Problems
	checkSafeguard(tx, &env, s, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	s.ID = tx.NewID()
	if err := f.SetSafeguard(env, at.ID, s); err != nil {
		return err
	}
	if err := checkSwitchesOff(tx, f, env); err != nil {
		return err
	}
	tx.Save(events.SafeguardChanged(httpapi.Was(tx, f), f, env, s.Signal), f)
	return nil
}

func deleteSafeguard(tx *httpapi.Tx, at inSafeguard) error {
	f, env := at.Find(tx)
	if err := checkWhole(tx, at.InFeatureEnvironment, env); err != nil {
		return err
	}
	gone, err := f.RemoveSafeguard(env, at.ID, at.Safeguard)
	if err != nil {
		return err
	}
	tx.Save(events.SafeguardChanged(httpapi.Was(tx, f), f, env, gone.Signal), f)
	return nil
}

// checkSwitchesOff loads the children of a flag if a safeguard of its plan switches it off; see CheckSwitchesOff.
func checkSwitchesOff(tx *httpapi.Tx, f *flags.Feature, env flags.ProjectEnvironment) error {
	if !f.Plan(env).SwitchesOff() {
		return nil
	}
	tx.Load(httpapi.FeatureKeys(f.Children...)...)
	var children []*flags.Feature
	for _, name := range f.Children {
		if child := tx.FindFeature(name); child != nil {
			children = append(children, child)
			tx.Assume(child) // what it needs of the flag is stored in it only
		}
	}
	return f.CheckSwitchesOff(env, children)
}

// authorizeOff checks that the caller can switch a flag off, if a safeguard does.
func authorizeOff(tx *httpapi.Tx, p *flags.Project, env flags.ProjectEnvironment, list []flags.Safeguard) error {
	if !slices.ContainsFunc(list, func(s flags.Safeguard) bool { return s.Action == flags.SafeguardOff }) {
		return nil
	}
	return tx.Caller.Authorize(access.UpdateFeatureEnvironment, p, env.Name)
}
