package evaluate_test

import (
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"

	"guidon/pkg/evaluate"
)

// A generator makes random flags and contexts from small pools of values, so that constraints are satisfied as often as
// not. It avoids what the Go SDK does differently: docs/reference/sdk-behavior.md has the
// list.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 0))} }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

// several returns a list of 0 to most items.
func several[T any](g generator, most int, item func() T) []T {
	list := make([]T, g.IntN(most+1))
	for i := range list {
		list[i] = item()
	}
	return list
}

// Pools. Each kind of value has invalid ones, and "" is absent.
var (
	fieldNames = []string{"userId", "sessionId", "remoteAddress", "environment", "appName", "currentTime", "country", "plan", "n", "v", "d", "unknown"}
	texts      = []string{"", "a", "b", "ab", "AB", "Ab", "abc", "ä", "Ä", "İ", "ß", "1", "de", "at", "prod", "dev", "x@example.com", "日本", " a"}
	userIDs    = []string{"", "1", "2", "7", "12", "155", "user", "user-4711", "ünï", "a,b", " 1"}
	ips        = []string{"", "127.0.0.1", "10.0.0.1", "10.1.2.3", "192.168.0.1", "::1", "2001:db8::1",
		"fe80::1%eth0", "10.0.0", "010.0.0.1", "nonsense", "256.1.1.1", "::"}
	networks = []string{"10.0.0.0/8", "10.0.0.5/24", "192.168.0.0/16", "2001:db8::/32", "::/0", "0.0.0.0/0", "10.0.0.0/33",
		"10.0.0.0/-1", "fe80::%eth0/64", "/8"}
	numbers = []string{"", "0", "-0", "1", "1.0", "01", "+1", "12", "12.5", "1e1", "10", "-3", ".5", "5.", "0.1", "0.10",
		"9007199254740992", "1234567890123456789", "1e300", "-1e300", "1e-10",
		"abc", "1 ", "1e", "--1", "1,5", "0x10", "1_000", ".", "e5"}
	versions = []string{"", "1.2.3", "1.2.4", "1.10.0", "2.0.0", "2.0.0-alpha", "2.0.0-alpha.1", "2.0.0-alpha.2", "2.0.0-alpha.10", "2.0.0-beta", "2.0.0-rc.1",
		"2.0.0-1", "2.0.0-a-b", "2.0.0+build", "2.0.0-alpha+build.007", "v1.2.3", "1.2", "1", "1.2.3.4", "01.2.3", "1.2.3-01", "1.2.3-", "1.2.3+", "1.2.x",
		"18446744073709551615.0.0", "18446744073709551616.0.0", "not a version", "1.2.3-ä", " 1.2.3", "1.2.3-a..b"}
	dates = []string{"", "2022-01-29T13:00:00.000Z", "2022-01-29T13:00:00Z", "2022-01-29T14:00:00+01:00", "2022-01-29T13:00:00.001Z", "2030-01-01T00:00:00Z",
		"1970-01-01T00:00:00Z", "2022-02-30T00:00:00Z", "yesterday", "1643461200", "29.01.2022"}
	groups      = []string{"", "g", "AB12A", "group", "Größe"}
	stickinesss = []string{"", "default", "userId", "sessionId", "country", "unknown", "random"}
	percentages = []string{"0", "1", "25", "50", "99", "100", "", "abc", "-1", "050", "+50"}
)

func (g generator) context() evaluate.Context {
	c := evaluate.Context{
		UserID: g.oftenAbsent(userIDs), SessionID: g.oftenAbsent(userIDs), RemoteAddress: pick(g, ips),
		Environment: pick(g, texts), AppName: pick(g, texts), CurrentTime: pick(g, dates),
	}
	c.Properties = map[string]string{"number": pick(g, numbers[1:10]), "version": pick(g, versions[1:10]), "date": pick(g, dates[1:6]), "d": pick(g, dates[1:])}
	if g.chance(90) {
		maps.Copy(c.Properties, map[string]string{"country": pick(g, texts), "plan": pick(g, texts), "n": pick(g, numbers), "v": pick(g, versions)})
	}
	return c
}

func (g generator) oftenAbsent(list []string) string {
	if g.chance(30) {
		return ""
	}
	return pick(g, list)
}

func (g generator) constraint() evaluate.Constraint {
	c := evaluate.Constraint{ContextName: pick(g, fieldNames), CaseInsensitive: g.chance(30), Inverted: g.chance(30)}
	switch g.IntN(8) {
	case 0, 1, 2:
		c.Operator = pick(g, []string{"IN", "NOT_IN"})
		c.Values = several(g, 20, func() string { return pick(g, append(texts[1:], userIDs[1:]...)) })
	case 3, 4:
		c.Operator = pick(g, []string{"STR_CONTAINS", "STR_STARTS_WITH", "STR_ENDS_WITH"})
		c.Values = several(g, 3, func() string { return pick(g, texts[1:]) })
	case 5:
		c.Operator = pick(g, []string{"NUM_EQ", "NUM_GT", "NUM_GTE", "NUM_LT", "NUM_LTE"})
		c.ContextName, c.Value = g.mostly("n", c.ContextName), pick(g, numbers)
	case 6:
		c.Operator = pick(g, []string{"SEMVER_EQ", "SEMVER_GT", "SEMVER_LT"})
		c.ContextName, c.Value = g.mostly("v", c.ContextName), pick(g, versions)
	case 7:
		c.Operator = pick(g, []string{"DATE_AFTER", "DATE_BEFORE", "DATE_AFTER", "UNKNOWN", ""})
		c.ContextName, c.Value = pick(g, []string{"d", "date", "currentTime"}), pick(g, dates)
	}
	if c.Inverted && c.Values == nil { // the Go SDK does not invert the comparison with a value that it cannot read
		switch {
		case strings.HasPrefix(c.Operator, "NUM"):
			c.ContextName = "number"
		case strings.HasPrefix(c.Operator, "SEMVER"):
			c.ContextName = "version"
		case strings.HasPrefix(c.Operator, "DATE"):
			c.ContextName = "date"
		}
	}
	return c
}

func (g generator) mostly(usual, rare string) string {
	if g.chance(90) {
		return usual
	}
	return rare
}

func (g generator) strategy() evaluate.Strategy {
	s := evaluate.Strategy{Constraints: several(g, 2, g.constraint), Parameters: map[string]string{"groupId": pick(g, groups)}}
	for id := range int64(3) {
		if g.chance(15) {
			s.Segments = append(s.Segments, id+1)
		}
	}
	if g.chance(2) {
		s.Segments = append(s.Segments, 404) // does not exist
	}
	switch g.IntN(12) {
	case 0, 1, 2:
		s.Name = "default"
	case 3, 4, 5, 6:
		s.Name = "flexibleRollout"
		s.Parameters["rollout"], s.Parameters["stickiness"] = pick(g, percentages), pick(g, stickinesss[1:])
	case 7:
		s.Name = pick(g, []string{"gradualRolloutUserId", "gradualRolloutSessionId", "gradualRolloutRandom"})
		s.Parameters["percentage"] = pick(g, percentages)
	case 8:
		s.Name = "userWithId"
		s.Parameters["userIds"] = strings.Join(several(g, 12, func() string { return pick(g, userIDs[1:]) }), pick(g, []string{",", ", "}))
	case 9:
		s.Name = "remoteAddress"
		s.Parameters["IPs"] = strings.Join(several(g, 4, func() string { return pick(g, append(ips, networks...)) }), pick(g, []string{",", ", "}))
	case 10:
		s.Name = "applicationHostname"
		s.Parameters["hostNames"] = strings.Join(several(g, 3, func() string { return pick(g, []string{sdkHost, strings.ToUpper(sdkHost), "other"}) }), ",")
	case 11:
		s.Name = pick(g, []string{"custom", ""})
	}
	if g.chance(20) {
		s.Variants = g.variants(stickinesss[2:])
	}
	return s
}

// variants returns 0 to 4 variants whose weights are not all 0.
func (g generator) variants(stickiness []string) []evaluate.Variant {
	sticky := pick(g, stickiness)
	list := several(g, 4, func() evaluate.Variant {
		v := evaluate.Variant{Weight: pick(g, []int{0, 1, 33, 500, 1000}), Stickiness: sticky}
		if g.chance(50) {
			v.Payload = &evaluate.Payload{Type: "string", Value: pick(g, texts)}
		}
		if g.chance(20) {
			v.Overrides = []evaluate.Override{{ContextName: pick(g, []string{"userId", "country", "unknown"}), Values: several(g, 3, func() string { return pick(g, userIDs[1:]) })}}
		}
		return v
	})
	total := 0
	for i := range list {
		list[i].Name = "v" + strconv.Itoa(i)
		total += list[i].Weight
	}
	if len(list) > 0 && total == 0 {
		list[0].Weight = 1
	}
	return list
}

// flags returns n flags. The first ones can be parents of the others.
func (g generator) flags(n int) []evaluate.Flag {
	list := make([]evaluate.Flag, n)
	for i := range list {
		list[i] = evaluate.Flag{Name: "flag-" + strconv.Itoa(i), Enabled: g.chance(90), ImpressionData: g.chance(50), Strategies: several(g, 3, g.strategy)}
		if g.chance(40) {
			list[i].Variants = g.variants(stickinesss)
		}
		if i > 2 && g.chance(15) {
			list[i].Dependencies = several(g, 2, func() evaluate.Dependency { return g.dependency(list[:i]) })
		}
	}
	return list
}

func (g generator) dependency(flags []evaluate.Flag) evaluate.Dependency {
	parent := pick(g, flags)
	d := evaluate.Dependency{Feature: parent.Name}
	if g.chance(50) {
		enabled := g.chance(60)
		d.Enabled = &enabled
	}
	variants := len(parent.Strategies) > 0 // the Go SDK ignores the variants of a flag here
	for _, s := range parent.Strategies {
		variants = variants && len(s.Variants) > 0
	}
	if variants && g.chance(70) {
		d.Variants = several(g, 2, func() string { return pick(g, []string{"v0", "v1", "v9"}) })
	}
	return d
}

func (g generator) segments() []evaluate.Segment {
	var list []evaluate.Segment
	for id := range int64(3) {
		list = append(list, evaluate.Segment{ID: id + 1, Constraints: several(g, 2, g.constraint)})
	}
	return list
}
