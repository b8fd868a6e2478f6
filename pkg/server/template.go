package server

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"guidon"
	"guidon/pkg/dynamo/localtable"
)

// A template is the part of template.yaml that this package uses.
type template struct {
	table     localtable.Schema
	functions []templateFunction
}

// A templateFunction is a Lambda function with its routes.
type templateFunction struct {
	id      string // the logical id
	group   string // the id without "Function", in lower case
	timeout time.Duration
	memory  int           // MB
	routes  []string      // such as "ANY /a/{b}/{proxy+}" or "$default"; none if API Gateway does not call it
	every   time.Duration // of its schedule; 0 for none
}

// templateFile is the structure of the file. Intrinsic functions such as !Ref and !Sub are read as their plain arguments:
// of the fields that are used here only a schedule has one, and a test reads the real file.
type templateFile struct {
	Globals struct {
		Function functionProperties `yaml:"Function"`
	} `yaml:"Globals"`
	Resources map[string]ast.Node `yaml:"Resources"`
}

type resource struct {
	Type       string   `yaml:"Type"`
	Properties ast.Node `yaml:"Properties"` // decoded by Type: the same names have other meanings in other types
}

type functionProperties struct {
	Timeout int `yaml:"Timeout"`    // seconds
	Memory  int `yaml:"MemorySize"` // MB
	Events  map[string]struct {
		Type       string `yaml:"Type"`
		Properties struct {
			Schedule any `yaml:"Schedule"` // a text, or the arguments of !If
		} `yaml:"Properties"`
	} `yaml:"Events"`
}

type apiProperties struct {
	Definition struct {
		Paths map[string]map[string]struct { // by path and method
			Integration struct {
				URI string `yaml:"uri"`
			} `yaml:"x-amazon-apigateway-integration"`
		} `yaml:"paths"`
	} `yaml:"DefinitionBody"`
}

type tableProperties struct {
	Attributes []struct {
		Name string `yaml:"AttributeName"`
		Type string `yaml:"AttributeType"`
	} `yaml:"AttributeDefinitions"`
	Key     keyProperties `yaml:"KeySchema"`
	Indexes []struct {
		Name       string        `yaml:"IndexName"`
		Key        keyProperties `yaml:"KeySchema"`
		Projection struct {
			Type    string   `yaml:"ProjectionType"`
			Include []string `yaml:"NonKeyAttributes"`
		} `yaml:"Projection"`
	} `yaml:"GlobalSecondaryIndexes"`
	TTL struct {
		Attribute string `yaml:"AttributeName"`
		Enabled   bool   `yaml:"Enabled"`
	} `yaml:"TimeToLiveSpecification"`
}

type keyProperties []struct {
	Name string `yaml:"AttributeName"`
	Type string `yaml:"KeyType"`
}

// The defaults of SAM and Lambda.
const (
	defaultTimeout = 3   // seconds
	defaultMemory  = 128 // MB
)

// readTemplate reads a template file, or the template that is part of the program if path is empty.
func readTemplate(path string) (*template, error) {
	raw := guidon.Template
	if path != "" {
		var err error
		if raw, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("the template of TEMPLATE_FILE cannot be read: %w", err)
		}
	}
	t, err := parseTemplate(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func parseTemplate(raw []byte) (*template, error) {
	var file templateFile
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	t, routes := &template{}, map[string][]string{}
	tables := 0
	for _, id := range slices.Sorted(maps.Keys(file.Resources)) {
		var r resource
		err := yaml.NodeToValue(file.Resources[id], &r)
		if err == nil {
			switch r.Type {
			case "AWS::DynamoDB::Table":
				tables++
				t.table, err = readTable(r.Properties)
			case "AWS::Serverless::HttpApi":
				routes, err = readRoutes(r.Properties)
			case "AWS::Serverless::Function":
				err = t.addFunction(id, r.Properties, file.Globals.Function)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	for i, f := range t.functions {
		t.functions[i].routes = routes[f.id]
		delete(routes, f.id)
	}
	for id := range routes {
		return nil, fmt.Errorf("the API has routes for %s, which the template does not have", id)
	}
	if tables != 1 {
		return nil, fmt.Errorf("the template has %d tables; Guidon needs exactly one", tables)
	}
	return t, nil
}

func readTable(properties ast.Node) (localtable.Schema, error) {
	var p tableProperties
	if err := yaml.NodeToValue(properties, &p); err != nil {
		return localtable.Schema{}, err
	}
	schema := localtable.Schema{Key: p.Key.elements()}
	for _, a := range p.Attributes {
		schema.Attributes = append(schema.Attributes, localtable.Attribute{Name: a.Name, Type: a.Type})
	}
	for _, index := range p.Indexes {
		schema.Indexes = append(schema.Indexes, localtable.Index{
			Name: index.Name, Key: index.Key.elements(), Projection: index.Projection.Type, Include: index.Projection.Include,
		})
	}
	if p.TTL.Enabled {
		schema.TTL = p.TTL.Attribute
	}
	return schema, nil
}

func (key keyProperties) elements() (elements []localtable.KeyElement) {
	for _, k := range key {
		elements = append(elements, localtable.KeyElement{Name: k.Name, Type: k.Type})
	}
	return elements
}

// integrated matches the end of an integration: the function's logical id, and its alias.
var integrated = regexp.MustCompile(`/functions/\$\{(\w+)\.Arn\}:live/invocations$`)

// readRoutes reads the keys of the API's routes, by the function of their integration.
func readRoutes(properties ast.Node) (map[string][]string, error) {
	var p apiProperties
	if err := yaml.NodeToValue(properties, &p); err != nil {
		return nil, err
	}
	routes := map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(p.Definition.Paths)) {
		for method, operation := range p.Definition.Paths[path] {
			to := integrated.FindStringSubmatch(operation.Integration.URI)
			if to == nil {
				return nil, fmt.Errorf("%s %s has the integration %q, which is no function's alias live", method, path, operation.Integration.URI)
			}
			key := strings.ToUpper(strings.Replace(method, "x-amazon-apigateway-any-method", "any", 1)) + " " + path
			if path == "$default" {
				key = path
			}
			routes[to[1]] = append(routes[to[1]], key)
		}
	}
	return routes, nil
}

// addFunction adds a function with its schedule.
func (t *template) addFunction(id string, properties ast.Node, globals functionProperties) error {
	var p functionProperties
	if err := yaml.NodeToValue(properties, &p); err != nil {
		return err
	}
	f := templateFunction{
		id:      id,
		group:   strings.ToLower(strings.TrimSuffix(id, "Function")),
		timeout: time.Duration(cmp.Or(p.Timeout, globals.Timeout, defaultTimeout)) * time.Second,
		memory:  cmp.Or(p.Memory, globals.Memory, defaultMemory),
	}
	for _, name := range slices.Sorted(maps.Keys(p.Events)) {
		event := p.Events[name]
		if event.Type == "Schedule" {
			var err error
			schedule := event.Properties.Schedule
			if choice, ok := schedule.([]any); ok && len(choice) > 0 {
				schedule = choice[len(choice)-1] // without what the condition is for
			}
			if f.every, err = parseRate(fmt.Sprint(schedule)); err != nil {
				return err
			}
		}
	}
	t.functions = append(t.functions, f)
	return nil
}

// parseRate parses the rate of a schedule, such as "rate(5 minutes)". The template has no other schedules.
func parseRate(schedule string) (time.Duration, error) {
	var n int
	var unit string
	if _, err := fmt.Sscanf(schedule, "rate(%d %s", &n, &unit); err == nil {
		for name, length := range map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour} {
			if unit == name+")" || unit == name+"s)" {
				return time.Duration(n) * length, nil
			}
		}
	}
	return 0, fmt.Errorf("the schedule %q is not of the form rate(5 minutes)", schedule)
}
