package flags

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A StrategyType is a sort of strategy: a built-in one, or one that somebody defined; SDKs bring what it does.
type StrategyType struct {
	Name        string // no other type has it, built-in ones included
	DisplayName string // of a built-in one
	Title       string // "" for none
	Description string // "" for none
	Deprecated  bool   // advice to people: nothing is refused for it
	Parameters  []StrategyParameter
}

// A StrategyParameter is a parameter that strategies of a type have.
type StrategyParameter struct {
	Name        string
	Type        string // one of ParameterTypes
	Description string
	Required    bool
}

// StrategyTypes is the registry of the strategy types that are not built in, one aggregate.
type StrategyTypes struct {
	Version int64
	List    []StrategyType
}

// Key names the registry.
func (s *StrategyTypes) Key() Key { return StrategyTypesKey() }

func (s *StrategyTypes) version() int64 { return s.Version }

// Clone is a copy to change.
func (s *StrategyTypes) Clone() *StrategyTypes {
	c := *s
	c.List = slices.Clone(s.List)
	return &c
}

// All is every strategy type, the built-in ones first.
func (s *StrategyTypes) All() []StrategyType {
	all := make([]StrategyType, 0, len(builtInTypes)+len(s.List))
	for _, t := range builtInTypes {
		all = append(all, t.StrategyType)
	}
	return append(all, s.List...)
}

// Find is the type of that name, built in or not, and whether there is one.
func (s *StrategyTypes) Find(name string) (StrategyType, bool) {
	if t := builtInType(name); t != nil {
		return t.StrategyType, true
	}
	if i := s.index(name); i >= 0 {
		return s.List[i], true
	}
	return StrategyType{}, false
}

// Get is the type of that name, built in or not. NotFound when there is none.
func (s *StrategyTypes) Get(name string) (StrategyType, error) {
	if t, known := s.Find(name); known {
		return t, nil
	}
	return StrategyType{}, Errorf(NotFound, "there is no strategy type %q", name)
}

// Add defines a type. NameExists when the name is taken, by a built-in one too.
func (s *StrategyTypes) Add(t StrategyType) error {
	if _, taken := s.Find(t.Name); taken {
		return Errorf(NameExists, "a strategy type named %q exists already", t.Name)
	}
	s.List = append(s.List, t)
	return nil
}

// Replace puts t in the place of the type of its name. NotFound without one, Invalid for a built-in one. Strategies
// that flags have of the type stay as they are: they are checked when they are changed.
func (s *StrategyTypes) Replace(t StrategyType) error {
	i, err := s.custom(t.Name)
	if err == nil {
		s.List[i] = t
	}
	return err
}

// Remove takes a type away; strategies that flags have of it stay. NotFound without one, Invalid for a built-in one.
func (s *StrategyTypes) Remove(name string) error {
	i, err := s.custom(name)
	if err == nil {
		s.List = slices.Delete(s.List, i, i+1)
	}
	return err
}

func (s *StrategyTypes) index(name string) int {
	return slices.IndexFunc(s.List, func(t StrategyType) bool { return t.Name == name })
}

// custom is the place of a type that can be changed.
func (s *StrategyTypes) custom(name string) (int, error) {
	if i := s.index(name); i >= 0 {
		return i, nil
	}
	if builtInType(name) != nil {
		return 0, Errorf(Invalid, "the strategy type %q is built in and cannot be changed", name)
	}
	return 0, Errorf(NotFound, "there is no strategy type %q", name)
}

// Check notes what is wrong with the definition of a type.
func (t StrategyType) Check(p *Problems) {
	if fault := CheckName(t.Name); fault != "" {
		p.Add("/name", "%s", fault)
	}
	CheckLength("/title", t.Title, MaxTitle, p)
	CheckLength("/description", t.Description, MaxDescription, p)
	if !CheckCount("/parameters", "parameters", len(t.Parameters), MaxParameters, p) {
		return
	}
	seen := map[string]bool{}
	for i, parameter := range t.Parameters {
		path := "/parameters/" + strconv.Itoa(i)
		switch n := utf8.RuneCountInString(parameter.Name); {
		case n == 0:
			p.Add(path+"/name", "is required")
		case n > maxName:
			p.Add(path+"/name", "must have at most %d characters, has %d", maxName, n)
		case seen[parameter.Name]:
			p.Add(path+"/name", "%q is the name of an earlier parameter too", parameter.Name)
		}
		seen[parameter.Name] = true
		CheckLength(path+"/description", parameter.Description, MaxDescription, p)
		if parameterTypeOf(parameter.Type) == nil {
			p.Add(path+"/type", "must be one of %s", commaList(ParameterTypes()))
		}
	}
}

// checkParameters notes what is wrong with the parameters of a strategy of the type. Those that the type does not know
// are kept as they come.
func (t StrategyType) checkParameters(parameters map[string]string, p *Problems) {
	for _, parameter := range t.Parameters {
		path := "/parameters/" + pointerEscape.Replace(parameter.Name)
		value, given := parameters[parameter.Name]
		if parameter.Required && value == "" {
			p.Add(path, "is required for strategies of type %q", t.Name)
			continue
		}
		kind := parameterTypeOf(parameter.Type)
		if given && kind != nil && !kind.is(value) {
			p.Add(path, "must be %s", kind.what)
		}
	}
}

// pointerEscape makes a name a part of a JSON pointer.
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// The parameter types that rules are about.
const (
	stringParameter     = "string"
	percentageParameter = "percentage"
	listParameter       = "list"
)

// parameterTypes says what the value of a parameter must be; values are strings whatever they stand for.
var parameterTypes = []struct {
	name string
	valueKind
}{
	{stringParameter, valueKind{anyValue, "a string"}},
	{percentageParameter, valueKind{isPercentage, "a decimal number from 0 to 100, such as 50 or 12.5"}},
	{listParameter, valueKind{anyValue, "a list with commas between its values"}},
	{"number", *numberValue},
	{"boolean", valueKind{func(value string) bool { return value == "true" || value == "false" }, "true or false"}},
}

// ParameterTypes lists the types that a parameter can have.
func ParameterTypes() []string {
	names := make([]string, len(parameterTypes))
	for i, t := range parameterTypes {
		names[i] = t.name
	}
	return names
}

func parameterTypeOf(name string) *valueKind {
	for i := range parameterTypes {
		if parameterTypes[i].name == name {
			return &parameterTypes[i].valueKind
		}
	}
	return nil
}

func anyValue(string) bool { return true }

func isPercentage(value string) bool {
	plain := !strings.ContainsFunc(value, func(r rune) bool { return !strings.ContainsRune("0123456789.", r) })
	n, err := strconv.ParseFloat(value, 64)
	return plain && err == nil && n <= 100
}

// A builtIn is a strategy type that every SDK knows, with what its parameters are when they are left out.
type builtIn struct {
	StrategyType
	defaults map[string]func(feature string) string // by parameter; without one, a parameter may be missing
}

// builtInTypes are the built-in strategy types.
var builtInTypes = []builtIn{
	{StrategyType{
		Name: "default", DisplayName: "Standard", Description: "On for everybody.",
	}, nil},
	{StrategyType{
		Name: "flexibleRollout", DisplayName: "Gradual rollout",
		Description: "On for a percentage of users, who keep it on their next visit.",
		Parameters: []StrategyParameter{
			{"rollout", percentageParameter, "The percentage. Left out, it is 100.", false},
			{"stickiness", stringParameter, "What users are told apart by: default, userId, sessionId, random or another context field. Left out, it is default.", false},
			{"groupId", stringParameter, "Flags of one group are on for the same users at the same percentage. Left out, it is the flag's name.", false},
		},
	}, map[string]func(string) string{
		"rollout": constant("100"), "stickiness": constant("default"), "groupId": func(feature string) string { return feature },
	}},
	{StrategyType{
		Name: "userWithId", DisplayName: "User ids", Deprecated: true,
		Description: "On for some users by their ids. A gradual rollout with a constraint on userId does the same.",
		Parameters:  []StrategyParameter{{"userIds", listParameter, "The ids.", false}},
	}, nil},
	{StrategyType{
		Name: "remoteAddress", DisplayName: "IP addresses", Description: "On for some IP addresses.",
		Parameters: []StrategyParameter{{"IPs", listParameter, "The addresses.", false}},
	}, nil},
	{StrategyType{
		Name: "applicationHostname", DisplayName: "Hosts", Description: "On where the application runs on some hosts.",
		Parameters: []StrategyParameter{{"hostNames", listParameter, "The names of the hosts.", false}},
	}, nil},
}

func constant(value string) func(string) string { return func(string) string { return value } }

// builtInType is the built-in type of that name, or nil.
func builtInType(name string) *builtIn {
	for i := range builtInTypes {
		if builtInTypes[i].Name == name {
			return &builtInTypes[i]
		}
	}
	return nil
}

// BuiltIn tells whether the type came with the service and cannot be changed.
func (t StrategyType) BuiltIn() bool { return builtInType(t.Name) != nil }

// withDefaults fills in what is missing of the parameters of a strategy of the type. An empty text counts as missing.
func (t builtIn) withDefaults(parameters map[string]string, feature string) {
	for _, parameter := range t.Parameters {
		standard := t.defaults[parameter.Name]
		value, given := parameters[parameter.Name]
		if missing := !given || value == "" && parameter.Type == stringParameter; missing && standard != nil {
			parameters[parameter.Name] = standard(feature)
		}
	}
}

// builtInNames is for messages.
func builtInNames() string {
	names := make([]string, len(builtInTypes))
	for i, t := range builtInTypes {
		names[i] = t.Name
	}
	return commaList(names)
}
