//go:build sam || release || deploy

package e2e

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/admin"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	sdk "guidon/pkg/serving"
)

// checkOperations sends a request to every operation that needs a token, with one that does not exist. The 401 shows that the
// request reaches a function that serves the operation. Every other function answers 404.
func checkOperations(t *testing.T, g *gateway) {
	t.Helper()
	caller := &gateway{port: g.port, base: g.base, http: g.http, token: "*:*.no-such-token"}
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	config := httpapi.Config{}
	groups := slices.Concat(admin.Groups(), sdk.Groups(nil, nil, config), ingest.Groups(nil, nil, config))
	for _, group := range groups {
		for _, op := range group.Operations {
			method, path, _ := strings.Cut(op.Route, " ")
			if path == "/edge/validate" || path == "/edge/metrics" || path == "/health" || path == "/ready" || strings.HasPrefix(path, "/auth/") && op.Permission == "" {
				continue // they need no token
			}
			status, answer, err := caller.send(t.Context(), method, parameter.ReplaceAllString(path, "1"), nil)
			if status == http.StatusTooManyRequests { // an instance looks up a few unknown tokens a second
				time.Sleep(time.Second)
				status, answer, err = caller.send(t.Context(), method, parameter.ReplaceAllString(path, "1"), nil)
			}
			if err != nil || status != 401 {
				t.Errorf("%s of the function %s: %d %.200s, %v; want 401", op.Route, group.Function, status, answer, err)
			}
		}
	}
}
