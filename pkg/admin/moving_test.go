package admin_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

func moving(flag string) string { return features + "/" + flag + "/changeProject" }

func TestMove(t *testing.T) {
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.enabled(t, "f", "g", "h", "parent")
	s.create(t, "child", "plain", "gone")
	s.must(t, "POST", in("f", "production")+"/strategies", `{"name":"default"}`)
	s.must(t, "POST", in("g", "production")+"/strategies", `{"name":"default"}`)
	s.must(t, "POST", in("g", "production")+"/on", "")
	s.must(t, "POST", "/api/admin/features/f/tags", `{"type":"simple","value":"mine"}`)
	s.must(t, "POST", features+"/f/favorites", "")
	s.must(t, "PUT", features+"/h", `{"stale":true}`)
	s.must(t, "POST", features+"/child/dependencies", `{"feature":"parent"}`)
	s.must(t, "DELETE", features+"/gone", "")
	s.must(t, "POST", projects, `{"id":"shop","environments":["development"]}`)
	const shop, there, everywhere = projects + "/shop", projects + "/shop/features", projects + "/default/changeProject"
	const to = `{"newProjectId":"shop"}`
	related := func(name string) string {
		return fmt.Sprintf(`{"id":"<uuid>","name":"ConflictError","message":"<has cannot be moved because it has dependencies>","details":[{"message":%q}]}`, name)
	}
	s.run(t, []call{
		{"to where it is", "POST", moving("f"), `{"newProjectId":"default"}`, 200, ""},
		{"to nowhere", "POST", moving("f"), `{"newProjectId":"nosuch"}`, 400, invalid("/newProjectId")},
		{"to nothing", "POST", moving("f"), `{}`, 400, invalid("/newProjectId")},
		{"what is nowhere", "POST", moving("nosuch"), to, 404, notFound(`"nosuch"`)},
		{"what is archived", "POST", moving("gone"), to, 404, notFound("is archived")},
		{"a parent", "POST", moving("parent"), to, 409, related("child")},
		{"a child", "POST", moving("child"), to, 409, related("parent")},
		{"what is on elsewhere", "POST", moving("g"), to, 409, failure("ConflictError", `project "shop" does not have ("production")`)},
		{"a flag", "POST", moving("f"), to, 200, ""},
		{"is there", "GET", there + "/f", "", 200, `{"...":0,"project":"shop","enabled":true,"favorite":true,"tags":[{"type":"simple","value":"mine"}],` +
			`"environments":[{"...":0,"name":"development","enabled":true,"strategies":[{"...":0,"name":"default"}]}]}`},
		{"and no longer here", "GET", features + "/f", "", 404, notFound(`"f"`)},
		{"in the list there", "GET", there, "", 200, `{"version":2,"features":[{"...":0,"name":"f","environments":[{"...":0,"enabled":true}]}]}`},
		{"again", "POST", moving("f"), to, 404, notFound(`"f"`)},
		{"many", "POST", everywhere, `{"features":["plain","g","h","nosuch","f"],"newProjectId":"shop"}`, 409,
			partialFailure("ConflictError", "3 of 5 flags could not be moved", "1", `"production"`, "3", "nosuch", "4", `"f"`)},
		{"in the list", "GET", there, "", 200, `{"version":2,"features":[{"...":0,"name":"f"},{"...":0,"name":"h","stale":true},{"...":0,"name":"plain"}]}`},
		{"counted there", "GET", shop, "", 200, `{"...":0,"health":67}`},
		{"and not here", "GET", project, "", 200, `{"...":0,"health":100}`},
		{"many to nowhere", "POST", everywhere, `{"features":["g"],"newProjectId":"nosuch"}`, 400, invalid("/newProjectId")},
		{"what rested", "POST", shop + "/environments", `{"environment":"production"}`, 200, ""},
		{"is back, and off", "GET", there + "/f/environments/production", "", 200, `{"...":0,"enabled":false,"strategies":[{"...":0,"name":"default"}]}`},
		{"now the other", "POST", moving("g"), to, 200, ""},
		{"is on in both", "GET", there + "/g", "", 200, `{"...":0,"environments":[{"...":0,"enabled":true},{"...":0,"enabled":true}]}`},
		{"and back", "POST", there + "/g/changeProject", `{"newProjectId":"default"}`, 200, ""},
		{"is on here", "GET", features + "/g", "", 200, `{"...":0,"environments":[{"...":0,"enabled":true},{"...":0,"enabled":true}]}`},
	})
	s.wantEvents(t, "f", flags.FeatureMoved, 1)
	s.wantEvents(t, "g", flags.FeatureMoved, 2)
	events, err := s.store.Events(t.Context(), &flags.Feature{Name: "f"})
	if err != nil {
		t.Fatal(err)
	}
	if last := events[len(events)-1]; last.Type != flags.FeatureMoved || last.Project != "shop" || fmt.Sprint(last.Data) != `{"newProject":"shop","oldProject":"default"}` {
		t.Errorf("the event is %+v, want both projects in it", last)
	}
}

// TestMovePermissions needs one permission where the flag is, and another where it goes.
func TestMovePermissions(t *testing.T) {
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "f", "g")
	s.must(t, "POST", projects, aShop)
	who := func(here, there string) string {
		held := map[string]string{}
		if here != "" {
			held["default"] = s.roleOf(t, "custom", here)
		}
		if there != "" {
			held["shop"] = s.roleOf(t, "custom", there)
		}
		return as(s.account(t, "3", held))
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
		header := who(tt.here, tt.there)
		for path, body := range map[string]string{moving("f"): `{"newProjectId":"shop"}`, project + "/changeProject": `{"features":["g"],"newProjectId":"shop"}`} {
			if got := s.do(t, "POST", path, body, header); got.status != tt.status {
				t.Errorf("%s by one with %q here and %q there: %d %s, want %d", path, tt.here, tt.there, got.status, got.body, tt.status)
			}
		}
	}
}

// TestParallelMoves has flags move to and fro while others are made, archived and revived: the counts stay exact.
func TestParallelMoves(t *testing.T) {
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.must(t, "POST", projects, aShop)
	const n, steps = 6, 8
	do := func(method, path, body string) {
		if got, err := s.try(method, path, body); err != nil || got.status >= 300 {
			t.Errorf("%s %s %s: %d %s, %v, want success", method, path, body, got.status, got.body, err)
		}
	}
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() {
			name := fmt.Sprintf("f%d", w)
			do("POST", features, fmt.Sprintf(`{"name":%q}`, name))
			here, there := "default", "shop"
			for i := range steps {
				at := projects + "/" + here
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
		list := s.must(t, "GET", of(id), "").body
		want, stale := strings.Count(list, `"favorite":`), strings.Count(list, `"stale":true`)
		active, counted := s.counts(t, id)
		if active != want || counted != stale {
			t.Errorf("project %s: counted %d active and %d stale, the list has %d and %d", id, active, counted, want, stale)
		}
		all += want
	}
	if all != 2*n {
		t.Errorf("%d flags in both projects, want %d", all, 2*n)
	}
}

func of(project string) string { return projects + "/" + project + "/features" }

// counts are what the project's guards say.
func (s *server) counts(t *testing.T, id string) (active, stale int) {
	t.Helper()
	view, err := s.store.Load(t.Context(), []flags.Key{flags.ProjectKey(id)})
	if err != nil {
		t.Fatal(err)
	}
	if active, stale, err = s.store.Counts(t.Context(), flags.Find[*flags.Project](view, flags.ProjectKey(id)).UID); err != nil {
		t.Fatal(err)
	}
	return active, stale
}

// TestMoveToDeletedProject races a move with the deletion of where it goes: one of them is refused.
func TestMoveToDeletedProject(t *testing.T) {
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	for i := range 12 {
		flag, shop := fmt.Sprintf("f%d", i), fmt.Sprintf("shop%d", i)
		s.create(t, flag)
		s.must(t, "POST", projects, fmt.Sprintf(`{"id":%q}`, shop))
		calls := []call{
			{method: "POST", path: moving(flag), body: fmt.Sprintf(`{"newProjectId":%q}`, shop)},
			{method: "DELETE", path: projects + "/" + shop},
		}
		got := s.parallel(t, 2, func(i int) call { return calls[i] })
		moved := s.do(t, "GET", projects+"/"+shop+"/features/"+flag, "").status == 200
		stayed := s.do(t, "GET", features+"/"+flag, "").status == 200
		there := s.do(t, "GET", projects+"/"+shop, "").status == 200
		if got[200] != 1 || moved == stayed || moved != there {
			t.Errorf("answers %v; moved %t, stayed %t, the project is there %t; want the flag in a project that is there", got, moved, stayed, there)
		}
	}
}
