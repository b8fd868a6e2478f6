package answers

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// The limits of a context. Longer names can not be in a constraint, and the evaluator takes longer values as absent, so both
// are left out. More properties are refused.
const (
	MaxContextBody  = 256 << 10 // bytes of a body with a context
	maxProperties   = 1_000
	maxPropertyName = 4 * flags.MaxIdentifier // bytes: a character has up to 4
	maxContextDepth = 10
)

// ReadContext reads the context of /api/frontend from the query of the URL, and from the body, which takes precedence and may be
// empty. The body is {"context": {…}}, or the context itself, as Unleash Edge takes it too. As in Unleash, a context without a session
// gets a random one, so that all flags see the same user.
func ReadContext(query url.Values, body []byte) (*evaluate.Context, error) {
	var b contextBuilder
	b.readQuery(query)
	if body = bytes.TrimSpace(body); len(body) > 0 && string(body) != "null" {
		context, _, err := contextOf(body)
		if err != nil {
			return nil, invalidContext(err)
		}
		if context == nil {
			context = body
		}
		if err := b.readContext(context); err != nil {
			return nil, invalidContext(err)
		}
	}
	c, err := b.build()
	if err != nil {
		return nil, invalidContext(err)
	}
	if c.SessionID == "" {
		c.SessionID = strconv.FormatUint(rand.Uint64(), 36) //nolint:gosec // G404: it is no secret which user gets a flag
	}
	return c, nil
}

func invalidContext(err error) error {
	if bad, ok := errors.AsType[*contextError](err); ok {
		return flags.Errorf(flags.Invalid, "%s", bad.message)
	}
	return err
}

// complete adds to a context what every context has. Unleash's SDKs call the environment default if it is not set.
func complete(c *evaluate.Context, q Request) {
	c.Now = q.Now
	c.Environment = cmp.Or(c.Environment, "default")
	c.RemoteAddress = cmp.Or(c.RemoteAddress, plainAddress(q.RemoteAddress))
}

// plainAddress returns the IPv4 address of a caller in its own form, and not as ::ffff:10.0.0.1, which is in no network of IPv4. A proxy
// that listens for both families names it so.
func plainAddress(address string) string {
	if parsed, err := netip.ParseAddr(address); err == nil {
		return parsed.Unmap().String()
	}
	return address
}

// A contextBuilder collects the context of a request.
type contextBuilder struct {
	context evaluate.Context
	key     string            // targetingKey of OFREP
	other   map[string]string // unknown fields, which are properties unless properties itself has a value
	count   int               // of all properties
}

// build returns the context.
func (b *contextBuilder) build() (*evaluate.Context, error) {
	if b.count > maxProperties {
		return nil, &contextError{codeInvalidContext, fmt.Sprintf("the context has more than %d properties; leave out those that no constraint uses", maxProperties)}
	}
	for name, value := range b.other {
		if b.context.Properties[name] == "" {
			b.setProperty(name, value)
		}
	}
	return &b.context, nil
}

// set sets a field of the context; an unknown one is a property.
func (b *contextBuilder) set(name, value string) {
	switch name {
	case "userId":
		b.context.UserID = value
	case "sessionId":
		b.context.SessionID = value
	case "remoteAddress":
		b.context.RemoteAddress = value
	case "environment":
		b.context.Environment = value
	case "appName":
		b.context.AppName = value
	case "currentTime":
		b.context.CurrentTime = value
	default:
		if b.countProperty(name, value) {
			if b.other == nil {
				b.other = map[string]string{}
			}
			b.other[name] = value
		}
	}
}

// property sets a property.
func (b *contextBuilder) property(name, value string) {
	if b.countProperty(name, value) {
		b.setProperty(name, value)
	}
}

// countProperty reports whether to keep a property.
func (b *contextBuilder) countProperty(name, value string) bool {
	b.count++
	return b.count <= maxProperties && len(name) <= maxPropertyName && len(value) <= evaluate.MaxValueLength
}

func (b *contextBuilder) setProperty(name, value string) {
	if b.context.Properties == nil {
		b.context.Properties = map[string]string{}
	}
	b.context.Properties[name] = value
}

// readQuery reads a context as browsers send it: userId=7&properties[plan]=gold. The first of several values counts.
func (b *contextBuilder) readQuery(query url.Values) {
	for name, values := range query {
		name, value := strings.ToValidUTF8(name, "\uFFFD"), strings.ToValidUTF8(values[0], "\uFFFD")
		property, isProperty := strings.CutPrefix(name, "properties[")
		if property, closed := strings.CutSuffix(property, "]"); isProperty && closed {
			b.property(property, value)
		} else {
			b.set(name, value)
		}
	}
}

// contextOf returns the field context of a body, and whether there is one. It must be an object, or null, which is nil. Errors about a body
// that is valid JSON are *contextError.
func contextOf(body []byte) (context []byte, found bool, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsonbody.Lenient)
	err = readObject(d, "the body", func(name string) error {
		if name != "context" {
			return d.SkipValue()
		}
		found = true
		value, err := d.ReadValue()
		switch value.Kind() {
		case 'n', 0:
			context = nil
			return err
		case '{':
			context = bytes.Clone(value)
			return err
		case '[': // PHP writes an empty object so
			if len(bytes.TrimSpace(value[1:len(value)-1])) == 0 {
				context = []byte("{}")
				return err
			}
		}
		return &contextError{codeInvalidContext, "context must be an object"}
	})
	if err == nil {
		if _, err = d.ReadToken(); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("there is more text after the end of the document")
		}
	}
	if bad, ok := errors.AsType[*contextError](err); ok {
		return nil, found, bad
	}
	if err != nil {
		return nil, found, jsonbody.SyntaxError(err)
	}
	return context, found, nil
}

// A contextError is the error of a context that is valid JSON and not a context.
type contextError struct {
	code    string // of OFREP
	message string
}

func (e *contextError) Error() string { return e.message }

// readContext reads a context, which is a valid JSON object.
func (b *contextBuilder) readContext(object []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(object), jsonbody.Lenient)
	return readObject(d, "context", func(name string) error {
		switch kind := d.PeekKind(); {
		case name == "targetingKey" && (kind == '{' || kind == '['):
			return &contextError{codeInvalidContext, "targetingKey must be a text"}
		case name == "targetingKey":
			return readValue(d, name, func(_, value string) { b.key = value })
		case name == "properties" && kind == '{':
			return readObject(d, "", func(name string) error { return readValue(d, name, b.property) })
		}
		return readValue(d, name, b.set)
	})
}

// readObject reads an object and calls read before the value of each field. what names it in the error if it is none.
func readObject(d *jsontext.Decoder, what string, read func(name string) error) error {
	if kind := d.PeekKind(); kind != '{' && kind != 0 {
		return &contextError{codeInvalidContext, what + " must be an object"}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := read(name.String()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken() // the end of the object
	return err
}

// readValue reads the value of a field as text. An object is its fields, with dots in their names: OpenFeature's contexts have
// objects. Those that are nested deeper than maxContextDepth are left out. A list is its JSON. Null is no value.
func readValue(d *jsontext.Decoder, name string, set func(name, value string)) error {
	switch d.PeekKind() {
	case '{':
		if d.StackDepth() >= maxContextDepth {
			return d.SkipValue()
		}
		return readObject(d, "", func(field string) error {
			if len(name)+len(field) >= maxPropertyName {
				return d.SkipValue()
			}
			return readValue(d, name+"."+field, set)
		})
	case '[':
		list, err := d.ReadValue()
		if err == nil && len(list) <= evaluate.MaxValueLength {
			err = list.Compact(jsonbody.Lenient)
		}
		set(name, strings.ToValidUTF8(string(list), "\uFFFD"))
		return err
	case 'n':
		return d.SkipValue()
	}
	value, err := d.ReadToken()
	text := value.String()
	if value.Kind() == '0' {
		text = jsonbody.ScalarText(jsontext.Value(text))
	}
	if err == nil {
		set(name, text)
	}
	return err
}
