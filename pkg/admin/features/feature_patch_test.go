package features_test

import (
	"slices"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

func TestPatchFeature(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	f := apitest.Features + "/f"
	s.Run(t, []apitest.Call{
		{"replace", "PATCH", f, `[{"op":"replace","path":"/description","value":"d"}]`, 200, apitest.Created("f", `"description":"d"`)},
		{"add to an existing field", "PATCH", f, `[{"op":"add","path":"/description","value":"e"}]`, 200, apitest.Created("f", `"description":"e"`)},
		{"replace by null", "PATCH", f, `[{"op":"replace","path":"/description","value":null}]`, 200, apitest.Created("f", `"description":null`)},
		{"copy", "PATCH", f, `[{"op":"copy","from":"/name","path":"/description"}]`, 200, apitest.Created("f", `"description":"f"`)},
		{"remove resets to the default", "PATCH", f, `[{"op":"remove","path":"/description"}]`, 200, apitest.Created("f")},
		{"move resets the source to the default", "PATCH", f,
			`[{"op":"replace","path":"/type","value":"experiment"},{"op":"move","from":"/type","path":"/description"}]`, 200, apitest.Created("f", `"description":"experiment"`)},
		{"a test that passes", "PATCH", f, `[{"op":"test","path":"/stale","value":false},{"op":"replace","path":"/type","value":"operational"}]`, 200,
			apitest.Created("f", `"description":"experiment"`, `"type":"operational"`)},
		{"mark stale", "PATCH", f, `[{"op":"replace","path":"/stale","value":true}]`, 200, `{"...":0,"stale":true}`},
		{"mark not stale", "PATCH", f, `[{"op":"replace","path":"/stale","value":false}]`, 200, `{"...":0,"stale":false}`},
		{"set impression data", "PATCH", f, `[{"op":"replace","path":"/impressionData","value":true}]`, 200, `{"...":0,"impressionData":true}`},
		{"several operations", "PATCH", f, `[{"op":"remove","path":"/impressionData"},{"op":"remove","path":"/type"},{"op":"remove","path":"/description"}]`, 200, apitest.Created("f")},
		{"no operations", "PATCH", f, `[]`, 200, apitest.Created("f")},
		{"unknown fields of an operation are ignored", "PATCH", f, `[{"op":"test","path":"/name","value":"f","why":"x"}]`, 200, apitest.Created("f")},
	})
	got := slices.DeleteFunc(s.Events(t, "f"), func(e flags.EventType) bool { return e == flags.FeatureStaleOn || e == flags.FeatureStaleOff })
	if want := 10; len(got) != want || slices.ContainsFunc(got[1:], func(e flags.EventType) bool { return e != flags.FeatureMetadataUpdated }) {
		t.Errorf("%d events, %q; want %d, all but the first a metadata update", len(got), got, want)
	}
}

// TestPatchFeatureImmutable patches fields that a patch can test and copy but not change.
func TestPatchFeatureImmutable(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	f := apitest.Features + "/f"
	var calls []apitest.Call
	for _, member := range []string{"name", "project", "createdAt", "lastSeen", "lastSeenAt", "archived"} {
		calls = append(calls,
			apitest.Call{"replace " + member, "PATCH", f, `[{"op":"replace","path":"/` + member + `","value":"other"}]`, 400, apitest.Invalid("/0/path")},
			apitest.Call{"to a value of another type " + member, "PATCH", f, `[{"op":"add","path":"/` + member + `","value":{"x":[1]}}]`, 400, apitest.Invalid("/0/path")},
			apitest.Call{"move " + member, "PATCH", f, `[{"op":"move","from":"/` + member + `","path":"/description"}]`, 400, apitest.Invalid("/0/from")},
			apitest.Call{"copy to " + member, "PATCH", f, `[{"op":"copy","from":"/description","path":"/` + member + `"}]`, 400, apitest.Invalid("/0/path")},
			apitest.Call{"remove " + member, "PATCH", f, `[{"op":"remove","path":"/` + member + `"}]`, 400, apitest.Faulty("/0/path: a patch cannot change the " + member)})
	}
	s.Unchanged(t, "f", append(calls,
		apitest.Call{"test", "PATCH", f, `[{"op":"test","path":"/archived","value":false}]`, 200, apitest.Created("f")}))
}

func TestPatchFeatureRejected(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	f := apitest.Features + "/f"
	calls := []apitest.Call{
		{"a value that is not allowed", "PATCH", f, `[{"op":"replace","path":"/type","value":"nosuch"}]`, 400, apitest.Invalid("/type")},
		{"a value of another type", "PATCH", f, `[{"op":"replace","path":"/description","value":5}]`, 400, apitest.Invalid("/description")},
		{"null for a boolean", "PATCH", f, `[{"op":"replace","path":"/stale","value":null}]`, 400, apitest.Invalid("/stale")},
		{"move a string to a boolean", "PATCH", f, `[{"op":"move","from":"/type","path":"/stale"}]`, 400, apitest.Invalid("/stale")},
		{"a change before a failing test", "PATCH", f,
			`[{"op":"replace","path":"/description","value":"half"},{"op":"test","path":"/type","value":"experiment"}]`, 400, apitest.Malformed("nothing was changed")},
		{"a change before an invalid operation", "PATCH", f,
			`[{"op":"replace","path":"/description","value":"half"},{"op":"replace","path":"/type","value":"nosuch"}]`, 400, apitest.Invalid("/type")},
		{"a test that fails", "PATCH", f, `[{"op":"test","path":"/stale","value":true}]`, 400, apitest.Malformed("cannot be applied")},
		{"a path below a string", "PATCH", f, `[{"op":"add","path":"/description/0","value":"x"}]`, 400, apitest.Malformed("cannot be applied")},
		{"an object", "PATCH", f, `{"op":"replace","path":"/description","value":"x"}`, 400, apitest.Invalid("")},
		{"an operation that is not an object", "PATCH", f, `[[]]`, 400, apitest.Invalid("/0")},
		{"no op", "PATCH", f, `[{"path":"/description","value":"x"}]`, 400, apitest.Invalid("/0/op")},
		{"an unknown op", "PATCH", f, `[{"op":"test","path":"/name","value":"f"},{"op":"spell","path":"/description"}]`, 400, apitest.Invalid("/1/op")},
		{"an op in another case", "PATCH", f, `[{"op":"Replace","path":"/description","value":"x"}]`, 400, apitest.Invalid("/0/op")},
		{"no path", "PATCH", f, `[{"op":"replace","value":"x"}]`, 400, apitest.Invalid("/0/path")},
		{"a path without its slash", "PATCH", f, `[{"op":"replace","path":"description","value":"x"}]`, 400, apitest.Invalid("/0/path")},
		{"the whole document", "PATCH", f, `[{"op":"replace","path":"","value":{"description":"x"}}]`, 400, apitest.Invalid("/0/path")},
		{"the field without a name", "PATCH", f, `[{"op":"replace","path":"/","value":{"description":"x"}}]`, 400, apitest.Invalid("/0/path")},
		{"copy the whole document", "PATCH", f, `[{"op":"copy","from":"","path":"/description"}]`, 400, apitest.Invalid("/0/from")},
		{"no from", "PATCH", f, `[{"op":"move","path":"/description"}]`, 400, apitest.Invalid("/0/from")},
		{"no value", "PATCH", f, `[{"op":"add","path":"/description"}]`, 400, apitest.Invalid("/0/value")},
	}
	for _, path := range []string{
		"/environments", "/environments/0/enabled", "/strategies/-", "/variants/0", "/tags", "/favorite", "/nosuch", "/archivedAt",
		"/enabled", "/Description", "/desc~1ription", "/__proto__/x", "/constructor",
	} {
		calls = append(calls,
			apitest.Call{"path " + path, "PATCH", f, `[{"op":"add","path":"` + path + `","value":true}]`, 400, apitest.Invalid("/0/path")},
			apitest.Call{"removed path " + path, "PATCH", f, `[{"op":"remove","path":"` + path + `"}]`, 400, apitest.Invalid("/0/path")},
			apitest.Call{"from " + path, "PATCH", f, `[{"op":"copy","from":"` + path + `","path":"/description"}]`, 400, apitest.Invalid("/0/from")})
	}
	s.Unchanged(t, "f", calls)
}
