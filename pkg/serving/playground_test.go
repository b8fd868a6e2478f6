package serving

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/httpapi"
)

// TestPlayground checks with random flags that the playground says of each flag what GET /api/frontend says for the same
// context. Every context has IDs, since a result without one is random.
func TestPlayground(t *testing.T) {
	a := administer(t)
	r := rand.New(rand.NewPCG(14, 4))
	segments := []int64{a.segment(""), 0}
	if err := json.Unmarshal([]byte(a.do("POST", "/api/admin/segments",
		`{"name": "norway", "constraints": [{"contextName": "country", "operator": "IN", "values": ["NO", "SE"]}]}`)), &struct{ ID *int64 }{&segments[1]}); err != nil {
		t.Fatal(err)
	}
	a.do("POST", "/api/admin/strategies", `{"name": "custom", "parameters": []}`)
	const n = 60
	a.do("POST", "/api/admin/features-batch/import", randomFlags(r, n, segments))
	for range 12 {
		child, parent := fmt.Sprint("flag-", 10+r.IntN(n-10)), fmt.Sprint("flag-", r.IntN(10))
		a.do("POST", features+"/"+child+"/dependencies", fmt.Sprintf(`{"feature": %q, "enabled": %t}`, parent, r.IntN(3) > 0))
	}
	var token struct{ Secret string }
	if err := json.Unmarshal([]byte(a.do("POST", "/api/admin/api-tokens",
		`{"type": "frontend", "tokenName": "page", "environment": "development", "projects": ["default"]}`)), &token); err != nil {
		t.Fatal(err)
	}
	store := a.another(nil)
	frontend := httpapi.New(store, FrontendGroup(NewReader(store, ReaderOptions{}), store, httpapi.Config{}), httpapi.Config{})
	on := 0
	for range 40 {
		c := map[string]string{
			"appName": "shop", "userId": fmt.Sprint(r.IntN(10)), "sessionId": fmt.Sprint(r.IntN(100)), "remoteAddress": fmt.Sprint("10.0.0.", r.IntN(4)),
			"country": pick(r, "NO", "SE", "DK", ""), "age": pick(r, "16", "18", "30", "old", ""), "environment": pick(r, "", "default", "blue"),
		}
		want, got := frontendResults(t, frontend, token.Secret, c), a.playgroundResults(c)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v: -frontend +playground\n%s", c, diff)
		}
		on += len(want)
	}
	if on < 40*5 || on > 40*(n-5) {
		t.Errorf("%d flags were on for 40 contexts: too few or too many to compare", on)
	}
}

// frontendResults returns the variants of the flags that are on, as JSON, by flag.
func frontendResults(t *testing.T, h http.Handler, secret string, c map[string]string) map[string]string {
	t.Helper()
	query := url.Values{}
	for name, value := range c {
		query.Set(name, value)
	}
	answer := decoded[struct {
		Toggles []struct {
			Name    string
			Variant json.RawMessage
		}
	}](t, call(h, "GET", "/api/frontend?"+query.Encode(), "", "Authorization: "+secret), 200)
	results := map[string]string{}
	for _, f := range answer.Toggles {
		results[f.Name] = variantText(t, f.Variant)
	}
	return results
}

func (a *administration) playgroundResults(c map[string]string) map[string]string {
	a.t.Helper()
	body, _ := json.Marshal(map[string]any{"environment": "development", "projects": []string{"default"}, "context": c})
	var answer struct {
		Features []struct {
			Name      string
			IsEnabled bool
			Variant   json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(a.do("POST", "/api/admin/playground", string(body))), &answer); err != nil {
		a.t.Fatal(err)
	}
	results := map[string]string{}
	for _, f := range answer.Features {
		if f.IsEnabled {
			results[f.Name] = variantText(a.t, f.Variant)
		}
	}
	return results
}

// variantText returns what a variant gives an application.
func variantText(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	var v struct {
		Name    string
		Enabled bool
		Payload struct{ Type, Value string }
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v)
}

// randomFlags returns an import of flags with up to three strategies in development, of which some are disabled.
func randomFlags(r *rand.Rand, n int, segments []int64) string {
	var features, strategies, environments, imported []string
	for i := range n {
		name := fmt.Sprint("flag-", i)
		features = append(features, fmt.Sprintf(`{"name": %q}`, name))
		for range 1 + r.IntN(3) {
			strategies = append(strategies, randomStrategy(r, name, segments))
		}
		environments = append(environments, fmt.Sprintf(`{"featureName": %q, "enabled": %t, "variants": %s}`, name, r.IntN(8) > 0, randomVariants(r, true)))
	}
	imported = append(imported, fmt.Sprintf(`{"id": %d, "name": "s"}, {"id": %d, "name": "norway"}`, segments[0], segments[1]))
	return fmt.Sprintf(`{"project": "default", "environment": "development", "data": {"features": [%s], "featureStrategies": [%s], "featureEnvironments": [%s], "segments": [%s]}}`,
		strings.Join(features, ","), strings.Join(strategies, ","), strings.Join(environments, ","), strings.Join(imported, ","))
}

func randomStrategy(r *rand.Rand, flag string, segments []int64) string {
	kind := pick(r,
		fmt.Sprintf(`"name": "flexibleRollout", "parameters": {"rollout": "%d", "stickiness": %q, "groupId": "g"}`, r.IntN(5)*25, pick(r, "default", "userId", "sessionId", "country")),
		`"name": "default"`, `"name": "userWithId", "parameters": {"userIds": "1,2,3,7"}`, `"name": "custom"`,
		`"name": "remoteAddress", "parameters": {"IPs": "10.0.0.1,10.0.0.2"}`, `"name": "applicationHostname", "parameters": {"hostNames": "shop"}`,
		`"name": "gradualRolloutUserId", "parameters": {"percentage": "50", "groupId": "g"}`)
	var constraints, used []string
	for range r.IntN(3) {
		constraints = append(constraints, fmt.Sprintf(pick(r,
			`{"contextName": "country", "operator": "IN", "values": ["NO", "DK"], "inverted": %t}`,
			`{"contextName": "age", "operator": "NUM_GTE", "value": "18", "inverted": %t}`,
			`{"contextName": "userId", "operator": "STR_CONTAINS", "values": ["1", "5", "7"], "inverted": %t}`,
			`{"contextName": "environment", "operator": "NOT_IN", "values": ["blue"], "inverted": %t}`,
			`{"contextName": "currentTime", "operator": "DATE_AFTER", "value": "2020-01-01T00:00:00Z", "inverted": %t}`), r.IntN(3) == 0))
	}
	if r.IntN(4) == 0 {
		used = append(used, fmt.Sprint(segments[r.IntN(len(segments))]))
	}
	variants := "[]"
	if r.IntN(3) == 0 {
		variants = randomVariants(r, false)
	}
	return fmt.Sprintf(`{"featureName": %q, %s, "disabled": %t, "constraints": [%s], "segments": [%s], "variants": %s}`,
		flag, kind, r.IntN(6) == 0, strings.Join(constraints, ","), strings.Join(used, ","), variants)
}

func randomVariants(r *rand.Rand, overrides bool) string {
	var list []string
	for i := range r.IntN(4) {
		override := ""
		if overrides && r.IntN(3) == 0 {
			override = `, "overrides": [{"contextName": "userId", "values": ["7", "8"]}]`
		}
		list = append(list, fmt.Sprintf(`{"name": "v%d", "weight": 1, "weightType": "variable", "stickiness": "userId", "payload": {"type": "string", "value": "p%[1]d"}%s}`, i, override))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }
