package transfer

import (
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// An importing is one import. The tag types, context fields and segments of the data are created if they do not exist. The
// flags are created, or changed to match the data. What matches already is not written, so repeating an import changes
// nothing.
type importing struct {
	body  importBody
	data  importData
	flags map[string]*flagData // by name

	segmentNames    map[int64]string // by their ids in the data; the ids here are others
	definedSegments map[string]bool  // the names of the segments that the data has with constraints, so that they can be created
	noRoom          error            // why no segment can be created: there would be too many

	items []importItem
}

// An importItem is one entity of the data. Its run function imports it in one transaction, and returns what it did. The
// function can run several times (see httpapi.Tx); outcome is that of the last time.
type importItem struct {
	kind    importKind
	name    string
	keys    []flags.Key // what it reads
	needs   []int       // the items that create what it refers to
	run     func(tx *httpapi.Tx, to place) (importOutcome, error)
	outcome importOutcome
	skips   httpapi.Skips
}

// An importKind is the kind of an item in reports.
type importKind string

const (
	importedTagType      importKind = "tag type"
	importedContextField importKind = "context field"
	importedSegment      importKind = "segment"
	importedFlag         importKind = "flag"
)

// A place is where to import: an environment of a project.
type place struct {
	project     *flags.Project
	environment flags.ProjectEnvironment
}

func newImporting(in importBody) *importing {
	im := &importing{body: in, data: in.Data.Value, segmentNames: map[int64]string{}, definedSegments: map[string]bool{}}
	for _, s := range im.data.Segments {
		im.segmentNames[s.ID.Value] = s.Name
		im.definedSegments[s.Name] = im.definedSegments[s.Name] || s.Constraints.Set
	}
	for _, t := range im.data.allTagTypes() {
		im.add(importedTagType, t.Name, func(tx *httpapi.Tx, _ place) (importOutcome, error) { return importTagType(tx, t) })
	}
	for _, f := range im.data.ContextFields {
		im.add(importedContextField, f.Name, func(tx *httpapi.Tx, _ place) (importOutcome, error) { return importContextField(tx, f) })
	}
	for _, s := range im.data.Segments {
		im.add(importedSegment, s.Name, func(tx *httpapi.Tx, to place) (importOutcome, error) { return im.importSegment(tx, to, s) })
	}
	var list []*flagData
	list, im.flags = im.data.byFlag()
	first := len(im.items)
	for _, f := range list {
		keys := []flags.Key{flags.FeatureKey(f.Name)}
		for _, d := range f.parents {
			keys = append(keys, flags.FeatureKey(d.Feature))
		}
		im.add(importedFlag, f.Name, func(tx *httpapi.Tx, to place) (importOutcome, error) { return im.importFlag(tx, to, f) }, keys...)
	}
	im.order(list, first)
	return im
}

// order tells each flag, of which the first is an item of that index, which items create what it refers to.
func (im *importing) order(list []*flagData, first int) {
	type entity struct {
		kind importKind
		name string
	}
	created := map[entity][]int{}
	for i, item := range im.items {
		created[entity{item.kind, item.name}] = append(created[entity{item.kind, item.name}], i)
	}
	for i, f := range list {
		item := &im.items[first+i]
		for _, t := range f.tags {
			item.needs = append(item.needs, created[entity{importedTagType, t.Type}]...)
		}
		for _, s := range f.strategies {
			for _, id := range s.Segments {
				item.needs = append(item.needs, created[entity{importedSegment, im.segmentNames[id]}]...)
			}
		}
		for _, d := range f.parents {
			item.needs = append(item.needs, created[entity{importedFlag, d.Feature}]...)
		}
		slices.Sort(item.needs)
		item.needs = slices.Compact(item.needs)
	}
}

// needs lists the items that create what an item refers to.
func (im *importing) needs(i int) []int { return im.items[i].needs }

func (im *importing) add(kind importKind, name string, run func(tx *httpapi.Tx, to place) (importOutcome, error), keys ...flags.Key) {
	im.items = append(im.items, importItem{kind: kind, name: name, keys: append(keys, flags.ProjectKey(im.body.Project)), run: run})
}

// firstItems is how many items an import loads before the first of them runs: about one call of the store.
const firstItems = 100

// prepare loads what the first n items read, and checks what concerns the import as a whole. An unknown project or
// environment returns 404, although the body names them (contract: Import validation).
func (im *importing) prepare(tx *httpapi.Tx, n int) {
	keys := []flags.Key{flags.ProjectKey(im.body.Project)}
	for _, item := range im.items[:min(n, len(im.items))] {
		keys = append(keys, item.keys...)
	}
	tx.Load(keys...)
	im.noRoom = im.checkRoom(tx, im.place(tx))
}

// place is where to import. NotFound when the project or the environment does not exist.
func (im *importing) place(tx *httpapi.Tx) place {
	type importInto struct{ project, environment string }
	return httpapi.OncePerRound(tx, importInto{im.body.Project, im.body.Environment}, func() place {
		p := tx.Project(im.body.Project)
		return place{p, tx.ProjectEnvironment(p, im.body.Environment)}
	})
}

// run imports an item.
func (im *importing) run(tx *httpapi.Tx, i int) (err error) {
	item := &im.items[i]
	tx.Load(item.keys...)
	tx.NoteSkips(&item.skips)
	item.outcome, err = item.run(tx, im.place(tx))
	return err
}

// importTagType creates a tag type. One that exists is not changed.
func importTagType(tx *httpapi.Tx, in importTagTypeBody) (importOutcome, error) {
	registry := tx.TagTypes()
	if registry.Has(in.Name) {
		return outcomeUnchanged, nil
	}
	if err := tx.Caller.Authorize(access.CreateTagType, nil, ""); err != nil {
		return "", err
	}
	t := flags.TagType{Name: in.Name, Description: wire.TextOver(in.Description, ""), Icon: wire.TextOver(in.Icon, "")}
	if err := checked(t.Check); err != nil {
		return "", err
	}
	if err := registry.Add(t); err != nil {
		return "", err
	}
	tx.Save(events.TagType.Created(t), registry)
	return outcomeCreated, nil
}

// importContextField creates a context field. One that exists is not changed.
func importContextField(tx *httpapi.Tx, in importContextFieldBody) (importOutcome, error) {
	registry := tx.ContextFields()
	if registry.Has(in.Name) {
		return outcomeUnchanged, nil
	}
	if err := tx.Caller.Authorize(access.CreateContextField, nil, ""); err != nil {
		return "", err
	}
	f := flags.ContextField{
		Name: in.Name, Description: in.Description.Value, Stickiness: in.Stickiness.Value,
		SortOrder: int64(in.SortOrder.Or(flags.DefaultContextFieldSortOrder)), CreatedAt: tx.Now,
		LegalValues: httpapi.Each(in.LegalValues, func(v importLegalValue) flags.LegalValue {
			return flags.LegalValue{Value: v.Value, Description: v.Description.Value}
		}),
	}
	if err := checked(f.Check); err != nil {
		return "", err
	}
	if err := registry.Add(f, tx.Limits); err != nil {
		return "", err
	}
	tx.Save(events.ContextField.Created(f), registry)
	return outcomeCreated, nil
}

// importSegment creates a segment, if the data has its constraints. One that exists is not changed.
func (im *importing) importSegment(tx *httpapi.Tx, to place, in importSegmentBody) (importOutcome, error) {
	if !in.Constraints.Set {
		return outcomeUnchanged, nil
	}
	if existing := tx.FindSegmentNamed(in.Name); existing != nil {
		if existing.SameConstraints(httpapi.Each(in.Constraints.Value, wire.ConstraintBody.Constraint)) {
			return outcomeUnchanged, nil
		}
		return outcomeKept, nil
	}
	s := im.newSegment(tx, to, in)
	if err := checked(func(p *flags.Problems) { s.Check(tx.Limits, p) }); err != nil {
		return "", err
	}
	if err := authorizeSegment(tx.Caller, to.project, s); err != nil {
		return "", err
	}
	if im.noRoom != nil {
		return "", im.noRoom
	}
	s.ID = tx.NextID(flags.EntitySegment)
	tx.RetryNameExists() // if another request creates it at the same time, the next attempt finds it
	tx.Save(events.SegmentCreated(s), s)
	return outcomeCreated, nil
}

// newSegment is a segment of the data, without an id. One that belongs to a project there belongs to the target project here.
func (im *importing) newSegment(tx *httpapi.Tx, to place, in importSegmentBody) *flags.Segment {
	s := &flags.Segment{CreatedAt: tx.Now, CreatedBy: tx.Caller.Name}
	in.ApplyTo(s)
	if in.Project.Value != nil {
		s.SetProject(to.project)
	}
	return s
}

// authorizeSegment checks that the caller may create a segment. For one that belongs to the project, a permission in that
// project is enough.
func authorizeSegment(caller access.Caller, project *flags.Project, s *flags.Segment) error {
	if s.Project != "" && caller.HasPermission(access.UpdateProjectSegment, project, "") {
		return nil
	}
	return caller.Authorize(access.CreateSegment, nil, "")
}

// checkRoom returns Invalid if the list of all segments has no room for those that the import would create.
func (im *importing) checkRoom(tx *httpapi.Tx, to place) error {
	var created []flags.Aggregate
	seen := map[string]bool{}
	for _, in := range im.data.Segments {
		if !seen[in.Name] && in.Constraints.Set && tx.FindSegmentNamed(in.Name) == nil {
			seen[in.Name], created = true, append(created, im.newSegment(tx, to, in))
		}
	}
	if len(created) == 0 {
		return nil
	}
	return wire.CheckListSize(tx, created[0], created[1:]...)
}

// checked returns the problems that a check adds as one error.
func checked(check func(p *flags.Problems)) error {
	var problems flags.Problems
	check(&problems)
	return problems.Err()
}
