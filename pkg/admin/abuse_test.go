package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/flags"
)

// TestPatchBounds sends patches that exceed a limit. Each gets a 4xx and changes nothing.
func TestPatchBounds(t *testing.T) {
	t.Parallel()
	s := serve(t)
	on := s.newSubject(t)
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
	with := func(c call, name, body, want string) call {
		c.name, c.body, c.status, c.want = name, body, 400, want
		return c
	}
	var calls []call
	for _, c := range []call{metadata, strategy, inOne, inAll} {
		calls = append(calls,
			with(c, "1,001 operations", repeat(1001, `{"op":"test","path":"/name","value":1}`), invalid("")),
			with(c, "replace the whole document", `[{"op":"replace","path":"","value":{"name":"x"}}]`, invalid("/0/path")),
			with(c, "remove the whole document", `[{"op":"remove","path":""}]`, invalid("/0/path")),
			with(c, "add the whole document", `[{"op":"add","path":"","value":[]}]`, invalid("/0/path")),
			with(c, "move the whole document", `[{"op":"move","from":"","path":"/description"}]`, `{"...":0,"name":"ValidationError","message":"<has /0/from>"}`),
			with(c, "a list as an operation", `[["op","remove"]]`, invalid("/0")),
			with(c, "a value that is too large a number", `[{"op":"add","path":"/name","value":1e400}]`, malformed("would be rounded")),
			with(c, "a duplicate key in a value", `[{"op":"add","path":"/name","value":{"a":1,"a":2}}]`, malformed("twice")))
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
		with(strategy, "a constraint moved into itself", `[{"op":"move","from":"/constraints/0","path":"/constraints/0/x"}]`, invalid("/0/path")),
		with(inOne, "a variant moved into itself", `[{"op":"move","from":"/0","path":"/0/zz"}]`, invalid("/0/path")),
		with(inAll, "many operations on a large document", `[{"op":"add","path":"/0","value":{"name":"big","weight":1,"payload":{"type":"string","value":`+text+`}}},`+
			strings.TrimPrefix(repeat(998, `{"op":"add","path":"/0/weight","value":1}`), "["), malformed("in parts")),
		with(strategy, "an index that is not a number", `[{"op":"remove","path":"/constraints/x"}]`, malformed("does not match")),
		with(strategy, "a negative index", `[{"op":"add","path":"/constraints/-1","value":{}}]`, malformed("cannot be applied")),
		with(strategy, "a large index", `[{"op":"add","path":"/constraints/99999999999999999999","value":{}}]`, malformed("cannot be applied")),
		with(strategy, "a bad escape", `[{"op":"remove","path":"/parameters/~2"}]`, `{"...":0,"name":"ValidationError"}`),
		with(strategy, "a value that is nested too deep", `[{"op":"add","path":"/parameters/x","value":`+strings.Repeat(`{"a":`, 97)+`1`+strings.Repeat(`}`, 97)+`}]`, `{"...":0,"name":"ValidationError"}`),
		with(inOne, "a negative index", `[{"op":"replace","path":"/-1/name","value":"x"}]`, malformed("cannot be applied")),
		with(inOne, "copy from a negative index", `[{"op":"copy","from":"/-1","path":"/-"}]`, malformed("cannot be applied")))
	s.unchanged(t, on.flag, calls)
	metadata.body, metadata.status, metadata.want = repeat(1000, `{"op":"test","path":"/stale","value":false}`), 200, subset(on.flag)
	s.check(t, metadata)
}

// TestLargeFlags grows a flag beyond the size of an item, in several ways. Each gets a 400, and the flag can still be
// changed.
func TestLargeFlags(t *testing.T) {
	t.Parallel()
	s := serve(t)
	on := s.newSubject(t)
	large := `{"name":"v","weight":1,"payload":{"type":"string","value":"` + strings.Repeat("x", flags.MaxPayload-1000) + `"}},`
	variants := ""
	for i := range 7 {
		variants += strings.Replace(large, `"v"`, fmt.Sprintf(`"v%d"`, i), 1)
	}
	tooLarge := malformed("KiB")
	f := features + "/" + on.flag
	s.unchanged(t, on.flag, []call{
		{"add a large strategy", "POST", in(on.flag, "development") + "/strategies", parameters(500 << 10), 400, tooLarge},
		{"replace a strategy by a large one", "PUT", in(on.flag, "development") + "/strategies/" + on.strategy, parameters(500 << 10), 400, tooLarge},
		{"set large variants", "PUT", f + "/variants", "[" + strings.TrimSuffix(variants, ",") + "]", 400, tooLarge},
	})
	filler := in(on.flag, "development") + "/strategies/" + s.strategy(t, on.flag, parameters(350<<10))
	s.run(t, []call{
		{"enable it", "POST", in(on.flag, "development") + "/on", "", 200, anything},
		{"disable it", "POST", in(on.flag, "development") + "/off", "", 200, anything},
		{"clone it", "POST", f + "/clone", `{"name":"clone"}`, 201, anything},
		{"archive it", "DELETE", f, "", 202, ""},
		{"list the archive", "GET", "/api/admin/archive/features/default", "", 200, anything},
		{"revive it", "POST", "/api/admin/archive/revive/" + on.flag, "", 200, ""},
		{"remove the parameters", "PATCH", filler, `[{"op":"remove","path":"/parameters"}]`, 200, anything},
	})
}

// TestQuotedPaths checks that error messages with parts of long and invalid paths are valid UTF-8.
func TestQuotedPaths(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, name := range []string{strings.Repeat("é", 60), "x" + strings.Repeat("é", 60), "xx" + strings.Repeat("😀", 40), "%ff%fe", strings.Repeat("%c3", 50)} {
		path := "/api/admin/projects/" + name + "/users/1/roles/4"
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			s.check(t, call{name, method, path, `{"projectId":"other"}`, 400, invalid("/projectId")})
		}
		s.check(t, call{name, "GET", "/api/admin/projects/" + name, "", 404, notFound("")})
		s.check(t, call{name, "GET", "/api/admin/roles/" + name, "", 400, malformed("roleId")})
	}
}
