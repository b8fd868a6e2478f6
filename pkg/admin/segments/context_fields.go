package segments

import (
	"maps"
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// contextFieldsPath is where context fields are.
const contextFieldsPath = "/api/admin/context"

// contextFieldOperations are the operations on context fields.
func contextFieldOperations() []httpapi.Operation {
	const (
		one    = contextFieldsPath + "/{contextField}"
		values = one + "/legal-values"
	)
	fields := []flags.Key{flags.ContextFieldsKey()}
	fieldsAndEnvironments := []flags.Key{flags.ContextFieldsKey(), flags.EnvironmentsKey()}
	return []httpapi.Operation{
		{Route: "GET " + contextFieldsPath, Permission: access.Read, Ahead: fieldsAndEnvironments, Handle: httpapi.Handle(listContextFields)},
		{Route: "POST " + contextFieldsPath, Permission: access.CreateContextField, Ahead: fields, Status: 201, Handle: httpapi.HandleBody(createContextField)},
		{Route: "POST " + contextFieldsPath + "/validate", Permission: access.CreateContextField, Ahead: fields, Handle: httpapi.DoBody(validateContextField)},
		{Route: "GET " + one, Permission: access.Read, Ahead: fields, Handle: httpapi.Handle(readContextField)},
		{Route: "PUT " + one, Permission: access.UpdateContextField, Ahead: fields, Handle: httpapi.DoBody(updateContextField)},
		{Route: "DELETE " + one, Permission: access.DeleteContextField, Ahead: fieldsAndEnvironments, Handle: httpapi.Do(deleteContextField)},
		{Route: "GET " + one + "/strategies", Permission: access.Read, Ahead: fieldsAndEnvironments, Handle: httpapi.Handle(listFieldStrategies)},
		{Route: "POST " + values, Permission: access.UpdateContextField, Ahead: fields, Handle: httpapi.DoBody(addLegalValue)},
		{Route: "DELETE " + values + "/{legalValue...}", Permission: access.UpdateContextField, Ahead: fields, Handle: httpapi.Do(removeLegalValue)},
	}
}

// inContextField is the place of an operation on a context field.
type inContextField struct {
	httpapi.InService
	Name string `path:"contextField"`
}

// inLegalValue is the place of an operation on a legal value of a context field.
type inLegalValue struct {
	inContextField
	Value string `path:"legalValue"`
}

func listContextFields(tx *httpapi.Tx, _ httpapi.InService) ([]contextFieldRow, error) {
	undefined, err := tx.Query().Bool("undefined")
	if err != nil {
		return nil, err
	}
	fields := fieldsOfSegments(tx)
	counts := countUses(tx, func(s flags.StrategyUse) []string {
		names := slices.Clip(s.ContextFields)
		for _, id := range s.Segments {
			names = append(names, fields[id]...)
		}
		return names
	})
	projects, environments := tx.Projects(), tx.Environments()
	list := tx.ContextFields().List
	if undefined {
		list = append(slices.Clip(list), undefinedFields(tx, counts, fields)...)
	}
	return httpapi.Each(list, func(f flags.ContextField) contextFieldRow {
		defaults := flags.FindDefaultStrategyUses(projects, environments, func(d flags.Strategy) bool {
			return d.UsesContextField(f.Name) || fields.use(d.Segments, f.Name)
		})
		features, projects := counts[f.Name].with(defaults)
		return contextFieldRow{shape.ContextFieldViewOf(f), features, projects, !tx.ContextFields().Has(f.Name)}
	}), nil
}

// MaxUndefinedFields is how many context fields that are not defined a list has at most.
const MaxUndefinedFields = 100

// undefinedFields returns the context fields, by name, that active flags or segments use and that are not defined.
func undefinedFields(tx *httpapi.Tx, counts map[string]*useCount, fields segmentFields) (list []flags.ContextField) {
	names := slices.AppendSeq(slices.Concat(slices.Collect(maps.Values(fields))...), maps.Keys(counts))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !tx.ContextFields().Has(name) && len(list) < MaxUndefinedFields {
			list = append(list, flags.ContextField{Name: name, CreatedAt: tx.Now})
		}
	}
	return list
}

// A segmentFields has the names of the context fields on which segments have constraints, by the ID of the segment.
type segmentFields map[int64][]string

func fieldsOfSegments(tx *httpapi.Tx) segmentFields {
	fields := segmentFields{}
	for _, s := range tx.Segments() {
		for _, c := range s.Constraints {
			fields[s.ID] = append(fields[s.ID], c.ContextName)
		}
	}
	return fields
}

// use reports whether one of the segments has a constraint on a context field.
func (fields segmentFields) use(segments []int64, field string) bool {
	return slices.ContainsFunc(segments, func(id int64) bool { return slices.Contains(fields[id], field) })
}

func readContextField(tx *httpapi.Tx, at inContextField) (shape.ContextFieldView, error) {
	f, err := tx.ContextFields().Get(at.Name)
	if err != nil {
		return shape.ContextFieldView{}, err
	}
	return shape.ContextFieldViewOf(f), nil
}

// inFieldStrategies is the place of the list of the strategies that use a context field.
type inFieldStrategies struct {
	inContextField
	wire.FlagPage
}

// listFieldStrategies lists the strategies that have constraints on a context field, also by a segment.
func listFieldStrategies(tx *httpapi.Tx, at inFieldStrategies) (usingStrategyList, error) {
	if _, err := tx.ContextFields().Get(at.Name); err != nil {
		return usingStrategyList{}, err
	}
	fields := fieldsOfSegments(tx)
	using := strategiesOn(tx, at.Name, at.FlagPage, func(s flags.StrategyUse) bool { return s.UsesContextField(at.Name) || fields.use(s.Segments, at.Name) })
	return usingStrategyList{
		Strategies:        httpapi.Each(using.list, usingStrategyOf),
		DefaultStrategies: defaultsOn(tx, at.FlagPage, func(d flags.Strategy) bool { return d.UsesContextField(at.Name) || fields.use(d.Segments, at.Name) }),
		Next:              using.next,
	}, nil
}

func createContextField(tx *httpapi.Tx, _ httpapi.InService, in contextFieldBody) (shape.ContextFieldView, error) {
	fields := tx.ContextFields()
	created := in.applyTo(flags.ContextField{Name: in.Name, SortOrder: flags.DefaultContextFieldSortOrder, CreatedAt: tx.Now})
	if err := fields.Add(created, tx.Limits); err != nil {
		return shape.ContextFieldView{}, err
	}
	tx.Save(events.ContextField.Created(created), fields)
	tx.Created(contextFieldsPath, created.Name)
	return shape.ContextFieldViewOf(created), nil
}

// validateContextField checks that a name is valid and free.
func validateContextField(tx *httpapi.Tx, _ httpapi.InService, in namedBody) error {
	if tx.ContextFields().Has(in.Name) {
		return flags.Errorf(flags.NameExists, "a context field named %q exists already", in.Name)
	}
	return nil
}

func updateContextField(tx *httpapi.Tx, at inContextField, in updateContextFieldBody) error {
	var problems flags.Problems
	wire.CheckSameName(in.Name, at.Name, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	return changeContextField(tx, at, in.applyTo)
}

func addLegalValue(tx *httpapi.Tx, at inContextField, in legalValueBody) error {
	return changeContextField(tx, at, func(f flags.ContextField) flags.ContextField { return f.WithValue(in.value()) })
}

func removeLegalValue(tx *httpapi.Tx, at inLegalValue) error {
	return changeContextField(tx, at.inContextField, func(f flags.ContextField) flags.ContextField { return f.WithoutValue(at.Value) })
}

// changeContextField replaces the context field of the path by what change makes of it.
func changeContextField(tx *httpapi.Tx, at inContextField, change func(flags.ContextField) flags.ContextField) error {
	fields := tx.ContextFields()
	before, err := fields.Get(at.Name)
	if err != nil {
		return err
	}
	after := change(before)
	if err := fields.Replace(after); err != nil {
		return err
	}
	tx.Save(events.ContextField.Updated(before, after), fields)
	return nil
}

func deleteContextField(tx *httpapi.Tx, at inContextField) error {
	fields := tx.ContextFields()
	deleted, err := fields.Get(at.Name)
	if err != nil {
		return err
	}
	if err := fields.Remove(at.Name, usesOfField(tx, at.Name), tx.Projects(), tx.Environments(), tx.Segments()); err != nil {
		return err
	}
	tx.Save(events.ContextField.Deleted(deleted), fields)
	return nil
}
