package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// A Template is the part of template.yaml that this package uses.
type Template struct {
	Table     json.RawMessage // its properties
	Functions []Function
}

// A Function is a Lambda function with its routes.
type Function struct {
	ID      string // the logical ID
	Name    string // the ID without "Function", in lower case
	Timeout time.Duration
	Memory  int           // MB
	Routes  []string      // such as "ANY /a/{b}/{proxy+}" or "$default"; none if API Gateway does not call it
	Every   time.Duration // of its schedule; 0 for none
}

// templateFile is the structure of the file as JSON. Intrinsic functions such as !Ref are read as their plain arguments: of the fields that
// are used here only a schedule has one.
type templateFile struct {
	Globals   struct{ Function functionProperties }
	Resources map[string]struct {
		Type       string
		Properties json.RawMessage // the same names have other meanings in other types
	}
}

type functionProperties struct {
	Timeout    int // seconds
	MemorySize int // MB
	Events     map[string]struct {
		Type       string
		Properties struct{ Schedule any } // a text, or the arguments of !If
	}
}

type apiProperties struct {
	DefinitionBody struct {
		Paths map[string]map[string]struct { // by path and method
			Integration struct{ URI string } `json:"x-amazon-apigateway-integration"`
		}
	}
}

// The defaults of SAM and Lambda.
const (
	defaultTimeout = 3   // seconds
	defaultMemory  = 128 // MB
)

// ReadTemplate reads a template file.
func ReadTemplate(path string) (*Template, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseTemplate(raw)
}

func parseTemplate(raw []byte) (*Template, error) {
	var file templateFile
	document, err := yaml.YAMLToJSON(raw)
	if err == nil {
		err = json.Unmarshal(document, &file)
	}
	if err != nil {
		return nil, err
	}
	t, routes := &Template{}, map[string][]string{}
	for _, id := range slices.Sorted(maps.Keys(file.Resources)) {
		properties, err := file.Resources[id].Properties, error(nil)
		switch file.Resources[id].Type {
		case "AWS::DynamoDB::Table":
			t.Table = properties
		case "AWS::Serverless::HttpApi":
			routes, err = readRoutes(properties)
		case "AWS::Serverless::Function":
			err = t.addFunction(id, properties, file.Globals.Function)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	for i, f := range t.Functions {
		t.Functions[i].Routes = routes[f.ID]
		delete(routes, f.ID)
	}
	for id := range routes {
		return nil, fmt.Errorf("the API has routes for %s, which the template does not have", id)
	}
	return t, nil
}

// integrated matches the end of an integration: the function's logical id, and its alias.
var integrated = regexp.MustCompile(`/functions/\$\{(\w+)\.Arn\}:live/invocations$`)

// readRoutes reads the keys of the API's routes, by the function of their integration.
func readRoutes(properties json.RawMessage) (map[string][]string, error) {
	var p apiProperties
	if err := json.Unmarshal(properties, &p); err != nil {
		return nil, err
	}
	routes := map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(p.DefinitionBody.Paths)) {
		for method, operation := range p.DefinitionBody.Paths[path] {
			to := integrated.FindStringSubmatch(operation.Integration.URI)
			if to == nil {
				return nil, fmt.Errorf("%s %s has the integration %q, which is no function's alias live", method, path, operation.Integration.URI)
			}
			key := strings.ToUpper(strings.Replace(method, "x-amazon-apigateway-any-method", "any", 1)) + " " + path
			if path == fallback {
				key = path
			}
			routes[to[1]] = append(routes[to[1]], key)
		}
	}
	return routes, nil
}

// addFunction adds a function with its schedule.
func (t *Template) addFunction(id string, properties json.RawMessage, globals functionProperties) error {
	var p functionProperties
	if err := json.Unmarshal(properties, &p); err != nil {
		return err
	}
	f := Function{
		ID:      id,
		Name:    strings.ToLower(strings.TrimSuffix(id, "Function")),
		Timeout: time.Duration(cmp.Or(p.Timeout, globals.Timeout, defaultTimeout)) * time.Second,
		Memory:  cmp.Or(p.MemorySize, globals.MemorySize, defaultMemory),
	}
	for _, event := range p.Events {
		if event.Type == "Schedule" {
			var err error
			schedule := event.Properties.Schedule
			if choice, ok := schedule.([]any); ok && len(choice) > 0 {
				schedule = choice[len(choice)-1] // without what the condition is for
			}
			if f.Every, err = parseRate(fmt.Sprint(schedule)); err != nil {
				return err
			}
		}
	}
	t.Functions = append(t.Functions, f)
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
