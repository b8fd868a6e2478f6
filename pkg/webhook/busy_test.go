package webhook

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// look looks once, and fails unless the receiver has had so many requests since it started.
func (w *world) look(d *Deliverer, r *receiver, requests int, when string) {
	w.t.Helper()
	if _, _, err := d.look(w.t.Context(), w.now().Add(time.Hour)); err != nil {
		w.t.Fatal(err)
	}
	if got := r.requests(); got != requests {
		w.t.Errorf("%s: %d requests in all, want %d", when, got, requests)
	}
}

// TestRetryAfter has a receiver that asks for a pause. Nothing is sent to it before the pause is over: no other flag, not by another
// process, and not by another addon with the same URL.
func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		header func(now time.Time) string
		pause  time.Duration
	}{
		{"429 with seconds", 429, func(time.Time) string { return "3000" }, 3000 * time.Second},
		{"503 with a date", 503, func(now time.Time) string { return now.Add(50 * time.Minute).UTC().Format(http.TimeFormat) }, 50 * time.Minute},
		{"more than is allowed", 429, func(time.Time) string { return "999999999999999999999" }, maxRetryAfter},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, other := newReceiver(t), newReceiver(t)
			w := newWorld(t, r.URL, r.URL, other.URL)
			for _, name := range manyFlags(5) {
				w.change(name, 2)
			}
			w.wait(settle)
			r.setBusy(tt.status, tt.header(w.now()))
			d := w.deliverer(w.store)
			if _, _, err := d.look(t.Context(), w.now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			first := r.requests()
			if first < 1 || first > 2 { // both addons may be sending when the first response arrives
				t.Errorf("%d requests before the first response, want one or two", first)
			}
			other.check(t, w.sent, false)
			w.look(d, r, first, "at once")
			w.wait(tt.pause - 5*time.Minute)
			w.change("new", 1)
			w.wait(settle)
			w.look(d, r, first, "before the pause is over")

			r.setAnswer(func(string, int, int) int { return 200 })
			w.wait(5 * time.Minute)
			w.drain(d)
			if got := r.requests(); got != first+2*11 {
				t.Errorf("afterwards: %d requests in all, want %d", got, first+2*11)
			}
			if left := w.deliveries(flags.WaitingDeliveries); len(left) != 0 {
				t.Errorf("%d events are left", len(left))
			}
		})
	}
}

// TestRetryAfterIsStored has another process look during the pause.
func TestRetryAfterIsStored(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL)
	for _, name := range manyFlags(3) {
		w.change(name, 1)
	}
	w.wait(settle)
	r.setBusy(429, "600")
	w.look(w.deliverer(w.store), r, 1, "first")
	waiting := w.waiting()
	if next := waiting[0].Next; len(waiting) != 3 || next.Sub(w.now()) < 9*time.Minute {
		t.Errorf("%d events wait, the first until %v; want the end of the pause", len(waiting), next)
	}
	w.wait(9 * time.Minute)
	d := w.deliverer(w.store)
	w.look(d, r, 1, "another process")
	r.setAnswer(func(string, int, int) int { return 200 })
	w.wait(time.Minute)
	w.look(d, r, 4, "after the pause")
}

// TestRetryAfterOfATest checks that a user's test is sent during a pause, and is no reason to send events.
func TestRetryAfterOfATest(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, r.URL)
	w.change("a", 1)
	w.wait(settle)
	r.setBusy(503, "600")
	d := w.deliverer(w.store)
	w.look(d, r, 1, "first")
	event := flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: flags.AddonTest}
	if err := w.store.PutOutbox(t.Context(), flags.OutboxEntry{Addon: 1, ID: event.ID, Test: &event}); err != nil {
		t.Fatal(err)
	}
	w.wait(settle)
	w.look(d, r, 2, "the test")
	if parked := w.deliveries(flags.ParkedDeliveries); len(parked) != 1 || parked[0].Test == nil {
		t.Errorf("parked: %+v, want the test", parked)
	}
}

// TestBrokenRetryAfter checks that the usual waits apply.
func TestBrokenRetryAfter(t *testing.T) {
	for _, header := range []string{"", "0", "-60", "soon", "1.5", "Wed, 21 Oct 2015 07:28:00 GMT"} {
		r := newReceiver(t)
		w := newWorld(t, r.URL)
		w.change("a", 1)
		w.wait(settle)
		r.setBusy(503, header)
		d := w.deliverer(w.store)
		w.look(d, r, 1, header)
		if next := w.waiting()[0].Next; next.Sub(w.now()) > firstDelay {
			t.Errorf("%q: the next attempt is at %v, now it is %v", header, next, w.now())
		}
		w.wait(firstDelay)
		w.look(d, r, 2, header)
	}
}
