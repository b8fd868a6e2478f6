package wire

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// A ConstraintBody is a constraint in a request.
type ConstraintBody struct {
	ContextName     string                 `json:"contextName"`
	Operator        string                 `json:"operator"`
	Values          []string               `json:"values"`
	Value           jsonbody.Maybe[string] `json:"value"`
	CaseInsensitive bool                   `json:"caseInsensitive"`
	Inverted        bool                   `json:"inverted"`
}

// Constraint returns the constraint, with a normalized value.
func (b ConstraintBody) Constraint() flags.Constraint {
	c := flags.Constraint{
		ContextName: b.ContextName, Operator: flags.Operator(b.Operator), Values: b.Values,
		CaseInsensitive: b.CaseInsensitive, Inverted: b.Inverted,
	}
	if b.Value.Set {
		c.Value = &b.Value.Value
	}
	return c.Normalized()
}

// A Parameter is the value of a strategy parameter. Requests can have a string, a number, a boolean or null; the store and
// responses always have a string.
type Parameter string

// UnmarshalJSONFrom decodes the value. Numbers keep the digits that they were sent with, and null becomes an empty string.
func (p *Parameter) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch value.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		*p = Parameter(text)
		return err
	case '0':
		*p, err = plainNumber(string(value))
		return err
	case 't', 'f':
		*p = Parameter(value)
		return nil
	case 'n':
		*p = ""
		return nil
	}
	return errors.New("must be a string, a number or a boolean")
}

// plainNumber returns a JSON number without an exponent: SDKs may not parse one.
func plainNumber(number string) (Parameter, error) {
	for _, c := range number {
		if c == 'e' || c == 'E' {
			f, err := strconv.ParseFloat(number, 64)
			return Parameter(strconv.FormatFloat(f, 'f', -1, 64)), err
		}
	}
	return Parameter(number), nil
}
