package serving

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// A query is what a request of the client API asks for: it limits which flags the answer has.
type query struct {
	projects    []string    // IDs, sorted; nil for all. Ignored for a token of certain projects
	namePrefix  string      // "" for any
	tags        []flags.Tag // sorted; the flag must have one of them. nil for any
	environment string      // for tokens of all environments; "" for none
	inlined     bool        // the caller's SDK is too old for segments
}

// The limits of a query. API Gateway itself takes at most 10 KB.
const (
	maxQuery      = 16 << 10 // bytes
	maxQueryItems = 100      // tags, and projects
)

// parseQuery reads the query and headers of a request. Parameters that are not known are ignored.
func parseQuery(r *http.Request) (query, error) {
	if n := len(r.URL.RawQuery); n > maxQuery {
		return query{}, flags.Errorf(flags.Invalid, "the query of the URL must have at most %d bytes, has %d", maxQuery, n)
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return query{}, flags.Errorf(flags.Invalid, "the query of the URL is malformed; escape special characters with %%, and separate parameters with &")
	}
	var problems flags.Problems
	for _, name := range []string{"namePrefix", "environment", "project", "tag"} {
		if slices.ContainsFunc(values[name], func(value string) bool { return !utf8.ValidString(value) }) {
			problems.Add("/"+name, "must be valid UTF-8")
		}
	}
	one := func(name string) string {
		all := values[name]
		if len(all) > 1 {
			problems.Add("/"+name, "must be given once, is given %d times", len(all))
		}
		value := values.Get(name)
		flags.CheckLength("/"+name, value, flags.MaxIdentifier, &problems)
		return value
	}
	q := query{namePrefix: one("namePrefix"), environment: one("environment")}
	q.setProjects(values["project"], &problems)
	q.setTags(values["tag"], &problems)
	if err := problems.Err(); err != nil {
		return query{}, err
	}
	q.inlined, err = needsInlined(r.Header.Get("Unleash-Client-Spec"))
	return q, err
}

func (q *query) setProjects(ids []string, problems *flags.Problems) {
	if !flags.CheckCount("/project", "values", len(ids), maxQueryItems, problems) {
		return
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	if len(ids) > 0 && !slices.Contains(ids, flags.All) {
		slices.Sort(ids)
		q.projects = slices.Compact(ids)
	}
}

func (q *query) setTags(tags []string, problems *flags.Problems) {
	if !flags.CheckCount("/tag", "values", len(tags), maxQueryItems, problems) {
		return
	}
	for _, tag := range tags {
		kind, value, _ := strings.Cut(tag, ":")
		if kind == "" || value == "" {
			problems.Add("/tag", "must be the type and the value of a tag with a colon between them, such as simple:beta; is %q", jsonbody.Shorten(tag))
			continue
		}
		q.tags = append(q.tags, flags.Tag{Type: kind, Value: value})
	}
	q.tags = flags.DistinctTags(q.tags)
}

// segmentsSpec is the version of the client specification that introduced segments.
const segmentsSpec = "4.2.0"

// maxSpec is the maximum length of the header Unleash-Client-Spec.
const maxSpec = 100

// needsInlined reports whether the caller's SDK knows no segments. spec is the version of the client specification that the SDK
// implements, "" for none.
func needsInlined(spec string) (bool, error) {
	if spec = strings.TrimSpace(spec); spec == "" {
		return true, nil
	}
	order, valid := evaluate.CompareVersions(spec[:min(len(spec), maxSpec)], segmentsSpec)
	if !valid || len(spec) > maxSpec {
		return false, flags.Errorf(flags.Invalid, "Invalid SemVer in the Unleash-Client-Spec header: %q; send a full version such as 5.2.0, or no such header", jsonbody.Shorten(spec))
	}
	return order < 0, nil
}

// takesName reports whether flags of that name can be in the answer.
func (q query) takesName(name string) bool { return strings.HasPrefix(name, q.namePrefix) }

// takesTags reports whether a flag with these tags can be in the answer.
func (q query) takesTags(tags []flags.Tag) bool {
	return len(q.tags) == 0 || slices.ContainsFunc(tags, func(t flags.Tag) bool { return slices.Contains(q.tags, t) })
}
