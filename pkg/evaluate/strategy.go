package evaluate

import "strings"

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
		rule:        newRule(s),
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
			first = checkConstraints(constraints, id, c)
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
func newRule(s Strategy) rule {
	switch s.Name {
	case "default":
		return everyone{}
	case "userWithId":
		return users{newValueSet(splitList(s.Parameters["userIds"]))}
	case "remoteAddress":
		return remoteAddresses{newAddresses(strings.Split(s.Parameters["IPs"], ","))}
	case "applicationHostname":
		return hosts{newValueSet(splitList(strings.ToLower(s.Parameters["hostNames"])))}
	case "flexibleRollout":
		return newRollout(s.Parameters["rollout"], s.Parameters["groupId"], newStickiness(s.Parameters["stickiness"]))
	case "gradualRolloutUserId":
		return newGradualRollout(s.Parameters, "userId")
	case "gradualRolloutSessionId":
		return newGradualRollout(s.Parameters, "sessionId")
	case "gradualRolloutRandom":
		return newRollout(s.Parameters["percentage"], "", newStickiness("random"))
	}
	return nil
}

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
	return c.Hostname != "" && len(c.Hostname) <= MaxValueLength && r.names.has(strings.ToLower(c.Hostname))
}
