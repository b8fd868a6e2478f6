package releases

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
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
	states, err := wire.AlarmStates(tx, list)
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
	signals := wire.SignalsNow(tx, f.Plan(env), false)
	i := slices.IndexFunc(signals, func(s wire.SignalNow) bool { return s.ID == due.Safeguard })
	if s := signals[i]; !f.Plan(env).Acts(s.Safeguard, s.Firing, s.Since) {
		return Gone, &due
	}
	before := httpapi.Was(tx, f)
	f.Trigger(env, due.Safeguard, tx.Now)
	cause := "The " + signals[i].Says() + " fired."
	tx.Save(events.SafeguardTriggered(before, f, env, due.Safeguard, cause), f)
	switch {
	case signals[i].Action == flags.SafeguardOff && before.Enabled(env):
		tx.Save(events.FeatureSwitched(before, f, env))
	case signals[i].Action == flags.SafeguardPause && !before.Plan(env).Paused:
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

// firedLately is how long the safeguards of a signal that no longer fires are looked at: those that did not act in its request.
const firedLately = time.Hour

// Firing returns those of the safeguards that are watched which act now: one call for all named signals, one for a hundred alarms, and, if some fire
// or did lately, one for the flags. With an error, it returns those that it could find out.
func Firing(ctx context.Context, store httpapi.Store, alarms *httpapi.Alarms, now time.Time, watched []flags.Due) (list []flags.Due, err error) {
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
	signals, loadErr := store.Load(ctx, keys)
	says := func(d flags.Due) (firing bool, since time.Time) {
		if state, is := states[d.Signal]; is {
			return state.State == "ALARM", state.Since
		}
		return flags.Find[*flags.Signals](signals, flags.SignalsKey(d.Attachment)).Fires(d.Signal)
	}
	keys = nil
	for _, d := range watched {
		if firing, since := says(d); firing || now.Sub(since) < firedLately {
			list, keys = append(list, d), append(keys, d.Key)
		}
	}
	view, flagsErr := store.Load(ctx, keys)
	return slices.DeleteFunc(list, func(d flags.Due) bool {
		firing, since := says(d)
		f := flags.Find[*flags.Feature](view, d.Key)
		return f != nil && !f.Acts(d, firing, since)
	}), cmp.Or(loadErr, flagsErr, err)
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
	if !s.IsAlarm() {
		if firing, since := httpapi.Find[*flags.Signals](tx, flags.SignalsKey(env.Attachment.ID)).Fires(s.Signal); !firing {
			s.Acknowledged = since // it acts on what comes
		}
	}
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
