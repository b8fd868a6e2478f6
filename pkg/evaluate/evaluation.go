package evaluate

// MaxWork bounds the work of an Evaluation that long values of its context and regular expressions cause, in bytes that are compared:
// about 50 ms. Values of up to FreeLength bytes only count for regular expressions. A step of one of these takes as long as regexStep bytes,
// so 2,000 ordinary ones on an email address are not too much.
const (
	MaxWork    = 200_000_000
	FreeLength = 256
	regexStep  = 40
)

// An Evaluation evaluates flags for one context. It remembers what flags have in common: the results of segments, and values in lower
// case. It must not be used by several goroutines at once.
type Evaluation struct {
	set     *Set
	context Context
}

type memory struct {
	segments map[int64]Outcome
	lower    map[string]string
	work     int
}

// For returns an evaluation for a context, which must not be changed while the evaluation is in use.
func (s *Set) For(c *Context) *Evaluation {
	e := &Evaluation{s, *c}
	e.context.memory = &memory{segments: map[int64]Outcome{}, lower: map[string]string{}}
	return e
}

// Evaluate evaluates a flag. A flag that does not exist is off. Results are meaningless if Exhausted is true afterwards.
func (e *Evaluation) Evaluate(name string) Result { return e.set.Evaluate(name, &e.context) }

// Trace evaluates a flag as Set.Trace does.
func (e *Evaluation) Trace(name string) Trace { return e.set.Trace(name, &e.context) }

// Exhausted reports whether the evaluation took more than MaxWork. It does not compare anything from then on.
func (e *Evaluation) Exhausted() bool { return e.context.exhausted() }

// Work returns the work that was done, in the unit of MaxWork.
func (e *Evaluation) Work() int { return e.context.memory.work }

func (c *Context) exhausted() bool { return c.memory != nil && c.memory.work > MaxWork }

// charge counts that a value of that many bytes is read some times.
func (c *Context) charge(length, times int) {
	if c.memory != nil && length > FreeLength {
		c.memory.work += length * times
	}
}

// lower returns a value in lower case.
func (c *Context) lower(value string) string {
	if c.memory == nil || len(value) <= FreeLength {
		return lower(value)
	}
	text, known := c.memory.lower[value]
	if !known {
		text = lower(value)
		c.memory.lower[value] = text
	}
	return text
}

// segment returns the outcome for the constraints of a segment.
func (c *Context) segment(constraints []constraint, id int64) Outcome {
	if c.memory == nil {
		return checkConstraints(constraints, id, c)
	}
	outcome, known := c.memory.segments[id]
	if !known {
		outcome = checkConstraints(constraints, id, c)
		c.memory.segments[id] = outcome
	}
	return outcome
}
