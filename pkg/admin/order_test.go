package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/apitest"
)

// TestBodyBeforePath checks that an invalid body or a malformed id is a 400 even if the path names something that does not
// exist.
func TestBodyBeforePath(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Run(t, []apitest.Call{
		{"a name that differs from the path's", "PUT", apitest.Features + "/nosuch", `{"name":"other"}`, 400, apitest.Invalid("/name")},
		{"an id that is not a number", "DELETE", "/api/admin/projects/nosuch/users/abc/roles/1", "", 400, apitest.Failure("ValidationError", "whole number")},
		{"a role that is not a number", "DELETE", "/api/admin/projects/nosuch/users/1/roles/x", "", 400, apitest.Failure("ValidationError", "whole number")},
	})
}

// TestWorkIsBounded sends requests that once took minutes of one core. The response must come long before a function's
// timeout.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	variants := make([]string, 8000)
	for i := range variants {
		variants[i] = fmt.Sprintf(`{"name":"v%d","weight":1}`, i)
	}
	projects := make([]string, 60_000)
	for i := range projects {
		projects[i] = fmt.Sprintf(`"p%d"`, i)
	}
	for _, c := range []apitest.Call{
		{"an environment named 20,000 times", "PUT", apitest.Features + "/f/variants-batch",
			`{"environments":["development"` + strings.Repeat(`,"development"`, 20_000) + `],"variants":[` + strings.Join(variants, ",") + `]}`, 0, ""},
		{"a token for 60,000 projects", "POST", "/api/admin/api-tokens",
			`{"tokenName":"t","type":"client","projects":[` + strings.Join(projects, ",") + `]}`, 0, ""},
	} {
		t.Run(c.Name, func(t *testing.T) {
			began := time.Now()
			got := s.Do(t, c.Method, c.Path, c.Body)
			if took := time.Since(began); took > 10*time.Second { // far above the usual time: this does not measure speed
				t.Errorf("took %s", took)
			}
			if got.Status >= http.StatusInternalServerError {
				t.Errorf("status %d: %.300s", got.Status, got.Body)
			}
		})
	}
}
