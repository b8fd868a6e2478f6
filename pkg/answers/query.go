package answers

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"guidon/pkg/apipath"
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// A Query is what a request of the client API asks for: it limits the flags of the response.
type Query struct {
	Environment string // for tokens of all environments; "" for none

	projects   []string    // IDs, sorted; nil for all. Ignored for a token of certain projects
	namePrefix string      // "" for any
	tags       []flags.Tag // sorted; the flag must have one of them. nil for any
	inlined    bool        // the caller's SDK is too old for segments
}

// The limits of a query. API Gateway itself takes at most 10 KB.
const (
	maxQuery      = 16 << 10 // bytes
	maxQueryItems = 100      // tags, and projects
)

// ParseQuery reads the query of a URL, and the header Unleash-Client-Spec. It ignores unknown parameters.
func ParseQuery(text, spec string) (Query, error) {
	if n := len(text); n > maxQuery {
		return Query{}, flags.Errorf(flags.Invalid, "the query of the URL must have at most %d bytes, but has %d", maxQuery, n)
	}
	values := apipath.Parameters(text)
	var problems flags.Problems
	for _, name := range []string{"namePrefix", "environment", "project", "tag"} {
		if slices.ContainsFunc(values[name], func(value string) bool { return !utf8.ValidString(value) }) {
			problems.Add("/"+name, "must be valid UTF-8")
		}
	}
	one := func(name string) string {
		all := values[name]
		if len(all) > 1 {
			problems.Add("/"+name, "must appear once, but appears %d times", len(all))
		}
		value := values.Get(name)
		flags.CheckLength("/"+name, value, flags.MaxIdentifier, &problems)
		return value
	}
	q := Query{namePrefix: one("namePrefix"), Environment: one("environment")}
	q.setProjects(values["project"], &problems)
	q.setTags(values["tag"], &problems)
	if err := problems.Err(); err != nil {
		return Query{}, err
	}
	inlined, err := needsInlined(spec)
	q.inlined = inlined
	return q, err
}

func (q *Query) setProjects(ids []string, problems *flags.Problems) {
	if !flags.CheckCount("/project", "values", len(ids), maxQueryItems, problems) {
		return
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	if len(ids) > 0 && !slices.Contains(ids, flags.All) {
		slices.Sort(ids)
		q.projects = slices.Compact(ids)
	}
}

func (q *Query) setTags(tags []string, problems *flags.Problems) {
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

// takesName reports whether flags of that name can be in the response.
func (q Query) takesName(name string) bool { return strings.HasPrefix(name, q.namePrefix) }

// takesTags reports whether a flag with these tags can be in the response.
func (q Query) takesTags(tags []flags.Tag) bool {
	return len(q.tags) == 0 || slices.ContainsFunc(tags, func(t flags.Tag) bool { return slices.Contains(q.tags, t) })
}

// A selection is what a response of the client API consists of: what a token may read of a Set, limited by a query.
type selection struct {
	set   *Set
	scope Scope
	query Query
	shown ClientQuery
	key   [sha256.Size]byte // the same for the same selection of another Set
}

// newSelection limits a scope by a query. kind distinguishes responses of different forms.
func newSelection(set *Set, scope Scope, q Query, kind string) *selection {
	s := &selection{set: set, scope: scope, query: q}
	s.shown = ClientQuery{NamePrefix: q.namePrefix, Environment: scope.Environment, InlineSegmentConstraints: q.inlined}
	for _, t := range q.tags {
		s.shown.Tag = append(s.shown.Tag, [2]string{t.Type, t.Value})
	}
	switch {
	case !scope.All: // the token settles the projects
		s.shown.Project = scope.ProjectIDs
	case q.projects != nil:
		s.shown.Project = q.projects
	}
	parts := []string{kind, string(encode(s.shown)), set.environment}
	s.key = sha256.Sum256([]byte(strings.Join(append(parts, scope.ProjectUIDs...), "\x00")))
	return s
}

// scopeTag names the selection in the ETags of deltas.
func (s *selection) scopeTag() string { return hex.EncodeToString(s.key[:4]) }

// queryHash names the query in a response.
func (s *selection) queryHash() string {
	h := sha256.Sum256(encode(s.shown))
	return hex.EncodeToString(h[:4])
}

// includes reports whether a flag is in the response.
func (s *selection) includes(f *Flag) bool {
	return s.scope.Sees(f.ProjectUID) && s.query.takesName(f.Name) && s.query.takesTags(f.Tags) && s.takesProject(f.Project)
}

// takesProject reports whether the query takes flags of a project.
func (s *selection) takesProject(id string) bool {
	if !s.scope.All || s.query.projects == nil {
		return true
	}
	_, found := slices.BinarySearch(s.query.projects, id)
	return found
}

// flags returns the flags of the response, sorted by name.
func (s *selection) flags() iter.Seq[*Flag] {
	return func(yield func(*Flag) bool) {
		for _, f := range s.set.from(s.query.namePrefix) {
			if !s.query.takesName(f.Name) {
				return
			}
			if s.includes(f) && !yield(f) {
				return
			}
		}
	}
}

// segments returns the segments of the response, sorted by ID.
func (s *selection) segments() iter.Seq[*Segment] {
	return func(yield func(*Segment) bool) {
		for _, segment := range s.set.segments {
			if s.scope.seesSegment(segment.ProjectUID) && !yield(segment) {
				return
			}
		}
	}
}

// sum returns the hash of everything in the response but its meta: a sum of hashes, so it does not depend on the order.
func (s *selection) sum() sum {
	total := hashOf(encode(s.shown))
	for f := range s.flags() {
		total = total.plus(s.set.fragment(f, s.query.inlined).hash)
	}
	if !s.query.inlined {
		for segment := range s.segments() {
			total = total.plus(segment.fragment().hash)
		}
	}
	return total
}
