package dynamo_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// sending is a registry of n addons that send the events of newChange.
func sending(n int) *flags.Addons {
	registry := &flags.Addons{}
	for i := range n {
		registry.List = append(registry.List, flags.Addon{ID: int64(i + 1), Enabled: true, Events: []flags.EventType{"test"}})
	}
	return registry
}

// outbox returns the entries of an addon's outbox, read in pages of two.
func outbox(t *testing.T, s *dynamo.Store, addon int64) (all []flags.OutboxEntry) {
	t.Helper()
	after := ""
	for more := true; more; {
		var page []flags.OutboxEntry
		var err error
		if page, more, err = s.Outbox(t.Context(), addon, after, 2); err != nil {
			t.Fatal(reason(err))
		}
		if len(page) > 2 {
			t.Errorf("a page of %d entries, want at most 2", len(page))
		}
		for _, e := range page {
			after = e.ID
			all = append(all, e)
		}
	}
	return all
}

// checkEntries reports entries without an event, and those in two places.
func checkEntries(t *testing.T, s *dynamo.Store) {
	t.Helper()
	for _, found := range dynamotest.Inconsistencies(t, dynamotest.Engine().URL(), s.Table()) {
		if strings.HasPrefix(found, "the entry ") || strings.Contains(found, "no known kind") {
			t.Error(found)
		}
	}
}

// sent commits changes of a flag that one addon sends, and returns the entries.
func sent(t *testing.T, s *dynamo.Store, name string, n int) []flags.OutboxEntry {
	t.Helper()
	for i := range n {
		c := newChange(flags.Write{After: newFlag(name)})
		if i > 0 {
			c = newChange(write(find(t, s, name), func(f *flags.Feature) { f.ImpressionData = !f.ImpressionData }))
		}
		c.Addons = sending(1)
		if err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(reason(err))
		}
	}
	return outbox(t, s, 1)
}

// TestOutbox moves entries from the outbox to the delivered and parked ones, and back.
func TestOutbox(t *testing.T) {
	t.Parallel()
	s := dynamotest.Open(t, nil)
	entries := sent(t, s, "a", 5)
	for i, e := range entries {
		if want := (flags.OutboxEntry{Addon: 1, ID: e.ID, Subject: "FLAG#a", Version: int64(i + 1)}); !cmp.Equal(e, want) {
			t.Fatalf("entry %d is %+v, want %+v", i, e, want)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(reason(err))
		}
	}
	failed := entries[0]
	failed.Attempts, failed.Next, failed.Error = 2, at, "no answer\xff"+strings.Repeat("é", flags.MaxDeliveryDetail)
	do(s.Failed(t.Context(), failed))
	got := outbox(t, s, 1)[0]
	if got.Attempts != 2 || !got.Next.Equal(at) || !strings.HasPrefix(got.Error, "no answer\uFFFDé") || len(got.Error) > flags.MaxDeliveryDetail+3 {
		t.Errorf("after a failed attempt: %+v", got)
	}
	do(s.Delivered(t.Context(), got, at, "204 No Content"))
	do(s.Delivered(t.Context(), got, at, "204 No Content")) // a second holder of the lease
	parked := entries[2]
	parked.Attempts, parked.Error = 9, "refused"
	do(s.Park(t.Context(), parked, at))
	if left := outbox(t, s, 1); len(left) != 3 || left[1].ID != entries[3].ID {
		t.Errorf("the outbox has %+v, want the entries 1, 3 and 4", left)
	}
	all, err := s.Deliveries(t.Context(), 1, flags.AllDeliveries, 10)
	do(err)
	want := []flags.Delivery{
		{OutboxEntry: entries[4]}, {OutboxEntry: entries[3]},
		{OutboxEntry: parked, Parked: true, At: at},
		{OutboxEntry: entries[1]},
		{OutboxEntry: flags.OutboxEntry{Addon: 1, ID: got.ID, Subject: "FLAG#a", Version: 1, Attempts: 2}, At: at, Detail: "204 No Content"},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("the deliveries (-want +got):\n%s", diff)
	}
	if one, err := s.Deliveries(t.Context(), 1, flags.AllDeliveries, 1); err != nil || len(one) != 1 || one[0].ID != parked.ID {
		t.Errorf("the latest delivery: %+v, %v", one, err)
	}
	if one, err := s.Deliveries(t.Context(), 1, flags.SentDeliveries, 1); err != nil || len(one) != 1 || one[0].ID != got.ID {
		t.Errorf("the latest that was sent, which is older than a parked one: %+v, %v", one, err)
	}
	again, more, err := s.Parked(t.Context(), 1, 10)
	do(err)
	if len(again) != 1 || more {
		t.Fatalf("parked %+v, more: %t", again, more)
	}
	do(s.Resend(t.Context(), again))
	if left := outbox(t, s, 1); len(left) != 4 || !cmp.Equal(left[1], entries[2]) {
		t.Errorf("after it was resent, the outbox has %+v", left)
	}
	if parked, err := s.Deliveries(t.Context(), 1, flags.ParkedDeliveries, 10); err != nil || len(parked) != 0 {
		t.Errorf("still parked: %+v, %v", parked, err)
	}
	for _, other := range []int64{2, 11} {
		if left := outbox(t, s, other); len(left) != 0 {
			t.Errorf("addon %d has %+v", other, left)
		}
	}
	checkEntries(t, s)
}

// TestOutboxEvents reads the events of entries: a small one, one with a body of its own, and that of a test.
func TestOutboxEvents(t *testing.T) {
	t.Parallel()
	s := dynamotest.Open(t, nil)
	c := newChange(flags.Write{After: newFlag("a")})
	c.Event.Data = map[string]string{"big": strings.Repeat("x", 50_000)}
	c.MoreEvents = []flags.Event{newChange().Event}
	c.Addons = sending(2)
	if err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(reason(err))
	}
	test := newChange().Event
	if err := s.PutOutbox(t.Context(), flags.OutboxEntry{Addon: 2, ID: test.ID, Test: &test}); err != nil {
		t.Fatal(reason(err))
	}
	entries := outbox(t, s, 2)
	events, err := s.OutboxEvents(t.Context(), append(entries, flags.OutboxEntry{ID: "gone", Subject: "FLAG#gone", Version: 1}))
	if err != nil {
		t.Fatal(reason(err))
	}
	if len(entries) != 3 || len(events) != 3 {
		t.Fatalf("%d entries, %d events, want 3 of each", len(entries), len(events))
	}
	if data := fmt.Sprint(events[c.Event.ID].Data); len(data) < 50_000 {
		t.Errorf("the data of a large event: %.100s", data)
	}
	if got := events[test.ID]; got.Type != "test" || !got.CreatedAt.Equal(at) {
		t.Errorf("the event of a test: %+v", got)
	}
	if n := len(outbox(t, s, 1)); n != 2 {
		t.Errorf("the other addon has %d entries, want 2", n)
	}
	checkEntries(t, s)
}

// TestOutboxOfRefusedChange checks that a change that conflicts or alters nothing leaves no entry.
func TestOutboxOfRefusedChange(t *testing.T) {
	t.Parallel()
	s := dynamotest.Open(t, nil)
	before := sent(t, s, "a", 2)
	f := find(t, s, "a")
	old := f.Clone()
	old.Version--
	for name, w := range map[string]flags.Write{
		"a conflict": write(old, func(f *flags.Feature) { f.Stale = true }), "no difference": {Before: f, After: f.Clone()},
		"a taken name": {After: newFlag("a")},
	} {
		c := newChange(w)
		c.Addons = sending(3)
		if err := s.Commit(t.Context(), c); (err == nil) != (name == "no difference") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := outbox(t, s, 1); !cmp.Equal(after, before) || len(outbox(t, s, 2)) != 0 {
		t.Errorf("the outbox has %+v, want %+v", after, before)
	}
}

// TestOutboxAfterLostResponses commits changes whose responses are lost, also to an engine that forgets request tokens, after an
// entry was delivered in between. Each event is in the outbox once, and what was delivered does not come back.
func TestOutboxAfterLostResponses(t *testing.T) {
	lost := map[string][]dynamotest.Fault{transactWrite: {dynamotest.LoseResponse}}
	for _, forget := range []bool{false, true} {
		for _, delivered := range []bool{false, true} {
			t.Run(fmt.Sprintf("forget %t, delivered %t", forget, delivered), func(t *testing.T) {
				t.Parallel()
				e := dynamotest.Engine()
				if forget {
					e = newEngine(t)
				}
				var once []string
				s := openScripted(t, e, inTurn(lost), func(s scripted) {
					for _, entry := range outbox(t, s.plain, 1) {
						if once = append(once, entry.ID); !delivered {
							continue
						}
						if err := s.plain.Delivered(t.Context(), entry, at, "200 OK"); err != nil {
							t.Error(reason(err))
						}
					}
				})
				c := newChange(flags.Write{After: newFlag("a")})
				c.Addons = sending(1)
				if err := s.faulty.Commit(t.Context(), c); err != nil {
					t.Fatal(reason(err))
				}
				if !slices.Equal(once, []string{c.Event.ID}) {
					t.Errorf("after the first attempt, the outbox has %q, want %s", once, c.Event.ID)
				}
				if n, want := len(outbox(t, s.plain, 1)), map[bool]int{true: 0, false: 1}[delivered]; n != want {
					t.Errorf("in the end, the outbox has %d entries, want %d", n, want)
				}
				list, err := s.plain.Deliveries(t.Context(), 1, flags.SentDeliveries, 10)
				if want := map[bool]int{true: 1, false: 0}[delivered]; err != nil || len(list) != want {
					t.Errorf("%d deliveries (%v), want %d", len(list), err, want)
				}
			})
		}
	}
}

// TestOutboxInFullTransaction checks that entries count for the limit of a transaction, that the error names them, and that a turn
// of the feed gives way to them.
func TestOutboxInFullTransaction(t *testing.T) {
	t.Parallel()
	s := dynamotest.Open(t, nil)
	var writes []flags.Write
	for i := range 40 {
		name := fmt.Sprintf("a-flag-with-a-name-%02d", i)
		mustCommit(t, s, flags.Write{After: newFlag(name)})
		writes = append(writes, write(find(t, s, name), func(f *flags.Feature) { f.ImpressionData = true })) // with its list row two items
	}
	c := newChange(writes...)
	c.Feed, c.Addons = loadFeed(t, s), sending(flags.MaxAddons) // 80, the event, 20 and the feed: 102
	err := s.Commit(t.Context(), c)
	if flags.KindOf(err) != flags.Invalid || err == nil || !strings.Contains(err.Error(), "102 items, 20 of them for the addons") {
		t.Fatalf("error %v, want one that names the addons", err)
	}
	if n := len(outbox(t, s, 1)); n != 0 {
		t.Errorf("%d entries of a refused change", n)
	}
	c.Addons = sending(18)
	if err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(reason(err))
	}
	if got := loadFeed(t, s); got.Number != c.Feed.Number+1 || got.Turn != c.Feed.Turn {
		t.Errorf("the feed is at %d, turn %d; want %d, %d", got.Number, got.Turn, c.Feed.Number+1, c.Feed.Turn)
	}
	for addon := range int64(18) {
		if n := len(outbox(t, s, addon+1)); n != 1 {
			t.Errorf("addon %d has %d entries, want 1", addon+1, n)
		}
	}
	checkEntries(t, s)
}

// TestFoldedOutbox commits a change of 20 flags that 20 addons send: each gets one item, which is unfolded when it is read, also if responses
// are lost and by two at once.
func TestFoldedOutbox(t *testing.T) {
	t.Parallel()
	s := dynamotest.Open(t, &dynamotest.Faults{LoseResponses: 0.2, Seed: 1})
	var c flags.Change
	var want []string
	for i := range 20 {
		name := fmt.Sprintf("flag-%02d", i)
		mustCommit(t, s, flags.Write{After: newFlag(name)})
		step := newChange(write(find(t, s, name), func(f *flags.Feature) { f.ImpressionData = true }))
		if want = append(want, step.Event.ID); i == 0 {
			c = step
		} else {
			c.Then = append(c.Then, step)
		}
	}
	c.Feed, c.Addons = loadFeed(t, s), sending(flags.MaxAddons)
	if err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(reason(err))
	}
	checkEntries(t, s)
	for _, addon := range []int64{1, flags.MaxAddons} { // all have the same
		waiting, err := s.Deliveries(t.Context(), addon, flags.WaitingDeliveries, flags.MaxOutboxPage)
		if err != nil || len(waiting) != len(want) || waiting[0].ID != want[len(want)-1] {
			t.Fatalf("addon %d: %d events wait (%v), want %d", addon, len(waiting), err, len(want))
		}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if _, _, err := s.Outbox(t.Context(), addon, "", 2); err != nil {
					t.Error(reason(err))
				}
			})
		}
		both.Wait()
		var got []string
		for _, e := range outbox(t, s, addon) {
			if got = append(got, e.ID); e.Addon != addon || e.Version != 2 {
				t.Errorf("entry %+v", e)
			}
			if err := s.Delivered(t.Context(), e, at, "200 OK"); err != nil {
				t.Fatal(reason(err))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("addon %d has\n%q, want\n%q", addon, got, want)
		}
	}
	checkEntries(t, s)
}

// TestOutboxOfManyChanges commits changes of many flags at once, some of which fail.
func TestOutboxOfManyChanges(t *testing.T) {
	t.Parallel()
	s := dynamotest.Open(t, &dynamotest.Faults{LoseResponses: 0.2, Throttles: 0.1, Seed: 1})
	mustCommit(t, s, flags.Write{After: newFlag("taken")})
	var changes []flags.Change
	var want []string
	for i := range 30 {
		name := fmt.Sprintf("flag-%02d", i)
		if i%10 == 0 {
			name = "taken"
		}
		c := newChange(flags.Write{After: newFlag(name)})
		if c.Addons = sending(1); name != "taken" {
			want = append(want, c.Event.ID)
		}
		changes = append(changes, c)
	}
	// No two changes may write the same aggregate, so the ones that fail run one by one.
	var many, single []flags.Change
	for i, c := range changes {
		if i%10 == 0 {
			single = append(single, c)
		} else {
			many = append(many, c)
		}
	}
	for _, err := range s.CommitAll(t.Context(), many) {
		if err != nil {
			t.Error(reason(err))
		}
	}
	for _, c := range single {
		if err := s.Commit(t.Context(), c); flags.KindOf(err) != flags.NameExists || err == nil {
			t.Errorf("a taken name: %v", err)
		}
	}
	var got []string
	for _, e := range outbox(t, s, 1) {
		got = append(got, e.ID)
	}
	if !slices.Equal(got, want) { // both in the order of time
		t.Errorf("the outbox has\n%q, want\n%q", got, want)
	}
}

// TestMoveWithFaults moves entries with lost responses: each ends in one place.
func TestMoveWithFaults(t *testing.T) {
	t.Parallel()
	table := newTable()
	plain := dynamotest.OpenOn(t, dynamotest.Engine(), table, nil)
	entries := sent(t, plain, "a", 6)
	s := dynamotest.OpenOn(t, dynamotest.Engine(), table, &dynamotest.Faults{LoseResponses: 0.4, DropRequests: 0.2, Throttles: 0.2, Seed: 3})
	for i, e := range entries {
		var err error
		if i%2 == 0 {
			err = s.Delivered(t.Context(), e, at, "200 OK")
		} else {
			err = s.Park(t.Context(), e, at)
		}
		if err != nil {
			t.Error(reason(err))
		}
	}
	if err := s.Resend(t.Context(), []flags.OutboxEntry{entries[1], entries[5]}); err != nil {
		t.Error(reason(err))
	}
	all, err := plain.Deliveries(t.Context(), 1, flags.AllDeliveries, 10)
	if left := outbox(t, plain, 1); err != nil || len(all) != 6 || len(left) != 2 {
		t.Errorf("%d deliveries, %d of them entries that wait (%v), want 6 and 2", len(all), len(left), err)
	}
	checkEntries(t, plain)
}

// TestAddonLease checks that only one holder has the lease of an addon until it ends.
func TestAddonLease(t *testing.T) {
	t.Parallel()
	s := dynamotest.Open(t, nil)
	a, b := uuid.NewString(), uuid.NewString()
	for i, c := range []struct {
		addon  int64
		holder string
		now    time.Time
		until  time.Time
		want   bool
	}{
		{1, a, at, at.Add(time.Minute), true},
		{1, b, at, at.Add(time.Minute), false},
		{2, b, at, at.Add(time.Minute), true},
		{1, a, at.Add(time.Second), at.Add(2 * time.Minute), true}, // extended
		{1, b, at.Add(time.Minute), at.Add(3 * time.Minute), false},
		{1, a, at.Add(time.Minute), at.Add(time.Minute), true}, // ended
		{1, b, at.Add(time.Minute), at.Add(3 * time.Minute), true},
	} {
		if got, err := s.TakeAddonLease(t.Context(), c.addon, c.holder, c.now, c.until); err != nil || got != c.want {
			t.Errorf("%d: %t, %v; want %t", i, got, err, c.want)
		}
	}
	checkEntries(t, s)
}
