package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

// awkward are valid names that are keywords of other languages, or look like parts of paths, numbers or routes.
var awkward = []string{
	"constructor", "__proto__", "toString", "null", "true", "~", "...", "-", "~0~1", "-1", "1e5", "set-sort-order", "environments", "on",
	strings.Repeat("n", 100),
}

// TestAwkwardNames calls every operation on a flag with each of these names, in a project and an environment with the same
// name.
func TestAwkwardNames(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for _, name := range awkward {
		s.Must(t, "POST", "/api/admin/environments", fmt.Sprintf(`{"name":%q,"type":%q}`, name, name))
		s.Must(t, "POST", "/api/admin/projects", fmt.Sprintf(`{"id":%q,"name":%q,"environments":[]}`, name, name))
		s.Must(t, "POST", "/api/admin/projects/"+name+"/environments", fmt.Sprintf(`{"environment":%q}`, name))
		on := subject{project: name, flag: name, environment: name}
		mine := fmt.Sprintf(`"project":%q`, name)
		flag := on.fill(ofFlag("", ""))[1:]
		s.Check(t, apitest.Call{"create", "POST", strings.TrimSuffix(flag, "/"+name), fmt.Sprintf(`{"name":%q}`, name), 201, apitest.Created(name, mine)})
		addStrategyAndVariants(t, s, &on)
		s.Check(t, apitest.Call{"read", "GET", flag, "", 200, fmt.Sprintf(`{"...":0,"name":%q,%s,"environments":[{"...":0,"name":%q}]}`, name, mine, name)})
		s.Check(t, apitest.Call{"in the list", "GET", strings.TrimSuffix(flag, "/"+name), "", 200, fmt.Sprintf(`{"version":2,"features":[{"...":0,"name":%q}]}`, name)})
		eachOperation(t, s, on)
	}
}

// eachOperation calls every operation with a path parameter on a subject. Operations that delete come last.
func eachOperation(t *testing.T, s *apitest.Server, on subject) {
	t.Helper()
	child := on
	newParent(t, s, &child)
	var last []apitest.Call
	for _, route := range protectedRoutes(t) {
		if !strings.Contains(route, "{") || byNumber(route) || route == "POST /api/admin/projects/{projectId}/environments" || strings.HasSuffix(route, "/changeProject") {
			continue // no path parameter, already called to create the subject, or moves the subject to another project
		}
		of := on
		if strings.Contains(route, "/dependencies") {
			of = child
		}
		if prepare := preparations[route]; prepare != nil && (strings.Contains(route, "{projectId}/api-tokens") || strings.Contains(route, "{signalName}") || strings.Contains(route, "{appName}") || strings.Contains(route, "/change-requests")) {
			prepare(t, s, &of)
		}
		if strings.Contains(route, "{planId}") || strings.Contains(route, "{milestoneId}") {
			of.flag = on.fill("{new}")
			s.Must(t, "POST", apitest.Projects+"/"+on.project+"/features", fmt.Sprintf(`{"name":%q}`, of.flag))
			preparations[route](t, s, &of)
		}
		if strings.HasPrefix(route, "DELETE "+manifest) { // it archives the flag, which ends its dependencies
			of.flag = on.fill("{new}")
			s.Must(t, "POST", apitest.Projects+"/"+on.project+"/features", fmt.Sprintf(`{"name":%q}`, of.flag))
		}
		if _, path, _ := strings.Cut(route, " "); strings.HasSuffix(path, "/{freezeId}") {
			of.kind = apitest.IDIn(s.Must(t, "POST", of.fill(strings.TrimSuffix(path, "/{freezeId}")), of.fill(aFreeze)).Body)
		}
		if c := of.call(route); c.Method == http.MethodDelete && !strings.Contains(route, "/change-requests") {
			last = append([]apitest.Call{c}, last...) // a strategy before its flag, whose route sorts first
		} else {
			s.Check(t, c)
		}
		if strings.HasSuffix(route, "{projectId}/archive") {
			s.Must(t, "POST", "/api/admin/archive/revive/"+on.flag, "")
		}
	}
	slices.SortStableFunc(last, func(a, b apitest.Call) int { // a tag before its flag
		return strings.Index(b.Path, "/tags/") - strings.Index(a.Path, "/tags/")
	})
	for _, c := range last {
		if c.Name == "DELETE /api/admin/projects/{projectId}" {
			archiveAll(t, s, on.project) // flags that earlier operations created
		}
		s.Check(t, c)
	}
}

// archiveAll archives every flag of a project.
func archiveAll(t *testing.T, s *apitest.Server, project string) {
	t.Helper()
	list := apitest.Projects + "/" + project + "/features"
	for _, f := range apitest.Decode[struct{ Features []struct{ Name string } }](t, s.Must(t, "GET", list, "").Body).Features {
		s.Must(t, "DELETE", list+"/"+f.Name, "")
	}
}

// byNumber reports whether a path has only an ID or a secret, as for users, roles, segments, addons and tokens. Types and context
// fields count too: they are not named after the flag.
func byNumber(route string) bool {
	if strings.Contains(route, "{contextField}") || strings.Contains(route, "/segments/{id}") || strings.Contains(route, "{addonId}") || strings.Contains(route, "{templateId}") {
		return true
	}
	if strings.Contains(route, "/{tagType}") && !strings.Contains(route, "{featureName}") || strings.Contains(route, "/{strategyType}") {
		return true
	}
	return !strings.Contains(route, "{projectId}") && (strings.Contains(route, "{userId}") || strings.Contains(route, "{roleId}") || strings.Contains(route, "oken"))
}

// TestNames checks which names are valid, in every operation that accepts one.
func TestNames(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	refused := []string{
		"", ".", "..", " ", "a b", "a/b", `a\\b`, "a%2Fb", "%2e%2e", "a:b", "a#b", "a?b", "a@b", "a+b", "a*b", "a\\u0000b", "a\\nb", "café", "ﬀ", "😀", "<a>",
		strings.Repeat("n", 101), strings.Repeat("n", 5000),
	}
	for _, name := range refused {
		for _, c := range []apitest.Call{
			{"flag", "POST", apitest.Features, `{"name":"` + name + `"}`, 400, apitest.Invalid("/name")},
			{"clone", "POST", apitest.Features + "/f/clone", `{"name":"` + name + `"}`, 400, apitest.Invalid("/name")},
			{"project", "POST", "/api/admin/projects", `{"id":"` + name + `"}`, 400, apitest.Invalid("/id")},
			{"environment", "POST", "/api/admin/environments", `{"name":"` + name + `","type":"test"}`, 400, apitest.Invalid("/name")},
			{"environment of a project", "POST", apitest.Project + "/environments", `{"environment":"` + name + `"}`, 400, apitest.Invalid("/environment")},
		} {
			s.Check(t, c)
		}
	}
	s.Check(t, apitest.Call{"nothing was created", "GET", apitest.Features, "", 200, `{"...":0,"features":[{"...":0,"name":"f"}]}`})
	for _, name := range []string{"A", "z", "0", "A-z_0.9~", strings.Repeat("N", 100)} {
		s.Check(t, apitest.Call{"a valid name", "POST", apitest.Features, fmt.Sprintf(`{"name":%q}`, name), 201, apitest.Created(name)})
	}
}
