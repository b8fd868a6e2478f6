package migrate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// normalOf is a strategy of a response in the form that is compared.
func normalOf(t *testing.T, answer string) strategy {
	t.Helper()
	var record strategyRecord
	if err := decode([]byte(answer), &record); err != nil {
		t.Fatal(err)
	}
	return record.strategy(map[int64]string{1: "one", 2: "two", 7: "one"}).withDefaults("flag")
}

func TestSameStrategies(t *testing.T) {
	for _, tt := range []struct {
		name, source, target string
		want                 []string // differences
	}{
		{"ids and order", `{"id":"a","sortOrder":3,"name":"default"}`, `{"id":"b","name":"default"}`, nil},
		{"omitted and empty fields", `{"name":"default","title":null,"disabled":null,"constraints":[],"segments":null}`, `{"name":"default","title":"","disabled":false,"parameters":{}}`, nil},
		{"segments by name", `{"segments":[2,1]}`, `{"segments":[7,2]}`, nil},
		{"another segment", `{"segments":[1]}`, `{"segments":[2]}`, []string{`/Segments/0 is "two", and "one" in the source`}},
		{"an unknown segment", `{"segments":[9]}`, `{"segments":[1]}`, []string{`/Segments/0 is "one", and "segment 9, which is not in the list of segments" in the source`}},
		{"parameters as texts", `{"parameters":{"rollout":50,"on":true}}`, `{"parameters":{"rollout":"50","on":"true"}}`, nil},
		{"omitted parameters with defaults", `{"name":"flexibleRollout","parameters":{"rollout":"9"}}`,
			`{"name":"flexibleRollout","parameters":{"rollout":"9","groupId":"flag","stickiness":"default"}}`, nil},
		{"a parameter", `{"parameters":{"rollout":"50"}}`, `{"parameters":{"rollout":"60"}}`, []string{`/Parameters/rollout is "60", and "50" in the source`}},
		{"omitted fields of constraints", `{"constraints":[{"contextName":"a","operator":"IN","values":["x"]}]}`,
			`{"constraints":[{"contextName":"a","operator":"IN","values":["x"],"value":"","inverted":false,"caseInsensitive":false}]}`, nil},
		{"a date", `{"constraints":[{"contextName":"a","operator":"DATE_AFTER","value":"2026-01-31T12:00:00+02:00"}]}`,
			`{"constraints":[{"contextName":"a","operator":"DATE_AFTER","value":"2026-01-31T10:00:00.000Z"}]}`, nil},
		{"a rollout", `{"name":"flexibleRollout","parameters":{"rollout":"50.0"}}`, `{"name":"flexibleRollout","parameters":{"rollout":"50"}}`, nil},
		{"an inverted constraint", `{"constraints":[{"contextName":"a","operator":"IN","values":["x"],"inverted":true}]}`,
			`{"constraints":[{"contextName":"a","operator":"IN","values":["x"]}]}`, []string{`/Constraints/0/Inverted is false, and true in the source`}},
		{"a large parameter that is a number", `{"parameters":{"n":1000000}}`, `{"parameters":{"n":"1000000"}}`, nil},
		{"numbers in place of texts", `{"constraints":[{"contextName":"a","operator":"NUM_GT","value":18}],"variants":[{"name":"a","weight":"1000","payload":{"type":"number","value":5}}]}`,
			`{"constraints":[{"contextName":"a","operator":"NUM_GT","value":"18"}],"variants":[{"name":"a","weight":1000,"payload":{"type":"number","value":"5"}}]}`, nil},
		{"an omitted stickiness", `{"variants":[{"name":"a","weight":1000,"weightType":"variable"}]}`,
			`{"variants":[{"name":"a","weight":1000,"weightType":"variable","stickiness":"default","overrides":[]}]}`, nil},
		{"another payload", `{"variants":[{"name":"a","payload":{"type":"string","value":"x"}}]}`, `{"variants":[{"name":"a"}]}`, []string{`/Variants/0/Payload is missing`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, differences(normalOf(t, tt.target), normalOf(t, tt.source))); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDifferences(t *testing.T) {
	full := &feature{Type: "release", Tags: []string{"a:b"}, Environments: map[string]featureEnvironment{"dev": {Enabled: true, Strategies: []strategy{{Name: "default"}}}}}
	for _, tt := range []struct {
		name           string
		source, target *feature
		want           []string
	}{
		{"the same", full, full, nil},
		{"missing", full, nil, []string{"the flag is missing"}},
		{"not in the source", nil, full, []string{"the flag is not in the source"}},
		{"on neither side", nil, nil, nil},
		{"everything", full, &feature{Type: "experiment", Environments: map[string]featureEnvironment{"prod": {}}}, []string{
			`/Type is "experiment", and "release" in the source`, `/Tags is a list of 0: [], and 1: [a:b] in the source`,
			"/Environments/dev is missing", "/Environments/prod is not in the source",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, differences(tt.target, tt.source)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// Exports of Unleash are unordered and have no sortOrder.
func TestOrder(t *testing.T) {
	m := &migration{places: map[string]float64{"a": 0, "b": 1, "c": 2}}
	var data map[string]any
	if err := json.Unmarshal([]byte(`{"featureStrategies":[{"id":"c","sortOrder":7},{"id":"a"},{"id":"b"}]}`), &data); err != nil {
		t.Fatal(err)
	}
	m.order(data)
	got, err := json.Marshal(data)
	if want := `{"featureStrategies":[{"id":"a","sortOrder":0},{"id":"b","sortOrder":1},{"id":"c","sortOrder":7}]}`; err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
