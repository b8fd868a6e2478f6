package evaluate

import (
	"math/rand/v2"
	"time"
)

// MaxValueLength is the longest context value in bytes that is evaluated. A longer one counts as absent. This bounds the
// time that an evaluation takes, whatever a caller sends. It is about what fits into the URL of a request.
const MaxValueLength = 10_000

// A Context describes who or what a flag is evaluated for. An empty string and a missing property both mean that the
// field is absent, except that REGEX compares with an empty property. Evaluation does not change a context, so it can be used by several goroutines at once.
type Context struct {
	UserID        string            `json:"userId"`
	SessionID     string            `json:"sessionId"`
	RemoteAddress string            `json:"remoteAddress"`
	Environment   string            `json:"environment"`
	AppName       string            `json:"appName"`
	CurrentTime   string            `json:"currentTime"` // see ValidDate; Now if absent
	Properties    map[string]string `json:"properties"`

	// Hostname is the host that the application runs on, for the strategy applicationHostname.
	Hostname string `json:"-"`
	// Now is the time that DATE operators compare with if the context has none.
	Now time.Time `json:"-"`
	// Random returns a number from 0 to n-1, for random stickiness. Nil uses math/rand. It must be safe for concurrent
	// use if the context is.
	Random func(n uint32) uint32 `json:"-"`

	memory *memory // of an Evaluation; nil outside of one
}

func (c *Context) random(n uint32) uint32 {
	if c.Random != nil {
		return c.Random(n)
	}
	return rand.Uint32N(n) //nolint:gosec // G404: it is no secret which user gets a flag
}

// A field is a context field, found by its name at compile time.
type field struct {
	kind     fieldKind
	property string // name of the property, if it is one
}

type fieldKind uint8

const (
	propertyField fieldKind = iota
	userIDField
	sessionIDField
	remoteAddressField
	environmentField
	appNameField
	currentTimeField
)

func newField(name string) field {
	switch name {
	case "userId":
		return field{kind: userIDField}
	case "sessionId":
		return field{kind: sessionIDField}
	case "remoteAddress":
		return field{kind: remoteAddressField}
	case "environment":
		return field{kind: environmentField}
	case "appName":
		return field{kind: appNameField}
	case "currentTime":
		return field{kind: currentTimeField}
	}
	return field{kind: propertyField, property: name}
}

// of returns the value of the field in a context, or "" if it is absent or too long.
func (f field) of(c *Context) string {
	var value string
	switch f.kind {
	case propertyField:
		value = c.Properties[f.property]
	case userIDField:
		value = c.UserID
	case sessionIDField:
		value = c.SessionID
	case remoteAddressField:
		value = c.RemoteAddress
	case environmentField:
		value = c.Environment
	case appNameField:
		value = c.AppName
	case currentTimeField:
		value = c.CurrentTime
	}
	if len(value) > MaxValueLength {
		return ""
	}
	c.charge(len(value), 1)
	return value
}

// isEmptyProperty reports whether the field is a property that the context has, with an empty value. Only REGEX distinguishes it from an
// absent one.
func (f field) isEmptyProperty(c *Context) bool {
	value, found := c.Properties[f.property]
	return f.kind == propertyField && found && value == ""
}
