package admin_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"guidon/pkg/flags"
)

// A replay rebuilds a flag from its events, which GET /api/admin/events/{featureName} returns. It also needs the events of the
// log about environments that were removed from a project or deleted, since these changes have no event of a flag.
//
// It rebuilds all of a flagState: name, type, project, description, stale, impressionData, archived,
// tags, dependencies, the stage with its outcome, and for each environment whether it is enabled, its strategies with all
// fields, and its variants. It does not rebuild the times (an event has the time of the commit, the flag that of the
// decision), nor data that events above 64 KiB leave out.
type replay struct {
	flag  flagState
	found bool
}

// An eventState is an event in a response.
type eventState struct {
	ID                                int64
	Type                              flags.EventType
	FeatureName, Project, Environment string
	Data, PreData                     json.RawMessage
}

// replayAll compares every flag with the replay of its events.
func (q *sequence) replayAll() {
	var others struct{ Events []eventState }
	q.read(q.handler, "GET", "/api/admin/events?limit=1000&type=IS_ANY_OF:project-environment-removed,environment-deleted", "", &others)
	for name, f := range q.world.flags {
		var own struct{ Events []eventState }
		q.read(q.handler, "GET", "/api/admin/events/"+name+"?limit=1000", "", &own)
		if len(own.Events) != f.changes {
			q.rt.Fatalf("flag %s has %d events, want %d", name, len(own.Events), f.changes)
		}
		all := slices.Concat(own.Events, others.Events)
		slices.SortFunc(all, func(a, b eventState) int { return cmp.Compare(a.ID, b.ID) })
		r := replay{}
		for _, e := range all {
			if err := r.apply(e); err != nil {
				q.rt.Fatalf("flag %s: event %+v: %v", name, e, err)
			}
		}
		want, got := q.world.state(f).normal(), r.flag
		want.Favorite = false                        // favorites are no change of the flag
		for environment := range want.Environments { // the project has environments without data
			if _, had := got.Environments[environment]; !had {
				got.Environments[environment] = environmentState{}
			}
		}
		for environment := range got.Environments {
			if _, is := want.Environments[environment]; !is {
				delete(got.Environments, environment)
			}
		}
		q.same("flag "+name+" and the replay of its events", want, got.normal())
	}
}

// eventSide has the fields of data and preData of all events.
type eventSide struct {
	Name, Type, Project   *string
	Description           *string
	Stale, ImpressionData bool
	Archived              *bool
	Enabled               *bool
	EnabledInEnvironment  *bool
	Strategies            []strategyState
	Variants              json.RawMessage
	Tags                  *[]tagState
	Value                 string
	Dependencies          []dependencyState
	Environments          []struct {
		Name       string
		Strategies []strategyState
		Variants   []variantState
	}
	NewProject                 string
	Stage, Status, StatusValue string
}

// apply applies an event to the flag.
func (r *replay) apply(e eventState) error {
	var data, preData eventSide
	if e.Type != flags.FeatureStrategyOrder && e.Type != flags.FeatureVariantsUpdated && e.Type != flags.FeatureAllVariantsUpdated { // the keys of their data are ids or environments
		for from, to := range map[*json.RawMessage]*eventSide{&e.Data: &data, &e.PreData: &preData} {
			if len(*from) > 0 {
				if err := json.Unmarshal(*from, to); err != nil {
					return err
				}
			}
		}
	}
	switch e.Type {
	case flags.FeatureCreated:
		r.flag, r.found = flagState{Name: *data.Name, Project: *data.Project, Lifecycle: phaseState{Stage: "initial"}, Environments: map[string]environmentState{}}, true
		r.whole(e, data)
		for _, env := range data.Environments {
			r.flag.Environments[env.Name] = environmentState{Strategies: env.Strategies, Variants: env.Variants}
		}
		return nil
	case flags.ProjectEnvironmentRemoved, flags.EnvironmentDeleted:
		return r.ofEnvironment(e)
	}
	if !r.found {
		return fmt.Errorf("comes before the creation of the flag")
	}
	switch e.Type {
	case flags.FeatureUpdated:
		r.whole(e, data)
	case flags.FeatureMetadataUpdated:
		r.metadata(data)
	case flags.FeatureStaleOn, flags.FeatureStaleOff:
		if r.flag.Stale == (e.Type == flags.FeatureStaleOn) {
			return fmt.Errorf("repeats the event before it")
		}
		r.flag.Stale = e.Type == flags.FeatureStaleOn
	case flags.FeatureArchived:
		r.flag.Archived, r.flag.Dependencies = true, nil
	case flags.FeatureRevived:
		r.flag.Archived, r.flag.Lifecycle = false, phaseState{Stage: "initial"}
		for name := range r.flag.Environments {
			r.in(name, func(env *environmentState) { env.Enabled = false })
		}
	case flags.FeatureMoved:
		r.flag.Project = data.NewProject
	case flags.FeatureCompleted, flags.FeatureUncompleted:
		r.flag.Lifecycle = phaseState{data.Stage, data.Status, data.StatusValue}
	case flags.FeatureTagged, flags.FeatureUntagged:
		r.tags(e, data, preData)
	case flags.FeatureDependencyAdded:
		var d dependencyState
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return err
		}
		(&modelFlag{flagState: r.flag}).with(&r.flag, d)
	case flags.FeatureDependencyRemoved:
		var d dependencyState
		if err := json.Unmarshal(e.PreData, &d); err != nil {
			return err
		}
		r.flag.Dependencies = slices.DeleteFunc(r.flag.Dependencies, func(had dependencyState) bool { return had.Feature == d.Feature })
	case flags.FeatureDependenciesRemoved:
		r.flag.Dependencies = nil
	default:
		return r.inEnvironment(e, data)
	}
	return nil
}

// with replaces the dependency on a parent, or adds it at the end.
func (f *modelFlag) with(into *flagState, d dependencyState) {
	f.dependOn(d)
	into.Dependencies = f.Dependencies
}

// metadata sets the fields that do not depend on an environment.
func (r *replay) metadata(data eventSide) {
	r.flag.Type, r.flag.Description, r.flag.Stale, r.flag.ImpressionData = *data.Type, data.Description, data.Stale, data.ImpressionData
}

// whole applies the event of a created, cloned or imported flag, which has all its fields.
func (r *replay) whole(e eventState, data eventSide) {
	r.metadata(data)
	if data.Dependencies != nil {
		r.flag.Dependencies = data.Dependencies
	}
	if data.Tags != nil {
		r.flag.Tags = *data.Tags
	}
	if e.Environment == "" {
		return
	}
	r.in(e.Environment, func(env *environmentState) {
		env.Enabled, env.Strategies, env.Variants = *data.Enabled, data.Strategies, nil
		_ = json.Unmarshal(data.Variants, &env.Variants)
	})
}

// in changes the data of the flag in an environment.
func (r *replay) in(environment string, change func(*environmentState)) {
	env := r.flag.Environments[environment]
	env.Strategies = slices.Clone(env.Strategies)
	change(&env)
	slices.SortStableFunc(env.Strategies, func(a, b strategyState) int { return cmp.Compare(a.SortOrder, b.SortOrder) })
	r.flag.Environments[environment] = env
}

// ofEnvironment applies the event of an environment that is removed from a project or deleted.
func (r *replay) ofEnvironment(e eventState) error {
	switch {
	case !r.found:
	case e.Type == flags.EnvironmentDeleted:
		delete(r.flag.Environments, e.Environment)
	case e.Project == r.flag.Project:
		r.in(e.Environment, func(env *environmentState) { env.Enabled = false })
	}
	return nil
}

func (r *replay) tags(e eventState, data, preData eventSide) {
	f := &modelFlag{flagState: r.flag}
	switch {
	case data.Tags != nil:
		f.Tags = *data.Tags
	case e.Type == flags.FeatureTagged:
		f.tag(data.Value)
	default:
		f.untag(preData.Value)
	}
	r.flag.Tags = f.Tags
}

// inEnvironment applies changes in one or several environments.
func (r *replay) inEnvironment(e eventState, data eventSide) (err error) {
	switch e.Type {
	case flags.FeatureVariantsUpdated, flags.FeatureAllVariantsUpdated:
		after := map[string][]variantState{}
		err = json.Unmarshal(e.Data, &after)
		for name, variants := range after {
			r.in(name, func(env *environmentState) { env.Variants = variants })
		}
	case flags.FeatureEnvironmentEnabled, flags.FeatureEnvironmentDisabled:
		r.in(e.Environment, func(env *environmentState) { env.Enabled, env.Strategies = *data.Enabled, data.Strategies })
	case flags.FeatureStrategyOrder:
		places := map[string]float64{}
		err = json.Unmarshal(e.Data, &places)
		r.in(e.Environment, func(env *environmentState) {
			for i, s := range env.Strategies {
				if place, moved := places[s.ID]; moved {
					env.Strategies[i].SortOrder = place
				}
			}
		})
	case flags.FeatureStrategyAdd, flags.FeatureStrategyUpdate, flags.FeatureStrategyRemove:
		var before, after strategyState
		if err = json.Unmarshal(e.Data, &after); err == nil && len(e.PreData) > 0 {
			err = json.Unmarshal(e.PreData, &before)
		}
		r.in(e.Environment, func(env *environmentState) {
			i := slices.IndexFunc(env.Strategies, func(s strategyState) bool { return s.ID == before.ID })
			switch {
			case e.Type == flags.FeatureStrategyAdd:
				env.Strategies = append(env.Strategies, after)
			case i < 0:
				err = fmt.Errorf("no strategy %q", before.ID)
			case e.Type == flags.FeatureStrategyUpdate:
				env.Strategies[i], env.Enabled = after, *data.EnabledInEnvironment
			default:
				env.Strategies = slices.Delete(env.Strategies, i, i+1)
				env.Enabled = env.Enabled && (data.Enabled == nil || *data.Enabled)
			}
		})
	default:
		err = fmt.Errorf("unknown type of event")
	}
	return err
}
