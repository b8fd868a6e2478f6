// Package infra holds what is made of the code and travels with it.
package infra

import _ "embed"

// OpenAPI is the description of the interface, as infra/openapi makes it.
//
//go:embed openapi.json
var OpenAPI []byte
