package linear

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"guidon/pkg/dynamo/dynamotest"
)

// A segment is the state of a segment.
type segment struct {
	owner   string // the project that it belongs to; "" for all
	value   string // in its constraint
	deleted bool
}

func (s segment) shown(v view) string {
	if s.deleted || v.evaluated || v.project != "" && s.owner != "" && s.owner != v.project {
		return ""
	}
	return s.value
}

func (s segment) body(name string) string {
	owner := "null"
	if s.owner != "" {
		owner = `"` + s.owner + `"`
	}
	return fmt.Sprintf(`{"name":%q,"project":%s,"constraints":[{"contextName":"userId","operator":"IN","values":[%q]}]}`, name, owner, s.value)
}

// createSegment creates a segment and returns its id; 0 if the history ends before.
func (h *history) createSegment(name string, s segment) (*register, int64) {
	r := h.register(name, aSegment, segment{deleted: true})
	at := r.begin(s, h.now)
	if !h.settle("POST", "/api/admin/segments", s.body(name)) {
		return r, 0
	}
	r.end(at, h.now)
	for h.goesOn() {
		status, body := h.call("GET", "/api/admin/segments", "", longTimeout)
		if status != http.StatusOK {
			continue
		}
		var all struct {
			Segments []struct {
				ID   int64
				Name string
			}
		}
		if err := json.Unmarshal([]byte(body), &all); err != nil {
			h.problem("%s: %v", body, err)
			return r, 0
		}
		for _, s := range all.Segments {
			if s.Name == name {
				return r, s.ID
			}
		}
		h.problem("segment %s is not listed: %s", name, body)
		return r, 0
	}
	return r, 0
}

// changeSegments gives values to a segment that flags use, and creates, assigns and deletes others.
func (h *history) changeSegments(used *register) {
	random := rand.New(rand.NewPCG(h.seed, 77))
	path := func(id int64) string { return fmt.Sprintf("/api/admin/segments/%d", id) }
	set := func(r *register, id int64, s segment) bool {
		at := r.begin(s, h.now)
		method, body := "PUT", s.body(r.name)
		if s.deleted {
			method, body = "DELETE", ""
		}
		if !h.settle(method, path(id), body) {
			return false
		}
		r.end(at, h.now)
		h.acked.Add(1)
		return true
	}
	value := 0
	next := func() string { value++; return fmt.Sprint(value) }
	for n := 0; h.goesOn(); n++ {
		if !set(used, h.usedSegment, segment{value: next()}) {
			return
		}
		other, id := h.createSegment(fmt.Sprintf("segment-%d", n), segment{value: next()})
		if id == 0 {
			return
		}
		for range 1 + random.IntN(4) {
			if !set(other, id, segment{owner: []string{"", "default", "shop"}[random.IntN(3)], value: next()}) {
				return
			}
		}
		if n%3 != 2 && !set(other, id, segment{deleted: true}) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// refer lets a flag use segments and depend on flags that were created just before, and are removed just after. No answer may
// have the flag without them, see client.checkReferences.
func (h *history) refer(r *register, strategy string) {
	const path = "/api/admin/projects/default/features"
	is := flag{project: "default", group: "0"}
	set := func(method, path, body string) bool {
		at := r.begin(is, h.now)
		if !h.settle(method, path, body) {
			return false
		}
		r.end(at, h.now)
		h.acked.Add(1)
		return true
	}
	use := func(id int64) bool {
		segments := ""
		if is.segment = id; id != 0 {
			segments = fmt.Sprint(id)
		}
		return set("PUT", path+"/refers/environments/development/strategies/"+strategy,
			fmt.Sprintf(`{"name":"flexibleRollout","parameters":{"groupId":"0"},"segments":[%s]}`, segments))
	}
	depend := func(method, parent, body string) bool {
		is.parent = method == "POST"
		return set(method, path+"/refers/dependencies"+parent, body)
	}
	for n := 0; h.goesOn(); n++ {
		parent := fmt.Sprintf("parent-%d", n)
		_, id := h.createSegment("of-"+parent, segment{value: "0"})
		ok := id != 0 && use(id) &&
			h.settle("POST", path, fmt.Sprintf(`{"name":%q}`, parent)) &&
			depend("POST", "", fmt.Sprintf(`{"feature":%q}`, parent)) && depend("DELETE", "/"+parent, "") &&
			h.settle("DELETE", path+"/"+parent, "") && use(0)
		if !ok {
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// gate changes a segment, and then a flag to the same number. No answer may have the flag without the segment as it was before, see
// client.checkOrder: otherwise a flag could be on with a segment that was restricted before.
func (h *history) gate(r *register) {
	s, id := h.createSegment("gate", segment{value: "0"})
	for n := 1; id != 0 && h.goesOn(); n++ {
		value := fmt.Sprint(n)
		after := segment{value: value}
		at := s.begin(after, h.now)
		if !h.settle("PUT", fmt.Sprintf("/api/admin/segments/%d", id), after.body(s.name)) {
			return
		}
		s.end(at, h.now)
		at = r.begin(flag{project: "default", group: "0", description: value}, h.now)
		if !h.settle("PATCH", "/api/admin/projects/default/features/gate", fmt.Sprintf(`[{"op":"replace","path":"/description","value":%q}]`, value)) {
			return
		}
		r.end(at, h.now)
		h.acked.Add(2)
		time.Sleep(30 * time.Millisecond)
	}
}

// detach removes the environment from a project of its own and adds it again, with a flag that is switched on in between.
func (h *history) detach(r *register) {
	const project = "/api/admin/projects/attic"
	is := flag{project: "attic", group: "0"}
	feature := project + "/features/" + r.name
	for n := 1; h.goesOn(); n++ {
		description := fmt.Sprint(n)
		for _, c := range []change{
			{"PATCH", feature, fmt.Sprintf(`[{"op":"replace","path":"/description","value":%q}]`, description), flag{}},
			{"POST", feature + "/environments/development/on", "", flag{on: true}},
			{"DELETE", project + "/environments/development", "", flag{detached: true}},
			{"POST", project + "/environments", `{"environment":"development"}`, flag{}},
		} {
			is.description, is.on, is.detached = description, c.after.on, c.after.detached
			at := r.begin(is, h.now)
			if !h.settle(c.method, c.path, c.body) {
				return
			}
			r.end(at, h.now)
			h.acked.Add(1)
			time.Sleep(15 * time.Millisecond)
		}
	}
}

// switchMany changes several flags with each request.
func (h *history) switchMany(registers []*register) {
	const project = "/api/admin/projects/default"
	var names []string
	for _, r := range registers {
		names = append(names, r.name)
	}
	list, err := json.Marshal(names)
	if err != nil {
		panic(err)
	}
	is := flag{project: "default", group: "0"}
	for h.goesOn() {
		for _, c := range []change{
			{"POST", project + "/bulk_features/environments/development/on", fmt.Sprintf(`{"features":%s}`, list), flag{on: true}},
			{"POST", project + "/stale", fmt.Sprintf(`{"features":%s,"stale":true}`, list), flag{on: true, stale: true}},
			{"POST", project + "/bulk_features/environments/development/off", fmt.Sprintf(`{"features":%s}`, list), flag{stale: true}},
			{"POST", project + "/stale", fmt.Sprintf(`{"features":%s,"stale":false}`, list), flag{}},
		} {
			is.on, is.stale = c.after.on, c.after.stale
			at := make([]int, len(registers))
			for i, r := range registers {
				at[i] = r.begin(is, h.now)
			}
			if !h.settle(c.method, c.path, c.body) {
				return
			}
			for i, r := range registers {
				r.end(at[i], h.now)
				h.acked.Add(1)
			}
			time.Sleep(30 * time.Millisecond)
		}
	}
}

// share gives unique descriptions to flags that several writers change at once. Some requests have little time, so that their
// effect stays unknown.
func (h *history) share(writer int, registers []*register) {
	random := rand.New(rand.NewPCG(h.seed, uint64(1000+writer)))
	for n := 0; h.goesOn(); n++ {
		r := registers[random.IntN(len(registers))]
		value := fmt.Sprintf("%d-%d", writer, n)
		timeout := longTimeout
		if random.IntN(8) == 0 {
			timeout = shortTimeout
		}
		at := r.begin(flag{project: "default", group: "0", description: value}, h.now)
		status, body := h.call("PATCH", "/api/admin/projects/default/features/"+r.name,
			fmt.Sprintf(`[{"op":"replace","path":"/description","value":%q}]`, value), timeout)
		switch {
		case status < 300:
			r.end(at, h.now)
			h.acked.Add(1)
		case status == http.StatusServiceUnavailable && strings.Contains(body, "may or may not"):
			h.unknown.Add(1)
		case status == http.StatusServiceUnavailable, status == http.StatusConflict && strings.Contains(body, "at the same time"):
			r.refuse(at)
		default:
			h.problem("a description: %d %s", status, body)
		}
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
	}
}

// replaceTokens creates tokens and deletes them. A token works on every instance as soon as its creation is acknowledged, and
// nowhere after its deletion is.
func (h *history) replaceTokens() {
	for n := 0; h.goesOn(); n++ {
		status, body := h.call("POST", "/api/admin/api-tokens",
			fmt.Sprintf(`{"tokenName":"token-%d","type":"client","environment":"development","projects":["*"]}`, n), longTimeout)
		var created struct{ Secret string }
		if status != http.StatusCreated || json.Unmarshal([]byte(body), &created) != nil {
			continue // it may exist, but its secret is not known
		}
		var mu sync.Mutex
		deleting, deleted := unknown, unknown
		ask := func(i *instance) {
			began := h.now()
			mu.Lock()
			gone := deleted
			mu.Unlock()
			p := i.process()
			a := i.get(h.t.Context(), "/api/client/features?namePrefix=none", created.Secret, spec, "")
			mu.Lock()
			mayBeGone := deleting
			mu.Unlock()
			switch {
			case a.status == http.StatusOK && gone < began:
				h.problem("instance %v answered at %v to a token whose deletion was acknowledged at %v", p, began, gone)
			case (a.status == http.StatusUnauthorized || a.status == http.StatusForbidden) && mayBeGone == unknown:
				h.problem("instance %v refused at %v a token that was created before: %d %s", p, began, a.status, a.body)
			case a.status == http.StatusOK:
				h.tokenPolls[0].Add(1)
			case a.status == http.StatusUnauthorized:
				h.tokenPolls[1].Add(1)
			}
		}
		var asking sync.WaitGroup
		halt := make(chan struct{})
		for _, i := range h.instances {
			asking.Go(func() {
				for {
					ask(i)
					select {
					case <-halt:
						ask(i)
						return
					case <-time.After(5 * time.Millisecond):
					}
				}
			})
		}
		time.Sleep(50 * time.Millisecond)
		mu.Lock()
		deleting = h.now()
		mu.Unlock()
		if h.settle("DELETE", "/api/admin/api-tokens/"+created.Secret, "") {
			mu.Lock()
			deleted = h.now()
			mu.Unlock()
		}
		time.Sleep(20 * time.Millisecond)
		close(halt)
		asking.Wait()
	}
}

// createToken creates a token of a type that sees one project, or all for "*".
func (h *history) createToken(kind, project string) string {
	h.t.Helper()
	var created struct{ Secret string }
	body := h.post("/api/admin/api-tokens", fmt.Sprintf(`{"tokenName":"%[2]s of %[1]s","type":%[2]q,"environment":"development","projects":[%[1]q]}`, project, kind))
	if err := json.Unmarshal([]byte(body), &created); err != nil {
		h.t.Fatal(err)
	}
	return created.Secret
}

// tokenOf returns the token that gives a client its view.
func (h *history) tokenOf(v view) string {
	switch {
	case v.evaluated:
		return h.frontend
	case v.project == "":
		return h.everything
	case v.project == "shop":
		return h.shop
	}
	return dynamotest.ClientToken
}
