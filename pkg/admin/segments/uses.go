package segments

import (
	"strconv"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// usesOfSegment returns what the flags use of which a strategy uses a segment. What all flags use is read, a megabyte at a time,
// and only these are kept.
func usesOfSegment(tx *httpapi.Tx, id int64) []flags.FeatureUse {
	return tx.UsesWhere("segment "+strconv.FormatInt(id, 10), func(s flags.StrategyUse) bool { return s.UsesSegment(id) })
}

// usesOfField is usesOfSegment for a context field.
func usesOfField(tx *httpapi.Tx, name string) []flags.FeatureUse {
	return tx.UsesWhere("context field "+name, func(s flags.StrategyUse) bool { return s.UsesContextField(name) })
}

// How many flags a page with cursor reads at most, in all and by one query. If few of them match, it then has fewer strategies
// than the limit, even none.
const (
	MaxReadUses   = 5_000
	maxReadAtOnce = 1_000
)

// A strategyPage is a page of the strategies that use something, in the order of flags.
type strategyPage struct {
	list []flags.FeatureStrategyUse
	next string // the cursor of the next page; empty on the last one, and without cursor
}

// strategiesOn returns a page of the strategies that use something.
func strategiesOn(tx *httpapi.Tx, page httpapi.FlagPage, what string, using func(flags.StrategyUse) bool) strategyPage {
	return httpapi.OncePerRound(tx, "page of strategies with "+what, func() strategyPage {
		if after, limit, keyed := page.Keyed(); keyed {
			return strategiesAfter(tx, after, limit, using)
		}
		return strategiesFrom(tx, using)
	})
}

// strategiesAfter reads the flags after a cursor, which is the name of the last flag that was read. All strategies of a flag are on
// the same page, so that no change of a flag between two pages hides one of them: a page ends before the flag that exceeds its limit,
// unless that is the only one.
func strategiesAfter(tx *httpapi.Tx, after string, limit int, using func(flags.StrategyUse) bool) (page strategyPage) {
	page.next = after
	read, atOnce := 0, limit+1
	for len(page.list) < limit && read < MaxReadUses {
		uses, more := tx.UsesAfter(page.next, min(atOnce, maxReadAtOnce, MaxReadUses-read))
		for _, u := range uses {
			matching := flags.FindStrategyUses([]flags.FeatureUse{u}, tx.Environments(), using)
			if len(page.list) > 0 && len(page.list)+len(matching) > limit {
				return page
			}
			page.list, page.next = append(page.list, matching...), u.Feature
		}
		if !more {
			page.next = ""
			return page
		}
		read, atOnce = read+len(uses), 2*atOnce
	}
	return page
}

// strategiesFrom reads all flags, from the first, and keeps the strategies from the offset of the query to its limit.
func strategiesFrom(tx *httpapi.Tx, using func(flags.StrategyUse) bool) (page strategyPage) {
	offset, limit := httpapi.PageBounds(tx.Query())
	found := 0
	tx.EachUse(func(u flags.FeatureUse) {
		for _, s := range flags.FindStrategyUses([]flags.FeatureUse{u}, tx.Environments(), using) {
			if found++; found > offset && found-offset <= limit {
				page.list = append(page.list, s)
			}
		}
	})
	return page
}

// defaultsOn returns a page of the default strategies that use something. With cursor, the first page has all of them.
func defaultsOn(tx *httpapi.Tx, page httpapi.FlagPage, using func(flags.Strategy) bool) []usingDefault {
	after, _, keyed := page.Keyed()
	if after != "" {
		return []usingDefault{}
	}
	defaults := flags.FindDefaultStrategyUses(tx.Projects(), tx.Environments(), using)
	if !keyed {
		defaults = httpapi.PageOf(tx.Query(), defaults)
	}
	return httpapi.Each(defaults, usingDefaultOf)
}

// A useCount is how many active flags use something, and in which projects.
type useCount struct {
	features int
	projects map[string]bool // by ID
}

// countUses counts the flags that use each of something, in one pass over what all flags use.
func countUses[K comparable](tx *httpapi.Tx, what string, of func(flags.StrategyUse) []K) map[K]*useCount {
	return httpapi.OncePerRound(tx, "counts of "+what, func() map[K]*useCount {
		counts := map[K]*useCount{}
		tx.EachUse(func(u flags.FeatureUse) {
			counted := map[K]bool{}
			for _, s := range flags.FindStrategyUses([]flags.FeatureUse{u}, tx.Environments(), func(flags.StrategyUse) bool { return true }) {
				for _, used := range of(s.StrategyUse) {
					if counted[used] {
						continue
					}
					counted[used] = true
					if counts[used] == nil {
						counts[used] = &useCount{projects: map[string]bool{}}
					}
					counts[used].features++
					counts[used].projects[u.Project] = true
				}
			}
		})
		return counts
	})
}

// with returns the number of flags, and of projects that use it by a flag or by a default strategy.
func (c *useCount) with(defaults []flags.DefaultStrategyUse) (features, projects int) {
	all := map[string]bool{}
	if c != nil {
		features = c.features
		for id := range c.projects {
			all[id] = true
		}
	}
	for _, d := range defaults {
		all[d.Project] = true
	}
	return features, len(all)
}
