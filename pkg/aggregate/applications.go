package aggregate

import (
	"context"
	"maps"
	"slices"

	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// addToApplications stores what is new about applications and instances, and which applications reported with a token.
func (a *Aggregator) addToApplications(ctx context.Context, t *tally) error {
	l := t.sources
	byName := map[string][]usage.Report{}
	for key, r := range t.reports {
		byName[key.application] = append(byName[key.application], usage.Report{
			Application: key.application, Environment: key.environment, Projects: l.byHash[key.hash].scope.ProjectIDs(), Public: l.byHash[key.hash].public, At: r.at,
			Strategies: slices.Sorted(maps.Keys(r.strategies)), Features: slices.Sorted(maps.Keys(r.features)),
			Uses:    slices.Sorted(maps.Keys(r.uses)),
			Unknown: slices.Sorted(maps.Keys(r.unknown)), Instances: slices.Collect(maps.Values(r.instances)),
		})
	}
	err := parallel(slices.Sorted(maps.Keys(byName)), func(name string) error {
		return a.addToApplication(ctx, name, byName[name])
	})
	if err != nil {
		return err
	}
	return parallel(slices.Sorted(maps.Keys(l.byHash)), func(hash string) error {
		s := l.byHash[hash]
		after := &usage.TokenApplications{Hash: hash}
		var before flags.Aggregate
		if s.applications != nil {
			before, after = s.applications, s.known.Clone()
		}
		after.Admit(slices.Sorted(maps.Keys(s.admitted)), s.invents(), a.now())
		if len(after.Names) == 0 {
			return nil
		}
		return a.unimportant(ctx, "token", a.store.PutReport(ctx, before, after, a.now().Add(usage.ApplicationTTL)))
	})
}

// addToApplication adds reports to an application and its instances. It tries again if a user has changed the application: what
// was registered would be missing until the application starts again.
func (a *Aggregator) addToApplication(ctx context.Context, name string, reports []usage.Report) error {
	var err error
	for range 3 {
		if err = a.tryApplication(ctx, name, reports); err == nil || flags.KindOf(err) != flags.VersionConflict {
			break
		}
	}
	return a.unimportant(ctx, "application", err)
}

func (a *Aggregator) tryApplication(ctx context.Context, name string, reports []usage.Report) error {
	keys := []flags.Key{usage.ApplicationKey(name), usage.ApplicationNamesKey(name)}
	for _, r := range reports {
		keys = append(keys, usage.InstancesKey(name, r.Environment))
	}
	view, err := a.store.Load(ctx, keys)
	if err != nil {
		return err
	}
	var before flags.Aggregate
	after := usage.NewApplication(name, reports[0].At)
	if stored := flags.Find[*usage.Application](view, keys[0]); stored != nil {
		before, after = stored, stored.Clone()
	}
	var beforeNames flags.Aggregate
	names := &usage.ApplicationNames{Application: name}
	if stored := flags.Find[*usage.ApplicationNames](view, keys[1]); stored != nil {
		beforeNames, names = stored, stored.Clone()
	}
	instances := map[string]*usage.Instances{} // by environment
	for _, r := range reports {
		known := instances[r.Environment]
		if known == nil {
			known = &usage.Instances{Application: name, Environment: r.Environment}
			if stored := flags.Find[*usage.Instances](view, known.Key()); stored != nil {
				known = stored.Clone()
			}
			instances[r.Environment] = known
		}
		known.Add(r, a.now())
		after.Add(r, len(known.List))
		names.Add(r)
	}
	for _, environment := range slices.Sorted(maps.Keys(instances)) {
		if environment == "" || len(instances[environment].List) == 0 {
			continue
		}
		var stored flags.Aggregate
		if s, has := view[usage.InstancesKey(name, environment)]; has {
			stored = s
		}
		if err := a.store.PutReport(ctx, stored, instances[environment], a.now().Add(usage.InstanceTTL)); err != nil {
			return err
		}
	}
	if err := a.store.PutReport(ctx, beforeNames, names, a.now().Add(usage.ApplicationTTL)); err != nil {
		return err
	}
	return a.store.PutReport(ctx, before, after, a.now().Add(usage.ApplicationTTL))
}
