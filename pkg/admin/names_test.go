package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
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
	s := serve(t)
	for _, name := range awkward {
		s.must(t, "POST", "/api/admin/environments", fmt.Sprintf(`{"name":%q,"type":%q}`, name, name))
		s.must(t, "POST", "/api/admin/projects", fmt.Sprintf(`{"id":%q,"name":%q,"environments":[]}`, name, name))
		s.must(t, "POST", "/api/admin/projects/"+name+"/environments", fmt.Sprintf(`{"environment":%q}`, name))
		on := subject{project: name, flag: name, environment: name}
		mine := fmt.Sprintf(`"project":%q`, name)
		flag := on.fill(ofFlag("", ""))[1:]
		s.check(t, call{"create", "POST", strings.TrimSuffix(flag, "/"+name), fmt.Sprintf(`{"name":%q}`, name), 201, subset(name, mine)})
		s.addStrategyAndVariants(t, &on)
		s.check(t, call{"read", "GET", flag, "", 200, fmt.Sprintf(`{"...":0,"name":%q,%s,"environments":[{"...":0,"name":%q}]}`, name, mine, name)})
		s.check(t, call{"in the list", "GET", strings.TrimSuffix(flag, "/"+name), "", 200, fmt.Sprintf(`{"version":2,"features":[{"...":0,"name":%q}]}`, name)})
		s.eachOperation(t, on)
	}
}

// eachOperation calls every operation with a path parameter on a subject. Operations that delete come last.
func (s *server) eachOperation(t *testing.T, on subject) {
	t.Helper()
	child := on
	s.newParent(t, &child)
	var last []call
	for _, route := range protectedRoutes(t) {
		if !strings.Contains(route, "{") || byNumber(route) || route == "POST /api/admin/projects/{projectId}/environments" || strings.HasSuffix(route, "/changeProject") {
			continue // no path parameter, already called to create the subject, or moves the subject to another project
		}
		of := on
		if strings.Contains(route, "/dependencies") {
			of = child
		}
		if prepare := preparations[route]; prepare != nil && (strings.Contains(route, "{projectId}/api-tokens") || strings.Contains(route, "{appName}") || strings.Contains(route, "/change-requests")) {
			prepare(s, t, &of)
		}
		if _, path, _ := strings.Cut(route, " "); strings.HasSuffix(path, "/{freezeId}") {
			of.kind = idIn(s.must(t, "POST", of.fill(strings.TrimSuffix(path, "/{freezeId}")), of.fill(aFreeze)).body)
		}
		if c := of.call(route); c.method == "DELETE" && !strings.Contains(route, "/change-requests") {
			last = append([]call{c}, last...) // a strategy before its flag, whose route sorts first
		} else {
			s.check(t, c)
		}
		if strings.HasSuffix(route, "{projectId}/archive") {
			s.must(t, "POST", "/api/admin/archive/revive/"+on.flag, "")
		}
	}
	slices.SortStableFunc(last, func(a, b call) int { // a tag before its flag
		return strings.Index(b.path, "/tags/") - strings.Index(a.path, "/tags/")
	})
	for _, c := range last {
		if c.name == "DELETE /api/admin/projects/{projectId}" {
			s.archiveAll(t, on.project) // flags that earlier operations created
		}
		s.check(t, c)
	}
}

// archiveAll archives every flag of a project.
func (s *server) archiveAll(t *testing.T, project string) {
	t.Helper()
	list := projects + "/" + project + "/features"
	for _, f := range decoded[struct{ Features []struct{ Name string } }](t, s.must(t, "GET", list, "").body).Features {
		s.must(t, "DELETE", list+"/"+f.Name, "")
	}
}

// byNumber reports whether a path has only an ID or a secret, as for users, roles, segments, addons and tokens. Types and context
// fields count too: they are not named after the flag.
func byNumber(route string) bool {
	if strings.Contains(route, "{contextField}") || strings.Contains(route, "/segments/{id}") || strings.Contains(route, "{addonId}") {
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
	s := serve(t)
	s.create(t, "f")
	refused := []string{
		"", ".", "..", " ", "a b", "a/b", `a\\b`, "a%2Fb", "%2e%2e", "a:b", "a#b", "a?b", "a@b", "a+b", "a*b", "a\\u0000b", "a\\nb", "café", "ﬀ", "😀", "<a>",
		strings.Repeat("n", 101), strings.Repeat("n", 5000),
	}
	for _, name := range refused {
		for _, c := range []call{
			{"flag", "POST", features, `{"name":"` + name + `"}`, 400, invalid("/name")},
			{"clone", "POST", features + "/f/clone", `{"name":"` + name + `"}`, 400, invalid("/name")},
			{"project", "POST", "/api/admin/projects", `{"id":"` + name + `"}`, 400, invalid("/id")},
			{"environment", "POST", "/api/admin/environments", `{"name":"` + name + `","type":"test"}`, 400, invalid("/name")},
			{"environment of a project", "POST", project + "/environments", `{"environment":"` + name + `"}`, 400, invalid("/environment")},
		} {
			s.check(t, c)
		}
	}
	s.check(t, call{"nothing was created", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"name":"f"}]}`})
	for _, name := range []string{"A", "z", "0", "A-z_0.9~", strings.Repeat("N", 100)} {
		s.check(t, call{"a valid name", "POST", features, fmt.Sprintf(`{"name":%q}`, name), 201, subset(name)})
	}
}
