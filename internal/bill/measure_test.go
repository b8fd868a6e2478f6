package bill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/admin/requests"
	"guidon/pkg/aggregate"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/published"
	"guidon/pkg/serving"
	"guidon/pkg/usage"
	"guidon/pkg/webhook"
)

// Units are read and write units of DynamoDB.
type Units struct{ Read, Write float64 }

// Plus adds units.
func (u Units) Plus(v Units) Units { return Units{u.Read + v.Read, u.Write + v.Write} }

// Times multiplies units.
func (u Units) Times(n float64) Units { return Units{u.Read * n, u.Write * n} }

// Measured has what was measured.
type Measured struct {
	// Requests of the administration. Flags have two environments, a strategy with a constraint in one of them, and a description.
	Read, List200, List1000, Create, Strategy, Describe Units

	// Change switches a flag off. It is the mean of many changes, of which each eighth reads the feed.
	Change Units

	// What an open page of the console reads in a minute, of a flag and of a project of 200 flags.
	OpenFlag, OpenList Units

	// Requests of applications. Report has 50 flags, LargeReport 500.
	Poll, PollUnchanged, Evaluation, Report, LargeReport Units

	// Requests with a token that does not exist, and one to /edge/validate with ten of them.
	Unknown, Guess Units

	// Runs of scheduled functions without anything to do.
	Snapshot, Publish, Aggregate, Deliver, Due Units

	// A run that starts the next milestone of a release plan, without safeguards, with one of a named signal, and with one of an alarm.
	Step, StepSignal, StepAlarm Units

	// A run without anything to do that looks at 100 safeguards.
	Watch Units

	// A signal with a wrong secret, one that no plan names, and one that switches a flag off; and one that no plan names among as many signals as an
	// environment can have, and 100 safeguards.
	SignalRefused, Signal, SignalActs, SignalMost Units

	// Runs of the aggregation with the reports of 10 and 100 instances, 50 flags each, with the second look at them ten minutes later;
	// and what the first run of an hour writes in addition.
	Added10, Added100, FirstOfHour Units

	// The part of an operation that is in one partition.
	Environments float64 // read with a flag
	Feed         float64 // read with a poll
	Token        float64 // read with a flag
	List         float64 // read for a list of 1,000 flags
	Guarded      float64 // written in a project for a new flag
	SmallEvent   float64 // written to an index for a new strategy
	Event        float64 // written to an index for a switch

	ListBytes float64 // of a list, for each flag
}

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// fixed is the time of all measurements, with milliseconds, as nearly all times have. So the sizes of items do not vary.
var fixed = time.Date(2026, 3, 4, 12, 34, 56, 789_000_000, time.UTC)

const (
	features = "/api/admin/projects/default/features"
	sample   = 56 // flags in the project; a multiple of 8
)

// A deployment is all of Guidon over one table.
type deployment struct {
	t       testing.TB
	meter   *meter
	store   *pinned
	reader  *serving.Reader
	handler http.Handler
}

// A pinned is a store that loads the feed with each eighth change. The kernel does so with one change in eight, at random.
type pinned struct {
	*dynamo.Store
	changes int
	feed    *flags.Feed // for the next change
}

// Load loads the feed with each eighth request that may change something, which also loads the addons.
func (p *pinned) Load(ctx context.Context, keys []flags.Key) (flags.View, error) {
	if !slices.Contains(keys, flags.AddonsKey()) {
		return p.Store.Load(ctx, keys)
	}
	keys = slices.DeleteFunc(slices.Clone(keys), func(k flags.Key) bool { return k == flags.FeedKey() })
	if p.changes++; p.changes%8 == 0 {
		keys = append(keys, flags.FeedKey())
	}
	view, err := p.Store.Load(ctx, keys)
	p.feed, _ = view[flags.FeedKey()].(*flags.Feed)
	return view, err
}

// Commit applies a change with the feed as it was loaded.
func (p *pinned) Commit(ctx context.Context, change flags.Change) error {
	change.Feed = p.feed
	return p.Store.Commit(ctx, change)
}

func deploy(t testing.TB) *deployment {
	t.Helper()
	m := &meter{}
	table := dynamotest.Open(t, nil)
	dynamotest.Seed(t, table)
	// Without a timeout: a call that is sent again would count twice.
	options := dynamo.Options{Table: table.Table(), Endpoint: dynamotest.Engine().URL(), HTTPClient: &http.Client{Transport: m}}
	opened, err := dynamo.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	store := &pinned{Store: opened}
	config := httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, Now: func() time.Time { return fixed }, Alarms: alarms}
	mux := &httpapi.Mux{}
	add := func(group httpapi.Group) {
		handler := httpapi.New(store, group, config)
		for _, route := range group.Routes() {
			mux.Handle(route, handler)
		}
	}
	for _, group := range admin.Groups() {
		add(group)
	}
	reader := serving.NewReader(store, serving.OptionsOf(config))
	add(serving.ClientGroup(reader, store, config))
	add(serving.FrontendGroup(reader, store, config))
	add(httpapi.Join(ingest.Groups(store, reader, config)...))
	return &deployment{t, m, store, reader, mux}
}

// do sends a request, which must succeed. A header is "Name: value".
func (d *deployment) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	w := d.send(method, path, body, headers...)
	if w.Code >= 400 {
		d.t.Fatalf("%s %s %s: %d %s", method, path, body, w.Code, w.Body)
	}
	return w
}

// send sends a request.
func (d *deployment) send(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", dynamotest.AdminToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w
}

// refused measures a request with a token that does not exist, of the form that costs most.
func (d *deployment) refused(method, path, body string) (most Units) {
	d.t.Helper()
	d.send(method, path, body, "Authorization: default:development.a") // the first one of an instance reads more
	for _, token := range []string{"default:development.b", "*:*.b", "user:b"} {
		units, err := d.meter.during(func() {
			if w := d.send(method, path, body, "Authorization: "+token); w.Code != http.StatusUnauthorized {
				d.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
		})
		if err != nil {
			d.t.Fatal(err)
		}
		most = Units{max(most.Read, units.Read), max(most.Write, units.Write)}
	}
	return most
}

// units measures a request that was sent before, so that the token's use in this hour is stored.
func (d *deployment) units(method, path, body string, headers ...string) Units {
	d.t.Helper()
	units, err := d.meter.during(func() { d.do(method, path, body, headers...) })
	if err != nil {
		d.t.Fatal(err)
	}
	return units
}

func name(i int) string { return fmt.Sprintf("checkout-button-%04d", i) }

func in(i int) string { return features + "/" + name(i) + "/environments/production" }

const strategy = `{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"default","groupId":"checkout"},
	"constraints":[{"contextName":"appName","operator":"IN","values":["shop","billing"]}]}`

// measure sends each request, and returns what it takes.
func measure(t testing.TB) Measured {
	d := deploy(t)
	var m Measured
	for i := range sample {
		d.do("POST", features, newFlag(i))
		d.do("POST", in(i)+"/strategies", strategy)
		d.do("POST", in(i)+"/on", "")
	}
	m.Read = d.units("GET", features+"/"+name(7), "")
	m.Environments, m.Token = d.meter.parts["REGISTRY"].Read, d.meter.parts["TOKEN"].Read
	others := d.units("GET", features, "")
	others.Read -= d.meter.query
	list := func(flags int) float64 { return math.Ceil(float64(d.meter.bytes) / sample * float64(flags) / 4096) }
	m.List200, m.List1000 = others.Plus(Units{Read: list(200)}), others.Plus(Units{Read: list(1000)})
	m.List = d.meter.parts["PROJECT"].Read + list(1000)
	m.OpenFlag, m.OpenList = m.Read.Times(perMinute), m.List200.Times(perMinute)
	each := func(path string) Units { return d.units("GET", strings.ReplaceAll(path, "{feature}", name(7)), "") }
	for _, path := range openAlways {
		m.OpenFlag, m.OpenList = m.OpenFlag.Plus(each(path)), m.OpenList.Plus(each(path))
	}
	for _, path := range openFlag {
		m.OpenFlag = m.OpenFlag.Plus(each(path))
	}
	m.OpenList = m.OpenList.Plus(each(openOverview).Times(perMinute))
	protection := each(openConfig).Times(perMinute)
	m.OpenFlag, m.OpenList = m.OpenFlag.Plus(protection), m.OpenList.Plus(protection)
	m.ListBytes = float64(d.do("GET", features, "").Body.Len()) / sample
	m.Create = d.units("POST", features, newFlag(sample))
	m.Guarded = d.meter.parts["PROJECT"].Write
	for i := range sample {
		m.Change = m.Change.Plus(d.units("POST", in(i)+"/off", "").Times(1.0 / sample))
		m.Event = d.meter.index
	}
	m.Strategy = d.units("POST", in(1)+"/strategies", strategy)
	m.SmallEvent = d.meter.index
	m.Describe = d.units("PATCH", features+"/"+name(1), `[{"op":"replace","path":"/description","value":"the button that closes the checkout"}]`)

	client, frontend := "Authorization: "+dynamotest.ClientToken, "Authorization: "+dynamotest.FrontendToken
	etag := "If-None-Match: " + d.do("GET", "/api/client/features", "", client).Header().Get("ETag")
	m.Poll = d.units("GET", "/api/client/features", "", client)
	m.Feed = d.meter.parts["FEED"].Read
	m.PollUnchanged = d.units("GET", "/api/client/features", "", client, etag)
	d.do("GET", "/api/frontend", "", frontend)
	m.Evaluation = d.units("GET", "/api/frontend", "", frontend)

	for _, units := range []Units{
		d.refused("GET", features, ""), d.refused("GET", "/api/client/features", ""), d.refused("GET", "/api/frontend", ""),
		d.refused("POST", "/api/client/metrics", report(1)),
	} {
		m.Unknown = Units{max(m.Unknown.Read, units.Read), max(m.Unknown.Write, units.Write)}
	}
	var guesses []string
	for i := range 10 {
		guesses = append(guesses, fmt.Sprintf("\"default:development.guess%d\"", i))
	}
	m.Guess = d.units("POST", "/edge/validate", `{"tokens":[`+strings.Join(guesses, ",")+`]}`)

	m.Snapshot = d.run(func(ctx context.Context) error { _, err := d.reader.WriteSnapshot(ctx); return err }, 2)
	publisher := serving.NewPublisher(d.reader, current{})
	m.Publish = m.Snapshot.Plus(d.run(func(ctx context.Context) error { _, err := publisher.Run(ctx); return err }, 2))
	m.Deliver = d.run(func(ctx context.Context) error {
		_, err := webhook.NewDeliverer(d.store, dynamotest.Sealer, nil, slog.New(slog.DiscardHandler)).Run(ctx, time.Now())
		return err
	}, 1)
	m.Due = d.run(requests.NewScheduler(d.store, httpapi.Config{Limits: flags.DefaultLimits()}).Run, 1)
	minute := fixed
	aggregator := aggregate.New(d.store, aggregate.Settings{Settle: aggregate.Settle, Now: func() time.Time { return minute }})
	run := func(ctx context.Context) error {
		minute = minute.Add(time.Minute)
		_, err := aggregator.Run(ctx)
		return err
	}
	d.run(run, 20)
	for range 10 {
		m.Aggregate = m.Aggregate.Plus(d.run(run, 1).Times(0.1))
	}

	added := func(instances int) Units {
		for i := range instances {
			d.post(minute, i)
		}
		units := d.run(run, 1)
		return units.Plus(Units{Read: d.meter.query - 8}) // the second look reads the posts again, and 8 empty shards in any case
	}
	first := added(100)
	m.Added100 = added(100)
	m.FirstOfHour = Units{Write: first.Write - m.Added100.Write} // it reads as much, or less: some sums do not exist yet
	m.Added10 = added(10)

	m.Report = d.units("POST", "/api/client/metrics", report(reportedFlags), client)
	m.LargeReport = d.units("POST", "/api/client/metrics", report(500), client)

	m.releases(d)
	return m
}

// releases measures release plans and their signals.
func (m *Measured) releases(d *deployment) {
	d.t.Helper()
	const environment = "/environments/production"
	stage := func(percent int) string {
		return fmt.Sprintf(`{"name":"%d","transitionCondition":{"intervalMinutes":1},"strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"%[1]d"}}]}`, percent)
	}
	plan := func(name, safeguards string) {
		d.do("POST", features, `{"name":"`+name+`"}`)
		d.do("POST", features+"/"+name+environment+"/release-plans", `{"name":"Canary","milestones":[`+stage(1)+","+stage(10)+","+stage(50)+","+stage(100)+`],"safeguards":[`+safeguards+`]}`)
		d.do("POST", features+"/"+name+environment+"/on", "")
		d.store.changes = 0 // so that none of what is measured next reads the feed
	}
	hours := time.Duration(0)
	later := func() time.Time { return time.Now().Add(hours) }
	due := func(ctx context.Context) error {
		hours += time.Hour
		return requests.NewScheduler(d.store, httpapi.Config{Limits: flags.DefaultLimits(), Now: later, Alarms: alarms}).Run(ctx)
	}
	plan("stepping", "")
	m.Step = d.run(due, 3)

	var created struct{ Secret string }
	body := d.do("POST", "/api/admin/projects/default"+environment+"/signals", `{"name":"errors"}`).Body.Bytes()
	if err := json.Unmarshal(body, &created); err != nil {
		d.t.Fatal(err)
	}
	const resolved, firing = `{"status":"resolved"}`, `{"status":"firing"}`
	secret := "Authorization: Bearer " + created.Secret
	m.Signal = d.units("POST", "/api/signals/errors", firing, secret)
	d.do("POST", "/api/signals/errors", resolved, secret)
	m.SignalRefused = d.wrongSecret(created.Secret)
	m.Unknown.Read = max(m.Unknown.Read, m.SignalRefused.Read)

	plan("signalled", `{"signal":{"name":"errors"},"action":{"type":"off"}}`)
	m.StepSignal = d.run(due, 3)
	m.SignalActs = d.units("POST", "/api/signals/errors", firing, secret)
	d.do("POST", "/api/signals/errors", resolved, secret)
	plan("alarmed", fmt.Sprintf(`{"signal":{"alarm":%q},"action":{"type":"off"}}`, alarms.Prefix+"errors"))
	m.StepAlarm = d.run(due, 3)

	d.do("POST", "/api/admin/projects/default"+environment+"/signals", `{"name":"quiet"}`) // in the hour after a signal has fired, the flags are read, too
	for i := range watched - 1 {                                                           // beside the flag with an alarm
		plan(fmt.Sprintf("watched-%d", i), `{"signal":{"name":"quiet"},"action":{"type":"off"}}`)
	}
	m.Watch = d.run(requests.NewScheduler(d.store, httpapi.Config{Limits: flags.DefaultLimits(), Now: func() time.Time { return fixed }, Alarms: alarms}).Run, 1)
	for i := range flags.MaxSignals - 2 {
		body = d.do("POST", "/api/admin/projects/default"+environment+"/signals", fmt.Sprintf(`{"name":"%0*d"}`, flags.MaxSignalName, i)).Body.Bytes()
	}
	if err := json.Unmarshal(body, &created); err != nil {
		d.t.Fatal(err)
	}
	m.SignalMost = d.units("POST", fmt.Sprintf("/api/signals/%0*d", flags.MaxSignalName, flags.MaxSignals-3), firing, "Authorization: Bearer "+created.Secret)
}

// A run that is measured looks at this many safeguards.
const watched = 100

// wrongSecret measures a signal with a secret that was true before.
func (d *deployment) wrongSecret(secret string) Units {
	d.t.Helper()
	units, err := d.meter.during(func() {
		if w := d.send("POST", "/api/signals/errors", `{"status":"firing"}`, "Authorization: Bearer "+secret+"0"); w.Code != http.StatusUnauthorized {
			d.t.Fatalf("a wrong secret: %d %s", w.Code, w.Body)
		}
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return units
}

// alarms reads every alarm as OK.
var alarms = &httpapi.Alarms{Prefix: "arn:aws:cloudwatch:us-east-1:123456789012:alarm:", Read: func(_ context.Context, arns []string) (map[string]flags.AlarmState, error) {
	states := map[string]flags.AlarmState{}
	for _, arn := range arns {
		states[arn] = flags.AlarmState{State: "OK"}
	}
	return states, nil
}}

// post stores what an instance reported in the last minute.
func (d *deployment) post(at time.Time, instance int) {
	d.t.Helper()
	host := fmt.Sprintf("shop-7d9f8b6c5-%05d", instance)
	p := &usage.Post{
		ID: fmt.Sprintf("%08d-0000-4000-8000-%012d", instance, at.Unix()), At: at.Add(time.Duration(instance) * time.Millisecond),
		TokenHash: access.HashSecret(dynamotest.ClientToken),
		Instances: []usage.PostInstance{{Application: "shop", Instance: host, Environment: "development", SDK: "unleash-go-sdk:5.1.0", Address: "192.0.2.1"}},
	}
	for i := range reportedFlags {
		count := usage.Count{Feature: name(i), Application: "shop", Environment: "development", Yes: int64(40 + i%17), No: int64(i % 13)}
		p.Counts = append(p.Counts, count)
	}
	if err := d.store.PutPost(d.t.Context(), p); err != nil {
		d.t.Fatal(err)
	}
}

// run runs a scheduled function some times, and returns the units of the last run.
func (d *deployment) run(f func(context.Context) error, times int) (units Units) {
	d.t.Helper()
	for range times {
		var err error
		var failed error
		units, err = d.meter.during(func() { failed = f(d.t.Context()) })
		if err := errors.Join(err, failed); err != nil {
			d.t.Fatal(err)
		}
	}
	return units
}

func newFlag(i int) string {
	return fmt.Sprintf(`{"name":%q,"description":"the button that opens the checkout, with text %04d"}`, name(i), i)
}

func report(n int) string {
	counts := make([]string, n)
	for i := range counts {
		counts[i] = fmt.Sprintf(`%q:{"yes":%d,"no":%d,"variants":{}}`, name(i), 40+i%17, i%13)
	}
	return `{"appName":"shop","instanceId":"shop-7d9f8b6c5-x2x4z","bucket":{"start":"2026-03-04T12:33:56.789Z","stop":"2026-03-04T12:34:56.789Z","toggles":{` +
		strings.Join(counts, ",") + `}}}`
}

// current is a place where everything is published already.
type current struct{}

func (current) Publish(context.Context, published.Head, []byte) (bool, error) { return false, nil }

func (current) Environments(context.Context) ([]string, error) { return nil, nil }
