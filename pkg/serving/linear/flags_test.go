package linear

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"guidon/pkg/dynamo/dynamotest"
)

// A flag is the state of a flag, as far as the tests change it.
type flag struct {
	project     string
	archived    bool
	detached    bool // whether its project does not have the environment
	on          bool
	stale       bool
	tagged      bool
	description string
	group       string // a parameter of its strategy
	payload     string // of its variant; "" for no variant
	segment     int64  // that its strategy uses; 0 for none
	parent      bool   // whether it depends on the flag "parent"
}

func (f flag) shown(v view) string {
	if f.archived || v.project != "" && v.project != f.project || v.tagged && !f.tagged {
		return ""
	}
	if f.detached {
		f.on, f.group, f.payload, f.segment = false, "", "", 0
	}
	if v.evaluated { // by a user who is in no segment; the flag "parent" is off
		if !f.on || f.segment != 0 || f.parent {
			return ""
		}
		return "on " + f.payload
	}
	return fmt.Sprintf("%s on=%t stale=%t %q group=%s payload=%s segment=%d parent=%t",
		f.project, f.on, f.stale, f.description, f.group, f.payload, f.segment, f.parent)
}

// A change is a request that can be repeated: it says what is to be, not what is to be done. So it is sent until it is acknowledged.
type change struct {
	method, path, body string
	after              flag
}

// call sends a request to the administration, and returns the response. Every operation that this package uses has an answer
// within the time of a function.
func (h *history) call(method, path, body string, timeout time.Duration) (status int, answer string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.t.Context()), time.Second+timeout)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Authorization", dynamotest.AdminToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	h.admin.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// post sends a POST that must succeed.
func (h *history) post(path, body string) string {
	h.t.Helper()
	status, answer := h.call("POST", path, body, longTimeout)
	if status >= 300 {
		h.t.Fatalf("POST %s %s: %d %s", path, body, status, answer)
	}
	return answer
}

const (
	longTimeout  = 20 * time.Second
	shortTimeout = 25 * time.Millisecond
)

// settle sends a request until it is acknowledged; false if the history ends before.
//
// After an answer that leaves the effect open, it waits: the transaction may still be applied. Without this, a repeated
// request could find the flag as it wants it, and be acknowledged before the feed has the entry.
func (h *history) settle(method, path, body string) bool {
	for attempt := 1; h.goesOn(); attempt++ {
		status, answer := h.call(method, path, body, longTimeout)
		switch {
		case status < 300:
			return true
		case status == http.StatusServiceUnavailable:
			time.Sleep(100 * time.Millisecond)
		case attempt > 1 && (status == http.StatusNotFound || status == http.StatusConflict):
			return true // an earlier attempt was applied
		case status == http.StatusConflict && strings.Contains(answer, "at the same time"):
		default:
			h.problem("%s %s %s: %d %s", method, path, body, status, answer)
			return false
		}
	}
	return false
}

// longName makes names long, so that the entries of the feed fill its lists soon.
func longName(name string) string { return name + strings.Repeat("-", 90) }

// createFlag creates a flag that is off, with a strategy, in a project, and returns its register and the path of its strategy.
func (h *history) createFlag(name, project string) (r *register, strategy string) {
	h.t.Helper()
	path := "/api/admin/projects/" + project + "/features"
	h.post(path, fmt.Sprintf(`{"name":%q}`, name))
	var created struct{ ID string }
	body := h.post(path+"/"+name+"/environments/development/strategies", `{"name":"flexibleRollout","parameters":{"groupId":"0"}}`)
	if err := json.Unmarshal([]byte(body), &created); err != nil {
		h.t.Fatal(err)
	}
	return h.register(name, aFlag, flag{project: project, group: "0"}), created.ID
}

// A flagWriter changes one flag.
type flagWriter struct {
	*history
	register *register
	strategy string // its ID
	is       flag
	random   *rand.Rand
	values   int
	projects []string // that it moves to
}

// takeTurns changes the flags of some writers until the history ends. Every second change of a flag is one of the description, with
// a new value. So no two states are the same, except those in which clients see nothing.
func takeTurns(writers []*flagWriter) {
	for turn := 0; ; turn++ {
		for _, w := range writers {
			if !w.goesOn() || !w.next(turn) {
				return
			}
			time.Sleep(time.Duration(w.random.IntN(10)) * time.Millisecond)
		}
	}
}

// next makes a change; false if it could not be settled.
func (w *flagWriter) next(turn int) bool {
	w.values++
	changes := w.changes(fmt.Sprint(w.values))
	c := changes[0]
	if turn%2 == 1 || w.is.archived {
		c = changes[1+w.random.IntN(len(changes)-1)]
	}
	at := w.register.begin(c.after, w.now)
	if !w.settle(c.method, c.path, c.body) {
		return false
	}
	w.register.end(at, w.now)
	w.is = c.after
	w.acked.Add(1)
	return true
}

// changes lists what the writer can do. The first one gives the description a value.
func (w *flagWriter) changes(value string) []change {
	is, name := w.is, w.register.name
	path := "/api/admin/projects/" + is.project + "/features/" + name
	if is.archived {
		after := is
		after.archived, after.on = false, false
		revive := change{"POST", "/api/admin/archive/revive/" + name, "", after}
		return []change{revive, revive}
	}
	environment := path + "/environments/development"
	var list []change
	add := func(method, path, body string, set func(*flag)) {
		after := is
		set(&after)
		list = append(list, change{method, path, body, after})
	}
	add("PATCH", path, fmt.Sprintf(`[{"op":"replace","path":"/description","value":%q}]`, value), func(f *flag) { f.description = value })
	for range 3 { // the most frequent
		if is.on {
			add("POST", environment+"/off", "", func(f *flag) { f.on = false })
		} else {
			add("POST", environment+"/on", "", func(f *flag) { f.on = true })
		}
	}
	segments, segment := "", w.usedSegment-is.segment
	if segment != 0 {
		segments = fmt.Sprint(segment)
	}
	add("PUT", environment+"/strategies/"+w.strategy, fmt.Sprintf(`{"name":"flexibleRollout","parameters":{"groupId":%q},"segments":[%s]}`, value, segments),
		func(f *flag) { f.group, f.segment = value, segment })
	add("PUT", environment+"/variants", fmt.Sprintf(
		`[{"name":"a","weight":1000,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":%q}}]`, value),
		func(f *flag) { f.payload = value })
	add("PATCH", path, fmt.Sprintf(`[{"op":"replace","path":"/stale","value":%t}]`, !is.stale), func(f *flag) { f.stale = !is.stale })
	tags := "/api/admin/features/" + name + "/tags"
	if is.tagged {
		add("DELETE", tags+"/simple/beta", "", func(f *flag) { f.tagged = false })
	} else {
		add("POST", tags, `{"type":"simple","value":"beta"}`, func(f *flag) { f.tagged = true })
	}
	add("DELETE", path, "", func(f *flag) { f.archived, f.parent = true, false })
	switch {
	case is.parent:
		add("DELETE", path+"/dependencies/parent", "", func(f *flag) { f.parent = false })
	default:
		for _, to := range w.projects {
			if to != is.project {
				add("POST", path+"/changeProject", fmt.Sprintf(`{"newProjectId":%q}`, to), func(f *flag) { f.project = to })
			}
		}
		if is.project == "default" {
			add("POST", path+"/dependencies", `{"feature":"parent"}`, func(f *flag) { f.parent = true })
		}
	}
	return list
}
