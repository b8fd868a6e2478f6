package evaluate

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A constraint is a compiled constraint.
type constraint struct {
	field    field
	inverted bool
	operand  operand // nil if the operator is unknown or its value cannot be parsed
}

// An operand is the value of a constraint with its operator.
type operand interface {
	// compare compares it with the value of a field of the context, which is "" if the context does not have the field.
	compare(value string, c *Context) answer
}

// An answer is the result of a comparison before inversion.
type answer uint8

const (
	no answer = iota
	yes
	unreadable // a value cannot be compared, such as "abc" with a number
)

func answerOf(match bool) answer {
	if match {
		return yes
	}
	return no
}

// check returns whether the context satisfies the constraint. A value of the context that cannot be compared does not satisfy it,
// unless it is inverted, as in Yggdrasil. An invalid constraint is never satisfied: a mistake must not turn a flag on.
func (c *constraint) check(ctx *Context) answer {
	if c.operand == nil || ctx.exhausted() {
		return unreadable
	}
	result := c.operand.compare(c.field.of(ctx), ctx)
	if c.inverted {
		return answerOf(result != yes)
	}
	return result
}

func compileConstraints(list []Constraint) []constraint {
	if len(list) == 0 {
		return nil
	}
	compiled := make([]constraint, len(list))
	for i, c := range list {
		compiled[i] = constraint{newField(c.ContextName), c.Inverted, newOperand(c)}
	}
	return compiled
}

// newOperand returns nil for what can never be satisfied.
func newOperand(c Constraint) operand {
	if compile := operators[c.Operator]; compile != nil {
		return compile(c)
	}
	return nil
}

// operators are the operators of the specification, with the functions that compile a constraint. These return nil for a value
// that cannot be parsed.
var operators = map[string]func(Constraint) operand{
	"IN":              func(c Constraint) operand { return inOperand{newValueSet(c.Values), false} },
	"NOT_IN":          func(c Constraint) operand { return inOperand{newValueSet(c.Values), true} },
	"STR_CONTAINS":    func(c Constraint) operand { return newTextOperand(strings.Contains, c) },
	"STR_STARTS_WITH": func(c Constraint) operand { return newTextOperand(strings.HasPrefix, c) },
	"STR_ENDS_WITH":   func(c Constraint) operand { return newTextOperand(strings.HasSuffix, c) },
	"REGEX":           newRegexOperand,
	"IN_CIDR":         func(c Constraint) operand { return addressOperand{newAddresses(c.Values)} },
	"NUM_EQ":          ordered(nearlyEqual, accepted{equal: true}),
	"NUM_GT":          ordered(numberOrder, accepted{greater: true}),
	"NUM_GTE":         ordered(numberOrder, accepted{equal: true, greater: true}),
	"NUM_LT":          ordered(numberOrder, accepted{less: true}),
	"NUM_LTE":         ordered(numberOrder, accepted{less: true, equal: true}),
	"SEMVER_EQ":       ordered(versionOrder, accepted{equal: true}),
	"SEMVER_GT":       ordered(versionOrder, accepted{greater: true}),
	"SEMVER_GTE":      ordered(versionOrder, accepted{equal: true, greater: true}),
	"SEMVER_LT":       ordered(versionOrder, accepted{less: true}),
	"SEMVER_LTE":      ordered(versionOrder, accepted{less: true, equal: true}),
	"DATE_AFTER":      ordered(dateOrder, accepted{greater: true}),
	"DATE_BEFORE":     ordered(dateOrder, accepted{less: true}),
}

// Operators returns the operators that the evaluator implements, sorted. A constraint with any other one is never satisfied.
func Operators() []string { return slices.Sorted(maps.Keys(operators)) }

type inOperand struct {
	values valueSet
	not    bool
}

func (o inOperand) compare(value string, _ *Context) answer {
	return answerOf(o.values.has(value) != o.not)
}

type textOperand struct {
	match      func(value, part string) bool
	parts      []string
	ignoreCase bool
}

func newTextOperand(match func(string, string) bool, c Constraint) operand {
	parts := c.Values
	if c.CaseInsensitive {
		parts = make([]string, len(c.Values))
		for i, part := range c.Values {
			parts[i] = lower(part)
		}
	}
	return textOperand{match, parts, c.CaseInsensitive}
}

// compare does not find an absent value, even by an empty part.
func (o textOperand) compare(value string, c *Context) answer {
	if o.ignoreCase {
		value = c.lower(value)
	}
	c.charge(len(value), len(o.parts))
	for _, part := range o.parts {
		if value != "" && o.match(value, part) {
			return yes
		}
	}
	return no
}

type addressOperand struct{ addresses *addresses }

// compare treats a value that is no address like one that is not in the list, as the operator IN does.
func (o addressOperand) compare(value string, _ *Context) answer {
	address, ok := parseAddress(value)
	return answerOf(ok && o.addresses.has(address))
}

// The bounds of a regular expression. RE2, which Go implements, takes time in proportion to the instructions of the
// program and the length of the value, and never backtracks without end.
const (
	MaxRegexLength = 1_000 // bytes of the pattern
	maxRegexSize   = 300   // instructions of the program; (a?){1000} is short and has 2,000
	maxRegexValue  = 2_000 // bytes of the value; a longer one does not match. A request can evaluate a thousand patterns

	maxUnicodeClasses = 20      // classes such as \pL, which have hundreds of ranges each
	maxFolded         = 1 << 17 // characters up to which the ranges reach together, if the parser looks for the other case of each of them
	lastWithCase      = 0x1E943 // the parser does not look at later characters
)

// What maxFolded is about, in the text of a pattern: to parse it is what takes the time.
var (
	foldFlag  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(\?[A-Za-z-]*i`) })
	wideRange = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-(?:\\x\{([0-9A-Fa-f]+)\}|([^\x00-\x7F]))`) })
)

// checkClasses returns an error if the classes of a pattern would take milliseconds to parse.
func checkClasses(pattern string) error {
	if n := strings.Count(pattern, `\p`) + strings.Count(pattern, `\P`); n > maxUnicodeClasses {
		return fmt.Errorf(`it has %d Unicode classes such as \pL, and no more than %d are allowed`, n, maxUnicodeClasses)
	}
	if !foldFlag().MatchString(pattern) {
		return nil
	}
	folded := 0
	for _, found := range wideRange().FindAllStringSubmatch(pattern, -1) {
		end, _ := utf8.DecodeRuneInString(found[2])
		if found[2] == "" {
			n, _ := strconv.ParseInt(found[1], 16, 32) // the largest integer if it is larger
			end = rune(n)
		}
		if folded += int(min(end, lastWithCase)); folded > maxFolded {
			return errors.New("it ignores case, and its ranges of characters are too large for that")
		}
	}
	return nil
}

type regexOperand struct {
	regex *regexp.Regexp
	size  int // instructions
	field field
}

func newRegexOperand(c Constraint) operand {
	regex, size, err := CompileRegex(c.Value, c.CaseInsensitive)
	if err != nil {
		return nil
	}
	return regexOperand{regex, size, newField(c.ContextName)}
}

// CompileRegex compiles the pattern of the operator REGEX, in the syntax of RE2, and returns how many instructions it has. It returns
// an error that says what is wrong if the pattern is invalid or too large to be evaluated.
func CompileRegex(pattern string, caseInsensitive bool) (regex *regexp.Regexp, size int, err error) {
	if len(pattern) > MaxRegexLength {
		return nil, 0, fmt.Errorf("it has %d bytes, and no more than %d are allowed", len(pattern), MaxRegexLength)
	}
	if caseInsensitive {
		pattern = "(?i)" + pattern
	}
	if err := checkClasses(pattern); err != nil {
		return nil, 0, err
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	if leastSize(parsed) > maxRegexSize {
		return nil, 0, &syntax.Error{Code: syntax.ErrLarge, Expr: pattern}
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if len(program.Inst) > maxRegexSize {
		return nil, 0, &syntax.Error{Code: syntax.ErrLarge, Expr: pattern}
	}
	regex, err = regexp.Compile(pattern)
	return regex, len(program.Inst), err
}

// leastSize returns at least how many instructions an expression has, before these are made: \pL{1000} is short and costs much.
func leastSize(e *syntax.Regexp) int {
	switch {
	case e.Op == syntax.OpLiteral:
		return len(e.Rune)
	case len(e.Sub) == 0, e.Op == syntax.OpRepeat && e.Max == 0:
		return 1
	}
	size := 0
	for _, sub := range e.Sub {
		size += leastSize(sub)
	}
	if e.Op == syntax.OpRepeat {
		size *= max(e.Min, e.Max, 1)
	}
	return size
}

// compare does not find an absent value, even by a pattern that matches an empty one. A property can be present and empty.
func (o regexOperand) compare(value string, c *Context) answer {
	if value == "" && !o.field.isEmptyProperty(c) || len(value) > maxRegexValue {
		return no
	}
	if c.memory != nil {
		c.memory.work += len(value) * o.size * regexStep
	}
	return answerOf(o.regex.MatchString(value))
}

// A valueSet answers quickly whether it has a value; an absent one it never has. Short lists are faster to search than a map.
type valueSet struct {
	list []string
	set  map[string]struct{} // nil for a short list
}

const shortList = 8

func newValueSet(values []string) valueSet {
	s := valueSet{list: values}
	if len(values) > shortList {
		s.set = make(map[string]struct{}, len(values))
		for _, value := range values {
			s.set[value] = struct{}{}
		}
		s.list = nil
	}
	return s
}

func (s valueSet) has(value string) bool {
	if value == "" {
		return false
	}
	if s.set != nil {
		_, found := s.set[value]
		return found
	}
	return slices.Contains(s.list, value)
}

// addresses is a set of IP addresses and networks.
type addresses struct {
	single   map[netip.Addr]struct{}
	networks []netip.Prefix
}

// newAddresses compiles addresses such as 10.0.0.1 and networks such as 10.0.0.0/8. It ignores items that are neither.
func newAddresses(items []string) *addresses {
	a := &addresses{single: map[netip.Addr]struct{}{}}
	for _, item := range items {
		if address, ok := parseAddress(item); ok {
			a.single[address] = struct{}{}
		} else if network, ok := parseNetwork(item); ok {
			a.networks = append(a.networks, network)
		}
	}
	return a
}

// ValidAddress reports whether the operator IN_CIDR understands a value: an address or a network, in IPv4 or IPv6.
func ValidAddress(value string) bool {
	a := newAddresses([]string{value})
	return len(a.single)+len(a.networks) > 0
}

func (a *addresses) has(address netip.Addr) bool {
	if _, found := a.single[address]; found {
		return true
	}
	for _, network := range a.networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// maxAddress is longer than any address without a zone.
const maxAddress = 64

// parseAddress parses an IP address. An IPv4 address that is written as an IPv6 one (::ffff:10.0.0.1) is an IPv6 address, as in SDKs.
// Addresses with a zone are refused: a zone has a meaning on one host only.
func parseAddress(s string) (netip.Addr, bool) {
	if s == "" || len(s) > maxAddress {
		return netip.Addr{}, false
	}
	address, err := netip.ParseAddr(s)
	return address, err == nil && address.Zone() == ""
}

// parseNetwork parses an address with a number of bits, which may have leading zeros.
func parseNetwork(s string) (netip.Prefix, bool) {
	text, length, _ := strings.Cut(s, "/")
	address, ok := parseAddress(text)
	bits, err := strconv.Atoi(length)
	if !ok || err != nil {
		return netip.Prefix{}, false
	}
	network, err := address.Prefix(bits)
	return network, err == nil
}
