package strategies

import (
	"net/http"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

const typesPath = "/api/admin/strategies"

// TypeGroup serves strategy types.
func TypeGroup() httpapi.Group {
	const (
		types   = typesPath
		oneType = types + "/{strategyType}"
	)
	registry := []flags.Key{flags.StrategyTypesKey()}
	return httpapi.Group{Name: "strategy-types", Function: "configuration", Operations: []httpapi.Operation{
		{Route: "GET " + types, Permission: access.Read, Ahead: registry, Handle: httpapi.Handle(listTypes)},
		{Route: "POST " + types, Permission: access.CreateStrategy, Ahead: registry, Status: http.StatusCreated, Handle: httpapi.HandleBody(createType)},
		{Route: "GET " + oneType, Permission: access.Read, Handle: httpapi.Handle(readType)},
		{Route: "PUT " + oneType, Permission: access.UpdateStrategy, Handle: httpapi.DoBody(updateType)},
		{Route: "DELETE " + oneType, Permission: access.DeleteStrategy, Handle: httpapi.Do(deleteType)},
		{Route: "POST " + oneType + "/deprecate", Permission: access.UpdateStrategy, Handle: httpapi.Do(deprecateType)},
		{Route: "POST " + oneType + "/reactivate", Permission: access.UpdateStrategy, Handle: httpapi.Do(reactivateType)},
	}}
}

// inType is the place of an operation on one strategy type.
type inType struct {
	httpapi.InService
	Name string `path:"strategyType"`
}

// Keys names the registry of strategy types.
func (at *inType) Keys() []flags.Key { return []flags.Key{flags.StrategyTypesKey()} }

// find returns the registry and the strategy type of the path. NotFound when there is no such type.
func (at inType) find(tx *httpapi.Tx) (*flags.StrategyTypes, flags.StrategyType) {
	types := tx.StrategyTypes()
	t, err := types.Get(at.Name)
	if err != nil {
		tx.Fail(err)
	}
	return types, t
}

func listTypes(tx *httpapi.Tx, _ httpapi.InService) (strategyTypeList, error) {
	return strategyTypeList{Version: 1, Strategies: httpapi.Each(tx.StrategyTypes().All(), shape.StrategyTypeViewOf)}, nil
}

func readType(tx *httpapi.Tx, at inType) (shape.StrategyTypeView, error) {
	_, t := at.find(tx)
	return shape.StrategyTypeViewOf(t), nil
}

func createType(tx *httpapi.Tx, _ httpapi.InService, in strategyTypeBody) (shape.StrategyTypeView, error) {
	types, t := tx.StrategyTypes(), in.applyTo(flags.StrategyType{Name: in.Name})
	if err := types.Add(t); err != nil {
		return shape.StrategyTypeView{}, err
	}
	tx.Save(events.StrategyType.Created(t), types)
	tx.Created(typesPath, t.Name)
	return shape.StrategyTypeViewOf(t), nil
}

func updateType(tx *httpapi.Tx, at inType, in updateStrategyTypeBody) error {
	var problems flags.Problems
	wire.CheckSameName(in.Name, at.Name, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	types, before := at.find(tx)
	after := in.applyTo(before)
	if err := types.Replace(after); err != nil {
		return err
	}
	tx.Save(events.StrategyType.Updated(before, after), types)
	return nil
}

func deprecateType(tx *httpapi.Tx, at inType) error { return setDeprecated(tx, at, true) }

func reactivateType(tx *httpapi.Tx, at inType) error { return setDeprecated(tx, at, false) }

func setDeprecated(tx *httpapi.Tx, at inType, deprecated bool) error {
	types, before := at.find(tx)
	after := before
	after.Deprecated = deprecated
	if err := types.Replace(after); err != nil {
		return err
	}
	tx.Save(events.StrategyTypeDeprecated(before, after), types)
	return nil
}

func deleteType(tx *httpapi.Tx, at inType) error {
	types, t := at.find(tx)
	if err := types.Remove(t.Name); err != nil {
		return err
	}
	tx.Save(events.StrategyType.Deleted(t), types)
	return nil
}

// A validateConstraintBody is a constraint to check. Its Check does all the work of the operation.
type validateConstraintBody struct{ wire.ConstraintBody }

// Check adds the problems of the constraint.
func (b validateConstraintBody) Check(limits flags.Limits, problems *flags.Problems) {
	b.Constraint().Check("", limits, problems)
}

func validateConstraint(*httpapi.Tx, httpapi.InService, validateConstraintBody) error { return nil }

// A strategyTypeBody creates a strategy type.
type strategyTypeBody struct {
	Name string `json:"name"`
	strategyTypeMembers
}

// Check adds the problems of the body.
func (b strategyTypeBody) Check(_ flags.Limits, problems *flags.Problems) {
	b.checkMembers(b.Name, problems)
}

// An updateStrategyTypeBody changes a strategy type. It can repeat the name, but not change it.
type updateStrategyTypeBody struct {
	Name jsonbody.Maybe[string] `json:"name"`
	strategyTypeMembers
}

// Check adds the problems of the body.
func (b updateStrategyTypeBody) Check(_ flags.Limits, problems *flags.Problems) {
	b.checkMembers("any", problems)
}

// strategyTypeMembers are the fields of a strategy type, except its name. Parameters are required and replace all earlier
// ones; the other fields stay when they are left out.
type strategyTypeMembers struct {
	Title       jsonbody.Maybe[*string]                 `json:"title"`
	Description jsonbody.Maybe[*string]                 `json:"description"`
	Parameters  jsonbody.Maybe[[]strategyParameterBody] `json:"parameters"`
}

type strategyParameterBody struct {
	Name        string  `json:"name"`
	Type        string  `json:"type"`
	Description *string `json:"description"`
	Required    bool    `json:"required"`
}

// checkMembers adds the problems of the fields, for a strategy type of that name.
func (b strategyTypeMembers) checkMembers(name string, problems *flags.Problems) {
	b.applyTo(flags.StrategyType{Name: name}).Check(problems)
	if !b.Parameters.Set {
		problems.Add("/parameters", "is required; send [] for none")
	}
}

// applyTo returns the strategy type t with the fields of the body.
func (b strategyTypeMembers) applyTo(t flags.StrategyType) flags.StrategyType {
	t.Title, t.Description = wire.TextOver(b.Title, t.Title), wire.TextOver(b.Description, t.Description)
	t.Parameters = httpapi.Each(b.Parameters.Value, func(p strategyParameterBody) flags.StrategyParameter {
		parameter := flags.StrategyParameter{Name: p.Name, Type: p.Type, Required: p.Required}
		if p.Description != nil {
			parameter.Description = *p.Description
		}
		return parameter
	})
	return t
}

type strategyTypeList struct {
	Version    int                      `json:"version"`
	Strategies []shape.StrategyTypeView `json:"strategies"`
}
