package httpapi

// Tags serves tag types, and the tags of flags (contract: Tags).
func Tags() Group {
	return Group{Name: "tags", Operations: []Operation{}}
}
