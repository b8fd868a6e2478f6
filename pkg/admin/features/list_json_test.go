package features

import (
	"bytes"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// TestListJSON compares the JSON of random lists with what package json writes.
func TestListJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		when := rapid.Custom(func(t *rapid.T) *shape.Time {
			if rapid.Bool().Draw(t, "never") {
				return nil
			}
			return shape.TimeOrNull(at.Add(time.Duration(rapid.IntRange(0, 1e9).Draw(t, "seconds")) * time.Second))
		})
		environment := rapid.Custom(func(t *rapid.T) wire.RowEnvironment {
			return wire.RowEnvironment{
				Name: texts.Draw(t, "name"), DisplayName: texts.Draw(t, "display"), Enabled: rapid.Bool().Draw(t, "enabled"), Type: texts.Draw(t, "type"),
				SortOrder: rapid.Int64().Draw(t, "order"), VariantCount: rapid.Int().Draw(t, "variants"), HasStrategies: rapid.Bool().Draw(t, "strategies"),
				HasEnabledStrategies: rapid.Bool().Draw(t, "enabled strategies"), LastSeenAt: when.Draw(t, "seen"),
			}
		})
		feature := rapid.Custom(func(t *rapid.T) listedFeature {
			tag := rapid.Custom(func(t *rapid.T) shape.Tag {
				return shape.Tag{Type: texts.Draw(t, "kind"), Value: texts.Draw(t, "value")}
			})
			return listedFeature{
				FeatureRow: wire.FeatureRow{
					Name: texts.Draw(t, "name"), Type: flags.FeatureType(texts.Draw(t, "type")), Description: rapid.Ptr(texts, true).Draw(t, "description"),
					Stale: rapid.Bool().Draw(t, "stale"), ImpressionData: rapid.Bool().Draw(t, "data"), CreatedAt: shape.Time(at), LastSeenAt: when.Draw(t, "seen"),
					Favorite:     rapid.Bool().Draw(t, "favorite"),
					Environments: rapid.SliceOfN(environment, 0, 4).Draw(t, "environments"), Tags: rapid.SliceOfN(tag, 0, 3).Draw(t, "tags"),
				},
				Lifecycle: shape.PhaseView{
					Stage: flags.Stage(texts.Draw(t, "stage")), EnteredAt: shape.Time(at),
					Status: flags.CompletionStatus(texts.Draw(t, "status")), StatusValue: texts.Draw(t, "value"),
				},
			}
		})
		list := featureList{Version: 2, Features: rapid.SliceOfN(feature, 0, 5).Draw(t, "list"), Next: texts.Draw(t, "next")}
		want, err := json.Marshal(list, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)) // as for other answers
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := list.WriteJSON(&got); err != nil || got.String() != string(want) {
			t.Errorf("%v; got\n%s\nwant\n%s", err, got.Bytes(), want)
		}
	})
}

// TestLongListJSON writes a list that takes several chunks.
func TestLongListJSON(t *testing.T) {
	list := featureList{Version: 2}
	for range 1000 {
		list.Features = append(list.Features, listedFeature{FeatureRow: wire.FeatureRow{Name: "flag", Environments: []wire.RowEnvironment{{Name: "development"}}}})
	}
	want, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := list.WriteJSON(&got); err != nil || got.String() != string(want) {
		t.Errorf("%v; %d bytes differ from the %d of package json", err, got.Len(), len(want))
	}
}
