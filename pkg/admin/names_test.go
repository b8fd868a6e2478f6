package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// awkward are names that are words of other languages, or look like parts of paths, numbers or routes.
var awkward = []string{
	"constructor", "__proto__", "toString", "null", "true", "~", "...", "-", "~0~1", "-1", "1e5", "set-sort-order", "environments", "on",
	strings.Repeat("n", 100),
}

// TestAwkwardNames calls every operation on a flag of each such name, in a project and an environment of that name too.
func TestAwkwardNames(t *testing.T) {
	s := serve(t)
	for _, name := range awkward {
		s.must(t, "POST", "/api/admin/environments", fmt.Sprintf(`{"name":%q,"type":%q}`, name, name))
		s.must(t, "POST", "/api/admin/projects", fmt.Sprintf(`{"id":%q,"name":%q,"environments":[]}`, name, name))
		s.must(t, "POST", "/api/admin/projects/"+name+"/environments", fmt.Sprintf(`{"environment":%q}`, name))
		on := subject{project: name, flag: name, environment: name}
		mine := fmt.Sprintf(`"project":%q`, name)
		flag := on.fill(ofFlag("", ""))[1:]
		s.check(t, call{"create", "POST", strings.TrimSuffix(flag, "/"+name), fmt.Sprintf(`{"name":%q}`, name), 201, subset(name, mine)})
		s.furnish(t, &on)
		s.check(t, call{"read", "GET", flag, "", 200, fmt.Sprintf(`{"...":0,"name":%q,%s,"environments":[{"...":0,"name":%q}]}`, name, mine, name)})
		s.check(t, call{"in the list", "GET", strings.TrimSuffix(flag, "/"+name), "", 200, fmt.Sprintf(`{"version":2,"features":[{"...":0,"name":%q}]}`, name)})
		s.eachOperation(t, on)
	}
}

// eachOperation calls every operation whose path names something on a subject, those that delete last.
func (s *server) eachOperation(t *testing.T, on subject) {
	t.Helper()
	child := on
	s.ownParent(t, &child)
	var last []call
	for _, route := range guarded(t) {
		if !strings.Contains(route, "{") || byNumber(route) || route == "POST /api/admin/projects/{projectId}/environments" || strings.HasSuffix(route, "/changeProject") {
			continue // it names nothing, or is done already for the subject to be there, or would take it elsewhere
		}
		of := on
		if strings.Contains(route, "/dependencies") {
			of = child
		}
		if prepare := apart[route]; prepare != nil && strings.Contains(route, "{projectId}/api-tokens") {
			prepare(s, t, &of)
		}
		if c := of.call(route); c.method == "DELETE" {
			last = append([]call{c}, last...) // a strategy before its flag, which sorts before it
		} else {
			s.check(t, c)
		}
		if strings.HasSuffix(route, "{projectId}/archive") {
			s.must(t, "POST", "/api/admin/archive/revive/"+on.flag, "")
		}
	}
	slices.SortStableFunc(last, func(a, b call) int { // a tag before its flag, too
		return strings.Index(b.path, "/tags/") - strings.Index(a.path, "/tags/")
	})
	for _, c := range last {
		if c.name == "DELETE /api/admin/projects/{projectId}" {
			s.archiveAll(t, on.project) // what the operations before have made
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

// byNumber tells whether a path names something by its number or secret alone: users, roles, segments and tokens have names,
// but not in paths. Types and context fields are none of a flag's names either.
func byNumber(route string) bool {
	if strings.Contains(route, "{contextField}") || strings.Contains(route, "/segments/{id}") {
		return true
	}
	if strings.Contains(route, "/{tagType}") && !strings.Contains(route, "{featureName}") || strings.Contains(route, "/{strategyType}") {
		return true
	}
	return !strings.Contains(route, "{projectId}") && (strings.Contains(route, "{userId}") || strings.Contains(route, "{roleId}") || strings.Contains(route, "oken"))
}

// TestNames is about which names are names, wherever one is given.
func TestNames(t *testing.T) {
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
	s.check(t, call{"nothing was made", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"name":"f"}]}`})
	for _, name := range []string{"A", "z", "0", "A-z_0.9~", strings.Repeat("N", 100)} {
		s.check(t, call{"a name", "POST", features, fmt.Sprintf(`{"name":%q}`, name), 201, subset(name)})
	}
}
