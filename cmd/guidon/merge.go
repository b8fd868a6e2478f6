package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// flagsPerPage is how many flags one request lists or exports.
const flagsPerPage = 1_000

// with returns an export with the next page of it. Pages have different flags, but the same tag type, context field or segment can
// be on several: the first one stays.
func (d exportData) with(page exportData) (exportData, error) {
	if d == nil {
		d = exportData{}
	}
	for list, value := range page {
		if list == "next" {
			continue
		}
		rows, err := elements(list, d[list])
		if err != nil {
			return nil, err
		}
		more, err := elements(list, value)
		if err != nil {
			return nil, err
		}
		if _, ofFlags := flagLists[list]; !ofFlags {
			more = slices.DeleteFunc(more, func(row element) bool {
				return slices.ContainsFunc(rows, func(have element) bool { return have.Name == row.Name })
			})
		}
		merged := make([]json.RawMessage, 0, len(rows)+len(more))
		for _, row := range slices.Concat(rows, more) {
			merged = append(merged, row.raw)
		}
		if d[list], err = json.Marshal(merged); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// An element is one of a list of an export.
type element struct {
	Name string // of a tag type, context field or segment
	raw  json.RawMessage
}

func elements(list string, value json.RawMessage) ([]element, error) {
	if value == nil {
		return nil, nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(value, &raw); err != nil {
		return nil, fmt.Errorf("the field %q: %w", list, err)
	}
	all := make([]element, len(raw))
	for i := range raw {
		if _, ofFlags := flagLists[list]; !ofFlags {
			if err := json.Unmarshal(raw[i], &all[i]); err != nil {
				return nil, fmt.Errorf("the field %s/%d: %w", list, i, err)
			}
		}
		all[i].raw = raw[i]
	}
	return all, nil
}
