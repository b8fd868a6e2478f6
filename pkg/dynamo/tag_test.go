package dynamo_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// tagged is a copy of a flag with other tags.
func tagged(f *flags.Feature, values ...string) *flags.Feature {
	f = f.Clone()
	f.Tags = nil
	for _, v := range values {
		f.Tags = append(f.Tags, flags.Tag{Type: "simple", Value: v})
	}
	return f
}

// TestTags checks that the tags of a project's flags, including archived ones, are each listed once, and only while a flag
// has them.
func TestTags(t *testing.T) {
	store := dynamotest.Open(t, nil)
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
		{"no tags", func() {}, ""},
		{"tagged", func() { change("f", "b", "a/b") }, "a/b b"},
		{"a tag of another flag", func() { change("g", "a/b") }, "a/b b"},
		{"one flag loses it", func() { change("f", "b") }, "a/b b"},
		{"all flags lose it", func() { change("g") }, "b"},
		{"of an archived flag", func() { mustCommit(t, store, write(find(t, store, "f"), archive)) }, "b"},
		{"on a new flag", func() { mustCommit(t, store, flags.Write{After: tagged(newFlag("h"), "d")}) }, "b d"},
		{"of a refused change", func() {
			if err := commit(t, store, flags.Write{After: tagged(newFlag("h"), "e")}); flags.KindOf(err) != flags.NameExists {
				t.Errorf("got %v, want NameExists", err)
			}
		}, "b d"},
	} {
		step.do()
		list, err := store.Tags(t.Context(), newFlag("f").ProjectUID)
		if err != nil {
			t.Fatal(reason(err))
		}
		values := make([]string, len(list))
		for i, tag := range list {
			values[i] = tag.Value
		}
		if got := strings.Join(values, " "); got != step.want {
			t.Errorf("%s: tags %q, want %q", step.name, got, step.want)
		}
	}
	if other, err := store.Tags(t.Context(), "another"); err != nil || len(other) > 0 {
		t.Errorf("another project has the tags %v (%v), want none", other, err)
	}
}

// A sizer records the number of items in the last transaction.
type sizer struct{ items int }

func (s *sizer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var in struct{ TransactItems []any }
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") && json.Unmarshal(body, &in) == nil {
		s.items = len(in.TransactItems)
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return http.DefaultTransport.RoundTrip(r)
}

// TestTagsShareNoItem checks that tags add no items to a transaction. An item for each tag would be written by all flags with
// that tag, and on AWS their transactions would conflict.
func TestTagsShareNoItem(t *testing.T) {
	size := &sizer{}
	store := dynamotest.Open(t, size)
	mustCommit(t, store, flags.Write{After: newFlag("plain")})
	without := size.items
	var values []string
	for i := range flags.MaxTagChanges {
		values = append(values, fmt.Sprintf("tag-%02d", i))
	}
	mustCommit(t, store, flags.Write{After: tagged(newFlag("f"), values...)})
	if size.items != without {
		t.Errorf("writing a flag with %d tags takes %d items, want %d, as without tags", len(values), size.items, without)
	}
	if list, err := store.Tags(t.Context(), newFlag("f").ProjectUID); err != nil || len(list) != flags.MaxTagChanges {
		t.Errorf("%d tags (%v), want %d", len(list), err, flags.MaxTagChanges)
	}
}
