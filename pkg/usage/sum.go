package usage

import (
	"cmp"
	"maps"
	"slices"
)

// The limits of a sum. Beyond them, counts are added to the application or variant Other: the sum stays right, and fits in an
// item of the store, also with hostile names.
const (
	MaxSumApplications = 100
	MaxSumVariants     = 100       // per application and environment
	MaxSumCounters     = 2_000     // pairs of application and environment, and their variants
	maxSumNames        = 100 << 10 // bytes of JSON
)

// maxUsageCount is the largest count: the largest integer that every JSON parser reads exactly.
const maxUsageCount = 1<<53 - 1

// Add adds counts of the sum's flag.
func (s *Sum) Add(counts []Count) {
	t := newUsageTable(s.Counts)
	for _, c := range counts {
		t.add(c)
	}
	s.Counts = t.counts(s.Feature)
}

// A usagePlace is where evaluations happen.
type usagePlace struct{ application, environment string }

// A usageTable has the counts of one flag.
type usageTable struct {
	rows         map[usagePlace]*Count
	applications map[string]bool
	counters     int
	names        int // bytes of all names
}

func newUsageTable(counts []Count) *usageTable {
	t := &usageTable{rows: map[usagePlace]*Count{}, applications: map[string]bool{}}
	for _, c := range counts {
		row := t.insert(c.Application, c.Environment)
		row.Yes, row.No = c.Yes, c.No
		for name, n := range c.Variants {
			t.insertVariant(row, name, n)
		}
	}
	return t
}

func (t *usageTable) add(c Count) {
	row := t.row(c.Application, c.Environment)
	row.Yes, row.No = addCounts(row.Yes, c.Yes), addCounts(row.No, c.No)
	for _, name := range slices.Sorted(maps.Keys(c.Variants)) {
		to := name
		if _, has := row.Variants[name]; !has && (len(row.Variants) >= MaxSumVariants || !t.hasRoom(name)) {
			to = Other
		}
		n, has := row.Variants[to]
		if !has {
			t.insertVariant(row, to, 0)
		}
		row.Variants[to] = addCounts(n, c.Variants[name])
	}
}

// row returns the row of an application in an environment, or that of Other.
func (t *usageTable) row(application, environment string) *Count {
	if row := t.rows[usagePlace{application, environment}]; row != nil {
		return row
	}
	tooMany := !t.applications[application] && len(t.applications) >= MaxSumApplications
	if tooMany || !t.hasRoom(application+environment) {
		application = Other
		if row := t.rows[usagePlace{application, environment}]; row != nil {
			return row
		}
	}
	return t.insert(application, environment)
}

// hasRoom tells whether a counter with a new name fits in the sum.
func (t *usageTable) hasRoom(name string) bool {
	return t.counters < MaxSumCounters && t.names+jsonSize(name) <= maxSumNames
}

func (t *usageTable) insert(application, environment string) *Count {
	row := &Count{Application: application, Environment: environment}
	t.rows[usagePlace{application, environment}] = row
	if application != Other {
		t.applications[application] = true
	}
	t.counters++
	t.names += jsonSize(application) + jsonSize(environment)
	return row
}

func (t *usageTable) insertVariant(row *Count, name string, n int64) {
	if row.Variants == nil {
		row.Variants = map[string]int64{}
	}
	row.Variants[name] = n
	t.counters++
	t.names += jsonSize(name)
}

// counts returns the rows, sorted.
func (t *usageTable) counts(feature string) []Count {
	list := make([]Count, 0, len(t.rows))
	for _, row := range t.rows {
		row.Feature = feature
		list = append(list, *row)
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Application, b.Application), cmp.Compare(a.Environment, b.Environment))
	})
	return list
}

func addCounts(a, b int64) int64 {
	if a > maxUsageCount-b {
		return maxUsageCount
	}
	return a + b
}
