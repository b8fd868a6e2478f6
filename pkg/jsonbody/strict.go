// Package jsonbody decodes request bodies: strict JSON, fields that can be absent, and JSON Patch. Its errors are for callers.
package jsonbody

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// maxDepth is the deepest nesting of a body.
const maxDepth = 100

// DecodeStrict decodes a body. It refuses duplicate keys, invalid UTF-8, a second document, null where a value is required,
// integers that would be rounded, and deep nesting, with a message for the caller. It converts nothing. Unknown fields are
// ignored; a key in another case is unknown.
func DecodeStrict(body []byte, into any) error {
	if len(bytes.Trim(body, " \t\r\n")) == 0 {
		return flags.Errorf(flags.Invalid, "a JSON body is required")
	}
	if err := scan(body, true); err != nil {
		return SyntaxError(err)
	}
	err := json.Unmarshal(body, into, json.WithUnmarshalers(exact))
	if err == nil {
		return nil
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return typeFault(semantic)
	}
	return SyntaxError(err)
}

// The limit of objects in a body: 1,000, plus one per 16 bytes. A megabyte of {} would take a hundred megabytes to decode, and
// no object of the interface is that small.
const (
	someObjects   = 1000
	bytesAnObject = 16
)

// errDeep, errRounded, errObjects and errLong are errors of scan that are not about the grammar of JSON.
var (
	errDeep    = fmt.Errorf("nested deeper than %d levels", maxDepth)
	errRounded = errors.New("a number that would be rounded")
	errObjects = errors.New("too many objects for its size")
	errLong    = fmt.Errorf("a list of more than %d items", maxItems)
)

// scan checks what holds for every body: one document of valid JSON, not nested too deep. A strict one has only valid UTF-8, no field
// twice, and no number that would be rounded.
func scan(body []byte, strict bool) error {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if !strict {
		d = jsontext.NewDecoder(bytes.NewReader(body), Lenient)
	}
	objects := someObjects + len(body)/bytesAnObject
	for {
		token, err := d.ReadToken()
		if token.Kind() == '{' {
			objects--
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case d.StackDepth() > maxDepth:
			return errDeep
		case objects < 0:
			return errObjects
		case !strict && isLong(d):
			return errLong
		case strict && token.Kind() == '0' && isRounded(token.String()):
			return fmt.Errorf("%w at %s: %s", errRounded, placeIn(d.StackPointer()), Shorten(token.String()))
		case d.StackDepth() == 0 && len(bytes.TrimSpace(body[d.InputOffset():])) > 0:
			return errors.New("there is more text after the end of the document")
		}
	}
}

// maxItems is the largest length of a list in a lenient body, of which each item that cannot be read costs time.
const maxItems = 20_000

// isLong reports whether the list that is being read has more items.
func isLong(d *jsontext.Decoder) bool {
	kind, items := d.StackIndex(d.StackDepth())
	return kind == '[' && items > maxItems
}

// isRounded reports whether a JSON number would be rounded as a 64-bit float: an integer of 2^53 or more, or a number above the
// largest float.
func isRounded(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsInf(f, 0) {
		return true
	}
	return math.Abs(f) >= 1<<53 && f == math.Trunc(f)
}

// Shorten returns the beginning of a text from a caller as valid UTF-8, for messages. Paths can have invalid UTF-8.
func Shorten(s string) string {
	const most = 40
	s = strings.ToValidUTF8(s, "\uFFFD")
	quoted := 0
	for i, r := range s {
		if quoted += len(strconv.QuoteRune(r)) - len("''"); quoted > most {
			return s[:i] + "…"
		}
	}
	return s
}

// placeIn returns a JSON pointer for a message, shortened if it is very long.
func placeIn(p jsontext.Pointer) string {
	if len(strconv.Quote(string(p))) > 140 {
		return Shorten(string(p))
	}
	return string(p)
}

// errNull is the error of a null where another type is required.
type errNull struct{ wanted reflect.Type }

func (errNull) Error() string { return "null" }

// exact refuses null for types that are not pointers. The decoder would take it for an empty value.
var exact = json.UnmarshalFromFunc(func(d *jsontext.Decoder, v any) error {
	if d.PeekKind() != 'n' {
		return errors.ErrUnsupported
	}
	switch v.(type) {
	case json.UnmarshalerFrom, *jsontext.Value:
		return errors.ErrUnsupported
	}
	wanted := reflect.TypeOf(v).Elem()
	if wanted.Kind() == reflect.Pointer {
		return errors.ErrUnsupported
	}
	return errNull{wanted}
})

// A Maybe is a field that can be absent. It can be null only if T is a pointer.
type Maybe[T any] struct {
	Set   bool
	Value T
}

// UnmarshalJSONFrom notes that the field is present.
func (m *Maybe[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	m.Set = true
	return json.UnmarshalDecode(d, &m.Value)
}

// Or returns the value of the field, or another one if it is absent.
func (m Maybe[T]) Or(absent T) T {
	if m.Set {
		return m.Value
	}
	return absent
}

// SyntaxError returns the error for a caller whose body is not valid JSON: err is the error of a jsontext.Decoder.
func SyntaxError(err error) error {
	reason := err.Error()
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok && syntactic.Err != nil {
		reason = fmt.Sprintf("%s, at byte %d", syntactic.Err.Error(), syntactic.ByteOffset)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			reason = fmt.Sprintf("the field %s occurs twice", placeIn(syntactic.JSONPointer))
		}
	}
	return &flags.Error{Kind: flags.Invalid, Message: "the body is not valid JSON: " + strings.TrimPrefix(reason, "jsontext: "), Err: err}
}

func typeFault(e *json.SemanticError) error {
	var problems flags.Problems
	at, subject := placeIn(e.JSONPointer), ""
	if at == "" {
		subject = "the body "
	}
	null, isNull := errors.AsType[errNull](e.Err)
	switch {
	case isNull:
		problems.Add(at, "%smust be %s, not null", subject, goWord(null.wanted))
	case e.Err == nil:
		problems.Add(at, "%smust be %s, not %s", subject, goWord(e.GoType), jsonWord(e.JSONKind))
	case errors.Is(e.Err, strconv.ErrSyntax), errors.Is(e.Err, strconv.ErrRange):
		problems.Add(at, "%smust be %s, not this number", subject, goWord(e.GoType))
	default:
		problems.Add(at, "%s", e.Err.Error())
	}
	return problems.Err()
}

func jsonWord(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[', ']':
		return "a list"
	}
	return "an object"
}

func goWord(t reflect.Type) string {
	if t == nil {
		return "of another type"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return goWord(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
