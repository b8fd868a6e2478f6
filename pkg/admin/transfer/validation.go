package transfer

import (
	"errors"
	"slices"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// validateImport runs the import without changing anything, and reports what it would skip and which permissions the caller
// lacks.
func validateImport(m *httpapi.Many, _ httpapi.InService, in importBody) (importReportView, error) {
	var caller access.Caller
	var faults, warnings, permissions collection
	im := newImporting(in)
	err := m.Read(func(tx *httpapi.Tx) error {
		im.prepare(tx, len(im.items))
		project := im.place(tx).project
		for _, item := range im.items {
			if item.kind != importedFlag {
				continue
			}
			if f := tx.FindFeature(item.name); f != nil && f.ProjectUID == project.UID && !f.Archived {
				warnings.add(found{"These flags already exist in the project and will be overwritten", item.name})
			}
		}
		for _, name := range in.Data.Value.customStrategies(tx.StrategyTypes()) {
			warnings.add(found{"These strategy types are custom: every SDK must implement them", name})
		}
		caller = tx.Caller
		return nil
	})
	if err != nil {
		return importReportView{}, err
	}
	var missing []access.Permission
	errs, err := m.DryRun(caller.DryRun(&missing), len(im.items), im.needs, im.run)
	if err != nil {
		return importReportView{}, err
	}
	for i, item := range im.items {
		item.find(errs[i], &faults, &warnings)
	}
	for _, p := range missing {
		permissions.add(found{"You lack these permissions, which the import needs", string(p)})
	}
	skips := im.skipped(errs, "will be", !slices.Contains(missing, access.SkipChangeRequest), !slices.Contains(missing, access.SkipChangeFreeze))
	features := make([]importedRow, 0, len(im.items))
	for i, item := range im.items {
		if item.kind == importedFlag && errs[i] == nil {
			features = append(features, im.row(item))
		}
	}
	return importReportView{faults.findings(), append(warnings.findings(), skips...), permissions.findings(), im.left(errs), features}, nil
}

// An importReportView is the result of a validation (contract: Validation result).
type importReportView struct {
	Errors      []importFinding `json:"errors"`
	Warnings    []importFinding `json:"warnings"`
	Permissions []importFinding `json:"permissions"` // that the caller lacks
	Skipped     int             `json:"skipped"`     // items that the import would not import as the data has them
	Features    []importedRow   `json:"features"`    // the flags that the import would not skip
}

// The findings about flags that are not imported.
const (
	foundElsewhere = "These flags exist in another project. Flag names are unique in the service: rename these flags or leave them out"
	foundArchived  = "These flags are archived and will be skipped; revive them first to import them"
	foundNoParent  = "These parent flags are archived, or exist neither in the import nor in the project"
	foundNoSegment = "Strategies refer to these segments, which do not exist or belong to another project: create them first"
	foundUndefined = "These custom strategy types are not defined here, and flags that use them will be skipped: define the types first, and implement them in every SDK"
)

// A refusal is why a flag is not imported, with what a validation reports about it.
type refusal struct {
	error
	errors, warnings []found
}

func (r refusal) Unwrap() error { return r.error }

// find adds what the import does with the item: err is why it is skipped.
func (item importItem) find(err error, faults, warnings *collection) {
	refused, known := errors.AsType[refusal](err)
	switch {
	case known && len(refused.errors)+len(refused.warnings) > 0:
		faults.add(refused.errors...)
		warnings.add(refused.warnings...)
	case err != nil:
		faults.add(found{"These " + string(item.kind) + "s will be skipped: " + strings.Join(reasonsOf(err, len(faults.list)), "; "), item.name})
	case item.kind != importedFlag && item.outcome == outcomeCreated:
		warnings.add(found{"These " + string(item.kind) + "s do not exist and will be created", item.name})
	case item.outcome == outcomeKept:
		warnings.add(found{"These segments already exist with other constraints and will not be changed: imported strategies use the existing ones", item.name})
	}
}

// An importFinding is one entry of a report, with the names of what it is about.
type importFinding struct {
	Message       string   `json:"message"`
	AffectedItems []string `json:"affectedItems"`
}

// A found is one name of a finding.
type found struct{ message, name string }

// A collection has the findings of a list, in the order in which they were found.
type collection struct {
	list []importFinding
	at   map[string]int // by message
}

func (c *collection) add(names ...found) {
	for _, f := range names {
		i, there := c.at[f.message]
		if !there {
			i, c.list = len(c.list), append(c.list, importFinding{Message: f.message})
			if c.at == nil {
				c.at = map[string]int{}
			}
			c.at[f.message] = i
		}
		c.list[i].AffectedItems = append(c.list[i].AffectedItems, f.name)
	}
}

// findings returns the list, with each name once in a finding.
func (c *collection) findings() []importFinding {
	return httpapi.Each(c.list, func(f importFinding) importFinding { return importFinding{f.Message, flags.Distinct(f.AffectedItems)} })
}
