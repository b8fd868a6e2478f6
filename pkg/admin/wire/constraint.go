package wire

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A ConstraintBody is a constraint as it comes in.
type ConstraintBody struct {
	ContextName     string                `json:"contextName"`
	Operator        string                `json:"operator"`
	Values          []string              `json:"values"`
	Value           httpapi.Maybe[string] `json:"value"`
	CaseInsensitive bool                  `json:"caseInsensitive"`
	Inverted        bool                  `json:"inverted"`
}

// Constraint returns what the body says.
func (b ConstraintBody) Constraint() flags.Constraint {
	c := flags.Constraint{
		ContextName: b.ContextName, Operator: flags.Operator(b.Operator), Values: b.Values,
		CaseInsensitive: b.CaseInsensitive, Inverted: b.Inverted,
	}
	if b.Value.Set {
		c.Value = &b.Value.Value
	}
	return c
}

// A Parameter is a strategy Parameter: always a string in the store and in answers, whatever simple value came in.
type Parameter string

// UnmarshalJSONFrom takes a string, a number as it is written, true, false, or null as an empty string.
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

// plainNumber is a JSON number without an exponent.
func plainNumber(number string) (Parameter, error) {
	for _, c := range number {
		if c == 'e' || c == 'E' {
			f, err := strconv.ParseFloat(number, 64)
			return Parameter(strconv.FormatFloat(f, 'f', -1, 64)), err
		}
	}
	return Parameter(number), nil
}
