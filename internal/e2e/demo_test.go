//go:build clients

package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// sdkVersion matches the SDK of Unleash in go.mod or package.json.
var sdkVersion = regexp.MustCompile(`(?:unleash-go-sdk/v6 |"unleash-client": ")(v?[0-9.]+)`)

// demoData is what the dashboard of the demo shows.
type demoData struct {
	Console      string
	Origin       string
	Applications []struct {
		Language, SDK, Error string
		Flags                []struct {
			Name, Type, Description string
			Answers                 []string
		}
	}
}

// TestDemo runs what make demo runs, and changes flags: both applications follow, and give each user the same answer. A bad release stops
// itself. The applications keep their flags while Guidon is stopped. With DOCS=1 it takes the picture of the documentation.
func TestDemo(t *testing.T) {
	for _, file := range []string{"go/go.mod", "node/package.json"} {
		sameSDK(t, file)
	}
	programs, node := t.TempDir(), nodeFolder(t)
	application := filepath.Join(programs, "application")
	build := exec.Command("go", "build", "-o", application, ".")
	build.Dir = filepath.Join(root, "demo", "go")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := os.CopyFS(node, os.DirFS(filepath.Join(root, "demo", "node"))); err != nil {
		t.Fatal(err)
	}
	g := &gateway{port: freePort(t), token: defaultToken, http: &http.Client{Timeout: endTimeout}}
	dashboard := &gateway{port: freePort(t), http: g.http}
	cmd := exec.Command(filepath.Join(root, "demo", "run.sh"))
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), "PORT="+g.port, "DEMO_PORT="+dashboard.port,
		"GUIDON="+binary, "APPLICATION="+application, "NODE="+node, "DIR="+filepath.Join(t.TempDir(), "demo"))
	demo := follow(t, cmd, nil)

	awaitDemo(t, demo, dashboard, "the start", map[string]map[string]int{
		"accept-payments": {"on": 100}, "button-color": {"blue": 1, "green": 1, "orange": 1}, "new-checkout": {"": 1, "on": 1},
		"one-page-checkout": {"": 1, "on": 1},
	})
	shows := func(page string) bool { // the users of accept-payments and button-color, for two applications
		return strings.Count(page, ">100 of 100 on<") == 4 && strings.Contains(page, `title="user-100: on"`)
	}
	shown := openPage(t, dashboard.url(), "--dump-dom")
	for deadline := time.Now().Add(startTimeout); !shows(shown) && time.Now().Before(deadline); {
		shown = openPage(t, dashboard.url(), "--dump-dom")
	}
	if !shows(shown) {
		t.Errorf("the page shows\n%s\nwant all users of two flags in two applications", shown)
	}
	if os.Getenv("DOCS") != "" {
		openPage(t, dashboard.url(), "--screenshot="+filepath.Join(root, "docs", "images", "demo.png"))
	}
	stopsItself(t, g, func(step string, want map[string]map[string]int) { awaitDemo(t, demo, dashboard, step, want) })
	g.do(t, 200, "POST", project+"/features/accept-payments/environments/development/off", nil, nil)
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "made-by-a-visitor"}, nil)
	awaitDemo(t, demo, dashboard, "a flag is off, and a new one is there", map[string]map[string]int{
		"accept-payments": {"": 100}, "made-by-a-visitor": {"": 100},
	})

	dashboard.do(t, 204, "POST", "/origin", nil, nil)
	g.http.Timeout = 2 * time.Second
	answers := func() bool { _, _, err := g.send(t.Context(), http.MethodGet, "/health", nil); return err == nil }
	for deadline := time.Now().Add(startTimeout); answers(); { // the signal takes a moment to reach all threads
		if time.Now().After(deadline) {
			t.Fatal("a stopped Guidon answers")
		}
	}
	awaitDemo(t, demo, dashboard, "Guidon is stopped", map[string]map[string]int{
		"accept-payments": {"": 100}, "button-color": {"blue": 1, "green": 1, "orange": 1}, "made-by-a-visitor": {"": 100},
	})
	if page := openPage(t, dashboard.url(), "--dump-dom"); !strings.Contains(page, "Let Guidon go on") {
		t.Errorf("the page shows\n%s\nwant a button to let Guidon go on", page)
	}
	dashboard.do(t, 204, "POST", "/origin", nil, nil)
	g.http.Timeout = endTimeout
	g.do(t, 200, "POST", project+"/features/accept-payments/environments/development/on", nil, nil)
	awaitDemo(t, demo, dashboard, "Guidon goes on", map[string]map[string]int{"accept-payments": {"on": 100}})
	dashboard.do(t, 204, "POST", "/origin", nil, nil) // a stopped Guidon ends with the demo

	demo.signal(t, os.Interrupt)
	if code := demo.wait(t); code != 0 {
		t.Errorf("the exit code is %d, want 0", code)
	}
	if listens(g.port) || listens(dashboard.port) {
		t.Error("a process of the demo is still running")
	}
}

// stopsItself takes the bad release to 50 %, where the errors that the application measures switch it off. Here nothing waits for a minute: the
// next milestones are started by hand.
func stopsItself(t *testing.T, g *gateway, await func(step string, want map[string]map[string]int)) {
	t.Helper()
	const in = project + "/features/one-page-checkout/environments/development"
	for _, percentage := range []string{"25", "50"} {
		next := exec.Command(binary, "plan", "next", "one-page-checkout", "--environment", "development")
		next.Env = append(os.Environ(), "GUIDON_URL="+g.url(), "GUIDON_TOKEN="+g.token)
		if out, err := next.CombinedOutput(); err != nil || !strings.Contains(string(out), "flexibleRollout "+percentage+"%") {
			t.Fatalf("guidon plan next: %v\n%s", err, out)
		}
	}
	await("a bad release has stopped itself", map[string]map[string]int{"one-page-checkout": {"": 100}})
	var plans []struct{ State, StateReason string }
	g.do(t, 200, "GET", in+"/release-plans", nil, &plans)
	if len(plans) != 1 || plans[0].State != "off" || !strings.Contains(plans[0].StateReason, "demo-errors") {
		t.Errorf("the plans are %+v, want one that the signal demo-errors has switched off", plans)
	}
	type event struct {
		Type, CreatedBy string
		Data            struct{ Cause string }
	}
	var history struct{ Events []event }
	g.do(t, 200, "GET", "/api/admin/events/one-page-checkout", nil, &history)
	if !slices.ContainsFunc(history.Events, func(e event) bool {
		return e.Type == "safeguard-triggered" && e.CreatedBy == "Guidon" && strings.Contains(e.Data.Cause, "demo-errors")
	}) {
		t.Errorf("the history is %+v, want that the signal demo-errors has triggered a safeguard", history.Events)
	}
}

// awaitDemo waits until both applications have the flags, with at least so many users for each answer, and equal answers.
func awaitDemo(t *testing.T, demo *process, dashboard *gateway, step string, want map[string]map[string]int) {
	t.Helper()
	var problem error
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		select {
		case <-demo.ended:
			t.Fatalf("%s: the demo has ended", step)
		default:
		}
		status, body, err := dashboard.send(t.Context(), http.MethodGet, "/data", nil)
		if err != nil || status != http.StatusOK {
			problem = cmp.Or(err, fmt.Errorf("the dashboard answers %d", status))
			continue
		}
		var data demoData
		if err := json.Unmarshal(body, &data); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if problem = compareDemo(data, want); problem == nil {
			return
		}
	}
	t.Fatalf("%s: %v", step, problem)
}

func compareDemo(data demoData, want map[string]map[string]int) error {
	var answers []map[string][]string
	for _, a := range data.Applications {
		if a.Error != "" {
			return fmt.Errorf("an application has the error %q", a.Error)
		}
		flags := map[string][]string{}
		for _, flag := range a.Flags {
			flags[flag.Name] = flag.Answers
		}
		answers = append(answers, flags)
	}
	if len(answers) != 2 || data.Applications[0].Language == data.Applications[1].Language {
		return fmt.Errorf("the applications are %+v, want two, in two languages", data.Applications)
	}
	for flag, counts := range want {
		if !slices.Equal(answers[0][flag], answers[1][flag]) {
			return fmt.Errorf("the applications differ on %s: %q and %q", flag, answers[0][flag], answers[1][flag])
		}
		for answer, least := range counts {
			count := 0
			for _, got := range answers[0][flag] {
				if got == answer {
					count++
				}
			}
			if count < least {
				return fmt.Errorf("%s: %d users got %q, want %d or more", flag, count, answer, least)
			}
		}
	}
	return nil
}

// sameSDK checks that the demo has the version of the SDK that make test-clients tests.
func sameSDK(t *testing.T, file string) {
	t.Helper()
	version := func(folder string) string {
		raw, err := os.ReadFile(filepath.Join(root, folder, file))
		if err != nil {
			t.Fatal(err)
		}
		found := sdkVersion.FindStringSubmatch(string(raw))
		if found == nil {
			t.Fatalf("%s/%s has no SDK", folder, file)
		}
		return found[1]
	}
	if demo, tested := version("demo"), version("internal/clients"); demo != tested {
		t.Errorf("demo/%s has version %s of the SDK, internal/clients has %s", file, demo, tested)
	}
}

// openPage opens a page in a browser, lets it run for some seconds of its own time, and returns what the browser prints.
func openPage(t *testing.T, page, option string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium(t), "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
		"--hide-scrollbars", "--window-size=1120,1215", "--virtual-time-budget=4000", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"), option, page)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("Chromium: %v", err)
	}
	return string(out)
}
