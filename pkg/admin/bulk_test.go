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

// partialFailure is an error whose message contains part, with a detail for each flag that was not changed. details has
// pairs: the index of the flag in the list, and part of the reason.
func partialFailure(name, part string, details ...string) string {
	var list []string
	for i := 0; i < len(details); i += 2 {
		message, _ := json.Marshal("<has " + details[i+1] + ">")
		list = append(list, fmt.Sprintf(`{"path":"/features/%s","message":%s}`, details[i], message))
	}
	message, _ := json.Marshal("<has " + part + ">")
	return fmt.Sprintf(`{"id":"<uuid>","name":%q,"message":%s,"details":[%s]}`, name, message, strings.Join(list, ","))
}

// bulkEnvironment is the path that enables and disables many flags of "default" in an environment.
func bulkEnvironment(environment string) string {
	return project + "/bulk_features/environments/" + environment
}

func TestBulk(t *testing.T) {
	t.Parallel()
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
		{"no flags", "POST", project + "/archive", `{"features":[]}`, 202, ""},
		{"mark flags stale", "POST", project + "/stale", `{"features":["a","b","a"],"stale":true}`, 202, ""},
		{"mark stale flags stale", "POST", project + "/stale", `{"features":["a","b"],"stale":true}`, 202, ""},
		{"a flag is stale", "GET", features + "/b", "", 200, `{"...":0,"stale":true}`},
		{"some flags are not in the project", "POST", project + "/stale", `{"features":["a","elsewhere","b","nosuch","no such"],"stale":false}`, 404,
			partialFailure("NotFoundError", "3 of 5 flags could not be marked; the others were",
				"1", `no flag "elsewhere" in project "default"`, "3", `"nosuch"`, "4", `"no such"`)},
		{"the other flags were changed", "GET", features + "/b", "", 200, `{"...":0,"stale":false}`},
		{"details have the index in the body", "POST", project + "/stale", `{"features":["a","a","nosuch"],"stale":false}`, 404,
			partialFailure("NotFoundError", "1 of 2 flags", "2", `"nosuch"`)},
		{"one unknown flag", "POST", project + "/stale", `{"features":["nosuch"],"stale":false}`, 404, partialFailure("NotFoundError", `could not be marked: there is no flag "nosuch"`, "0", "nosuch")},
		{"no flag can be changed", "POST", project + "/stale", `{"features":["nosuch","old"],"stale":false}`, 404,
			partialFailure("NotFoundError", "none of the 2 flags could be marked", "0", "nosuch", "1", "is archived")},

		{"disable flags", "POST", bulkEnvironment("development") + "/off", `{"features":["a","b"]}`, 200, ""},
		{"enable flags, one without strategies", "POST", bulkEnvironment("development") + on, `{"features":["a","bare","b"]}`, 409,
			partialFailure("ConflictError", "1 of 3 flags could not be enabled", "1", "no strategies")},
		{"a flag is enabled", "GET", in("b", "development"), "", 200, `{"...":0,"enabled":true}`},
		{"two kinds of failures", "POST", bulkEnvironment("development") + on, `{"features":["a","bare","nosuch"]}`, 409,
			partialFailure("ConflictError", "2 of 3", "1", "no strategies", "2", "nosuch")},

		{"tag flags", "PUT", project + "/tags", `{"features":["a","b"],"tags":{"addedTags":[{"type":"simple","value":"x/y"}],"removedTags":[]}}`, 200, ""},
		{"a flag has the tag", "GET", "/api/admin/features/b/tags", "", 200, `{"version":1,"tags":[{"type":"simple","value":"x/y"}]}`},
		{"an unknown tag type", "PUT", project + "/tags", `{"features":["a","b"],"tags":{"addedTags":[{"type":"nosuch","value":"xy"}],"removedTags":[]}}`, 404, notFound(`tag type "nosuch"`)},
		{"remove tags", "PUT", project + "/tags", `{"features":["a"],"tags":{"addedTags":[],"removedTags":[{"type":"simple","value":"x/y"}]}}`, 200, ""},

		{"revive flags", "POST", project + "/revive", `{"features":["old","older","a"]}`, 200, ""},
		{"revive an unknown flag", "POST", project + "/revive", `{"features":["nosuch","old"]}`, 404, partialFailure("NotFoundError", "1 of 2 flags could not be revived", "0", "nosuch")},
		{"archive flags, one unknown", "POST", project + "/archive", `{"features":["old","nosuch","a"]}`, 404, partialFailure("NotFoundError", "1 of 3 flags could not be archived; the others were", "1", "nosuch")},
		{"archive again", "POST", project + "/archive", `{"features":["old","a"]}`, 202, ""},
		{"features is missing", "POST", project + "/archive", `{}`, 400, invalid("/features")},
		{"features is not a list", "POST", project + "/archive", `{"features":"a"}`, 400, anything},
		{"stale is missing", "POST", project + "/stale", `{"features":["b"]}`, 400, invalid("/stale")},
		{"tags is missing", "PUT", project + "/tags", `{"features":["b"]}`, 400, invalid("/tags")},
		{"an invalid tag", "PUT", project + "/tags", `{"features":["b"],"tags":{"addedTags":[{"type":"simple","value":"x"}],"removedTags":[]}}`, 400, invalid("/tags/addedTags/0/value")},
		{"too many flags", "POST", project + "/archive", `{"features":["b"` + strings.Repeat(`,"x"`, wire.MaxBulk) + `]}`, 400, invalid("/features")},
		{"an unknown project", "POST", projects + "/nosuch/archive", `{"features":["b"]}`, 404, notFound(`project "nosuch"`)},
		{"an unknown environment", "POST", bulkEnvironment("nosuch") + on, `{"features":["b"]}`, 404, notFound(`environment "nosuch"`)},
		{"deletion does not exist", "POST", project + "/delete", `{"features":["a"]}`, 404, notFound("never erased, and their names stay taken")},
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
		if got := strings.Trim(fmt.Sprint(s.events(t, flag)), "[]"); got != want {
			t.Errorf("events of %s: %s\nwant %s", flag, got, want)
		}
	}
}

// TestBulkParentsAndChildren archives flags that others depend on. That works if the request also names those, in any order.
func TestBulkParentsAndChildren(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "parent", "child", "sibling", "other", "independent")
	for _, child := range []string{"child", "sibling"} {
		s.must(t, "POST", features+"/"+child+"/dependencies", `{"feature":"parent"}`)
	}
	s.must(t, "POST", features+"/sibling/dependencies", `{"feature":"other"}`)
	validate := func(body string) call { return call{body, "POST", project + "/archive/validate", body, 200, ""} }
	alone, all, some := validate(`{"features":["parent","independent","nosuch"]}`), validate(`{"features":["parent","child","sibling","other"]}`), validate(`{"features":["independent"]}`)
	alone.want = `{"parentsWithChildFeatures":["parent"],"hasDeletedDependencies":true}`
	all.want = `{"parentsWithChildFeatures":[],"hasDeletedDependencies":true}`
	some.want = `{"parentsWithChildFeatures":[],"hasDeletedDependencies":false}`
	s.run(t, []call{
		alone, all, some,
		{"a parent without its children", "POST", project + "/archive", `{"features":["independent","parent"]}`, 409, partialFailure("ConflictError", "1 of 2 flags could not be archived", "1", "(child, sibling)")},
		{"a parent with one of two children", "POST", project + "/archive", `{"features":["parent","child"]}`, 409, partialFailure("ConflictError", "1 of 2 flags could not be archived", "0", "sibling depends on it")},
		{"a parent with all children", "POST", project + "/archive", `{"features":["other","parent","sibling"]}`, 202, ""},
		{"no active flags are left", "GET", features, "", 200, `{"version":2,"features":[]}`},
	})
	for _, flag := range []string{"parent", "child", "sibling", "other", "independent"} {
		s.wantEvents(t, flag, flags.FeatureArchived, 1)
	}
}

// TestBulkBudget counts the DynamoDB calls for 100 flags: two loads, a transaction per flag, and one load of the feed after 32,
// 64 and 96 changes.
func TestBulkBudget(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	var names []string
	for i := range wire.MaxBulk {
		names = append(names, fmt.Sprintf("f-%d", i))
	}
	s.create(t, names...)
	list, _ := json.Marshal(names)
	body := fmt.Sprintf(`{"features":%s,"stale":true}`, list)
	for _, want := range []map[string]int{{"BatchGetItem": 5, "TransactWriteItems": wire.MaxBulk}, {"BatchGetItem": 2}} {
		got := map[string]int{}
		for _, operation := range count.during(func() { s.must(t, "POST", project+"/stale", body) }) {
			got[operation]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("calls %v, want %v", got, want)
		}
	}
	s.check(t, call{"all flags are stale", "GET", project, "", 200, `{"...":0,"health":0}`})
}
