//go:build clients

package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"guidon/internal/adminapi"
	"guidon/pkg/flags"
)

// sdkDifferences lists where SDKs differ from /api/frontend, by a pattern of the flags' names; the others agree. docs/reference/sdk-behavior.md
// tells users. A difference that disappears fails the test.
var sdkDifferences = map[string]map[string]string{
	"node": {
		"^property-DATE_": "the SDK compares with currentTime, whatever field the constraint names",
	},
	"nextjs": {
		"^property-DATE_":                "the SDK compares with currentTime, whatever field the constraint names",
		"^(REGEX|IN_CIDR|SEMVER_[GL]TE)": "the SDK does not know the operator",
	},
	"java": {
		"^(IN_CIDR|SEMVER_[GL]TE)": "the SDK does not know the operator",
	},
	"go-sdk": {
		"^(NUM|SEMVER)_.*-not$":             "the SDK does not invert the comparison with a value that is absent or cannot be read",
		"^property-DATE_AFTER":              "the SDK takes the current time for an absent field",
		"^child-of-flag-with-other-variant": "the SDK ignores which variant of the flag the parent has",
	},
	"go-client": {
		"^(REGEX|IN_CIDR|SEMVER_[GL]TE)":    "the SDK does not know the operator",
		"^(NUM|SEMVER)_.*-not$":             "the SDK does not invert the comparison with a value that is absent or cannot be read",
		"^property-DATE_AFTER":              "the SDK takes the current time for an absent field",
		"^child-of-flag-with-other-variant": "the SDK ignores which variant of the flag the parent has",
	},
}

// serverEvaluated is how many contexts the clients get whose server evaluates: each of them costs one request, or with OFREP on a server one for each flag.
const serverEvaluated = 50

// TestClientsAgree evaluates all built-in strategies and operators with the SDKs of comparedClients and in a browser, and compares with
// /api/frontend. Guidon Edge gives the same results, and so does each of these SDKs that reads from it.
func TestClientsAgree(t *testing.T) {
	g := start(t)
	names, contexts := comparedFlags(t, g), comparedContexts(1_000)
	t.Logf("%d flags, %d contexts", len(names), len(contexts))
	frontend, token := sdkToken(t, g, "", "frontend"), sdkToken(t, g, "", "client")
	want := frontendResults(t, g.url(), frontend, names, contexts)
	edge := startGuidonEdge(t, g)
	t.Run("frontend of Guidon Edge", func(t *testing.T) {
		t.Parallel()
		compareResults(t, nil, contexts, want, frontendResults(t, edge.url(), frontend, names, contexts))
	})
	compareBrowser(t, "", g.url(), frontend, names, contexts[:serverEvaluated], want)
	compareBrowser(t, throughEdge, edge.url(), frontend, names, contexts[:serverEvaluated], want)
	for name, command := range comparedClients(t, g.url(), edge.url()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contexts := contexts
			if strings.HasSuffix(name, "-ofrep") && !strings.HasSuffix(name, "python-ofrep") {
				contexts = contexts[:serverEvaluated]
			}
			command.Env = clientEnvironment(t, append(command.Env, "TOKEN="+token, "FLAGS="+encoded(t, names))...)
			var messages bytes.Buffer
			command.Stdin, command.Stderr = strings.NewReader(encoded(t, contexts)), &messages
			out, err := command.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, messages.Bytes()[max(0, messages.Len()-5_000):])
			}
			var got map[string][]string
			decode(t, out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:], &got)
			compareResults(t, sdkDifferences[strings.TrimPrefix(name, throughEdge)], contexts, want, got)
		})
	}
}

// compareBrowser compares the clients for browsers in Chromium, which fetch all flags of a context at once.
func compareBrowser(t *testing.T, prefix, url, token string, names []string, contexts []map[string]any, want map[string][]string) {
	if moreClients() {
		return
	}
	source := readRoot(t, "internal/clients/browser/evaluate.js")
	settings := encoded(t, map[string]any{"url": url, "token": token, "flags": names, "contexts": contexts})
	t.Run(prefix+"browser", func(t *testing.T) {
		t.Parallel()
		line := startPage(t, "const settings = "+settings+";\n"+source).open(t, "127.0.0.1")
		var got map[string]map[string][]string
		if decode(t, []byte(line), &got); len(got) != 3 {
			t.Errorf("%d clients, want 3", len(got))
		}
		for client, results := range got {
			t.Run(client, func(t *testing.T) { compareResults(t, nil, contexts, want, results) })
		}
	})
}

// compareResults checks that an SDK has the same results for all flags but those with a listed difference, and that these differ.
func compareResults(t *testing.T, listed map[string]string, contexts []map[string]any, want, got map[string][]string) {
	t.Helper()
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if len(got[name]) != len(contexts) {
			t.Errorf("%s: %d results", name, len(got[name]))
			continue
		}
		var wrong []int
		for i := range contexts {
			result, _, _ := strings.Cut(got[name][i], " {") // the program for Node adds the payload
			if strings.TrimSuffix(result, " undefined") != want[name][i] {
				wrong = append(wrong, i)
			}
		}
		known := false
		for pattern := range listed {
			if regexp.MustCompile(pattern).MatchString(name) {
				known, seen[pattern] = true, seen[pattern] || len(wrong) > 0
			}
		}
		if len(wrong) > 0 && !known {
			t.Errorf("%s: %d results differ, such as %q instead of %q for %v", name, len(wrong), got[name][wrong[0]], want[name][wrong[0]], contexts[wrong[0]])
		}
	}
	for pattern, why := range listed {
		if !seen[pattern] {
			t.Errorf("no flag %s differs any more (%s): remove it from the list and from docs/reference/sdk-behavior.md", pattern, why)
		}
	}
}

// comparedClients returns the programs that evaluate all flags: with Guidon, and with Guidon Edge.
func comparedClients(t *testing.T, guidon, edge string) map[string]*exec.Cmd {
	t.Helper()
	all := map[string]*exec.Cmd{}
	add := func(name, dir, program string, args ...string) {
		for prefix, url := range map[string]string{"": guidon, throughEdge: edge} {
			command := exec.Command(program, args...)
			command.Dir, command.Env = dir, []string{"GUIDON_URL=" + url}
			all[prefix+name] = command
		}
	}
	sources := filepath.Join(root, "internal", "clients")
	if moreClients() {
		add(javaClient, "", "java", "-cp", os.Getenv("CLIENTS_JAVA"), "Evaluate")
		add("java-ofrep", "", "java", "-cp", os.Getenv("CLIENTS_JAVA"), "EvaluateOfrep")
		add("rust", "", tool(t, "CLIENTS_RUST"))
		add("python-ofrep", "", tool(t, "CLIENTS_PYTHON"), filepath.Join(sources, "python", "evaluate_ofrep.py"))
		return all
	}
	node := nodeFolder(t)
	if err := os.CopyFS(node, os.DirFS(filepath.Join(sources, "node"))); err != nil {
		t.Fatal(err)
	}
	add("node", node, "node", "evaluate.mjs")
	add("node-ofrep", node, "node", "evaluate-ofrep.mjs")
	add("nextjs", node, "node", "evaluate-next.mjs")
	add("python", "", tool(t, "CLIENTS_PYTHON"), filepath.Join(sources, "python", "evaluate.py"))
	bin := t.TempDir()
	earlier := filepath.Join(bin, "earlier.go") // the same program with the earlier SDK
	if err := os.WriteFile(earlier, []byte(withEarlierGo(readRoot(t, "internal/clients/go/evaluate/main.go"))), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{"go-sdk": "./evaluate", "go-client": earlier, "go-ofrep": "./evaluate-ofrep"} {
		build := exec.Command("go", "build", "-o", filepath.Join(bin, name), source)
		build.Dir = filepath.Join(sources, "go")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build of %s in internal/clients/go: %v\n%s", source, err, out)
		}
		add(name, "", filepath.Join(bin, name))
	}
	return all
}

// withEarlierGo returns a program in Go with the SDK's predecessor, which takes contexts as options.
func withEarlierGo(program string) string {
	program = strings.ReplaceAll(program, "unleash-go-sdk/v6", "unleash-client-go/v4")
	program = regexp.MustCompile(`FeatureOptions{Ctx: (\w+)}`).ReplaceAllString(program, "WithContext($1)")
	return regexp.MustCompile(`VariantOptions{Ctx: (\w+)}`).ReplaceAllString(program, "WithVariantContext($1)")
}

// comparedFlags imports flags with each operator, also inverted, and each strategy, and returns their names.
func comparedFlags(t *testing.T, g *gateway) (names []string) {
	t.Helper()
	type object = map[string]any
	var features, strategies, environments, dependencies []any
	add := func(name string, variants []any, list ...object) {
		names = append(names, name)
		features = append(features, object{"name": name})
		environments = append(environments, object{"featureName": name, "environment": "development", "enabled": true, "variants": append([]any{}, variants...)})
		for _, s := range list {
			s["featureName"] = name
			strategies = append(strategies, s)
		}
	}
	constrained := func(constraints ...any) object { return object{"name": "default", "constraints": constraints} }
	rollout := func(percentage int, stickiness string) object {
		return object{"name": "flexibleRollout", "parameters": object{"rollout": percentage, "stickiness": stickiness, "groupId": "g"}}
	}
	variant := func(name string, weight int) object {
		return object{"name": name, "weight": weight, "weightType": "variable", "stickiness": "default"}
	}
	number, version, date, pattern := "12.5", "1.10.0", "2026-01-31", "^[a-c]+@example[.]com$"
	for _, operator := range flags.Operators() {
		kind, _, _ := strings.Cut(string(operator), "_")
		constraint := object{"contextName": "plan", "operator": operator, "values": []string{"gold", "old", "Gold"}}
		switch kind {
		case "NUM":
			constraint["contextName"], constraint["value"] = "number", number
		case "SEMVER":
			constraint["contextName"], constraint["value"] = "version", version
		case "DATE":
			constraint["contextName"], constraint["value"] = "currentTime", date
		case "REGEX":
			constraint["contextName"], constraint["value"] = "email", pattern
		}
		if operator.Kind() == flags.Addresses {
			constraint["contextName"], constraint["values"] = "remoteAddress", []string{"10.0.0.0/8", "2001:db8::1"}
		}
		if constraint["value"] != nil {
			delete(constraint, "values")
		}
		inverted := maps.Clone(constraint)
		inverted["inverted"] = true
		add(string(operator), nil, constrained(constraint))
		add(string(operator)+"-not", nil, constrained(inverted))
		switch kind {
		case "STR":
			constraint = maps.Clone(constraint)
			constraint["caseInsensitive"] = true
			add(string(operator)+"-any-case", nil, constrained(constraint))
		case "DATE":
			property := maps.Clone(constraint)
			property["contextName"] = "date"
			add("property-"+string(operator), nil, constrained(property))
		}
	}
	for _, stickiness := range []string{"default", "userId", "sessionId", "plan"} {
		add("rollout-"+stickiness, nil, rollout(37, stickiness))
	}
	add("rollout-random", nil, rollout(100, "random"))
	add("rollout-none", nil, rollout(0, "default"))
	add("users", nil, object{"name": "userWithId", "parameters": object{"userIds": "7, 70,user-71"}})
	add("addresses", nil, object{"name": "remoteAddress", "parameters": object{"IPs": "10.0.0.1,192.168.0.0/16,2001:db8::1"}})
	add("hosts", nil, object{"name": "applicationHostname", "parameters": object{"hostNames": "nowhere.example"}})
	add("old-users", nil, object{"name": "gradualRolloutUserId", "parameters": object{"percentage": 40, "groupId": "g"}})
	add("old-sessions", nil, object{"name": "gradualRolloutSessionId", "parameters": object{"percentage": 40, "groupId": "g"}})
	add("old-random", nil, object{"name": "gradualRolloutRandom", "parameters": object{"percentage": 100}})
	add("disabled-strategy", nil, object{"name": "default", "disabled": true}, rollout(20, "userId"))
	add("two", nil, constrained(object{"contextName": "plan", "operator": "IN", "values": []string{"gold"}}, object{"contextName": "number", "operator": "NUM_GT", "value": ".5"}), rollout(10, "userId"))
	add("variants", []any{variant("a", 333), variant("b", 333), variant("c", 334)}, object{"name": "default"})
	golden := variant("b", 1)
	golden["overrides"] = []any{object{"contextName": "plan", "values": []string{"gold", "old"}}}
	add("overrides", []any{variant("a", 999), golden}, object{"name": "default"})
	add("everyone", nil, object{"name": "default"})
	inStrategy := rollout(50, "userId")
	inStrategy["variants"] = []any{variant("x", 500), variant("y", 500)}
	add("variants-of-strategy", nil, inStrategy)
	add("segment", nil, object{"name": "default", "segments": []int{1}})
	add("child-of-flag-with-other-variant", nil, object{"name": "default"})
	dependencies = append(dependencies, object{"feature": "child-of-flag-with-other-variant", "dependencies": []any{object{"feature": "variants", "enabled": true, "variants": []string{"a", "b"}}}})
	add("child-of-off", nil, object{"name": "default"})
	dependencies = append(dependencies, object{"feature": "child-of-off", "dependencies": []any{object{"feature": "rollout-userId", "enabled": false}}})
	g.do(t, http.StatusOK, "POST", "/api/admin/features-batch/import", object{"project": "default", "environment": "development", "data": object{
		"features": features, "featureStrategies": strategies, "featureEnvironments": environments, "dependencies": dependencies,
		"segments": []any{object{"id": 1, "name": "compared", "constraints": []any{object{"contextName": "plan", "operator": "STR_STARTS_WITH", "values": []string{"g", "s"}}}}},
	}}, nil)
	return names
}

// comparedContexts returns contexts of users. Each field has values that operators distinguish, some that they cannot read, and is
// absent from some contexts. Nothing depends on chance.
func comparedContexts(n int) []map[string]any {
	random := rand.New(rand.NewPCG(1, 2))
	contexts := make([]map[string]any, n)
	for i := range contexts {
		properties := map[string]string{}
		for name, values := range map[string][]string{
			"plan": {"gold", "GOLD", "Gold", "silver", "old", "golden"}, "number": {"12.5", "12.50", "0", "-3", "1e3", "abc", "13"},
			"version": {"1.10.0", "1.9.9", "1.10.0-rc.1", "2.0.0", "1.10", "abc"}, "email": {"abc@example.com", "abc@example.org", "ABC@example.com"},
			"date": {"2026-01-30T23:59:59Z", "2026-01-31T00:00:00.000Z", "2026-01-31T00:00:01+02:00", "2030-01-01T00:00:00Z", "abc"},
		} {
			if at := random.IntN(len(values) + 1); at < len(values) {
				properties[name] = values[at]
			}
		}
		address := []string{"10.0.0.1", "10.1.2.3", "192.168.7.7", "172.16.0.1", "2001:db8::1", "::1"}
		times := []string{"2026-01-30T23:59:59.000Z", "2026-01-31T00:00:00.000Z", "2026-02-01T00:00:00.000Z"}
		contexts[i] = map[string]any{"userId": strconv.Itoa(i), "sessionId": fmt.Sprint("s", i%500), "remoteAddress": address[random.IntN(len(address))],
			"environment": "default", "appName": "evaluate", "currentTime": times[random.IntN(len(times))], "properties": properties}
	}
	return contexts
}

// frontendResults returns what /api/frontend says: by flag, a text for each context.
func frontendResults(t *testing.T, url, token string, names []string, contexts []map[string]any) map[string][]string {
	t.Helper()
	client, err := adminapi.New("the frontend API", url, token)
	if err != nil {
		t.Fatal(err)
	}
	results := map[string][]string{}
	for _, c := range contexts {
		var body struct {
			Toggles []struct {
				Name    string
				Variant struct {
					Name    string
					Enabled bool
				}
			}
		}
		if err := client.Call(t.Context(), http.MethodPost, "/api/frontend", map[string]any{"context": c}, &body); err != nil {
			t.Fatal(err)
		}
		on := map[string]string{}
		for _, toggle := range body.Toggles {
			on[toggle.Name] = "true"
			if toggle.Variant.Enabled {
				on[toggle.Name] += " " + toggle.Variant.Name
			}
		}
		for _, name := range names {
			results[name] = append(results[name], cmp.Or(on[name], "false"))
		}
	}
	return results
}
