package features

import (
	"container/heap"
	"slices"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// searchOperations find flags of all projects.
//
// Cost: with cursor, about the list rows of the page, see walk. Without, the list rows of every project that the query does not
// rule out, one query a project and megabyte, and the segments of the page. Either way the memory depends on the page,
// not on the number of flags. Name the project where you can.
func searchOperations() []httpapi.Operation {
	return []httpapi.Operation{
		{Route: "GET /api/admin/search/features", Permission: access.Read, Ahead: shown, Handle: httpapi.Handle(searchFeatures)},
	}
}

// inSearch is the place of a search: what its query asks for.
type inSearch struct {
	httpapi.InService
	criteria criteria
}

// Parse reads the query.
func (at *inSearch) Parse(r httpapi.Request) (err error) {
	at.criteria, err = criteriaOf(r.Query())
	return err
}

// Keys names the projects that the query names.
func (at *inSearch) Keys() []flags.Key {
	return httpapi.ProjectKeys(at.criteria.namedProjects()...)
}

func searchFeatures(tx *httpapi.Tx, at inSearch) (foundFeatures, error) {
	s := newSearch(tx, at.criteria)
	if s.keyed {
		return s.walk(), nil
	}
	return s.sorted()
}

// A search is one request.
type search struct {
	criteria
	tx           *httpapi.Tx
	favoritesOf  *flags.Favorites
	projects     []*flags.Project // by ID
	environments map[string][]flags.ProjectEnvironment
	filterIDs    map[int64]string // the segments that the filter names; nil without that filter
}

func newSearch(tx *httpapi.Tx, c criteria) *search {
	if name, found := strings.CutPrefix(c.sortBy, "environment:"); found && tx.Environments().Find(name) == nil {
		c.sortBy = defaultSort
	}
	s := &search{criteria: c, tx: tx, favoritesOf: tx.Favorites(), environments: map[string][]flags.ProjectEnvironment{}}
	s.projects = s.selectProjects()
	slices.SortFunc(s.projects, func(a, b *flags.Project) int { return strings.Compare(a.ID, b.ID) })
	for _, p := range s.projects {
		s.environments[p.UID] = tx.ProjectEnvironments(p)
	}
	if c.segment.name != "" {
		s.filterIDs = map[int64]string{}
		for _, segment := range tx.Segments() {
			if slices.Contains(c.segment.values, segment.Name) {
				s.filterIDs[segment.ID] = segment.Name
			}
		}
	}
	return s
}

// selectProjects returns the projects that the query does not rule out. If it names them, no others are read.
func (s *search) selectProjects() (list []*flags.Project) {
	if s.project.isOneOf() {
		for _, id := range s.namedProjects() {
			if p := s.tx.FindProject(id); p != nil {
				list = append(list, p)
			}
		}
		return list
	}
	return slices.DeleteFunc(slices.Clone(s.tx.Projects()), func(p *flags.Project) bool { return !s.project.matches([]string{p.ID}) })
}

// maxSorted is how many flags a search keeps at most to return a page of them: about 60 MB. More are read with cursor.
const maxSorted = 100_000

// sorted reads all flags, and returns the page of those that match, in the order that the query requests.
func (s *search) sorted() (foundFeatures, error) {
	type sorted struct{} // the search is that of the request
	best := httpapi.OncePerRound(s.tx, sorted{}, s.scan)
	page := slices.SortedFunc(slices.Values(best.list), s.compare)
	if best.total > maxSorted && s.offset+s.limit > maxSorted {
		return foundFeatures{}, flags.Errorf(flags.Invalid, "the query's offset must be at most %d if more than %d flags match; filter them, for example "+
			"by project, or read them in the order of names: start with an empty cursor instead of an offset", maxSorted-s.limit, maxSorted)
	}
	page = page[min(s.offset, len(page)):]
	return foundFeatures{Total: &best.total, Features: s.views(page)}, nil
}

// scan reads all flags that can match, and keeps those up to the end of the page.
func (s *search) scan() *bestFindings {
	best := &bestFindings{most: min(s.offset+s.limit, maxSorted), compare: s.compare}
	used := map[string][]string{}
	if s.filterIDs != nil {
		s.tx.EachUse(func(u flags.FeatureUse) bool {
			s.addFiltered(used, u)
			return true
		})
	}
	s.tx.EachSummary(s.projects, s.archived, s.texts, func(p *flags.Project, row flags.SummaryRow) error {
		f, matches, err := s.finding(p, row, used)
		if matches {
			best.add(f)
		}
		return err
	})
	return best
}

// addFiltered notes which segments of the filter a flag uses, if any.
func (s *search) addFiltered(used map[string][]string, u flags.FeatureUse) {
	for _, strategy := range flags.FindStrategyUses([]flags.FeatureUse{u}, s.tx.Environments(), func(flags.StrategyUse) bool { return true }) {
		for _, id := range strategy.Segments {
			if name, wanted := s.filterIDs[id]; wanted {
				used[u.Feature] = append(used[u.Feature], name)
			}
		}
	}
}

// finding compares a row with the criteria. The row is decoded completely only if a criterion needs it.
func (s *search) finding(p *flags.Project, row flags.SummaryRow, used map[string][]string) (f *finding, matches bool, err error) {
	f = &finding{SummaryRow: row, environments: s.environments[p.UID], segments: used[row.Name]}
	if !s.match(f) {
		return nil, false, nil
	}
	if s.needsEnvironments() {
		err := f.decode()
		return f, err == nil && s.matchStatus(f), err
	}
	return f, true, nil
}

// A bestFindings keeps the first of many findings in an order, as a heap with the last of them on top.
type bestFindings struct {
	total   int // of all that were added
	most    int // of list
	list    []*finding
	compare func(a, b *finding) int
}

func (b *bestFindings) add(f *finding) {
	b.total++
	if len(b.list) < b.most {
		heap.Push(b, f)
	} else if b.compare(f, b.list[0]) < 0 {
		b.list[0] = f
		heap.Fix(b, 0)
	}
}

// Len, Less, Swap, Push and Pop are those of heap.Interface.
func (b *bestFindings) Len() int           { return len(b.list) }
func (b *bestFindings) Less(i, j int) bool { return b.compare(b.list[i], b.list[j]) > 0 }
func (b *bestFindings) Swap(i, j int)      { b.list[i], b.list[j] = b.list[j], b.list[i] }
func (b *bestFindings) Push(f any)         { b.list = append(b.list, f.(*finding)) }

// Pop removes the last finding.
func (b *bestFindings) Pop() any {
	last := b.list[len(b.list)-1]
	b.list = b.list[:len(b.list)-1]
	return last
}

// A finding is a flag that a search compares with its criteria.
type finding struct {
	flags.SummaryRow
	environments []flags.ProjectEnvironment
	segments     []string // the names of those that its strategies use; before views only those of the filter
	decoded      bool
}

// decode decodes the fields that the head of a row does not have.
func (f *finding) decode() error {
	if f.decoded {
		return nil
	}
	whole, err := f.Whole()
	if err == nil {
		f.FeatureSummary, f.decoded = whole, true
	}
	return err
}

// views returns the findings of a page, with the segments that they use.
func (s *search) views(page []*finding) []foundFeature {
	for _, f := range page {
		if err := f.decode(); err != nil {
			s.tx.Fail(err)
		}
	}
	used := s.segmentsOf(page)
	var keys []flags.Key
	for _, ids := range used {
		keys = append(keys, httpapi.Each(ids, flags.SegmentKey)...)
	}
	s.tx.Load(keys...)
	s.tx.CheckTime()
	return httpapi.Each(page, func(f *finding) foundFeature {
		f.segments = nil
		for _, id := range used[f.Name] {
			if segment := s.tx.FindSegment(id); segment != nil {
				f.segments = append(f.segments, segment.Name)
			}
		}
		slices.Sort(f.segments)
		f.segments = slices.Compact(f.segments)
		return f.view(s.favoritesOf)
	})
}

// segmentsOf returns the segments that flags use in existing environments, by the name of the flag.
func (s *search) segmentsOf(page []*finding) map[string][]int64 {
	used, registry := map[string][]int64{}, s.tx.Environments()
	for _, f := range page {
		for name, in := range f.Environments {
			if env := registry.Find(name); env != nil && env.UID == in.EnvironmentUID {
				used[f.Name] = append(used[f.Name], in.Segments...)
			}
		}
	}
	return used
}

// A foundFeatures is a page of what a search finds.
type foundFeatures struct {
	Features []foundFeature `json:"features"`
	Total    *int           `json:"total,omitzero"` // of all pages; not with cursor
	Next     string         `json:"next,omitzero"`  // the cursor of the next page
}

// A foundFeature is a flag that a search finds.
type foundFeature struct {
	listedFeature
	Project        string          `json:"project"`
	ArchivedAt     *shape.Time     `json:"archivedAt,omitzero"` // only of an archived flag
	DependencyType *flags.Relation `json:"dependencyType"`      // parent, child or null
	Segments       []string        `json:"segments"`
}

func (f *finding) view(favorites *flags.Favorites) foundFeature {
	view := foundFeature{
		listedFeature: listedFeatureOf(f.FeatureSummary, f.environments, favorites), Project: f.Project, ArchivedAt: shape.TimeOrNull(f.ArchivedAt), Segments: f.segments,
	}
	if f.Relation != "" {
		view.DependencyType = &f.Relation
	}
	return view
}
