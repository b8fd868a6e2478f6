package edge

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"guidon/pkg/usage"
)

// The limits of usage that was not sent yet.
const (
	maxEntries    = 100_000  // of all applications; more are dropped
	maxOfToken    = 20_000   // of one token in an interval, so that one cannot take the room of all
	maxInstances  = 10_000   // of applications
	maxBatchBytes = 90 << 10 // Unleash takes 100 KB
	maxQueueBytes = 32 << 20 // of batches that wait for the upstream; the oldest are dropped
)

// usageSums adds up what applications report, until it is sent.
type usageSums struct {
	edge *Edge

	mu        sync.Mutex
	counts    map[countKey]*bulkMetric
	instances map[instanceKey]*bulkApplication
	ofToken   map[hash]int
	queue     []*batch // oldest first
	queued    int      // bytes

	sending sync.Mutex
	pauses  []*pause
}

// A countKey is what counts are added up by. The token is that of the upstream.
type countKey struct {
	token, environment, application, feature string
	minute                                   int64
}

type instanceKey struct{ token, environment, application, instance string }

// A batch is a body for POST /api/client/metrics/bulk. It stays the same however often it is sent, and so does its ID.
type batch struct {
	id    string
	token string
	body  []byte
}

// The body, as Unleash has it. Unleash Edge refuses one without any of these members.
type bulkBody struct {
	Applications []*bulkApplication `json:"applications"`
	Metrics      []*bulkMetric      `json:"metrics"`
}

type bulkApplication struct {
	AppName     string       `json:"appName"`
	InstanceID  string       `json:"instanceId"`
	Environment string       `json:"environment"`
	SDKVersion  string       `json:"sdkVersion,omitzero"`
	Strategies  []string     `json:"strategies"`
	Started     time.Time    `json:"started"` // when it registered, or Edge first heard of it
	Interval    int64        `json:"interval"`
	ConnectVia  []connectVia `json:"connectVia"`
}

type connectVia struct {
	AppName    string `json:"appName"`
	InstanceID string `json:"instanceId"`
}

type bulkMetric struct {
	FeatureName string           `json:"featureName"`
	AppName     string           `json:"appName"`
	Environment string           `json:"environment"`
	Timestamp   time.Time        `json:"timestamp"`
	Yes         int64            `json:"yes"`
	No          int64            `json:"no"`
	Variants    map[string]int64 `json:"variants"`
}

func newUsageSums(e *Edge) *usageSums {
	u := &usageSums{edge: e, pauses: e.client.newPauses()}
	u.reset()
	return u
}

func (u *usageSums) reset() {
	u.counts, u.instances, u.ofToken = map[countKey]*bulkMetric{}, map[instanceKey]*bulkApplication{}, map[hash]int{}
}

// add adds what an application reported. Counts of flags that its token may not see are left out: the upstream counts a batch of Edge
// for all projects.
func (u *usageSums) add(a application, post *usage.Post) {
	if !u.edge.config.reports() {
		return
	}
	token, minute := a.source.token, time.Now().Truncate(time.Minute)
	s := a.source.state.Load()
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, i := range post.Instances {
		key := instanceKey{token, i.Environment, i.Application, i.Instance}
		known := u.instances[key]
		if known == nil && len(u.instances) >= maxInstances {
			u.edge.metrics.dropped.Add(1)
			continue
		}
		if known == nil {
			known = &bulkApplication{
				AppName: i.Application, InstanceID: i.Instance, Environment: i.Environment,
				ConnectVia: []connectVia{{u.edge.config.AppName, u.edge.config.InstanceID}}, Interval: int64(u.edge.config.MetricsInterval.Seconds()),
				Strategies: []string{}, Started: minute.UTC(),
			}
			u.instances[key] = known
		}
		if i.SDK != "" {
			known.SDKVersion = i.SDK
		}
		if i.Registered {
			known.Strategies, known.Started = i.Strategies, i.Started
		}
	}
	for _, c := range post.Counts {
		if s != nil {
			if f := s.flags[c.Feature]; f != nil && !a.scope.Sees(f.Project) {
				continue
			}
		}
		key := countKey{token, c.Environment, c.Application, c.Feature, minute.Unix()}
		sum := u.counts[key]
		if sum == nil {
			if len(u.counts) >= maxEntries || u.ofToken[a.hash] >= maxOfToken {
				u.edge.metrics.dropped.Add(1)
				continue
			}
			u.ofToken[a.hash]++
			sum = &bulkMetric{FeatureName: c.Feature, AppName: c.Application, Environment: c.Environment, Timestamp: minute.UTC()}
			u.counts[key] = sum
		}
		sum.add(c)
	}
}

func (m *bulkMetric) add(c usage.Count) {
	m.Yes, m.No = min(m.Yes+c.Yes, usage.MaxCount), min(m.No+c.No, usage.MaxCount)
	for name, n := range c.Variants {
		if m.Variants == nil {
			m.Variants = map[string]int64{}
		}
		if _, known := m.Variants[name]; known || len(m.Variants) < usage.MaxVariants {
			m.Variants[name] = min(m.Variants[name]+n, usage.MaxCount)
		}
	}
}

// run sends what was reported after each interval.
func (u *usageSums) run(ctx context.Context) {
	for sleep(ctx, jitter(u.edge.config.MetricsInterval)) {
		u.flush(ctx)
	}
}

// flush sends everything that was reported. What the upstream does not take stays in the queue.
func (u *usageSums) flush(ctx context.Context) {
	u.sending.Lock()
	defer u.sending.Unlock()
	u.cut()
	for {
		u.mu.Lock()
		if len(u.queue) == 0 {
			u.mu.Unlock()
			return
		}
		b := u.queue[0]
		u.mu.Unlock()
		err := u.send(ctx, b)
		switch status := statusOf(err); {
		case err == nil:
		case status == http.StatusBadRequest, status == http.StatusNotFound, status == http.StatusRequestEntityTooLarge, status == http.StatusUnsupportedMediaType:
			u.edge.metrics.dropped.Add(1)
			u.edge.warn("usage", "the upstream does not take a report of usage, so it is dropped", err)
		default:
			u.edge.warn("usage", "the upstream did not take a report of usage; Edge sends it again later", err)
			return
		}
		u.mu.Lock()
		if len(u.queue) > 0 && u.queue[0] == b {
			u.drop()
		}
		u.mu.Unlock()
	}
}

// drop removes the oldest batch. The caller holds the lock.
func (u *usageSums) drop() {
	u.queued -= len(u.queue[0].body)
	u.queue = u.queue[1:]
}

// send sends a batch.
func (u *usageSums) send(ctx context.Context, b *batch) error {
	return u.edge.client.any(u.pauses, u.edge.config.MetricsInterval, func(upstream string) error {
		if isPublication(upstream) {
			return errNotThere
		}
		_, err := u.edge.client.send(ctx, http.MethodPost, upstream+"/api/client/metrics/bulk", b.token, http.Header{"Guidon-Batch": {b.id}}, b.body, maxReply)
		return err
	})
}

// cut makes batches of what was reported.
func (u *usageSums) cut() {
	u.mu.Lock()
	defer u.mu.Unlock()
	builders := map[string]*batchBuilder{}
	of := func(token string) *batchBuilder {
		if builders[token] == nil {
			builders[token] = &batchBuilder{token: token}
			builders[token].reset()
		}
		return builders[token]
	}
	for key, a := range u.instances {
		of(key.token).add(key.application, a, nil)
	}
	for key, m := range u.counts {
		of(key.token).add(key.application, nil, m)
	}
	u.reset()
	for _, b := range builders {
		for _, made := range b.finish() {
			u.queue = append(u.queue, made)
			u.queued += len(made.body)
		}
	}
	for u.queued > maxQueueBytes {
		u.edge.metrics.dropped.Add(1)
		u.drop()
	}
}

// A batchBuilder divides what is reported with a token into batches that upstreams take.
type batchBuilder struct {
	token string
	body  bulkBody
	names map[string]bool
	size  int
	made  []*batch
}

func (b *batchBuilder) reset() {
	b.body = bulkBody{Applications: []*bulkApplication{}, Metrics: []*bulkMetric{}}
	b.names, b.size = map[string]bool{}, 0
}

func (b *batchBuilder) add(name string, a *bulkApplication, m *bulkMetric) {
	size := jsonSize(a)
	if a == nil {
		size = jsonSize(m)
	}
	if b.size+size > maxBatchBytes || !b.names[name] && len(b.names) >= usage.MaxPostApplications ||
		len(b.body.Applications) >= usage.MaxPostInstances || len(b.body.Metrics) >= usage.MaxCounts {
		b.close()
	}
	b.size += size
	b.names[name] = true
	if a != nil {
		b.body.Applications = append(b.body.Applications, a)
	} else {
		b.body.Metrics = append(b.body.Metrics, m)
	}
}

func jsonSize(value any) int {
	text, err := json.Marshal(value)
	if err != nil {
		return 0 // it is left out below
	}
	return len(text) + 1
}

func (b *batchBuilder) close() {
	if len(b.names) > 0 {
		if text, err := json.Marshal(b.body); err == nil { // the texts came from JSON
			b.made = append(b.made, &batch{id: uuid.NewString(), token: b.token, body: text})
		}
	}
	b.reset()
}

func (b *batchBuilder) finish() []*batch {
	b.close()
	return slices.Clip(b.made)
}

// waiting returns how many batches the upstream has not taken yet, with the one that is still added up.
func (u *usageSums) waiting() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.queue) + min(len(u.counts)+len(u.instances), 1)
}
