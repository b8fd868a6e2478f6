package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A ContextField describes a field of the context in which SDKs evaluate flags. It helps users to write
// constraints. Constraints may name fields that have no description here.
type ContextField struct {
	Name        string       `json:"name"`
	Description *string      `json:"description,omitzero"` // nil for none
	Stickiness  bool         `json:"stickiness,omitzero"`  // whether it can be used as the stickiness of rollouts and variants
	SortOrder   int64        `json:"sortOrder"`
	LegalValues []LegalValue `json:"legalValues,omitempty"` // allowed values; empty for any value
	CreatedAt   time.Time    `json:"createdAt"`
}

// A LegalValue is an allowed value of a context field.
type LegalValue struct {
	Value       string  `json:"value"`
	Description *string `json:"description,omitzero"` // nil for none
}

// DefaultContextFieldSortOrder is the sort order of a new context field if the caller sends none.
const DefaultContextFieldSortOrder = 10

// StandardContextFields returns the context fields that a new service starts with. SDKs set them or know them by
// name.
func StandardContextFields(at time.Time) []ContextField {
	field := func(name, description string, order int64, stickiness bool) ContextField {
		return ContextField{Name: name, Description: &description, Stickiness: stickiness, SortOrder: order, CreatedAt: at}
	}
	return []ContextField{
		field("environment", "Environment in which the application runs", 0, false),
		field("userId", "Id of the user", 1, false),
		field("appName", "Name of the application", 2, false),
		field("currentTime", "Time of the evaluation", 3, false),
		field("sessionId", "Id of the session", 4, true),
	}
}

// Check adds all problems of the context field.
func (f ContextField) Check(p *Problems) {
	if fault := CheckName(f.Name); fault != "" {
		p.Add("/name", "%s", fault)
	}
	CheckLength("/description", valueOrEmpty(f.Description), MaxDescription, p)
	if !CheckCount("/legalValues", "values", len(f.LegalValues), MaxLegalValues, p) {
		return
	}
	seen := make(map[string]bool, len(f.LegalValues))
	for i, v := range f.LegalValues {
		path := "/legalValues/" + strconv.Itoa(i)
		v.Check(path, p)
		if seen[v.Value] {
			p.Add(path+"/value", "the value %q is listed twice", v.Value)
		}
		seen[v.Value] = true
	}
}

// Check adds all problems of the value, at paths below path.
func (v LegalValue) Check(path string, p *Problems) {
	if v.Value == "" {
		p.Add(path+"/value", "is required")
	}
	CheckLength(path+"/value", v.Value, MaxIdentifier, p)
	CheckLength(path+"/description", valueOrEmpty(v.Description), MaxTitle, p)
}

// WithValue returns the field with the legal value added. An existing entry of the same value is replaced.
func (f ContextField) WithValue(v LegalValue) ContextField {
	f = f.WithoutValue(v.Value)
	f.LegalValues = append(f.LegalValues, v)
	return f
}

// WithoutValue returns the field without the legal value.
func (f ContextField) WithoutValue(value string) ContextField {
	f.LegalValues = slices.DeleteFunc(slices.Clone(f.LegalValues), func(v LegalValue) bool { return v.Value == value })
	return f
}

// ContextFields is the registry of all context fields: one aggregate, sorted by name.
type ContextFields struct {
	Version int64          `json:"version,omitzero"`
	List    []ContextField `json:"list"`
}

// Key returns the key of the registry.
func (r *ContextFields) Key() Key { return ContextFieldsKey() }

// StoredVersion returns the version of the whole registry: changes of different fields conflict, too, and are retried.
func (r *ContextFields) StoredVersion() int64 { return r.Version }

// Clone returns a copy that can be changed.
func (r *ContextFields) Clone() *ContextFields {
	c := *r
	c.List = slices.Clone(r.List)
	return &c
}

// Get returns the context field of that name, or NotFound.
func (r *ContextFields) Get(name string) (ContextField, error) {
	i, found := r.search(name)
	if !found {
		return ContextField{}, Errorf(NotFound, "there is no context field %q", name)
	}
	return r.List[i], nil
}

// Has reports whether a context field of that name exists.
func (r *ContextFields) Has(name string) bool {
	_, found := r.search(name)
	return found
}

// Add adds a context field. It returns NameExists if the name is taken, and Invalid if the limit is reached.
func (r *ContextFields) Add(made ContextField, limits Limits) error {
	i, found := r.search(made.Name)
	if found {
		return Errorf(NameExists, "a context field named %q exists already", made.Name)
	}
	if n := len(r.List); n >= limits.ContextFields {
		return Errorf(Invalid, "there are %d context fields, and no more than %d are allowed; delete one first", n, limits.ContextFields)
	}
	r.List = slices.Insert(r.List, i, made)
	return nil
}

// Replace replaces the context field of the same name. It returns NotFound if there is none.
func (r *ContextFields) Replace(changed ContextField) error {
	i, found := r.search(changed.Name)
	if !found {
		return Errorf(NotFound, "there is no context field %q", changed.Name)
	}
	r.List[i] = changed
	return nil
}

// Remove deletes a context field. It returns NotFound if there is none, and Conflict while a constraint uses it:
// of an active flag in an existing environment, of a default strategy, or of a segment.
func (r *ContextFields) Remove(name string, uses []FeatureUse, projects []*Project, registry *Environments, segments []*Segment) error {
	i, found := r.search(name)
	if !found {
		return Errorf(NotFound, "there is no context field %q", name)
	}
	var users []string
	for _, u := range uses {
		if !u.Archived && slices.ContainsFunc(u.Strategies, func(s StrategyUse) bool { return s.UsesContextField(name) && s.environmentExists(registry) }) {
			users = append(users, u.label())
		}
	}
	for _, d := range FindDefaultStrategyUses(projects, registry, func(s Strategy) bool { return s.UsesContextField(name) }) {
		users = append(users, d.label())
	}
	for _, s := range segments {
		if hasField(s.Constraints, name) {
			users = append(users, "segment "+strconv.Quote(s.Name))
		}
	}
	if len(users) > 0 {
		return inUseError(fmt.Sprintf("the context field %q is", name), users)
	}
	r.List = slices.Delete(r.List, i, i+1)
	return nil
}

func (r *ContextFields) search(name string) (int, bool) {
	return slices.BinarySearchFunc(r.List, name, func(f ContextField, name string) int { return strings.Compare(f.Name, name) })
}

// MaxNamedUses is how many users of something that cannot be deleted an error names in its details. A caller need not find more of
// them than one more.
const MaxNamedUses = 100

// inUseError returns a Conflict for something that cannot be deleted. The details list the first MaxNamedUses users, the message
// the first ten.
func inUseError(what string, users []string) *Error {
	named := strings.Join(users[:min(len(users), 10)], ", ")
	switch more := len(users) - 10; {
	case len(users) > MaxNamedUses:
		named = fmt.Sprintf("%s and at least %d more", named, MaxNamedUses+1-10)
	case more > 0:
		named = fmt.Sprintf("%s and %d more", named, more)
	}
	var details Problems
	for _, user := range users[:min(len(users), MaxNamedUses)] {
		details.Add("", "used by %s", user)
	}
	return &Error{Kind: Conflict, Message: fmt.Sprintf("%s in use by %s", what, named), Details: details}
}
