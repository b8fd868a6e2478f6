package features_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

const namedShop = `{"featureNaming":{"pattern":"shop-[a-z]+|b","example":"shop-cart","description":"Begin with shop-."}}`

// TestNamingPattern creates flags in every way in a project with a naming pattern. A flag that exists keeps its name.
func TestNamingPattern(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	s.Must(t, "POST", apitest.Projects+"/other/features", `{"name":"moved"}`)
	s.Create(t, "old", "kept")
	s.Must(t, "DELETE", apitest.Features+"/old", "")
	s.Must(t, "PUT", apitest.Project+"/settings", namedShop)
	const rule = `must match the naming pattern "shop-[a-z]+|b" of project "default", such as "shop-cart": Begin with shop-.`
	refused := fmt.Sprintf(`{"...":0,"name":"ValidationError","message":%q,"details":[{"...":0,"path":"/name","message":%q}]}`, "/name: "+rule, rule)
	const validate = "/api/admin/features/validate"
	imported := apitest.ImportOf(`"features":[{"name":"cart"},{"name":"kept","description":"b"},{"name":"shop-import"}]`)
	s.Run(t, []apitest.Call{
		{"another name", "POST", apitest.Features, `{"name":"cart"}`, 400, refused},
		{"a part matches", "POST", apitest.Features, `{"name":"my-shop-cart"}`, 400, refused},
		{"an alternative matches a part", "POST", apitest.Features, `{"name":"bb"}`, 400, refused},
		{"validate another name", "POST", validate, `{"name":"cart","projectId":"default"}`, 400, refused},
		{"validate a name that matches", "POST", validate, `{"name":"shop-cart","projectId":"default"}`, 200, ""},
		{"validate for another project", "POST", validate, `{"name":"cart","projectId":"other"}`, 200, ""},
		{"validate for no project", "POST", validate, `{"name":"cart"}`, 200, ""},
		{"a name that matches", "POST", apitest.Features, `{"name":"shop-cart"}`, 201, `{"...":0,"name":"shop-cart"}`},
		{"the alternative", "POST", apitest.Features, `{"name":"b"}`, 201, `{"...":0,"name":"b"}`},
		{"clone to another name", "POST", apitest.Features + "/shop-cart/clone", `{"name":"cart"}`, 400, refused},
		{"clone to a name that matches", "POST", apitest.Features + "/shop-cart/clone", `{"name":"shop-basket"}`, 201, `{"...":0,"name":"shop-basket"}`},
		{"validate an import", "POST", apitest.ValidateImport, imported, 200,
			`{"...":0,"errors":[{"message":"<any>","affectedItems":["cart"]}],"skipped":1}`},
		{"import", "POST", apitest.Import, imported, 200, `{"...":0,"created":1,"overwritten":1,"skipped":1}`},
		{"change a flag", "PATCH", apitest.Features + "/kept", `[{"op":"replace","path":"/description","value":"c"}]`, 200, `{"...":0,"description":"c"}`},
		{"revive", "POST", "/api/admin/archive/revive/old", "", 200, ""},
		{"move", "POST", apitest.Projects + "/other/features/moved/changeProject", `{"newProjectId":"default"}`, 200, ""},
	})
	for name, c := range map[string][2]string{
		"no regular expression": {`{"pattern":"shop-("}`, "/featureNaming/pattern"},
		"a lookahead":           {`{"pattern":"(?!shop)"}`, "/featureNaming/pattern"},
		"a large one":           {`{"pattern":"(\\pL{1000}){1000}"}`, "/featureNaming/pattern"},
		"another example":       {`{"pattern":"shop-.*","example":"my-shop-"}`, "/featureNaming/example"},
	} {
		s.Check(t, apitest.Call{name, "PUT", apitest.Project + "/settings", `{"featureNaming":` + c[0] + `}`, 400, apitest.Invalid(c[1])})
	}
	s.Must(t, "PUT", apitest.Project+"/settings", `{"featureNaming":{"pattern":null}}`)
	s.Create(t, "cart")
}

// TestFeatureLimit adds flags in every way to a project that has as many as it can have.
func TestFeatureLimit(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	limit := func(n string) { s.Must(t, "PUT", apitest.Project+"/settings", `{"featureLimit":`+n+`}`) }
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	s.Must(t, "POST", apitest.Projects+"/other/features", `{"name":"moved"}`)
	s.Create(t, "old", "a")
	s.Must(t, "DELETE", apitest.Features+"/old", "")
	limit("2")
	s.Create(t, "b")
	const message = `project "default" has 2 active flags, and its limit is 2`
	refused := apitest.Failure("ValidationError", message)
	imported := apitest.ImportOf(`"features":[{"name":"a","description":"imported"},{"name":"i"}]`)
	s.Run(t, []apitest.Call{
		{"create", "POST", apitest.Features, `{"name":"c"}`, 400, refused},
		{"clone", "POST", apitest.Features + "/a/clone", `{"name":"c"}`, 400, refused},
		{"revive", "POST", "/api/admin/archive/revive/old", "", 400, refused},
		{"revive several", "POST", apitest.Project + "/revive", `{"features":["old"]}`, 400, apitest.PartialFailure("ValidationError", "could not be revived", "0", message)},
		{"move", "POST", apitest.Projects + "/other/features/moved/changeProject", `{"newProjectId":"default"}`, 400, refused},
		{"move several", "POST", apitest.Projects + "/other/changeProject", `{"features":["moved"],"newProjectId":"default"}`, 400,
			apitest.PartialFailure("ValidationError", "could not be moved", "0", message)},
		{"validate an import", "POST", apitest.ValidateImport, imported, 200, `{"...":0,"errors":[{"message":"<any>","affectedItems":["i"]}],"skipped":1}`},
		{"import", "POST", apitest.Import, imported, 200, `{"...":0,"created":0,"overwritten":1,"skipped":1}`},
		{"change a flag", "PUT", apitest.Features + "/a", `{"description":"b"}`, 200, `{"...":0,"description":"b"}`},
		{"move within the project", "POST", apitest.Features + "/a/changeProject", `{"newProjectId":"default"}`, 200, ""},
		{"archive", "DELETE", apitest.Features + "/a", "", 202, ""},
		{"revive in its place", "POST", "/api/admin/archive/revive/old", "", 200, ""},
		{"create again", "POST", apitest.Features, `{"name":"c"}`, 400, refused},
	})
	limit("1")
	s.Check(t, apitest.Call{"a lower limit", "POST", apitest.Features, `{"name":"c"}`, 400, apitest.Failure("ValidationError", `has 2 active flags, and its limit is 1`)})
	limit("null")
	s.Create(t, "c", "d")
}

// TestFeatureLimitOfImports imports more flags than a project has room for: what is validated is what happens.
func TestFeatureLimitOfImports(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "a")
	s.Must(t, "PUT", apitest.Project+"/settings", `{"featureLimit":121}`)
	var names []string
	for i := range 150 {
		names = append(names, fmt.Sprintf(`{"name":"f%03d"}`, i))
	}
	data := `"features":[` + strings.Join(names, ",") + "]"
	s.Check(t, apitest.Call{"validate", "POST", apitest.ValidateImport, apitest.ImportOf(data), 200, `{"...":0,"skipped":30}`})
	if got := s.ImportHere(t, "{"+data+"}").Counts(); got != [4]int{120, 0, 0, 30} {
		t.Errorf("imported %v, want 120 created and 30 skipped", got)
	}
	if got := s.ImportHere(t, "{"+data+"}").Counts(); got != [4]int{0, 0, 120, 30} {
		t.Errorf("imported again %v, want 120 unchanged and 30 skipped", got)
	}
}

// TestFeatureLimitInParallel creates flags at the same time in a project that has room for some of them.
func TestFeatureLimitInParallel(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "a", "b")
	s.Must(t, "PUT", apitest.Project+"/settings", `{"featureLimit":10}`)
	s.WantParallel(t, map[int]int{201: 8, 400: 12}, 20, func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Features, Body: fmt.Sprintf(`{"name":"p%d"}`, i)}
	})
}
