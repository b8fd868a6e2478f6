// Package releases has the operations on release templates.
package releases

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// templatesPath is where release templates are.
const templatesPath = "/api/admin/release-plan-templates"

// TemplateGroup is the operations on release templates.
func TemplateGroup() httpapi.Group {
	const one = templatesPath + "/{templateId}"
	types := []flags.Key{flags.StrategyTypesKey()}
	return httpapi.Group{Name: "release-templates", Function: "configuration", Operations: []httpapi.Operation{
		{Route: "GET " + templatesPath, Permission: access.Read, Handle: httpapi.Handle(listTemplates)},
		{Route: "POST " + templatesPath, Permission: access.CreateReleaseTemplate, Ahead: types, Handle: httpapi.HandleBody(createTemplate)},
		{Route: "GET " + one, Permission: access.Read, Handle: httpapi.Handle(readTemplate)},
		{Route: "PUT " + one, Permission: access.UpdateReleaseTemplate, Ahead: types, Handle: httpapi.DoBody(replaceTemplate)},
		{Route: "DELETE " + one, Permission: access.DeleteReleaseTemplate, Handle: httpapi.Do(deleteTemplate)},
		{Route: "POST " + templatesPath + "/archive/{templateId}", Permission: access.DeleteReleaseTemplate, Handle: httpapi.Do(archiveTemplate)},
	}}
}

// inTemplate is the place of an operation on a release template.
type inTemplate struct {
	httpapi.InService
	ID string `path:"templateId"`
}

// Keys names the template. What cannot be an ID is left out.
func (at *inTemplate) Keys() []flags.Key {
	if flags.CheckName(at.ID) != "" {
		return nil
	}
	return []flags.Key{flags.ReleaseTemplateKey(at.ID)}
}

// find is the template of the path. NotFound when it does not exist.
func (at inTemplate) find(tx *httpapi.Tx) *flags.ReleaseTemplate {
	for _, key := range at.Keys() {
		if t := httpapi.Find[*flags.ReleaseTemplate](tx, key); t != nil {
			return t
		}
	}
	tx.Fail(flags.Errorf(flags.NotFound, "there is no release template %q", jsonbody.Shorten(at.ID)))
	return nil
}

// listTemplates lists all templates, archived ones too, without the strategies of their milestones: those of all take several megabytes.
func listTemplates(tx *httpapi.Tx, _ httpapi.InService) ([]shape.ReleaseTemplateView, error) {
	views := httpapi.Each(httpapi.List[*flags.ReleaseTemplate](tx, flags.EntityReleaseTemplate), shape.ReleaseTemplateViewOf)
	slices.SortFunc(views, func(a, b shape.ReleaseTemplateView) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range views {
		for i := range t.Milestones {
			t.Milestones[i].Strategies = nil
		}
	}
	return views, nil
}

func readTemplate(tx *httpapi.Tx, at inTemplate) (shape.ReleaseTemplateView, error) {
	return shape.ReleaseTemplateViewOf(at.find(tx)), nil
}

func createTemplate(tx *httpapi.Tx, _ httpapi.InService, in templateBody) (view shape.ReleaseTemplateView, err error) {
	t := &flags.ReleaseTemplate{ID: tx.NewID(), CreatedAt: tx.Now, CreatedByID: tx.Caller.UserID()}
	if err := in.applyTo(tx, t); err != nil {
		return view, err
	}
	if err := wire.CheckListSize(tx, t); err != nil {
		return view, err
	}
	tx.Save(events.ReleaseTemplate.Created(t), t)
	return shape.ReleaseTemplateViewOf(t), nil
}

// replaceTemplate writes a template whole. Plans that were made of it stay as they are.
func replaceTemplate(tx *httpapi.Tx, at inTemplate, in replaceTemplateBody) error {
	t := at.find(tx)
	if in.ID.Set && in.ID.Value != t.ID {
		return flags.Problems{{Path: "/id", Message: "must be the id in the path, or be omitted: it cannot be changed"}}.Err()
	}
	if err := in.applyTo(tx, t); err != nil {
		return err
	}
	before := httpapi.Was(tx, t)
	if err := tx.CheckIfMatch(shape.ReleaseTemplateViewOf(before), shape.ReleaseTemplateViewOf(t)); err != nil {
		return err
	}
	tx.Save(events.ReleaseTemplate.Updated(before, t), t)
	return nil
}

func deleteTemplate(tx *httpapi.Tx, at inTemplate) error {
	t := at.find(tx)
	if err := tx.CheckIfMatch(shape.ReleaseTemplateViewOf(t), nil); err != nil {
		return err
	}
	tx.Delete(events.ReleaseTemplate.Deleted(t), t)
	return nil
}

func archiveTemplate(tx *httpapi.Tx, at inTemplate) error {
	t := at.find(tx)
	t.Archive(tx.Now)
	tx.Save(events.ReleaseTemplateArchived(httpapi.Was(tx, t), t), t)
	return nil
}

// A templateBody makes or replaces a template: what it leaves out is emptied.
type templateBody struct {
	Name        string                          `json:"name"`
	Description jsonbody.Maybe[*string]         `json:"description"`
	Milestones  jsonbody.Maybe[[]milestoneBody] `json:"milestones"`
	Safeguards  []safeguardBody                 `json:"safeguards"`
}

// A replaceTemplateBody can repeat the ID of the path.
type replaceTemplateBody struct {
	ID jsonbody.Maybe[string] `json:"id"`
	templateBody
}

// Check adds the problems that can be found without the store.
func (b replaceTemplateBody) Check(limits flags.Limits, problems *flags.Problems) {
	flags.CheckLength("/id", b.ID.Value, flags.MaxIdentifier, problems)
	b.templateBody.Check(limits, problems)
}

type milestoneBody struct {
	Name       string                               `json:"name"`
	SortOrder  jsonbody.Maybe[int]                  `json:"sortOrder"`
	Transition jsonbody.Maybe[*transitionCondition] `json:"transitionCondition"`
	Strategies []milestoneStrategyBody              `json:"strategies"`
}

type transitionCondition struct {
	Minutes int `json:"intervalMinutes"`
}

func (t transitionCondition) check(at string, problems *flags.Problems) {
	if t.Minutes < 1 || t.Minutes > flags.MaxMilestoneMinutes {
		problems.Add(at+"/intervalMinutes", "must be from 1 to %d minutes", flags.MaxMilestoneMinutes)
	}
}

// A milestoneStrategyBody is a strategy whose type is in strategyName.
type milestoneStrategyBody struct {
	Name        string                     `json:"strategyName"`
	Title       jsonbody.Maybe[*string]    `json:"title"`
	Disabled    jsonbody.Maybe[*bool]      `json:"disabled"`
	SortOrder   jsonbody.Maybe[float64]    `json:"sortOrder"`
	Segments    []int64                    `json:"segments"`
	Constraints []wire.ConstraintBody      `json:"constraints"`
	Parameters  map[string]wire.Parameter  `json:"parameters"`
	Variants    []wire.StrategyVariantBody `json:"variants"`
}

// strategy is the body as that of an ordinary strategy.
func (b milestoneStrategyBody) strategy() wire.StrategyBody {
	return wire.StrategyBody{
		Name: jsonbody.Maybe[string]{Set: true, Value: b.Name}, Title: b.Title, Disabled: b.Disabled, SortOrder: b.SortOrder, Segments: b.Segments,
		Constraints: b.Constraints, Parameters: b.Parameters, Variants: b.Variants,
	}
}

// Check adds the problems that can be found without the store.
func (b templateBody) Check(limits flags.Limits, problems *flags.Problems) {
	for i, s := range b.Safeguards {
		s.checkForm("/safeguards/"+strconv.Itoa(i), problems)
	}
	for i, m := range b.Milestones.Value {
		at := "/milestones/" + strconv.Itoa(i)
		if t := m.Transition.Value; t != nil {
			t.check(at+"/transitionCondition", problems)
		}
		for j, s := range m.Strategies {
			at := at + "/strategies/" + strconv.Itoa(j)
			flags.CheckLength(at+"/strategyName", s.Name, flags.MaxName, problems)
			problems.CheckAt(at, s.strategy().CheckMembers)
		}
	}
	t := flags.ReleaseTemplate{Name: b.Name, Description: b.Description.Value, Milestones: b.milestones()}
	if len(*problems) == 0 {
		t.Safeguards = b.safeguards()
	}
	t.Check(limits, problems)
}

// milestones returns those of the body in their order.
func (b templateBody) milestones() []flags.Milestone {
	list := make([]flags.Milestone, len(b.Milestones.Value))
	for i, m := range b.Milestones.Value {
		list[i] = flags.Milestone{Name: m.Name, SortOrder: m.SortOrder.Or(i)}
		if t := m.Transition.Value; t != nil {
			list[i].Minutes = t.Minutes
		}
		for j, s := range m.Strategies {
			list[i].Strategies = append(list[i].Strategies, s.strategy().ApplyTo(flags.Strategy{SortOrder: float64(j)}))
		}
		slices.SortStableFunc(list[i].Strategies, func(a, b flags.Strategy) int { return cmp.Compare(a.SortOrder, b.SortOrder) })
	}
	slices.SortStableFunc(list, func(a, b flags.Milestone) int { return cmp.Compare(a.SortOrder, b.SortOrder) })
	return list
}

func (b templateBody) safeguards() []flags.Safeguard {
	var list []flags.Safeguard
	for _, s := range b.Safeguards {
		list = append(list, s.safeguard())
	}
	return list
}

// applyTo checks the body against the store, and puts what it says into t.
func (b templateBody) applyTo(tx *httpapi.Tx, t *flags.ReleaseTemplate) error {
	t.Name, t.Description = b.Name, b.Description.Value
	before := t.Segments()
	t.SetMilestones(b.milestones(), tx.NewID)
	t.SetSafeguards(b.safeguards(), tx.NewID)
	added := slices.DeleteFunc(t.Segments(), func(id int64) bool { return slices.Contains(before, id) })
	tx.Load(httpapi.Each(added, flags.SegmentKey)...)
	var problems flags.Problems
	flags.CheckMilestoneTypes(t.Milestones, tx.StrategyTypes(), &problems)
	flags.CheckMilestoneSegments(t.Milestones, added, tx.FindSegment, &problems)
	checkSafeguards(tx, nil, t.Safeguards, &problems)
	return problems.Err()
}
