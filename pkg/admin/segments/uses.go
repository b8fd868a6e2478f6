package segments

import (
	"slices"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// usesOfSegment returns what the flags use that use a segment, archived ones and those in deleted environments too. It reads what all
// flags use, but not if no flag uses the segment, and only until it has found all that do, as the segment's guard counts them. It also
// stops once more flags than an error names prevent a change of the segment, and returns false: active flags that use it in an
// environment that exists, unless they are in the project allowed; "" allows none.
func usesOfSegment(tx *httpapi.Tx, id int64, allowed string) (uses []flags.FeatureUse, all bool) {
	type found struct {
		uses       []flags.FeatureUse
		preventing int
	}
	count := tx.FlagsUsing(id)
	if count == 0 {
		return nil, true
	}
	using := func(s flags.StrategyUse) bool { return s.UsesSegment(id) }
	type usesOf struct {
		segment, count int64
		allowed        string
	}
	f := httpapi.OncePerRound(tx, usesOf{id, count, allowed}, func() (f found) {
		tx.EachUse(func(u flags.FeatureUse) (goOn bool) {
			if !slices.ContainsFunc(u.Strategies, using) {
				return true
			}
			f.uses = append(f.uses, u)
			if u.Project != allowed && isUsed(tx, u, using) {
				f.preventing++
			}
			return f.preventing <= flags.MaxNamedUses && int64(len(f.uses)) != count
		})
		return f
	})
	return f.uses, f.preventing <= flags.MaxNamedUses
}

// usesOfField returns what the active flags use that use a context field: of all flags, or of one more than an error names.
func usesOfField(tx *httpapi.Tx, name string) []flags.FeatureUse {
	type usesOf struct{ field string }
	return httpapi.OncePerRound(tx, usesOf{name}, func() (found []flags.FeatureUse) {
		tx.EachUse(func(u flags.FeatureUse) (goOn bool) {
			if isUsed(tx, u, func(s flags.StrategyUse) bool { return s.UsesContextField(name) }) {
				found = append(found, u)
			}
			return len(found) <= flags.MaxNamedUses
		})
		return found
	})
}

// isUsed reports whether an active flag has a matching strategy in an environment that exists.
func isUsed(tx *httpapi.Tx, u flags.FeatureUse, using func(flags.StrategyUse) bool) bool {
	return len(flags.FindStrategyUses([]flags.FeatureUse{u}, tx.Environments(), using)) > 0
}

// MaxReadUses is how many flags a page with cursor reads at most. If few of them match, it then has fewer strategies than the limit,
// even none. One query reads at most as many, too.
const MaxReadUses = 5_000

// A strategyPage is a page of the strategies that use something, in the order of flags.
type strategyPage struct {
	list []flags.FeatureStrategyUse
	next string // the cursor of the next page; empty on the last one, and without cursor
}

// strategiesOn returns a page of the strategies that use something: the segment or the context field of a place.
func strategiesOn[P comparable](tx *httpapi.Tx, place P, page wire.FlagPage, using func(flags.StrategyUse) bool) strategyPage {
	type strategiesOn struct {
		place P
		page  wire.FlagPage
	}
	return httpapi.OncePerRound(tx, strategiesOn{place, page}, func() strategyPage {
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
	ended := readUses(tx, after, limit+1, MaxReadUses, func(u flags.FeatureUse) (goOn bool) {
		matching := flags.FindStrategyUses([]flags.FeatureUse{u}, tx.Environments(), using)
		if len(page.list) > 0 && len(page.list)+len(matching) > limit {
			return false
		}
		page.list, page.next = append(page.list, matching...), u.Feature
		return true
	})
	if ended {
		page.next = ""
	}
	return page
}

// strategiesFrom reads the flags from the first one to the end of the page, and keeps the strategies from the offset of the query.
func strategiesFrom(tx *httpapi.Tx, using func(flags.StrategyUse) bool) (page strategyPage) {
	offset, limit := httpapi.PageBounds(tx.Query())
	found := 0
	readUses(tx, "", limit, httpapi.MaxOffset, func(u flags.FeatureUse) (goOn bool) {
		for _, s := range flags.FindStrategyUses([]flags.FeatureUse{u}, tx.Environments(), using) {
			if found++; found > offset && found-offset <= limit {
				page.list = append(page.list, s)
			}
		}
		return found-offset < limit
	})
	return page
}

// readUses calls visit with what flags use after a name, until it returns false, or so many were read at most. The first query reads
// the uses of so many flags, and each other one twice as many as the one before, so that a full page reads little more than itself, and
// few matches take few queries. It returns whether there are no more.
func readUses(tx *httpapi.Tx, after string, first, most int, visit func(flags.FeatureUse) (goOn bool)) (ended bool) {
	atOnce := first
	for read := 0; read < most; {
		atOnce = min(atOnce, MaxReadUses, most-read)
		uses, more := tx.UsesAfter(after, atOnce)
		for _, u := range uses {
			if !visit(u) {
				return false
			}
			after = u.Feature
		}
		if !more {
			return true
		}
		read, atOnce = read+len(uses), 2*atOnce
	}
	return false
}

// defaultsOn returns a page of the default strategies that use something. With cursor, the first page has all of them.
func defaultsOn(tx *httpapi.Tx, page wire.FlagPage, using func(flags.Strategy) bool) []usingDefault {
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

// countUses counts the flags that use each of something, in one pass over what all flags use. A round counts by one of for each K:
// segments are of another type than context fields.
func countUses[K comparable](tx *httpapi.Tx, of func(flags.StrategyUse) []K) map[K]*useCount {
	type countUses struct{} // another type for each K
	return httpapi.OncePerRound(tx, countUses{}, func() map[K]*useCount {
		counts := map[K]*useCount{}
		tx.EachUse(func(u flags.FeatureUse) (goOn bool) {
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
			return true
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
