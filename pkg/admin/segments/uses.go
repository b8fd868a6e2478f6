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

// strategyPage returns the page of the strategies that use something, in the order of flags, that the query requests. What
// follows the page is not kept.
func strategyPage(tx *httpapi.Tx, what string, using func(flags.StrategyUse) bool) []flags.FeatureStrategyUse {
	offset, limit := httpapi.PageBounds(tx.Query())
	return httpapi.OncePerRound(tx, "page of strategies with "+what, func() (page []flags.FeatureStrategyUse) {
		found := 0
		tx.EachUse(func(u flags.FeatureUse) {
			for _, s := range flags.FindStrategyUses([]flags.FeatureUse{u}, tx.Environments(), using) {
				if found++; found > offset && found-offset <= limit {
					page = append(page, s)
				}
			}
		})
		return page
	})
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
