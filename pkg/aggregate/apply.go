package aggregate

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// atOnce is how many calls of the store a batch makes at the same time.
const atOnce = 16

// apply adds the posts of a batch to the sums, flags and applications. It can be called again for the same batch, by several
// runs at once, and after it was interrupted.
func (a *Aggregator) apply(ctx context.Context, number int64, posts []*usage.Post) error {
	if len(posts) == 0 {
		return nil
	}
	if err := a.recordUses(ctx, posts); err != nil {
		return err
	}
	l, err := a.loadSources(ctx, posts)
	if err != nil {
		return err
	}
	t := newTally(l)
	for _, p := range posts {
		t.add(p)
	}
	projects := l.names()
	for names := range slices.Chunk(slices.Sorted(maps.Keys(projects)), flagsAtOnce) {
		if err := a.addToFlags(ctx, number, names, projects, t); err != nil {
			return err
		}
	}
	if err := a.recordAsked(ctx, t.asked); err != nil {
		return err
	}
	return a.addToApplications(ctx, t)
}

// flagsAtOnce is how many flags are in memory at the same time, with their sums. A flag can take 400 KB, a sum that has as many names as
// it may half a megabyte, and a client can name thousands of flags in one post, also those of other projects.
const flagsAtOnce = 50

// addToFlags adds what the posts have of some flags.
func (a *Aggregator) addToFlags(ctx context.Context, number int64, names []string, projects map[string]string, t *tally) error {
	found, err := a.loadFlags(ctx, names, projects)
	if err != nil {
		return err
	}
	var evaluated []*evaluatedFlag
	for _, name := range names {
		if f := t.evaluated(name, found[name]); f != nil {
			evaluated = append(evaluated, f)
		}
	}
	if err := a.addToSums(ctx, number, evaluated); err != nil {
		return err
	}
	return a.recordEvaluations(ctx, evaluated, t.sources.registry)
}

// loadFlags loads the flags that exist among names. Those that came with public tokens of one project only are loaded if they are
// in it: with such a token, everyone can name the largest flags of all projects.
func (a *Aggregator) loadFlags(ctx context.Context, names []string, projects map[string]string) (map[string]*flags.Feature, error) {
	found := make(map[string]*flags.Feature, len(names))
	keys := make([]flags.Key, 0, len(names))
	lookups := map[string]string{}
	for _, name := range names {
		switch project := projects[name]; {
		case flags.CheckName(name) != "":
		case project != "":
			lookups[name] = project
		default:
			keys = append(keys, flags.FeatureKey(name))
		}
	}
	listed, err := a.store.Listed(ctx, lookups)
	if err != nil {
		return nil, err
	}
	for _, name := range listed {
		keys = append(keys, flags.FeatureKey(name))
	}
	view, err := a.store.Load(ctx, keys)
	for _, one := range view {
		if f, is := one.(*flags.Feature); is {
			found[f.Name] = f
		}
	}
	return found, err
}

// addToSums adds the counts to the sums of their hour and day.
func (a *Aggregator) addToSums(ctx context.Context, number int64, evaluated []*evaluatedFlag) error {
	var sums []usage.Sum
	counts := map[string][]usage.Count{}
	for _, f := range evaluated {
		counts[f.Name] = f.counts
		sums = append(sums,
			usage.Sum{Feature: f.Name, Unit: usage.Hour, Start: f.hour},
			usage.Sum{Feature: f.Name, Unit: usage.Day, Start: f.hour.Truncate(24 * time.Hour)})
	}
	stored, err := a.store.Sums(ctx, sums)
	if err != nil {
		return err
	}
	type key struct {
		feature string
		unit    usage.Unit
	}
	before := map[key]usage.Sum{}
	for _, s := range stored {
		before[key{s.Feature, s.Unit}] = s
	}
	return parallel(sums, func(sum usage.Sum) error {
		if s, has := before[key{sum.Feature, sum.Unit}]; has {
			sum = s
		}
		if sum.Batch >= number {
			return nil // another run has added this batch
		}
		sum.Add(counts[sum.Feature])
		sum.Batch = number
		return a.store.PutSum(ctx, &sum)
	})
}

// recordEvaluations stores when the flags were last seen, if that was more than an hour ago. If a user changes a flag at the same
// time, the next batch with the flag stores it.
func (a *Aggregator) recordEvaluations(ctx context.Context, evaluated []*evaluatedFlag, registry *flags.Environments) error {
	var keys []flags.Key
	for _, f := range evaluated {
		keys = append(keys, flags.ProjectKey(f.Project))
	}
	projects, err := a.store.Load(ctx, keys)
	if err != nil {
		return err
	}
	return parallel(evaluated, func(f *evaluatedFlag) error {
		after := f.Clone()
		project := flags.Find[*flags.Project](projects, flags.ProjectKey(f.Project))
		for _, environment := range slices.Sorted(maps.Keys(f.seen)) {
			at := f.seen[environment]
			env := registry.Find(environment)
			if project == nil || project.UID != f.ProjectUID || !project.HasEnvironment(*env) {
				after.RecordSeen(at)
				continue
			}
			after.RecordEvaluation(flags.ProjectEnvironment{Environment: *env, Attachment: project.Environments[environment]}, at)
		}
		return a.unimportant(ctx, "flag", a.store.PutSeen(ctx, f.Feature, after))
	})
}

// recordUses stores when tokens were last used: the first use that it learns of in each hour.
func (a *Aggregator) recordUses(ctx context.Context, posts []*usage.Post) error {
	last := map[string]time.Time{}
	note := func(hash string, at time.Time) {
		if hash != "" && last[hash].Before(at) {
			last[hash] = at
		}
	}
	for _, p := range posts {
		note(p.TokenHash, p.At)
		for hash, at := range p.Uses {
			note(hash, at)
		}
	}
	var keys []flags.Key
	for hash := range last {
		keys = append(keys, access.TokenUseKey(hash))
	}
	stored, err := a.store.Load(ctx, keys)
	if err != nil {
		return err
	}
	return parallel(slices.Sorted(maps.Keys(last)), func(hash string) error {
		before := flags.Find[*access.TokenUse](stored, access.TokenUseKey(hash))
		if before != nil && !last[hash].Truncate(time.Hour).After(before.At) {
			return nil
		}
		return a.store.Touch(ctx, &access.TokenUse{Hash: hash, At: last[hash]})
	})
}

// recordAsked stores when providers of OFREP last asked for all flags of projects: the first time that it learns of in each hour.
func (a *Aggregator) recordAsked(ctx context.Context, asked map[string]time.Time) error {
	var keys []flags.Key
	for project := range asked {
		keys = append(keys, usage.AskedForAllKey(project))
	}
	stored, err := a.store.Load(ctx, keys)
	if err != nil {
		return err
	}
	return parallel(slices.Sorted(maps.Keys(asked)), func(project string) error {
		var before flags.Aggregate
		after := &usage.AskedForAll{Project: project, At: asked[project]}
		if was := flags.Find[*usage.AskedForAll](stored, after.Key()); was != nil {
			if before, after.Version = was, was.Version; !after.At.Truncate(time.Hour).After(was.At) {
				return nil
			}
		}
		return a.unimportant(ctx, "bulk evaluations", a.store.PutReport(ctx, before, after, a.now().Add(usage.ApplicationTTL)))
	})
}

// unimportant drops an error that must not stop the aggregation: another request has changed the item at the same time, so that
// the next report is added to it, or the item is full.
func (a *Aggregator) unimportant(ctx context.Context, kind string, err error) error {
	switch flags.KindOf(err) {
	case flags.VersionConflict, flags.Invalid: // without the error, which names the item
		a.logger.InfoContext(ctx, "usage: not recorded", slog.String("of", kind), slog.Bool("full", flags.KindOf(err) == flags.Invalid))
		return nil
	}
	return err
}

// parallel calls f for each element, up to atOnce at the same time, and returns one of the errors. After an error it begins no
// further calls.
func parallel[T any](list []T, f func(T) error) error {
	group, failed := errgroup.WithContext(context.Background())
	group.SetLimit(atOnce)
	for _, one := range list {
		if failed.Err() != nil {
			break
		}
		group.Go(func() error { return f(one) })
	}
	return group.Wait()
}
