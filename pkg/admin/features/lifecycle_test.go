package features_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// stages is a flag's history. others are fields of the last stage.
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
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	f := apitest.Features + "/f"
	history, complete, uncomplete := f+"/lifecycle", f+"/lifecycle/complete", f+"/lifecycle/uncomplete"
	record := func(stage string) string { return fmt.Sprintf(`{"...":0,"lifecycle":%s}`, stage[1:len(stage)-1]) }
	s.Run(t, []apitest.Call{
		{"the history of a new flag", "GET", history, "", 200, stages("initial")},
		{"read a new flag", "GET", f, "", 200, record(stages("initial"))},
		{"uncomplete a flag that is not completed", "POST", uncomplete, "", 200, ""},
		{"complete it", "POST", complete, `{"status":"kept"}`, 200, ""},
		{"complete it again", "POST", complete, `{"status":"kept"}`, 200, ""},
		{"the history has the stage", "GET", history, "", 200, stages("initial completed", `"status":"kept"`)},
		{"read the completed flag", "GET", f, "", 200, record(stages("completed", `"status":"kept"`))},
		{"list the completed flag", "GET", apitest.Features, "", 200, `{"...":0,"features":[` + record(stages("completed", `"status":"kept"`)) + `]}`},
		{"complete it with another outcome", "POST", complete, `{"status":"kept-with-variant","statusValue":"blue"}`, 200, ""},
		{"the history has the stage", "GET", history, "", 200, stages("initial completed", `"status":"kept-with-variant"`, `"statusValue":"blue"`)},
		{"uncomplete it", "POST", uncomplete, "", 200, ""},
		{"the history is as before", "GET", history, "", 200, stages("initial")},
		{"complete it without a body", "POST", complete, "", 200, ""},
		{"complete it with an empty body", "POST", complete, `{}`, 200, ""},
		{"the history has the stage", "GET", history, "", 200, stages("initial completed")},
		{"complete it as discarded", "POST", complete, `{"status":"discarded"}`, 200, ""},
	})
	s.Unchanged(t, "f", []apitest.Call{
		{"an unknown status", "POST", complete, `{"status":"lost"}`, 400, apitest.Invalid("/status")},
		{"an empty status", "POST", complete, `{"status":""}`, 400, apitest.Invalid("/status")},
		{"a long value", "POST", complete, `{"status":"kept","statusValue":"` + strings.Repeat("ü", 1001) + `"}`, 400, apitest.Invalid("/statusValue")},
	})
	s.Must(t, "DELETE", f, "")
	s.Run(t, []apitest.Call{
		{"the history of an archived flag", "GET", history, "", 200, strings.Replace(stages("initial completed archived"), `"completed"`, `"completed","status":"discarded"`, 1)},
	})
	s.Must(t, "POST", "/api/admin/archive/revive/f", "")
	s.Run(t, []apitest.Call{{"the history starts again after reviving", "GET", history, "", 200, stages("initial")}})
	s.WantHistory(t, "f",
		flags.FeatureCreated, flags.FeatureCompleted, flags.FeatureCompleted, flags.FeatureUncompleted, flags.FeatureCompleted,
		flags.FeatureCompleted, flags.FeatureArchived, flags.FeatureRevived)
}

// TestLifecycleTimes checks that each stage has the time of the request that entered it.
func TestLifecycleTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	f := apitest.Features + "/f"
	want := func(history string) {
		t.Helper()
		s.Check(t, apitest.Call{"history", "GET", f + "/lifecycle", "", 200, history})
	}
	at := func(stage string, day int) string {
		return fmt.Sprintf(`{"stage":%q,"enteredStageAt":"2026-01-%02dT12:00:00.000Z"}`, stage, day)
	}
	steps := []struct{ method, path, body, history string }{
		{"POST", apitest.Features, `{"name":"f"}`, at("initial", 5)},
		{"POST", f + "/lifecycle/complete", "", at("initial", 5) + "," + at("completed", 6)},
		{"POST", f + "/lifecycle/complete", "", at("initial", 5) + "," + at("completed", 6)},
		{"DELETE", f, "", at("initial", 5) + "," + at("completed", 6) + "," + at("archived", 8)},
		{"POST", "/api/admin/archive/revive/f", "", at("initial", 9)},
	}
	for _, step := range steps {
		s.Must(t, step.method, step.path, step.body)
		want("[" + step.history + "]")
		now = now.AddDate(0, 0, 1)
	}
}
