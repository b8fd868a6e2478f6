//go:build upgrade

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"guidon/internal/engine"
)

// earlierVersion is the commit whose program must work beside this version's on one table, as it does during a canary and after a rollback:
// the one at which the stored forms begin. From the release 0.1.0 on, it is the last release.
const earlierVersion = "39d7bf8088ba16c686bc457e8aa7cd1493c2a8ef"

// TestUpgrade starts the program of an earlier version, and this one beside it. Both change flags and tokens, and what one did is what
// both serve with the next request. Then this version stops and starts again, as in a rollback and another upgrade.
func TestUpgrade(t *testing.T) {
	program := programOf(t, earlierVersion)
	e, err := engine.Start(t.Context(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	env := []string{"AWS_ENDPOINT_URL_DYNAMODB=" + e.URL(), "TOKEN_KEY_FILE=" + filepath.Join(t.TempDir(), "token.key")}
	s := &upgraded{t: t}
	earlier := startProgram(t, program, env...)
	s.changes(earlier, earlier)
	now := start(t, env...)
	s.both(earlier, now)
	now.stop(t)
	s.changes(earlier, earlier)
	now = start(t, env...)
	s.both(earlier, now)
	earlier.stop(t)
	s.changes(now, now)
}

// programOf builds the command of a commit.
func programOf(t *testing.T, commit string) (program string) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "earlier")
	for _, args := range [][]string{
		{"git", "-C", root, "archive", "--output", filepath.Join(dir, "earlier.tar"), commit},
		{"tar", "-xf", "earlier.tar"},
		{"go", "build", "-o", program, "./cmd/guidon"},
	} {
		command := exec.Command(args[0], args[1:]...)
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("the earlier version %s cannot be built. If this clone does not have it, fetch all history: git fetch --unshallow\n%v: %v\n%s", commit, args, err, out)
		}
	}
	return program
}

// startProgram starts the server of an earlier version.
func startProgram(t *testing.T, program string, env ...string) *gateway {
	t.Helper()
	port, data := freePort(t), t.TempDir()
	cmd := exec.Command(program, "serve")
	cmd.Env = append(append(os.Environ(), env...), "PORT="+port, "DATA_DIR="+data)
	return serving(t, follow(t, cmd, env), port, data, env)
}

// An upgraded service has servers of different versions.
type upgraded struct {
	t       *testing.T
	created int // numbers what was created
}

func (s *upgraded) both(one, other *gateway) {
	s.t.Helper()
	s.changes(one, other)
	s.changes(other, one)
}

// changes changes flags, segments, projects and tokens: what the first server begins, the second one ends. Both must serve each change to
// the next request.
func (s *upgraded) changes(first, second *gateway) {
	s.t.Helper()
	s.created++
	name := fmt.Sprint("Upgrade-", s.created)
	flag := project + "/features/" + name
	poll, environment := "/api/client/features?namePrefix="+name, flag+"/environments/development"
	do := func(g *gateway, method, path, body string) string {
		s.t.Helper()
		reply := g.ask(s.t, method, path, defaultToken, body)
		if reply.status >= 300 {
			s.t.Fatalf("%s: %d %s", reply.request, reply.status, reply.body)
		}
		return reply.body
	}
	serve := func(token string, status int, texts ...string) {
		s.t.Helper()
		for _, g := range []*gateway{first, second} {
			reply := g.ask(s.t, "GET", poll, token, "")
			for ; reply.status == http.StatusTooManyRequests; reply = g.ask(s.t, "GET", poll, token, "") {
				time.Sleep(50 * time.Millisecond) // an instance reads for five unknown tokens a second
			}
			reply.has(s.t, status, texts...)
		}
	}
	token := first.createToken(s.t, name, "client", "*", "development")
	serve(token, 200, `"features":[]`)
	do(first, "POST", project+"/features", fmt.Sprintf(`{"name":%q,"description":"first"}`, name))
	serve(token, 200, `"enabled":false`, `"description":"first"`)
	var segment struct{ ID int }
	decode(s.t, []byte(do(first, "POST", "/api/admin/segments", fmt.Sprintf(`{"name":%q,"constraints":[{"contextName":"userId","operator":"IN","values":["of-first"]}]}`, name))), &segment)
	do(first, "POST", environment+"/strategies", fmt.Sprintf(`{"name":"default","segments":[%d]}`, segment.ID))
	serve(token, 200, "of-first")
	do(first, "POST", environment+"/on", "")
	serve(token, 200, `"enabled":true`)
	for _, g := range []*gateway{first, second} {
		g.ask(s.t, "GET", "/api/admin/search/features?query="+strings.ToLower(name), defaultToken, "").has(s.t, 200, `"name":"`+name+`"`)
	}
	do(second, "PUT", fmt.Sprint("/api/admin/segments/", segment.ID), fmt.Sprintf(`{"name":%q,"constraints":[{"contextName":"userId","operator":"IN","values":["of-second"]}]}`, name))
	serve(token, 200, "of-second")
	do(second, "POST", environment+"/off", "")
	serve(token, 200, `"enabled":false`)
	do(first, "POST", environment+"/on", "")
	serve(token, 200, `"enabled":true`)
	do(second, "DELETE", flag, "")
	serve(token, 200, `"features":[]`)

	do(second, "POST", "/api/admin/projects", fmt.Sprintf(`{"id":%q,"name":%[1]q}`, name))
	ofProject := second.createToken(s.t, name+"-project", "client", name, "development")
	serve(ofProject, 200)
	do(first, "DELETE", "/api/admin/projects/"+name, "")
	serve(ofProject, 401)
	do(second, "DELETE", "/api/admin/api-tokens/"+token, "")
	serve(token, 401)
	other := second.createToken(s.t, name+"-other", "client", "*", "development")
	serve(other, 200)
	do(first, "DELETE", "/api/admin/api-tokens/"+other, "")
	serve(other, 401)
	own := first.createToken(s.t, name+"-own", "client", "*", "development")
	serve(own, 200)
	do(first, "DELETE", "/api/admin/api-tokens/"+own, "")
	serve(own, 401)
}
