// Package policies reads from template.yaml what each function may do with the table. The tests of the functions compare it with what
// they do.
package policies

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// A Policy is what a function may do with the table: actions such as "PutItem".
type Policy struct {
	Actions []string // in every partition
	Writes  []string // in Keys alone
	Keys    []string // patterns of partitions, such as "POST#*"
	Index   []string // of the indexes
}

// All returns the actions of the table, in order.
func (p Policy) All() []string {
	return slices.Sorted(slices.Values(append(slices.Clone(p.Actions), p.Writes...)))
}

// File reads the policies from a file, by function.
func File(path string) (map[string]Policy, error) {
	template, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Read(template)
}

// Read reads the policies from a template, by function.
func Read(template []byte) (map[string]Policy, error) {
	resources, err := read(template)
	if err != nil {
		return nil, err
	}
	roles := map[string]Policy{}
	for id, r := range resources {
		if !strings.HasPrefix(r.Type, "AWS::IAM::Role") {
			continue
		}
		role := id
		if r.Properties.RoleName != "" { // of a policy that is attached
			role = r.Properties.RoleName
		}
		documents := append([]document{r.Properties.PolicyDocument}, r.Properties.documents()...)
		policy := roles[role]
		for _, d := range documents {
			for _, s := range d.Statement {
				if err := policy.add(s); err != nil {
					return nil, fmt.Errorf("%s: %w", id, err)
				}
			}
		}
		roles[role] = policy
	}
	byFunction := map[string]Policy{}
	for id, r := range resources {
		if r.Type != "AWS::Serverless::Function" {
			continue
		}
		role, is := roles[strings.TrimSuffix(r.Properties.Role, ".Arn")]
		if !is {
			return nil, fmt.Errorf("%s has the role %q, which the template does not have", id, r.Properties.Role)
		}
		byFunction[strings.TrimSuffix(id, "Function")] = role
	}
	return byFunction, nil
}

type resource struct {
	Type       string
	Properties properties
}

type properties struct {
	Role, RoleName string
	PolicyDocument document
	Policies       []struct{ PolicyDocument document }
}

func (p properties) documents() (all []document) {
	for _, policy := range p.Policies {
		all = append(all, policy.PolicyDocument)
	}
	return all
}

type document struct{ Statement []json.RawMessage }

// read returns the resources with policies and the functions. The short forms of CloudFormation are read as their arguments: !GetAtt
// R.Arn as "R.Arn", and !If as a list of its condition and its two values.
func read(template []byte) (map[string]resource, error) {
	var file struct {
		Resources map[string]any `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(template, &file); err != nil {
		return nil, err
	}
	resources := map[string]resource{}
	for id, value := range file.Resources {
		kind, _ := value.(map[string]any)["Type"].(string)
		if kind != "AWS::Serverless::Function" && !strings.HasPrefix(kind, "AWS::IAM::Role") {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		var r resource
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		resources[id] = r
	}
	return resources, nil
}

// add adds what a statement allows. Of !If, it is the first value.
func (p *Policy) add(raw json.RawMessage) error {
	var choice []json.RawMessage
	if json.Unmarshal(raw, &choice) == nil && len(choice) == 3 {
		raw = choice[1]
	}
	var s struct {
		Action, Resource texts
		Condition        map[string]map[string]texts
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("a statement that this package cannot read: %s: %w", raw, err)
	}
	keys, restricted := s.Condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
	for _, action := range s.Action {
		name, is := strings.CutPrefix(action, "dynamodb:")
		switch {
		case !is:
		case strings.Contains(s.Resource[0], "/index/"):
			p.Index = append(p.Index, name)
		case restricted:
			p.Writes = append(p.Writes, name)
		default:
			p.Actions = append(p.Actions, name)
		}
	}
	if restricted {
		p.Keys = append(p.Keys, keys...)
	}
	return nil
}

// texts are one text or a list. What is no text in the list, such as an !If, is left out.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(raw []byte) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return err
	}
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, one := range list {
		if text, is := one.(string); is {
			*t = append(*t, text)
		}
	}
	return nil
}
