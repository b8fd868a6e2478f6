package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/admin/wire"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// undone is an error whose message has part in it, with a detail for each flag that could not be done: its place in
// the list, and a part of why.
func undone(name, part string, details ...string) string {
	var list []string
	for i := 0; i < len(details); i += 2 {
		message, _ := json.Marshal("<has " + details[i+1] + ">")
		list = append(list, fmt.Sprintf(`{"path":"/features/%s","message":%s}`, details[i], message))
	}
	message, _ := json.Marshal("<has " + part + ">")
	return fmt.Sprintf(`{"id":"<uuid>","name":%q,"message":%s,"details":[%s]}`, name, message, strings.Join(list, ","))
}

// switching is where many flags of "default" are switched in an environment.
func switching(environment string) string {
	return project + "/bulk_features/environments/" + environment
}

func TestBulk(t *testing.T) {
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.enabled(t, "a", "b")
	s.create(t, "bare", "old", "older")
	s.must(t, "DELETE", features+"/old", "")
	s.must(t, "DELETE", features+"/older", "")
	s.must(t, "POST", projects, aShop)
	s.must(t, "POST", projects+"/shop/features", `{"name":"elsewhere"}`)
	const on = "/on"
	s.run(t, []call{
		{"none", "POST", project + "/archive", `{"features":[]}`, 202, ""},
		{"stale", "POST", project + "/stale", `{"features":["a","b","a"],"stale":true}`, 202, ""},
		{"stale, and it is so", "POST", project + "/stale", `{"features":["a","b"],"stale":true}`, 202, ""},
		{"said of the flag", "GET", features + "/b", "", 200, `{"...":0,"stale":true}`},
		{"some are elsewhere", "POST", project + "/stale", `{"features":["a","elsewhere","b","nosuch","no such"],"stale":false}`, 404,
			undone("NotFoundError", "3 of 5 flags could not be marked; the others were",
				"1", `no flag "elsewhere" in project "default"`, "3", `"nosuch"`, "4", `"no such"`)},
		{"the others were", "GET", features + "/b", "", 200, `{"...":0,"stale":false}`},
		{"the place is that in the body", "POST", project + "/stale", `{"features":["a","a","nosuch"],"stale":false}`, 404,
			undone("NotFoundError", "1 of 2 flags", "2", `"nosuch"`)},
		{"one", "POST", project + "/stale", `{"features":["nosuch"],"stale":false}`, 404, undone("NotFoundError", `could not be marked: there is no flag "nosuch"`, "0", "nosuch")},
		{"none of all", "POST", project + "/stale", `{"features":["nosuch","old"],"stale":false}`, 404,
			undone("NotFoundError", "none of the 2 flags could be marked", "0", "nosuch", "1", "is archived")},

		{"off", "POST", switching("development") + "/off", `{"features":["a","b"]}`, 200, ""},
		{"on", "POST", switching("development") + on, `{"features":["a","bare","b"]}`, 409,
			undone("ConflictError", "1 of 3 flags could not be enabled", "1", "no strategies")},
		{"is on", "GET", in("b", "development"), "", 200, `{"...":0,"enabled":true}`},
		{"failures of two kinds", "POST", switching("development") + on, `{"features":["a","bare","nosuch"]}`, 409,
			undone("ConflictError", "2 of 3", "1", "no strategies", "2", "nosuch")},

		{"tags", "PUT", project + "/tags", `{"features":["a","b"],"tags":{"addedTags":[{"type":"simple","value":"x/y"}],"removedTags":[]}}`, 200, ""},
		{"are there", "GET", "/api/admin/features/b/tags", "", 200, `{"version":1,"tags":[{"type":"simple","value":"x/y"}]}`},
		{"tags of no type", "PUT", project + "/tags", `{"features":["a","b"],"tags":{"addedTags":[{"type":"nosuch","value":"xy"}],"removedTags":[]}}`, 404, notFound(`tag type "nosuch"`)},
		{"tags taken away", "PUT", project + "/tags", `{"features":["a"],"tags":{"addedTags":[],"removedTags":[{"type":"simple","value":"x/y"}]}}`, 200, ""},

		{"revive", "POST", project + "/revive", `{"features":["old","older","a"]}`, 200, ""},
		{"revive what is nowhere", "POST", project + "/revive", `{"features":["nosuch","old"]}`, 404, undone("NotFoundError", "1 of 2 flags could not be revived", "0", "nosuch")},
		{"archive", "POST", project + "/archive", `{"features":["old","nosuch","a"]}`, 404, undone("NotFoundError", "1 of 3 flags could not be archived; the others were", "1", "nosuch")},
		{"archive again", "POST", project + "/archive", `{"features":["old","a"]}`, 202, ""},
		{"no flags", "POST", project + "/archive", `{}`, 400, invalid("/features")},
		{"flags that are no list", "POST", project + "/archive", `{"features":"a"}`, 400, anything},
		{"not said what", "POST", project + "/stale", `{"features":["b"]}`, 400, invalid("/stale")},
		{"no tags", "PUT", project + "/tags", `{"features":["b"]}`, 400, invalid("/tags")},
		{"bad tags", "PUT", project + "/tags", `{"features":["b"],"tags":{"addedTags":[{"type":"simple","value":"x"}],"removedTags":[]}}`, 400, invalid("/tags/addedTags/0/value")},
		{"too many", "POST", project + "/archive", `{"features":["b"` + strings.Repeat(`,"x"`, wire.MaxBulk) + `]}`, 400, invalid("/features")},
		{"no project", "POST", projects + "/nosuch/archive", `{"features":["b"]}`, 404, notFound(`project "nosuch"`)},
		{"no environment", "POST", switching("nosuch") + on, `{"features":["b"]}`, 404, notFound(`environment "nosuch"`)},
		{"no deletion", "POST", project + "/delete", `{"features":["a"]}`, 404, notFound("")},
	})
	for flag, want := range map[string]string{
		"a": "feature-created feature-strategy-add feature-environment-enabled feature-metadata-updated feature-stale-on feature-metadata-updated feature-stale-off " +
			"feature-environment-disabled feature-environment-enabled feature-tagged feature-untagged feature-archived",
		"b": "feature-created feature-strategy-add feature-environment-enabled feature-metadata-updated feature-stale-on feature-metadata-updated feature-stale-off " +
			"feature-environment-disabled feature-environment-enabled feature-tagged",
		"bare":      "feature-created",
		"old":       "feature-created feature-archived feature-revived feature-archived",
		"older":     "feature-created feature-archived feature-revived",
		"elsewhere": "feature-created",
	} {
		if got := strings.Trim(fmt.Sprint(s.events(t, flag)), "[]"); got != want {
			t.Errorf("events of %s: %s\nwant %s", flag, got, want)
		}
	}
}

// TestBulkParentsAndChildren archives flags that others depend on: with these they can go, in any order.
func TestBulkParentsAndChildren(t *testing.T) {
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "parent", "child", "sister", "other", "lonely")
	for _, child := range []string{"child", "sister"} {
		s.must(t, "POST", features+"/"+child+"/dependencies", `{"feature":"parent"}`)
	}
	s.must(t, "POST", features+"/sister/dependencies", `{"feature":"other"}`)
	ask := func(body string) call { return call{body, "POST", project + "/archive/validate", body, 200, ""} }
	alone, all, some := ask(`{"features":["parent","lonely","nosuch"]}`), ask(`{"features":["parent","child","sister","other"]}`), ask(`{"features":["lonely"]}`)
	alone.want = `{"parentsWithChildFeatures":["parent"],"hasDeletedDependencies":true}`
	all.want = `{"parentsWithChildFeatures":[],"hasDeletedDependencies":true}`
	some.want = `{"parentsWithChildFeatures":[],"hasDeletedDependencies":false}`
	s.run(t, []call{
		alone, all, some,
		{"a parent by itself", "POST", project + "/archive", `{"features":["lonely","parent"]}`, 409, undone("ConflictError", "1 of 2 flags could not be archived", "1", "(child, sister)")},
		{"and with one child", "POST", project + "/archive", `{"features":["parent","child"]}`, 409, undone("ConflictError", "1 of 2 flags could not be archived", "0", "(sister)")},
		{"all of them", "POST", project + "/archive", `{"features":["other","parent","sister"]}`, 202, ""},
		{"are gone", "GET", features, "", 200, `{"version":2,"features":[]}`},
	})
	for _, flag := range []string{"parent", "child", "sister", "other", "lonely"} {
		s.wantEvents(t, flag, flags.FeatureArchived, 1)
	}
}

// TestBulkBudget counts the calls for a hundred flags: two loads, and a transaction for each.
func TestBulkBudget(t *testing.T) {
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	var names []string
	for i := range wire.MaxBulk {
		names = append(names, fmt.Sprintf("f-%d", i))
	}
	s.create(t, names...)
	list, _ := json.Marshal(names)
	body := fmt.Sprintf(`{"features":%s,"stale":true}`, list)
	for _, want := range []map[string]int{{"BatchGetItem": 2, "TransactWriteItems": wire.MaxBulk}, {"BatchGetItem": 2}} {
		got := map[string]int{}
		for _, operation := range count.during(func() { s.must(t, "POST", project+"/stale", body) }) {
			got[operation]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("calls %v, want %v", got, want)
		}
	}
	s.check(t, call{"all of them", "GET", project, "", 200, `{"...":0,"health":0}`})
}
