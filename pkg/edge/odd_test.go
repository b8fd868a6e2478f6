package edge

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/answers"
	"guidon/pkg/evaluate"
	"guidon/pkg/jsonbody"
)

// An upstream is one whose flags a test writes. It has deltas only if the test writes one.
type upstream struct {
	*httptest.Server
	features, delta atomic.Pointer[string]
}

func newUpstream(t testing.TB, features string) *upstream {
	u := &upstream{}
	u.features.Store(&features)
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		delta := u.delta.Load()
		switch {
		case r.URL.Path == "/api/client/features":
			_, _ = io.WriteString(w, *u.features.Load())
		case r.URL.Path == "/api/client/delta" && delta != nil:
			_, _ = io.WriteString(w, *delta)
		case r.URL.Path == "/edge/validate":
			_, _ = io.WriteString(w, `{"tokens": [{"token": "*:development.own", "type": "client", "projects": ["*"]}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) serve(features string) { u.features.Store(&features) }
func (u *upstream) change(delta string)   { u.delta.Store(&delta) }

const ownToken = "*:development.own"

func goodFlag(name string, enabled bool) string {
	return fmt.Sprintf(`{"name": %q, "enabled": %t, "project": "default", "strategies": [{"name": "default"}]}`, name, enabled)
}

// TestOddFlags checks that a kill switch arrives beside a flag in another form, which is read where its meaning is clear.
func TestOddFlags(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]struct{ flag, reads string }{
		"a rollout that is a number":    {`"strategies": [{"name": "flexibleRollout", "parameters": {"rollout": 1e2, "stickiness": "default", "groupId": 7}}]`, `"parameters":{"groupId":"7","rollout":"100","stickiness":"default"}`},
		"a weight that is a text":       {`"variants": [{"name": "a", "weight": "1000", "weightType": "variable"}]`, `"weight":1000`},
		"a weight with decimals":        {`"variants": [{"name": "a", "weight": 333.4}]`, `"weight":333,`},
		"a value that is a number":      {`"strategies": [{"name": "default", "constraints": [{"contextName": "age", "operator": "NUM_GT", "value": 18}]}]`, `"value":"18"`},
		"values that are numbers":       {`"strategies": [{"name": "default", "constraints": [{"contextName": "age", "operator": "IN", "values": [18, 1.5, true]}]}]`, `"values":["18","1.5","true"]`},
		"a payload that is a number":    {`"variants": [{"name": "a", "weight": 1000, "payload": {"type": "number", "value": 5}}]`, `"payload":{"type":"number","value":"5"}`},
		"half an emoji":                 {`"variants": [{"name": "a", "weight": 1000, "payload": {"type": "string", "value": "ab\ud83d"}}]`, "ab\uFFFD"},
		"booleans that are texts":       {`"enabled": "true", "impressionData": "false", "stale": 0`, `"enabled":true`},
		"null lists":                    {`"strategies": null, "variants": null, "dependencies": null, "description": null, "project": null`, `"project":"default"`},
		"empty lists of PHP, or Lua":    {`"strategies": [{"name": "default", "parameters": [], "constraints": {}, "segments": {}}], "variants": {}`, `"parameters":{}`},
		"segments that are texts":       {`"strategies": [{"name": "default", "segments": ["3"]}]`, `"segments":[3]`},
		"a field twice":                 {`"enabled": false, "enabled": true`, `"enabled":true`},
		"unknown fields":                {`"new": {"a": [1, {"b": null}]}`, ``},
		"a weight that is no number":    {`"variants": [{"name": "a", "weight": "much"}]`, "-"},
		"a weight that is too large":    {`"variants": [{"name": "a", "weight": 1e300}]`, "-"},
		"a number beyond all":           {`"variants": [{"name": "a", "weight": 1e999}]`, "-"},
		"a strategy that is a text":     {`"strategies": ["default"]`, "-"},
		"a strategy that is null":       {`"strategies": [null]`, "-"},
		"null in a list of values":      {`"strategies": [{"name": "default", "constraints": [{"contextName": "userId", "operator": "STR_STARTS_WITH", "values": ["vip-", null]}]}]`, "-"},
		"a constraint about no field":   {`"strategies": [{"name": "default", "constraints": [{"contextName": null, "operator": "NOT_IN", "values": ["u1"]}]}]`, "-"},
		"a parent without a name":       {`"strategies": [{"name": "default"}], "dependencies": [{"name": "parent"}]`, "-"},
		"a constraint that is null":     {`"strategies": [{"name": "default", "constraints": [null]}]`, "-"},
		"strategies that are an object": {`"strategies": {"name": "default"}`, "-"},
		"enabled that is no boolean":    {`"enabled": "maybe"`, "-"},
		"a segment with decimals":       {`"strategies": [{"name": "default", "segments": [3.5]}]`, "-"},
		"parameters that are a text":    {`"strategies": [{"name": "default", "parameters": "rollout"}]`, "-"},
		"deep nesting":                  {`"strategies": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpstream(t, `{"features": [`+goodFlag("good", true)+`]}`)
			e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": u.URL, "TOKENS": ownToken})
			e.awaitOn(ownToken, "good")
			u.serve(`{"features": [{"name": "odd", "enabled": true, ` + odd.flag + `}, ` + goodFlag("good", false) + `]}`)
			want := "odd"
			if odd.reads == "-" {
				want = ""
			}
			e.awaitOn(ownToken, want)
			a := e.ask("GET", "/api/client/features", ownToken, "", "Unleash-Client-Spec: 5.2.0").want(t, 200, `"name":"good","type":"","enabled":false`)
			metrics := e.ask("GET", "/metrics", "", "").want(t, 200)
			if odd.reads != "-" {
				a.want(t, 200, odd.reads)
				metrics.want(t, 200, `guidon_edge_left_out{environment="development",source="0"} 0`)
				return
			}
			metrics.want(t, 200, `guidon_edge_left_out{environment="development",source="0"} 1`, `guidon_edge_left_out_info{environment="development",source="0",kind="flag",name="odd"} 1`)
			if logs := e.logs.String(); strings.Count(logs, "leaves it out") != 1 || !strings.Contains(logs, "flag odd of development") {
				t.Errorf("the log does not say once that the flag is left out")
			}
			u.serve(`{"features": [` + goodFlag("odd", true) + `]}`)
			e.awaitOn(ownToken, "odd")
			e.awaitLog("does not leave it out any more")
		})
	}
}

// TestOddDelta checks that an odd flag or segment of a delta leaves out only what it is about, and that an event that cannot be read
// makes Edge read everything.
func TestOddDelta(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, `{"features": []}`)
	inSegment := `{"name": "inside", "enabled": true, "strategies": [{"name": "default", "segments": [3]}]}`
	segment := `{"id": 3, "name": "s", "constraints": [{"contextName": "userId", "operator": "IN", "values": ["7"]}]}`
	u.change(`{"events": [{"eventId": 1, "type": "hydration", "features": [` + goodFlag("a", true) + `,` + goodFlag("b", true) + `,` + inSegment + `,{"enabled": true}], "segments": [` + segment + `]}]}`)
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": u.URL, "TOKENS": ownToken, "PRETRUSTED_TOKENS": "*:development.web"})
	e.awaitOn(ownToken, "a b inside")
	e.ask("GET", "/metrics", "", "").want(t, 200, `name="(number 4 of the list)"`)
	e.ask("GET", "/api/frontend?userId=7", "*:development.web", "").want(t, 200, `"inside"`)

	u.change(`{"events": [{"eventId": "2", "type": "feature-updated", "feature": {"strategies": "all", "name": "b"}}, {"eventId": 3, "type": "feature-updated", "feature": ` + goodFlag("a", false) + `},
		{"eventId": 4, "type": "segment-updated", "segment": {"name": "s", "id": 3}}]}`)
	e.awaitOn(ownToken, "inside")
	e.ask("GET", "/metrics", "", "").want(t, 200, `kind="flag",name="b"} 1`, `kind="segment",name="3"} 1`)
	if a := e.ask("GET", "/api/frontend?userId=7", "*:development.web", "").want(t, 200); strings.Contains(a.body, "inside") {
		t.Errorf("a flag with a segment that cannot be read is on: %s", a)
	}
	e.ask("GET", "/api/client/features", ownToken, "").want(t, 200, `{"contextName":"userId","operator":"IN","caseInsensitive":false,"inverted":false,"values":[]}`) // for nobody

	u.change(`{"events": [{"eventId": 5, "type": "feature-updated", "feature": ` + goodFlag("b", true) + `}, {"eventId": 6, "type": "segment-updated", "segment": ` + segment + `}]}`)
	e.awaitOn(ownToken, "b inside")
	e.ask("GET", "/metrics", "", "").want(t, 200, `guidon_edge_left_out{environment="development",source="0"} 1`) // the nameless one

	for name, event := range map[string]string{
		"unknown": `{"eventId": 7, "type": "surprise"}`, "nameless": `{"eventId": 7, "type": "feature-updated", "feature": {"enabled": true}}`,
		"without its flag": `{"eventId": 7, "type": "feature-removed"}`, "a text": `"removed"`, "with a number that is none": `{"eventId": {}, "type": "feature-removed", "featureName": "a"}`,
	} {
		if _, err := readDelta([]byte(`{"events": [`+event+`]}`), ""); err == nil || !strings.Contains(err.Error(), errEvent.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	u.serve(`{"features": [` + goodFlag("whole", true) + `], "meta": {"revisionId": 8}}`)
	u.change(`{"events": [{"eventId": 8, "type": "surprise"}]}`)
	e.awaitOn(ownToken, "whole")
}

// TestOddLists checks that a list of flags that is empty or of no flags is not taken for something else, and that many odd flags are
// bounded in the log and the metrics.
func TestOddLists(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"features": null}`: "", `{"features": []}`: "", `{"features": {}}`: "",
		`{}`: "has no flags", `{"features": "all"}`: "none of its flags", `{"features": {"a": 1}}`: "none of its flags", `{"features": [{"enabled": true}, 7]}`: "none of its flags",
		`[]`: "no list of flags", `null`: "no list of flags", `{"features": [`: "no list of flags", `{"features": [` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `]}`: "no list of flags",
	} {
		_, err := readFeatures([]byte(body), "")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", body, err, want)
		}
	}
	for _, segments := range []string{`[{"id": 3, "constraints": [{"operator": "NOT_IN", "values": ["7"]}]}]`, `"all"`, `7`, `[7]`, `{"a": 1}`, `[{"id": 0, "constraints": []}]`, `[{"name": "s", "constraints": []}]`} {
		r, err := readFeatures([]byte(`{"features": [`+goodFlag("a", true)+`], "meta": {"revisionId": "many"}, "segments": `+segments+`}`), "")
		if err != nil || r.features["a"] == nil || len(r.segments) != 0 || len(r.odd) != 1 {
			t.Errorf("segments %s: %+v, %v", segments, r, err)
		}
	}
	twice, err := readFeatures([]byte(`{"features": [`+goodFlag("a", true)+`,{"name": "a", "strategies": 7},`+goodFlag("b", true)+`,`+goodFlag("b", false)+`,{"name": "c", "strategies": 7},`+goodFlag("c", true)+`]}`), "")
	if err != nil || twice.features["a"] != nil || twice.features["b"].Enabled || twice.features["c"] == nil || len(twice.odd) != 1 {
		t.Errorf("of flags that are there twice, the last one counts: %+v, %v", twice, err)
	}

	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, `{"name": "%s-%03d\"\n", "strategies": 7}, `, strings.Repeat("n", i/2), i)
	}
	u := newUpstream(t, `{"features": [`+many.String()+goodFlag("good", true)+`]}`)
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": u.URL, "TOKENS": ownToken})
	e.awaitOn(ownToken, "good")
	e.awaitLog("290 more")
	page := e.ask("GET", "/metrics", "", "").want(t, 200, `guidon_edge_left_out{environment="development",source="0"} 300`, `name="-000\"\n"}`).body
	if n := strings.Count(page, "guidon_edge_left_out_info{"); n != maxNamed {
		t.Errorf("%d flags are in the metrics", n)
	}
	if n := strings.Count(e.logs.String(), "leaves it out"); n > maxOddLines {
		t.Errorf("%d lines in the log", n)
	}
}

// TestOddAfterRestart checks that a flag that was left out is read again after a restart from a backup, with the same ETag at the upstream.
func TestOddAfterRestart(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, `{"features": [{"name": "odd", "strategies": 7}, `+goodFlag("good", true)+`]}`)
	settings := map[string]string{"UPSTREAM_URL": u.URL, "TOKENS": ownToken, "BACKUP_FOLDER": t.TempDir()}
	e := newEdge(t, "edge", settings)
	e.awaitOn(ownToken, "good")
	e.stop()
	marked, err := filepath.Glob(filepath.Join(settings["BACKUP_FOLDER"], "*"))
	if err != nil || len(marked) < 2 {
		t.Fatal(marked, err)
	}
	for _, file := range marked { // an editor has saved it
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, append([]byte("\uFEFF"), text...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	restarted := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": "http://127.0.0.1:1", "TOKENS": ownToken, "BACKUP_FOLDER": settings["BACKUP_FOLDER"]})
	restarted.awaitOn(ownToken, "good")
	if tag := restarted.all()[0].state.Load().tag; tag != "" {
		t.Errorf("Edge would ask for what changed since %s", tag)
	}
}

// TestMark checks that a byte order mark before a file or a response changes nothing.
func TestMark(t *testing.T) {
	t.Parallel()
	const mark = "\uFEFF"
	u := newUpstream(t, mark+`{"features": [`+goodFlag("good", true)+`]}`)
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": u.URL, "TOKENS": ownToken})
	e.awaitOn(ownToken, "good")
	e.ask("POST", "/edge/validate", "", mark+`{"tokens": ["`+ownToken+`"]}`).want(t, 200, ownToken)
	offline, file := newOffline(t, map[string]string{"RELOAD_INTERVAL": "50ms"})
	if err := os.WriteFile(file, []byte(mark+`{"features": [`+goodFlag("marked", true)+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	offline.awaitOn("*:development.c", "marked")
}

// TestSimpleFile checks the simple form of BOOTSTRAP_FILE.
func TestSimpleFile(t *testing.T) {
	t.Parallel()
	e, file := newOffline(t, map[string]string{"RELOAD_INTERVAL": "50ms"})
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"checkout": {"enabled": true, "variant": "blue"}, "banner": {"enabled": false}, "features": {"enabled": true, "variant": null}, "odd": 7, "other": {"variant": "x"}}`)
	e.awaitOn("*:development.c", "checkout features")
	e.ask("GET", "/api/frontend", "*:development.f", "").want(t, 200, `"name":"checkout","enabled":true,"variant":{"name":"blue","enabled":true`, `"features"`)
	e.ask("GET", "/metrics", "", "").want(t, 200, `guidon_edge_flags{environment="development",source="0"} 3`, `name="odd"} 1`, `name="other"} 1`)
	for _, text := range []string{`{}`, `{"message": "welcome"}`, `[]`, `7`, `{"features": [7]}`, `{"features": `} {
		if r, err := readFile([]byte(text)); err == nil {
			t.Errorf("%s is taken: %+v", text, r)
		}
	}
	write(`{"message": "welcome"}`)
	e.awaitLog("GET /api/client/features, or ")
	if on := e.on("*:development.c"); on != "checkout features" {
		t.Errorf("%q is on", on)
	}
}

// TestOddValidation checks that an item of /edge/validate that cannot be read changes nothing for its token, and nothing for others.
func TestOddValidation(t *testing.T) {
	t.Parallel()
	var answer atomic.Pointer[string]
	tell := func(tokens string) { answer.Store(&tokens) }
	token := func(name, more string) string {
		return fmt.Sprintf(`{"token": "default:development.%s", "type": "client", "projects": ["default"]%s}`, name, more)
	}
	tell(token("a", "") + `, ` + token("b", `, "projects": null`) + `, ` + token("c", `, "projects": 7`))
	u := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/edge/validate":
			_, _ = io.WriteString(w, `{"tokens": [{"token": "`+ownToken+`", "type": "client", "projects": ["*"]}, `+*answer.Load()+`]}`)
		case "/api/client/features":
			_, _ = io.WriteString(w, `{"features": [`+goodFlag("good", true)+`]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(u.Close)
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": u.URL, "TOKENS": ownToken})
	of := func(name string) int {
		return e.ask("GET", "/api/client/features", "default:development."+name, "").status
	}
	await(t, "the status of a token that is read", 200, func() int { return of("a") })
	await(t, "the status of a token with null for its projects", 200, func() int { return of("b") })
	await(t, "the status of a token that cannot be read", 503, func() int { return of("c") })
	await(t, "the status of a token that is not there", 401, func() int { return of("d") })
	tell(token("a", `, "type": []`))
	await(t, "the status of a token that is not there any more", 401, func() int { return of("b") })
	if status := of("a"); status != 200 {
		t.Errorf("a token that cannot be read any more gets %d", status)
	}
	tell(`7`)
	await(t, "the status of a token while one of the answers is of no token", 503, func() int { return of("e") })
}

// A place is where a value is in a document: its keys and indexes.
type place []any

// placesOf returns all places of a document, the whole first.
func placesOf(document any, at place) []place {
	places := []place{at}
	switch value := document.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			places = append(places, placesOf(value[key], append(at[:len(at):len(at)], key))...)
		}
	case []any:
		for i := range value {
			places = append(places, placesOf(value[i], append(at[:len(at):len(at)], i))...)
		}
	}
	return places
}

// mutated returns the JSON of a document with another value at a place; "" removes it.
func mutated(document any, at place, value string) string {
	if len(at) == 0 {
		return value
	}
	var parts []string
	add := func(key string, item any, step any) {
		text, err := json.Marshal(item)
		if err != nil {
			panic(err)
		}
		is := string(text)
		if step == at[0] {
			if is = mutated(item, at[1:], value); is == "" {
				return
			}
		}
		parts = append(parts, key+is)
	}
	switch list := document.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(list)) {
			add(strconv.Quote(key)+":", list[key], key)
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		for i, item := range list {
			add("", item, i)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return value
}

// A richFlag has every field that flags can have. Nobody but the user 7 has it.
const richFlag = `{"name": "rich", "type": "release", "enabled": true, "project": "default", "stale": false, "description": "d", "impressionData": true,
	"strategies": [{"name": "flexibleRollout", "parameters": {"rollout": "100", "groupId": "rich", "stickiness": "default"}, "segments": [3], "constraints": [
		{"contextName": "userId", "operator": "IN", "values": ["7"], "caseInsensitive": false, "inverted": false}, {"contextName": "age", "operator": "NUM_GT", "value": "18"}],
		"variants": [{"name": "inner", "weight": 1000, "weightType": "variable", "stickiness": "default", "payload": {"type": "json", "value": "{}"}}]}],
	"variants": [{"name": "outer", "weight": 1000, "weightType": "fix", "stickiness": "random", "payload": {"type": "number", "value": "1"}, "overrides": [{"contextName": "userId", "values": ["7"]}]}],
	"dependencies": [{"feature": "a-neighbor", "enabled": true, "variants": []}]}`

const richSegment = `{"id": 3, "name": "s", "project": "default", "constraints": [{"contextName": "userId", "operator": "IN", "values": ["7"], "caseInsensitive": false, "inverted": false}]}`

// oddValues replace each value in turn.
var oddValues = []string{
	"", "null", "true", "false", "0", "-1", "7", "1.5", "1e999", "-1e300", "9007199254740993", "123456789012345678901234567890", `""`, `"x"`, `"7"`, `"1e9"`, `"NaN"`, `"Infinity"`, `"0x10"`, `"\ud83d"`, `"\udc00\ud83d"`, "\"\xff\xfe\"",
	`[]`, `{}`, `[null]`, `[7]`, `["x"]`, `[[]]`, `[{}]`, `{"a":1}`, `{"a":1,"a":2}`, `[{"name":"x"}]`, `{"type":"json","value":{"a":1}}`, `"[[[[[["`, `{"name":7}`,
}

func parsed(t testing.TB, text string) (document any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// checkNeighbors reads a flag and a segment in every form that upstreams have, between others, which must be there as if they were alone. Then
// it makes every response. It returns the state.
func checkNeighbors(t *testing.T, flag, segment string) *state {
	t.Helper()
	if segment != "" {
		segment = "," + segment
	}
	if flag != "" {
		flag = "," + flag
	}
	features := `[` + goodFlag("a-neighbor", true) + flag + `,` + goodFlag("z-neighbor", false) + `]`
	segments := `[{"id":4000000000000000001,"name":"first","constraints":[{"contextName":"a","operator":"IN","values":["b"]}]}` + segment + `,{"id":4000000000000000002,"name":"last","constraints":[]}]`
	whole := `{"version":2,"features":` + features + `,"segments":` + segments + `}`
	var last *state
	for form, read := range map[string]func() (*reading, error){
		"features": func() (*reading, error) { return readFeatures([]byte(whole), "") },
		"file":     func() (*reading, error) { return readFile([]byte(whole)) },
		"hydration": func() (*reading, error) {
			return readDelta([]byte(`{"events":[{"eventId":1,"type":"hydration","features":`+features+`,"segments":`+segments+`}]}`), "")
		},
	} {
		r, err := read()
		if err != nil {
			t.Fatalf("%s: %v\n%s", form, err, whole)
		}
		s, err := r.after(nil, "development")
		if err != nil {
			t.Fatalf("%s: %v\n%s", form, err, whole)
		}
		if before, after := s.flags["a-neighbor"], s.flags["z-neighbor"]; before == nil || !before.Enabled || after == nil || after.Enabled || s.segments[4000000000000000001] == nil || s.segments[4000000000000000002] == nil {
			t.Fatalf("%s lost a neighbor:\n%s", form, whole)
		}
		if flag != "" && len(s.flags)+len(s.odd) < 3 {
			t.Fatalf("%s lost the flag and does not tell:\n%s", form, whole)
		}
		last = s
	}
	responder := answers.NewResponder(answers.Options{})
	for _, spec := range []string{"", "5.2.0"} {
		query, _ := answers.ParseQuery("", spec)
		features, err := responder.Features(last.set, everything, query, answers.Request{})
		if err != nil || !jsontext.Value(features.Body).IsValid() {
			t.Fatalf("%v: %.2000s", err, features.Body)
		}
		delta, err := responder.Delta(last.set, everything, query, answers.Request{})
		if err != nil || !jsontext.Value(delta.Body).IsValid() {
			t.Fatalf("%v: %.2000s", err, delta.Body)
		}
		again, err := readFeatures(features.Body, "")
		if err != nil || len(again.odd) > 0 || len(again.features) != len(last.flags) {
			t.Fatalf("another Edge cannot read what this one serves: %v %v\n%s", err, again, features.Body)
		}
	}
	c := func(user string) *evaluate.Context {
		return &evaluate.Context{UserID: user, SessionID: "s", Now: time.Now(), Properties: map[string]string{"age": "20"}}
	}
	for _, user := range []string{"7", "8"} {
		toggles, err := responder.AllToggles(t.Context(), last.set, everything, c(user), answers.Request{Now: time.Now()})
		if err != nil || !jsontext.Value(toggles.Body).IsValid() {
			t.Fatalf("%v: %.2000s", err, toggles.Body)
		}
		ofrep, err := responder.Evaluations(t.Context(), last.set, everything, c(user), []byte(`{}`), "", answers.Request{Now: time.Now()})
		if err != nil || !jsontext.Value(ofrep.Body).IsValid() {
			t.Fatalf("%v: %.2000s", err, ofrep.Body)
		}
	}
	return last
}

// isOn reports whether a state has a flag on for a user.
func (s *state) isOn(t *testing.T, flag, user string) bool {
	t.Helper()
	c := &evaluate.Context{UserID: user, Now: time.Now(), Properties: map[string]string{"age": "20"}}
	toggles, err := answers.NewResponder(answers.Options{}).Toggles(t.Context(), s.set, everything, c, answers.Request{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(toggles.Body), `"name":"`+flag+`"`)
}

// TestAnyPartOdd puts every odd value at every place of a flag and a segment.
func TestAnyPartOdd(t *testing.T) {
	t.Parallel()
	flag, segment := parsed(t, richFlag), parsed(t, richSegment)
	whole := checkNeighbors(t, richFlag, richSegment)
	if len(whole.odd) > 0 || !whole.isOn(t, "rich", "7") || whole.isOn(t, "rich", "8") {
		t.Fatalf("the flag itself is odd: %v", whole.odd)
	}
	for _, at := range placesOf(flag, nil) {
		for _, value := range oddValues {
			checkNeighbors(t, mutated(flag, at, value), richSegment)
		}
	}
	for _, at := range placesOf(segment, nil) {
		for _, value := range oddValues {
			checkNeighbors(t, richFlag, mutated(segment, at, value))
			alone := checkNeighbors(t, `{"name":"rich","enabled":true,"strategies":[{"name":"default","segments":[3]}]}`, mutated(segment, at, value))
			if says := saysEveryone(at, value); alone.isOn(t, "rich", "8") != says {
				t.Errorf("with %s at %v of the segment, the flag is on for everyone: want %t", value, at, says)
			}
		}
	}
}

// saysEveryone reports whether a value at a place of the segment says that everyone is in it.
func saysEveryone(at place, value string) bool {
	switch fmt.Sprint([]any(at)) {
	case "[constraints]":
		return value == "[]" || value == "{}"
	case "[constraints 0]": // without it, the list is empty
		return value == ""
	case "[constraints 0 inverted]":
		return value == "true"
	}
	return false
}

// FuzzFlag puts any value at any place of a flag or a segment.
func FuzzFlag(f *testing.F) {
	flag, segment := parsed(f, richFlag), parsed(f, richSegment)
	places, ofSegment := placesOf(flag, nil), placesOf(segment, nil)
	for i, value := range oddValues {
		f.Add(uint(i*7), value)
		f.Add(uint(len(places)+i*7), value)
	}
	f.Fuzz(func(t *testing.T, which uint, value string) {
		if value != "" && jsonbody.DecodeForeign([]byte(value), new(jsontext.Value)) != nil || strings.ContainsAny(value, `\`) && strings.Contains(value, "u") {
			return // no JSON, or maybe the name of a neighbor
		}
		if strings.Contains(value, "neighbor") || strings.Count(value, "[")+strings.Count(value, "{") > 9000 {
			return // a neighbor, or deeper than the decoder goes
		}
		which %= uint(len(places) + len(ofSegment))
		if int(which) < len(places) {
			checkNeighbors(t, mutated(flag, places[which], value), richSegment)
		} else {
			checkNeighbors(t, richFlag, mutated(segment, ofSegment[int(which)-len(places)], value))
		}
	})
}
