package aggregate

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"guidon/pkg/flags"
)

// maxNames is how many names of flags count for a token in one batch. Each is looked up, so that a client that sends random
// names would cost as much as thousands of others.
const maxNames = 10_000

// atOnce is how many calls of the store a batch makes at the same time.
const atOnce = 16

// apply adds the posts of a batch to the sums, flags and applications. It can be called again for the same batch, by several
// runs at once, and after it was interrupted.
func (a *Aggregator) apply(ctx context.Context, number int64, posts []*flags.UsagePost) error {
	if len(posts) == 0 {
		return nil
	}
	l, err := a.loadSources(ctx, posts)
	if err != nil {
		return err
	}
	found, err := a.loadFlags(ctx, l.names())
	if err != nil {
		return err
	}
	t := newTally(posts[0].At)
	for _, p := range posts {
		t.add(p, l, found)
	}
	if err := a.addToSums(ctx, number, t); err != nil {
		return err
	}
	if err := a.recordEvaluations(ctx, t, l, found); err != nil {
		return err
	}
	return a.addToApplications(ctx, t, l)
}

// A source is the token that posts came with.
type source struct {
	hash         string // "" without a token, if the deployment needs none
	scope        flags.TokenScope
	applications *flags.TokenApplications // as stored; nil if there are none
	admitted     map[string]bool          // applications of this batch that are within the limits
	names        map[string]bool          // of the flags in its posts
	reported     map[string]bool          // applications in its posts
	skipped      int                      // names beyond maxNames
}

// admit returns the name under which an application counts.
func (s *source) admit(application string) string {
	if s.admitted[application] {
		return application
	}
	return flags.Other
}

// covers tells whether the token gives access to the project of a flag.
func (s *source) covers(f *flags.Feature) bool {
	return s.scope.All || slices.ContainsFunc(s.scope.Projects, func(p *flags.Project) bool { return p.UID == f.ProjectUID })
}

// sources are the tokens of a batch, and what is needed to judge its posts.
type sources struct {
	byHash   map[string]*source // only tokens whose project and environment exist
	registry *flags.Environments
}

// names returns the names of all flags in the posts.
func (l *sources) names() []string {
	all := map[string]bool{}
	for _, s := range l.byHash {
		maps.Copy(all, s.names)
	}
	return slices.Sorted(maps.Keys(all))
}

// loadSources loads the tokens of the posts with their scopes, and decides which applications are admitted.
func (a *Aggregator) loadSources(ctx context.Context, posts []*flags.UsagePost) (*sources, error) {
	l := &sources{byHash: map[string]*source{}, registry: &flags.Environments{}}
	for _, p := range posts {
		l.collect(p)
	}
	keys := []flags.Key{flags.EnvironmentsKey()}
	for hash := range l.byHash {
		keys = append(keys, flags.TokenKey(hash), flags.TokenApplicationsKey(hash))
	}
	view, err := a.store.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	if registry := flags.Find[*flags.Environments](view, flags.EnvironmentsKey()); registry != nil {
		l.registry = registry
	}
	if err := a.judgeTokens(ctx, l, view); err != nil {
		return nil, err
	}
	return l, a.admit(ctx, l)
}

// collect notes which names a post has.
func (l *sources) collect(p *flags.UsagePost) {
	s := l.byHash[p.TokenHash]
	if s == nil {
		s = &source{hash: p.TokenHash, names: map[string]bool{}, reported: map[string]bool{}}
		l.byHash[p.TokenHash] = s
	}
	for _, c := range p.Counts {
		s.reported[c.Application] = true
		switch {
		case len(s.names) < maxNames:
			s.names[c.Feature] = true
		case !s.names[c.Feature]:
			s.skipped++
		}
	}
	for _, i := range p.Instances {
		s.reported[i.Application] = true
	}
}

// judgeTokens removes the tokens that have lost their projects or environment. What came with a token before it was deleted
// counts.
func (a *Aggregator) judgeTokens(ctx context.Context, l *sources, tokens flags.View) error {
	var keys []flags.Key
	for hash := range l.byHash {
		if token := flags.Find[*flags.Token](tokens, flags.TokenKey(hash)); token != nil {
			for _, id := range token.Projects {
				keys = append(keys, flags.ProjectKey(id))
			}
		}
	}
	projects, err := a.store.Load(ctx, keys)
	if err != nil {
		return err
	}
	for hash, s := range l.byHash {
		token := flags.Find[*flags.Token](tokens, flags.TokenKey(hash))
		s.applications = flags.Find[*flags.TokenApplications](tokens, flags.TokenApplicationsKey(hash))
		valid := true
		switch {
		case hash == "" || token != nil && token.Type == flags.AdminToken:
			s.scope.All = true
		case token == nil:
			valid = false
		default:
			s.scope, valid = token.Scope(func(id string) *flags.Project {
				return flags.Find[*flags.Project](projects, flags.ProjectKey(id))
			}, l.registry)
		}
		if !valid {
			delete(l.byHash, hash)
		}
		if s.skipped > 0 {
			a.logger.WarnContext(ctx, "usage: too many names of flags with one token", slog.String("token", hash), slog.Int("names", s.skipped))
		}
	}
	return nil
}

// admit decides which applications count under their names: those within the limit of the token, and of those the known ones and
// as many new ones as there may be in all.
func (a *Aggregator) admit(ctx context.Context, l *sources) error {
	var keys []flags.Key
	for _, hash := range slices.Sorted(maps.Keys(l.byHash)) {
		s := l.byHash[hash]
		before := &flags.TokenApplications{Hash: hash}
		if s.applications != nil {
			before = s.applications.Clone()
		}
		s.admitted = before.Admit(slices.Sorted(maps.Keys(s.reported)), a.now())
		for name := range s.admitted {
			keys = append(keys, flags.ApplicationKey(name))
		}
	}
	stored, err := a.store.Load(ctx, keys)
	if err != nil {
		return err
	}
	created := map[string]bool{}
	for _, key := range keys {
		if stored[key] == nil {
			created[key.ID] = true
		}
	}
	if len(created) == 0 {
		return nil
	}
	n, err := a.store.CountApplications(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(created)) {
		if n++; n > flags.MaxApplications {
			for _, s := range l.byHash {
				delete(s.admitted, name)
			}
		}
	}
	return nil
}

// loadFlags loads the flags that exist among names.
func (a *Aggregator) loadFlags(ctx context.Context, names []string) (map[string]*flags.Feature, error) {
	found := make(map[string]*flags.Feature, len(names))
	keys := make([]flags.Key, 0, len(names))
	for _, name := range names {
		if flags.CheckName(name) == "" {
			keys = append(keys, flags.FeatureKey(name))
		}
	}
	view, err := a.store.Load(ctx, keys)
	for _, one := range view {
		if f, is := one.(*flags.Feature); is {
			found[f.Name] = f
		}
	}
	return found, err
}

// A tally is what the posts of a batch add.
type tally struct {
	hour    time.Time // all posts of a batch are of one period, and so of one hour
	counts  map[string][]flags.UsageCount
	seen    map[string]map[string]time.Time // by flag and environment
	reports map[reportKey]*report
}

type reportKey struct{ hash, application, environment string }

// A report is a flags.Report with sets.
type report struct {
	at                            time.Time
	strategies, features, unknown map[string]bool
	instances                     map[string]flags.Instance
}

func newTally(at time.Time) *tally {
	return &tally{
		hour: at.UTC().Truncate(time.Hour), counts: map[string][]flags.UsageCount{}, seen: map[string]map[string]time.Time{},
		reports: map[reportKey]*report{},
	}
}

// add adds a post. What it says of a flag counts if the flag exists, in a project of the token, and the environment exists.
func (t *tally) add(p *flags.UsagePost, l *sources, found map[string]*flags.Feature) {
	s := l.byHash[p.TokenHash]
	if s == nil {
		return
	}
	for _, i := range p.Instances {
		r := t.report(s, l, i.Application, i.Environment, p.At)
		if r == nil {
			continue
		}
		for _, name := range i.Strategies {
			r.strategies[name] = true
		}
		instance := flags.Instance{Name: i.Instance, SDK: i.SDK, Address: i.Address, CreatedAt: p.At, LastSeenAt: p.At}
		if before, has := r.instances[i.Instance]; has {
			instance.CreatedAt = before.CreatedAt
			if instance.SDK == "" {
				instance.SDK = before.SDK
			}
		}
		r.instances[i.Instance] = instance
	}
	for _, c := range p.Counts {
		if !s.names[c.Feature] || l.registry.Find(c.Environment) == nil {
			continue
		}
		r := t.report(s, l, c.Application, c.Environment, p.At)
		f := found[c.Feature]
		if f == nil || !s.covers(f) {
			if r != nil {
				r.unknown[c.Feature] = true
			}
			continue
		}
		if r != nil {
			r.features[c.Feature] = true
		}
		c.Application = s.admit(c.Application)
		t.counts[c.Feature] = append(t.counts[c.Feature], c)
		if t.seen[c.Feature] == nil {
			t.seen[c.Feature] = map[string]time.Time{}
		}
		t.seen[c.Feature][c.Environment] = p.At // posts are in order
	}
}

// report is the report of an application; nil if it is beyond the limits.
func (t *tally) report(s *source, l *sources, application, environment string, at time.Time) *report {
	if !s.admitted[application] {
		return nil
	}
	if l.registry.Find(environment) == nil {
		environment = ""
	}
	key := reportKey{s.hash, application, environment}
	r := t.reports[key]
	if r == nil {
		r = &report{strategies: map[string]bool{}, features: map[string]bool{}, unknown: map[string]bool{}, instances: map[string]flags.Instance{}}
		t.reports[key] = r
	}
	r.at = at
	return r
}

// addToSums adds the counts to the sums of their hour and day.
func (a *Aggregator) addToSums(ctx context.Context, number int64, t *tally) error {
	var sums []flags.UsageSum
	for name := range t.counts {
		sums = append(sums,
			flags.UsageSum{Feature: name, Unit: flags.UsageHour, Start: t.hour},
			flags.UsageSum{Feature: name, Unit: flags.UsageDay, Start: t.hour.Truncate(24 * time.Hour)})
	}
	stored, err := a.store.Sums(ctx, sums)
	if err != nil {
		return err
	}
	type key struct {
		feature string
		unit    flags.UsageUnit
	}
	before := map[key]flags.UsageSum{}
	for _, s := range stored {
		before[key{s.Feature, s.Unit}] = s
	}
	return parallel(sums, func(sum flags.UsageSum) error {
		if s, has := before[key{sum.Feature, sum.Unit}]; has {
			sum = s
		}
		if sum.Batch >= number {
			return nil // another run has added this batch
		}
		sum.Add(t.counts[sum.Feature])
		sum.Batch = number
		return a.store.PutSum(ctx, &sum)
	})
}

// recordEvaluations stores when the flags were last seen, if that was more than an hour ago. If a user changes a flag at the same
// time, the next batch with the flag stores it.
func (a *Aggregator) recordEvaluations(ctx context.Context, t *tally, l *sources, found map[string]*flags.Feature) error {
	var keys []flags.Key
	for name := range t.seen {
		keys = append(keys, flags.ProjectKey(found[name].Project))
	}
	projects, err := a.store.Load(ctx, keys)
	if err != nil {
		return err
	}
	return parallel(slices.Sorted(maps.Keys(t.seen)), func(name string) error {
		before := found[name]
		after := before.Clone()
		project := flags.Find[*flags.Project](projects, flags.ProjectKey(before.Project))
		for _, environment := range slices.Sorted(maps.Keys(t.seen[name])) {
			at := t.seen[name][environment]
			env := l.registry.Find(environment)
			if project == nil || project.UID != before.ProjectUID || !project.HasEnvironment(*env) {
				after.RecordSeen(at)
				continue
			}
			after.RecordEvaluation(flags.ProjectEnvironment{Environment: *env, Attachment: project.Environments[environment]}, at)
		}
		return a.unimportant(ctx, "flag", name, a.store.PutSeen(ctx, before, after))
	})
}

// unimportant drops an error that must not stop the aggregation: another request has changed the item at the same time, so that
// the next report is added to it, or the item is full.
func (a *Aggregator) unimportant(ctx context.Context, kind, name string, err error) error {
	switch flags.KindOf(err) {
	case flags.VersionConflict, flags.Invalid:
		a.logger.InfoContext(ctx, "usage: not recorded", slog.String(kind, name), slog.Any("cause", err))
		return nil
	}
	return err
}

// addToApplications stores what is new about applications and instances, and which applications reported with a token.
func (a *Aggregator) addToApplications(ctx context.Context, t *tally, l *sources) error {
	byName := map[string][]flags.Report{}
	for key, r := range t.reports {
		byName[key.application] = append(byName[key.application], flags.Report{
			Application: key.application, Environment: key.environment, Projects: l.byHash[key.hash].scope.ProjectIDs(), At: r.at,
			Strategies: slices.Sorted(maps.Keys(r.strategies)), Features: slices.Sorted(maps.Keys(r.features)),
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
		after := &flags.TokenApplications{Hash: hash}
		var before flags.Aggregate
		if s.applications != nil {
			before, after = s.applications, s.applications.Clone()
		}
		after.Admit(slices.Sorted(maps.Keys(s.admitted)), a.now())
		if len(after.Names) == 0 {
			return nil
		}
		return a.unimportant(ctx, "token", hash, a.store.PutReport(ctx, before, after, a.now().Add(flags.ApplicationTTL)))
	})
}

// addToApplication adds reports to an application and its instances. It tries again if a user has changed the application: what
// was registered would be missing until the application starts again.
func (a *Aggregator) addToApplication(ctx context.Context, name string, reports []flags.Report) error {
	var err error
	for range 3 {
		if err = a.tryApplication(ctx, name, reports); err == nil || flags.KindOf(err) != flags.VersionConflict {
			break
		}
	}
	return a.unimportant(ctx, "application", name, err)
}

func (a *Aggregator) tryApplication(ctx context.Context, name string, reports []flags.Report) error {
	keys := []flags.Key{flags.ApplicationKey(name)}
	for _, r := range reports {
		keys = append(keys, flags.InstancesKey(name, r.Environment))
	}
	view, err := a.store.Load(ctx, keys)
	if err != nil {
		return err
	}
	var before flags.Aggregate
	after := flags.NewApplication(name, reports[0].At)
	if stored := flags.Find[*flags.Application](view, keys[0]); stored != nil {
		before, after = stored, stored.Clone()
	}
	instances := map[string]*flags.Instances{} // by environment
	for _, r := range reports {
		known := instances[r.Environment]
		if known == nil {
			known = &flags.Instances{Application: name, Environment: r.Environment}
			if stored := flags.Find[*flags.Instances](view, known.Key()); stored != nil {
				known = stored.Clone()
			}
			instances[r.Environment] = known
		}
		known.Add(r.Instances, a.now())
		after.Add(r, len(known.List))
	}
	for _, environment := range slices.Sorted(maps.Keys(instances)) {
		if environment == "" || len(instances[environment].List) == 0 {
			continue
		}
		var stored flags.Aggregate
		if s, has := view[flags.InstancesKey(name, environment)]; has {
			stored = s
		}
		if err := a.store.PutReport(ctx, stored, instances[environment], a.now().Add(flags.InstanceTTL)); err != nil {
			return err
		}
	}
	return a.store.PutReport(ctx, before, after, a.now().Add(flags.ApplicationTTL))
}

// parallel calls f for each element, up to atOnce at the same time, and returns one of the errors. After an error it begins no
// further calls.
func parallel[T any](list []T, f func(T) error) error {
	var mu sync.Mutex
	var first error
	var running sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, one := range list {
		slots <- struct{}{}
		mu.Lock()
		failed := first != nil
		mu.Unlock()
		if failed {
			break
		}
		running.Go(func() {
			defer func() { <-slots }()
			if err := f(one); err != nil {
				mu.Lock()
				defer mu.Unlock()
				first = err
			}
		})
	}
	running.Wait()
	return first
}
