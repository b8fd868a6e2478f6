package dynamo_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

// pageCases are the tests of reads that do not return everything.
var pageCases = []testCase{
	{"each summary, decoded in two steps", func(t *storeTest) {
		full := dynamo.FullFeature()
		full.Archived, full.ArchivedAt = false, time.Time{}
		t.mustAdd(full, flag(full.ProjectUID, "zero"), archivedFlag(full.ProjectUID, "gone"))
		var rows []flags.SummaryRow
		if err := t.store.EachSummary(t.Context(), full.ProjectUID, false, nil, func(row flags.SummaryRow) error {
			rows = append(rows, row)
			return nil
		}); err != nil {
			t.Fatal(reason(err))
		}
		if len(rows) != 2 || rows[1].Name != "zero" {
			t.Fatalf("got %+v, want two rows, by name", rows)
		}
		head, want := rows[0].FeatureSummary, full.Summary()
		whole, err := rows[0].Whole()
		if diff := cmp.Diff(want, whole, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("the whole summary (-want +got), %v:\n%s", err, diff)
		}
		want.Environments = nil
		if diff := cmp.Diff(want, head, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the head (-want +got):\n%s", diff)
		}
		visits, enough := 0, errors.New("enough")
		err = t.store.EachSummary(t.Context(), full.ProjectUID, false, nil, func(flags.SummaryRow) error { visits++; return enough })
		if err != enough || visits != 1 { //nolint:errorlint // the very error
			t.Errorf("%d visits, %v; want 1, and the error that it returned", visits, err)
		}
	}},
	{"summaries that can have a text", func(t *storeTest) {
		tagged := flag("u1", "tagged")
		tagged.Tags = []flags.Tag{{Type: "Team", Value: "Über \"Checkout\""}}
		t.mustAdd(flag("u1", "checkout-new"), flag("u1", "My.CheckOut"), tagged, flag("u1", "other"))
		for _, tt := range []struct {
			texts []string
			want  string
		}{
			{nil, "My.CheckOut checkout-new other tagged"},
			{[]string{"checkout"}, "My.CheckOut checkout-new tagged"},
			{[]string{"y.check", "othe"}, "My.CheckOut other"},
			{[]string{"none"}, ""},
			{[]string{"team:über"}, "My.CheckOut checkout-new other tagged"}, // no text of a name, so DynamoDB leaves out nothing
		} {
			var got []string
			if err := t.store.EachSummary(t.Context(), "u1", false, tt.texts, func(row flags.SummaryRow) error {
				got = append(got, row.Name)
				return nil
			}); err != nil || strings.Join(got, " ") != tt.want {
				t.Errorf("%q: %q, want %q; %v", tt.texts, got, tt.want, reason(err))
			}
		}
	}},
	{"pages of summaries", func(t *storeTest) {
		names := []string{"-", "0", "A", "a", "a-", "a-b", "a.b", "aa", "b", "~", "~~"}
		for _, name := range names {
			t.mustAdd(flag("u1", name))
		}
		t.mustAdd(flag("u2", "other"), archivedFlag("u1", "gone"))
		for _, limit := range []int{1, 2, 3, len(names), 100} {
			var got []string
			after, more := "", true
			for more && len(got) <= len(names) {
				page, again, err := t.store.SummariesAfter(t.Context(), "u1", false, after, limit)
				if err != nil || len(page) > limit || len(page) == 0 && again {
					t.Fatalf("a page of %d flags, want at most %d; more: %t; %v", len(page), limit, again, reason(err))
				}
				for _, row := range page {
					got, after = append(got, row.Name), row.Name
				}
				more = again
			}
			if diff := cmp.Diff(names, got); diff != "" {
				t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
			}
		}
	}},
	{"pages of archived summaries", func(t *storeTest) {
		t.mustAdd(flag("u1", "active"), archivedFlag("u1", "gone"), archivedFlag("u1", "older"))
		first, more, err := t.store.SummariesAfter(t.Context(), "u1", true, "", 1)
		if err != nil || len(first) != 1 || first[0].Name != "gone" || !more {
			t.Fatalf("the first page is %v, more: %t; want gone, and more; %v", first, more, reason(err))
		}
		second, _, err := t.store.SummariesAfter(t.Context(), "u1", true, "gone", 5)
		if err != nil || len(second) != 1 || second[0].Name != "older" {
			t.Errorf("the second page is %v, want older; %v", second, reason(err))
		}
	}},
	{"uses of some flags", func(t *storeTest) {
		var all, some, between []string
		for i := range 30 {
			name := fmt.Sprintf("f%02d", i)
			t.mustAdd(flagUsing(name, 7))
			all = append(all, name)
			if i == 3 || i == 28 {
				some = append(some, name)
			}
			if i > 10 && i < 14 {
				between = append(between, name)
			}
		}
		t.mustAdd(flag("u1", "f10-unused"))
		for _, names := range [][]string{all, some, between, {"f10-unused"}, {"nosuch"}, {"f05", "f05", "nosuch", "a", "z"}, {}} {
			uses, err := t.store.Uses(t.Context(), names)
			if err != nil {
				t.Fatal(reason(err))
			}
			got, want := []string{}, []string{}
			for _, u := range uses {
				got = append(got, u.Feature)
			}
			for _, name := range all {
				if slices.Contains(names, name) {
					want = append(want, name)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("uses of %q (-want +got):\n%s", names, diff)
			}
		}
		for _, limit := range []int{1, 7, 30, 31} {
			var got []string
			after, more := "", true
			for more && len(got) <= len(all) {
				page, again, err := t.store.UsesAfter(t.Context(), after, limit)
				if err != nil || len(page) > limit || len(page) == 0 && again {
					t.Fatalf("a page of %d uses, want at most %d; more: %t; %v", len(page), limit, again, reason(err))
				}
				for _, u := range page {
					got, after = append(got, u.Feature), u.Feature
				}
				more = again
			}
			if diff := cmp.Diff(all, got); diff != "" {
				t.Errorf("pages of %d uses (-want +got):\n%s", limit, diff)
			}
		}
		var each []string
		if err := t.store.EachUse(t.Context(), func(u flags.FeatureUse) (bool, error) {
			each = append(each, u.Feature)
			return true, nil
		}); err != nil || !slices.Equal(each, all) {
			t.Errorf("each use: %q (%v), want %q", each, reason(err), all)
		}
		visits := 0
		if err := t.store.EachUse(t.Context(), func(flags.FeatureUse) (bool, error) { visits++; return visits < 3, nil }); err != nil || visits != 3 {
			t.Errorf("%d visits (%v), want 3: the third returned false", visits, reason(err))
		}
		visits = 0
		enough := errors.New("enough")
		err := t.store.EachUse(t.Context(), func(flags.FeatureUse) (bool, error) { visits++; return true, enough })
		if err != enough || visits != 1 { //nolint:errorlint // the very error
			t.Errorf("%d visits, %v; want 1, and the error that it returned", visits, err)
		}
	}},
}
