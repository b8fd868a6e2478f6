// Package transfer exports flags and imports them, here or from Unleash, and validates data before an import (contract:
// Import validation, Import data set).
//
// An import is a list of items (importing.go): first the tag types, context fields and segments that do not exist yet, then
// the flags. Each item is one transaction, and is imported completely or skipped with the reasons. The import runs the items
// with Many.Each. The validation runs the same items with Many.DryRun, without permission checks; it collects the permissions
// that the caller lacks. So the validation reports what the import does.
package transfer

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// Group is the operations of this package.
func Group() httpapi.Group {
	const batch = "/api/admin/features-batch"
	importing := []flags.Key{flags.EnvironmentsKey(), flags.TagTypesKey(), flags.StrategyTypesKey(), flags.ContextFieldsKey()}
	return httpapi.Group{Name: "imports", Function: "transfer", Operations: []httpapi.Operation{
		{Route: "POST " + batch + "/validate", Permission: access.Read, Ahead: importing, MaxBody: maxImport, Handle: httpapi.HandleManyBody(validateImport)},
		{Route: "POST " + batch + "/import", Permission: access.Read, Ahead: importing, MaxBody: maxImport, Handle: httpapi.HandleManyBody(importFlags)},
		{
			Route: "POST " + batch + "/export", Permission: access.Read,
			Ahead:  []flags.Key{flags.EnvironmentsKey(), flags.TagTypesKey(), flags.ContextFieldsKey()},
			Handle: httpapi.HandleBody(exportFlags),
		},
	}}
}

// importFlags imports each flag of the data, and what it needs, in a transaction of its own.
func importFlags(m *httpapi.Many, _ httpapi.InService, in importBody) (importedView, error) {
	im := newImporting(in)
	err := m.Read(func(tx *httpapi.Tx) error {
		im.prepare(tx, firstItems)
		return nil
	})
	if err != nil {
		return importedView{}, err
	}
	errs := m.Each(len(im.items), im.needs, im.run)
	return im.report(errs)
}
