package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFlags(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"flags","name":"Flags"}`)
	createFlag(t, "flags", "first")
	createFlag(t, "flags", "second")

	if got, want := must(t, "flag list --project flags"), `NAME    TYPE     STALE  ENVIRONMENTS
first   release  false  development=off production=off
second  release  false  development=off production=off
`; got != want {
		t.Errorf("the list is\n%s\nwant\n%s", got, want)
	}
	if r := guidon(t, "flag on first --project flags --environment development"); r.code != exitRefused || !strings.Contains(r.messages, "no strategies") {
		t.Errorf("a flag without strategies: exit code %d, %q", r.code, r.messages)
	}
	for range 2 { // repeated, it changes nothing
		if got, want := must(t, "flag on first second --project flags --environment development --rollout 40"), `NAME    ENVIRONMENT  STATE
first   development  on
second  development  on
`; got != want {
			t.Errorf("flag on prints\n%s\nwant\n%s", got, want)
		}
	}
	must(t, "flag off second", "GUIDON_PROJECT=flags", "GUIDON_ENVIRONMENT=development")
	want := []flagRow{
		{"first", "flags", "release", false, []flagEnvironment{{"development", true}, {"production", false}}},
		{"second", "flags", "release", false, []flagEnvironment{{"development", false}, {"production", false}}},
	}
	if diff := cmp.Diff(want, decode[[]flagRow](t, "flag list --project flags")); diff != "" {
		t.Errorf("the list as JSON (-want +got):\n%s", diff)
	}
	shown := must(t, "flag show first --project flags")
	for _, line := range []string{`name +first`, `description +a description`, `development +on +flexibleRollout 40%`, `production +off +-`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(shown) {
			t.Errorf("flag show prints\n%s\nwant the line %q", shown, line)
		}
	}
	if got := decode[map[string]any](t, "flag show first --project flags"); got["name"] != "first" || got["environments"] == nil {
		t.Errorf("flag show as JSON is %v", got)
	}

	// It stops at the first refusal, and prints what it has done.
	r := guidon(t, "flag off first nosuch second --project flags --environment development")
	if r.code != exitRefused || !strings.Contains(r.out, "first") || strings.Contains(r.out, "second") {
		t.Errorf("exit code %d, printed %q, want the first flag only and %d", r.code, r.out, exitRefused)
	}
}

func TestFreezeCheck(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"frozen","name":"Frozen"}`)
	const check = "freeze check frozen production"
	if got, want := must(t, check), "production of frozen is not frozen\n"; got != want {
		t.Errorf("without a freeze: %q, want %q", got, want)
	}
	until := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
	create(t, "/api/admin/projects/frozen/environments/production/freezes", `{"reason":"holidays","to":"`+until+`"}`)
	if r, want := guidon(t, check), "production of frozen is frozen until "+until+": holidays\n"; r.code != exitFrozen || r.out != want || r.messages != "" {
		t.Errorf("in a freeze: exit code %d, %q and %q, want %d and %q", r.code, r.out, r.messages, exitFrozen, want)
	}
	if r := guidon(t, check+" --output json"); r.code != exitFrozen || !strings.Contains(r.out, `"reason": "holidays"`) {
		t.Errorf("as JSON: exit code %d, %q", r.code, r.out)
	}
	for _, unknown := range []string{"nosuch production", "frozen nosuch"} {
		if r := guidon(t, "freeze check "+unknown); r.code != exitRefused || !strings.Contains(r.messages, "nosuch") {
			t.Errorf("%s: exit code %d, %q, want %d", unknown, r.code, r.messages, exitRefused)
		}
	}
	for _, body := range []string{`{}`, `null`, `{"status":"ok"}`, ``, `{"freezes":null}`} { // of a proxy, not of Guidon
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		r := guidon(t, check, "GUIDON_URL="+web.URL)
		web.Close()
		if r.code != exitFailed || r.out != "" {
			t.Errorf("the response %q: exit code %d and %q, want %d", body, r.code, r.out, exitFailed)
		}
	}
	if r := guidon(t, "freeze check frozen"); r.code != exitUsage {
		t.Errorf("without an environment: exit code %d, want %d", r.code, exitUsage)
	}
}

func TestTokens(t *testing.T) {
	if r := guidon(t, "token create bad --expires tomorrow"); r.code != exitUsage || !strings.Contains(r.messages, "--expires must be") {
		t.Errorf("a malformed expiry: exit code %d, %q", r.code, r.messages)
	}
	r := guidon(t, "token create web-shop --environment production --project default --expires 720h")
	secret := regexp.MustCompile(`(?m)^secret: (default:production\.\S+)$`).FindStringSubmatch(r.out)
	if r.code != exitOK || secret == nil {
		t.Fatalf("exit code %d, printed\n%s%swant the secret", r.code, r.out, r.messages)
	}
	again := guidon(t, "token create web-shop --if-missing")
	if again.code != exitOK || strings.Contains(again.out, secret[1]) || !strings.Contains(again.messages, "exists") {
		t.Errorf("--if-missing: exit code %d, printed %q and %q, want no secret", again.code, again.out, again.messages)
	}
	if got := decode[tokenRow](t, "token create other --environment development"); !strings.HasPrefix(got.Secret, "*:development.") || got.Name != "other" {
		t.Errorf("the created token is %+v", got)
	}
	if forbidden := guidon(t, "flag list", "GUIDON_TOKEN="+secret[1]); forbidden.code != exitRefused {
		t.Errorf("a client token lists flags: exit code %d", forbidden.code)
	}

	table, list := must(t, "token list"), decode[[]tokenRow](t, "token list")
	i := slices.IndexFunc(list, func(r tokenRow) bool { return r.Name == "web-shop" })
	if i < 0 || list[i].Type != "client" || list[i].Environment != "production" || list[i].ExpiresAt == nil || list[i].Secret != "" {
		t.Fatalf("the list is %+v", list)
	}
	if !strings.Contains(table, list[i].ID) || strings.Contains(table, secret[1]) || strings.Contains(table, adminToken) {
		t.Errorf("the table is\n%s\nwant ids, and no secret", table)
	}

	must(t, "token delete web-shop")
	if r := guidon(t, "token delete web-shop"); r.code != exitFailed {
		t.Errorf("deleted again: exit code %d", r.code)
	}
	must(t, "token delete web-shop --ignore-missing")
	other := slices.IndexFunc(list, func(r tokenRow) bool { return r.Name == "other" })
	must(t, "token delete "+list[other].ID)
}

// In Unleash, tokens can have the same name. Guidon refuses that, hence a server of this test.
func TestDeleteAmbiguousToken(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s, want no deletion", r.Method, r.URL.Path)
		}
		_, _ = fmt.Fprint(w, `{"tokens":[{"secret":"*:*.a","tokenName":"same"},{"secret":"*:*.b","tokenName":"same"}]}`)
	}))
	defer server.Close()
	r := guidon(t, "token delete same", "GUIDON_URL="+server.URL)
	if r.code != exitFailed || !strings.Contains(r.messages, apiToken{Secret: "*:*.a"}.id()+", "+apiToken{Secret: "*:*.b"}.id()) {
		t.Errorf("exit code %d, %q, want both ids", r.code, r.messages)
	}
}

// TestLinkForAmbiguousName checks that a link is for one user only: a user name can be the email address of another user.
func TestLinkForAmbiguousName(t *testing.T) {
	create(t, "/api/admin/user-admin", `{"username":"ambiguous@example.com","rootRole":3}`)
	create(t, "/api/admin/user-admin", `{"email":"ambiguous@example.com","rootRole":1}`)
	if r := guidon(t, "link ambiguous@example.com"); r.code == 0 || !strings.Contains(r.messages, "of the users with the ids") || strings.Contains(r.out, "#link=") {
		t.Errorf("exit code %d, %q, %q; want an error and no link", r.code, r.messages, r.out)
	}
	r := guidon(t, "link 1")
	if r.code != exitOK || !strings.Contains(r.out, "/sign-in#link=") || strings.Count(r.out, "\n") != 1 || !strings.Contains(r.messages, "the server at "+serverURL+" made this link") {
		t.Errorf("link 1 prints %q and on stderr %q, want a link, and the server that it asked", r.out, r.messages)
	}
}

func TestRedact(t *testing.T) {
	r := guidon(t, "token list", "GUIDON_URL=http://127.0.0.1:1")
	if r.code != exitUnavailable {
		t.Fatalf("exit code %d", r.code)
	}
	const secret = "*:production.a b/c"
	err := redact(fmt.Errorf("DELETE %s%%2A: failed for %s", tokensPath, secret), secret)
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the error has the secret: %v", err)
	}
}

func TestExpiry(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for text, want := range map[string]string{
		"2027-12-31": "2027-12-31T00:00:00Z", "2027-12-31T10:00:00+02:00": "2027-12-31T08:00:00Z", "24h": "2026-01-03T03:04:05Z",
		"": "", "-1h": "", "31.12.2027": "",
	} {
		got, err := expiry(text, now)
		if want == "" && err == nil || want != "" && got.Format(time.RFC3339) != want {
			t.Errorf("%q: %v (%v), want %s", text, got, err, want)
		}
	}
}

// An export that is imported into another project, exported and imported again is the same.
func TestExportAndImport(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"from","name":"From"}`)
	for _, name := range []string{"one", "two", "three"} {
		createFlag(t, "from", name)
	}
	create(t, "/api/admin/projects/from/features/two/environments/development/strategies", `{"name":"flexibleRollout","parameters":{"rollout":"30"},"constraints":[{"contextName":"country","operator":"IN","values":["DE","ÆØ <&>"]}]}`)
	create(t, "/api/admin/projects/from/features/three/dependencies", `{"feature":"one"}`)
	must(t, "flag on one two --project from --environment development --rollout 100")

	file := filepath.Join(t.TempDir(), "flags.json")
	r := guidon(t, "export --environment development --project from --file "+file)
	if r.code != exitOK || r.out != "" || r.messages != "exported 3 flags to "+file+"\n" {
		t.Fatalf("exit code %d, %q, %q", r.code, r.out, r.messages)
	}
	exported, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out := must(t, "export --environment development --project from"); out != string(exported) {
		t.Errorf("standard output has\n%s\nand the file\n%s", out, exported)
	}
	if out := must(t, "export two --environment development"); !strings.Contains(out, `"two"`) || strings.Contains(out, `"one"`) {
		t.Errorf("the export of one flag is\n%s", out)
	}

	// The same flags exist in another project: the dry run and the import refuse them.
	create(t, "/api/admin/projects", `{"id":"to","name":"To"}`)
	dry := guidon(t, "import "+file+" --environment development --project to --dry-run")
	if dry.code != exitFailed || !strings.Contains(dry.out, "error") {
		t.Errorf("a dry run with flags of another project: exit code %d\n%s%s", dry.code, dry.out, dry.messages)
	}
	refused := guidon(t, "import "+file+" --environment development --project to")
	if refused.code != exitFailed || !strings.Contains(refused.out, "skipped") || !strings.Contains(refused.messages, "skipped 3 of 3 flags") {
		t.Errorf("an import of flags of another project: exit code %d\n%s%s", refused.code, refused.out, refused.messages)
	}

	// Under other names they are created, then unchanged.
	renamed := strings.NewReplacer(`"one"`, `"one-copy"`, `"two"`, `"two-copy"`, `"three"`, `"three-copy"`).Replace(string(exported))
	importRenamed := func(args ...string) importReport {
		t.Helper()
		args = append([]string{"import", "-", "--environment", "development", "--project", "to", "--output", "json"}, args...)
		r := guidonWithInput(t, renamed, args)
		var report importReport
		if err := json.Unmarshal([]byte(r.out), &report); r.code != exitOK || err != nil {
			t.Fatalf("exit code %d (%v)\n%s%s", r.code, err, r.out, r.messages)
		}
		return report
	}
	if dry := importRenamed("--dry-run"); dry.Created != 0 {
		t.Errorf("the dry run reports %+v", dry)
	}
	if first := importRenamed(); first.Created != 3 || len(first.Features) != 3 {
		t.Errorf("the first import reports %+v, want 3 flags created", first)
	}
	if second := importRenamed(); second.Unchanged != 3 || second.Created+second.Overwritten+second.Skipped != 0 {
		t.Errorf("the second import reports %+v, want 3 flags unchanged", second)
	}
	back := strings.NewReplacer("-copy", "", `"to"`, `"from"`).Replace(must(t, "export --environment development --project to"))
	if diff := cmp.Diff(withoutIDs(t, exported), withoutIDs(t, []byte(back))); diff != "" {
		t.Errorf("the copy differs (-want +got):\n%s", diff)
	}
}

// withoutIDs is an export without what every server assigns itself.
func withoutIDs(t *testing.T, export []byte) any {
	t.Helper()
	var data any
	if err := json.Unmarshal(export, &data); err != nil {
		t.Fatal(err)
	}
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				strip(e)
			}
		case map[string]any:
			for _, field := range []string{"id", "createdAt", "groupId"} {
				delete(v, field)
			}
			for _, e := range v {
				strip(e)
			}
		}
	}
	strip(data)
	return data
}

// An import fails if something in the file is not imported, and tells which change requests it skips.
func TestImportTellsWhatItDidNotDo(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"partly","name":"Partly"}`)
	create(t, "/api/admin/segments", `{"name":"partly-staff","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`)
	other := `{"features":[{"name":"partly-one"}],"segments":[{"id":1,"name":"partly-staff","constraints":[{"contextName":"userId","operator":"IN","values":["2"]}]}]}`
	for _, dry := range []string{"", "--dry-run"} {
		args := strings.Fields("import - --environment development --project partly " + dry)
		if r := guidonWithInput(t, other, args); r.code != exitFailed || !strings.Contains(r.messages+r.out, "partly-staff") {
			t.Errorf("%q with a segment that is kept: exit code %d\n%s%s", args, r.code, r.out, r.messages)
		}
	}
	create(t, "/api/admin/projects/partly/features", `{"name":"partly-gone"}`)
	send(t, "DELETE", "/api/admin/projects/partly/features/partly-gone", "")
	if r := guidonWithInput(t, `{"features":[{"name":"partly-gone"}]}`, strings.Fields("import - --environment development --project partly --dry-run")); r.code != exitFailed {
		t.Errorf("a dry run of an archived flag: exit code %d\n%s%s", r.code, r.out, r.messages)
	}
	send(t, "PUT", "/api/admin/projects/partly/environments/production/change-requests/config", `{"changeRequestsEnabled":true}`)
	guarded := `{"features":[{"name":"partly-on"}],"featureStrategies":[{"featureName":"partly-on","name":"default"}],"featureEnvironments":[{"featureName":"partly-on","enabled":true}]}`
	r := guidonWithInput(t, guarded, strings.Fields("import - --environment production --project partly"))
	if r.code != exitOK || !strings.Contains(r.messages, "these flags were changed there without one: partly-on") {
		t.Errorf("an import into a guarded environment: exit code %d\n%s%s", r.code, r.out, r.messages)
	}
}

// More flags than one request takes, with a child before its parent in the file.
func TestImportInBatches(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"batches","name":"Batches"}`)
	const count = 250
	data := map[string][]map[string]any{
		"dependencies": {{"feature": "batch-000", "dependencies": []map[string]any{{"feature": fmt.Sprintf("batch-%03d", count-1)}}}},
	}
	for i := range count {
		name := fmt.Sprintf("batch-%03d", i)
		data["features"] = append(data["features"], map[string]any{"name": name})
		data["featureEnvironments"] = append(data["featureEnvironments"], map[string]any{"featureName": name, "enabled": true})
		data["featureStrategies"] = append(data["featureStrategies"], map[string]any{"featureName": name, "name": "default"})
	}
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "many.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	report := decode[importReport](t, "import "+file+" --environment development --project batches")
	if report.Created != count || len(report.Features) != count {
		t.Errorf("%d created of %d reported, want %d", report.Created, len(report.Features), count)
	}
	if out := must(t, "flag show batch-000 --project batches --output json"); !strings.Contains(out, `"batch-249"`) {
		t.Errorf("the child has no parent:\n%s", out)
	}
	again := decode[importReport](t, "import "+file+" --environment development --project batches")
	if again.Unchanged != count {
		t.Errorf("%d unchanged of %d, want all", again.Unchanged, count)
	}
}

func TestMalformedImports(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON": "features", "a list": "[]", "no flags": `{"flags":[]}`, "flags without a name": `{"features":[{"type":"release"}]}`,
	} {
		r := guidonWithInput(t, content, []string{"import", "-", "--environment", "development"})
		if r.code != exitFailed || !strings.Contains(r.messages, "- is not an export of flags") {
			t.Errorf("%s: exit code %d, %q", name, r.code, r.messages)
		}
	}
}

// Migrating a server to itself under another address finds no difference.
func TestMigrate(t *testing.T) {
	createFlag(t, "default", "migrated")
	other, err := startServer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Kill()
	tokens := []string{"FROM_TOKEN=" + adminToken, "TO_TOKEN=" + adminToken}
	line := "migrate --project default --from " + serverURL + " --to " + other.url
	const production = "/api/admin/projects/default/environments/production/change-requests"
	call(t, nil, "PUT", production+"/config", `{"changeRequestsEnabled":true}`)
	call(t, nil, "POST", production, `{"feature":"migrated","action":"addStrategy","payload":{"name":"default"}}`)
	defer call(t, nil, "PUT", production+"/config", `{"changeRequestsEnabled":false}`)
	dry := guidon(t, line+" --dry-run", tokens...)
	for _, text := range []string{"change requests are on in production of project default (requiredApprovals: 1)", `of project default for production (Draft): ""`} {
		if !strings.Contains(dry.out, text) {
			t.Errorf("the dry run does not print %q:\n%s", text, dry.out)
		}
	}
	if dry.code != exitOK || !strings.Contains(dry.out, "would copy") {
		t.Errorf("dry run: exit code %d\n%s%s", dry.code, dry.out, dry.messages)
	}
	if first := guidon(t, line, tokens...); first.code != exitOK || !strings.Contains(first.out, "0 differ") {
		t.Errorf("exit code %d\n%s%s", first.code, first.out, first.messages)
	}
	must(t, "flag show migrated", "GUIDON_URL="+other.url)
	if second := guidon(t, line, tokens...); second.code != exitOK || regexp.MustCompile("(?m)^copied ").MatchString(second.out) {
		t.Errorf("second run: exit code %d\n%s%s", second.code, second.out, second.messages)
	}
	if refused := guidon(t, line, "FROM_TOKEN=*:*.wrong", "TO_TOKEN="+adminToken); refused.code != exitUsage || !strings.Contains(refused.messages, "check the token") {
		t.Errorf("a wrong token: exit code %d, %q, want 2 as documented for migrate", refused.code, refused.messages)
	}
}
