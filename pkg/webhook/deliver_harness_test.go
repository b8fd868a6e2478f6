package webhook

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// A world is a table with addons, what was changed in it, and a clock that can be moved on.
type world struct {
	t      *testing.T
	table  string
	store  *dynamo.Store
	addons *flags.Addons

	mu    sync.Mutex
	ahead time.Duration // of the clock
	sent  map[string]int64
}

// newWorld has addons that send to URLs, with the IDs 1, 2 and so on.
func newWorld(t *testing.T, urls ...string) *world {
	t.Helper()
	w := &world{t: t, table: "webhook-" + uuid.NewString(), sent: map[string]int64{}}
	w.store = w.open(nil)
	w.commit(flags.Change{Writes: []flags.Write{{After: &flags.Project{ID: "default", UID: "uid", Name: "Default"}}}, Event: flags.Event{Type: flags.ProjectCreated}})
	addons := &flags.Addons{}
	for i, url := range urls {
		addons.List = append(addons.List, flags.Addon{
			ID: int64(i + 1), Provider: flags.AddonWebhook, Enabled: true, Parameters: map[string]string{flags.AddonURL: url},
			Events: []flags.EventType{flags.FeatureCreated, flags.FeatureMetadataUpdated},
		})
	}
	w.setAddons(addons)
	return w
}

func (w *world) open(transport http.RoundTripper) *dynamo.Store {
	w.t.Helper()
	return dynamotest.OpenOn(w.t, dynamotest.Engine(), w.table, transport)
}

// setAddons replaces the registry.
func (w *world) setAddons(addons *flags.Addons) {
	w.t.Helper()
	write := flags.Write{After: addons}
	if w.addons != nil {
		write.Before = w.addons
	}
	w.commit(flags.Change{Writes: []flags.Write{write}, Event: flags.Event{Type: flags.ProjectUpdated}})
	view, err := w.store.Load(w.t.Context(), []flags.Key{flags.AddonsKey()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.addons = flags.Find[*flags.Addons](view, flags.AddonsKey())
}

func (w *world) commit(change flags.Change) {
	w.t.Helper()
	change.Event.ID = uuid.Must(uuid.NewV7()).String()
	change.Event.CreatedAt = flags.EventTime(change.Event.ID)
	change.Event.CreatedBy = "tester"
	if err := w.store.Commit(w.t.Context(), change); err != nil {
		w.t.Fatal(err)
	}
}

// change creates a flag, or changes it, so often: each change is an event with its number.
func (w *world) change(name string, times int) {
	w.t.Helper()
	for range times {
		view, err := w.store.Load(w.t.Context(), []flags.Key{flags.FeatureKey(name)})
		if err != nil {
			w.t.Fatal(err)
		}
		before := flags.Find[*flags.Feature](view, flags.FeatureKey(name))
		after := &flags.Feature{Name: name, Project: "default", ProjectUID: "uid", Metadata: flags.Metadata{Type: flags.Release}}
		write, kind := flags.Write{}, flags.FeatureCreated
		if before != nil {
			after, write.Before, kind = before.Clone(), before, flags.FeatureMetadataUpdated
		}
		w.sent[name]++
		number := strconv.FormatInt(w.sent[name], 10)
		after.Description = &number
		write.After = after
		w.commit(flags.Change{
			Writes: []flags.Write{write}, Addons: w.addons,
			Event: flags.Event{Type: kind, Project: "default", FeatureName: name, Data: jsontext.Value(`{"number":` + number + `}`)},
		})
	}
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

func (w *world) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
}

// deliverer returns a deliverer with the clock of the world.
func (w *world) deliverer(store Store) *Deliverer {
	w.t.Helper()
	d := NewDeliverer(store, dynamotest.Sealer, NewSender(Options{Networks: localNetworks(w.t), Timeout: time.Second}), slog.New(slog.DiscardHandler))
	d.now, d.sender.now = w.now, w.now
	return d
}

// drain delivers until nothing is due any more, and moves the clock on to when something is. It returns how long that took.
func (w *world) drain(d *Deliverer) (took time.Duration, report Report) {
	w.t.Helper()
	began := w.now()
	for range 1000 {
		did, next, err := d.look(w.t.Context(), w.now().Add(time.Minute))
		if err != nil {
			w.t.Fatal(err)
		}
		report.add(did)
		if next.IsZero() {
			return w.now().Sub(began), report
		}
		w.wait(max(0, next.Sub(w.now())))
	}
	w.t.Fatal("the outbox was not empty after 1,000 looks")
	return 0, report
}

// waiting are the entries in the outbox of the first addon.
func (w *world) waiting() []flags.OutboxEntry {
	w.t.Helper()
	entries, more, err := w.store.Outbox(w.t.Context(), 1, "", flags.MaxOutboxPage)
	if err != nil || more {
		w.t.Fatal(more, err)
	}
	return entries
}

// deliveries are the latest deliveries of the first addon.
func (w *world) deliveries(which flags.WhichDeliveries) []flags.Delivery {
	w.t.Helper()
	list, err := w.store.Deliveries(w.t.Context(), 1, which, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// A receiver notes the numbers of the events that it accepted, by flag.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	answer   func(flag string, number, try int) int // the status; 0 to accept the event and close the connection
	header   http.Header                            // of every response
	tries    map[string]int
	accepted map[string][]int
	ids      map[string]int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{tries: map[string]int{}, accepted: map[string][]int{}, ids: map[string]int{}, answer: func(string, int, int) int { return 200 }}
	r.Server = receive(t, r.serve)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, request *http.Request) {
	raw, _ := io.ReadAll(request.Body)
	var event struct {
		FeatureName string `json:"featureName"`
		Data        struct {
			Number int `json:"number"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &event); err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	what := fmt.Sprint(event.FeatureName, event.Data.Number)
	r.tries[what]++
	status := r.answer(event.FeatureName, event.Data.Number, r.tries[what])
	if status == 0 || status < 300 {
		r.accepted[event.FeatureName] = append(r.accepted[event.FeatureName], event.Data.Number)
		r.ids[request.Header.Get(headerID)]++
	}
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), r.header)
	w.WriteHeader(status)
}

func (r *receiver) setAnswer(answer func(flag string, number, try int) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// setBusy has every request answered with a status and Retry-After.
func (r *receiver) setBusy(status int, retryAfter string) {
	r.setAnswer(func(string, int, int) int { return status })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.header = http.Header{"Retry-After": {retryAfter}}
}

// requests are all that were received.
func (r *receiver) requests() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, tries := range r.tries {
		n += tries
	}
	return n
}

// check fails unless each flag's events were accepted in order, repeated at most as the receiver accepted them without an
// answer being seen.
func (r *receiver) check(t *testing.T, want map[string]int64, repeats bool) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, n := range want {
		got := r.accepted[name]
		if !repeats && len(got) != int(n) {
			t.Errorf("%s: %d events were accepted, want %d: %v", name, len(got), n, got)
		}
		if distinct := slices.Compact(slices.Clone(got)); len(distinct) != int(n) || !slices.IsSorted(distinct) {
			t.Errorf("%s: events %v, want 1 to %d in order", name, got, n)
		}
	}
}

func manyFlags(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "flag-" + strings.Repeat("x", i%3) + strconv.Itoa(i)
	}
	return names
}
