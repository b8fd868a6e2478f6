package httpapi

import (
	"net/http"

	"guidon/pkg/flags"
)

// Legacy is the handler of an operation that has not moved from pkg/oldapi yet. TEMPORARY.
func Legacy(takes, answers any, optional bool, handler func(store flags.Store, config Config) http.Handler) Handler {
	return Handler{takes: takes, answers: answers, optional: optional, legacy: handler}
}
