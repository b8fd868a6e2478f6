package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// A Template is the part of template.yaml that this package uses.
type Template struct {
	Table     json.RawMessage // its properties
	Functions []Function
	Defaults  map[string]string // of the parameters

	others, routes settings
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
	Parameters map[string]struct{ Default any }

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
	DefaultRouteSettings map[string]any
	RouteSettings        settings

	DefinitionBody struct {
		Paths map[string]map[string]struct { // by path and method
			Integration struct{ URI string } `json:"x-amazon-apigateway-integration"`
		}
	}
}

// settings has the settings of routes, by route. A value is a number, or the arguments of !Select.
type settings map[string]map[string]any

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
	t, routes := &Template{Defaults: map[string]string{}}, map[string][]string{}
	for name, parameter := range file.Parameters {
		t.Defaults[name] = fmt.Sprint(cmp.Or(parameter.Default, any("")))
	}
	for _, id := range slices.Sorted(maps.Keys(file.Resources)) {
		properties, err := file.Resources[id].Properties, error(nil)
		switch file.Resources[id].Type {
		case "AWS::DynamoDB::Table":
			t.Table = properties
		case "AWS::Serverless::HttpApi":
			routes, err = t.readRoutes(properties)
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

// A Throttle has the limits of a route, as API Gateway names them.
type Throttle struct {
	Rate  float64 `json:"ThrottlingRateLimit"`
	Burst float64 `json:"ThrottlingBurstLimit"`
}

// Throttles returns the limits of the routes that have settings of their own, and those of each other route under the empty key, with these
// values of parameters or their defaults.
func (t *Template) Throttles(parameters map[string]string) (map[string]Throttle, error) {
	var failed error
	number := func(limit any) float64 {
		text := fmt.Sprint(limit)
		if choice, ok := limit.([]any); ok { // !Select [0, !Split [",", !Sub text]] is read as [0, [",", text]]
			source := os.Expand(choice[1].([]any)[1].(string), func(name string) string { return cmp.Or(parameters[name], t.Defaults[name]) })
			text = strings.Split(source, ",")[int(choice[0].(float64))]
		}
		n, err := strconv.ParseFloat(text, 64)
		failed = errors.Join(failed, err)
		return n
	}
	throttles := map[string]Throttle{}
	for _, list := range []settings{t.others, t.routes} {
		for route, limits := range list {
			throttles[route] = Throttle{number(limits["ThrottlingRateLimit"]), number(limits["ThrottlingBurstLimit"])}
		}
	}
	return throttles, failed
}

// readRoutes reads the keys of the API's routes, by the function of their integration, and their settings.
func (t *Template) readRoutes(properties json.RawMessage) (map[string][]string, error) {
	var p apiProperties
	if err := json.Unmarshal(properties, &p); err != nil {
		return nil, err
	}
	t.others, t.routes = settings{"": p.DefaultRouteSettings}, p.RouteSettings
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
