package dynamo

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
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
		if diff := cmp.Diff([]flags.FeedEntry{{Number: 9, Changes: changes, Stored: want}}, entries); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", want, err, diff)
		}
	}
	for _, invalid := range []string{"", "F", "F1", "F1:a:b", "P1:a", "P1:a:b:c", "S1:a:b", "Fx:a", "E1"} {
		if entries, err := parseEntries(1, []string{invalid}); err == nil && invalid != "" {
			t.Errorf("%q was parsed as %+v", invalid, entries)
		}
	}
}

// TestFeedOfLaterVersion reads entries with changes that only a later version knows: it skips them. A turn of the feed must keep them
// for that version, which may serve beside this one.
func TestFeedOfLaterVersion(t *testing.T) {
	later := []string{"X1:new", "F1:a Y-:b:c:d:e", "Z"}
	for len(later) < 100 {
		later = append(later, "X1:new")
	}
	feed, err := envelope{feedAttributes: feedAttributes{Number: 100, Earlier: later[:50], Recent: later[50:]}}.feed()
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range feed.Entries {
		var want []flags.FeedChange
		if i == 1 {
			want = []flags.FeedChange{{Key: flags.FeatureKey("a"), Version: 1}}
		}
		if diff := cmp.Diff(want, e.Changes); diff != "" || e.Number != int64(i+1) {
			t.Fatalf("entry %d has the number %d (-want +got)\n%s", i+1, e.Number, diff)
		}
	}
	store, _ := openScript(t)
	tx := &transaction{input: &dynamodb.TransactWriteItemsInput{}, served: feed.Entries[1].Changes}
	if err := store.planFeed(tx, feed, flags.ReviewAssumption{}); err != nil || !tx.turns {
		t.Fatalf("it turned: %t, %v", tx.turns, err)
	}
	var page envelope
	if err := attributevalue.UnmarshalMap(tx.input.TransactItems[1].Put.Item, &page); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(later[:50], page.Entries); diff != "" {
		t.Errorf("the page (-want +got)\n%s", diff)
	}
}
