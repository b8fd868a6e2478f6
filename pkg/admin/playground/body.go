package playground

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/admin/wire"
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// MaxFields is how many fields and properties a context can have.
const MaxFields = 100

// A playgroundBody says what to evaluate: flags of projects in an environment, for a context.
type playgroundBody struct {
	Environment string                 `json:"environment"`
	Projects    projectsBody           `json:"projects"`
	Feature     jsonbody.Maybe[string] `json:"feature"`
	Context     contextBody            `json:"context"`
}

func (b playgroundBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/environment", b.Environment, problems)
	if b.Feature.Set {
		wire.CheckName("/feature", b.Feature.Value, problems)
	}
	b.Projects.check(problems)
	b.Context.check(problems)
}

// An advancedPlaygroundBody is a playgroundBody for several environments, and for context fields that have several values,
// between commas.
type advancedPlaygroundBody struct {
	Environments []string     `json:"environments"`
	Projects     projectsBody `json:"projects"`
	Context      contextBody  `json:"context"`
}

func (b advancedPlaygroundBody) Check(_ flags.Limits, problems *flags.Problems) {
	if len(b.Environments) == 0 {
		problems.Add("/environments", "must have at least one environment")
	}
	if flags.CheckCount("/environments", "environments", len(b.Environments), wire.MaxBulk, problems) {
		checkNames("/environments", b.Environments, problems)
	}
	b.Projects.check(problems)
	b.Context.check(problems)
	if len(b.Environments)*b.Context.count() > MaxResults {
		problems.Add("/context", "has too many combinations of values between commas: at most %d results are allowed, one for each "+
			"flag, environment and combination", MaxResults)
	}
}

// checkNames checks a list of names.
func checkNames(path string, names []string, problems *flags.Problems) {
	for i, name := range names {
		at := path + "/" + strconv.Itoa(i)
		wire.CheckName(at, name, problems)
		if slices.Contains(names[:i], name) {
			problems.Add(at, "is listed twice")
		}
	}
}

// A projectsBody selects projects: a list of IDs, or "*" for all, which is the default.
type projectsBody struct {
	ids  []string       // nil for all
	sent jsontext.Value // nil if absent
}

// UnmarshalJSONFrom decodes the projects.
func (b *projectsBody) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	b.sent = value.Clone()
	if text, _ := textOf(value); value.Kind() == '"' && text == flags.All {
		return nil
	}
	b.ids = []string{}
	if value.Kind() != '[' || json.Unmarshal(value, &b.ids) != nil {
		return errors.New(`must be "*" for all projects, or a list of ids`)
	}
	return nil
}

func (b projectsBody) all() bool { return b.ids == nil }

func (b projectsBody) check(problems *flags.Problems) {
	if flags.CheckCount("/projects", "projects", len(b.ids), wire.MaxBulk, problems) {
		checkNames("/projects", b.ids, problems)
	}
}

// A contextBody is the context to evaluate flags for. As in applications, a field that is not standard is a property, and one
// in properties takes precedence.
type contextBody struct {
	fields     map[string]string // with the properties; nil if the body has no context
	properties map[string]bool   // which of them are properties
	ignored    []string          // names of fields that are no text
	problems   flags.Problems
	sent       jsontext.Value
}

// standardFields are the fields of a context that must be texts.
var standardFields = []string{"appName", "currentTime", "environment", "remoteAddress", "sessionId", "userId"}

// UnmarshalJSONFrom decodes the context.
func (b *contextBody) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	b.sent = value.Clone()
	var fields, properties map[string]jsontext.Value
	if value.Kind() != '{' || json.Unmarshal(value, &fields) != nil {
		return errors.New("must be an object")
	}
	b.fields, b.properties = map[string]string{}, map[string]bool{}
	if sent, found := fields["properties"]; found {
		if sent.Kind() != '{' || json.Unmarshal(sent, &properties) != nil {
			b.problems.Add("/properties", "must be an object")
		}
		delete(fields, "properties")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if text, isText := textOf(fields[name]); isText {
			b.fields[name] = text
		} else if slices.Contains(standardFields, name) {
			b.problems.Add("/"+name, "must be a string")
		} else {
			b.ignored = append(b.ignored, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		text, isText := textOf(properties[name])
		if !isText {
			b.problems.Add(string(jsontext.Pointer("/properties").AppendToken(name)), "must be a string")
		}
		b.fields[name], b.properties[name] = text, true
	}
	return nil
}

// textOf returns a string, number or boolean as text, and null as an absent text. Others are none.
func textOf(value jsontext.Value) (text string, isText bool) {
	switch value.Kind() {
	case '"':
		unquoted, err := jsontext.AppendUnquote(nil, value)
		return string(unquoted), err == nil
	case '0', 't', 'f':
		return string(value), true
	case 'n':
		return "", true
	}
	return "", false
}

// check finds what is wrong with the context.
func (b contextBody) check(problems *flags.Problems) {
	if b.fields == nil {
		problems.Add("/context", "is required")
		return
	}
	for _, problem := range b.problems {
		problems.Add("/context"+problem.Path, "%s", problem.Message)
	}
	if b.fields["appName"] == "" {
		problems.Add("/context/appName", "is required")
	}
	if !flags.CheckCount("/context", "fields and properties", len(b.fields)+len(b.ignored), MaxFields, problems) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(b.fields)) {
		path := b.path(name)
		flags.CheckLength(path, name, flags.MaxIdentifier, problems)
		if n := len(b.fields[name]); n > evaluate.MaxValueLength { // all values between commas together
			problems.Add(path, "must have at most %d bytes, but has %d", evaluate.MaxValueLength, n)
		}
	}
	if at := b.fields["currentTime"]; at != "" && !evaluate.ValidDate(at) {
		problems.Add("/context/currentTime", "must be a time in RFC 3339, such as 2026-03-04T05:06:07Z")
	}
}

// path is where the body has a field or property.
func (b contextBody) path(name string) string {
	path := jsontext.Pointer("/context")
	if b.properties[name] {
		path = path.AppendToken("properties")
	}
	return string(path.AppendToken(name))
}

// warnings tells which fields are ignored.
func (b contextBody) warnings() *playgroundWarnings {
	if len(b.ignored) == 0 {
		return nil
	}
	return &playgroundWarnings{b.ignored}
}

// count returns the number of combinations of the values between commas, and MaxResults+1 if there are more.
func (b contextBody) count() int {
	n := 1
	for _, text := range b.fields {
		n = min(n*(strings.Count(text, ",")+1), MaxResults+1)
	}
	return n
}

// combinations returns a context for each combination of the values between commas. The last field by name changes first.
func (b contextBody) combinations() []map[string]string {
	all := []map[string]string{{}}
	for _, name := range slices.Sorted(maps.Keys(b.fields)) {
		values := strings.Split(b.fields[name], ",")
		longer := make([]map[string]string, 0, len(all)*len(values))
		for _, fields := range all {
			for _, value := range values {
				next := maps.Clone(fields)
				next[name] = value
				longer = append(longer, next)
			}
		}
		all = longer
	}
	return all
}

// contextOf returns a context as the evaluator takes it.
func contextOf(fields map[string]string) *evaluate.Context {
	c := &evaluate.Context{Environment: "default", Properties: map[string]string{}} // as in SDKs and the frontend API
	for name, value := range fields {
		switch name {
		case "userId":
			c.UserID = value
		case "sessionId":
			c.SessionID = value
		case "remoteAddress":
			c.RemoteAddress = value
		case "environment":
			if value != "" {
				c.Environment = value
			}
		case "appName":
			c.AppName = value
		case "currentTime":
			c.CurrentTime = value
		default:
			c.Properties[name] = value
		}
	}
	return c
}
