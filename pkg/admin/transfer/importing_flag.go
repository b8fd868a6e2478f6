package transfer

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A flagData is everything that the data has about one flag.
type flagData struct {
	importFeatureBody
	environment *importEnvironmentBody // nil without one
	strategies  []importStrategyBody
	tags        []flags.Tag
	parents     []flags.Dependency
	links       []flags.Link // nil if the data has none

	changes []string // the members of the existing flag that its import changes
}

// byFlag collects what the lists of the data have about each flag: in the order of the flags, and by name. Entries about
// flags that the data does not import are ignored.
func (d importData) byFlag() (list []*flagData, named map[string]*flagData) {
	named = map[string]*flagData{}
	for _, f := range d.Features.Value {
		if named[f.Name] == nil {
			named[f.Name] = &flagData{importFeatureBody: f}
			list = append(list, named[f.Name])
		}
	}
	for _, s := range d.FeatureStrategies {
		if f := named[s.FeatureName]; f != nil {
			f.strategies = append(f.strategies, s)
		}
	}
	for i, e := range d.FeatureEnvironments {
		if f := named[e.FeatureName]; f != nil {
			f.environment = &d.FeatureEnvironments[i]
		}
	}
	for _, t := range d.FeatureTags {
		if f := named[t.FeatureName]; f != nil {
			f.tags = append(f.tags, flags.Tag{Type: t.TagType, Value: t.TagValue.Value})
		}
	}
	for _, dependencies := range d.Dependencies {
		if f := named[dependencies.Feature]; f != nil {
			f.parents = append(f.parents, httpapi.Each(dependencies.Dependencies, importParentBody.dependency)...)
		}
	}
	for _, l := range d.Links {
		if f := named[l.Feature]; f != nil {
			f.links = append(f.links, httpapi.Each(l.Links, func(b importLinkBody) flags.Link { return flags.Link{URL: b.URL, Title: b.Title.Value} })...)
		}
	}
	return list, named
}

// importFlag creates a flag, or changes one that exists to match the data.
func (im *importing) importFlag(tx *httpapi.Tx, to place, from *flagData) (importOutcome, error) {
	f := tx.FindFeature(from.Name)
	switch {
	case f != nil && f.ProjectUID != to.project.UID:
		return "", refusal{flags.Errorf(flags.Conflict, "flag %q already exists in another project; flag names are unique in the service", from.Name),
			[]found{{foundElsewhere, from.Name}}, nil}
	case f != nil && f.Archived:
		return "", refusal{flags.Errorf(flags.Conflict, "flag %q is archived; revive it first to import it", from.Name),
			nil, []found{{foundArchived, from.Name}}}
	}
	if err := im.checkReferences(tx, to, from); err != nil {
		return "", err
	}
	imported, err := im.convert(tx, to, from, f)
	if err != nil {
		return "", err
	}
	if err := tx.Caller.AuthorizeImport(imported, f, to.project, to.environment); err != nil {
		return "", err
	}
	created := f == nil
	if created {
		f = flags.NewFeature(to.project, from.Name, imported.Metadata, tx.Caller.Name, tx.Now)
		tx.RetryNameExists() // if another request creates it at the same time, the next attempt finds it
	}
	if plan := f.Plan(to.environment); plan != nil && imported.Enabled != nil && *imported.Enabled && !f.Enabled(to.environment) {
		if _, _, err := wire.CheckQuiet(tx, plan, ""); err != nil {
			return "", err
		}
	}
	if err := f.Import(to.environment, imported, tx.NewID, tx.Now, tx.Limits); err != nil {
		return "", err
	}
	parents, err := addParents(tx, to.project, f, imported.Parents)
	if err != nil {
		return "", err
	}
	event := events.FeatureImported(httpapi.Was(tx, f), f, to.environment)
	if !created && reflect.DeepEqual(event.Data, event.PreData) {
		return outcomeUnchanged, nil
	}
	tx.Save(event, append([]flags.Aggregate{f}, parents...)...)
	if created {
		return outcomeCreated, nil
	}
	from.changes = changedMembers(event.PreData, event.Data)
	return outcomeOverwritten, nil
}

// changedMembers returns the names of the members in which two JSON objects differ, sorted.
func changedMembers(before, after any) (names []string) {
	var members [2]map[string]jsontext.Value
	for i, object := range []any{before, after} {
		text, err := json.Marshal(object, json.Deterministic(true))
		if err == nil {
			err = json.Unmarshal(text, &members[i])
		}
		if err != nil {
			return nil // the same objects are written as an event
		}
	}
	for name := range members[1] {
		if !bytes.Equal(members[0][name], members[1][name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// convert returns what the data has about a flag, in terms of this service. existing is nil for a new flag. What the data
// leaves out stays as it is.
func (im *importing) convert(tx *httpapi.Tx, to place, from *flagData, existing *flags.Feature) (flags.ImportedFlag, error) {
	metadata := flags.DefaultMetadata()
	if existing != nil {
		metadata = existing.Metadata
	}
	body := wire.MetadataBody{Type: from.Type, Description: from.Description, Stale: from.Stale, ImpressionData: from.ImpressionData, Owner: from.Owner}
	if from.TypingBody != nil {
		body.TypingBody = *from.TypingBody
	}
	f := flags.ImportedFlag{Metadata: body.ApplyTo(metadata), Parents: from.parents, Links: from.links}
	if im.data.FeatureTags != nil {
		f.Tags = append([]flags.Tag{}, from.tags...)
	}
	if e := from.environment; e != nil {
		f.Variants = httpapi.Each(e.Variants, wire.VariantBody.Variant)
		if e.Enabled.Set {
			f.Enabled = &e.Enabled.Value
		}
	}
	if im.data.FeatureStrategies != nil {
		if err := tx.Limits.CheckStrategies(from.Name, to.environment.Name, len(from.strategies)); err != nil {
			return f, err
		}
		f.Strategies = im.strategies(tx, from.strategies)
	}
	if len(f.Tags) > 0 {
		types := tx.TagTypes()
		for _, t := range f.Tags {
			if !types.Has(t.Type) {
				return f, flags.Errorf(flags.Invalid, "the tag type %q of the flag could not be created", t.Type)
			}
		}
	}
	return f, checked(func(p *flags.Problems) {
		body.ApplyTo(flags.Metadata{}).CheckTexts(p)
		f.Check(from.Name, tx.StrategyTypes(), tx.Limits, p)
	})
}

// strategies returns the strategies of a flag, with the ids that their segments have here.
func (im *importing) strategies(tx *httpapi.Tx, bodies []importStrategyBody) []flags.Strategy {
	list := make([]flags.Strategy, len(bodies))
	for i, body := range bodies {
		list[i] = body.ApplyTo(flags.Strategy{SortOrder: float64(i)})
		list[i].Segments = httpapi.Each(list[i].Segments, func(id int64) int64 { return tx.FindSegmentNamed(im.segmentNames[id]).ID })
	}
	return list
}

// checkReferences returns a refusal that names all strategy types, segments and parents which the flag refers to and will not find.
func (im *importing) checkReferences(tx *httpapi.Tx, to place, from *flagData) error {
	var refused refusal
	var problems flags.Problems
	for i, s := range from.strategies {
		at := "/strategies/" + strconv.Itoa(i)
		if _, defined := tx.StrategyTypes().Find(s.Name.Value); !defined {
			problems.Add(at+"/name", "there is no strategy type %q; define it first, with POST /api/admin/strategies", s.Name.Value)
			refused.warnings = append(refused.warnings, found{foundUndefined, s.Name.Value})
		}
		for j, id := range s.Segments {
			if name, problem := im.segmentProblem(tx, to, id); problem != "" {
				problems.Add(at+"/segments/"+strconv.Itoa(j), "%s", problem)
				if name != "" {
					refused.errors = append(refused.errors, found{foundNoSegment, name})
				}
			}
		}
	}
	for i, d := range from.parents {
		parent := tx.FindFeature(d.Feature)
		at := "/dependencies/" + strconv.Itoa(i) + "/feature"
		switch {
		case parent == nil && d.Feature != from.Name && im.flags[d.Feature] != nil:
			problems.Add(at, "flag %q could not be created", d.Feature)
		case parent == nil && d.Feature != from.Name, parent != nil && parent.ProjectUID != to.project.UID:
			problems.Add(at, "there is no flag %q in project %q", d.Feature, to.project.ID)
			refused.errors = append(refused.errors, found{foundNoParent, d.Feature})
		case parent != nil && parent.Archived:
			problems.Add(at, "flag %q is archived and cannot be a parent; revive it first", d.Feature)
			refused.errors = append(refused.errors, found{foundNoParent, d.Feature})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	refused.error = problems.Err()
	return refused
}

// segmentProblem says why a strategy cannot use the segment to which the data gives an id, and names the segment if the import does
// not create it. It returns "" if the segment is here.
func (im *importing) segmentProblem(tx *httpapi.Tx, to place, id int64) (name, problem string) {
	name, named := im.segmentNames[id]
	if !named { // ids differ between services
		return strconv.FormatInt(id, 10), fmt.Sprintf("segment %d is missing from data.segments", id)
	}
	s := tx.FindSegmentNamed(name)
	switch {
	case s == nil && im.definedSegments[name]:
		return "", fmt.Sprintf("segment %q could not be created", name)
	case s == nil:
		return name, fmt.Sprintf("there is no segment %q; create it first, or export with fullSegments", name)
	case s.ProjectUID != "" && s.ProjectUID != to.project.UID:
		return name, fmt.Sprintf("segment %q belongs to project %q and cannot be used in project %q", name, s.Project, to.project.ID)
	}
	return "", ""
}

// addParents adds the parents of the data to a flag. It returns the parents that change with it, by name. Parents that the
// same data imports are imported before.
func addParents(tx *httpapi.Tx, p *flags.Project, f *flags.Feature, wanted []flags.Dependency) ([]flags.Aggregate, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	var changed []*flags.Feature
	envs := tx.ProjectEnvironments(p)
	for _, d := range wanted {
		parent := tx.FindFeature(d.Feature)
		isNew := parent != nil && !slices.Contains(parent.Children, f.Name)
		if err := f.SetDependency(parent, d, envs); err != nil {
			return nil, err
		}
		switch {
		case isNew:
			changed = append(changed, parent)
		case !d.Enabled:
			tx.Assume(parent) // see the operation that adds one
		}
	}
	slices.SortFunc(changed, func(a, b *flags.Feature) int { return cmp.Compare(a.Name, b.Name) })
	return httpapi.Each(changed, func(f *flags.Feature) flags.Aggregate { return f }), nil
}
