package evaluate

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
)

// A constraint is a compiled constraint.
type constraint struct {
	field    field
	inverted bool
	operand  operand // nil if the operator is unknown or its value cannot be parsed
}

// An operand is the value of a constraint with its operator.
type operand interface {
	// compare compares it with the value of a context field, which is "" if the context does not have the field.
	compare(value string, now time.Time) answer
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

// check returns whether the context satisfies the constraint. What cannot be compared does not satisfy it, inverted or
// not: a mistake in a constraint must not turn a flag on.
func (c *constraint) check(ctx *Context) answer {
	if c.operand == nil {
		return unreadable
	}
	result := c.operand.compare(c.field.of(ctx), ctx.Now)
	if result != unreadable && c.inverted {
		return answerOf(result == no)
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
	switch c.Operator {
	case "IN":
		return inOperand{newValueSet(c.Values), false}
	case "NOT_IN":
		return inOperand{newValueSet(c.Values), true}
	case "STR_CONTAINS":
		return newTextOperand(strings.Contains, c)
	case "STR_STARTS_WITH":
		return newTextOperand(strings.HasPrefix, c)
	case "STR_ENDS_WITH":
		return newTextOperand(strings.HasSuffix, c)
	case "REGEX":
		return newRegexOperand(c)
	case "IN_CIDR":
		return addressOperand{newAddresses(c.Values)}
	}
	kind, name, _ := strings.Cut(c.Operator, "_")
	return newOrderOperand(kind, name, c.Value)
}

type inOperand struct {
	values valueSet
	not    bool
}

func (o inOperand) compare(value string, _ time.Time) answer {
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
			parts[i] = strings.ToLower(part)
		}
	}
	return textOperand{match, parts, c.CaseInsensitive}
}

func (o textOperand) compare(value string, _ time.Time) answer {
	if o.ignoreCase {
		value = strings.ToLower(value)
	}
	for _, part := range o.parts {
		if o.match(value, part) {
			return yes
		}
	}
	return no
}

type addressOperand struct{ addresses *addresses }

// compare treats a value that is no address like one that is not in the list, as the operator IN does.
func (o addressOperand) compare(value string, _ time.Time) answer {
	address, ok := parseAddress(value)
	return answerOf(ok && o.addresses.has(address))
}

// The bounds of a regular expression. RE2, which Go implements, takes time in proportion to the instructions of the
// program and the length of the value, and never backtracks without end.
const (
	MaxRegexLength = 1_000 // bytes of the pattern
	maxRegexSize   = 300   // instructions of the program; (a?){1000} is short and has 2,000
	maxRegexValue  = 2_000 // bytes of the value; a longer one does not match. A request can evaluate a thousand patterns
)

type regexOperand struct{ regex *regexp.Regexp }

func newRegexOperand(c Constraint) operand {
	regex, err := CompileRegex(c.Value, c.CaseInsensitive)
	if err != nil {
		return nil
	}
	return regexOperand{regex}
}

// CompileRegex compiles the pattern of the operator REGEX, in the syntax of RE2. It returns an error that says what is
// wrong if the pattern is invalid or too large to be evaluated.
func CompileRegex(pattern string, caseInsensitive bool) (*regexp.Regexp, error) {
	if len(pattern) > MaxRegexLength {
		return nil, fmt.Errorf("it has %d bytes, and no more than %d are allowed", len(pattern), MaxRegexLength)
	}
	if caseInsensitive {
		pattern = "(?i)" + pattern
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > maxRegexSize {
		return nil, &syntax.Error{Code: syntax.ErrLarge, Expr: pattern}
	}
	return regexp.Compile(pattern)
}

// compare does not find an absent value, even by a pattern that matches an empty one.
func (o regexOperand) compare(value string, _ time.Time) answer {
	return answerOf(value != "" && len(value) <= maxRegexValue && o.regex.MatchString(value))
}
