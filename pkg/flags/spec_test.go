package flags_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/internal/clientspec"
	"guidon/pkg/flags"
)

// TestClientSpecification checks which flags of the client specification are valid as they are, and why the others are refused.
func TestClientSpecification(t *testing.T) {
	suites, err := clientspec.Load(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	const valid = ""
	want := map[string]int{ // how many flags have each of these faults
		valid: 112, "use only A-Z": 2, "must be one of NOT_IN": 1, "error parsing regexp": 3, "an IP address or a network": 3, "at least one value": 4,
		"full semantic version, such as 1.2.3": 1, "must be variable or fix": 27, // variants without a weightType
	}
	got := map[string]int{}
	for _, file := range suites {
		var suite struct {
			State struct {
				Features []struct {
					Name       string
					Strategies []flags.Strategy
				}
			}
		}
		if err := json.Unmarshal(file.JSON, &suite); err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		for _, f := range suite.State.Features {
			faults := flags.CheckName(f.Name)
			for _, s := range f.Strategies {
				var problems flags.Problems
				s.Check(&flags.StrategyTypes{}, flags.DefaultLimits(), &problems)
				if len(problems) > 0 {
					faults += fmt.Sprint(problems)
				}
			}
			if faults == valid {
				got[valid]++
			}
			for part := range want {
				if part != valid && strings.Contains(faults, part) {
					got[part]++
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
