// Package guidon embeds template.yaml, so that the command `guidon serve` runs without the repository.
package guidon

import _ "embed" // for Template

// Template is template.yaml: the table, and the functions with their routes.
//
//go:embed template.yaml
var Template []byte
