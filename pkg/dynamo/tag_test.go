package dynamo_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// known is what the list of all tags says, in order.
func known(t *testing.T, s flags.Store) string {
	t.Helper()
	list, err := s.List(t.Context(), flags.EntityTag)
	if err != nil {
		t.Fatal(reason(err))
	}
	texts := make([]string, len(list))
	for i, a := range list {
		tag := a.(flags.Tag)
		texts[i] = tag.Type + ":" + tag.Value
	}
	return strings.Join(texts, " ")
}

// TestKnownTags holds that a tag is known once a flag has had it, and stays known.
func TestKnownTags(t *testing.T) {
	store := dynamotest.Open(t, nil)
	tagged := func(f *flags.Feature, values ...string) *flags.Feature {
		f = f.Clone()
		f.Tags = nil
		for _, v := range values {
			f.Tags = append(f.Tags, flags.Tag{Type: "simple", Value: v})
		}
		return f
	}
	change := func(name string, values ...string) {
		t.Helper()
		before := find(t, store, name)
		mustCommit(t, store, flags.Write{Before: before, After: tagged(before, values...)})
	}
	mustCommit(t, store, flags.Write{After: newFlag("f")}, flags.Write{After: newFlag("g")})
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"none from the start", func() {}, ""},
		{"tagged", func() { change("f", "b", "a/b") }, "simple:a/b simple:b"},
		{"changed otherwise", func() { change("f", "b") }, "simple:a/b simple:b"},
		{"a tag that another flag has had", func() { change("g", "a/b") }, "simple:a/b simple:b"},
		{"the same one on two flags at once", func() {
			f, g := find(t, store, "f"), find(t, store, "g")
			mustCommit(t, store, flags.Write{Before: f, After: tagged(f, "c")}, flags.Write{Before: g, After: tagged(g, "c")})
		}, "simple:a/b simple:b simple:c"},
		{"on a new flag", func() { mustCommit(t, store, flags.Write{After: tagged(newFlag("h"), "d")}) }, "simple:a/b simple:b simple:c simple:d"},
		{"refused, with the change", func() {
			if err := commit(t, store, flags.Write{After: tagged(newFlag("h"), "e")}); flags.KindOf(err) != flags.NameExists {
				t.Errorf("got %v, want the name to be taken", err)
			}
		}, "simple:a/b simple:b simple:c simple:d"},
	} {
		step.do()
		if got := known(t, store); got != step.want {
			t.Errorf("%s: known are %q, want %q", step.name, got, step.want)
		}
	}
	if got := events(t, store, "f"); len(got) != 4 {
		t.Errorf("%d events, want one a change", len(got))
	}
}

// TestMostTags adds as many tags in one change as one call may.
func TestMostTags(t *testing.T) {
	store := dynamotest.Open(t, nil)
	f := newFlag("f")
	for i := range flags.MaxTagChanges {
		f.Tags = append(f.Tags, flags.Tag{Type: "simple", Value: fmt.Sprintf("tag-%02d", i)})
	}
	mustCommit(t, store, flags.Write{After: f})
	if got := strings.Count(known(t, store), "simple:"); got != flags.MaxTagChanges {
		t.Errorf("%d tags known, want %d", got, flags.MaxTagChanges)
	}
}
