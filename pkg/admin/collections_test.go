package admin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// listFull is the error for an entry that a full list has no space for.
func listFull(what string) string { return apitest.Malformed(what + ", but no more than") }

// put stores aggregates directly in the store, 20 per transaction.
func put(t *testing.T, s *apitest.Server, all []flags.Aggregate) {
	t.Helper()
	for some := range slices.Chunk(all, 20) {
		change := flags.Change{Event: flags.Event{ID: "0190-" + some[0].Key().ID, Type: flags.FeatureCreated}}
		for _, a := range some {
			change.Writes = append(change.Writes, flags.Write{After: a})
		}
		if err := s.Store.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
}

// TestListLimits fills every list that is read as a whole. One more entry gets a 400, and the list can still be read.
func TestListLimits(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Unchecked = true // it stores flags with one event for many
	numbered := func(n int, create func(i int) flags.Aggregate) []flags.Aggregate {
		list := make([]flags.Aggregate, n)
		for i := range list {
			list[i] = create(i)
		}
		return list
	}
	at := time.Now().UTC()
	put(t, s, numbered(flags.MaxProjects-1, func(i int) flags.Aggregate { // one less, for the default project
		return &flags.Project{ID: fmt.Sprintf("p%d", i), UID: fmt.Sprintf("uid%d", i), Name: "p", CreatedAt: at}
	}))
	put(t, s, numbered(flags.MaxSegments, func(i int) flags.Aggregate {
		return &flags.Segment{ID: int64(i + 1e6), Name: fmt.Sprintf("s%d", i), CreatedAt: at}
	}))
	tokens, err := s.Store.List(t.Context(), access.EntityToken) // the tokens of the tests
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, numbered(access.MaxTokens-len(tokens), func(i int) flags.Aggregate {
		return &access.Token{Hash: fmt.Sprintf("h%d", i), Name: fmt.Sprintf("t%d", i), Type: access.ClientToken, Projects: []string{flags.All}, Environment: flags.All, CreatedAt: at}
	}))
	put(t, s, numbered(access.MaxSignupTokens, func(i int) flags.Aggregate {
		return &access.SignupToken{Hash: fmt.Sprintf("h%d", i), Name: "s", CreatedAt: at, ExpiresAt: at, Role: access.RoleViewer}
	}))
	users := apitest.Decode[struct{ Users []struct{ ID int } }](t, s.Must(t, "GET", apitest.Users, "").Body).Users
	put(t, s, numbered(access.MaxUsers-len(users), func(i int) flags.Aggregate {
		return &access.User{ID: int64(i + 1e5), Username: fmt.Sprintf("u%d", i), RootRole: access.RoleViewer, CreatedAt: at}
	}))
	s.Run(t, []apitest.Call{
		{"one project too many", "POST", apitest.Projects, `{"id":"more"}`, 400, listFull("2001 projects")},
		{"list projects", "GET", apitest.Projects + "?limit=1", "", 200, `{"...":0,"projects":[{"...":0,"id":"default"}]}`},
		{"one segment too many", "POST", apitest.Segments, `{"name":"more","constraints":[]}`, 400, listFull("1001 segments")},
		{"one segment too many in an import", "POST", apitest.Import, apitest.ImportOf(`"features":[],"segments":[{"id":1,"name":"more","constraints":[]}]`), 200,
			`{"...":0,"others":[{"...":0,"name":"more","outcome":"skipped"}]}`},
		{"one API token too many", "POST", apitest.APITokens, `{"tokenName":"more","type":"client"}`, 400, listFull("4001 API tokens")},
		{"one project API token too many", "POST", apitest.Project + "/api-tokens", `{"tokenName":"more","type":"client"}`, 400, listFull("4001 API tokens")},
		{"one signup token too many", "POST", "/api/admin/invite-link/tokens", `{"name":"more","expiresAt":"2100-01-01T00:00:00Z"}`, 400, listFull("501 public signup tokens")},
		{"one user too many", "POST", apitest.Users, `{"username":"more","rootRole":3}`, 400, listFull("5001 users and service accounts")},
		{"one service account too many", "POST", "/api/admin/service-account", `{"username":"more","name":"more","rootRole":3}`, 400, listFull("5001 users and service accounts")},
		{"update a project", "PUT", apitest.Project, `{"description":"changed"}`, 200, ""},
		{"delete a project", "DELETE", apitest.Projects + "/p7", "", 200, ""},
		{"create one project again", "POST", apitest.Projects, `{"id":"more"}`, 201, apitest.Anything},
	})
	for _, list := range []string{apitest.Projects, apitest.Segments, apitest.APITokens, apitest.Users, "/api/admin/invite-link/tokens", "/api/admin/service-account"} {
		if got := s.Do(t, "GET", list, "", "Accept-Encoding: identity"); got.Status != 200 {
			t.Errorf("GET %s: %d %.300s, want the list", list, got.Status, got.Body)
		}
	}
}

// controls is a text of control characters, which take the most space in a response.
func controls(characters int) string { return strings.Repeat("\x01", characters) }

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// TestLargeEntries creates the largest possible entries until the list is full. The list can still be read, as a whole and in
// pages.
func TestLargeEntries(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	values := make([]string, 1000)
	for i := range values {
		values[i] = quoted(fmt.Sprintf("%04d", i) + controls(96))
	}
	constraints := `[{"contextName":"c","operator":"IN","values":[` + strings.Join(values[:250], ",") + `]},{"contextName":"c","operator":"IN","values":[` + strings.Join(values[250:500], ",") + `]}]`
	var links []string
	for range flags.MaxLinks {
		links = append(links, `{"title":`+quoted(controls(flags.MaxTitle))+`,"urlTemplate":`+quoted(controls(flags.MaxURL))+`}`)
	}
	description := quoted(controls(flags.MaxDescription))
	for _, list := range []struct {
		path string
		body func(i int) string
	}{
		{apitest.Segments, func(i int) string {
			return fmt.Sprintf(`{"name":"s%d","description":%s,"constraints":%s}`, i, description, constraints)
		}},
		{apitest.Projects, func(i int) string {
			return fmt.Sprintf(`{"id":"p%d","description":%s,"linkTemplates":[%s]}`, i, description, strings.Join(links, ","))
		}},
	} {
		created := 0
		got := s.Do(t, "POST", list.path, list.body(0))
		for ; got.Status == 201 && created < 40; got = s.Do(t, "POST", list.path, list.body(created)) {
			created++
		}
		if got.Status != 400 || !strings.Contains(got.Body, "KB are allowed") || created < 10 {
			t.Errorf("%s: %d %.300s after %d, want a 400 because the list is full", list.path, got.Status, got.Body, created)
		}
		if got := s.Do(t, "GET", list.path, "", "Accept-Encoding: identity"); got.Status != 200 {
			t.Errorf("GET %s: %d %.300s, want the list", list.path, got.Status, got.Body)
		}
		s.Must(t, "GET", list.path+"?limit=3&offset=2", "")
	}
	s.Run(t, []apitest.Call{
		{"an update that needs space", "PUT", apitest.Project, `{"description":` + description + `,"linkTemplates":[` + strings.Join(links, ",") + `]}`, 400, apitest.Malformed("KB are allowed")},
		{"settings that need space", "PUT", apitest.Project + "/settings", `{"linkTemplates":[` + strings.Join(links, ",") + `]}`, 400, apitest.Malformed("KB are allowed")},
		{"an update that frees space", "PUT", apitest.Projects + "/p1", `{"linkTemplates":[]}`, 200, ""},
		{"an update that fits", "PUT", apitest.Project, `{"description":"short"}`, 200, ""},
	})
}

// TestListEntrySize checks that no entry takes more space in a list than ListEntrySize says.
func TestListEntrySize(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Unchecked = true // it stores flags with one event for many
	at, text := time.Now().UTC(), "a<b&c\"\\\n\x01\u2028é𝄞"
	value := text
	entries := []flags.Aggregate{
		&flags.Project{ID: "large", UID: "large", Name: text, Description: text, CreatedAt: at, Settings: flags.Settings{
			Mode: flags.ModeProtected, DefaultStickiness: text, Naming: flags.Naming{Pattern: text, Example: text, Description: text},
			LinkTemplates: []flags.LinkTemplate{{Title: &value, URL: text}, {Title: &value, URL: text}}}},
		&flags.Segment{ID: 1 << 50, Name: text, Description: &value, Project: "default", ProjectUID: "x", CreatedAt: at, CreatedBy: text, Constraints: []flags.Constraint{
			{ContextName: text, Operator: "STR_STARTS_WITH", Values: []string{text, text, ""}, Value: &value}, {ContextName: text, Operator: "IN", Values: []string{text}}}},
		&access.User{ID: 999_998, Name: text, Username: text, Email: text, RootRole: access.RoleViewer, CreatedAt: at},
		&access.User{ID: 999_999, ServiceAccount: true, Name: text, Username: "account", RootRole: access.RoleViewer, CreatedAt: at, Tokens: []access.UserToken{
			{ID: 1 << 50, Description: text, Hash: "h", CreatedAt: at, ExpiresAt: at}, {ID: 1<<50 + 1, Description: text, Hash: "i", CreatedAt: at, ExpiresAt: at}}},
		&access.Token{Hash: "h", Name: text, Type: access.FrontendToken, Projects: []string{flags.All}, Environment: flags.All, CreatedAt: at, ExpiresAt: at},
		&access.SignupToken{Hash: "h", Name: text, CreatedBy: text, CreatedAt: at, ExpiresAt: at, Role: access.RoleViewer, Users: []int64{1}},
	}
	lists := []string{apitest.Projects, apitest.Segments, apitest.Users, "/api/admin/service-account", apitest.APITokens, "/api/admin/invite-link/tokens"}
	responseSize := func(path string) int {
		body, err := json.Marshal(s.Do(t, "GET", path, "", "Accept-Encoding: identity").Body) // as Lambda does
		if err != nil {
			t.Fatal(err)
		}
		return len(body)
	}
	for i, path := range lists {
		before := responseSize(path)
		put(t, s, entries[i:i+1])
		if took, most := responseSize(path)-before, wire.ListEntrySize(entries[i]); took > most || took < most/8 {
			t.Errorf("an entry of %s takes %d bytes, ListEntrySize says %d; want at most that, and at least an eighth", path, took, most)
		}
	}
}

// TestManyTags creates more tags than one response can hold. The list is read in pages, none of which is too large.
func TestManyTags(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Unchecked = true // it stores flags with one event for many
	p := apitest.Load[*flags.Project](t, s, flags.ProjectKey("default"))
	const tagged, each = 700, 30
	var all []flags.Aggregate
	for i := range tagged {
		f := flags.NewFeature(p, fmt.Sprintf("f%d", i), flags.Metadata{Type: flags.Release}, "test", time.Now().UTC())
		for j := range each {
			f.Tags = append(f.Tags, flags.Tag{Type: "simple", Value: fmt.Sprintf("%06d", i*each+j) + controls(flags.MaxTag-6)})
		}
		all = append(all, f)
	}
	put(t, s, all)
	read := 0
	for _, page := range []struct {
		query string
		want  int
	}{{"", 10_000}, {"?offset=10000", 10_000}, {"?offset=20000", tagged*each - 20_000}} {
		got := s.Do(t, "GET", "/api/admin/tags"+page.query, "", "Accept-Encoding: identity")
		n := strings.Count(got.Body, `"value"`)
		if got.Status != 200 || n != page.want {
			t.Errorf("GET tags%s: %d with %d tags, want %d", page.query, got.Status, n, page.want)
		}
		read += n
	}
	if read != tagged*each {
		t.Errorf("%d tags read in pages, want %d", read, tagged*each)
	}
}
