package aggregate

import (
	"time"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// A tally is what the posts of a batch add.
type tally struct {
	sources *sources
	counts  map[string][]postCount // by flag, whether it exists or not
	reports map[reportKey]*report
	asked   map[string]time.Time // by the ID of a project, or flags.All: when a provider of OFREP asked for all flags
}

// A postCount is a count and the post that has it.
type postCount struct {
	post  *usage.Post
	count *usage.Count
}

type reportKey struct{ hash, application, environment string }

// A report is a usage.Report with sets.
type report struct {
	at                                  time.Time
	strategies, features, uses, unknown map[string]bool
	instances                           map[string]usage.Instance
}

func newTally(l *sources) *tally {
	return &tally{sources: l, counts: map[string][]postCount{}, reports: map[reportKey]*report{}, asked: map[string]time.Time{}}
}

// add adds a post. What it has of flags is added by evaluated.
func (t *tally) add(p *usage.Post) {
	s := t.sources.byHash[p.TokenHash]
	if s == nil {
		return
	}
	for _, i := range p.Instances {
		if i.Application == usage.OFREP {
			for _, project := range s.scope.ProjectIDs() {
				t.asked[project] = p.At // posts are in order
			}
		}
		r := t.report(s, i.Application, i.Environment, p.At)
		if r == nil {
			continue
		}
		for _, name := range i.Strategies {
			r.strategies[name] = true
		}
		instance := usage.Instance{Name: i.Instance, SDK: i.SDK, Address: i.Address, CreatedAt: p.At, LastSeenAt: p.At}
		if before, has := r.instances[i.Instance]; has {
			instance.CreatedAt = before.CreatedAt
			if instance.SDK == "" {
				instance.SDK = before.SDK
			}
		}
		r.instances[i.Instance] = instance
	}
	for i := range p.Counts {
		c := &p.Counts[i]
		if s.names[c.Feature] > 0 && t.sources.registry.Find(c.Environment) != nil {
			t.counts[c.Feature] = append(t.counts[c.Feature], postCount{p, c})
		}
	}
}

// An evaluatedFlag is a flag, and what a batch adds to it.
type evaluatedFlag struct {
	*flags.Feature
	hour   time.Time // all posts of a batch are of one period, and so of one hour
	counts []usage.Count
	seen   map[string]time.Time // by environment
}

// evaluated returns what the posts have of a flag, and notes in the reports whether it counts: if the flag exists, f, in a project of the
// token. It returns nil if nothing counts.
func (t *tally) evaluated(name string, f *flags.Feature) *evaluatedFlag {
	var e *evaluatedFlag
	var variants map[string]bool
	for _, one := range t.counts[name] {
		p, c := one.post, *one.count
		s := t.sources.byHash[p.TokenHash]
		r := t.report(s, c.Application, c.Environment, p.At)
		if f == nil || !s.covers(p, f) {
			if r != nil {
				r.unknown[name] = true
			}
			continue
		}
		if r != nil {
			r.features[name], r.uses[f.Project] = true, true
		}
		if e == nil {
			e = &evaluatedFlag{Feature: f, hour: p.At.UTC().Truncate(time.Hour), seen: map[string]time.Time{}}
			variants = flags.SetOf(append(f.AllVariantNames(), evaluate.DisabledVariant))
		}
		c.Application, c.Variants = s.admit(c.Application), known(variants, c.Variants)
		e.counts = append(e.counts, c)
		e.seen[c.Environment] = p.At // posts are in order
	}
	return e
}

// known returns the counts of variants, with Other for those that are not among the names of the flag's variants. A client could fill each
// sum with names that it invents, and a sum is written as a whole each minute.
func known(names map[string]bool, variants map[string]int64) map[string]int64 {
	var counts map[string]int64
	for name, n := range variants {
		if !names[name] {
			name = usage.Other
		}
		if counts == nil {
			counts = map[string]int64{}
		}
		counts[name] += n
	}
	return counts
}

// report is the report of an application; nil if it is beyond the limits.
func (t *tally) report(s *source, application, environment string, at time.Time) *report {
	if !s.admitted[application] {
		return nil
	}
	if t.sources.registry.Find(environment) == nil {
		environment = ""
	}
	key := reportKey{s.hash, application, environment}
	r := t.reports[key]
	if r == nil {
		r = &report{strategies: map[string]bool{}, features: map[string]bool{}, uses: map[string]bool{}, unknown: map[string]bool{}, instances: map[string]usage.Instance{}}
		t.reports[key] = r
	}
	if r.at.Before(at) {
		r.at = at
	}
	return r
}
