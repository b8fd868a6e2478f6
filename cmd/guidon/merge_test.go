package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/internal/adminapi"
)

// TestMergedPages merges pages of an export: flags are added, and what several pages refer to is there once.
func TestMergedPages(t *testing.T) {
	var all exportData
	for _, page := range []string{
		`{"features":[{"name":"a"}],"featureTags":[{"featureName":"a","tagType":"simple"}],"tagTypes":[{"name":"simple"}],"segments":[],"next":"a"}`,
		`{"features":[{"name":"b"}],"featureTags":[],"tagTypes":[],"segments":[{"id":7,"name":"s"}],"next":"b"}`,
		`{"features":[],"featureTags":[{"featureName":"b","tagType":"simple"},{"featureName":"b","tagType":"team"}],"tagTypes":[{"name":"simple"},{"name":"team"}],"segments":[{"id":7,"name":"s"}]}`,
	} {
		data, err := parseExport([]byte(page))
		if err != nil {
			t.Fatal(err)
		}
		if all, err = all.with(data); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"featureTags":[{"featureName":"a","tagType":"simple"},{"featureName":"b","tagType":"simple"},{"featureName":"b","tagType":"team"}],` +
		`"features":[{"name":"a"},{"name":"b"}],"segments":[{"id":7,"name":"s"}],"tagTypes":[{"name":"simple"},{"name":"team"}]}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Errorf("the merged export differs (-want +got):\n%s", diff)
	}
	for _, page := range []string{`{"features":{}}`, `{"features":[],"segments":["s"]}`} {
		var data exportData
		if err := json.Unmarshal([]byte(page), &data); err != nil {
			t.Fatal(err)
		}
		if _, err := all.with(data); err == nil {
			t.Errorf("%s was merged, want an error", page)
		}
	}
}

// TestByteOrderMark reads an export that an editor on Windows has saved.
func TestByteOrderMark(t *testing.T) {
	data, err := parseExport([]byte("\ufeff" + `{"features":[{"name":"a"}]}`))
	if err != nil || data.count() != 1 {
		t.Errorf("%v, %v", data, err)
	}
}

// TestCommandPages lists and exports flags in pages of every size. Together they are the whole list and the whole export.
func TestCommandPages(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"paged","name":"Paged"}`)
	for _, name := range []string{"paged-a", "paged-b", "paged-c", "paged-d", "paged-e"} {
		createFlag(t, "paged", name)
	}
	must(t, "flag on paged-b paged-d --project paged --environment development --rollout 50")
	server, err := adminapi.New("the server", serverURL, adminToken)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Features []flagRow }
	if err := server.Get(t.Context(), "/api/admin/projects/paged/features", &list); err != nil {
		t.Fatal(err)
	}
	whole := must(t, "export --environment development --project paged")
	for size := 1; size <= 6; size++ {
		flags, err := flagPages[flagRow](t.Context(), server, "/api/admin/projects/paged/features", size)
		if diff := cmp.Diff(list.Features, flags); diff != "" || err != nil {
			t.Errorf("pages of %d: %v; the list differs (-want +got):\n%s", size, err, diff)
		}
		raw, err := exportPages(t.Context(), server, map[string]any{"environment": "development", "project": "paged"}, size)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(asValue(t, []byte(whole)), asValue(t, raw)); diff != "" {
			t.Errorf("pages of %d: the export differs (-want +got):\n%s", size, diff)
		}
	}
}

func asValue(t *testing.T, raw []byte) (value any) {
	t.Helper()
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
