package features_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
)

// TestManifest reads and writes flags of the OpenFeature manifest.
func TestManifest(t *testing.T) {
	t.Parallel()
	const manifest = "/api/openfeature/projects/default/openfeature/v0/manifest"
	s := apitest.Serve(t)
	flag := func(key, kind, value, description string) string {
		return fmt.Sprintf(`{"key":%q,"type":%q,"defaultValue":%s,"description":%q}`, key, kind, value, description)
	}
	saved := func(f string) string { return `{"flag":` + f + `,"updatedAt":"<time>"}` }
	failed := func(status int, part string, details ...string) string {
		list := ""
		if len(details) > 0 {
			list = `,"details":[{"field":"` + details[0] + `","...":0}]`
		}
		return fmt.Sprintf(`{"error":{"id":"<uuid>","message":"<has %s>","status":%d%s}}`, part, status, list)
	}
	s.Create(t, "untyped")
	long := `"` + strings.Repeat("x", 1000) + `"`
	s.Run(t, []apitest.Call{
		{"a flag without a type", "GET", manifest, "", 200, `{"flags":[` + flag("untyped", "boolean", "false", "") + `]}`},
		{"create", "POST", manifest + "/flags", `{"key":"size","type":"integer","name":"ignored","description":"Results","defaultValue":10}`, 201, saved(flag("size", "integer", "10", "Results"))},
		{"as the administration has it", "GET", apitest.Features + "/size", "", 200, `{"...":0,"valueType":"integer","defaultValue":10,"description":"Results"}`},
		{"float", "POST", manifest + "/flags", `{"key":"ratio","type":"float","defaultValue":0.5}`, 201, saved(flag("ratio", "float", "0.5", ""))},
		{"number", "PUT", manifest + "/flags/ratio", `{"key":"ratio","type":"number","defaultValue":1}`, 200, saved(flag("ratio", "float", "1", ""))},
		{"object", "POST", manifest + "/flags", `{"key":"theme","type":"object","defaultValue":{"dark":[true]}}`, 201, saved(flag("theme", "object", `{"dark":[true]}`, ""))},
		{"a long one", "POST", manifest + "/flags", `{"key":"text","type":"string","defaultValue":` + long + `}`, 201, saved(flag("text", "string", long, ""))},
		{"all", "GET", manifest, "", 200, `{"flags":[` + strings.Join([]string{flag("ratio", "float", "1", ""), flag("size", "integer", "10", "Results"),
			flag("text", "string", long, ""), flag("theme", "object", `{"dark":[true]}`, ""), flag("untyped", "boolean", "false", "")}, ",") + `]}`},
		{"the description goes", "PUT", manifest + "/flags/size", `{"key":"size","type":"integer"}`, 200, saved(flag("size", "integer", "10", ""))},
		{"the default value of an untyped flag", "PUT", manifest + "/flags/untyped", `{"key":"untyped","type":"boolean","defaultValue":false,"description":"d"}`, 200, saved(flag("untyped", "boolean", "false", "d"))},
		{"it stays without a type", "PUT", apitest.Features + "/untyped", `{}`, 200, apitest.Created("untyped", `"description":"d"`)},
		{"another default value", "PUT", manifest + "/flags/untyped", `{"key":"untyped","type":"boolean","defaultValue":true}`, 200, saved(flag("untyped", "boolean", "true", ""))},
		{"another type", "PUT", manifest + "/flags/untyped", `{"key":"untyped","type":"string","defaultValue":""}`, 409, failed(409, "has the valueType boolean")},
		{"taken", "POST", manifest + "/flags", `{"key":"size","type":"integer","defaultValue":10}`, 409, failed(409, "is taken")},
		{"a default value of another type", "POST", manifest + "/flags", `{"key":"wrong","type":"integer","defaultValue":"10"}`, 400, failed(400, "whole number", "defaultValue")},
		{"without a default value", "POST", manifest + "/flags", `{"key":"wrong","type":"integer"}`, 400, failed(400, "is required", "defaultValue")},
		{"an unknown type", "POST", manifest + "/flags", `{"key":"wrong","type":"date","defaultValue":1}`, 400, failed(400, "boolean, string", "type")},
		{"a bad name", "POST", manifest + "/flags", `{"key":"a/b","type":"boolean","defaultValue":true}`, 400, failed(400, "/key", "key")},
		{"no JSON", "POST", manifest + "/flags", `{`, 400, failed(400, "not valid JSON")},
		{"another key", "PUT", manifest + "/flags/size", `{"key":"other","type":"integer"}`, 400, failed(400, "renamed", "key")},
		{"an unknown flag", "PUT", manifest + "/flags/nosuch", `{"key":"nosuch","type":"integer"}`, 404, failed(404, "nosuch")},
		{"an unknown project", "GET", strings.Replace(manifest, "default", "nosuch", 1), "", 404, failed(404, "nosuch")},
		{"archive", "DELETE", manifest + "/flags/size", "", 200, `{"message":"flag size is archived; its name stays taken","archivedAt":"<time>"}`},
		{"archived", "DELETE", manifest + "/flags/size", "", 409, failed(409, "is archived")},
		{"update an archived one", "PUT", manifest + "/flags/size", `{"key":"size","type":"integer"}`, 409, failed(409, "is archived")},
		{"create an archived one", "POST", manifest + "/flags", `{"key":"size","type":"integer","defaultValue":1}`, 409, failed(409, "archived flag keeps its name")},
	})
	if got := s.Do(t, "GET", manifest, "", "Authorization: Bearer wrong"); got.Status != 401 || !strings.Contains(got.Body, `{"error":{"id":`) {
		t.Errorf("a wrong token: %d %s", got.Status, got.Body)
	}
	_, viewer := s.Person(t, access.RoleViewer)
	if got := s.Do(t, "POST", manifest+"/flags", `{"key":"no","type":"boolean","defaultValue":true}`, viewer); got.Status != 403 || !strings.Contains(got.Body, `"status":403`) {
		t.Errorf("a viewer: %d %s", got.Status, got.Body)
	}
	for who, want := range map[string]string{"": "read,write,delete", viewer: "read"} {
		headers := []string{who}
		if who == "" {
			headers = nil
		}
		if got := s.Do(t, "GET", manifest, "", headers...).Header.Get("X-Manifest-Capabilities"); got != want {
			t.Errorf("capabilities %q, want %q", got, want)
		}
	}
}
