package dynamo

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A scanner reads JSON that DynamoDB or this package has written: responses, and the documents of list rows, of which one request
// can read thousands. It takes a fifth of the time of a decoder, which checks more and finds fields by reflection. Texts without
// escapes share the memory of what is read.
//
// The first error stays, and everything is empty from then on.
type scanner struct {
	json string
	at   int
	err  error
}

func (s *scanner) fail(want string) {
	if s.err == nil {
		s.err = fmt.Errorf("dynamo: invalid JSON: %s is missing at byte %d of %d", want, s.at, len(s.json))
	}
	s.at = len(s.json)
}

// next returns the first byte of what comes next; 0 at the end.
func (s *scanner) next() byte {
	for s.at < len(s.json) {
		switch c := s.json[s.at]; c {
		case ' ', '\n', '\t', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take reads one byte, which must come next.
func (s *scanner) take(c byte) {
	if s.next() != c {
		s.fail(strconv.QuoteRune(rune(c)))
		return
	}
	s.at++
}

// object calls field with the name of each member of an object. field must read the value. null is as an empty object.
func (s *scanner) object(field func(name string)) {
	if s.null() {
		return
	}
	s.take('{')
	for first := true; s.err == nil && s.next() != '}'; first = false {
		if !first {
			s.take(',')
		}
		name := s.text()
		s.take(':')
		if s.err == nil {
			field(name)
		}
	}
	s.take('}')
}

// array calls element before each element of an array. element must read it. null is as an empty array.
func (s *scanner) array(element func()) {
	if s.null() {
		return
	}
	s.take('[')
	for first := true; s.err == nil && s.next() != ']'; first = false {
		if !first {
			s.take(',')
		}
		if s.err == nil {
			element()
		}
	}
	s.take(']')
}

// quoted returns a string as it is written, with its quotes, and tells whether it has escapes.
func (s *scanner) quoted() (raw string, escaped bool) {
	if s.next() != '"' {
		s.fail("a string")
		return `""`, false
	}
	for i := s.at + 1; i < len(s.json); i++ {
		switch s.json[i] {
		case '"':
			raw, s.at = s.json[s.at:i+1], i+1
			return raw, escaped
		case '\\':
			escaped = true
			i++
		}
	}
	s.fail("the end of a string")
	return `""`, false
}

func (s *scanner) text() string {
	raw, escaped := s.quoted()
	if !escaped {
		return raw[1 : len(raw)-1]
	}
	text, err := unescape(raw[1 : len(raw)-1])
	if err != nil {
		s.fail("a valid string")
	}
	return text
}

// unescape returns a text without its escapes. Documents in a response have an escaped quote every few bytes.
func unescape(raw string) (string, error) {
	var b strings.Builder
	b.Grow(len(raw))
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 || i+1 == len(raw) {
			b.WriteString(raw)
			return b.String(), nil
		}
		switch c := raw[i+1]; c {
		case '"', '\\', '/':
			b.WriteString(raw[:i])
			b.WriteByte(c)
			raw = raw[i+2:]
		default: // \n, \u00e9 and so on
			rest, err := jsontext.AppendUnquote(nil, `"`+raw+`"`)
			b.Write(rest)
			return b.String(), err
		}
	}
}

// optional is a text, or nil for null.
func (s *scanner) optional() *string {
	if s.null() {
		return nil
	}
	text := s.text()
	return &text
}

// null reads null. It returns false if something else comes next.
func (s *scanner) null() bool {
	if s.next() != 'n' {
		return false
	}
	if s.literal() != "null" {
		s.fail("null")
	}
	return true
}

// literal returns a number, true, false or null as it is written.
func (s *scanner) literal() string {
	s.next()
	start := s.at
	for s.at < len(s.json) && !endsLiteral(s.json[s.at]) {
		s.at++
	}
	if start == s.at {
		s.fail("a value")
	}
	return s.json[start:s.at]
}

func endsLiteral(c byte) bool {
	switch c {
	case ' ', '\n', '\t', '\r', ',', ']', '}':
		return true
	}
	return false
}

func (s *scanner) bool() bool {
	switch s.literal() {
	case "true":
		return true
	case "false":
	default:
		s.fail("true or false")
	}
	return false
}

func (s *scanner) int() int {
	n, err := strconv.Atoi(s.literal())
	if err != nil {
		s.fail("a number")
	}
	return n
}

func (s *scanner) time() time.Time {
	t, err := time.Parse(time.RFC3339, s.text())
	if err != nil {
		s.fail("a time")
	}
	return t
}

// texts reads a list of strings.
func (s *scanner) texts() (list []string) {
	s.array(func() { list = append(list, s.text()) })
	return list
}

// skip reads a value of any type.
func (s *scanner) skip() {
	for depth := 0; s.err == nil; {
		switch s.next() {
		case '"':
			s.quoted()
		case '{', '[':
			depth++
			s.at++
			continue
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			s.at++
			continue
		default:
			s.literal()
		}
		if depth <= 0 {
			return
		}
	}
}

// end returns the error, also if anything follows.
func (s *scanner) end() error {
	if s.err == nil && s.next() != 0 {
		s.fail("the end")
	}
	return s.err
}
