package oldapi

import (
	"net/http"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// strategyTypes are the operations of strategy types: of what sorts strategies can be.
func strategyTypes() []Operation {
	const (
		list = "/api/admin/strategies"
		one  = list + "/{strategyType}"
	)
	return []Operation{
		{"GET " + list, flags.Read, theStrategyTypes, does(listStrategyTypes).answers(200, strategyTypeList{})},
		{"POST " + list, flags.CreateStrategy, theStrategyTypes, takes(createStrategyType).answers(201, strategyTypeView{})},
		{"GET " + one, flags.Read, theStrategyTypes, does(readStrategyType).answers(200, strategyTypeView{})},
		{"PUT " + one, flags.UpdateStrategy, theStrategyTypes, takes(updateStrategyType).answers(200)},
		{"DELETE " + one, flags.DeleteStrategy, theStrategyTypes, does(deleteStrategyType).answers(200)},
		{"POST " + one + "/deprecate", flags.UpdateStrategy, theStrategyTypes, does(deprecateStrategyType).answers(200)},
		{"POST " + one + "/reactivate", flags.UpdateStrategy, theStrategyTypes, does(reactivateStrategyType).answers(200)},
		{"POST /api/admin/constraints/validate", flags.Read, 0, takes(validateConstraint).answers(204)},
	}
}

func listStrategyTypes(c *call) (decision, error) {
	return ok(strategyTypeList{Version: 1, Strategies: each(c.types.All(), strategyTypeViewOf)})
}

func readStrategyType(c *call) (decision, error) { return ok(strategyTypeViewOf(c.strategyType)) }

func createStrategyType(c *call, in strategyTypeBody) (decision, error) {
	registry, made := c.types.Clone(), in.over(flags.StrategyType{Name: in.Name})
	if err := registry.Add(made); err != nil {
		return decision{}, err
	}
	d, err := c.changes(ifStored(c.types), registry, events.StrategyTypeCreated(made), http.StatusCreated, strategyTypeViewOf(made))
	return created(d, "/api/admin/strategies", made.Name), err
}

func updateStrategyType(c *call, in updateStrategyTypeBody) (decision, error) {
	return c.changesStrategyType(events.StrategyTypeUpdated, in.over)
}

func deprecateStrategyType(c *call) (decision, error) {
	return c.changesStrategyType(events.StrategyTypeDeprecated, func(t flags.StrategyType) flags.StrategyType {
		t.Deprecated = true
		return t
	})
}

func reactivateStrategyType(c *call) (decision, error) {
	return c.changesStrategyType(events.StrategyTypeDeprecated, func(t flags.StrategyType) flags.StrategyType {
		t.Deprecated = false
		return t
	})
}

// changesStrategyType is a decision that changes the strategy type of the path.
func (c *call) changesStrategyType(event func(before, after flags.StrategyType) flags.Event, change func(flags.StrategyType) flags.StrategyType) (decision, error) {
	registry, after := c.types.Clone(), change(c.strategyType)
	if err := registry.Replace(after); err != nil {
		return decision{}, err
	}
	return c.changes(ifStored(c.types), registry, event(c.strategyType, after), http.StatusOK, nil)
}

func deleteStrategyType(c *call) (decision, error) {
	registry := c.types.Clone()
	if err := registry.Remove(c.strategyType.Name); err != nil {
		return decision{}, err
	}
	return c.changes(ifStored(c.types), registry, events.StrategyTypeDeleted(c.strategyType), http.StatusOK, nil)
}

// A validateConstraintBody asks whether a constraint is good.
type validateConstraintBody struct{ constraintBody }

func (b validateConstraintBody) check(limits flags.Limits, problems *flags.Problems) {
	b.constraint().Check("", limits, problems)
}

func validateConstraint(*call, validateConstraintBody) (decision, error) {
	return decision{status: http.StatusNoContent}, nil
}

// A strategyTypeBody defines a strategy type.
type strategyTypeBody struct {
	Name string `json:"name"`
	strategyTypeMembers
}

func (b strategyTypeBody) check(_ flags.Limits, problems *flags.Problems) {
	b.checkMembers(b.Name, problems)
}

// An updateStrategyTypeBody changes a strategy type. It may repeat the name, not change it.
type updateStrategyTypeBody struct {
	Name maybe[string] `json:"name"`
	strategyTypeMembers
}

func (b updateStrategyTypeBody) check(_ flags.Limits, problems *flags.Problems) {
	b.checkMembers("any", problems)
}

func (b updateStrategyTypeBody) review(c *call, problems *flags.Problems) {
	checkSameName(b.Name, c.param(strategyTypeParam), problems)
}

// strategyTypeMembers are what may be said of a strategy type. The parameters are replaced whole; the rest stays when it
// is left out.
type strategyTypeMembers struct {
	Title       maybe[*string]                 `json:"title"`
	Description maybe[*string]                 `json:"description"`
	Parameters  maybe[[]strategyParameterBody] `json:"parameters"`
}

type strategyParameterBody struct {
	Name        string  `json:"name"`
	Type        string  `json:"type"`
	Description *string `json:"description"`
	Required    bool    `json:"required"`
}

func (b strategyTypeMembers) checkMembers(name string, problems *flags.Problems) {
	b.over(flags.StrategyType{Name: name}).Check(problems)
	if !b.Parameters.Set {
		problems.Add("/parameters", "is required, if only as []")
	}
}

// over is the strategy type t with what the body says over it.
func (b strategyTypeMembers) over(t flags.StrategyType) flags.StrategyType {
	t.Title, t.Description = textOver(b.Title, t.Title), textOver(b.Description, t.Description)
	t.Parameters = each(b.Parameters.Value, func(p strategyParameterBody) flags.StrategyParameter {
		parameter := flags.StrategyParameter{Name: p.Name, Type: p.Type, Required: p.Required}
		if p.Description != nil {
			parameter.Description = *p.Description
		}
		return parameter
	})
	return t
}

type strategyTypeList struct {
	Version    int                `json:"version"`
	Strategies []strategyTypeView `json:"strategies"`
}

// A strategyTypeView is a strategy type as it is answered.
type strategyTypeView struct {
	Name        string                  `json:"name"`
	DisplayName *string                 `json:"displayName"` // null for those that somebody defined
	Title       *string                 `json:"title"`
	Description *string                 `json:"description"`
	Editable    bool                    `json:"editable"` // false for the built-in ones
	Deprecated  bool                    `json:"deprecated"`
	Parameters  []strategyParameterView `json:"parameters"`
}

type strategyParameterView struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

func strategyTypeViewOf(t flags.StrategyType) strategyTypeView {
	return strategyTypeView{
		Name: t.Name, DisplayName: textOrNull(t.DisplayName), Title: textOrNull(t.Title), Description: textOrNull(t.Description),
		Editable: !t.BuiltIn(), Deprecated: t.Deprecated,
		Parameters: each(t.Parameters, func(p flags.StrategyParameter) strategyParameterView { return strategyParameterView(p) }),
	}
}
