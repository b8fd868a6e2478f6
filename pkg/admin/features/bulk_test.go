package features_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/admin/wire"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestBulk(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateEnabled(t, "a", "b")
	s.Create(t, "bare", "old", "older")
	s.Must(t, "DELETE", apitest.Features+"/old", "")
	s.Must(t, "DELETE", apitest.Features+"/older", "")
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"elsewhere"}`)
	const on = "/on"
	s.Run(t, []apitest.Call{
		{"no flags", "POST", apitest.Project + "/archive", `{"features":[]}`, 202, ""},
		{"mark flags stale", "POST", apitest.Project + "/stale", `{"features":["a","b","a"],"stale":true}`, 202, ""},
		{"mark stale flags stale", "POST", apitest.Project + "/stale", `{"features":["a","b"],"stale":true}`, 202, ""},
		{"a flag is stale", "GET", apitest.Features + "/b", "", 200, `{"...":0,"stale":true}`},
		{"some flags are not in the project", "POST", apitest.Project + "/stale", `{"features":["a","elsewhere","b","nosuch","no such"],"stale":false}`, 404,
			apitest.PartialFailure("NotFoundError", "3 of 5 flags could not be marked; the others were",
				"1", `no flag "elsewhere" in project "default"`, "3", `"nosuch"`, "4", `"no such"`)},
		{"the other flags were changed", "GET", apitest.Features + "/b", "", 200, `{"...":0,"stale":false}`},
		{"details have the index in the body", "POST", apitest.Project + "/stale", `{"features":["a","a","nosuch"],"stale":false}`, 404,
			apitest.PartialFailure("NotFoundError", "1 of 2 flags", "2", `"nosuch"`)},
		{"one unknown flag", "POST", apitest.Project + "/stale", `{"features":["nosuch"],"stale":false}`, 404, apitest.PartialFailure("NotFoundError", `could not be marked: there is no flag "nosuch"`, "0", "nosuch")},
		{"no flag can be changed", "POST", apitest.Project + "/stale", `{"features":["nosuch","old"],"stale":false}`, 404,
			apitest.PartialFailure("NotFoundError", "none of the 2 flags could be marked", "0", "nosuch", "1", "is archived")},

		{"disable flags", "POST", apitest.BulkEnvironment("development") + "/off", `{"features":["a","b"]}`, 200, ""},
		{"enable flags, one without strategies", "POST", apitest.BulkEnvironment("development") + on, `{"features":["a","bare","b"]}`, 409,
			apitest.PartialFailure("ConflictError", "1 of 3 flags could not be enabled", "1", "no strategies")},
		{"a flag is enabled", "GET", apitest.In("b", "development"), "", 200, `{"...":0,"enabled":true}`},
		{"two kinds of failures", "POST", apitest.BulkEnvironment("development") + on, `{"features":["a","bare","nosuch"]}`, 409,
			apitest.PartialFailure("ConflictError", "2 of 3", "1", "no strategies", "2", "nosuch")},

		{"tag flags", "PUT", apitest.Project + "/tags", `{"features":["a","b"],"tags":{"addedTags":[{"type":"simple","value":"x/y"}],"removedTags":[]}}`, 200, ""},
		{"a flag has the tag", "GET", "/api/admin/features/b/tags", "", 200, `{"version":1,"tags":[{"type":"simple","value":"x/y"}]}`},
		{"an unknown tag type", "PUT", apitest.Project + "/tags", `{"features":["a","b"],"tags":{"addedTags":[{"type":"nosuch","value":"xy"}],"removedTags":[]}}`, 404, apitest.NotFound(`tag type "nosuch"`)},
		{"remove tags", "PUT", apitest.Project + "/tags", `{"features":["a"],"tags":{"addedTags":[],"removedTags":[{"type":"simple","value":"x/y"}]}}`, 200, ""},

		{"revive flags", "POST", apitest.Project + "/revive", `{"features":["old","older","a"]}`, 200, ""},
		{"revive an unknown flag", "POST", apitest.Project + "/revive", `{"features":["nosuch","old"]}`, 404, apitest.PartialFailure("NotFoundError", "1 of 2 flags could not be revived", "0", "nosuch")},
		{"archive flags, one unknown", "POST", apitest.Project + "/archive", `{"features":["old","nosuch","a"]}`, 404, apitest.PartialFailure("NotFoundError", "1 of 3 flags could not be archived; the others were", "1", "nosuch")},
		{"archive again", "POST", apitest.Project + "/archive", `{"features":["old","a"]}`, 202, ""},
		{"features is missing", "POST", apitest.Project + "/archive", `{}`, 400, apitest.Invalid("/features")},
		{"features is not a list", "POST", apitest.Project + "/archive", `{"features":"a"}`, 400, apitest.Anything},
		{"stale is missing", "POST", apitest.Project + "/stale", `{"features":["b"]}`, 400, apitest.Invalid("/stale")},
		{"tags is missing", "PUT", apitest.Project + "/tags", `{"features":["b"]}`, 400, apitest.Invalid("/tags")},
		{"an invalid tag", "PUT", apitest.Project + "/tags", `{"features":["b"],"tags":{"addedTags":[{"type":"simple","value":"x"}],"removedTags":[]}}`, 400, apitest.Invalid("/tags/addedTags/0/value")},
		{"too many flags", "POST", apitest.Project + "/archive", `{"features":["b"` + strings.Repeat(`,"x"`, wire.MaxBulk) + `]}`, 400, apitest.Invalid("/features")},
		{"deletion does not exist", "POST", apitest.Project + "/delete", `{"features":["a"]}`, 404, apitest.NotFound("never erased, and their names stay taken")},
	})
	for flag, want := range map[string]string{
		"a": "feature-created feature-strategy-add feature-environment-enabled feature-stale-on feature-stale-off " +
			"feature-environment-disabled feature-environment-enabled feature-tagged feature-untagged feature-archived",
		"b": "feature-created feature-strategy-add feature-environment-enabled feature-stale-on feature-stale-off " +
			"feature-environment-disabled feature-environment-enabled feature-tagged",
		"bare":      "feature-created",
		"old":       "feature-created feature-archived feature-revived feature-archived",
		"older":     "feature-created feature-archived feature-revived",
		"elsewhere": "feature-created",
	} {
		if got := strings.Trim(fmt.Sprint(s.Events(t, flag)), "[]"); got != want {
			t.Errorf("events of %s: %s\nwant %s", flag, got, want)
		}
	}
}

// TestBulkParentsAndChildren archives flags that others depend on. That works if the request also names those, in any order.
func TestBulkParentsAndChildren(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "parent", "child", "sibling", "other", "independent")
	for _, child := range []string{"child", "sibling"} {
		s.Must(t, "POST", apitest.Features+"/"+child+"/dependencies", `{"feature":"parent"}`)
	}
	s.Must(t, "POST", apitest.Features+"/sibling/dependencies", `{"feature":"other"}`)
	validate := func(body string) apitest.Call {
		return apitest.Call{body, "POST", apitest.Project + "/archive/validate", body, 200, ""}
	}
	alone, all, some := validate(`{"features":["parent","independent","nosuch"]}`), validate(`{"features":["parent","child","sibling","other"]}`), validate(`{"features":["independent"]}`)
	alone.Want = `{"parentsWithChildFeatures":["parent"],"hasDeletedDependencies":true}`
	all.Want = `{"parentsWithChildFeatures":[],"hasDeletedDependencies":true}`
	some.Want = `{"parentsWithChildFeatures":[],"hasDeletedDependencies":false}`
	s.Run(t, []apitest.Call{
		alone, all, some,
		{"a parent without its children", "POST", apitest.Project + "/archive", `{"features":["independent","parent"]}`, 409, apitest.PartialFailure("ConflictError", "1 of 2 flags could not be archived", "1", "(child, sibling)")},
		{"a parent with one of two children", "POST", apitest.Project + "/archive", `{"features":["parent","child"]}`, 409, apitest.PartialFailure("ConflictError", "1 of 2 flags could not be archived", "0", "sibling depends on it")},
		{"a parent with all children", "POST", apitest.Project + "/archive", `{"features":["other","parent","sibling"]}`, 202, ""},
		{"no active flags are left", "GET", apitest.Features, "", 200, `{"version":2,"features":[]}`},
	})
	for _, flag := range []string{"parent", "child", "sibling", "other", "independent"} {
		s.WantEvents(t, flag, flags.FeatureArchived, 1)
	}
}

// TestBulkBudget counts the DynamoDB calls for 100 flags: two loads, a transaction per flag, and one load of the feed after 32,
// 64 and 96 changes.
func TestBulkBudget(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	var names []string
	for i := range wire.MaxBulk {
		names = append(names, fmt.Sprintf("f-%d", i))
	}
	s.Create(t, names...)
	list, _ := json.Marshal(names)
	body := fmt.Sprintf(`{"features":%s,"stale":true}`, list)
	for _, want := range []map[string]int{{"BatchGetItem": 5, "TransactWriteItems": wire.MaxBulk}, {"BatchGetItem": 2}} {
		got := map[string]int{}
		for _, operation := range count.During(func() { s.Must(t, "POST", apitest.Project+"/stale", body) }) {
			got[operation]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("calls %v, want %v", got, want)
		}
	}
	s.Check(t, apitest.Call{"all flags are stale", "GET", apitest.Project, "", 200, `{"...":0,"health":0}`})
}
