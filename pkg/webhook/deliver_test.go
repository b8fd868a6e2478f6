package webhook

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

func TestEventsAreDelivered(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL)
	w.change("a", 3)
	w.change("b", 2)
	d := w.deliverer(w.store)
	report, next, err := d.look(t.Context(), w.now().Add(time.Minute))
	if err != nil || report != (Report{}) || next.Sub(w.now()) > settle || next.Before(w.now()) {
		t.Errorf("before two seconds: %+v, next in %v, %v", report, next.Sub(w.now()), err)
	}
	if _, report := w.drain(d); report != (Report{Delivered: 5}) {
		t.Errorf("report %+v", report)
	}
	r.check(t, w.sent, false)
	if list := w.waiting(); len(list) != 0 {
		t.Errorf("in the outbox: %+v", list)
	}
	list := w.deliveries(flags.AllDeliveries)
	if len(list) != 5 || list[0].Parked || list[0].Detail != "200 OK" || list[0].At.IsZero() {
		t.Errorf("deliveries %+v", list)
	}
}

// TestOrderUnderFailures has a receiver that fails at random, and one time in ten accepts an event without an answer.
func TestOrderUnderFailures(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	r := newReceiver(t)
	r.setAnswer(func(string, int, int) int {
		return []int{200, 200, 200, 200, 200, 0, 500, 503, 408, 425}[random.IntN(10)]
	})
	w := newWorld(t, r.URL)
	for range dynamotest.Times(40, 1000) {
		w.change(manyFlags(5)[random.IntN(5)], 1)
	}
	_, report := w.drain(w.deliverer(w.store))
	r.check(t, w.sent, true)
	if report.Failed == 0 || report.Parked != 0 {
		t.Errorf("report %+v", report)
	}
}

// TestRefusedEvents has a receiver that refuses the first event of one flag. The other flags do not wait, and the flag's own
// events follow when the first one is parked.
func TestRefusedEvents(t *testing.T) {
	r := newReceiver(t)
	r.setAnswer(func(flag string, number, _ int) int {
		if flag == "bad" && number == 1 {
			return 400
		}
		return 200
	})
	w := newWorld(t, r.URL)
	w.change("bad", 3)
	w.change("good", 3)
	d := w.deliverer(w.store)
	w.wait(settle)
	report, _, err := d.look(t.Context(), w.now().Add(time.Minute))
	if err != nil || report != (Report{Delivered: 3, Failed: 1}) || len(r.accepted["good"]) != 3 || len(r.accepted["bad"]) != 0 {
		t.Errorf("first look: %+v, %v; accepted %v", report, err, r.accepted)
	}
	took, report := w.drain(d)
	if report != (Report{Delivered: 2, Failed: minTries - 2, Parked: 1}) || took < 2*time.Minute || took > 5*time.Minute {
		t.Errorf("then: %+v after %v", report, took)
	}
	if got := r.accepted["bad"]; len(got) != 2 || got[0] != 2 || got[1] != 3 {
		t.Errorf("accepted of the refused flag: %v", got)
	}
	parked := w.deliveries(flags.ParkedDeliveries)
	if len(parked) != 1 || parked[0].Attempts != minTries || parked[0].Error != "status 400" {
		t.Fatalf("parked: %+v", parked)
	}
	r.setAnswer(func(string, int, int) int { return 200 })
	if err := w.store.Resend(t.Context(), []flags.OutboxEntry{parked[0].OutboxEntry}); err != nil {
		t.Fatal(err)
	}
	if _, report := w.drain(d); report != (Report{Delivered: 1}) || len(w.deliveries(flags.ParkedDeliveries)) != 0 {
		t.Errorf("after Resend: %+v", report)
	}
}

// TestOldestWaiting checks that a run tells how long the oldest event waits, and nothing when all were sent.
func TestOldestWaiting(t *testing.T) {
	r := newReceiver(t)
	r.setAnswer(func(string, int, int) int { return 503 })
	w := newWorld(t, r.URL)
	w.change("a", 1)
	w.wait(time.Hour)
	w.change("b", 1)
	w.wait(settle)
	d := w.deliverer(w.store)
	if report, err := d.Run(t.Context(), w.now().Add(time.Second)); err != nil || report.Failed != 2 || report.Oldest < time.Hour || report.Oldest > time.Hour+time.Minute {
		t.Errorf("%+v, %v; want two failures and an event that waits for an hour", report, err)
	}
	r.setAnswer(func(string, int, int) int { return 200 })
	w.drain(d)
	if report, err := d.Run(t.Context(), w.now()); err != nil || report != (Report{}) {
		t.Errorf("%+v, %v; want nothing that waits", report, err)
	}
}

// TestReceiverThatRecovers checks that nothing is parked while a receiver does not work for half a day.
func TestReceiverThatRecovers(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL)
	w.change("a", 2)
	w.change("b", 2)
	from := w.now().Add(12 * time.Hour)
	r.setAnswer(func(string, int, int) int {
		if w.now().Before(from) {
			return 502
		}
		return 200
	})
	took, report := w.drain(w.deliverer(w.store))
	if report.Parked != 0 || report.Delivered != 4 || took < 12*time.Hour || took > 12*time.Hour+maxDelay+time.Minute {
		t.Errorf("%+v after %v", report, took)
	}
	if report.Failed < 80 || report.Failed > 120 {
		t.Errorf("%d failed attempts in twelve hours with two flags", report.Failed)
	}
	r.check(t, w.sent, false)
}

func TestReceiverThatDoesNot(t *testing.T) {
	r := newReceiver(t)
	r.setAnswer(func(string, int, int) int { return 500 })
	w := newWorld(t, r.URL)
	w.change("a", 2)
	took, report := w.drain(w.deliverer(w.store))
	if report.Parked != 2 || report.Delivered != 0 || took < giveUp || took > giveUp+time.Hour {
		t.Errorf("%+v after %v", report, took)
	}
	if parked := w.deliveries(flags.ParkedDeliveries); len(parked) != 2 || parked[1].Error != "status 500" {
		t.Errorf("parked: %+v", parked)
	}
}

// TestEventsDuringBackoff checks that a run sends new events while it waits for another try of an old one.
func TestEventsDuringBackoff(t *testing.T) {
	r := newReceiver(t)
	r.setAnswer(func(flag string, _, _ int) int { return map[string]int{"bad": 500, "good": 200}[flag] })
	w := newWorld(t, r.URL)
	w.change("bad", 1)
	w.wait(settle)
	d := w.deliverer(w.store)
	if report, _, err := d.look(t.Context(), w.now().Add(time.Minute)); err != nil || report.Failed != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() { _, _ = d.Run(ctx, w.now().Add(time.Minute)) })
	time.Sleep(interval / 2) // it has looked, and waits
	w.change("good", 1)
	began := time.Now()
	for len(w.deliveries(flags.AllDeliveries)) == 0 && time.Since(began) < 20*time.Second {
		time.Sleep(50 * time.Millisecond)
	}
	if took := time.Since(began); took > firstDelay*3/4 {
		t.Errorf("a new event was sent after %v", took)
	}
	cancel()
	wait.Wait()
}

// TestTwoDeliverers runs two at once, again and again. A lease lets one of them send, so nothing is sent twice.
func TestTwoDeliverers(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL)
	for range 5 {
		for _, name := range manyFlags(6) {
			w.change(name, 2)
		}
		w.wait(settle)
		var wait sync.WaitGroup
		for range 3 {
			d := w.deliverer(w.open(nil))
			wait.Go(func() {
				if _, err := d.Run(t.Context(), w.now().Add(time.Second)); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
	}
	w.drain(w.deliverer(w.store))
	r.check(t, w.sent, false)
}

// TestKilledDeliverer ends a deliverer before each of its calls to the store, and after each that was applied without an
// answer. Another one, which finds the lease of the first, sends all events: none is lost, and none comes out of order.
func TestKilledDeliverer(t *testing.T) {
	for _, fault := range []dynamotest.Fault{dynamotest.DropRequest, dynamotest.LoseResponse} {
		killed := 0
		for call := 1; ; call++ {
			r := newReceiver(t)
			r.setAnswer(func(_ string, _, try int) int { return []int{500, 200, 200, 200, 200}[try-1] })
			w := newWorld(t, r.URL)
			w.change("a", 2)
			w.change("b", 1)
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			faults := &dynamotest.Faults{}
			faults.Script = func(string, int) dynamotest.Fault {
				if n++; n < call {
					return dynamotest.NoFault
				}
				cancel()
				return fault
			}
			victim := w.deliverer(w.open(faults))
			victim.finish = 0
			for range 10 {
				w.wait(settle + delay(1))
				if _, next, err := victim.look(ctx, w.now().Add(time.Minute)); err != nil || next.IsZero() || ctx.Err() != nil {
					break
				}
			}
			cancel()
			if n < call {
				break // it came to its end
			}
			killed++
			w.wait(leaseTime)
			w.drain(w.deliverer(w.store))
			r.check(t, w.sent, true)
			if list := w.waiting(); len(list) != 0 || len(w.deliveries(flags.AllDeliveries)) != 3 {
				t.Errorf("killed at call %d: %d entries are left, %d delivered", call, len(list), len(w.deliveries(flags.AllDeliveries)))
			}
			r.Close()
		}
		if killed < 10 {
			t.Errorf("%s: killed at %d calls, want more: the test proves little", fault, killed)
		}
	}
}

// TestFaultyStore delivers while one call in ten to the store fails.
func TestFaultyStore(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL)
	for _, name := range manyFlags(6) {
		w.change(name, 4)
	}
	faults := &dynamotest.Faults{DropRequests: 0.02, LoseResponses: 0.03, TruncateResponses: 0.02, Throttles: 0.03, LateDeliveries: 0.02, Seed: 7}
	d := w.deliverer(w.open(faults))
	for range 100 {
		_, next, err := d.look(t.Context(), w.now().Add(time.Minute))
		if err == nil && next.IsZero() && len(w.waiting()) == 0 {
			break
		}
		w.wait(settle)
	}
	faults.Drain()
	w.drain(w.deliverer(w.store))
	if len(faults.Injected()) < 3 {
		t.Errorf("faults: %v", faults.Injected())
	}
	r.check(t, w.sent, true)
}

func TestDisabledAndDeletedAddons(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL, r.URL)
	w.change("a", 2)
	entries, _, err := w.store.Outbox(t.Context(), 1, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	entries[0].Attempts, entries[0].Error = 1, "status 500"
	if err := w.store.Failed(t.Context(), entries[0]); err != nil {
		t.Fatal(err)
	}
	addons := w.addons.Clone()
	addons.List[0].Enabled = false
	if err := addons.Remove(2); err != nil {
		t.Fatal(err)
	}
	w.setAddons(addons)
	if _, report := w.drain(w.deliverer(w.store)); report != (Report{Parked: 2}) || len(r.accepted) != 0 {
		t.Errorf("%+v, accepted %v", report, r.accepted)
	}
	if parked := w.deliveries(flags.ParkedDeliveries); len(parked) != 2 || parked[0].Error != "the addon was disabled" ||
		parked[1].Error != "the addon was disabled; the last attempt: status 500" {
		t.Errorf("parked: %+v", parked)
	}
}

// TestNewEventsDuringSlowSends checks that an addon gets new events while another one has a lot for a slow receiver.
func TestNewEventsDuringSlowSends(t *testing.T) {
	slow := listen(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }) // a second each
	fast := newReceiver(t)
	w := newWorld(t, slow, fast.URL)
	for _, name := range manyFlags(30) {
		w.change(name, 1)
	}
	w.wait(settle)
	d := w.deliverer(w.store)
	d.turn = time.Second
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, err := d.Run(t.Context(), w.now().Add(9*time.Second)); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(time.Second)
	w.change("later", 1)
	time.Sleep(7 * time.Second) // 2 s until it can be sent, and a turn
	fast.check(t, w.sent, false)
	wait.Wait()
}

// TestBrokenAddon checks that an addon whose parameters cannot be read does not end the run of another one.
func TestBrokenAddon(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL, r.URL)
	addons := w.addons.Clone()
	addons.List[0].Sealed = map[string]string{flags.AddonURL: "broken"}
	w.setAddons(addons)
	w.change("due", 1)
	time.Sleep(settle)
	w.change("later", 1)
	report, err := w.deliverer(w.store).Run(t.Context(), w.now().Add(5*time.Second))
	if err == nil || report != (Report{Delivered: 2}) {
		t.Errorf("%+v, %v", report, err)
	}
	r.check(t, w.sent, false)
}

// TestSlowFailuresTakeTurns checks that flags whose events fail slowly do not keep another flag from its first try.
func TestSlowFailuresTakeTurns(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL)
	const bad = 12
	for _, name := range append(manyFlags(bad), "good") {
		w.change(name, 1)
	}
	r.setAnswer(func(flag string, _, _ int) int {
		w.wait(5 * time.Second)
		return map[bool]int{true: 200, false: 500}[flag == "good"]
	})
	w.wait(settle)
	d := w.deliverer(w.store)
	d.turn = time.Second // one message
	for range bad + 1 {
		if _, _, err := d.look(t.Context(), w.now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if r.tries["good1"] != 1 {
		t.Errorf("after %d messages: %v", bad+1, r.tries)
	}
}

// TestReservedEventsAreWithheld checks that events that only administrators see are not sent when the addon has stopped
// sending them: after that, others can change its URL.
func TestReservedEventsAreWithheld(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL)
	addons := w.addons.Clone()
	addons.List[0].Events = []flags.EventType{flags.UserCreated, flags.FeatureCreated}
	w.setAddons(addons)
	user := &flags.Feature{Name: "x", Project: "default", ProjectUID: "uid", Metadata: flags.Metadata{Type: flags.Release}}
	w.commit(flags.Change{Writes: []flags.Write{{After: user}}, Addons: w.addons, Event: flags.Event{Type: flags.UserCreated}})
	w.change("a", 1)
	addons = w.addons.Clone()
	addons.List[0].Events = nil
	w.setAddons(addons)
	if _, report := w.drain(w.deliverer(w.store)); report != (Report{Delivered: 1, Parked: 1}) || len(r.accepted["a"]) != 1 {
		t.Errorf("%+v, accepted %v", report, r.accepted)
	}
}

// TestSlowSlackChannels checks that an event for several channels takes no longer than one message may: the lease ends then.
func TestSlowSlackChannels(t *testing.T) {
	server := receive(t, func(http.ResponseWriter, *http.Request) { time.Sleep(700 * time.Millisecond) })
	w := newWorld(t, server.URL)
	addons := w.addons.Clone()
	addons.List[0].Provider = flags.AddonSlack
	w.setAddons(addons)
	tagged := &flags.Feature{Name: "tagged", Project: "default", ProjectUID: "uid", Metadata: flags.Metadata{Type: flags.Release}}
	for _, channel := range manyFlags(maxChannels) {
		tagged.Tags = append(tagged.Tags, flags.Tag{Type: flags.AddonSlack, Value: channel})
	}
	w.commit(flags.Change{
		Writes: []flags.Write{{After: tagged}}, Addons: w.addons,
		Event: flags.Event{Type: flags.FeatureCreated, Project: "default", FeatureName: "tagged"},
	})
	w.wait(settle)
	if report, _, err := w.deliverer(w.store).look(t.Context(), w.now().Add(time.Minute)); err != nil || report != (Report{Failed: 1}) {
		t.Errorf("%+v, %v", report, err)
	}
	if list := w.waiting(); len(list) != 1 || list[0].Error != "there was no response in time" {
		t.Errorf("in the outbox: %+v", list)
	}
}

// TestSlackChannels checks that the events of a flag go to the channels that its tags name, and others to the default one.
func TestSlackChannels(t *testing.T) {
	var mu sync.Mutex
	var channels []string
	server := receive(t, func(_ http.ResponseWriter, r *http.Request) {
		var message slackMessage
		if err := json.UnmarshalRead(r.Body, &message); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		channels = append(channels, message.Channel)
	})
	w := newWorld(t, server.URL)
	addons := w.addons.Clone()
	addons.List[0].Provider, addons.List[0].Parameters[flags.AddonDefaultChannel] = flags.AddonSlack, "general"
	w.setAddons(addons)
	w.change("plain", 1)
	tagged := &flags.Feature{
		Name: "tagged", Project: "default", ProjectUID: "uid", Metadata: flags.Metadata{Type: flags.Release},
		Tags: []flags.Tag{{Type: "simple", Value: "x"}, {Type: "slack", Value: "a"}, {Type: "slack", Value: "b"}},
	}
	w.commit(flags.Change{
		Writes: []flags.Write{{After: tagged}}, Addons: w.addons,
		Event: flags.Event{Type: flags.FeatureCreated, Project: "default", FeatureName: "tagged"},
	})
	if _, report := w.drain(w.deliverer(w.store)); report != (Report{Delivered: 2}) || !slices.Equal(channels, []string{"#general", "#a", "#b"}) {
		t.Errorf("%+v, channels %q", report, channels)
	}
}

// TestAddonTest checks that the event of a test is sent once, whether the receiver works or not.
func TestAddonTest(t *testing.T) {
	r := newReceiver(t)
	r.setAnswer(func(string, int, int) int { return 500 })
	w := newWorld(t, r.URL)
	id := uuid.Must(uuid.NewV7()).String()
	event := flags.Event{ID: id, Type: "addon-test", CreatedAt: flags.EventTime(id), CreatedBy: "tester"}
	if err := w.store.PutOutbox(t.Context(), flags.OutboxEntry{Addon: 1, ID: id, Test: &event}); err != nil {
		t.Fatal(err)
	}
	if _, report := w.drain(w.deliverer(w.store)); report != (Report{Parked: 1}) || r.tries["0"] != 1 {
		t.Errorf("%+v, tries %v", report, r.tries)
	}
}

// TestSealedParameters checks that a key that cannot be read costs no attempt.
func TestSealedParameters(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL)
	sealer, _ := dynamotest.Sealer(t.Context())
	addons := w.addons.Clone()
	addons.List[0].Parameters = nil
	addons.List[0].Sealed = map[string]string{flags.AddonURL: sealer.Seal(r.URL, flags.AddonSecret(1, flags.AddonURL))}
	w.setAddons(addons)
	w.change("a", 1)
	w.wait(settle)
	d := w.deliverer(w.store)
	open := d.sealer
	d.sealer = func(context.Context) (flags.Sealer, error) { return nil, errors.New("no key") }
	if _, _, err := d.look(t.Context(), w.now().Add(time.Minute)); err == nil || !strings.Contains(err.Error(), "no key") {
		t.Errorf("without a key: %v", err)
	}
	if list := w.waiting(); len(list) != 1 || list[0].Attempts != 0 {
		t.Errorf("in the outbox: %+v", list)
	}
	d.sealer = open
	if _, report := w.drain(d); report != (Report{Delivered: 1}) {
		t.Errorf("%+v", report)
	}
}

// TestLowerVersionLater has entries whose IDs are in another order than their versions, because clocks differ.
func TestLowerVersionLater(t *testing.T) {
	at := time.Now().Truncate(time.Millisecond)
	id := func(ms int) string {
		var u uuid.UUID
		for i, n := 5, at.Add(time.Duration(ms)*time.Millisecond).UnixMilli(); i >= 0; i, n = i-1, n>>8 {
			u[i] = byte(n)
		}
		u[6] = 0x70
		return u.String()
	}
	entry := func(subject string, version int64, ms int) flags.OutboxEntry {
		return flags.OutboxEntry{Subject: subject, Version: version, ID: id(ms)}
	}
	all := []flags.OutboxEntry{entry("a", 3, 0), entry("b", 1, 100), entry("a", 1, 200), entry("a", 2, 1500), entry("c", 1, 4000)}
	queues := queuesOf(all)
	if len(queues) != 3 || len(queues[0]) != 3 || queues[0][0].Version != 1 || queues[0][1].Version != 2 || queues[0][2].Version != 3 {
		t.Errorf("queues %+v", queues)
	}
	run := &addonRun{Deliverer: &Deliverer{now: func() time.Time { return at.Add(settle + 150*time.Millisecond) }}, addon: flags.Addon{Enabled: true}}
	if due := run.dueNow(queues); len(due) != 1 || due[0][0].Subject != "b" || !run.next.Equal(at.Add(settle+200*time.Millisecond)) {
		t.Errorf("due %+v, next %v", due, run.next.Sub(at))
	}
	if kept := complete(all); len(kept) != 4 {
		t.Errorf("of an outbox that was not read to its end, %d of %d entries can be sent, want 4", len(kept), len(all))
	}
	if kept := complete(all[:4]); len(kept) != 4 {
		t.Errorf("of entries of two seconds, %d can be sent, want all", len(kept))
	}
}

func TestDelays(t *testing.T) {
	want := []time.Duration{10, 20, 40, 80, 160, 320, 640, 900, 900}
	for i, seconds := range want {
		if got := delay(i + 1); got != seconds*time.Second {
			t.Errorf("after %d failures: %v, want %d s", i+1, got, seconds)
		}
	}
	if delay(1000) != maxDelay {
		t.Errorf("after 1,000 failures: %v", delay(1000))
	}
}
