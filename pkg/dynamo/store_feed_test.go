package dynamo_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/access"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

var feedCases = []testCase{
	{"a new store has no feed", func(t *storeTest) {
		t.wantAbsent(flags.FeedKey())
		t.wantAbsent(flags.SnapshotKey())
		if pages, err := t.store.FeedPages(t.Context(), 0); err != nil || len(pages) > 0 {
			t.Errorf("pages %v, %v; want none", pages, err)
		}
	}},
	{"each change has one entry with the versions that are stored", func(t *storeTest) {
		f, p, s := flag("u1", "f"), project("p", "u1"), segment(7)
		t.mustAdd(f, p, s, dynamo.FullEnvironments())
		t.wantEntries(
			[]flags.FeedChange{{Key: f.Key(), Version: 1}},
			[]flags.FeedChange{{Key: p.Key(), UID: "u1", Version: 1}},
			[]flags.FeedChange{{Key: s.Key(), Version: 1}},
			[]flags.FeedChange{{Key: flags.EnvironmentsKey(), Version: 1}})
		t.mustAdd(flag("u1", "g"))
		c := change("three events", write(mustFind[*flags.Feature](t, f.Key()), archive), write(mustFind[*flags.Feature](t, flags.FeatureKey("g")), archive))
		c.MoreEvents = []flags.Event{change("second").Event, change("third").Event}
		t.mustCommit(c)
		t.mustCommit(change("deleted", deletion(mustFind[*flags.Segment](t, s.Key()))))
		t.mustCommit(change("deleted", deletion(mustFind[*flags.Project](t, p.Key()))))
		t.wantVersion(f, 4)
		list, left := allEntries(t.T, t.store), &flags.FeedProject{ID: "p-u1", UID: "u1"}
		if diff := cmp.Diff([][]flags.FeedChange{
			{{Key: f.Key(), Version: 4, Left: left}, {Key: flags.FeatureKey("g"), Version: 2, Left: left}},
			{{Key: s.Key(), Left: &flags.FeedProject{}}},
			{{Key: p.Key(), UID: "u1"}},
		}, changesOf(list[5:])); diff != "" {
			t.Errorf("the last entries (-want +got):\n%s", diff)
		}
	}},
	{"what applications do not see has no entry", func(t *storeTest) {
		f, p := flag("u1", "f"), project("p", "u1")
		t.mustAdd(f, p, archivedFlag("u1", "old"), dynamo.FullToken(), dynamo.FullUser(), dynamo.FullRoles(), dynamo.FullTagTypes(), dynamo.FullContextFields(), dynamo.FullSignupToken())
		if got := allEntries(t.T, t.store); len(got) != 2 {
			t.Errorf("%v, want entries of the flag and the project only", got)
		}
		read := mustFind[*flags.Feature](t, f.Key())
		t.mustCommit(change("lifecycle", write(read, func(f *flags.Feature) { f.Lifecycle = []flags.Phase{{Stage: flags.StagePreLive}} })))
		t.wantVersion(f, 2)
		renamed := mustFind[*flags.Project](t, p.Key()).Clone()
		renamed.Description = "new"
		t.mustCommit(change("described", flags.Write{Before: mustFind[*flags.Project](t, p.Key()), After: renamed}))
		t.mustCommit(change("nothing", write(mustFind[*flags.Feature](t, f.Key()), func(*flags.Feature) {})))
		if got := allEntries(t.T, t.store); len(got) != 2 {
			t.Errorf("%v, want entries of the flag and the project only", got)
		}
		t.mustCommit(change("seen", write(mustFind[*flags.Feature](t, f.Key()), describe("new"))))
		if got := allEntries(t.T, t.store); len(got) != 3 || got[2].Changes[0] != (flags.FeedChange{Key: f.Key(), Version: 3}) {
			t.Errorf("%v, want an entry for version 3 of the flag", got)
		}
	}},
	{"what applications see of a token has entries, in each epoch", func(t *storeTest) {
		token := dynamo.FullToken()
		token.Type, token.Deleted = access.ClientToken, false
		t.mustAdd(token)
		sealed := mustFind[*access.Token](t, token.Key()).Clone()
		sealed.Sealed = "with another key"
		t.mustCommit(change("sealed", flags.Write{Before: mustFind[*access.Token](t, token.Key()), After: sealed}))
		t.wantEntries([]flags.FeedChange{{Key: token.Key(), Version: 1}})
		if err := t.store.ResetFeed(t.Context(), "another"); err != nil {
			t.Fatal(err)
		}
		read := mustFind[*access.Token](t, token.Key())
		t.mustCommit(change("deleted", flags.Write{Before: read, After: read.AsDeleted()}))
		if got := loadFeed(t.T, t.store); len(got.Entries) != 1 || got.Entries[0].Stored != "T-:"+token.Hash || got.Table != t.store.Table() {
			t.Errorf("%+v, want the deletion of the token", got)
		}
	}},
	{"a change that is refused has no entry", func(t *storeTest) {
		t.mustAdd(flag("u1", "f"))
		read := mustFind[*flags.Feature](t, flags.FeatureKey("f"))
		t.mustCommit(change("first", write(read, describe("first"))))
		t.wantKind(t.commit(change("second", write(read, describe("second")))), flags.VersionConflict)
		if got := allEntries(t.T, t.store); len(got) != 2 || loadFeed(t.T, t.store).Number != 2 {
			t.Errorf("%v, want 2 entries", got)
		}
	}},
	{"older entries are in pages", func(t *storeTest) {
		const n = 300
		f := flag("u1", "a-flag-with-a-name")
		t.mustAdd(f)
		for i := range n {
			c := change("changed", write(mustFind[*flags.Feature](t, f.Key()), describe(fmt.Sprint(i))))
			c.Feed = loadFeed(t.T, t.store)
			t.mustCommit(c)
		}
		list := allEntries(t.T, t.store)
		if len(list) != n+1 {
			t.Fatalf("%d entries, want %d", len(list), n+1)
		}
		for i, e := range list {
			if e.Changes[0].Version != int64(i+1) {
				t.Fatalf("the entry %d has the version %d", e.Number, e.Changes[0].Version)
			}
		}
		feed := loadFeed(t.T, t.store)
		if len(feed.Entries) > n/3 {
			t.Errorf("the feed itself has %d entries, want few", len(feed.Entries))
		}
		first := feed.Entries[0].Number
		for _, after := range []int64{0, 1, first - 2, first - 1, first, n, n + 1, n + 100} {
			pages, err := t.store.FeedPages(t.Context(), after)
			if err != nil {
				t.Fatal(reason(err))
			}
			want := list[min(after, first-1) : first-1]
			if diff := cmp.Diff(want, pages, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("pages after %d (-want +got):\n%s", after, diff)
			}
		}
	}},
	{"only one of two changes turns the feed", func(t *storeTest) {
		t.mustAdd(flag("u1", "f"), flag("u1", "g"))
		for loadFeed(t.T, t.store).Size < 2000 { // so that every change turns it
			t.mustCommit(change("longer", write(mustFind[*flags.Feature](t, flags.FeatureKey("f")), describe(fmt.Sprint(loadFeed(t.T, t.store).Number)))))
		}
		feed := loadFeed(t.T, t.store)
		first := change("first", write(mustFind[*flags.Feature](t, flags.FeatureKey("f")), describe("x")))
		second := change("second", write(mustFind[*flags.Feature](t, flags.FeatureKey("g")), describe("x")))
		first.Feed, second.Feed = feed, feed
		t.mustCommit(first)
		t.wantKind(t.commit(second), flags.VersionConflict)
		if got := loadFeed(t.T, t.store); got.Turn != feed.Turn+1 || got.Newer != 1 || got.Number != feed.Number+1 {
			t.Errorf("after one turn: turn %d, %d new entries, number %d; before: %d, %d", got.Turn, got.Newer, got.Number, feed.Turn, feed.Number)
		}
		second.Feed = loadFeed(t.T, t.store)
		t.mustCommit(second)
		allEntries(t.T, t.store)
	}},
	{"many changes at once keep the feed short", func(t *storeTest) {
		const n = 100
		var changes []flags.Change
		for i := range n {
			changes = append(changes, change("added", addition(flag("u1", fmt.Sprintf("a-flag-with-a-name-%03d", i)))))
		}
		for i, err := range t.store.CommitAll(t.Context(), changes) {
			if err != nil {
				t.Errorf("change %d: %v", i, reason(err))
			}
		}
		if got := allEntries(t.T, t.store); len(got) != n {
			t.Errorf("%d entries, want %d", len(got), n)
		}
		if feed := loadFeed(t.T, t.store); feed.Turn == 0 || feed.Newer > 70 {
			t.Errorf("%d turns and %d new entries, want at least one turn and 70 entries at most", feed.Turn, feed.Newer)
		}
	}},
	{"a reset begins a new epoch", func(t *storeTest) {
		if err := t.store.ResetFeed(t.Context(), "e1"); err != nil { // of a new store
			t.Fatal(reason(err))
		}
		t.mustAdd(flag("u1", "f"), flag("u1", "g"))
		before := loadFeed(t.T, t.store)
		if before.Epoch != "e1" || before.Number != 3 || len(before.Entries) != 2 {
			t.Errorf("the feed is %+v, want epoch e1 with entries 2 and 3", before)
		}
		if err := t.store.ResetFeed(t.Context(), "e2"); err != nil {
			t.Fatal(reason(err))
		}
		after := loadFeed(t.T, t.store)
		if after.Epoch != "e2" || after.Number != before.Number+1 || len(after.Entries) > 0 || after.Turn <= before.Turn {
			t.Errorf("the feed is %+v after %+v, want no entries and a higher number and turn", after, before)
		}
		if entries, all := after.After(before.Number); all || len(entries) > 0 {
			t.Errorf("after the reset: %v, %t; want to be told that entries are missing", entries, all)
		}
		t.mustAdd(flag("u1", "h"))
		if entries, all := loadFeed(t.T, t.store).After(after.Number); !all || len(entries) != 1 {
			t.Errorf("after the reset: %v, %t; want one entry", entries, all)
		}
	}},
	{"a snapshot", func(t *storeTest) {
		content := make([]byte, 2_000_001) // several chunks
		for i := range content {
			content[i] = byte(rand.N(256))
		}
		head := flags.SnapshotHead{Epoch: "e1", Number: 7, At: at}
		t.mustWrite(head, content)
		got := mustFind[*flags.SnapshotHead](t, flags.SnapshotKey())
		if got.Epoch != "e1" || got.Number != 7 || !got.At.Equal(at) || got.Chunks < 2 || len(got.Hash) != 64 {
			t.Errorf("the head is %+v", got)
		}
		t.wantSnapshot(content)
		for _, wrong := range []func(*flags.SnapshotHead){
			func(h *flags.SnapshotHead) { h.Chunks-- },
			func(h *flags.SnapshotHead) { h.Chunks = 0 },
			func(h *flags.SnapshotHead) { h.Chunks = -1 },
			func(h *flags.SnapshotHead) { h.Chunks = 1 << 40 },
			func(h *flags.SnapshotHead) { h.Number++ },
			func(h *flags.SnapshotHead) { h.Epoch = "e2" },
			func(h *flags.SnapshotHead) { h.Hash = "" },
		} {
			other := *got
			wrong(&other)
			if content, err := t.store.ReadSnapshot(t.Context(), &other); err != nil || content != nil {
				t.Errorf("%d bytes, %v with the head %+v; want nothing", len(content), err, other)
			}
		}
	}},
	{"the head of the snapshots", func(t *storeTest) {
		for _, step := range []struct {
			epoch  string
			number int64
			want   string // the content that is current afterwards
		}{
			{"", 0, " 0"}, {"", 0, " 0"}, {"", 5, " 5"}, {"", 4, " 5"}, {"", 6, " 6"},
			{"e1", 2, "e1 2"}, {"e1", 1, "e1 2"}, {"e1", 3, "e1 3"},
		} {
			t.mustWrite(flags.SnapshotHead{Epoch: step.epoch, Number: step.number}, fmt.Appendf(nil, "%s %d", step.epoch, step.number))
			t.wantSnapshot([]byte(step.want))
		}
	}},
	{"an empty snapshot", func(t *storeTest) {
		t.mustWrite(flags.SnapshotHead{}, nil)
		head := mustFind[*flags.SnapshotHead](t, flags.SnapshotKey())
		if content, err := t.store.ReadSnapshot(t.Context(), head); err != nil || len(content) > 0 {
			t.Errorf("%d bytes, %v; want nothing", len(content), err)
		}
	}},
	{"the lease", func(t *storeTest) {
		for i, step := range []struct {
			holder     string
			now, until time.Duration
			want       bool
		}{
			{"a", 0, 10, true}, {"b", 1, 11, false}, {"b", 9, 19, false}, {"a", 5, 15, true}, {"b", 10, 20, false},
			{"b", 15, 25, true}, {"a", 16, 26, false}, {"a", 25, 35, true},
		} {
			got, err := t.store.TakeLease(t.Context(), step.holder, at.Add(step.now*time.Second), at.Add(step.until*time.Second))
			if err != nil || got != step.want {
				t.Errorf("step %d: %t, %v; want %t", i, got, err, step.want)
			}
		}
	}},
}

func changesOf(entries []flags.FeedEntry) (list [][]flags.FeedChange) {
	for _, e := range entries {
		list = append(list, e.Changes)
	}
	return list
}

func (t *storeTest) wantEntries(want ...[]flags.FeedChange) {
	t.Helper()
	if diff := cmp.Diff(want, changesOf(allEntries(t.T, t.store))); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func (t *storeTest) mustWrite(head flags.SnapshotHead, content []byte) {
	t.Helper()
	if err := t.store.WriteSnapshot(t.Context(), head, content); err != nil {
		t.Fatalf("write snapshot: %v", reason(err))
	}
}

// wantSnapshot checks the content of the current snapshot.
func (t *storeTest) wantSnapshot(want []byte) {
	t.Helper()
	got, err := t.store.ReadSnapshot(t.Context(), mustFind[*flags.SnapshotHead](t, flags.SnapshotKey()))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the snapshot has %d bytes, %v; want %d others", len(got), err, len(want))
	}
}
