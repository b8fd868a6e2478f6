package admin_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// A longText is a body with a text that is one character too long.
type longText struct {
	path string // a JSON pointer to the text
	body any
}

// longTexts returns copies of example in which one text is longer than the schema allows. Import data is left out, since its
// response lists the invalid flags.
func longTexts(ref *openapi3.SchemaRef, example any) (all []longText) {
	if ref == nil || strings.Contains(ref.Ref, "/Import") || strings.HasSuffix(ref.Ref, "/Anything") {
		return nil
	}
	s := ref.Value
	for _, inner := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		if inner.Value.Type.Is("string") || len(s.AllOf) > 0 {
			all = append(all, longTexts(inner, example)...)
		}
	}
	if s.Type.Is("string") && s.MaxLength != nil {
		all = append(all, longText{"", strings.Repeat("x", int(*s.MaxLength)+1)})
	}
	if s.Items != nil {
		list, _ := example.([]any)
		var first any
		if len(list) > 0 {
			first = list[0]
		}
		for _, long := range longTexts(s.Items, first) {
			all = append(all, longText{"/0" + long.path, []any{long.body}})
		}
	}
	object, _ := example.(map[string]any)
	with := func(name string, member *openapi3.SchemaRef) {
		for _, long := range longTexts(member, object[name]) {
			body := map[string]any{}
			maps.Copy(body, object)
			body[name] = long.body
			all = append(all, longText{"/" + name + long.path, body})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		with(name, s.Properties[name])
	}
	with("anything", s.AdditionalProperties.Schema)
	return all
}

// TestLongTexts sends every text of every body with one character more than the API description allows. Each is a 400 that
// names the field.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	d, err := apitest.TheDescription()
	if err != nil {
		t.Fatal(err)
	}
	s := apitest.Serve(t)
	on := newSubject(t, s)
	tried := 0
	for _, route := range routes(t) {
		method, path, _ := strings.Cut(route, " ")
		op := d.Operation(method + " " + path)
		if op.RequestBody == nil || route == "POST /api/admin/user/tokens" || route == "POST /api/signals/{signalName}" { // only for users, and for the secret of a signal
			continue
		}
		media := op.RequestBody.Value.Content["application/json"]
		for _, long := range longTexts(media.Schema, media.Examples["example"].Value.Value) {
			body, err := json.Marshal(long.body)
			if err != nil {
				t.Fatal(err)
			}
			c := on.call(route)
			got := s.Do(t, c.Method, c.Path, string(body))
			var response struct {
				Details []struct{ Path string }
				Error   struct{ Details []struct{ Field string } } // of the OpenFeature manifest
			}
			_ = json.Unmarshal([]byte(got.Body), &response)
			for _, d := range response.Error.Details {
				response.Details = append(response.Details, struct{ Path string }{"/" + d.Field})
			}
			named := slices.ContainsFunc(response.Details, func(d struct{ Path string }) bool {
				return d.Path == long.path || d.Path != "" && strings.HasPrefix(long.path, d.Path+"/")
			})
			if got.Status != 400 || !named {
				t.Errorf("%s with %s of %d bytes: %d %.300s, want a 400 that names it", route, long.path, len(body), got.Status, got.Body)
			}
			tried++
		}
	}
	if tried < 100 {
		t.Errorf("%d texts, want at least 100", tried)
	}
	t.Log(strconv.Itoa(tried) + " texts")
}

// TestOldTexts checks that texts that were stored before there was a limit are kept, and that other fields can be changed.
func TestOldTexts(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	long := strings.Repeat("x", 100<<10)
	s.Create(t, "old")
	id := s.AddStrategy(t, "old", `{"name":"default","constraints":[{"contextName":"c","operator":"IN","values":["v"]}]}`)
	s.Must(t, "PUT", apitest.In("old", "development")+"/variants", `[{"name":"a","weight":1}]`)
	flag, p := apitest.Load[*flags.Feature](t, s, flags.FeatureKey("old")), apitest.Load[*flags.Project](t, s, flags.ProjectKey("default"))
	longFlag, longProject := flag.Clone(), p.Clone()
	longFlag.Description, longProject.Description = &long, long
	fe := longFlag.Environments["development"]
	fe.Strategies, fe.Variants = slices.Clone(fe.Strategies), slices.Clone(fe.Variants)
	fe.Strategies[0].Title, fe.Variants[0].Name = &long, long
	longFlag.Environments["development"] = fe
	change := flags.Change{Event: flags.Event{ID: "0190", Type: flags.FeatureMetadataUpdated, FeatureName: "old"},
		Writes: []flags.Write{{Before: flag, After: longFlag}, {Before: p, After: longProject}}}
	if err := s.Store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	strategy := apitest.In("old", "development") + "/strategies/" + id
	s.Run(t, []apitest.Call{
		{"read", "GET", apitest.Features + "/old", "", 200, `{"...":0,"description":"` + long + `"}`},
		{"another field", "PATCH", apitest.Features + "/old", `[{"op":"replace","path":"/stale","value":true}]`, 200, `{"...":0,"stale":true,"description":"` + long + `"}`},
		{"another field by PUT", "PUT", apitest.Features + "/old", `{"impressionData":true}`, 200, `{"...":0,"description":"` + long + `"}`},
		{"a longer text", "PATCH", apitest.Features + "/old", `[{"op":"replace","path":"/description","value":"` + long + `y"}]`, 400, apitest.Invalid("/description")},
		{"another field of a strategy", "PATCH", strategy, `[{"op":"replace","path":"/disabled","value":true}]`, 200, `{"...":0,"title":"` + long + `","disabled":true}`},
		{"a longer title", "PATCH", strategy, `[{"op":"replace","path":"/title","value":"` + long + `y"}]`, 400, apitest.Invalid("/title")},
		{"another field of a variant", "PATCH", apitest.In("old", "development") + "/variants", `[{"op":"replace","path":"/0/stickiness","value":"userId"}]`, 200, apitest.Anything},
		{"a longer name", "PATCH", apitest.In("old", "development") + "/variants", `[{"op":"replace","path":"/0/name","value":"` + long + `y"}]`, 400, apitest.Invalid("/0/name")},
		{"enabled", "POST", apitest.In("old", "development") + "/on", "", 200, apitest.Anything},
		{"cloned", "POST", apitest.Features + "/old/clone", `{"name":"new"}`, 201, apitest.Anything},
		{"another field of a project", "PUT", apitest.Project, `{"name":"Other"}`, 200, ""},
		{"its text is kept", "GET", apitest.Project, "", 200, `{"...":0,"name":"Other","description":"` + long + `"}`},
		{"a shorter text", "PUT", apitest.Project, `{"description":"short"}`, 200, ""},
	})
}
