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
	return slices.Sorted(slices.Values(slices.Concat(p.Actions, p.Writes)))
}

// File reads the policies from a file, by function.
func File(path string) (map[string]Policy, error) {
	template, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Read(template)
}

// Read reads the policies from a template, by function. The short forms of CloudFormation are read as their arguments: !GetAtt R.Arn as
// "R.Arn", and !If as a list of its condition and its two values, of which the first counts.
func Read(template []byte) (map[string]Policy, error) {
	var file struct {
		Resources map[string]struct {
			Type       string         `yaml:"Type"`
			Properties map[string]any `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(template, &file); err != nil {
		return nil, err
	}
	byFunction := map[string]Policy{}
	for id, f := range file.Resources {
		if f.Type != "AWS::Serverless::Function" {
			continue
		}
		role := strings.TrimSuffix(fmt.Sprint(f.Properties["Role"]), ".Arn")
		if file.Resources[role].Type != "AWS::IAM::Role" {
			return nil, fmt.Errorf("%s has the role %q, which the template does not have", id, role)
		}
		policy, err := policyOf(file.Resources[role].Properties["Policies"])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", role, err)
		}
		byFunction[strings.TrimSuffix(id, "Function")] = policy
	}
	return byFunction, nil
}

func policyOf(documents any) (p Policy, err error) {
	var policies []struct{ PolicyDocument struct{ Statement []any } }
	if err := convert(documents, &policies); err != nil {
		return p, err
	}
	for _, document := range policies {
		for _, s := range document.PolicyDocument.Statement {
			if choice, is := s.([]any); is && len(choice) == 3 {
				s = choice[1]
			}
			if err := p.add(s); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// add adds what a statement allows.
func (p *Policy) add(statement any) error {
	var s struct {
		Action, Resource texts
		Condition        map[string]map[string]texts
	}
	if err := convert(statement, &s); err != nil {
		return err
	}
	keys, restricted := s.Condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
	p.Keys = append(p.Keys, keys...)
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
	return nil
}

func convert(from, to any) error {
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	return err
}

// texts are one text or a list. What is no text in the list, such as an !If, is left out.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(raw []byte) error {
	var list []any
	if json.Unmarshal(raw, &list) != nil {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
	}
	for _, one := range list {
		if text, is := one.(string); is {
			*t = append(*t, text)
		}
	}
	return nil
}
