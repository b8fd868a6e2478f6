package flags

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A StrategyType is a kind of strategy, built in or custom. SDKs implement what it does.
type StrategyType struct {
	Name        string              `json:"name"`                 // unique, built-in types included
	DisplayName string              `json:"-"`                    // only of built-in types
	Title       string              `json:"title,omitzero"`       // "" for none
	Description string              `json:"description,omitzero"` // "" for none
	Deprecated  bool                `json:"deprecated,omitzero"`  // only a hint to users: nothing is refused
	Parameters  []StrategyParameter `json:"parameters,omitempty"`
}

// A StrategyParameter is a parameter of the strategies of a type.
type StrategyParameter struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // one of ParameterTypes
	Description string `json:"description,omitzero"`
	Required    bool   `json:"required,omitzero"`
}

// StrategyTypes is the registry of custom strategy types: one aggregate.
type StrategyTypes struct {
	Version int64          `json:"version,omitzero"`
	List    []StrategyType `json:"list"`
}

// Key returns the key of the registry.
func (s *StrategyTypes) Key() Key { return StrategyTypesKey() }

// StoredVersion returns the version of the whole registry: changes of different types conflict, too, and are retried.
func (s *StrategyTypes) StoredVersion() int64 { return s.Version }

// Clone returns a copy that can be changed.
func (s *StrategyTypes) Clone() *StrategyTypes {
	c := *s
	c.List = slices.Clone(s.List)
	return &c
}

// All returns all strategy types, the built-in ones first.
func (s *StrategyTypes) All() []StrategyType {
	all := make([]StrategyType, 0, len(builtInTypes)+len(s.List))
	for _, t := range builtInTypes {
		all = append(all, t.StrategyType)
	}
	for _, t := range s.List {
		if !t.BuiltIn() { // a custom type from before the name was built in
			all = append(all, t)
		}
	}
	return all
}

// Find returns the built-in or custom type of that name, and whether it exists.
func (s *StrategyTypes) Find(name string) (StrategyType, bool) {
	if t := findBuiltInType(name); t != nil {
		return t.StrategyType, true
	}
	if i := s.index(name); i >= 0 {
		return s.List[i], true
	}
	return StrategyType{}, false
}

// Get returns the built-in or custom type of that name, or NotFound.
func (s *StrategyTypes) Get(name string) (StrategyType, error) {
	if t, known := s.Find(name); known {
		return t, nil
	}
	return StrategyType{}, Errorf(NotFound, "there is no strategy type %q", name)
}

// Add adds a custom type. It returns NameExists if the name is taken, also by a built-in type.
func (s *StrategyTypes) Add(t StrategyType) error {
	if _, taken := s.Find(t.Name); taken {
		return Errorf(NameExists, "a strategy type named %q exists already", t.Name)
	}
	s.List = append(s.List, t)
	return nil
}

// Replace replaces the type of the same name. It returns NotFound if there is none, and Invalid if it is built
// in. Existing strategies are not checked against the new definition until they are changed.
func (s *StrategyTypes) Replace(t StrategyType) error {
	i, err := s.customIndex(t.Name)
	if err == nil {
		s.List[i] = t
	}
	return err
}

// Remove deletes a type. It returns NotFound if there is none, and Invalid if it is built in. Flags keep their
// strategies of that type.
func (s *StrategyTypes) Remove(name string) error {
	i, err := s.customIndex(name)
	if err == nil {
		s.List = slices.Delete(s.List, i, i+1)
	}
	return err
}

func (s *StrategyTypes) index(name string) int {
	return slices.IndexFunc(s.List, func(t StrategyType) bool { return t.Name == name })
}

// customIndex returns the position of a custom type.
func (s *StrategyTypes) customIndex(name string) (int, error) {
	if i := s.index(name); i >= 0 {
		return i, nil
	}
	if findBuiltInType(name) != nil {
		return 0, Errorf(Invalid, "strategy type %q is built in and cannot be changed", name)
	}
	return 0, Errorf(NotFound, "there is no strategy type %q", name)
}

// Check adds all problems of the definition.
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
			p.Add(path+"/name", "must have at most %d characters, but has %d", maxName, n)
		case seen[parameter.Name]:
			p.Add(path+"/name", "the name %q is already used by another parameter", parameter.Name)
		}
		seen[parameter.Name] = true
		CheckLength(path+"/description", parameter.Description, MaxDescription, p)
		if parameterTypeOf(parameter.Type) == nil {
			p.Add(path+"/type", "must be one of %s", CommaList(ParameterTypes()))
		}
	}
}

// checkParameters adds the problems of a strategy's parameters. Parameters that the type does not define are
// accepted.
func (t StrategyType) checkParameters(parameters map[string]string, p *Problems) {
	for _, parameter := range t.Parameters {
		path := "/parameters/" + pointerEscape.Replace(parameter.Name)
		value, given := parameters[parameter.Name]
		if parameter.Required && value == "" {
			p.Add(path, "is required for strategies of type %q", t.Name)
			continue
		}
		kind := parameterTypeOf(parameter.Type)
		if given && kind != nil && !kind.valid(value) {
			p.Add(path, "must be %s", kind.description)
		}
		switch {
		case !t.BuiltIn() || parameter.Name == userIDs:
		case parameter.Type == stringParameter:
			checkIdentifier(path, value, p)
		default:
			checkQuote(path, value, p)
		}
	}
}

// pointerEscape escapes a name for use in a JSON pointer.
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// The parameter types that rules refer to.
const (
	stringParameter     = "string"
	percentageParameter = "percentage"
	listParameter       = "list"
)

// parameterTypes lists the parameter types and what their values must be. Values are always stored as strings.
var parameterTypes = []struct {
	name string
	valueRule
}{
	{stringParameter, valueRule{anyValue, "a string", nil}},
	{percentageParameter, valueRule{isPercentage, "a whole number from 0 to 100, such as 50: several SDKs read a fraction as 0", nil}},
	{listParameter, valueRule{anyValue, "a comma-separated list", nil}},
	{"number", Number.rule()},
	{"boolean", valueRule{func(value string) bool { return value == "true" || value == "false" }, "true or false", nil}},
}

// ParameterTypes returns the names of all parameter types.
func ParameterTypes() []string {
	names := make([]string, len(parameterTypes))
	for i, t := range parameterTypes {
		names[i] = t.name
	}
	return names
}

func parameterTypeOf(name string) *valueRule {
	for i := range parameterTypes {
		if parameterTypes[i].name == name {
			return &parameterTypes[i].valueRule
		}
	}
	return nil
}

func anyValue(string) bool { return true }

func isPercentage(value string) bool {
	n, ok := percentage(value)
	return ok && n == math.Trunc(n)
}

func percentage(value string) (n float64, ok bool) {
	plain := !strings.ContainsFunc(value, func(r rune) bool { return !strings.ContainsRune("0123456789.", r) })
	n, err := strconv.ParseFloat(value, 64)
	return n, plain && err == nil && n <= 100
}

// NormalizeParameters changes the percentages of a built-in strategy type to the form that every SDK reads: 50 for 50.0.
func NormalizeParameters(strategyType string, parameters map[string]string) {
	t := findBuiltInType(strategyType)
	if t == nil {
		return
	}
	for _, parameter := range t.Parameters {
		value, given := parameters[parameter.Name]
		if given && parameter.Type == percentageParameter && isPercentage(value) {
			n, _ := percentage(value)
			parameters[parameter.Name] = strconv.Itoa(int(n))
		}
	}
}

// A builtInStrategyType is a strategy type that all SDKs implement, with default parameters.
type builtInStrategyType struct {
	StrategyType
	defaults map[string]func(feature string) string // by parameter, as a function of the flag's name
}

// builtInTypes are the built-in strategy types.
var builtInTypes = []builtInStrategyType{
	{StrategyType{
		Name: "default", DisplayName: "Standard", Description: "On for all users.",
	}, nil},
	{StrategyType{
		Name: "flexibleRollout", DisplayName: "Gradual rollout",
		Description: "On for a percentage of users. A user gets the same result on each visit.",
		Parameters: []StrategyParameter{
			{"rollout", percentageParameter, "The percentage. Default: 100.", false},
			{"stickiness", stringParameter, "The context field that identifies a user: default, userId, sessionId, random or another one. Default: default.", false},
			rolloutGroup,
		},
	}, map[string]func(string) string{
		"rollout": constant("100"), "stickiness": constant("default"), "groupId": flagName,
	}},
	{StrategyType{
		Name: "userWithId", DisplayName: "User IDs", Deprecated: true,
		Description: "On for the listed users. A gradual rollout with a constraint on userId does the same.",
		Parameters:  []StrategyParameter{{userIDs, listParameter, "The user IDs.", false}},
	}, nil},
	{StrategyType{
		Name: "remoteAddress", DisplayName: "IP addresses", Description: "On for the listed IP addresses.",
		Parameters: []StrategyParameter{{"IPs", listParameter, "The IP addresses.", false}},
	}, nil},
	{StrategyType{
		Name: "applicationHostname", DisplayName: "Hosts", Description: "On if the application runs on one of the listed hosts.",
		Parameters: []StrategyParameter{{"hostNames", listParameter, "The host names.", false}},
	}, nil},
	{StrategyType{
		Name: "gradualRolloutUserId", DisplayName: "Gradual rollout by user ID", Deprecated: true,
		Description: "On for a percentage of users with a user ID. A gradual rollout with the stickiness userId does the same.",
		Parameters:  []StrategyParameter{percentageOfUsers, rolloutGroup},
	}, map[string]func(string) string{"groupId": flagName}},
	{StrategyType{
		Name: "gradualRolloutSessionId", DisplayName: "Gradual rollout by session ID", Deprecated: true,
		Description: "On for a percentage of sessions. A gradual rollout with the stickiness sessionId does the same.",
		Parameters:  []StrategyParameter{percentageOfUsers, rolloutGroup},
	}, map[string]func(string) string{"groupId": flagName}},
	{StrategyType{
		Name: "gradualRolloutRandom", DisplayName: "Random rollout", Deprecated: true,
		Description: "On for a percentage of evaluations, at random. A gradual rollout with the stickiness random does the same.",
		Parameters:  []StrategyParameter{percentageOfUsers},
	}, nil},
}

const userIDs = "userIds" // the only text of a built-in type in which every SDK reads a double quote

// Parameters that several built-in types have.
var (
	percentageOfUsers = StrategyParameter{"percentage", percentageParameter, "The percentage.", true}
	rolloutGroup      = StrategyParameter{"groupId", stringParameter, "Flags with the same group are on for the same users at the same percentage. Default: the name of the flag.", false}
)

func flagName(feature string) string { return feature }

func constant(value string) func(string) string { return func(string) string { return value } }

// findBuiltInType returns the built-in type of that name, or nil.
func findBuiltInType(name string) *builtInStrategyType {
	for i := range builtInTypes {
		if builtInTypes[i].Name == name {
			return &builtInTypes[i]
		}
	}
	return nil
}

// BuiltIn reports whether the type is built in and cannot be changed.
func (t StrategyType) BuiltIn() bool { return findBuiltInType(t.Name) != nil }

// withDefaults adds the defaults of missing parameters. An empty string counts as missing.
func (t builtInStrategyType) withDefaults(parameters map[string]string, feature string) {
	for _, parameter := range t.Parameters {
		standard := t.defaults[parameter.Name]
		value, given := parameters[parameter.Name]
		if missing := !given || value == "" && parameter.Type == stringParameter; missing && standard != nil {
			parameters[parameter.Name] = standard(feature)
		}
	}
}

// builtInNames lists the built-in types for messages.
func builtInNames() string {
	names := make([]string, len(builtInTypes))
	for i, t := range builtInTypes {
		names[i] = t.Name
	}
	return CommaList(names)
}
