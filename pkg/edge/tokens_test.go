package edge

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// TestValidation checks that tokens are asked about together, that a refused one is not asked about again for a while, and that a
// deleted one is dropped.
func TestValidation(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	own := g.token("client", "*", "development")
	var largest atomic.Int64
	g.fails(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path == "/edge/validate" {
			body, _ := io.ReadAll(r.Body)
			var asked validTokens2
			_ = json.Unmarshal(body, &asked)
			largest.Store(max(largest.Load(), int64(len(asked.Tokens))))
			r.Body = io.NopCloser(strings.NewReader(string(body)))
		}
		next.ServeHTTP(w, r)
	})
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "TOKEN_REVALIDATION_INTERVAL_SECONDS": "1h"})
	e.awaitOn(own, "")
	var group sync.WaitGroup
	var valid []string
	for range 8 {
		valid = append(valid, g.token("client", "default", "development"))
	}
	began := g.served("POST /edge/validate")
	for _, token := range valid {
		group.Go(func() {
			if a := e.ask("GET", "/api/client/features", token, ""); a.status != 200 {
				t.Errorf("a valid token: %s", a)
			}
		})
	}
	group.Wait()
	if calls := g.served("POST /edge/validate") - began; calls > 3 || largest.Load() < 6 {
		t.Errorf("8 tokens took %d calls, at most %d tokens in one", calls, largest.Load())
	}
	e.ask("GET", "/api/client/features", "default:development.nosuch", "").want(t, 401)
	before := g.served("POST /edge/validate")
	for range 20 {
		e.ask("GET", "/api/client/features", "default:development.nosuch", "").want(t, 401)
		e.ask("GET", "/api/client/features", "not-a-token", "").want(t, 401)
	}
	if now := g.served("POST /edge/validate"); now != before {
		t.Errorf("a refused token was asked about %d times more", now-before)
	}
}

// TestTokensChange checks that Edge checks its tokens at once when Guidon has others, also one that was refused a moment ago, and not when
// only flags change.
func TestTokensChange(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own, client := g.token("client", "*", "development"), g.token("client", "default", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "TOKEN_REVALIDATION_INTERVAL_SECONDS": "1h"})
	e.awaitOn(client, "a")
	await(t, "Edge has checked its tokens", true, func() bool {
		before := g.served("POST /edge/validate")
		time.Sleep(1500 * time.Millisecond)
		return g.served("POST /edge/validate") == before
	})
	before := g.served("POST /edge/validate")
	g.turnA("off")
	e.awaitOn(client, "")
	time.Sleep(1500 * time.Millisecond)
	if now := g.served("POST /edge/validate"); now != before {
		t.Errorf("Edge checked its tokens %d times after a flag changed", now-before)
	}
	g.do("DELETE", "/api/admin/api-tokens/"+client, "")
	await(t, "the status of a deleted token", 401, func() int { return e.ask("GET", "/api/client/features", client, "").status })

	later := g.token("client", "default", "development")
	e.tokens.mu.Lock()
	e.tokens.refused[hashOf(later)] = time.Now().Add(time.Hour)
	e.tokens.mu.Unlock()
	e.ask("GET", "/api/client/features", later, "").want(t, 401)
	g.token("client", "default", "development")
	await(t, "the status of a token that was refused", 200, func() int { return e.ask("GET", "/api/client/features", later, "").status })
	e.ask("GET", "/api/client/features", own, "").want(t, 200)
}

type validTokens2 struct {
	Tokens []string `json:"tokens"`
}

// TestManyInvalidTokens checks that valid tokens are found among many invalid ones, more than Guidon looks up at once.
func TestManyInvalidTokens(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	own, good := g.token("client", "*", "development"), g.token("client", "default", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own})
	e.awaitOn(own, "")
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			if a := e.ask("GET", "/api/client/features", fmt.Sprintf("default:development.bad%d", i), ""); a.status != 401 && a.status != 503 {
				t.Errorf("an invalid token: %s", a)
			}
		})
	}
	await(t, "the status of the valid token", 200, func() int { return e.ask("GET", "/api/client/features", good, "").status })
	group.Wait()
}

// TestDeletedTokenAmongUnknownOnes checks that a deleted token ends while always more unknown ones wait than Edge asks about at once.
func TestDeletedTokenAmongUnknownOnes(t *testing.T) {
	t.Parallel()
	g, _, e := following(t)
	client := g.token("client", "default", "development")
	e.awaitOn(client, "a")
	ctx, stop := context.WithCancel(t.Context())
	var strangers sync.WaitGroup
	defer strangers.Wait()
	defer stop()
	for i := range 2 * maxGroup {
		strangers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_, _ = e.tokens.get(ctx, fmt.Sprintf("default:development.guess%d-%d", i, n))
			}
		})
	}
	await(t, "Edge has asked about strangers' tokens", true, func() bool {
		e.tokens.mu.Lock()
		defer e.tokens.mu.Unlock()
		return len(e.tokens.refused) > smallGroup
	})
	g.do("DELETE", "/api/admin/api-tokens/"+client, "")
	await(t, "the status of the deleted token", 401, func() int { return e.ask("GET", "/api/client/features", client, "").status })
}

// TestValidateManyUnknownTokens checks that a caller of POST /edge/validate who knows no token has ten looked up, and one who does has more.
func TestValidateManyUnknownTokens(t *testing.T) {
	t.Parallel()
	g, own, e := following(t)
	tokens := make([]string, maxGroup)
	for i := range tokens {
		tokens[i] = fmt.Sprintf("default:development.guess%d", i)
	}
	validate := func(tokens ...string) answer {
		body, err := json.Marshal(validTokens2{tokens})
		if err != nil {
			t.Fatal(err)
		}
		return e.ask("POST", "/edge/validate", "", string(body))
	}
	validate(tokens...).want(t, 400, "only 10 tokens are looked up", "0 of 10 were valid")
	e.tokens.mu.Lock()
	if n := len(e.tokens.refused) + len(e.tokens.waiting); n > smallGroup {
		t.Errorf("Edge asked about %d tokens, want at most %d", n, smallGroup)
	}
	e.tokens.mu.Unlock()
	client := g.token("client", "default", "development")
	for i := range tokens {
		tokens[i] = fmt.Sprintf("default:development.guess-again%d", i)
	}
	validate(append([]string{own}, append(tokens[:180:180], client)...)...).want(t, 200, own, client)
}

// TestNobodyWaits checks that a token leaves the queue when the requests that sent it have ended.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	config, err := ReadConfig([]string{"edge"}, func(name string) string { return map[string]string{"UPSTREAM_URL": g.URL}[name] })
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(config, io.Discard) // it does not run, so nothing is answered
	if err != nil {
		t.Fatal(err)
	}
	waiting := func() int {
		e.tokens.mu.Lock()
		defer e.tokens.mu.Unlock()
		return len(e.tokens.waiting)
	}
	first, stop := context.WithCancel(t.Context())
	var requests sync.WaitGroup
	requests.Go(func() { _, _ = e.tokens.get(first, "default:development.guess") })
	await(t, "tokens that wait", 1, waiting)
	ended, end := context.WithCancel(t.Context())
	end()
	_, _ = e.tokens.get(ended, "default:development.guess")
	if n := waiting(); n != 1 {
		t.Errorf("%d tokens wait while a request waits for one", n)
	}
	stop()
	requests.Wait()
	if n := waiting(); n != 0 {
		t.Errorf("%d tokens wait after the requests have ended", n)
	}
}

// TestUpstreamTokenRefused checks that the tokens of applications stay valid when the upstream refuses Edge's own token with them.
func TestUpstreamTokenRefused(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own, client := g.token("client", "*", "development"), g.token("client", "default", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own})
	e.awaitOn(client, "a")
	g.do("DELETE", "/api/admin/api-tokens/"+own, "")
	e.awaitLog("refuses a token of TOKENS")
	g.do("DELETE", "/api/admin/api-tokens/"+client, "")
	before := g.served("POST /edge/validate")
	await(t, "Edge asks again", true, func() bool { return g.served("POST /edge/validate") > before+2 })
	e.awaitOn(client, "a")
}

// TestKeepTokens checks that a token is forgotten when the upstream could not be asked for too long.
func TestKeepTokens(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	own, client := g.token("client", "*", "development"), g.token("client", "default", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "KEEP_TOKENS": "2s"})
	e.awaitOn(client, "")
	g.fails(status(http.StatusInternalServerError))
	e.ask("GET", "/api/client/features", client, "").want(t, 200)
	await(t, "the status of the token", 503, func() int { return e.ask("GET", "/api/client/features", client, "").status })
	e.ask("GET", "/api/client/features", own, "").want(t, 200) // TOKENS are kept
	g.fails(nil)
	await(t, "the status of the token", 200, func() int { return e.ask("GET", "/api/client/features", client, "").status })
}

func TestPretrusted(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": g.token("client", "*", "development"), "PRETRUSTED_TOKENS": "secret-123@development,default:development.trusted"})
	for _, token := range []string{"secret-123", "secret-123@development", "default:development.trusted"} {
		want := 200
		if token == "secret-123" {
			want = 401
		}
		e.ask("GET", "/api/frontend", token, "").want(t, want)
	}
	e.ask("GET", "/api/client/features", "default:development.trusted", "").want(t, 403)
}

// TestBackup checks that an Edge starts from its folder while the upstream is gone, never from a damaged file, and that the folder has
// no secrets.
func TestBackup(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"own token", "token of an application"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			g := newGuidon(t)
			g.flag("a")
			own, client, frontend := g.token("client", "*", "development"), g.token("client", "default", "development"), g.token("frontend", "default", "development")
			folder := filepath.Join(t.TempDir(), "backup")
			settings := map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "BACKUP_FOLDER": folder}
			file := hashOf(own)
			if mode != "own token" {
				delete(settings, "TOKENS")
				file = hashOf(client)
			}
			e := newEdge(t, "edge", settings)
			e.awaitOn(client, "a")
			e.ask("GET", "/api/frontend", frontend, "").want(t, 200)
			path := filepath.Join(folder, hex.EncodeToString(file[:]))
			await(t, "the file is there", true, func() bool { _, err := os.Stat(path); return err == nil })
			g.flag("b")
			e.awaitOn(client, "a b")
			e.stop()
			delta := ask(t, "GET", g.URL+"/api/client/delta", client, "").want(t, 200)
			entries, err := os.ReadDir(folder)
			if err != nil || len(entries) != 4 {
				t.Fatalf("the folder has %v (%v), want two files and the one before each", entries, err)
			}
			for _, entry := range entries {
				raw, err := os.ReadFile(filepath.Join(folder, entry.Name()))
				if err != nil {
					t.Fatal(err)
				}
				for _, secret := range []string{own, client, frontend} {
					if _, key, _ := strings.Cut(secret, "."); strings.Contains(string(raw), key) {
						t.Errorf("%s has a secret", entry.Name())
					}
				}
			}

			g.fails(status(http.StatusBadGateway))
			e = newEdge(t, "edge", settings)
			e.awaitOn(client, "a b")
			e.ask("GET", "/api/frontend", frontend, "").want(t, 200, `"name":"b"`)
			e.ask("GET", "/ready", "", "").want(t, 200)
			e.awaitLog("serves the flags of BACKUP_FOLDER")
			e.ask("GET", "/api/client/features", "default:development.nosuch", "").want(t, 503)
			_ = delta
			g.fails(nil)
			g.turnA("off")
			e.awaitOn(client, "b")
			e.stop()

			g.fails(status(http.StatusBadGateway))
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := append([]byte{}, raw...)
			damaged[len(damaged)/2] ^= 1
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			e = newEdge(t, "edge", settings)
			e.awaitOn(client, "a b") // of the file before
			e.awaitLog("it is damaged")
			e.stop()
			for _, name := range []string{path, path + ".old"} {
				if err := os.WriteFile(name, raw[:len(raw)/2], 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e = newEdge(t, "edge", settings)
			e.ask("GET", "/api/client/features", client, "").want(t, 503)
			e.stop()
		})
	}
}

// TestBackupIsOlder checks that requests wait for the first response of the upstream, instead of getting the older flags of the folder.
func TestBackupIsOlder(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own := g.token("client", "*", "development")
	settings := map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "BACKUP_FOLDER": t.TempDir()}
	e := newEdge(t, "edge", settings)
	e.awaitOn(own, "a")
	e.stop()
	g.turnA("off")
	e = newEdge(t, "edge", settings)
	if on := e.on(own); on != "" {
		t.Errorf("%q is on after the restart", on)
	}
}

// TestBackupCannotBeWritten checks that Edge serves on.
func TestBackupCannotBeWritten(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	g.flag("a")
	own := g.token("client", "*", "development")
	folder := filepath.Join(t.TempDir(), "backup")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "BACKUP_FOLDER": folder})
	e.awaitOn(own, "a")
	time.Sleep(50 * time.Millisecond)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	g.turnA("off")
	e.awaitOn(own, "")
	e.awaitLog("cannot be written to BACKUP_FOLDER")
}

// TestMaxAge checks that MAX_AGE makes responses fail when the flags are older.
func TestMaxAge(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	own := g.token("client", "*", "development")
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "MAX_AGE": "2s"})
	e.awaitOn(own, "")
	g.fails(status(http.StatusInternalServerError))
	await(t, "the status", 503, func() int { return e.ask("GET", "/api/client/features", own, "").status })
	e.ask("GET", "/ready", "", "").want(t, 503, "MAX_AGE")
	e.ask("GET", "/health", "", "").want(t, 200)
	g.fails(nil)
	await(t, "the status", 200, func() int { return e.ask("GET", "/api/client/features", own, "").status })
	e.ask("GET", "/ready", "", "").want(t, 200)
}

// TestOtherTokensOfSettings checks that the log says why Edge gets no flags with a frontend or an admin token.
func TestOtherTokensOfSettings(t *testing.T) {
	t.Parallel()
	g := newGuidon(t)
	for kind, environment := range map[string]string{"frontend": "development", "admin": "*"} {
		e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": g.token(kind, "*", environment)})
		e.ask("GET", "/api/client/features", g.token("client", "*", "development"), "")
		e.awaitLog("TOKENS has a token of the type " + kind)
	}
}
