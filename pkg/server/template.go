package server

import (
	"cmp"
	"fmt"
	"maps"
	"os"
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
			Method   string `yaml:"Method"`
			Path     string `yaml:"Path"`
			Schedule any    `yaml:"Schedule"` // a text, or the arguments of !If
		} `yaml:"Properties"`
	} `yaml:"Events"`
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
	t := &template{}
	tables := 0
	for _, id := range slices.Sorted(maps.Keys(file.Resources)) {
		if strings.HasPrefix(id, "Fn::ForEach::") { // log groups, alarms and roles of the functions
			continue
		}
		var r resource
		err := yaml.NodeToValue(file.Resources[id], &r)
		if err == nil {
			switch r.Type {
			case "AWS::DynamoDB::Table":
				tables++
				t.table, err = readTable(r.Properties)
			case "AWS::Serverless::Function":
				err = t.addFunction(id, r.Properties, file.Globals.Function)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
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

// addFunction adds a function with its HTTP routes and its schedule.
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
		if event.Type != "HttpApi" {
			continue
		}
		key := "$default" // the route that SAM creates for an event without a path
		if event.Properties.Path != "" {
			method := strings.ToUpper(event.Properties.Method)
			if method == "" || method == "X-AMAZON-APIGATEWAY-ANY-METHOD" {
				method = "ANY"
			}
			key = method + " " + event.Properties.Path
		}
		f.routes = append(f.routes, key)
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
