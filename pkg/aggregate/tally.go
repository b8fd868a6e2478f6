package aggregate

import (
	"time"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// A tally is what the posts of a batch add.
type tally struct {
	hour    time.Time // all posts of a batch are of one period, and so of one hour
	counts  map[string][]usage.Count
	seen    map[string]map[string]time.Time // by flag and environment
	reports map[reportKey]*report

	variants map[string]map[string]bool // by flag: the names that count
}

type reportKey struct{ hash, application, environment string }

// A report is a usage.Report with sets.
type report struct {
	at                                  time.Time
	strategies, features, uses, unknown map[string]bool
	instances                           map[string]usage.Instance
}

func newTally(at time.Time) *tally {
	return &tally{
		hour: at.UTC().Truncate(time.Hour), counts: map[string][]usage.Count{}, seen: map[string]map[string]time.Time{},
		reports: map[reportKey]*report{}, variants: map[string]map[string]bool{},
	}
}

// add adds a post. What it says of a flag counts if the flag exists, in a project of the token, and the environment exists.
func (t *tally) add(p *usage.Post, l *sources, found map[string]*flags.Feature) {
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
		instance := usage.Instance{Name: i.Instance, SDK: i.SDK, Address: i.Address, CreatedAt: p.At, LastSeenAt: p.At}
		if before, has := r.instances[i.Instance]; has {
			instance.CreatedAt = before.CreatedAt
			if instance.SDK == "" {
				instance.SDK = before.SDK
			}
		}
		r.instances[i.Instance] = instance
	}
	for _, c := range p.Counts {
		if s.names[c.Feature] == 0 || l.registry.Find(c.Environment) == nil {
			continue
		}
		r := t.report(s, l, c.Application, c.Environment, p.At)
		f := found[c.Feature]
		if f == nil || !s.covers(p, f) {
			if r != nil {
				r.unknown[c.Feature] = true
			}
			continue
		}
		if r != nil {
			r.features[c.Feature], r.uses[f.Project] = true, true
		}
		c.Application, c.Variants = s.admit(c.Application), t.known(f, c.Variants)
		t.counts[c.Feature] = append(t.counts[c.Feature], c)
		if t.seen[c.Feature] == nil {
			t.seen[c.Feature] = map[string]time.Time{}
		}
		t.seen[c.Feature][c.Environment] = p.At // posts are in order
	}
}

// known returns the counts of variants, with Other for names that the flag does not have. A client could fill each sum with names
// that it invents, and a sum is written as a whole each minute.
func (t *tally) known(f *flags.Feature, variants map[string]int64) map[string]int64 {
	names := t.variants[f.Name]
	if names == nil {
		names = flags.SetOf(append(f.AllVariantNames(), evaluate.DisabledVariant))
		t.variants[f.Name] = names
	}
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
		r = &report{strategies: map[string]bool{}, features: map[string]bool{}, uses: map[string]bool{}, unknown: map[string]bool{}, instances: map[string]usage.Instance{}}
		t.reports[key] = r
	}
	r.at = at
	return r
}
