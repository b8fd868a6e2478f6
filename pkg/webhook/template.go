package webhook

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The limits of a body made from a template.
const (
	maxBody     = 1 << 20
	maxDepth    = 10     // sections in each other
	maxRendered = 20_000 // tags and texts that are rendered, repeated ones each time
)

// A bodyTemplate is a parsed bodyTemplate: https://mustache.github.io without partials, other delimiters and the rules for
// lines that have only a tag. Mustache libraries read files for partials, or cannot bound what a template repeats.
type bodyTemplate []templateNode

// A templateNode is a piece of a template.
type templateNode struct {
	kind     byte // 0 for text, = for a value, & for a value without escapes, # for a section, ^ for an inverted section
	text     string
	path     []string // of a value or section: event.data.name; nil for "." alone
	children bodyTemplate
}

// CheckTemplate returns the reason why a text cannot be a bodyTemplate.
func CheckTemplate(text string) error {
	_, err := parseTemplate(text)
	return err
}

func parseTemplate(text string) (bodyTemplate, error) {
	if utf8.RuneCountInString(text) > maxTemplate {
		return nil, invalid("bodyTemplate has more than %d characters", maxTemplate)
	}
	p := templateParser{rest: text}
	nodes, err := p.section("", 0)
	if err != nil {
		return nil, err
	}
	return nodes, nil
}

// A templateParser has what follows of a template.
type templateParser struct{ rest string }

// section reads until the end tag of the section with that name, or to the end of the template.
func (p *templateParser) section(name string, depth int) (bodyTemplate, error) {
	if depth > maxDepth {
		return nil, invalid("bodyTemplate has more than %d sections in each other", maxDepth)
	}
	var nodes bodyTemplate
	for {
		text, rest, found := strings.Cut(p.rest, "{{")
		if text != "" {
			nodes = append(nodes, templateNode{text: text})
		}
		if !found {
			if name != "" {
				return nil, invalid("bodyTemplate: the section {{#%s}} has no {{/%s}}", shorten(name), shorten(name))
			}
			return nodes, nil
		}
		kind, tag, err := p.tag(rest)
		if err != nil {
			return nil, err
		}
		node := templateNode{kind: kind, path: strings.Split(tag, ".")}
		if tag == "." {
			node.path = nil
		}
		switch kind {
		case '!':
			continue
		case '/':
			if tag != name || name == "" {
				return nil, invalid("bodyTemplate: {{/%s}} ends no section that is open", shorten(tag))
			}
			return nodes, nil
		case '#', '^':
			if node.children, err = p.section(tag, depth+1); err != nil {
				return nil, err
			}
		}
		nodes = append(nodes, node)
	}
}

// tag reads a tag, after its first two braces.
func (p *templateParser) tag(rest string) (kind byte, tag string, err error) {
	kind, end := byte('='), "}}"
	switch {
	case strings.HasPrefix(rest, "{"):
		kind, end, rest = '&', "}}}", rest[1:]
	case strings.IndexAny(rest, "&#^/!") == 0:
		kind, rest = rest[0], rest[1:]
	case strings.HasPrefix(rest, ">"), strings.HasPrefix(rest, "="):
		return 0, "", invalid("bodyTemplate: {{> }} and {{= =}} are not supported")
	}
	tag, p.rest, _ = strings.Cut(rest, end)
	tag = strings.TrimSpace(tag)
	switch {
	case !strings.Contains(rest, end):
		return 0, "", invalid("bodyTemplate: the tag {{%s is not closed by %s", shorten(tag), end)
	case kind != '!' && (tag == "" || strings.ContainsAny(tag, " {}\n\t")):
		return 0, "", invalid("bodyTemplate: {{%s}} is not the name of a value", shorten(tag))
	}
	return kind, tag, nil
}

// A literal is a value that is never escaped.
type literal string

// render fills the template with values. Values are escaped as in a JSON string if the body is JSON, otherwise as in HTML.
func (t bodyTemplate) render(values map[string]any, contentType string) ([]byte, error) {
	r := renderer{escape: html.EscapeString}
	if strings.Contains(strings.ToLower(contentType), "json") {
		r.escape = escapeJSON
	}
	if err := r.nodes(t, []any{values}); err != nil {
		return nil, err
	}
	return []byte(r.out.String()), nil
}

// A renderer writes the body, and counts what it does.
type renderer struct {
	out    strings.Builder
	escape func(string) string
	count  int
}

func (r *renderer) nodes(nodes bodyTemplate, context []any) error {
	for _, node := range nodes {
		if r.count++; r.count > maxRendered || r.out.Len() > maxBody {
			return invalid("bodyTemplate makes a body that is too long")
		}
		value := lookup(context, node.path)
		switch node.kind {
		case 0:
			r.out.WriteString(node.text)
		case '=':
			if text, ok := value.(literal); ok {
				r.out.WriteString(string(text))
			} else {
				r.out.WriteString(r.escape(textOf(value)))
			}
		case '&':
			r.out.WriteString(textOf(value))
		case '^':
			if !holds(value) {
				if err := r.nodes(node.children, context); err != nil {
					return err
				}
			}
		case '#':
			for _, item := range items(value) {
				if r.count++; r.count > maxRendered {
					return invalid("bodyTemplate makes a body that is too long")
				}
				if err := r.nodes(node.children, append(context[:len(context):len(context)], item)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// lookup finds a value in the innermost context that has it.
func lookup(context []any, path []string) any {
	for i := len(context) - 1; i >= 0; i-- {
		value, found := context[i], true
		for _, name := range path {
			if value, found = member(value, name); !found {
				break
			}
		}
		if found {
			return value
		}
	}
	return nil
}

func member(value any, name string) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		found, ok := value[name]
		return found, ok
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(value) {
			return value[i], true
		}
	}
	return nil, false
}

// items are the contexts that a section is rendered with: none if the value does not hold.
func items(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	if !holds(value) {
		return nil
	}
	return []any{value}
}

// holds tells whether a section is rendered.
func holds(value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case bool:
		return value
	case string:
		return value != ""
	case float64:
		return value != 0
	case []any:
		return len(value) > 0
	}
	return true
}

// textOf is a value as text: JSON for objects and lists, nothing for null.
func textOf(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case literal:
		return string(value)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	text, _ := json.Marshal(value, json.Deterministic(true)) // values come from JSON
	return string(text)
}

func escapeJSON(text string) string {
	quoted, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "�")) // fails for invalid UTF-8 only
	return string(quoted[1 : len(quoted)-1])
}
