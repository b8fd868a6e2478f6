package httpapi

// Imports serves the validation of import data (contract: Import validation).
func Imports() Group {
	return Group{Name: "imports", Operations: []Operation{}}
}
