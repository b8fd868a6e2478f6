package features_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// movePath is the path that moves a flag of the project "default".
func movePath(flag string) string { return apitest.Features + "/" + flag + "/changeProject" }

func TestMove(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateEnabled(t, "f", "g", "h", "parent")
	s.Create(t, "child", "plain", "gone")
	s.Must(t, "POST", apitest.In("f", "production")+"/strategies", `{"name":"default"}`)
	s.Must(t, "POST", apitest.In("g", "production")+"/strategies", `{"name":"default"}`)
	s.Must(t, "POST", apitest.In("g", "production")+"/on", "")
	s.Must(t, "POST", "/api/admin/features/f/tags", `{"type":"simple","value":"mine"}`)
	s.Must(t, "POST", apitest.Features+"/f/favorites", "")
	s.Must(t, "PUT", apitest.Features+"/h", `{"stale":true}`)
	s.Must(t, "POST", apitest.Features+"/child/dependencies", `{"feature":"parent"}`)
	s.Must(t, "DELETE", apitest.Features+"/gone", "")
	s.Must(t, "POST", apitest.Projects, `{"id":"shop","environments":["development"]}`)
	const shop, there, everywhere = apitest.Projects + "/shop", apitest.Projects + "/shop/features", apitest.Projects + "/default/changeProject"
	const to = `{"newProjectId":"shop"}`
	related := func(name string) string {
		return fmt.Sprintf(`{"id":"<uuid>","name":"ConflictError","message":"<has cannot be moved because it has dependencies>","details":[{"message":%q}]}`, name)
	}
	s.Run(t, []apitest.Call{
		{"to its own project", "POST", movePath("f"), `{"newProjectId":"default"}`, 200, ""},
		{"to an unknown project", "POST", movePath("f"), `{"newProjectId":"nosuch"}`, 400, apitest.Invalid("/newProjectId")},
		{"newProjectId is missing", "POST", movePath("f"), `{}`, 400, apitest.Invalid("/newProjectId")},
		{"a parent", "POST", movePath("parent"), to, 409, related("child")},
		{"a child", "POST", movePath("child"), to, 409, related("parent")},
		{"a flag that is enabled in an environment the new project does not have", "POST", movePath("g"), to, 409, apitest.Failure("ConflictError", `project "shop" does not have ("production")`)},
		{"move a flag", "POST", movePath("f"), to, 200, ""},
		{"read it in the new project", "GET", there + "/f", "", 200, `{"...":0,"project":"shop","enabled":true,"favorite":true,"tags":[{"type":"simple","value":"mine"}],` +
			`"environments":[{"...":0,"name":"development","enabled":true,"strategies":[{"...":0,"name":"default"}]}]}`},
		{"it is not in the old project", "GET", apitest.Features + "/f", "", 404, apitest.NotFound(`"f"`)},
		{"list the new project", "GET", there, "", 200, `{"version":2,"features":[{"...":0,"name":"f","environments":[{"...":0,"enabled":true}]}]}`},
		{"move it again", "POST", movePath("f"), to, 404, apitest.NotFound(`"f"`)},
		{"move several flags", "POST", everywhere, `{"features":["plain","g","h","nosuch","f"],"newProjectId":"shop"}`, 409,
			apitest.PartialFailure("ConflictError", "3 of 5 flags could not be moved", "1", `"production"`, "3", "nosuch", "4", `"f"`)},
		{"list the moved flags", "GET", there, "", 200, `{"version":2,"features":[{"...":0,"name":"f"},{"...":0,"name":"h","stale":true},{"...":0,"name":"plain"}]}`},
		{"the new project counts them", "GET", shop, "", 200, `{"...":0,"health":67}`},
		{"the old project does not count them", "GET", apitest.Project, "", 200, `{"...":0,"health":100}`},
		{"several flags to an unknown project", "POST", everywhere, `{"features":["g"],"newProjectId":"nosuch"}`, 400, apitest.Invalid("/newProjectId")},
		{"add the missing environment", "POST", shop + "/environments", `{"environment":"production"}`, 200, ""},
		{"the strategies of that environment are back, disabled", "GET", there + "/f/environments/production", "", 200, `{"...":0,"enabled":false,"strategies":[{"...":0,"name":"default"}]}`},
		{"move the flag that is enabled there", "POST", movePath("g"), to, 200, ""},
		{"it is enabled in both environments", "GET", there + "/g", "", 200, `{"...":0,"environments":[{"...":0,"enabled":true},{"...":0,"enabled":true}]}`},
		{"move it back", "POST", there + "/g/changeProject", `{"newProjectId":"default"}`, 200, ""},
		{"it is still enabled in both environments", "GET", apitest.Features + "/g", "", 200, `{"...":0,"environments":[{"...":0,"enabled":true},{"...":0,"enabled":true}]}`},
	})
	s.WantEvents(t, "f", flags.FeatureMoved, 1)
	s.WantEvents(t, "g", flags.FeatureMoved, 2)
	events, err := s.Store.Events(t.Context(), &flags.Feature{Name: "f"})
	if err != nil {
		t.Fatal(err)
	}
	if last := events[len(events)-1]; last.Type != flags.FeatureMoved || last.Project != "shop" || fmt.Sprint(last.Data) != `{"newProject":"shop","oldProject":"default"}` {
		t.Errorf("the event is %+v, want both projects in its data", last)
	}
}

// TestMovePermissions checks that a move needs one permission in the old project and another in the new one.
func TestMovePermissions(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "g")
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	caller := func(here, there string) string {
		held := map[string]string{}
		if here != "" {
			held["default"] = s.RoleOf(t, "custom", here)
		}
		if there != "" {
			held["shop"] = s.RoleOf(t, "custom", there)
		}
		return apitest.As(s.Account(t, "3", held))
	}
	for _, tt := range []struct {
		here, there string
		status      int
	}{
		{"", "", 403},
		{"MOVE_FEATURE_TOGGLE", "", 403},
		{"", "MOVE_FEATURE_TOGGLE CREATE_FEATURE", 403},
		{"CREATE_FEATURE UPDATE_FEATURE DELETE_FEATURE", "CREATE_FEATURE", 403},
		{"MOVE_FEATURE_TOGGLE", "UPDATE_FEATURE", 403},
		{"MOVE_FEATURE_TOGGLE", "CREATE_FEATURE", 200},
	} {
		header := caller(tt.here, tt.there)
		for path, body := range map[string]string{movePath("f"): `{"newProjectId":"shop"}`, apitest.Project + "/changeProject": `{"features":["g"],"newProjectId":"shop"}`} {
			if got := s.Do(t, "POST", path, body, header); got.Status != tt.status {
				t.Errorf("%s with %q in the old project and %q in the new one: %d %s, want %d", path, tt.here, tt.there, got.Status, got.Body, tt.status)
			}
		}
	}
}

// TestParallelMoves moves flags back and forth while others are created, archived and revived. The counts stay exact.
func TestParallelMoves(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	const n, steps = 6, 8
	do := func(method, path, body string) {
		if got, err := s.Try(method, path, body); err != nil || got.Status >= 300 {
			t.Errorf("%s %s %s: %d %s, %v, want success", method, path, body, got.Status, got.Body, err)
		}
	}
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() {
			name := fmt.Sprintf("f%d", w)
			do("POST", apitest.Features, fmt.Sprintf(`{"name":%q}`, name))
			here, there := "default", "shop"
			for i := range steps {
				at := apitest.Projects + "/" + here
				switch (w + i) % 3 {
				case 0:
					do("POST", at+"/changeProject", fmt.Sprintf(`{"features":[%q],"newProjectId":%q}`, name, there))
					here, there = there, here
				case 1:
					do("PUT", at+"/features/"+name, fmt.Sprintf(`{"stale":%t}`, i%2 == 0))
				default:
					do("DELETE", at+"/features/"+name, "")
					do("POST", "/api/admin/archive/revive/"+name, "")
				}
			}
			do("POST", of(here), fmt.Sprintf(`{"name":"more%d"}`, w))
		})
	}
	wg.Wait()
	all := 0
	for _, id := range []string{"default", "shop"} {
		list := s.Must(t, "GET", of(id), "").Body
		want, stale := strings.Count(list, `"favorite":`), strings.Count(list, `"stale":true`)
		active, counted := s.FlagCounts(t, id)
		if active != want || counted != stale {
			t.Errorf("project %s: counted %d active and %d stale, the list has %d and %d", id, active, counted, want, stale)
		}
		all += want
	}
	if all != 2*n {
		t.Errorf("%d flags in both projects, want %d", all, 2*n)
	}
}

func of(project string) string { return apitest.Projects + "/" + project + "/features" }

// TestMoveToDeletedProject moves a flag to a project that is deleted in parallel. One of the two requests is refused.
func TestMoveToDeletedProject(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for i := range 12 {
		flag, shop := fmt.Sprintf("f%d", i), fmt.Sprintf("shop%d", i)
		s.Create(t, flag)
		s.Must(t, "POST", apitest.Projects, fmt.Sprintf(`{"id":%q}`, shop))
		calls := []apitest.Call{
			{Method: "POST", Path: movePath(flag), Body: fmt.Sprintf(`{"newProjectId":%q}`, shop)},
			{Method: "DELETE", Path: apitest.Projects + "/" + shop},
		}
		got := s.Parallel(t, 2, func(i int) apitest.Call { return calls[i] })
		moved := s.Do(t, "GET", apitest.Projects+"/"+shop+"/features/"+flag, "").Status == 200
		stayed := s.Do(t, "GET", apitest.Features+"/"+flag, "").Status == 200
		there := s.Do(t, "GET", apitest.Projects+"/"+shop, "").Status == 200
		if got[200] != 1 || moved == stayed || moved != there {
			t.Errorf("statuses %v; moved %t, stayed %t, the project exists %t; want the flag in a project that exists", got, moved, stayed, there)
		}
	}
}

// A mover moves a flag while the lists of two projects are read: after that of the first, and before that of the second.
type mover struct {
	from, to string // the UIDs of the projects
	move     atomic.Pointer[func()]
	moved    chan struct{}
}

func (m *mover) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	list := func(uid string) bool {
		return strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") && bytes.Contains(body, []byte(`"PROJECT#`+uid+`"`)) && bytes.Contains(body, []byte(`"FLAG#`))
	}
	switch {
	case m.moved != nil && list(m.to):
		<-m.moved
	case m.moved != nil && list(m.from):
		response, err := http.DefaultTransport.RoundTrip(r)
		if move := m.move.Swap(nil); move != nil {
			(*move)()
			close(m.moved)
		}
		return response, err
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestListsOfMovingFlag exports and evaluates all flags while one of them is moved from a project whose list was read to one whose
// list was not: the answer has it once.
func TestListsOfMovingFlag(t *testing.T) {
	t.Parallel()
	const export, playground = "/api/admin/features-batch/export", "/api/admin/playground"
	for _, c := range []struct{ path, body string }{
		{export, `{"environment":"development","features":[]}`},
		{export, `{"environment":"development","features":[],"limit":10}`},
		{playground, `{"environment":"development","projects":"*","context":{"appName":"a"}}`},
	} {
		m := &mover{}
		s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = m })
		s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
		s.Create(t, "f", "g")
		m.from, m.to = apitest.Load[*flags.Project](t, s, flags.ProjectKey("default")).UID, apitest.Load[*flags.Project](t, s, flags.ProjectKey("other")).UID
		m.moved = make(chan struct{})
		move := func() { s.Must(t, "POST", apitest.Features+"/f/changeProject", `{"newProjectId":"other"}`) }
		m.move.Store(&move)
		answer := apitest.Decode[struct{ Features []struct{ Name string } }](t, s.Must(t, "POST", c.path, c.body).Body)
		if m.move.Load() != nil {
			t.Fatal("the flag was not moved")
		}
		if got := fmt.Sprint(answer.Features); got != "[{f} {g}]" {
			t.Errorf("%s %s: the answer has %s, want each flag once", c.path, c.body, got)
		}
	}
}

// TestMoveIsInBothLogs moves a flag: the logs of both projects have the event, the log of all and that of the flag have it once, and so does a
// webhook of the project that the flag left.
func TestMoveIsInBothLogs(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.Must(t, "POST", apitest.Projects, `{"id":"third"}`)
	s.Must(t, "POST", "/api/admin/addons", `{"provider":"webhook","description":"d","enabled":true,"projects":["default"],"events":["feature-project-change"],"parameters":{"url":"https://example.com"}}`)
	s.Create(t, "f")
	s.Must(t, "POST", apitest.Features+"/f/changeProject", `{"newProjectId":"shop"}`)
	for query, want := range map[string]int{
		"": 1, "&feature=IS:f": 1, "&project=IS:default": 1, "&project=IS:shop": 1, "&project=IS_ANY_OF:default,third": 1, "&project=IS:third": 0,
		"&feature=IS:f&project=IS:default": 1, "&feature=IS:f&project=IS:third": 0,
	} {
		got := s.Must(t, "GET", "/api/admin/search/events?type=IS:feature-project-change"+query, "").Body
		if n := strings.Count(got, `"oldProject":"default"`); n != want {
			t.Errorf("the log with %q has the move %d times, want %d: %s", query, n, want, got)
		}
	}
	if n := strings.Count(dynamotest.Scan(t, s.Store), `"OUTBOX#`); n != 1 {
		t.Errorf("%d entries of webhooks, want 1", n)
	}
}
