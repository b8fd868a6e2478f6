package oldapi

import (
	"net/http"
	"slices"
	"strconv"

	"guidon/pkg/flags"
)

// How much an export may be: flags are loaded a page at a time, and no more of them once the export is too large.
const (
	exportPage = 100      // flags: one call of the store
	maxExport  = 32 << 20 // bytes of JSON, for a caller that accepts a compressed answer
)

// exportData answers a set of flags as they are in one environment, in the form that an import takes (contract: Import
// data set), here or in Unleash.
func exportData(c *call, in exportBody) (decision, error) {
	x := newExport(c, in)
	if err := x.unknown.Err(); err != nil {
		return decision{}, err
	}
	for page := range slices.Chunk(in.keys(c), exportPage) {
		found, err := c.load(page)
		if err != nil {
			return decision{}, err
		}
		if err := c.inTime(); err != nil {
			return decision{}, err
		}
		x.addPage(page, found)
		if err := x.checkSize(); err != nil {
			return decision{}, err
		}
	}
	if err := x.unknown.Err(); err != nil {
		return decision{}, err
	}
	d := decision{status: http.StatusOK, body: x.close()}
	if in.DownloadFile {
		d.download = "export-" + in.Environment + "-" + c.now.Format("20060102T150405Z") + ".json"
	}
	return d, nil
}

// An exportBody says which flags to export: those that it names (all of them where it names none), those of a project, or
// those with a tag.
type exportBody struct {
	Environment  string          `json:"environment"`
	Features     maybe[[]string] `json:"features"`
	Tag          maybe[string]   `json:"tag"` // a value, or type:value
	Project      maybe[string]   `json:"project"`
	DownloadFile bool            `json:"downloadFile"` // answer with a file name
	// FullSegments has segments come with their constraints, so that an import can make them. Unleash takes no such data.
	FullSegments bool `json:"fullSegments"`
}

// MaxTagFilter is the longest tag to export by: its type, a colon and its value.
const MaxTagFilter = 2*flags.MaxTag + 1

func (b exportBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/environment", b.Environment, problems)
	if b.named() && (b.Tag.Set || b.Project.Set) {
		problems.Add("/features", "cannot be given with tag or project: flags are chosen in one of these ways")
	}
	if n := len(b.Features.Value); n > maxImportFlags {
		problems.Add("/features", "has %d names, and at most %d are allowed in one export", n, maxImportFlags)
	}
	for i, name := range b.Features.Value {
		flags.CheckLength("/features/"+strconv.Itoa(i), name, flags.MaxName, problems)
	}
	flags.CheckLength("/tag", b.Tag.Value, MaxTagFilter, problems)
	flags.CheckLength("/project", b.Project.Value, flags.MaxName, problems)
	if !b.Features.Set && !b.Tag.Set && !b.Project.Set {
		problems.Add("/features", "is required, or tag, or project: the names of the flags to export, [] for all")
	}
}

// named tells whether the body names its flags one by one.
func (b exportBody) named() bool { return len(b.Features.Value) > 0 }

// surveyed are the projects whose lists are to be read: none, if the flags are named.
func (b exportBody) surveyed(projects []*flags.Project) []*flags.Project {
	return slices.DeleteFunc(slices.Clone(projects), func(p *flags.Project) bool {
		return b.named() || b.Project.Set && p.ID != b.Project.Value
	})
}

// keys are the flags to load, by name: the named ones, or those of the lists that are wanted.
func (b exportBody) keys(c *call) []flags.Key {
	names := slices.DeleteFunc(slices.Clone(b.Features.Value), func(name string) bool { return flags.CheckName(name) != "" })
	if !b.named() {
		for _, rows := range c.survey {
			for _, row := range rows {
				if !b.Tag.Set || slices.ContainsFunc(row.Tags, b.tagged) {
					names = append(names, row.Name)
				}
			}
		}
	}
	slices.Sort(names)
	return each(slices.Compact(names), flags.FeatureKey)
}

func (b exportBody) tagged(t flags.Tag) bool {
	return t.Value == b.Tag.Value || t.Type+":"+t.Value == b.Tag.Value
}

// An exporter collects what is exported.
type exporter struct {
	call     *call
	in       exportBody
	projects map[string]*flags.Project
	named    map[string]int // the place of each flag that the body names
	unknown  flags.Problems
	data     exportView
	size     int // bytes of JSON that the flags take

	// What the flags refer to.
	segments         map[int64]bool
	fields, tagTypes map[string]bool
}

func newExport(c *call, in exportBody) *exporter {
	x := &exporter{
		call: c, in: in, projects: map[string]*flags.Project{}, named: map[string]int{},
		segments: map[int64]bool{}, fields: map[string]bool{}, tagTypes: map[string]bool{},
	}
	x.data = exportView{
		Features: []exportFeature{}, FeatureStrategies: []strategyView{}, FeatureEnvironments: []exportEnvironment{},
		FeatureTags: []exportTag{}, Dependencies: []exportDependency{},
	}
	for _, p := range c.projects() {
		x.projects[p.UID] = p
	}
	for i, name := range in.Features.Value {
		x.named[name] = i
		if flags.CheckName(name) != "" { // it is not loaded
			x.unknown.Add("/features/"+strconv.Itoa(i), "there is no active flag %q", name)
		}
	}
	if c.registry.Find(in.Environment) == nil {
		x.unknown.Add("/environment", "there is no environment %q", in.Environment)
	}
	if in.Project.Set && len(in.surveyed(c.projects())) == 0 && !in.named() {
		x.unknown.Add("/project", "there is no project %q", in.Project.Value)
	}
	return x
}

// addPage adds the flags at keys that were found, and notes those that the body names and that were not.
func (x *exporter) addPage(keys []flags.Key, found flags.View) {
	for _, key := range keys {
		f := flags.Find[*flags.Feature](found, key)
		switch {
		case f != nil && !f.Archived:
			x.add(f)
		case x.in.named():
			x.unknown.Add("/features/"+strconv.Itoa(x.named[key.ID]), "there is no active flag %q", key.ID)
		}
	}
}

// checkSize returns TooLarge once the flags take more than an answer may have.
func (x *exporter) checkSize() error {
	switch {
	case x.size > maxExport:
		return flags.Errorf(flags.TooLarge, "the export is larger than %d MiB; export fewer flags at a time, by name, by tag or by project", maxExport>>20)
	case x.size > maxAnswer && !x.call.compressed:
		return flags.Errorf(flags.TooLarge, "%s", tooLongMessage(false))
	}
	return nil
}

// add adds a flag, and counts what it takes.
func (x *exporter) add(f *flags.Feature) {
	before := x.data
	x.addFlag(f)
	x.size += jsonSize(x.data.Features[len(before.Features):]) + jsonSize(x.data.FeatureTags[len(before.FeatureTags):]) +
		jsonSize(x.data.Dependencies[len(before.Dependencies):]) + jsonSize(x.data.FeatureEnvironments[len(before.FeatureEnvironments):]) +
		jsonSize(x.data.FeatureStrategies[len(before.FeatureStrategies):])
}

func (x *exporter) addFlag(f *flags.Feature) {
	x.data.Features = append(x.data.Features, exportFeature{
		Name: f.Name, Description: f.Description, Type: f.Type, Project: f.Project, Stale: f.Stale, ImpressionData: f.ImpressionData,
	})
	for _, t := range f.Tags {
		x.data.FeatureTags = append(x.data.FeatureTags, exportTag{FeatureName: f.Name, TagType: t.Type, TagValue: t.Value})
		x.tagTypes[t.Type] = true
	}
	if len(f.Dependencies) > 0 {
		x.data.Dependencies = append(x.data.Dependencies, exportDependency{f.Name, each(f.Dependencies, dependencyOf)})
	}
	x.addEnvironment(f)
}

// addEnvironment adds what the flag has in the environment, where its project has that.
func (x *exporter) addEnvironment(f *flags.Feature) {
	p := x.projects[f.ProjectUID]
	if p == nil {
		return
	}
	available := p.AvailableEnvironments(x.call.registry)
	i := slices.IndexFunc(available, func(e flags.ProjectEnvironment) bool { return e.Name == x.in.Environment })
	if i < 0 {
		return
	}
	env := available[i]
	x.data.FeatureEnvironments = append(x.data.FeatureEnvironments, exportEnvironment{
		FeatureName: f.Name, Name: f.Name, Environment: env.Name, Enabled: f.Enabled(env), Variants: variantViews(f.In(env).Variants),
	})
	for _, s := range f.In(env).Strategies {
		x.data.FeatureStrategies = append(x.data.FeatureStrategies, strategyViewOf(s, f.Name))
		for _, id := range s.Segments {
			x.segments[id] = true
		}
		for _, constraint := range s.Constraints {
			x.fields[constraint.ContextName] = true
		}
	}
}

// close adds what the flags refer to.
func (x *exporter) close() exportView {
	x.data.TagTypes, x.data.ContextFields, x.data.Segments = []tagTypeView{}, []exportContextField{}, []exportSegment{}
	for _, t := range x.call.tagTypes.List {
		if x.tagTypes[t.Name] {
			x.data.TagTypes = append(x.data.TagTypes, tagTypeViewOf(t))
		}
	}
	for _, s := range x.call.segments() {
		if x.segments[s.ID] {
			x.data.Segments = append(x.data.Segments, exportSegmentOf(s, x.in.FullSegments))
			for _, constraint := range s.Constraints {
				x.fields[constraint.ContextName] = true
			}
		}
	}
	for _, field := range x.call.fields.List {
		if x.fields[field.Name] {
			x.data.ContextFields = append(x.data.ContextFields, exportContextFieldOf(field))
		}
	}
	return x.data
}

// An exportView is a set of import data.
type exportView struct {
	Features            []exportFeature      `json:"features"`
	FeatureStrategies   []strategyView       `json:"featureStrategies"`
	FeatureEnvironments []exportEnvironment  `json:"featureEnvironments"`
	ContextFields       []exportContextField `json:"contextFields"` // that strategies and segments constrain
	FeatureTags         []exportTag          `json:"featureTags"`
	Segments            []exportSegment      `json:"segments"`
	TagTypes            []tagTypeView        `json:"tagTypes"`
	Dependencies        []exportDependency   `json:"dependencies"`
}

type exportFeature struct {
	Name           string            `json:"name"`
	Description    *string           `json:"description"`
	Type           flags.FeatureType `json:"type"`
	Project        string            `json:"project"`
	Stale          bool              `json:"stale"`
	ImpressionData bool              `json:"impressionData"`
	Archived       bool              `json:"archived"` // never
}

// An exportEnvironment says what a flag has in the environment. Its name is the flag's, as Unleash has it.
type exportEnvironment struct {
	FeatureName string        `json:"featureName"`
	Name        string        `json:"name"`
	Environment string        `json:"environment"`
	Enabled     bool          `json:"enabled"`
	Variants    []variantView `json:"variants"`
}

type exportTag struct {
	FeatureName string `json:"featureName"`
	TagType     string `json:"tagType"`
	TagValue    string `json:"tagValue"`
}

type exportDependency struct {
	Feature      string           `json:"feature"`
	Dependencies []dependencyView `json:"dependencies"`
}

type exportContextField struct {
	Name        string           `json:"name"`
	Description *string          `json:"description"`
	Stickiness  bool             `json:"stickiness"`
	SortOrder   int64            `json:"sortOrder"`
	LegalValues []legalValueView `json:"legalValues"`
}

func exportContextFieldOf(f flags.ContextField) exportContextField {
	return exportContextField{f.Name, f.Description, f.Stickiness, f.SortOrder, contextFieldViewOf(f).LegalValues}
}

// An exportSegment is a segment that strategies name by its id. The rest is there on demand alone.
type exportSegment struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Description *string           `json:"description,omitzero"`
	Project     *string           `json:"project,omitzero"`
	Constraints *[]constraintView `json:"constraints,omitzero"`
}

func exportSegmentOf(s *flags.Segment, full bool) exportSegment {
	view := exportSegment{ID: s.ID, Name: s.Name}
	if full {
		constraints := each(s.Constraints, constraintViewOf)
		view.Description, view.Project, view.Constraints = s.Description, textOrNull(s.Project), &constraints
	}
	return view
}
