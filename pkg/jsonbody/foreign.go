package jsonbody

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Foreign are the options to read what other programs wrote. A value of another type is read where its meaning is clear: a number or
// a boolean for a text, a text for the number or boolean that it has, null or an empty list or object for what is empty, and U+FFFD
// for half a character. Any other value of the wrong type is an error. If a field occurs twice, the last one counts.
var Foreign = json.JoinOptions(Lenient, json.WithUnmarshalers(json.UnmarshalFromFunc(readForeign)))

// ForeignValues are the options to read the texts, numbers and booleans of a part of a strict body, such as the data of an import, as
// Foreign does. Null remains an error: an administrator may mean something else than nothing.
var ForeignValues = json.WithUnmarshalers(json.JoinUnmarshalers(exact, json.UnmarshalFromFunc(readScalar)))

// DecodeForeign decodes what another program wrote. The error says what is wrong, and where.
func DecodeForeign(text []byte, into any, more ...json.Options) error {
	err := json.Unmarshal(text, into, append(more, Foreign)...)
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return typeFault(semantic)
	}
	if err != nil {
		return SyntaxError(err)
	}
	return nil
}

// WithoutMark returns a text without the byte order mark that some editors and programs put before it.
func WithoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\uFEFF")) }

// Items is a list that another program wrote. Each item is read alone, so one that cannot be read leaves the others. It is nil if the
// list is absent, and empty if it is null.
type Items[T any] []Item[T]

// An Item is a value, or why it cannot be read.
type Item[T any] struct {
	Value T
	Err   error
	Raw   jsontext.Value // what cannot be read
}

// ReadItem reads a value.
func ReadItem[T any](text jsontext.Value) (i Item[T]) {
	if i.Err = DecodeForeign(text, &i.Value); i.Err != nil {
		i.Raw = text.Clone()
	}
	return i
}

// UnmarshalJSONFrom reads the items. A value that is no list is one item that cannot be read.
func (l *Items[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*l = Items[T]{}
	if d.PeekKind() != '[' {
		value, err := d.ReadValue()
		if err == nil && value.Kind() != 'n' && !isEmptyObject(value) {
			*l = append(*l, Item[T]{Err: errors.New("must be a list"), Raw: value.Clone()})
		}
		return err
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		*l = append(*l, ReadItem[T](value))
	}
	_, err := d.ReadToken()
	return err
}

// readScalar reads a text, number or boolean of another type than that of v, which is a pointer.
func readScalar(d *jsontext.Decoder, v any) error {
	switch v.(type) {
	case json.UnmarshalerFrom, *jsontext.Value:
		return errors.ErrUnsupported
	}
	to, kind := reflect.ValueOf(v).Elem(), d.PeekKind()
	switch to.Kind() {
	case reflect.String:
		if kind == '0' || kind == 't' || kind == 'f' {
			value, err := d.ReadValue()
			to.SetString(ScalarText(value))
			return err
		}
	case reflect.Int64:
		if kind == '0' || kind == '"' {
			text, err := scalar(d)
			if err != nil {
				return err
			}
			n, valid := wholeNumber(text)
			if !valid {
				return fmt.Errorf("must be a whole number, not %s", Shorten(text))
			}
			to.SetInt(n)
			return nil
		}
	case reflect.Float64:
		if kind == '"' {
			text, err := scalar(d)
			if err != nil {
				return err
			}
			n, valid := number(text)
			if !valid {
				return fmt.Errorf("must be a number, not %q", Shorten(text))
			}
			to.SetFloat(n)
			return nil
		}
	case reflect.Bool:
		if kind == '0' || kind == '"' {
			text, err := scalar(d)
			if err != nil {
				return err
			}
			is, valid := boolean(text)
			if !valid {
				return fmt.Errorf("must be true or false, not %s", Shorten(text))
			}
			to.SetBool(is)
			return nil
		}
	}
	return errors.ErrUnsupported
}

// readForeign reads a value of another type than that of v, which is a pointer.
func readForeign(d *jsontext.Decoder, v any) error {
	switch v.(type) {
	case json.UnmarshalerFrom, *jsontext.Value:
		return errors.ErrUnsupported
	}
	to, kind := reflect.ValueOf(v).Elem(), d.PeekKind()
	switch to.Kind() {
	case reflect.Struct:
		if kind == 'n' {
			return errNull{to.Type()}
		}
	case reflect.Map, reflect.Slice:
		if texts, is := v.(*[]string); is && kind == '[' {
			return readTexts(d, texts)
		}
		// Languages with one type for both write an empty one as the other
		if to.Kind() == reflect.Map && kind == '[' || to.Kind() == reflect.Slice && kind == '{' {
			value, err := d.ReadValue()
			if err == nil && !isEmptyList(value) && !isEmptyObject(value) {
				err = fmt.Errorf("must be %s, not %s", goWord(to.Type()), jsonWord(kind))
			}
			to.SetZero()
			return err
		}
	}
	return readScalar(d, v)
}

// readTexts reads a list of texts. Null in it is an error: as an empty text, every text would begin with it.
func readTexts(d *jsontext.Decoder, texts *[]string) error {
	var items []*string
	if err := json.UnmarshalDecode(d, &items); err != nil {
		return err
	}
	*texts = make([]string, len(items))
	for i, item := range items {
		if item == nil {
			return errors.New("must not have null in it")
		}
		(*texts)[i] = *item
	}
	return nil
}

// scalar reads a text or a number as text.
func scalar(d *jsontext.Decoder) (string, error) {
	token, err := d.ReadToken()
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(token.String()), nil
}

// maxExact is the largest number up to which a 64-bit float has all whole numbers.
const maxExact = 1 << 53

// ScalarText returns a JSON number or boolean as text: a whole number without a point or an exponent, any other as it is written.
func ScalarText(value jsontext.Value) string {
	text := string(value)
	if n, err := strconv.ParseFloat(text, 64); err == nil && n == math.Trunc(n) && math.Abs(n) < maxExact {
		return strconv.FormatInt(int64(n), 10)
	}
	return text
}

// number returns the number that a text has in JSON's form.
func number(text string) (float64, bool) {
	value := jsontext.Value(text)
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && value.Kind() == '0' && value.IsValid()
}

func wholeNumber(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	n, valid := number(text)
	return int64(n), valid && n == math.Trunc(n) && math.Abs(n) < maxExact
}

func boolean(text string) (is, valid bool) {
	switch strings.ToLower(text) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

func isEmptyList(value jsontext.Value) bool   { return isEmpty(value, '[', ']') }
func isEmptyObject(value jsontext.Value) bool { return isEmpty(value, '{', '}') }

func isEmpty(value jsontext.Value, first, last byte) bool {
	return len(value) > 1 && value[0] == first && value[len(value)-1] == last && len(bytes.TrimSpace(value[1:len(value)-1])) == 0
}
