package evaluate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/murmur3"
)

// A strategy is a compiled strategy.
type strategy struct {
	disabled    bool
	rule        rule // nil for an unknown strategy
	segments    []int64
	constraints []constraint
	variants    *variants
}

// A rule is what a strategy checks in addition to constraints and segments.
type rule interface {
	match(c *Context) bool
}

func compileStrategy(flag string, s Strategy) strategy {
	group, given := s.Parameters["groupId"]
	if !given {
		group = flag
	}
	return strategy{
		disabled:    s.Disabled,
		rule:        newRule(s, group),
		segments:    s.Segments,
		constraints: compileConstraints(s.Constraints),
		variants:    compileVariants(s.Variants, group, s.Parameters["stickiness"]),
	}
}

// check returns whether a strategy matches, and if not, why not. A missing segment comes before everything else, because
// it decides the flag.
func (s *Set) check(st *strategy, c *Context) Outcome {
	if st.disabled {
		return Outcome{Kind: StrategyDisabled}
	}
	if st.rule == nil {
		return Outcome{Kind: StrategyUnknown}
	}
	first := Outcome{Kind: Matched}
	for _, id := range st.segments {
		constraints, found := s.segments[id]
		if !found {
			return Outcome{Kind: SegmentMissing, Segment: id}
		}
		if first.Kind == Matched {
			first = c.segment(constraints, id)
		}
	}
	if first.Kind == Matched {
		first = checkConstraints(st.constraints, 0, c)
	}
	if first.Kind == Matched && !st.rule.match(c) {
		first.Kind = NotSelected
	}
	return first
}

// checkConstraints returns the outcome for constraints of a segment, or of a strategy if segment is 0.
func checkConstraints(constraints []constraint, segment int64, c *Context) Outcome {
	for i := range constraints {
		switch constraints[i].check(c) {
		case no:
			return Outcome{ConstraintUnsatisfied, segment, i}
		case unreadable:
			return Outcome{ConstraintUnreadable, segment, i}
		}
	}
	return Outcome{Kind: Matched}
}

// newRule returns nil if the strategy is unknown.
func newRule(s Strategy, group string) rule {
	if compile := strategies[s.Name]; compile != nil {
		return compile(s.Parameters, group)
	}
	return nil
}

// strategies are the strategies of the specification, with the functions that compile their parameters. The group is the parameter
// groupId, or the name of the flag if it is missing.
var strategies = map[string]func(parameters map[string]string, group string) rule{
	"default":             func(map[string]string, string) rule { return everyone{} },
	"userWithId":          func(p map[string]string, _ string) rule { return users{newValueSet(splitList(p["userIds"]))} },
	"remoteAddress":       func(p map[string]string, _ string) rule { return remoteAddresses{newAddresses(splitList(p["IPs"]))} },
	"applicationHostname": func(p map[string]string, _ string) rule { return hosts{newValueSet(splitList(lower(p["hostNames"])))} },
	"flexibleRollout": func(p map[string]string, group string) rule {
		sticky := newStickiness(p["stickiness"])
		if name, given := p["stickiness"]; given && name == "" {
			sticky = stickiness{kind: fieldStickiness} // the property without a name
		}
		return newRollout(p["rollout"], group, sticky)
	},
	"gradualRolloutUserId":    func(p map[string]string, _ string) rule { return newGradualRollout(p, "userId") },
	"gradualRolloutSessionId": func(p map[string]string, _ string) rule { return newGradualRollout(p, "sessionId") },
	"gradualRolloutRandom": func(p map[string]string, _ string) rule {
		return newRollout(p["percentage"], "", newStickiness("random"))
	},
}

// Strategies returns the names of the strategies that the evaluator implements, sorted. Any other strategy is off.
func Strategies() []string { return slices.Sorted(maps.Keys(strategies)) }

type everyone struct{}

func (everyone) match(*Context) bool { return true }

// invalid stands for a strategy whose parameters are invalid.
type invalid struct{}

func (invalid) match(*Context) bool { return false }

type users struct{ ids valueSet }

func (r users) match(c *Context) bool {
	id := field{kind: userIDField}.of(c)
	return id != "" && r.ids.has(id)
}

type remoteAddresses struct{ addresses *addresses }

func (r remoteAddresses) match(c *Context) bool {
	address, ok := parseAddress(c.RemoteAddress)
	return ok && r.addresses.has(address)
}

type hosts struct{ names valueSet }

func (r hosts) match(c *Context) bool {
	return c.Hostname != "" && len(c.Hostname) <= MaxValueLength && r.names.has(lower(c.Hostname))
}

// splitList splits a parameter with a comma-separated list and trims its items.
func splitList(parameter string) []string {
	items := strings.Split(parameter, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

// A rollout matches a percentage of users.
type rollout struct {
	percentage uint32
	group      string
	stickiness stickiness
}

// newRollout compiles flexibleRollout and gradualRolloutRandom. The percentage must be a whole number from 0 to 100.
func newRollout(percentage, group string, sticky stickiness) rule {
	n, err := strconv.ParseUint(strings.TrimPrefix(percentage, "+"), 10, 32)
	if err != nil || n > percent {
		return invalid{}
	}
	return rollout{uint32(n), group, sticky}
}

// newGradualRollout compiles one of the old strategies, which need a group.
func newGradualRollout(parameters map[string]string, contextName string) rule {
	group, given := parameters["groupId"]
	if !given {
		return invalid{}
	}
	return newRollout(parameters["percentage"], group, newStickiness(contextName))
}

const percent = 100

// match places a user in one of 100 buckets. A user without an ID gets a random one, unless a certain context field is
// required.
func (r rollout) match(c *Context) bool {
	id := r.stickiness.id(c)
	if id != "" {
		return bucket(r.group, id, rolloutSeed, percent) <= r.percentage
	}
	if r.stickiness.kind == fieldStickiness {
		return false
	}
	return c.random(percent)+1 <= r.percentage
}

// A user stays on the same side of a rollout, and keeps a variant, because both are chosen by a hash of the user's ID. The
// stickiness says which context field is the ID. All SDKs use murmur3 with these seeds.
const (
	rolloutSeed uint32 = 0
	variantSeed uint32 = 86028157
)

// bucket places an ID in one of the buckets 1 to n. The murmur3 library is the one that Unleash's Go SDK uses. The buffer
// avoids an allocation unless group and ID are long.
func bucket(group, id string, seed, n uint32) uint32 {
	var buffer [128]byte
	text := append(append(append(buffer[:0], group...), ':'), id...)
	return murmur3.SeedSum32(seed, text)%n + 1
}

// A stickiness is a compiled stickiness parameter.
type stickiness struct {
	kind  stickinessKind
	field field
}

type stickinessKind uint8

const (
	defaultStickiness stickinessKind = iota // userId, else sessionId, else random
	randomStickiness
	fieldStickiness
)

func newStickiness(name string) stickiness {
	switch name {
	case "", "default":
		return stickiness{kind: defaultStickiness}
	case "random":
		return stickiness{kind: randomStickiness}
	}
	return stickiness{fieldStickiness, newField(name)}
}

// id returns the ID of the user, or "" if the context has none or the choice is random.
func (s stickiness) id(c *Context) string {
	switch s.kind {
	case randomStickiness:
		return ""
	case fieldStickiness:
		return s.field.of(c)
	}
	if id := (field{kind: userIDField}).of(c); id != "" {
		return id
	}
	return field{kind: sessionIDField}.of(c)
}
