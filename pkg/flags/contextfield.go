package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A ContextField describes a member of the context that SDKs evaluate flags in: for people who write constraints, and
// their consoles. Constraints may name any, described or not.
type ContextField struct {
	Name        string
	Description *string // nil for none
	Stickiness  bool    // whether rollouts may go by it
	SortOrder   int64
	LegalValues []LegalValue // what it can be; none for anything
	CreatedAt   time.Time
}

// A LegalValue is a value that a context field can have.
type LegalValue struct {
	Value       string
	Description *string // nil for none
}

// DefaultContextFieldSortOrder is the sort order of a context field whose maker says nothing.
const DefaultContextFieldSortOrder = 10

// StandardContextFields are there from the start: every SDK fills them in by itself or knows them by name.
func StandardContextFields(at time.Time) []ContextField {
	field := func(name, constrains string, order int64, stickiness bool) ContextField {
		description := "Allows you to constrain on " + constrains
		return ContextField{Name: name, Description: &description, Stickiness: stickiness, SortOrder: order, CreatedAt: at}
	}
	return []ContextField{
		field("environment", "application environment", 0, false),
		field("userId", "userId", 1, false),
		field("appName", "application name", 2, false),
		field("currentTime", "date values", 3, false),
		field("sessionId", "sessionId", 4, true),
	}
}

// Check notes what is wrong with the context field.
func (f ContextField) Check(p *Problems) {
	if fault := CheckName(f.Name); fault != "" {
		p.Add("/name", "%s", fault)
	}
	CheckLength("/description", textOf(f.Description), MaxDescription, p)
	if !CheckCount("/legalValues", "values", len(f.LegalValues), MaxLegalValues, p) {
		return
	}
	seen := make(map[string]bool, len(f.LegalValues))
	for i, v := range f.LegalValues {
		path := "/legalValues/" + strconv.Itoa(i)
		v.Check(path, p)
		if seen[v.Value] {
			p.Add(path+"/value", "%q is there twice", v.Value)
		}
		seen[v.Value] = true
	}
}

// Check notes what is wrong with the value, with paths below path.
func (v LegalValue) Check(path string, p *Problems) {
	if v.Value == "" {
		p.Add(path+"/value", "is required")
	}
	CheckLength(path+"/value", v.Value, MaxIdentifier, p)
	CheckLength(path+"/description", textOf(v.Description), MaxTitle, p)
}

// WithValue is the field with a legal value more, or with that value described anew.
func (f ContextField) WithValue(v LegalValue) ContextField {
	f = f.WithoutValue(v.Value)
	f.LegalValues = append(f.LegalValues, v)
	return f
}

// WithoutValue is the field without a legal value.
func (f ContextField) WithoutValue(value string) ContextField {
	f.LegalValues = slices.DeleteFunc(slices.Clone(f.LegalValues), func(v LegalValue) bool { return v.Value == value })
	return f
}

// ContextFields is the registry of context fields, one aggregate, by name.
type ContextFields struct {
	Version int64
	List    []ContextField
}

// Key names the registry.
func (r *ContextFields) Key() Key { return ContextFieldsKey() }

func (r *ContextFields) version() int64 { return r.Version }

// Clone is a copy to change.
func (r *ContextFields) Clone() *ContextFields {
	c := *r
	c.List = slices.Clone(r.List)
	return &c
}

// Get is the context field of that name. NotFound when there is none.
func (r *ContextFields) Get(name string) (ContextField, error) {
	i, found := r.search(name)
	if !found {
		return ContextField{}, Errorf(NotFound, "there is no context field %q", name)
	}
	return r.List[i], nil
}

// Has tells whether there is a context field of that name.
func (r *ContextFields) Has(name string) bool {
	_, found := r.search(name)
	return found
}

// Add makes a context field. NameExists when the name is taken, Invalid past the limit.
func (r *ContextFields) Add(made ContextField, limits Limits) error {
	i, found := r.search(made.Name)
	if found {
		return Errorf(NameExists, "a context field named %q exists already", made.Name)
	}
	if n := len(r.List); n >= limits.ContextFields {
		return Errorf(Invalid, "there are %d context fields already, and no more than %d are allowed", n, limits.ContextFields)
	}
	r.List = slices.Insert(r.List, i, made)
	return nil
}

// Replace puts a context field in the place of the one of its name. NotFound when there is none.
func (r *ContextFields) Replace(changed ContextField) error {
	i, found := r.search(changed.Name)
	if !found {
		return Errorf(NotFound, "there is no context field %q", changed.Name)
	}
	r.List[i] = changed
	return nil
}

// Remove takes a context field away. NotFound when there is none, Conflict while active flags, in environments that
// exist, default strategies or segments have constraints on it.
func (r *ContextFields) Remove(name string, uses []FeatureUse, projects []*Project, registry *Environments, segments []*Segment) error {
	i, found := r.search(name)
	if !found {
		return Errorf(NotFound, "there is no context field %q", name)
	}
	var users []string
	for _, u := range uses {
		if !u.Archived && slices.ContainsFunc(u.Strategies, func(s StrategyUse) bool { return s.UsesContextField(name) && s.in(registry) }) {
			users = append(users, u.user())
		}
	}
	for _, d := range FindDefaultStrategyUses(projects, registry, func(s Strategy) bool { return s.UsesContextField(name) }) {
		users = append(users, d.user())
	}
	for _, s := range segments {
		if hasField(s.Constraints, name) {
			users = append(users, "segment "+strconv.Quote(s.Name))
		}
	}
	if len(users) > 0 {
		return inUse(fmt.Sprintf("the context field %q", name), users)
	}
	r.List = slices.Delete(r.List, i, i+1)
	return nil
}

func (r *ContextFields) search(name string) (int, bool) {
	return slices.BinarySearchFunc(r.List, name, func(f ContextField, name string) int { return strings.Compare(f.Name, name) })
}

// inUse says that something cannot be deleted, and who uses it: all of them in the details, a few in the message.
func inUse(what string, users []string) *Error {
	named := strings.Join(users[:min(len(users), 10)], ", ")
	if more := len(users) - 10; more > 0 {
		named = fmt.Sprintf("%s and %d more", named, more)
	}
	var details Problems
	for _, user := range users {
		details.Add("", "it is used by the %s", user)
	}
	return &Error{Kind: Conflict, Message: fmt.Sprintf("%s is in use by the %s", what, named), Details: details}
}
