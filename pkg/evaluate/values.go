package evaluate

import (
	"slices"
	"strings"
)

// A valueSet answers quickly whether it has a value. Short lists are faster to search than a map.
type valueSet struct {
	list []string
	set  map[string]struct{} // nil for a short list
}

const shortList = 8

func newValueSet(values []string) valueSet {
	s := valueSet{list: values}
	if len(values) > shortList {
		s.set = make(map[string]struct{}, len(values))
		for _, value := range values {
			s.set[value] = struct{}{}
		}
		s.list = nil
	}
	return s
}

func (s valueSet) has(value string) bool {
	if s.set != nil {
		_, found := s.set[value]
		return found
	}
	return slices.Contains(s.list, value)
}

// splitList splits a parameter with a comma-separated list and trims its items.
func splitList(parameter string) []string {
	items := strings.Split(parameter, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}
