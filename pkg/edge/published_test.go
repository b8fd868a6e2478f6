package edge

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/published"
	"guidon/pkg/serving"
)

// publisher publishes the states of a Guidon.
func (g *guidon) publisher(places ...serving.Place) func() {
	reader := serving.NewReader(g.store, serving.OptionsOf(httpapi.Config{Limits: flags.DefaultLimits()}))
	p := serving.NewPublisher(reader, places...)
	return func() {
		g.t.Helper()
		if _, err := p.Run(g.t.Context()); err != nil {
			g.t.Fatal(err)
		}
	}
}

// resetFeed begins a new epoch, as a deployment to AWS does when it begins.
func (g *guidon) resetFeed(at time.Time, random string) {
	g.t.Helper()
	if err := g.store.ResetFeed(g.t.Context(), published.NewEpoch(at, random)); err != nil {
		g.t.Fatal(err)
	}
}

// toFolder is a folder to publish in. It is like a bucket.Bucket, but replaces newer states too.
type toFolder string

func (folder toFolder) Publish(_ context.Context, head published.Head, content []byte) (bool, error) {
	head.Document = head.Hash
	text, err := json.Marshal(head)
	compressed, err2 := published.Compress(content)
	return true, errors.Join(err, err2, os.MkdirAll(filepath.Join(string(folder), published.DocumentsOf(head.Environment)), 0o700),
		os.WriteFile(filepath.Join(string(folder), published.DocumentName(head)), compressed, 0o600),
		os.WriteFile(filepath.Join(string(folder), published.HeadName(head.Environment)), text, 0o600))
}

func (folder toFolder) Environments(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(string(folder))
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestPublishedFolder follows a folder to which Guidon publishes. The answers are those of Guidon: a folder tells of segments and tokens, too.
func TestPublishedFolder(t *testing.T) {
	g, folder := newGuidon(t), t.TempDir()
	began := time.Now()
	g.resetFeed(began, "00000001")
	g.flag("a")
	g.do("POST", "/api/admin/projects", `{"id": "other", "name": "other"}`)
	g.do("POST", "/api/admin/segments", `{"name": "of-all", "constraints": []}`)
	g.do("POST", "/api/admin/segments", `{"name": "of-other", "project": "other", "constraints": []}`)
	client, browser, others := g.token("client", "default", "development"), g.token("frontend", "default", "development"), g.token("client", "other", "production")
	all := g.token("client", "*", "development")
	publish := g.publisher(toFolder(folder))
	publish()
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": folder, "TOKENS": all})
	e.awaitOn(client, "a")
	for path, token := range map[string]string{
		"/api/client/features": client, "/api/frontend?userId=1": browser, "/api/client/features?namePrefix=a": all, "/api/client/delta": client,
	} {
		want := ask(t, "GET", g.URL+path, token, "", "Unleash-Client-Spec: 5.2.0").want(t, 200)
		got := e.ask("GET", path, token, "", "Unleash-Client-Spec: 5.2.0").want(t, 200)
		if got.body != want.body || got.header.Get("Etag") != want.header.Get("Etag") && path != "/api/client/delta" { // which names the scope
			t.Errorf("GET %s: Edge responded with %s %s, and Guidon with %s %s", path, got.header.Get("Etag"), got, want.header.Get("Etag"), want)
		}
	}
	e.ask("GET", "/api/client/features", others, "").want(t, 200) // of another environment, which Edge reads from now on
	e.ask("GET", "/api/client/features", "*:development.0123456789abcdef", "").want(t, 401)
	e.ask("GET", "/api/client/features", "*:nowhere.0123456789abcdef", "").want(t, 401)

	t.Run("a change", func(t *testing.T) {
		deleted := g.token("client", "default", "development")
		publish()
		e.awaitOn(deleted, "a")
		older := copyFolder(t, folder)
		g.flag("b")
		g.do("DELETE", "/api/admin/api-tokens/"+deleted, "")
		publish()
		e.awaitOn(client, "a b")
		await(t, "the deleted token", 401, func() int { return e.ask("GET", "/api/client/features", deleted, "").status })
		if err := os.CopyFS(filepath.Join(folder, "old"), os.DirFS(older)); err != nil {
			t.Fatal(err)
		}
		for _, environment := range []string{"development", "production"} { // somebody puts an older state there
			if err := os.Rename(filepath.Join(folder, "old", environment, "head.json"), filepath.Join(folder, environment, "head.json")); err != nil {
				t.Fatal(err)
			}
		}
		e.awaitLog("older than those")
		if on := e.on(client); on != "a b" {
			t.Errorf("after an older state, %q are on; want a b", on)
		}
		if got := askAnew(e, deleted); got == 200 {
			t.Error("the deleted token is valid again after an older state")
		}
	})
	t.Run("an earlier upstream with an older state", func(t *testing.T) {
		older := copyFolder(t, folder)
		g.flag("c")
		publish()
		e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": folder + "," + g.URL, "TOKENS": all})
		e.awaitOn(client, "a b c")
		if err := os.RemoveAll(filepath.Join(folder, "development")); err != nil {
			t.Fatal(err)
		}
		g.turnA("off")
		e.awaitOn(client, "b c") // of Guidon
		if err := os.Rename(filepath.Join(older, "development"), filepath.Join(folder, "development")); err != nil {
			t.Fatal(err)
		}
		g.turnA("on")
		e.awaitOn(client, "a b c")
		for range 50 {
			if on := e.on(client); on != "a b c" {
				t.Fatalf("%q are on; want a b c", on)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	t.Run("a restore begins a later epoch with smaller numbers", func(t *testing.T) {
		restored := newGuidon(t)
		restored.resetFeed(began.Add(time.Hour), "00000002")
		restored.flag("r")
		token := restored.token("client", "*", "development")
		restored.publisher(toFolder(folder))()
		await(t, "the flags after the restore", 200, func() int { return e.ask("GET", "/api/client/features/r", token, "").status })
		before := copyFolder(t, folder)
		g.publisher(toFolder(before))() // a writer that did not notice
		e = newEdge(t, "edge", map[string]string{"UPSTREAM_URL": restored.URL + "," + before, "TOKENS": token})
		e.awaitOn(token, "r")
		restored.fails(status(503))
		e.awaitLog("older than those")
		e.awaitOn(token, "r")
	})
}

// askAnew asks with a token that Edge has not refused before.
func askAnew(e *instance, token string) int {
	e.tokens.mu.Lock()
	clear(e.tokens.refused)
	e.tokens.mu.Unlock()
	return e.ask("GET", "/api/client/features", token, "").status
}

// TestRevoked revokes a token by hand, as while the region is gone.
func TestRevoked(t *testing.T) {
	g, folder := newGuidon(t), t.TempDir()
	g.resetFeed(time.Now(), "00000001")
	g.flag("a")
	leaked, all := g.token("client", "*", "development"), g.token("client", "*", "development")
	g.publisher(toFolder(folder))()
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": "file://" + folder, "TOKENS": all})
	e.awaitOn(leaked, "a")
	list := filepath.Join(folder, published.RevokedName)
	status := func() int { return e.ask("GET", "/api/client/features", leaked, "").status }
	if err := os.WriteFile(list, []byte(`{"tokens": [`), 0o600); err != nil {
		t.Fatal(err)
	}
	e.awaitLog("revoked.json")
	if got := status(); got != 200 {
		t.Errorf("with a broken list: %d, want 200", got)
	}
	h := hashOf(leaked)
	const mark = "\uFEFF" // of an editor
	if err := os.WriteFile(list, []byte(mark+`{"tokens": ["`+hex.EncodeToString(h[:])+`"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	await(t, "the revoked token", 401, status)
	e.awaitOn(all, "a")
}

// TestWrongFolder starts with an upstream in which nothing is published: no token is refused for good.
func TestWrongFolder(t *testing.T) {
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": t.TempDir()})
	e.ask("GET", "/api/client/features", "*:development.0123456789abcdef", "").want(t, 503)
	e.awaitLog("nothing is published there")
}

// TestUnknownEnvironments checks that tokens of environments that do not exist keep no valid token out while Edge has read no environment.
func TestUnknownEnvironments(t *testing.T) {
	g, folder := newGuidon(t), t.TempDir()
	g.resetFeed(time.Now(), "00000001")
	client := g.token("client", "default", "development")
	g.publisher(toFolder(folder))()
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": folder})
	for range 4 {
		e.ask("GET", "/api/client/features", "*:nowhere.0123456789abcdef", "").want(t, 503)
	}
	e.ask("GET", "/api/client/features", client, "").want(t, 200)
	e.ask("GET", "/api/client/features", "*:nowhere.0123456789abcdef", "").want(t, 401)

	fresh, err := newPublications(&e.config)
	if err != nil {
		t.Fatal(err)
	}
	valid, err := fresh.validate(t.Context(), e.config.Upstreams[0], []string{"*:nowhere.0123456789abcdef", client})
	if err != nil || len(valid) != 1 || valid[0].Token != client {
		t.Errorf("a valid token after one of an unknown environment: got %v and %v", valid, err)
	}
}
