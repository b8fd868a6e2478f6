package oldapi

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// An importing is one import: a batch whose items are what the flags need and is not there (tag types, context fields,
// segments), and then the flags, each of which comes over whole or not at all. What is the same already is left alone, so
// that the same import again changes nothing.
type importing struct {
	body     importBody
	data     importData
	segments map[int64]string          // by their ids in the data, which are others here
	whole    map[string]bool           // the names of those segments of the data that have constraints, so that they can be created
	here     map[string]*flags.Segment // the segments of the service by name, as of this round
	newIDs   map[string]int64          // of segments that are to be made, by name
	noRoom   error                     // why no segment can be created: together they are too many
	flags    []string
	byFlag   map[string]*broughtFlag
	items    []importItem
}

// An importItem is the change that brings one thing.
type importItem struct {
	kind   importKind
	name   string
	decide func(c *call) (decision, error)
	keys   []flags.Key
}

// An importKind is what an item of an import is, as its report calls it.
type importKind string

const (
	importedTagType      importKind = "tag type"
	importedContextField importKind = "context field"
	importedSegment      importKind = "segment"
	importedFlag         importKind = "flag"
)

// A broughtFlag is all that the data says of a flag, with where it says so.
type broughtFlag struct {
	feature      importFeatureBody
	strategies   []strategyBody
	environment  *importEnvironmentBody
	tags         []flags.Tag
	dependencies []flags.Dependency
}

func importFlags() decider {
	return inBatch(func(in importBody) batch { return newImporting(in).batch() }).listing(flags.EntitySegment).
		upTo(maxImport).answers(http.StatusOK, importedView{})
}

func newImporting(in importBody) *importing {
	m := &importing{body: in, data: in.Data.Value, segments: map[int64]string{}, whole: map[string]bool{}, newIDs: map[string]int64{}, byFlag: map[string]*broughtFlag{}}
	m.collect()
	for _, t := range m.tagTypes() {
		m.items = append(m.items, importItem{importedTagType, t.Name, func(c *call) (decision, error) { return m.bringTagType(c, t) }, nil})
	}
	for _, f := range m.data.ContextFields {
		m.items = append(m.items, importItem{importedContextField, f.Name, func(c *call) (decision, error) { return m.bringContextField(c, f) }, nil})
	}
	for _, s := range m.data.Segments {
		m.items = append(m.items, importItem{importedSegment, s.Name, func(c *call) (decision, error) { return m.bringSegment(c, s) }, nil})
	}
	for _, name := range m.flags {
		keys := []flags.Key{flags.FeatureKey(name)}
		for _, d := range m.byFlag[name].dependencies {
			keys = append(keys, flags.FeatureKey(d.Feature))
		}
		m.items = append(m.items, importItem{importedFlag, name, func(c *call) (decision, error) { return m.bringFlag(c, name) }, keys})
	}
	return m
}

// collect puts together what the lists of the data say of each flag. What they say of others is about nothing.
func (m *importing) collect() {
	for _, f := range m.data.Features.Value {
		if m.byFlag[f.Name] == nil {
			m.flags = append(m.flags, f.Name)
			m.byFlag[f.Name] = &broughtFlag{feature: f}
		}
	}
	for _, s := range m.data.FeatureStrategies {
		if of := m.byFlag[s.FeatureName]; of != nil {
			of.strategies = append(of.strategies, s.strategyBody)
		}
	}
	for i, e := range m.data.FeatureEnvironments {
		if of := m.byFlag[e.FeatureName]; of != nil {
			of.environment = &m.data.FeatureEnvironments[i]
		}
	}
	for _, t := range m.data.FeatureTags {
		if of := m.byFlag[t.FeatureName]; of != nil {
			of.tags = append(of.tags, flags.Tag{Type: t.TagType, Value: t.TagValue.Value})
		}
	}
	for _, d := range m.data.Dependencies {
		if of := m.byFlag[d.Feature]; of != nil {
			of.dependencies = append(of.dependencies, each(d.Dependencies, importParentBody.dependency)...)
		}
	}
	for _, s := range m.data.Segments {
		m.segments[s.ID.Value] = s.Name
		m.whole[s.Name] = m.whole[s.Name] || s.Constraints.Set
	}
}

// tagTypes are those of the data, and those that only its tags name.
func (m *importing) tagTypes() []importTagTypeBody {
	list, known := slices.Clone(m.data.TagTypes), map[string]bool{}
	for _, t := range list {
		known[t.Name] = true
	}
	for _, t := range m.data.FeatureTags {
		if !known[t.TagType] {
			known[t.TagType], list = true, append(list, importTagTypeBody{Name: t.TagType})
		}
	}
	return list
}

func (m *importing) batch() batch {
	return batch{
		size:   len(m.items),
		common: []flags.Key{flags.ProjectKey(m.body.Project)},
		keys:   func(i int) []flags.Key { return m.items[i].keys },
		review: m.body.find,
		number: m.number,
		decide: func(c *call, i int) (decision, error) { return m.items[i].decide(c) },
		answer: func(_ *call, done []result) (decision, error) { return m.report(done) },
	}
}

// bringTagType makes a tag type that is not there. One that is, stays as it is.
func (m *importing) bringTagType(c *call, t importTagTypeBody) (decision, error) {
	if c.tagTypes.Has(t.Name) {
		return decision{}, nil
	}
	if err := c.caller.Authorize(flags.CreateTagType, nil, ""); err != nil {
		return decision{}, err
	}
	made := flags.TagType{Name: t.Name}
	if text := t.Description.Value; text != nil {
		made.Description = *text
	}
	if icon := t.Icon.Value; icon != nil {
		made.Icon = *icon
	}
	if err := faultsOf(made.Check); err != nil {
		return decision{}, err
	}
	registry := c.tagTypes.Clone()
	if err := registry.Add(made); err != nil {
		return decision{}, err
	}
	return c.changesTagTypes(registry, events.TagTypeCreated(made), 0, outcomeCreated)
}

// bringContextField makes a context field that is not there. One that is, stays as it is.
func (m *importing) bringContextField(c *call, in importContextFieldBody) (decision, error) {
	if c.fields.Has(in.Name) {
		return decision{}, nil
	}
	if err := c.caller.Authorize(flags.CreateContextField, nil, ""); err != nil {
		return decision{}, err
	}
	made := flags.ContextField{
		Name: in.Name, Description: in.Description.Value, Stickiness: in.Stickiness.Value,
		SortOrder: int64(in.SortOrder.or(flags.DefaultContextFieldSortOrder)), CreatedAt: c.now,
		LegalValues: each(in.LegalValues, func(v importLegalValue) flags.LegalValue {
			return flags.LegalValue{Value: v.Value, Description: v.Description.Value}
		}),
	}
	if err := faultsOf(made.Check); err != nil {
		return decision{}, err
	}
	registry := c.fields.Clone()
	if err := registry.Add(made, c.limits); err != nil {
		return decision{}, err
	}
	return c.changes(ifStored(c.fields), registry, events.ContextFieldCreated(made), 0, outcomeCreated)
}

// number has an id taken for every segment that is to be made, by whom it may be. It comes before the decisions of each
// round, and so it also indexes the segments that they look for.
func (m *importing) number(c *call, next nextID) (err error) {
	m.here = c.segmentsByName()
	if m.noRoom = m.checkRoom(c); m.noRoom != nil {
		return nil //nolint:nilerr // bringSegment reports it, for each segment
	}
	for _, s := range m.data.Segments {
		if m.here[s.Name] != nil || !s.Constraints.Set || m.newIDs[s.Name] != 0 {
			continue
		}
		if _, err := segmentToBring(c, s); err != nil {
			continue // bringSegment says so
		}
		if m.newIDs[s.Name], err = next(flags.EntitySegment); err != nil {
			return err
		}
	}
	return nil
}

// checkRoom says whether the list of all segments has room for those of the data that are to be created.
func (m *importing) checkRoom(c *call) error {
	created := map[string]flags.Aggregate{}
	for _, in := range m.data.Segments {
		if m.here[in.Name] == nil && in.Constraints.Set && created[in.Name] == nil {
			s := &flags.Segment{CreatedBy: c.caller.Name, Project: c.project.ID}
			segmentBody{Name: in.Name, Description: in.Description, Constraints: in.Constraints}.over(s)
			created[in.Name] = s
		}
	}
	for name, first := range created {
		delete(created, name)
		return flags.CheckListSize(c.lists[flags.EntitySegment], nil, first, slices.Collect(maps.Values(created))...)
	}
	return nil
}

// bringSegment makes a segment that is not there, if the data has its constraints. One that is, stays as it is.
func (m *importing) bringSegment(c *call, in importSegmentBody) (decision, error) {
	if !in.Constraints.Set {
		return decision{}, nil
	}
	if s := m.here[in.Name]; s != nil {
		return decision{body: keptSegment(s, in)}, nil
	}
	body, err := segmentToBring(c, in)
	if err == nil {
		err = m.noRoom
	}
	if err != nil {
		return decision{}, err
	}
	s := &flags.Segment{ID: m.newIDs[in.Name], CreatedAt: c.now, CreatedBy: c.caller.Name}
	if err := c.putSegment(s, body, flags.CreateSegment); err != nil {
		return decision{}, err
	}
	d, err := c.changes(nil, s, events.SegmentCreated(s), 0, outcomeCreated)
	d.derived = true
	return d, err
}

// segmentToBring is the body that makes a segment of the data, if it is right and the caller may.
func segmentToBring(c *call, in importSegmentBody) (segmentBody, error) {
	body := segmentBody{Name: in.Name, Description: in.Description, Constraints: in.Constraints}
	if in.Project.Value != nil { // it was its project's own there, and is this project's here
		body.Project = maybe[*string]{Set: true, Value: &c.project.ID}
	}
	if err := faultsOf(func(p *flags.Problems) { body.check(c.limits, p) }); err != nil {
		return body, err
	}
	return body, mayCreateSegment(c, body)
}

// keptSegment says what becomes of a segment that is there: it stays as it is, and whoever imports is told if the data has
// another of its name.
func keptSegment(s *flags.Segment, in importSegmentBody) importOutcome {
	if s.SameConstraints(each(in.Constraints.Value, constraintBody.constraint)) {
		return outcomeUnchanged
	}
	return outcomeKept
}

// bringFlag makes a flag, or makes one that is there what the data says.
func (m *importing) bringFlag(c *call, name string) (decision, error) {
	from, before := m.byFlag[name], flags.Find[*flags.Feature](c.more, flags.FeatureKey(name))
	switch {
	case before != nil && before.ProjectUID != c.project.UID:
		return decision{}, flags.Errorf(flags.Conflict, "flag %q exists in another project already; names are unique in the service", name)
	case before != nil && before.Archived:
		return decision{}, flags.Errorf(flags.Conflict, "flag %q is archived; revive it first to import it", name)
	}
	brought, err := m.brought(c, from, before)
	if err != nil {
		return decision{}, err
	}
	if err := brought.Authorize(before, c.project, c.environment, c.caller); err != nil {
		return decision{}, err
	}
	after := flags.NewFeature(c.project, name, brought.Metadata, c.caller.Name, c.now)
	if before != nil {
		after = before.Clone()
	}
	if err := after.Import(c.environment, brought, c.newID, c.limits); err != nil {
		return decision{}, err
	}
	parents, err := m.bringParents(c, after, brought.Parents)
	if err != nil {
		return decision{}, err
	}
	return m.commitFlag(c, before, after, parents)
}

// commitFlag is the decision that brings a flag, and its new parents' list of children with it.
func (m *importing) commitFlag(c *call, before, after *flags.Feature, parents []flags.Write) (decision, error) {
	event := events.FeatureImported(before, after, c.environment)
	if before == nil {
		d, err := c.changesAll(append([]flags.Write{{After: after}}, parents...), event, 0, outcomeCreated)
		d.derived = true // somebody who makes it meanwhile makes it one that is there
		return d, err
	}
	if reflect.DeepEqual(event.Data, event.PreData) {
		return decision{body: outcomeUnchanged}, nil
	}
	return c.changesAll(append([]flags.Write{{Before: before, After: after}}, parents...), event, 0, outcomeOverwritten)
}

// brought is what the data says of a flag, in the terms of this service. What it leaves out stays as it is.
func (m *importing) brought(c *call, from *broughtFlag, before *flags.Feature) (flags.ImportedFlag, error) {
	was := flags.DefaultMetadata()
	if before != nil {
		was = before.Metadata
	}
	f := from.feature
	b := flags.ImportedFlag{
		Metadata: metadataBody{Type: f.Type, Description: f.Description, Stale: f.Stale, ImpressionData: f.ImpressionData}.over(was),
		Parents:  from.dependencies,
	}
	if m.data.FeatureTags != nil {
		b.Tags = append([]flags.Tag{}, from.tags...)
	}
	if e := from.environment; e != nil {
		b.Variants = each(e.Variants, variantBody.variant)
		if e.Enabled.Set {
			b.Enabled = &e.Enabled.Value
		}
	}
	if m.data.FeatureStrategies != nil {
		var err error
		if err = c.limits.CheckStrategies(f.Name, c.environment.Name, len(from.strategies)); err != nil {
			return b, err
		}
		if b.Strategies, err = m.strategies(c, from.strategies); err != nil {
			return b, err
		}
	}
	for _, t := range b.Tags {
		if !c.tagTypes.Has(t.Type) {
			return b, later(flags.Errorf(flags.Invalid, "its tag type %q could not be made", t.Type))
		}
	}
	return b, faultsOf(func(p *flags.Problems) {
		metadataBody{Description: f.Description}.over(flags.Metadata{}).CheckTexts(p)
		b.Check(f.Name, c.types, c.limits, p)
	})
}

// strategies are those of a flag with the segments that are called so here.
func (m *importing) strategies(c *call, bodies []strategyBody) ([]flags.Strategy, error) {
	list := make([]flags.Strategy, len(bodies))
	for i, body := range bodies {
		s := body.over(flags.Strategy{SortOrder: float64(i)})
		if _, defined := c.types.Find(s.Name); !defined {
			return nil, flags.Problems{{Path: "/strategies/" + strconv.Itoa(i) + "/name", Message: "there is no strategy type " +
				strconv.Quote(s.Name) + "; define it first, by POST /api/admin/strategies"}}.Err()
		}
		for j, id := range s.Segments {
			name, named := m.segments[id]
			segment := m.here[name]
			switch {
			case !named:
				return nil, flags.Errorf(flags.Invalid, "its strategy %d has the segment %d, which is not among the segments of the data", i, id)
			case segment == nil && m.whole[name]:
				return nil, later(flags.Errorf(flags.Invalid, "its segment %q could not be made", name))
			case segment == nil:
				return nil, flags.Errorf(flags.Invalid, "there is no segment %q; make it first, or have the export bring it (fullSegments)", name)
			case segment.ProjectUID != "" && segment.ProjectUID != c.project.UID:
				return nil, flags.Errorf(flags.Invalid, "segment %q belongs to project %q and cannot be used in project %q", name, segment.Project, c.project.ID)
			}
			if j == 0 {
				s.Segments = slices.Clone(s.Segments)
			}
			s.Segments[j] = segment.ID
		}
		list[i] = s
	}
	return list, nil
}

// bringParents makes the flag depend on others, and gives their writes. Parents that come with the same data come first.
func (m *importing) bringParents(c *call, f *flags.Feature, wanted []flags.Dependency) (writes []flags.Write, err error) {
	parents := map[string]flags.Write{}
	for _, d := range wanted {
		write, again := parents[d.Feature]
		if !again {
			was := flags.Find[*flags.Feature](c.more, flags.FeatureKey(d.Feature))
			if was == nil && m.byFlag[d.Feature] != nil && d.Feature != f.Name {
				return nil, later(flags.Errorf(flags.Invalid, "flag %q, which it depends on, could not be made", d.Feature))
			}
			if was == nil {
				return nil, f.SetDependency(nil, d)
			}
			write = flags.Write{Before: was, After: was.Clone()}
		}
		if err := f.SetDependency(write.After.(*flags.Feature), d); err != nil {
			return nil, err
		}
		parents[d.Feature] = write
	}
	for _, name := range slices.Sorted(maps.Keys(parents)) {
		writes = append(writes, parents[name]) // the store drops one that had the flag as its child already
	}
	return writes, nil
}

// faultsOf is what a check finds, as one error.
func faultsOf(check func(p *flags.Problems)) error {
	var problems flags.Problems
	check(&problems)
	return problems.Err()
}
