package dynamo

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/flags"
)

// TestFeedEntry formats and parses entries of the feed.
func TestFeedEntry(t *testing.T) {
	shop := &flags.FeedProject{ID: "shop", UID: "0f1e2d3c"}
	for want, changes := range map[string][]flags.FeedChange{
		"F12:new-checkout":               {{Key: flags.FeatureKey("new-checkout"), Version: 12}},
		"F13:new-checkout:0f1e2d3c:shop": {{Key: flags.FeatureKey("new-checkout"), Version: 13, Left: shop}},
		"P3:shop:0f1e2d3c S-:7::": {
			{Key: flags.ProjectKey("shop"), Version: 3, UID: "0f1e2d3c"}, {Key: flags.SegmentKey(7), Left: &flags.FeedProject{}},
		},
		"S4:7 E4:": {{Key: flags.SegmentKey(7), Version: 4}, {Key: flags.EnvironmentsKey(), Version: 4}},
	} {
		if got := formatEntry(changes); got != want {
			t.Errorf("formatted %q, want %q", got, want)
		}
		entries, err := parseEntries(9, []string{want})
		if diff := cmp.Diff([]flags.FeedEntry{{Number: 9, Changes: changes}}, entries); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", want, err, diff)
		}
	}
	for _, invalid := range []string{"", "F", "X1:a", "F1", "F1:a:b", "P1:a", "P1:a:b:c", "S1:a:b", "Fx:a", "E1"} {
		if entries, err := parseEntries(1, []string{invalid}); err == nil && invalid != "" {
			t.Errorf("%q was parsed as %+v", invalid, entries)
		}
	}
}
