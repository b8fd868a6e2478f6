package evaluate_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guidon/internal/clientspec"
	"guidon/pkg/evaluate"
)

// A suite is a file of the client specification.
type suite struct {
	State struct {
		Features []evaluate.Flag
		Segments []evaluate.Segment
		Events   []deltaEvent
	}
	Tests []struct {
		Description, ToggleName string
		Context                 evaluate.Context
		ExpectedResult          bool
	}
	VariantTests []struct {
		Description, ToggleName string
		Context                 evaluate.Context
		ExpectedResult          variantResult
	}
}

// A deltaEvent is an event of GET /api/client/delta.
type deltaEvent struct {
	Type        string
	Features    []evaluate.Flag // of a hydration
	Segments    []evaluate.Segment
	Feature     evaluate.Flag
	FeatureName string
	Segment     evaluate.Segment
	SegmentID   int64
}

// A variantResult is what getVariant of an SDK returns.
type variantResult struct {
	Name           string
	Payload        *evaluate.Payload
	Enabled        bool
	FeatureEnabled bool `json:"feature_enabled"`
}

func newVariantResult(r evaluate.Result) variantResult {
	if r.Variant == nil {
		return variantResult{Name: evaluate.DisabledVariant, FeatureEnabled: r.Enabled}
	}
	return variantResult{r.Variant.Name, r.Variant.Payload, true, true}
}

func (s suite) set(t *testing.T) *evaluate.Set {
	set := evaluate.NewSet(s.State.Features, s.State.Segments)
	for _, e := range s.State.Events {
		switch e.Type {
		case "hydration":
			set = evaluate.NewSet(e.Features, e.Segments)
		case "feature-updated":
			set = set.With(evaluate.Changes{Flags: []evaluate.Flag{e.Feature}})
		case "feature-removed":
			set = set.With(evaluate.Changes{RemovedFlags: []string{e.FeatureName}})
		case "segment-updated":
			set = set.With(evaluate.Changes{Segments: []evaluate.Segment{e.Segment}})
		case "segment-removed":
			set = set.With(evaluate.Changes{RemovedSegments: []int64{e.SegmentID}})
		default:
			t.Fatalf("unknown event %q", e.Type)
		}
	}
	return set
}

// loadSuites loads the specification, and fails without it.
func loadSuites(t *testing.T) map[string]suite {
	t.Helper()
	files, err := clientspec.Load(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	suites := map[string]suite{}
	for _, file := range files {
		var s suite
		if err := json.Unmarshal(file.JSON, &s); err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		suites[file.Name] = s
	}
	return suites
}

func TestClientSpecification(t *testing.T) {
	const suites, tests = 22, 279
	all := loadSuites(t)
	if len(all) != suites {
		t.Errorf("the specification has %d suites, want %d", len(all), suites)
	}
	count := 0
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			set := s.set(t)
			if len(s.Tests)+len(s.VariantTests) == 0 {
				t.Error("the suite has no tests")
			}
			for _, test := range s.Tests {
				test.Context.Now = time.Now()
				if got := set.Evaluate(test.ToggleName, &test.Context); got.Enabled != test.ExpectedResult {
					t.Errorf("%s: got %t, want %t: %+v", test.Description, got.Enabled, test.ExpectedResult, set.Trace(test.ToggleName, &test.Context))
				}
			}
			for _, test := range s.VariantTests {
				test.Context.Now = time.Now()
				got := newVariantResult(set.Evaluate(test.ToggleName, &test.Context))
				if diff := cmp.Diff(test.ExpectedResult, got); diff != "" {
					t.Errorf("%s: -want +got\n%s", test.Description, diff)
				}
			}
			count += len(s.Tests) + len(s.VariantTests)
		})
	}
	if count != tests {
		t.Errorf("the specification has %d tests, want %d", count, tests)
	}
}
