package admin_test

import (
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

// TestPatchBounds sends patches that exceed a limit. Each gets a 4xx and changes nothing.
func TestPatchBounds(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	on := newSubject(t, s)
	repeat := func(n int, operation string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(operation+",", n), ",") + "]"
	}
	// Each copy doubles the document. 40 of them would be a terabyte.
	bomb := func(seed, from, to string) string {
		return `[{"op":"add","path":"` + from + `","value":` + seed + `},` + strings.TrimPrefix(repeat(200, `{"op":"copy","from":"`+from+`","path":"`+to+`"}`), "[")
	}
	text := `"` + strings.Repeat("x", 100_000) + `"`
	metadata, strategy := on.call(ofFlag("PATCH", "")), on.call(inEnvironment("PATCH", "/strategies/{strategyId}"))
	inOne, inAll := on.call(inEnvironment("PATCH", "/variants")), on.call(ofFlag("PATCH", "/variants"))
	with := func(c apitest.Call, name, body, want string) apitest.Call {
		c.Name, c.Body, c.Status, c.Want = name, body, 400, want
		return c
	}
	var calls []apitest.Call
	for _, c := range []apitest.Call{metadata, strategy, inOne, inAll} {
		calls = append(calls,
			with(c, "1,001 operations", repeat(1001, `{"op":"test","path":"/name","value":1}`), apitest.Invalid("")),
			with(c, "replace the whole document", `[{"op":"replace","path":"","value":{"name":"x"}}]`, apitest.Invalid("/0/path")),
			with(c, "remove the whole document", `[{"op":"remove","path":""}]`, apitest.Invalid("/0/path")),
			with(c, "add the whole document", `[{"op":"add","path":"","value":[]}]`, apitest.Invalid("/0/path")),
			with(c, "move the whole document", `[{"op":"move","from":"","path":"/description"}]`, `{"...":0,"name":"ValidationError","message":"<has /0/from>"}`),
			with(c, "a list as an operation", `[["op","remove"]]`, apitest.Invalid("/0")),
			with(c, "a value that is too large a number", `[{"op":"add","path":"/name","value":1e400}]`, apitest.Malformed("would be rounded")),
			with(c, "a duplicate key in a value", `[{"op":"add","path":"/name","value":{"a":1,"a":2}}]`, apitest.Malformed("twice")))
	}
	calls = append(calls,
		with(strategy, "a copy bomb", bomb(text, "/title", "/name"), `{"...":0,"name":"ValidationError"}`),
		with(strategy, "an object copied into itself", repeat(60, `{"op":"copy","from":"/parameters","path":"/parameters/x"}`), `{"...":0,"name":"ValidationError"}`),
		with(strategy, "a list copied into itself", `[{"op":"add","path":"/parameters/l","value":[`+text+`]},`+strings.TrimPrefix(repeat(60, `{"op":"copy","from":"/parameters/l","path":"/parameters/l/-"}`), "["), `{"...":0,"name":"ValidationError"}`),
		with(inOne, "a copy bomb", bomb(`{"name":"big","weight":1,"payload":{"type":"string","value":`+text+`}}`, "/0", "/-"), `{"...":0,"name":"ValidationError"}`),
		with(inAll, "a copy bomb", bomb(`{"name":"big","weight":1,"payload":{"type":"string","value":`+text+`}}`, "/0", "/-"), `{"...":0,"name":"ValidationError"}`),
		with(metadata, "a copy bomb", bomb(text, "/description", "/type"), `{"...":0,"name":"ValidationError"}`),
		with(metadata, "moved into itself", `[{"op":"move","from":"/description","path":"/description/x"}]`, `{"...":0,"name":"ValidationError"}`),
		with(strategy, "moved into itself", `[{"op":"move","from":"/parameters","path":"/parameters/x"}]`, `{"...":0,"name":"ValidationError"}`),
		with(strategy, "a constraint moved into itself", `[{"op":"move","from":"/constraints/0","path":"/constraints/0/x"}]`, apitest.Invalid("/0/path")),
		with(inOne, "a variant moved into itself", `[{"op":"move","from":"/0","path":"/0/zz"}]`, apitest.Invalid("/0/path")),
		with(inAll, "many operations on a large document", `[{"op":"add","path":"/0","value":{"name":"big","weight":1,"payload":{"type":"string","value":`+text+`}}},`+
			strings.TrimPrefix(repeat(998, `{"op":"add","path":"/0/weight","value":1}`), "["), apitest.Malformed("in parts")),
		with(strategy, "an index that is not a number", `[{"op":"remove","path":"/constraints/x"}]`, apitest.Malformed("does not match")),
		with(strategy, "a negative index", `[{"op":"add","path":"/constraints/-1","value":{}}]`, apitest.Malformed("cannot be applied")),
		with(strategy, "a large index", `[{"op":"add","path":"/constraints/99999999999999999999","value":{}}]`, apitest.Malformed("cannot be applied")),
		with(strategy, "a bad escape", `[{"op":"remove","path":"/parameters/~2"}]`, `{"...":0,"name":"ValidationError"}`),
		with(strategy, "a value that is nested too deep", `[{"op":"add","path":"/parameters/x","value":`+strings.Repeat(`{"a":`, 97)+`1`+strings.Repeat(`}`, 97)+`}]`, `{"...":0,"name":"ValidationError"}`),
		with(inOne, "a negative index", `[{"op":"replace","path":"/-1/name","value":"x"}]`, apitest.Malformed("cannot be applied")),
		with(inOne, "copy from a negative index", `[{"op":"copy","from":"/-1","path":"/-"}]`, apitest.Malformed("cannot be applied")))
	s.Unchanged(t, on.flag, calls)
	metadata.Body, metadata.Status, metadata.Want = repeat(1000, `{"op":"test","path":"/stale","value":false}`), 200, apitest.Created(on.flag)
	s.Check(t, metadata)
}

// TestQuotedPaths checks that error messages with parts of long and invalid paths are valid UTF-8.
func TestQuotedPaths(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for _, name := range []string{strings.Repeat("é", 60), "x" + strings.Repeat("é", 60), "xx" + strings.Repeat("😀", 40), "%ff%fe", strings.Repeat("%c3", 50)} {
		path := "/api/admin/projects/" + name + "/users/1/roles/4"
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			s.Check(t, apitest.Call{name, method, path, `{"projectId":"other"}`, 400, apitest.Invalid("/projectId")})
		}
		s.Check(t, apitest.Call{name, "GET", "/api/admin/projects/" + name, "", 404, apitest.NotFound("")})
		s.Check(t, apitest.Call{name, "GET", "/api/admin/roles/" + name, "", 400, apitest.Malformed("roleId")})
	}
}
