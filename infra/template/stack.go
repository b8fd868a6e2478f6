package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A stack is a CloudFormation template.
type stack struct {
	Parameters map[string]map[string]any
	Resources  map[string]*resource
	Rules      map[string]any

	everything bool // whether every parameter is set, as the Makefile says
}

// The values of parameters where everything is set.
const (
	aKey   = "arn:aws:kms:eu-central-1:123456789012:key/a"
	aTopic = "arn:aws:sns:eu-central-1:123456789012:a"
	aTable = "another-table"

	aRolePath = "/a/"
	aBoundary = "arn:aws:iam::123456789012:policy/a"
	aVault    = "arn:aws:backup:eu-central-1:210987654321:backup-vault:a"
	aHash     = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
	anAddress = "https://a.example"
)

// tableInUse is what names the table, as JSON.
func (s *stack) tableInUse() string {
	if s.everything {
		return `"` + aTable + `"`
	}
	return `{"Ref":"Table"}`
}

type resource struct {
	Type                string
	Condition           string `json:",omitempty"`
	DeletionPolicy      string `json:",omitempty"`
	UpdateReplacePolicy string `json:",omitempty"`
	DependsOn           any    `json:",omitempty"`
	UpdatePolicy        any    `json:",omitempty"`
	Properties          map[string]any
}

// of lists the logical ids of a type, in order.
func (s *stack) of(kind string) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(s.Resources)) {
		if s.Resources[id].Type == kind {
			ids = append(ids, id)
		}
	}
	return ids
}

// functions are what the functions are called, less "Function".
func (s *stack) functions() (names []string) {
	for _, id := range s.of("AWS::Lambda::Function") {
		names = append(names, strings.TrimSuffix(id, "Function"))
	}
	return names
}

// helpers are the functions that serve no callers, and have no alarms or canaries of their own.
var helpers = []string{"Probe", "Smoke"}

// services are the functions that serve callers, and Bootstrap: the functions less the helpers.
func (s *stack) services() []string {
	return slices.DeleteFunc(s.functions(), func(name string) bool { return slices.Contains(helpers, name) })
}

// at follows a path through objects and lists, such as "Properties.Policies.0.PolicyName"; nil where there is nothing.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// get is a property of a resource, nil when either is not there.
func (s *stack) get(id string, path ...any) any {
	r := s.Resources[id]
	if r == nil {
		return nil
	}
	return at(r.Properties, path...)
}

// A statement is one of a policy of a role.
type statement struct {
	actions   []string
	resources []string // a text, or an intrinsic function as JSON
}

// statements are all that a function's role allows, in its own policies and in those that are attached to it.
func (s *stack) statements(function string) (all []statement) {
	role := function + "Role"
	policies, _ := s.get(role, "Policies").([]any)
	for _, id := range s.of("AWS::IAM::RolePolicy") {
		if at(s.get(id, "RoleName"), "Ref") == role {
			policies = append(policies, s.Resources[id].Properties)
		}
	}
	for _, policy := range policies {
		parts, _ := at(policy, "PolicyDocument", "Statement").([]any)
		for _, part := range parts {
			all = append(all, statement{texts(at(part, "Action")), texts(at(part, "Resource"))})
		}
	}
	return all
}

// texts are a value that may be one or a list of them.
func texts(value any) (all []string) {
	switch value := value.(type) {
	case nil:
	case string:
		all = append(all, value)
	case []any:
		for _, each := range value {
			all = append(all, texts(each)...)
		}
	default:
		raw, _ := json.Marshal(value) // it was JSON
		all = append(all, string(raw))
	}
	return all
}

// sub is a text, as it is or as Fn::Sub has it.
func sub(value any) string {
	if within := at(value, "Fn::Sub"); within != nil {
		value = within
	}
	text, _ := value.(string)
	return text
}

// number is a JSON number, or one that is written as a text; 0 for anything else.
func number(value any) float64 {
	switch value := value.(type) {
	case float64:
		return value
	case string:
		var n float64
		_ = json.Unmarshal([]byte(value), &n) // a text that is none is 0
		return n
	}
	return 0
}
