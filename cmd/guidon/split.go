package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"guidon/pkg/jsonbody"
)

// flagsPerImport is how many flags one request imports.
const flagsPerImport = 100

// exportData is an export of Guidon or Unleash: lists by their names. Lists that this command does not know are passed on.
type exportData map[string]json.RawMessage

// flagLists are the lists of an export that belong to flags, with the field that has the flag's name.
var flagLists = map[string]string{
	"features": "name", "featureStrategies": "featureName", "featureEnvironments": "featureName", "featureTags": "featureName",
	"dependencies": "feature", "links": "feature",
}

func parseExport(raw []byte) (exportData, error) {
	var data exportData
	if err := json.Unmarshal(jsonbody.WithoutMark(raw), &data); err != nil {
		return nil, err
	}
	if data["features"] == nil {
		return nil, errors.New(`it has no field "features"`)
	}
	_, err := data.names()
	return data, err
}

// names are the names of the flags.
func (d exportData) names() ([]string, error) {
	rows, err := d.rows("features")
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.flag
	}
	return names, err
}

func (d exportData) count() int {
	names, _ := d.names()
	return len(names)
}

// An exportRow is an element of a list, with the flag that it belongs to.
type exportRow struct {
	flag string
	raw  json.RawMessage
}

func (d exportData) rows(list string) ([]exportRow, error) {
	if d[list] == nil {
		return nil, nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(d[list], &raw); err != nil {
		return nil, fmt.Errorf("the field %q: %w", list, err)
	}
	rows := make([]exportRow, len(raw))
	for i := range raw {
		var row map[string]json.RawMessage
		err := json.Unmarshal(raw[i], &row)
		if err == nil {
			err = json.Unmarshal(row[flagLists[list]], &rows[i].flag)
		}
		if err != nil {
			return nil, fmt.Errorf("the field %s/%d/%s: %w", list, i, flagLists[list], err)
		}
		rows[i].raw = raw[i]
	}
	return rows, nil
}

// A batch is the part of an export that is about some of its flags.
type batch struct {
	names []string
	data  exportData
}

// split divides an export into batches of at most size flags. Flags with parents come last, so that a parent is never
// imported after its child: parents have no parents themselves.
func (d exportData) split(size int) ([]batch, error) {
	names, err := d.names()
	if err != nil {
		return nil, err
	}
	if len(names) <= size {
		return []batch{{names, d}}, nil
	}
	lists := map[string]map[string][]json.RawMessage{} // by list and flag
	for list := range flagLists {
		rows, err := d.rows(list)
		if err != nil {
			return nil, err
		}
		lists[list] = map[string][]json.RawMessage{}
		for _, row := range rows {
			lists[list][row.flag] = append(lists[list][row.flag], row.raw)
		}
	}
	children := lists["dependencies"]
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case len(children[a]) > 0 && len(children[b]) == 0:
			return 1
		case len(children[a]) == 0 && len(children[b]) > 0:
			return -1
		}
		return 0
	})
	var batches []batch
	for chunk := range slices.Chunk(names, size) {
		part := exportData{}
		for list, value := range d {
			part[list] = value // what belongs to no flag goes with every batch
		}
		for list, byFlag := range lists {
			if d[list] == nil {
				continue
			}
			selected := []json.RawMessage{}
			for _, name := range chunk {
				selected = append(selected, byFlag[name]...)
			}
			if part[list], err = json.Marshal(selected); err != nil {
				return nil, err
			}
		}
		batches = append(batches, batch{chunk, part})
	}
	return batches, nil
}
