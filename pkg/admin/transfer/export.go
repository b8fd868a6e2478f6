package transfer

import (
	"errors"
	"slices"
	"strconv"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// maxExport is the largest export for a caller that accepts a compressed response, in bytes of JSON. For others it is
// httpapi.MaxAnswer.
const maxExport = 32 << 20

// maxExportPage is the size of the flags after which a page of an export ends, in bytes of JSON. It fits into a response even if
// it cannot be compressed.
const maxExportPage = 4 << 20

// errPageFull ends the loading of the flags of a page.
var errPageFull = errors.New("the page is full")

// hintPages says how to export more flags than fit into one response.
const hintPages = "export pages, with limit and cursor in the body, as the command guidon export does, or fewer flags at a time, by name, tag or project"

// exportFlags returns flags as they are in one environment, in the form that an import takes (contract: Import data set),
// here or in Unleash.
func exportFlags(tx *httpapi.Tx, _ httpapi.InService, in exportBody) (exportView, error) {
	x := newExporter(tx, in)
	if err := x.unknown.Err(); err != nil {
		return exportView{}, err
	}
	names, err := x.names()
	if err != nil {
		return exportView{}, err
	}
	err = tx.Pages(httpapi.FeatureKeys(names...), func(keys []flags.Key, found flags.View) error {
		if err := x.addPage(keys, found); err != nil {
			return err
		}
		return x.checkSize()
	})
	if err != nil && !errors.Is(err, errPageFull) {
		return exportView{}, err
	}
	if err := x.unknown.Err(); err != nil {
		return exportView{}, err
	}
	x.addReferences()
	if in.DownloadFile {
		tx.Download("export-" + in.Environment + "-" + tx.Now.Format("20060102T150405Z") + ".json")
	}
	return x.data, nil
}

// An exportBody selects the flags to export: by name (an empty list selects all), by project, or by tag.
type exportBody struct {
	Environment  string                   `json:"environment"`
	Features     jsonbody.Maybe[[]string] `json:"features"`
	Tag          jsonbody.Maybe[string]   `json:"tag"` // a value, or type:value
	Project      jsonbody.Maybe[string]   `json:"project"`
	DownloadFile bool                     `json:"downloadFile"` // respond with a file name
	// FullSegments exports segments with their constraints, so that an import can create them. Unleash does not accept such
	// data.
	FullSegments bool `json:"fullSegments"`
	// Limit and Cursor select a page of the flags, by name.
	Limit  jsonbody.Maybe[int64]  `json:"limit"`
	Cursor jsonbody.Maybe[string] `json:"cursor"`
}

// MaxTagFilter is the maximum length of a tag to export by: its type, a colon and its value.
const MaxTagFilter = 2*flags.MaxTag + 1

func (b exportBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/environment", b.Environment, problems)
	if b.byName() && (b.Tag.Set || b.Project.Set) {
		problems.Add("/features", "cannot be combined with tag or project; select flags in one of these ways")
	}
	if n := len(b.Features.Value); n > maxImportFlags {
		problems.Add("/features", "has %d names, and at most %d are allowed in one export", n, maxImportFlags)
	}
	for i, name := range b.Features.Value {
		flags.CheckLength("/features/"+strconv.Itoa(i), name, flags.MaxName, problems)
	}
	if b.Limit.Set && (b.Limit.Value < 1 || b.Limit.Value > httpapi.MaxPage) {
		problems.Add("/limit", "must be a whole number from 1 to %d", httpapi.MaxPage)
	}
	if wire.CheckCursor(b.Cursor.Value) != nil {
		problems.Add("/cursor", "must be the next of the previous page, or empty for the first page")
	}
	flags.CheckLength("/tag", b.Tag.Value, MaxTagFilter, problems)
	flags.CheckLength("/project", b.Project.Value, flags.MaxName, problems)
	if !b.Features.Set && !b.Tag.Set && !b.Project.Set {
		problems.Add("/features", "is required, or tag, or project; [] selects all flags")
	}
}

// byName reports whether the body selects flags by name.
func (b exportBody) byName() bool { return len(b.Features.Value) > 0 }

// paged reports whether the body selects a page.
func (b exportBody) paged() bool { return b.Limit.Set || b.Cursor.Set }

// pageSize is the number of flags of a page.
func (b exportBody) pageSize() int { return int(b.Limit.Or(wire.DefaultPage)) }

// hasTag reports whether a tag is the one that the body selects by.
func (b exportBody) hasTag(t flags.Tag) bool {
	return t.Value == b.Tag.Value || t.Type+":"+t.Value == b.Tag.Value
}

// An exporter collects what is exported.
type exporter struct {
	tx           *httpapi.Tx
	in           exportBody
	environments *flags.Environments
	projects     []*flags.Project
	byUID        map[string]*flags.Project
	positions    map[string]int // of the flags that the body names, in its list
	unknown      flags.Problems // what the body names and does not exist
	data         exportView
	size         int    // bytes of JSON of the flags
	last         string // the name of the last flag that was added

	// What the flags refer to.
	segments         map[int64]bool
	fields, tagTypes map[string]bool
}

func newExporter(tx *httpapi.Tx, in exportBody) *exporter {
	x := &exporter{
		tx: tx, in: in, environments: tx.Environments(), projects: tx.Projects(), byUID: map[string]*flags.Project{},
		positions: map[string]int{}, data: emptyExport(),
		segments: map[int64]bool{}, fields: map[string]bool{}, tagTypes: map[string]bool{},
	}
	for _, p := range x.projects {
		x.byUID[p.UID] = p
	}
	for i, name := range in.Features.Value {
		x.positions[name] = i
		if flags.CheckName(name) != "" { // no flag can have this name, so it is not loaded
			x.noFlag(name)
		}
	}
	if x.environments.Find(in.Environment) == nil {
		x.unknown.Add("/environment", "there is no environment %q", in.Environment)
	}
	hasID := func(p *flags.Project) bool { return p.ID == in.Project.Value }
	if in.Project.Set && !slices.ContainsFunc(x.projects, hasID) {
		x.unknown.Add("/project", "there is no project %q", in.Project.Value)
	}
	return x
}

func (x *exporter) noFlag(name string) {
	x.unknown.Add("/features/"+strconv.Itoa(x.positions[name]), "there is no active flag %q", name)
}

// names returns the names of the flags to export, sorted: those of the body, or those that the lists of projects have. Of a page,
// it returns those on the page, and notes the next one.
func (x *exporter) names() ([]string, error) {
	if x.in.byName() {
		names := slices.Clone(x.in.Features.Value)
		slices.Sort(names)
		return x.pageOf(slices.Compact(names)), nil
	}
	projects := slices.DeleteFunc(slices.Clone(x.projects), func(p *flags.Project) bool { return x.in.Project.Set && p.ID != x.in.Project.Value })
	var rows []flags.FeatureSummary
	if x.in.paged() {
		page, err := wire.ListFlags(x.tx, projects, flags.SummaryQuery{}, wire.FlagPageAfter(x.in.Cursor.Value, x.in.pageSize()), 0)
		if err != nil {
			return nil, err
		}
		rows, x.data.Next = page.Flags, page.Next
	} else {
		for _, list := range x.tx.SummariesOf(projects, false) {
			rows = append(rows, list...)
		}
	}
	var names []string
	for _, row := range rows {
		if !x.in.Tag.Set || slices.ContainsFunc(row.Tags, x.in.hasTag) {
			names = append(names, row.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil // a flag that is moved while the projects are read can be in two of the lists
}

// pageOf returns the part of sorted names that is on the page.
func (x *exporter) pageOf(names []string) []string {
	if !x.in.paged() {
		return names
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name <= x.in.Cursor.Value })
	if size := x.in.pageSize(); len(names) > size {
		x.data.Next = names[size-1]
		return names[:size]
	}
	return names
}

// addPage adds the flags that were found at keys. A flag that the body names and that was not found is a problem. A page ends
// early if its flags are large.
func (x *exporter) addPage(keys []flags.Key, found flags.View) error {
	for _, key := range keys {
		if x.in.paged() && x.size > maxExportPage {
			x.data.Next = x.last
			return errPageFull
		}
		x.last = key.ID
		f := flags.Find[*flags.Feature](found, key)
		switch {
		case f != nil && !f.Archived:
			x.add(f)
		case x.in.byName():
			x.noFlag(key.ID)
		}
	}
	return nil
}

// checkSize returns TooLarge if the flags take more than a response may have.
func (x *exporter) checkSize() error {
	switch {
	case x.size > maxExport:
		return flags.Errorf(flags.TooLarge, "the export is larger than %d MiB; %s", maxExport>>20, hintPages)
	case x.size > httpapi.MaxAnswer && !x.tx.AcceptsGzip():
		return flags.Errorf(flags.TooLarge, "the export is larger than the 6 MB that Lambda can return; accept a compressed one (Accept-Encoding: gzip), or %s", hintPages)
	}
	return nil
}

// add adds a flag and counts its size.
func (x *exporter) add(f *flags.Feature) {
	before := x.data
	x.addFlag(f)
	x.addEnvironment(f)
	x.size += httpapi.JSONSize(x.data.Features[len(before.Features):]) + httpapi.JSONSize(x.data.FeatureTags[len(before.FeatureTags):]) +
		httpapi.JSONSize(x.data.Dependencies[len(before.Dependencies):]) + httpapi.JSONSize(x.data.Links[len(before.Links):]) + httpapi.JSONSize(x.data.FeatureEnvironments[len(before.FeatureEnvironments):]) +
		httpapi.JSONSize(x.data.FeatureStrategies[len(before.FeatureStrategies):])
}

// addFlag adds what a flag has in all environments.
func (x *exporter) addFlag(f *flags.Feature) {
	x.data.Features = append(x.data.Features, exportFeature{
		Name: f.Name, Description: f.Description, Type: f.Type, Project: f.Project, Stale: f.Stale, ImpressionData: f.ImpressionData, Owner: f.Owner,
		Typing: f.Typing,
	})
	for _, t := range f.Tags {
		x.data.FeatureTags = append(x.data.FeatureTags, exportTag{FeatureName: f.Name, TagType: t.Type, TagValue: t.Value})
		x.tagTypes[t.Type] = true
	}
	if len(f.Links) > 0 {
		x.data.Links = append(x.data.Links, exportLinks{f.Name, shape.LinkViews(f.Links)})
	}
	if len(f.Dependencies) > 0 {
		x.data.Dependencies = append(x.data.Dependencies, exportDependency{f.Name, shape.Dependencies(f.Dependencies)})
	}
}

// addEnvironment adds what a flag has in the environment, if its project has the environment.
func (x *exporter) addEnvironment(f *flags.Feature) {
	p := x.byUID[f.ProjectUID]
	if p == nil {
		return
	}
	available := p.AvailableEnvironments(x.environments)
	i := slices.IndexFunc(available, func(e flags.ProjectEnvironment) bool { return e.Name == x.in.Environment })
	if i < 0 {
		return
	}
	env := available[i]
	x.data.FeatureEnvironments = append(x.data.FeatureEnvironments, exportEnvironment{
		FeatureName: f.Name, Name: f.Name, Environment: env.Name, Enabled: f.Enabled(env), Variants: shape.Variants(f.In(env).Variants),
	})
	for _, s := range f.In(env).Strategies {
		x.data.FeatureStrategies = append(x.data.FeatureStrategies, shape.StrategyViewOf(s, f.Name))
		for _, id := range s.Segments {
			x.segments[id] = true
		}
		for _, constraint := range s.Constraints {
			x.fields[constraint.ContextName] = true
		}
	}
}

// addReferences adds the tag types, segments and context fields that the flags refer to. The segments are listed after the
// flags were read, so that the list has all of theirs.
func (x *exporter) addReferences() {
	for _, t := range x.tx.TagTypes().List {
		if x.tagTypes[t.Name] {
			x.data.TagTypes = append(x.data.TagTypes, shape.TagTypeViewOf(t))
		}
	}
	if len(x.segments) > 0 {
		for _, s := range x.tx.Segments() {
			if x.segments[s.ID] {
				x.addSegment(s)
			}
		}
	}
	for _, field := range x.tx.ContextFields().List {
		if x.fields[field.Name] {
			x.data.ContextFields = append(x.data.ContextFields, exportContextFieldOf(field))
		}
	}
}

func (x *exporter) addSegment(s *flags.Segment) {
	x.data.Segments = append(x.data.Segments, exportSegmentOf(s, x.in.FullSegments))
	for _, constraint := range s.Constraints {
		x.fields[constraint.ContextName] = true
	}
}
