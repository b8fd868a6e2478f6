package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// stages are a flag's history; the others are members of the last stage.
func stages(names string, others ...string) string {
	list := strings.Fields(names)
	for i, name := range list {
		members := []string{fmt.Sprintf(`"stage":%q`, name), `"enteredStageAt":"<time>"`}
		if i == len(list)-1 {
			members = append(members, others...)
		}
		list[i] = "{" + strings.Join(members, ",") + "}"
	}
	return "[" + strings.Join(list, ",") + "]"
}

func TestLifecycle(t *testing.T) {
	s := serve(t)
	s.create(t, "f")
	f := features + "/f"
	history, complete, uncomplete := f+"/lifecycle", f+"/lifecycle/complete", f+"/lifecycle/uncomplete"
	record := func(stage string) string { return fmt.Sprintf(`{"...":0,"lifecycle":%s}`, stage[1:len(stage)-1]) }
	s.run(t, []call{
		{"made", "GET", history, "", 200, stages("initial")},
		{"read", "GET", f, "", 200, record(stages("initial"))},
		{"taken back before it was said", "POST", uncomplete, "", 200, ""},
		{"completed", "POST", complete, `{"status":"kept"}`, 200, ""},
		{"completed again", "POST", complete, `{"status":"kept"}`, 200, ""},
		{"in its history", "GET", history, "", 200, stages("initial completed", `"status":"kept"`)},
		{"read as completed", "GET", f, "", 200, record(stages("completed", `"status":"kept"`))},
		{"with another outcome", "POST", complete, `{"status":"kept-with-variant","statusValue":"blue"}`, 200, ""},
		{"in its history", "GET", history, "", 200, stages("initial completed", `"status":"kept-with-variant"`, `"statusValue":"blue"`)},
		{"taken back", "POST", uncomplete, "", 200, ""},
		{"as before", "GET", history, "", 200, stages("initial")},
		{"without a word", "POST", complete, "", 200, ""},
		{"or with an empty body, which changes nothing more", "POST", complete, `{}`, 200, ""},
		{"in its history", "GET", history, "", 200, stages("initial completed")},
		{"discarded", "POST", complete, `{"status":"discarded"}`, 200, ""},
	})
	s.unchanged(t, "f", []call{
		{"an unknown status", "POST", complete, `{"status":"lost"}`, 400, invalid("/status")},
		{"an empty status", "POST", complete, `{"status":""}`, 400, invalid("/status")},
		{"a long value", "POST", complete, `{"status":"kept","statusValue":"` + strings.Repeat("ü", 1001) + `"}`, 400, invalid("/statusValue")},
		{"of an unknown flag", "GET", features + "/nosuch/lifecycle", "", 404, notFound(`"nosuch"`)},
		{"an unknown flag", "POST", features + "/nosuch/lifecycle/complete", `{"status":"kept"}`, 404, notFound(`"nosuch"`)},
		{"an unknown flag, back", "POST", features + "/nosuch/lifecycle/uncomplete", "", 404, notFound(`"nosuch"`)},
		{"through another project", "GET", "/api/admin/projects/nosuch/features/f/lifecycle", "", 404, notFound(`"nosuch"`)},
	})
	s.must(t, "DELETE", f, "")
	s.run(t, []call{
		{"archived", "GET", history, "", 200, strings.Replace(stages("initial completed archived"), `"completed"`, `"completed","status":"discarded"`, 1)},
		{"completed while it is archived", "POST", complete, `{"status":"kept"}`, 404, notFound("archived")},
		{"uncompleted while it is archived", "POST", uncomplete, "", 404, notFound("archived")},
	})
	s.must(t, "POST", "/api/admin/archive/revive/f", "")
	s.run(t, []call{{"revived: from the beginning", "GET", history, "", 200, stages("initial")}})
	want := []flags.EventType{
		flags.FeatureCreated, flags.FeatureCompleted, flags.FeatureCompleted, flags.FeatureUncompleted, flags.FeatureCompleted,
		flags.FeatureCompleted, flags.FeatureArchived, flags.FeatureRevived,
	}
	if got := s.events(t, "f"); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: none where nothing changed", got, want)
	}
}

// TestLifecycleTimes follows the clock: each stage has the time of the call that it was entered by.
func TestLifecycleTimes(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	f := features + "/f"
	want := func(history string) {
		t.Helper()
		s.check(t, call{"history", "GET", f + "/lifecycle", "", 200, history})
	}
	at := func(stage string, day int) string {
		return fmt.Sprintf(`{"stage":%q,"enteredStageAt":"2026-01-%02dT12:00:00.000Z"}`, stage, day)
	}
	steps := []struct{ method, path, body, history string }{
		{"POST", features, `{"name":"f"}`, at("initial", 5)},
		{"POST", f + "/lifecycle/complete", "", at("initial", 5) + "," + at("completed", 6)},
		{"POST", f + "/lifecycle/complete", "", at("initial", 5) + "," + at("completed", 6)},
		{"DELETE", f, "", at("initial", 5) + "," + at("completed", 6) + "," + at("archived", 8)},
		{"POST", "/api/admin/archive/revive/f", "", at("initial", 9)},
	}
	for _, step := range steps {
		s.must(t, step.method, step.path, step.body)
		want("[" + step.history + "]")
		now = now.AddDate(0, 0, 1)
	}
}
