// Package matrix defines flags with constraints and strategies, and contexts with values that evaluators read differently: Unicode,
// dates, numbers, addresses and versions in odd forms. It also has the results of two evaluators of Unleash: Yggdrasil, which the SDKs
// for Python, Java, Ruby, .NET and Rust share, and the SDK for Node.js.
package matrix

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"guidon/pkg/evaluate"
)

const (
	// Hostname is the host of the application.
	Hostname = "WEB-ΑΣ.Example"
	// property is the name of the property that has the value.
	property = "value"
)

// Context returns the context in which all fields have the value. The session is always the same.
func (v Value) Context() evaluate.Context {
	c := evaluate.Context{SessionID: "session", Hostname: Hostname}
	if !v.None {
		c.UserID, c.RemoteAddress, c.CurrentTime, c.Properties = v.Text, v.Text, v.Text, map[string]string{property: v.Text}
	}
	return c
}

// A Flag is on for the contexts that its only strategy matches. Its name describes the strategy.
type Flag struct {
	evaluate.Flag
	Odd bool // Guidon does not store such a strategy; Guidon Edge can get it from an upstream
}

// Flags returns the flags.
func Flags() []Flag {
	var list []Flag
	for _, row := range constraints {
		for operator := range strings.FieldsSeq(row.operators) {
			for i, c := range row.constraints(operator) {
				list = append(list, constrained(c), constrained(inverted(c)))
				if i == 0 {
					list = append(list, constrained(anyCase(inverted(c))))
				}
				if i == 0 || row.ignoresCase {
					list = append(list, constrained(anyCase(c)))
				}
			}
		}
	}
	for _, s := range strategies {
		name := s.name
		for _, parameter := range slices.Sorted(maps.Keys(s.parameters)) {
			name += fmt.Sprintf(" %s=%q", parameter, s.parameters[parameter])
		}
		list = append(list, newFlag(name, s.odd, evaluate.Strategy{Name: s.name, Parameters: s.parameters}))
	}
	return list
}

// A row is a row of the table of constraints.
type row struct {
	operators, field string
	values           []string
	lists            [][]string
	ignoresCase      bool
}

// constraints returns the constraints of a row with an operator.
func (r row) constraints(operator string) (list []evaluate.Constraint) {
	for _, value := range r.values {
		list = append(list, evaluate.Constraint{ContextName: r.field, Operator: operator, Value: value})
	}
	for _, values := range r.lists {
		list = append(list, evaluate.Constraint{ContextName: r.field, Operator: operator, Values: values})
	}
	return list
}

func inverted(c evaluate.Constraint) evaluate.Constraint {
	c.Inverted = true
	return c
}

func anyCase(c evaluate.Constraint) evaluate.Constraint {
	c.CaseInsensitive = true
	return c
}

func constrained(c evaluate.Constraint) Flag {
	name := fmt.Sprintf("%s %s %q", c.Operator, c.ContextName, c.Values)
	if c.Values == nil {
		name = fmt.Sprintf("%s %s %q", c.Operator, c.ContextName, c.Value)
	}
	if c.CaseInsensitive {
		name += " any case"
	}
	if c.Inverted {
		name += " inverted"
	}
	return newFlag(name, false, evaluate.Strategy{Name: "default", Parameters: map[string]string{}, Constraints: []evaluate.Constraint{c}})
}

func newFlag(name string, odd bool, s evaluate.Strategy) Flag {
	return Flag{evaluate.Flag{Name: name, Enabled: true, Strategies: []evaluate.Strategy{s}}, odd}
}
