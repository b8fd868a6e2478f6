package linear

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// spec is the version of the client specification that SDKs with segments send.
const spec = "5.2.0"

// What instances answer.
type (
	wireFlag struct {
		Name, Project, Description string
		Enabled, Stale             bool
		Strategies                 []struct {
			Parameters  map[string]string
			Segments    []int64
			Constraints []wireConstraint
		}
		Variants     []struct{ Payload struct{ Value string } }
		Dependencies []struct{ Feature string }
	}
	wireConstraint struct{ Values []string }
	wireSegment    struct {
		ID          int64
		Name        string
		Constraints []wireConstraint
	}
)

func (f wireFlag) shown() string {
	is := flag{project: f.Project, on: f.Enabled, stale: f.Stale, description: f.Description, parent: len(f.Dependencies) > 0}
	for _, s := range f.Strategies {
		is.group += s.Parameters["groupId"]
		for _, id := range s.Segments {
			is.segment += id
		}
	}
	for _, v := range f.Variants {
		is.payload += v.Payload.Value
	}
	return is.shown(view{})
}

func (s wireSegment) shown() string { return s.Constraints[0].Values[0] }

// A client is an SDK that reads from one instance or from all in turn, as behind a load balancer.
type client struct {
	*history
	name   string
	view   view
	from   []*instance
	random *rand.Rand

	etag     string
	answered bool              // the last poll has an answer: it was not a 503, and the process was not killed
	flags    map[string]string // what it has, as shown, by name
	segments map[string]string
}

func (h *history) client(name string, v view, from ...*instance) *client {
	h.clients++
	return &client{history: h, name: name, view: v, from: from, random: rand.New(rand.NewPCG(h.seed, uint64(h.clients)))}
}

func (c *client) pick() *instance { return c.from[c.random.IntN(len(c.from))] }

func (c *client) query() string {
	if c.view.tagged {
		return "?tag=simple:beta"
	}
	return ""
}

// work polls until the history ends.
func (c *client) work(poll func(i *instance)) {
	for c.goesOn() {
		poll(c.pick())
		time.Sleep(time.Duration(c.random.IntN(16)) * time.Millisecond)
	}
}

// untilAnswered repeats a poll that has no answer: the store still throttles the instances.
func (c *client) untilAnswered(poll func(i *instance), i *instance) {
	for range 20 {
		if poll(i); c.answered {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.problem("%s: instance %d answered none of 20 polls", c.name, i.number)
}

// poll reads all flags from an instance.
func (c *client) poll(i *instance) {
	is := reading{process: i.process(), view: c.view, how: c.name, began: c.now()}
	a := i.get(c.t.Context(), "/api/client/features"+c.query(), c.tokenOf(c.view), spec, c.etag)
	is.ended = c.now()
	if !c.count(a, is) {
		return
	}
	if a.status == http.StatusOK {
		var all struct {
			Features []wireFlag
			Segments []wireSegment
		}
		if err := json.Unmarshal(a.body, &all); err != nil {
			c.problem("%s: %v in %s", is, err, a.body)
			return
		}
		c.flags, c.segments = map[string]string{}, map[string]string{}
		for _, f := range all.Features {
			c.flags[f.Name] = f.shown()
		}
		for _, s := range all.Segments {
			c.segments[s.Name] = s.shown()
		}
		c.etag = a.etag
		c.checkReferences(is, all.Features, all.Segments)
		content, _, _ := bytes.Cut(a.body, []byte(`,"meta":`))
		c.etags.note(c, is, string(content), a.etag)
	}
	c.check(is)
}

// checkReferences checks that an answer has what its flags refer to.
func (c *client) checkReferences(is reading, features []wireFlag, segments []wireSegment) {
	if c.view != (view{}) {
		return
	}
	for _, f := range features {
		for _, d := range f.Dependencies {
			if _, ok := c.flags[d.Feature]; !ok {
				c.problem("%s has flag %s, but not its parent %s", is, f.Name, d.Feature)
			}
		}
		for _, s := range f.Strategies {
			for _, id := range s.Segments {
				if !slices.ContainsFunc(segments, func(s wireSegment) bool { return s.ID == id }) {
					c.problem("%s has flag %s, but not its segment %d", is, f.Name, id)
				}
			}
		}
	}
}

// count counts an answer, and reports whether the client has what it says.
func (c *client) count(a answer, is reading) bool {
	c.answered = a.status == http.StatusOK || a.status == http.StatusNotModified && c.etag != ""
	switch {
	case a.status == http.StatusOK:
		c.changed.Add(1)
	case c.answered:
		c.unchanged.Add(1)
	case a.status == 0:
		c.broken.Add(1) // the process was killed
	case a.status == http.StatusServiceUnavailable:
		c.unavailable.Add(1)
	default:
		c.problem("%s got %d %s", is, a.status, a.body)
	}
	return c.answered
}

// check compares what the client has with what a reading may show.
func (c *client) check(is reading) (right bool) {
	right = true
	for _, r := range c.all() {
		shown := c.flags[r.name]
		if r.kind == aSegment {
			shown = c.segments[r.name]
		}
		if wrong := r.check(is, shown, !c.isShared[r]); wrong != "" {
			c.problem("%s; %s", wrong, c.entriesOf(r.name))
			right = false
		}
		if c.isShared[r] && c.view == (view{}) {
			c.note(r, is, shown)
		}
	}
	return c.checkOrder(is) && right
}

// checkOrder checks that the client has no change without the one before, see history.gate.
func (c *client) checkOrder(is reading) bool {
	if c.view != (view{}) || c.flags["gate"] == "" {
		return true
	}
	flag, err1 := strconv.Atoi("0" + strings.Split(c.flags["gate"], `"`)[1])
	segment, err2 := strconv.Atoi("0" + c.segments["gate"])
	if err1 != nil || err2 != nil || flag > segment {
		c.problem("%s has change %d of the flag %q, but only change %d of the segment that was changed before", is, flag, "gate", segment)
		return false
	}
	return true
}

// pollInlined reads the flags as an SDK that knows no segments: strategies have the constraints of their segments.
func (c *client) pollInlined(i *instance) {
	is := reading{process: i.process(), view: c.view, how: c.name, began: c.now()}
	a := i.get(c.t.Context(), "/api/client/features?namePrefix=uses", c.tokenOf(c.view), "", c.etag)
	is.ended = c.now()
	if !c.count(a, is) {
		return
	}
	if a.status == http.StatusOK {
		var all struct{ Features []wireFlag }
		if err := json.Unmarshal(a.body, &all); err != nil || len(all.Features) != 1 {
			c.problem("%s: %v in %s", is, err, a.body)
			return
		}
		c.etag, c.segments = a.etag, map[string]string{"used": all.Features[0].Strategies[0].Constraints[0].Values[0]}
	}
	if wrong := c.used.check(is, c.segments["used"], false); wrong != "" {
		c.problem("%s", wrong)
	}
}

// evaluate reads which flags are on for a user.
func (c *client) evaluate(i *instance) {
	is := reading{process: i.process(), view: c.view, how: c.name, began: c.now()}
	a := i.get(c.t.Context(), "/api/frontend?userId=none", c.tokenOf(c.view), "", c.etag)
	is.ended = c.now()
	if !c.count(a, is) {
		return
	}
	if a.status == http.StatusOK {
		var all struct {
			Toggles []struct {
				Name    string
				Variant struct{ Payload struct{ Value string } }
			}
		}
		if err := json.Unmarshal(a.body, &all); err != nil {
			c.problem("%s: %v in %s", is, err, a.body)
			return
		}
		c.etag, c.flags = a.etag, map[string]string{}
		for _, f := range all.Toggles {
			c.flags[f.Name] = "on " + f.Variant.Payload.Value
		}
	}
	c.evaluations.Add(1)
	c.check(is)
}

// etags checks that the same content has the same ETag on all instances, and other content another one.
type etags struct {
	mu       sync.Mutex
	etags    map[string]string // by view and content
	contents map[string]string // by view and ETag
	several  int               // answers whose content had been answered by another instance before
	from     map[string]int    // the instance of the first answer, by view and content
}

func (e *etags) count() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return int64(e.several)
}

func (e *etags) note(c *client, is reading, content, etag string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.etags == nil {
		e.etags, e.contents, e.from = map[string]string{}, map[string]string{}, map[string]int{}
	}
	view := fmt.Sprint(c.view)
	if before, ok := e.etags[view+content]; ok && before != etag {
		c.problem("%s has the ETag %s, but the same content had %s before", is, etag, before)
	}
	if before, ok := e.contents[view+etag]; ok && before != content {
		c.problem("%s has the ETag %s of other content\n%s\nbefore:\n%s", is, etag, content, before)
	}
	if first, ok := e.from[view+content]; !ok {
		e.from[view+content] = is.process.instance
	} else if first != is.process.instance {
		e.several++
	}
	e.etags[view+content], e.contents[view+etag] = etag, content
}
