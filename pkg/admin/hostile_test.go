package admin_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
)

// allocated returns the number of bytes that a request allocates in total, and its response.
func allocated(s *apitest.Server, c apitest.Call) (bytes int, got apitest.Answer) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got = apitest.Direct(s.Handler, c.Method, c.Path, c.Body)
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc), got
}

// table returns all items of the store, so that the order of attributes does not matter.
func table(t *testing.T, s *apitest.Server) (items any) {
	t.Helper()
	apitest.DecodeInto(t, dynamotest.Scan(t, s.Store), &items)
	return items
}

// list is a JSON list that repeats one value n times.
func list(n int, of string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(of+",", n), ",") + "]"
}

// hostile returns bodies that every operation rejects, each of which is a known attack on parsers. TestStrictJSON has more.
func hostile() map[string]string {
	const mega = 1 << 20
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			_, _ = fmt.Fprintf(&b, `"%x":%d,`, i, i)
		}
		return b.String()
	}
	return map[string]string{
		"7 MB of a string":                 `"` + strings.Repeat("x", 7*mega) + `"`,
		"7 MB of a list":                   list(7*mega/2, "1"),
		"7 MB, truncated":                  `[{"name":"` + strings.Repeat("x", 7*mega),
		"7 MB of white space":              strings.Repeat(" ", 7*mega),
		"a megabyte of empty objects":      list(mega/3-1, "{}"),
		"a megabyte of small objects":      list(mega/8-1, `{"a":1}`),
		"the maximum number of objects":    list(mega/17, `{"name":"abcd"}`),
		"a megabyte of empty lists":        list(mega/3-1, "[]"),
		"a megabyte of empty strings":      list(mega/3-1, `""`),
		"a megabyte of nulls":              list(mega/5-1, "null"),
		"a megabyte of numbers":            list(mega/2-1, "1"),
		"a megabyte of objects in one":     `[{` + strings.TrimSuffix(strings.Repeat(`"":{},`, mega/6-10), ",") + `}]`,
		"many fields":                      `[{` + keys(60_000) + `"z":[}]`,
		"a million digits":                 `[` + strings.Repeat("9", mega-10) + `]`,
		"a million digits after a point":   `[{"sortOrder":0.` + strings.Repeat("1", mega-100) + `},0]x`,
		"a huge exponent":                  `[{"weight":1e999999999999}]`,
		"a huge negative exponent":         `[{"weight":1e-999999999999},{"weight":-1e99999}]`,
		"1e20 for a whole number":          `[{"weight":1e20,"sortOrder":1e20,"id":1e20,"projectId":1e20,"expiresAt":1e20}]`,
		"a name of a megabyte":             `[{"` + strings.Repeat("n", mega-100) + `":1,"":2,"":3}]`,
		"a duplicate name of a megabyte":   `{"` + strings.Repeat("n", mega/2-100) + `":1,"` + strings.Repeat("n", mega/2-100) + `":1}`,
		"a megabyte of escapes":            `["` + strings.Repeat(`\u0000`, mega/6-10) + `",{]`,
		"a megabyte of surrogates":         `["` + strings.Repeat(`\ud83d\ude00`, mega/12-10) + `\ud83d"]`,
		"NUL":                              "\x00",
		"a NUL in a string":                "{\"name\":\"a\x00b\"}",
		"NULs around the body":             "\x00{}\x00",
		"objects nested 100,000 deep":      strings.Repeat(`{"a":`, 100_000),
		"lists in objects, 100,000 deep":   strings.Repeat(`[{"":`, 50_000),
		"UTF-16":                           "\xff\xfe{\x00}\x00",
		"UTF-8 of surrogates":              "[\"\xed\xa0\x80\"]",
		"beyond Unicode":                   "[\"\xf4\x90\x80\x80\"]",
		"a duplicate __proto__":            `[{"__proto__":{"admin":true},"__proto__":{}}]`,
		"a form":                           "name=x&name=y",
		"XML with an external entity":      `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`,
		"a second document after the body": "[]\x00[]",
		sevenMegabytes:                     `["` + strings.Repeat("x", 7*mega) + `"]`,
	}
}

// sevenMegabytes is the name of a body larger than allowed.
const sevenMegabytes = "seven megabytes"

// maxMemory is the total that a request may allocate for each megabyte of the largest body. Much of it is freed before the rest
// is allocated. The functions have 512 MB.
const maxMemory = 64 << 20

// TestHostileBodies sends the hostile bodies to every route with a body. `make test` sends a quarter of them to each route. Each
// gets a 4xx at a bounded cost and changes nothing.
func TestHostileBodies(t *testing.T) {
	s := apitest.Serve(t)
	on := newSubject(t, s)
	apitest.Direct(s.Handler, "GET", apitest.Features, "") // records the use of the token, which happens once an hour
	was, bodies, highest := table(t, s), hostile(), 0
	for i, route := range withBody(t) {
		allowed := maxMemory
		if strings.HasSuffix(route, "/features-batch/validate") {
			allowed *= 4
		}
		for j, name := range slices.Sorted(maps.Keys(bodies)) {
			if !dynamotest.Long() && (i+j)%4 != 0 {
				continue
			}
			c := on.call(route)
			c.Body = bodies[name]
			cost, got := allocated(s, c)
			if got.Status < 400 || got.Status >= 500 || len(got.Body) > 64<<10 {
				t.Errorf("%s: %s: %d %.300s, want a short 4xx", route, name, got.Status, got.Body)
			}
			if name == sevenMegabytes && got.Status != 413 {
				t.Errorf("%s: %s: %d %.300s, want 413", route, name, got.Status, got.Body)
			}
			if cost > allowed {
				t.Errorf("%s: %s: %d KB were allocated, want at most %d", route, name, cost>>10, allowed>>10)
			}
			highest = max(highest, cost*maxMemory/allowed)
		}
	}
	if diff := cmp.Diff(was, table(t, s)); diff != "" {
		t.Errorf("the table has changed (-was +is):\n%.2000s", diff)
	}
	t.Logf("the most expensive request took %d KB", highest>>10)
}

// TestGrowingPatches sends patches of about a kilobyte that copy a value into itself. They must cost less than four times as
// much as a patch of their size that fails at its first operation. Unbounded, they would allocate terabytes.
func TestGrowingPatches(t *testing.T) {
	s := apitest.Serve(t)
	on := newSubject(t, s)
	const size = 961
	to := on.call
	strategy, inOne, inAll := to(inEnvironment("PATCH", "/strategies/{strategyId}")), to(inEnvironment("PATCH", "/variants")), to(ofFlag("PATCH", "/variants"))
	metadata := to(ofFlag("PATCH", ""))
	grow := func(first, copies string) string {
		body := "[" + first
		for len(body)+len(copies)+2 <= size {
			body += "," + copies
		}
		return body + "]"
	}
	refused := func(c apitest.Call) apitest.Call {
		c.Body = grow(`{"op":"test","path":"/nosuch","value":1}`, `{"op":"copy","from":"/a","path":"/b"}`)
		return c
	}
	tests := []struct {
		name string
		apitest.Call
		first, copies string
	}{
		{"a list copied into itself", strategy, `{"op":"add","path":"/parameters/l","value":["xxxxxxxx"]}`, `{"op":"copy","from":"/parameters/l","path":"/parameters/l/-"}`},
		{"an object copied into itself", strategy, `{"op":"add","path":"/parameters/l","value":{"x":"xxxxxxxx"}}`, `{"op":"copy","from":"/parameters","path":"/parameters/x"}`},
		{"constraints copied into each other", strategy, `{"op":"add","path":"/constraints","value":[["x"],["x"]]}`,
			`{"op":"copy","from":"/constraints/0","path":"/constraints/1/0"},{"op":"copy","from":"/constraints/1","path":"/constraints/0/0"}`},
		{"a variant copied into itself", inOne, `{"op":"add","path":"/0/payload","value":[["x"]]}`, `{"op":"copy","from":"/0/payload","path":"/0/payload/-"}`},
		{"a variant copied into itself in all environments", inAll, `{"op":"add","path":"/0/a","value":["x"]}`, `{"op":"copy","from":"/0/a","path":"/0/a/-"}`},
		{"a list of a flag copied into itself", metadata, `{"op":"add","path":"/type","value":["x"]}`, `{"op":"copy","from":"/type","path":"/type/-"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.Call
			c.Body = grow(tt.first, tt.copies)
			allocated(s, refused(tt.Call)) // once to warm up
			// Take the minimum of several calls, because background work of the process adds to some of them.
			least, grown := 1<<30, 1<<30
			for range 7 {
				cost, got := allocated(s, refused(tt.Call))
				least = min(least, cost)
				if got.Status != 400 {
					t.Fatalf("the refused patch: %d %s, want 400", got.Status, got.Body)
				}
				cost, got = allocated(s, c)
				grown = min(grown, cost)
				if got.Status != 400 {
					t.Errorf("%d %.300s, want 400", got.Status, got.Body)
				}
			}
			if len(c.Body) > size || grown > 4*least {
				t.Errorf("%d bytes took %d KB, a refused patch takes %d KB: want less than 4 times that", len(c.Body), grown>>10, least>>10)
			}
			t.Logf("%d bytes took %d KB, a refused patch %d KB", len(c.Body), grown>>10, least>>10)
		})
	}
	if got := s.Events(t, on.flag); len(got) != 4 {
		t.Errorf("events %q, want only the 4 from its creation", got)
	}
}

// TestHostileQueries sends unusual values for every query parameter, alone and after each operator of filters. `make test` tries
// a quarter of the values after each operator. No response is a 5xx.
func TestHostileQueries(t *testing.T) {
	t.Parallel()
	d, err := apitest.TheDescription()
	if err != nil {
		t.Fatal(err)
	}
	s := apitest.Serve(t, readOnce)
	on := newSubject(t, s)
	values := []string{
		"", "%ff", "a%ff", "%ed%a0%80", "%f4%90%80%80", "%00", "a%00b", "%0d%0aX:%20y", "%", "%2", "%zz", "+", "%2b", "%25", "%26", ";", "#",
		"%22", "%5c", "'", "%22%7d", "[]", "{}", "null", "true", "-1", "0", "1e20", "1e999", "NaN", "0x10", "99999999999999999999", "%d9%a1",
		"%e2%80%ae", "%f0%9f%98%80", "e%cc%81", strings.Repeat("a", 8<<10), strings.Repeat("%00", 2<<10), strings.Repeat(",", 4<<10),
		strings.Repeat("a,", 2<<10), ":", "::", "a:b:c", "*", "../..", "2026-13-45", "9999-12-31", "0000-00-00T00:00:00Z", "10000-01-01",
	}
	sent := 0
	for _, route := range routes(t) {
		method, path, _ := strings.Cut(route, " ")
		for _, p := range d.Operation(method + " " + path).Parameters {
			if p.Value.In != "query" {
				continue
			}
			for i, operator := range []string{"", "IS:", "IS_ANY_OF:", "IS_NOT:", "INCLUDE:", "IS_BEFORE:", "IS_ON_OR_AFTER:", "nosuch:"} {
				for j, value := range values {
					if !dynamotest.Long() && operator != "" && (i+j)%4 != 0 {
						continue
					}
					c := on.call(route)
					query := "?" + p.Value.Name + "=" + operator + value
					if got := s.Do(t, c.Method, c.Path+query, c.Body); got.Status >= 500 {
						t.Errorf("%s%.100s: %d %.300s, want no 5xx", route, query, got.Status, got.Body)
					}
					sent++
				}
			}
		}
	}
	if sent < 5_000 {
		t.Errorf("%d queries, want at least 5000", sent)
	}
}
