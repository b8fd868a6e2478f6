package oldapi

import (
	"net/http"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// Segments serves context fields and segments: what constraints are made of, for many flags at once.
func Segments() Group {
	return Group{Name: "segments", Operations: append(contextFields(), segments()...)}
}

// contextFields are the operations on context fields. What uses them is a list of its own, see flags.Use.
func contextFields() []Operation {
	const (
		all    = "/api/admin/context"
		one    = all + "/{contextField}"
		values = one + "/legal-values"
		fields = theContextFields
	)
	return []Operation{
		{"GET " + all, flags.Read, fields | theEnvironments, does(listContextFields).listing(flags.EntityUse, flags.EntityProject).answers(200, []contextFieldRow{})},
		{"POST " + all, flags.CreateContextField, fields, takes(createContextField).answers(201, contextFieldView{})},
		{"POST " + all + "/validate", flags.CreateContextField, fields, takes(validateContextField).answers(200)},
		{"GET " + one, flags.Read, fields, does(readContextField).answers(200, contextFieldView{})},
		{"PUT " + one, flags.UpdateContextField, fields, takes(updateContextField).answers(200)},
		{"DELETE " + one, flags.DeleteContextField, fields | theEnvironments,
			does(deleteContextField).listing(flags.EntityUse, flags.EntityProject, flags.EntitySegment).answers(200)},
		{"GET " + one + "/strategies", flags.Read, fields | theEnvironments,
			does(listFieldStrategies).listing(flags.EntityUse, flags.EntityProject).answers(200, usingStrategyList{})},
		{"POST " + values, flags.UpdateContextField, fields, takes(addLegalValue).answers(200)},
		{"DELETE " + values + "/{legalValue...}", flags.UpdateContextField, fields, does(removeLegalValue).answers(200)},
	}
}

func listContextFields(c *call) (decision, error) {
	uses, projects := c.uses(), c.projects()
	return ok(each(c.fields.List, func(f flags.ContextField) contextFieldRow {
		row := contextFieldRow{contextFieldView: contextFieldViewOf(f)}
		row.UsedInFeatures, row.UsedInProjects = flags.CountFeaturesAndProjects(flags.FindStrategyUses(uses, c.registry, usingField(f.Name)),
			flags.FindDefaultStrategyUses(projects, c.registry, havingField(f.Name)))
		return row
	}))
}

func usingField(name string) func(flags.StrategyUse) bool {
	return func(s flags.StrategyUse) bool { return s.UsesContextField(name) }
}

func havingField(name string) func(flags.Strategy) bool {
	return func(s flags.Strategy) bool { return s.UsesContextField(name) }
}

func readContextField(c *call) (decision, error) { return ok(contextFieldViewOf(c.field)) }

func listFieldStrategies(c *call) (decision, error) {
	using := flags.FindStrategyUses(c.uses(), c.registry, usingField(c.field.Name))
	defaults := flags.FindDefaultStrategyUses(c.projects(), c.registry, havingField(c.field.Name))
	return ok(usingStrategyList{each(pageOf(c.query, using), usingStrategyOf), each(pageOf(c.query, defaults), usingDefaultOf)})
}

func createContextField(c *call, in contextFieldBody) (decision, error) {
	registry, made := c.fields.Clone(), in.over(flags.ContextField{Name: in.Name, SortOrder: flags.DefaultContextFieldSortOrder, CreatedAt: c.now})
	if err := registry.Add(made, c.limits); err != nil {
		return decision{}, err
	}
	d, err := c.changesFields(registry, events.ContextFieldCreated(made), http.StatusCreated, contextFieldViewOf(made))
	return created(d, "/api/admin/context", made.Name), err
}

// validateContextField says whether a name is one, and free.
func validateContextField(c *call, in namedBody) (decision, error) {
	if c.fields.Has(in.Name) {
		return decision{}, flags.Errorf(flags.NameExists, "a context field named %q exists already", in.Name)
	}
	return decision{status: http.StatusOK}, nil
}

func updateContextField(c *call, in updateContextFieldBody) (decision, error) {
	return c.replacesField(in.over(c.field))
}

func addLegalValue(c *call, in legalValueBody) (decision, error) {
	return c.replacesField(c.field.WithValue(in.value()))
}

func removeLegalValue(c *call) (decision, error) {
	return c.replacesField(c.field.WithoutValue(c.param("legalValue")))
}

// replacesField is a decision that puts a context field in the place of the one that the path names.
func (c *call) replacesField(after flags.ContextField) (decision, error) {
	registry := c.fields.Clone()
	if err := registry.Replace(after); err != nil {
		return decision{}, err
	}
	return c.changesFields(registry, events.ContextFieldUpdated(c.field, after), http.StatusOK, nil)
}

func deleteContextField(c *call) (decision, error) {
	registry := c.fields.Clone()
	if err := registry.Remove(c.field.Name, c.uses(), c.projects(), c.registry, c.segments()); err != nil {
		return decision{}, err
	}
	return c.changesFields(registry, events.ContextFieldDeleted(c.field), http.StatusOK, nil)
}

// changesFields is a decision that replaces the registry, which nobody may have written before.
func (c *call) changesFields(registry *flags.ContextFields, event flags.Event, status int, body any) (decision, error) {
	return c.changes(ifStored(c.fields), registry, event, status, body)
}

// uses are what flags use, where they are listed.
func (c *call) uses() []flags.FeatureUse {
	return each(c.lists[flags.EntityUse], func(a flags.Aggregate) flags.FeatureUse { return a.(flags.FeatureUse) })
}

// A namedBody is a name to ask about.
type namedBody struct {
	Name string `json:"name"`
}

func (b namedBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/name", b.Name, problems)
}

// A contextFieldBody makes a context field.
type contextFieldBody struct {
	Name string `json:"name"`
	contextFieldMembers
}

func (b contextFieldBody) check(_ flags.Limits, problems *flags.Problems) {
	b.over(flags.ContextField{Name: b.Name}).Check(problems)
}

// An updateContextFieldBody changes a context field. It may repeat the name, not change it.
type updateContextFieldBody struct {
	Name maybe[string] `json:"name"`
	contextFieldMembers
}

func (b updateContextFieldBody) check(_ flags.Limits, problems *flags.Problems) {
	b.over(flags.ContextField{Name: "name"}).Check(problems)
}

func (b updateContextFieldBody) review(c *call, problems *flags.Problems) {
	checkSameName(b.Name, c.param(fieldParam), problems)
}

// contextFieldMembers are what may be said of a context field. As Unleash has it, what is left out of description and
// sort order stays; stickiness is then off, and any value legal.
type contextFieldMembers struct {
	Description maybe[*string]   `json:"description"`
	Stickiness  bool             `json:"stickiness"`
	SortOrder   maybe[int64]     `json:"sortOrder"`
	LegalValues []legalValueBody `json:"legalValues"`
}

func (b contextFieldMembers) over(f flags.ContextField) flags.ContextField {
	f.Description, f.Stickiness, f.SortOrder = b.Description.or(f.Description), b.Stickiness, b.SortOrder.or(f.SortOrder)
	f.LegalValues = each(b.LegalValues, legalValueBody.value)
	return f
}

// A legalValueBody is a value that a context field can have.
type legalValueBody struct {
	Value       string         `json:"value"`
	Description maybe[*string] `json:"description"`
}

func (b legalValueBody) value() flags.LegalValue {
	return flags.LegalValue{Value: b.Value, Description: b.Description.Value}
}

func (b legalValueBody) check(_ flags.Limits, problems *flags.Problems) {
	b.value().Check("", problems)
}

// A contextFieldView is a context field as it is answered.
type contextFieldView struct {
	Name        string           `json:"name"`
	Description *string          `json:"description"`
	Stickiness  bool             `json:"stickiness"`
	SortOrder   int64            `json:"sortOrder"`
	LegalValues []legalValueView `json:"legalValues"`
	CreatedAt   timestamp        `json:"createdAt"`
}

type legalValueView struct {
	Value       string  `json:"value"`
	Description *string `json:"description,omitzero"`
}

func contextFieldViewOf(f flags.ContextField) contextFieldView {
	return contextFieldView{f.Name, f.Description, f.Stickiness, f.SortOrder,
		each(f.LegalValues, func(v flags.LegalValue) legalValueView { return legalValueView(v) }), timestamp(f.CreatedAt)}
}

// A contextFieldRow is a context field in the list of all.
type contextFieldRow struct {
	contextFieldView
	UsedInFeatures int `json:"usedInFeatures"`
	UsedInProjects int `json:"usedInProjects"`
}

// A usingStrategy is a strategy that uses a segment or a context field.
type usingStrategy struct {
	ID           string `json:"id"`
	FeatureName  string `json:"featureName"`
	ProjectID    string `json:"projectId"`
	Environment  string `json:"environment"`
	StrategyName string `json:"strategyName"`
}

func usingStrategyOf(s flags.FeatureStrategyUse) usingStrategy {
	return usingStrategy{s.ID, s.Feature, s.Project, s.Environment, s.Name}
}

// A usingDefault is a project's default strategy that uses a segment or a context field.
type usingDefault struct {
	ProjectID    string `json:"projectId"`
	Environment  string `json:"environment"`
	StrategyName string `json:"strategyName"`
}

func usingDefaultOf(d flags.DefaultStrategyUse) usingDefault {
	return usingDefault{d.Project, d.Environment, d.Name}
}

type usingStrategyList struct {
	Strategies        []usingStrategy `json:"strategies"`
	DefaultStrategies []usingDefault  `json:"defaultStrategies"`
}
