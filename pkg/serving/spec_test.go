package serving

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/internal/clientspec"
	"guidon/pkg/answers"
	"guidon/pkg/evaluate"
	"guidon/pkg/httpapi"
)

// A specTest is a test of the client specification.
type specTest struct {
	Description, ToggleName string
	Context                 map[string]any
	ExpectedResult          json.RawMessage
}

// TestClientSpecification has the flags of the client specification in a state, and sends its contexts to /api/frontend and to
// OFREP. It finds faults of the conversion: pkg/evaluate has the tests of the evaluator.
func TestClientSpecification(t *testing.T) {
	suites, err := clientspec.Load(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	tests, evaluations := 0, 0
	for _, file := range suites {
		var suite struct {
			State struct {
				Features []evaluate.Flag
				Segments []evaluate.Segment
				Events   []json.RawMessage
			}
			Tests, VariantTests []specTest
		}
		if err := json.Unmarshal(file.JSON, &suite); err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		if len(suite.State.Events) > 0 {
			continue // of the delta, and with the same flags as other suites
		}
		t.Run(file.Name, func(t *testing.T) {
			f := newFixture()
			for _, flag := range suite.State.Features {
				if len(flag.Strategies) == 0 { // an enabled flag without strategies does not occur in a state
					flag.Strategies = []evaluate.Strategy{{Name: "default"}}
				}
				f.addEvaluated(flag)
			}
			for _, segment := range suite.State.Segments {
				f.addSegment(segment)
			}
			h := f.handler(httpapi.Config{})
			for _, test := range suite.Tests {
				tests++
				var want bool
				if err := json.Unmarshal(test.ExpectedResult, &want); err != nil {
					t.Fatal(err)
				}
				if got := evaluateToggle(t, h, test); got.Enabled != want && !randomSession(test) {
					t.Errorf("%s: /api/frontend gives %t, want %t", test.Description, got.Enabled, want)
				}
				evaluations++
				if got := evaluateOFREP(t, h, test); got.Metadata.Enabled != want {
					t.Errorf("%s: OFREP gives %+v, want %t", test.Description, got, want)
				}
			}
			for _, test := range suite.VariantTests {
				tests++
				var want answers.FrontendVariant
				if err := json.Unmarshal(test.ExpectedResult, &want); err != nil {
					t.Fatal(err)
				}
				want.FlagEnabled = want.OldFlagEnabled
				got := evaluateToggle(t, h, test)
				if !got.Enabled {
					got.Variant = answers.FrontendVariant{Name: evaluate.DisabledVariant}
				}
				if diff := cmp.Diff(want, got.Variant); diff != "" {
					t.Errorf("%s: /api/frontend (-want +got)\n%s", test.Description, diff)
				}
				evaluations++
				name := want.Name
				if want.FlagEnabled && !want.Enabled {
					name = "enabled"
				}
				if got := evaluateOFREP(t, h, test); got.Key != "" && got.Variant != name || got.Metadata.Enabled != want.FlagEnabled {
					t.Errorf("%s: OFREP gives %+v, want %+v", test.Description, got, want)
				}
			}
		})
	}
	t.Logf("%d tests of /api/frontend, %d of OFREP", tests, evaluations)
	if tests < 250 || evaluations < 250 {
		t.Errorf("only %d tests of /api/frontend, %d of OFREP", tests, evaluations)
	}
}

// randomSession reports whether a test relies on a context without a session: /api/frontend adds one.
func randomSession(test specTest) bool {
	return test.Description == "Feature.A4 should be disabled when no user on context"
}

func evaluateToggle(t *testing.T, h http.Handler, test specTest) (toggle answers.FrontendToggle) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"context": test.Context})
	if err != nil {
		t.Fatal(err)
	}
	w := call(h, "POST", "/api/frontend", string(body), "Authorization: frontend")
	for _, toggle := range decoded[answers.FrontendAnswer](t, w, 200).Toggles {
		if toggle.Name == test.ToggleName {
			return toggle
		}
	}
	return answers.FrontendToggle{}
}

// evaluateOFREP sends the context to both operations.
func evaluateOFREP(t *testing.T, h http.Handler, test specTest) (got answers.OfrepEvaluation) {
	t.Helper()
	context := map[string]any{}
	for name, value := range test.Context {
		context[name] = value
	}
	if id, found := context["userId"]; found && id != "" {
		context["targetingKey"] = id
		delete(context, "userId")
	}
	body, err := json.Marshal(map[string]any{"context": context})
	if err != nil {
		t.Fatal(err)
	}
	for _, evaluation := range decoded[answers.OfrepBulk](t, call(h, "POST", "/ofrep/v1/evaluate/flags", string(body), "Authorization: Bearer client"), 200).Flags {
		if evaluation.Key == test.ToggleName {
			got = evaluation
		}
	}
	w := call(h, "POST", "/ofrep/v1/evaluate/flags/"+test.ToggleName, string(body), "Authorization: Bearer client")
	if got.Key == "" {
		if w.Code != http.StatusNotFound {
			t.Errorf("%s is not in the list, and alone %d %s", test.ToggleName, w.Code, w.Body)
		}
		return got
	}
	alone := decoded[answers.OfrepEvaluation](t, w, 200)
	if context["targetingKey"] == nil && context["sessionId"] == nil {
		alone.Variant = got.Variant // chance decides each time
	}
	if diff := cmp.Diff(got, alone); diff != "" {
		t.Errorf("alone and in the list it differs:\n%s", diff)
	}
	return got
}
