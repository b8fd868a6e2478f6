package ingest

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/jsonbody"
	"guidon/pkg/usage"
)

// SDKs of many languages and ages report usage, and Unleash converts the values of their bodies. The types of this file take what
// it takes: a number as text and the reverse, and times in several forms. jsonbody.DecodeLenient takes null for the empty value.

// A text can also be a number or a boolean.
type text string

// UnmarshalJSONFrom reads a text.
func (t *text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '"', '0', 't', 'f':
		*t = text(token.String())
	default:
		return errors.New("must be a string, not a list or an object")
	}
	return nil
}

// A count is a number of evaluations: a whole number that is not negative.
type count int64

// UnmarshalJSONFrom reads a count.
func (c *count) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '"', '0':
		n, err := strconv.ParseFloat(token.String(), 64)
		switch {
		case err != nil, n != math.Trunc(n):
			return fmt.Errorf("must be a whole number, not %s", jsonbody.Shorten(token.String()))
		case n < 0:
			return fmt.Errorf("must be >= 0, not %s", jsonbody.Shorten(token.String()))
		case n > float64(usage.MaxCount):
			return fmt.Errorf("must be at most %d, not %s", usage.MaxCount, jsonbody.Shorten(token.String()))
		}
		*c = count(n)
	default:
		return errors.New("must be a whole number")
	}
	return nil
}

// A number is a number that is not used, so it is not read either.
type number struct{}

// UnmarshalJSONFrom skips a number.
func (*number) UnmarshalJSONFrom(d *jsontext.Decoder) error { return d.SkipValue() }

// A moment is a time: a date-time, or milliseconds since 1970. The zero time stands for everything else: no report is worth less
// because the clock of its sender is wrong.
type moment struct{ time.Time }

// UnmarshalJSONFrom reads a moment.
func (m *moment) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if kind := d.PeekKind(); kind != '"' && kind != '0' {
		return d.SkipValue()
	}
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	if t, ok := parseMoment(token.String()); ok {
		m.Time = t.UTC().Truncate(time.Millisecond)
	}
	return nil
}

// layouts are the forms of date-times. Without an offset, a time is in UTC.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05"}

func parseMoment(text string) (t time.Time, ok bool) {
	if ms, err := strconv.ParseFloat(text, 64); err == nil {
		if math.Abs(ms) >= 1<<53 || math.IsNaN(ms) {
			return t, false
		}
		t = time.UnixMilli(int64(ms)).UTC()
		return t, t.Year() >= 1 && t.Year() <= 9999
	}
	text = strings.Replace(strings.ToUpper(text), " ", "T", 1)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			t = t.UTC()
			return t, t.Year() >= 1 && t.Year() <= 9999
		}
	}
	return t, false
}

// headerText returns a header; "" if it is not a name that can be stored.
func headerText(r *http.Request, name string) string {
	value := r.Header.Get(name)
	if !utf8.ValidString(value) || utf8.RuneCountInString(value) > usage.MaxName {
		return ""
	}
	return value
}
