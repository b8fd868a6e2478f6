package jsonbody

import (
	"bytes"
	"errors"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// Lenient are the options that read the texts of SDKs and end users: half an emoji and invalid UTF-8 become U+FFFD, and of fields
// with the same name the last one counts.
var Lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// DecodeLenient decodes a body of an SDK part by part. Null is an empty value, and so is PHP's [] where an object is due. A part that
// cannot be read stays empty and is in left, with the reason, and the parts beside it count. It returns an error if the body is no JSON
// object, or if it was made to cost much.
func DecodeLenient(body []byte, into any) (left flags.Problems, err error) {
	if len(bytes.Trim(body, " \t\r\n")) == 0 {
		return nil, flags.Errorf(flags.Invalid, "a JSON body is required")
	}
	if err := scan(body, false); err != nil {
		return nil, SyntaxError(err)
	}
	if kind := jsontext.Value(body).Kind(); kind != '{' {
		left.Add("", "the body must be an object, not %s", jsonWord(kind))
		return nil, left.Err()
	}
	if err := json.Unmarshal(body, into, Lenient, json.WithUnmarshalers(lenient(&left))); err != nil {
		return nil, SyntaxError(err)
	}
	return left, nil
}

// lenient empties what it cannot read, and adds the reason to left.
func lenient(left *flags.Problems) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, v any) error {
		if _, wraps := v.(wrapper); wraps {
			return errors.ErrUnsupported
		}
		kind, value := d.PeekKind(), reflect.ValueOf(v).Elem()
		skip := func() error {
			value.SetZero()
			return d.SkipValue()
		}
		if kind == 'n' {
			return skip()
		}
		if own, reads := v.(json.UnmarshalerFrom); reads {
			text, err := d.ReadValue()
			if err != nil {
				return err
			}
			place := placeIn(d.StackPointer())
			if err := own.UnmarshalJSONFrom(jsontext.NewDecoder(bytes.NewReader(text), Lenient)); err != nil {
				value.SetZero()
				left.Add(place, "%s", err)
			}
			return nil
		}
		wanted := jsontext.Kind('{')
		switch value.Kind() {
		case reflect.Slice:
			wanted = '['
		case reflect.Map, reflect.Struct:
		default:
			return errors.ErrUnsupported
		}
		if kind == wanted {
			return errors.ErrUnsupported
		}
		text, err := d.ReadValue()
		if err != nil {
			return err
		}
		value.SetZero()
		if kind != '[' || len(bytes.Trim(text, "[] \t\r\n")) > 0 {
			left.Add(placeIn(d.StackPointer()), "must be %s, not %s", goWord(value.Type()), jsonWord(kind))
		}
		return nil
	})
}

// A wrapper is a type that decodes another one with the options of its decoder.
type wrapper interface{ wraps() }

func (*Maybe[T]) wraps() {}
