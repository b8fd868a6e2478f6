package linear

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// A view is what a client asks for: everything, the flags of one project (by the scope of its token), those with a tag, or those
// that are on for a user.
type view struct {
	project   string
	tagged    bool
	evaluated bool
}

// A content is a state of something that clients read. shown returns what a client sees of it; "" for nothing.
type content interface{ shown(v view) string }

// A register is something that clients read, such as a flag, with all states that it was given, in the order of the requests.
type register struct {
	name string
	kind kind

	mu     sync.Mutex
	states []state
	marks  map[process][]mark // what was seen, by process
}

type kind int

const (
	aFlag kind = iota
	aSegment
)

// A state is one that a request gave to a register.
type state struct {
	content content
	called  time.Duration // since the start of the history, as all times
	acked   time.Duration // when the change was acknowledged; unknown if it was not
}

const unknown = time.Duration(math.MaxInt64)

// A process is one of the instances, from a start to its end.
type process struct{ instance, start int }

// A mark is the position of the state that a reading showed.
type mark struct {
	reading
	at    int
	shown string
}

// A reading is when a client read something, and how.
type reading struct {
	began, ended time.Duration
	process      process
	view         view
	how          string
}

// begin notes a change that is being requested, and returns its position.
func (r *register) begin(c content, now func() time.Duration) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states = append(r.states, state{c, now(), unknown})
	return len(r.states) - 1
}

// end notes that a change was acknowledged.
func (r *register) end(at int, now func() time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states[at].acked = now()
}

// check returns what is wrong with a reading that showed something; "" for nothing.
//
// The rule is: a reading shows a state that was requested before the reading ended, and that was not replaced when it began.
// A state is replaced as soon as a change that was requested after its acknowledgement is acknowledged. So
//
//   - no reading is late: it shows every change that was acknowledged before it began, or a later state;
//   - a reading that begins after another one ended goes back, on another instance, only over changes that were not acknowledged
//     when it began. A transaction is not applied to all items at the same moment, and a reader may see the flag before
//     the feed: that is why this is allowed.
//   - on the same process, it never goes back, not even over those. This holds for registers with one writer, whose states
//     have an order.
func (r *register) check(is reading, shown string, ordered bool) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	replaced := time.Duration(-1) // states that were acknowledged before are replaced
	for i := len(r.states) - 1; i >= 0; i-- {
		if r.states[i].acked < is.began {
			replaced = r.states[i].called
			break
		}
	}
	first, last := -1, -1 // several states can look the same
	for i := len(r.states) - 1; i >= 0; i-- {
		s := r.states[i]
		if s.called >= is.ended || s.content.shown(is.view) != shown {
			continue
		}
		if s.acked < replaced {
			if last < 0 {
				return r.late(is, i, replaced)
			}
			break
		}
		if first = i; last < 0 {
			last = i
		}
	}
	if last < 0 {
		return fmt.Sprintf("%s shows %s as %q, which was never written; the last states are%s", is, r.name, shown, r.newest(3, is.view))
	}
	if !ordered {
		return ""
	}
	highest := -1
	for _, m := range r.marks[is.process] {
		if m.ended < is.began {
			if last < m.at {
				return fmt.Sprintf("%s goes BACK: it shows %s as %q (state %d), but %s had shown %q (state %d); the states are%s",
					is, r.name, shown, last, m.reading, m.shown, m.at, r.newest(len(r.states)-last, is.view))
			}
		}
		highest = max(highest, m.at)
	}
	if first > highest {
		if r.marks == nil {
			r.marks = map[process][]mark{}
		}
		r.marks[is.process] = append(r.marks[is.process], mark{is, first, shown})
	}
	return ""
}

func (r *register) late(is reading, found int, replaced time.Duration) string {
	s := r.states[found]
	by := ""
	for i := found + 1; i < len(r.states); i++ {
		if r.states[i].called == replaced {
			by = fmt.Sprintf("state %d, %q, was requested at %v and acknowledged at %v", i, r.states[i].content.shown(is.view), r.states[i].called, r.states[i].acked)
		}
	}
	return fmt.Sprintf("%s is LATE: it shows %s as %q (state %d, acknowledged at %v), but %s",
		is, r.name, s.content.shown(is.view), found, s.acked, by)
}

func (r *register) newest(n int, v view) (text string) {
	for i := max(0, len(r.states)-n); i < len(r.states); i++ {
		text += fmt.Sprintf(" %d: %q (requested %v, acknowledged %v)", i, r.states[i].content.shown(v), r.states[i].called, r.states[i].acked)
	}
	return text
}

func (is reading) String() string {
	return fmt.Sprintf("%s of instance %d.%d from %v to %v", is.how, is.process.instance, is.process.start, is.began, is.ended)
}

// refuse notes that a change was refused: it has no effect.
func (r *register) refuse(at int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states[at].content = nothing{}
}

// nothing is a state that nothing ever had.
type nothing struct{}

func (nothing) shown(view) string { return "refused" }
