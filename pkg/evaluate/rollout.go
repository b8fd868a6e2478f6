package evaluate

import "strconv"

// A rollout matches a percentage of users.
type rollout struct {
	percentage float64
	group      string
	stickiness stickiness
}

// newRollout compiles flexibleRollout and gradualRolloutRandom.
func newRollout(percentage, group string, sticky stickiness) rule {
	n, err := strconv.ParseFloat(percentage, 64)
	if err != nil {
		return invalid{}
	}
	return rollout{n, group, sticky}
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
		return float64(bucket(r.group, id, rolloutSeed, percent)) <= r.percentage
	}
	if r.stickiness.kind == fieldStickiness {
		return false
	}
	return float64(c.random(percent)+1) <= r.percentage
}
