package server

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/dynamo/localtable"
	"guidon/pkg/httpapi"
)

const templateFileName = "../../template.yaml"

func TestParseTemplate(t *testing.T) {
	got, err := parseTemplate([]byte(`
Globals:
  Function:
    Timeout: 9
    Environment: {Variables: {TABLE: !Ref T, X: !If [A, !GetAtt T.Arn, !Sub "${B}-c"]}}
Conditions:
  A: !Equals [!Ref B, ""]
Resources:
  Api:
    Type: AWS::Serverless::HttpApi
    Properties:
      DefinitionBody:
        paths:
          /b: {x-amazon-apigateway-any-method: {x-amazon-apigateway-integration: {type: aws_proxy, uri: !Sub "arn:${AWS::Partition}/functions/${ThingsFunction.Arn}:live/invocations"}}}
          /a/{x+}: {get: {x-amazon-apigateway-integration: {type: aws_proxy, uri: !Sub "arn:${AWS::Partition}/functions/${ThingsFunction.Arn}:live/invocations"}}}
          "$default": {x-amazon-apigateway-any-method: {isDefaultRoute: true, x-amazon-apigateway-integration: {type: aws_proxy, uri: !Sub "arn:${AWS::Partition}/functions/${RestFunction.Arn}:live/invocations"}}}
  T:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${AWS::StackName}"
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}, {AttributeName: n, AttributeType: N}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - IndexName: byN
          KeySchema: [{AttributeName: n, KeyType: HASH}]
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [a]}
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}
  ThingsFunction:
    Type: AWS::Serverless::Function
    Properties:
      MemorySize: 256
      Role: !GetAtt R.Arn
      Events:
        S: {Type: Schedule, Properties: {Schedule: rate(1 day)}}
  RestFunction:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 4
  SeedFunction:
    Type: AWS::Serverless::Function
    Properties: {Timeout: 60}
  Alarm:
    Type: AWS::CloudWatch::Alarm
    Properties: {Timeout: [not, a, number], Events: 7}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &template{
		table: localtable.Schema{
			Attributes: []localtable.Attribute{{Name: "pk", Type: "S"}, {Name: "n", Type: "N"}},
			Key:        []localtable.KeyElement{{Name: "pk", Type: "HASH"}},
			Indexes: []localtable.Index{{
				Name: "byN", Key: []localtable.KeyElement{{Name: "n", Type: "HASH"}}, Projection: "INCLUDE", Include: []string{"a"},
			}},
			TTL: "ttl",
		},
		functions: []templateFunction{
			{id: "RestFunction", group: "rest", timeout: 4 * time.Second, memory: 128, routes: []string{"$default"}},
			{id: "SeedFunction", group: "seed", timeout: time.Minute, memory: 128},
			{
				id: "ThingsFunction", group: "things", timeout: 9 * time.Second, memory: 256, routes: []string{"GET /a/{x+}", "ANY /b"},
				every: 24 * time.Hour,
			},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(template{}, templateFunction{})); diff != "" {
		t.Errorf("template (-want +got):\n%s", diff)
	}
}

// TestOperationsReachTheirGroup sends every operation through the routes of template.yaml, with names that are also fixed
// segments of other routes.
func TestOperationsReachTheirGroup(t *testing.T) {
	rt := realRouter(t)
	words := []string{"x", "projects", "features", "environments", "environment", "strategies", "variants", "variants-batch",
		"archive", "clone", "on", "off", "set-sort-order", "admin", "constructor", "__proto__"}
	for _, group := range groups(nil, nil, httpapi.Config{}) {
		for _, operation := range group.Routes() {
			method, pattern, _ := strings.Cut(operation, " ")
			for _, word := range words {
				path := variable.ReplaceAllString(pattern, word)
				if word != "x" && isAnother(operation, path) {
					continue // the word makes it an operation's fixed path, such as …/strategies/set-sort-order
				}
				r, _ := rt.match(method, path)
				if r.group != group.Function {
					t.Errorf("%s %s (%s) reaches %s by %q, want %s", method, path, operation, r.group, r.key, group.Function)
				}
			}
		}
	}
}

// TestNoOperationMatchesTwoGroups checks that no operation depends on a precedence that API Gateway does not document: each
// has at most one full match and one greedy match.
func TestNoOperationMatchesTwoGroups(t *testing.T) {
	rt := realRouter(t)
	for _, group := range groups(nil, nil, httpapi.Config{}) {
		for _, operation := range group.Routes() {
			method, pattern, _ := strings.Cut(operation, " ")
			path := variable.ReplaceAllString(pattern, "x")
			full, greedy := map[string]bool{}, map[string]bool{}
			for _, r := range rt.routes {
				switch {
				case r.fallback || !r.matches(method, path):
				case r.greedy != "":
					greedy[r.group] = true
				default:
					full[r.group] = true
				}
			}
			if len(full) > 1 || len(full) == 0 && len(greedy) > 1 {
				t.Errorf("%s matches full routes of %v and greedy ones of %v", operation, full, greedy)
			}
		}
	}
}

// TestTemplateLimits checks the limits of AWS: 300 routes per HTTP API, and the time that API Gateway waits.
func TestTemplateLimits(t *testing.T) {
	parsed, err := readTemplate(templateFileName)
	if err != nil {
		t.Fatal(err)
	}
	routes := 0
	for _, f := range parsed.functions {
		routes += len(f.routes)
		if len(f.routes) > 0 && f.timeout >= 30*time.Second {
			t.Errorf("%s may take %s, and API Gateway waits 30 s", f.group, f.timeout)
		}
	}
	if routes > 300 {
		t.Errorf("%d routes", routes)
	}
	if want := "ttl"; parsed.table.TTL != want {
		t.Errorf("the table's TTL attribute is %q, want %q", parsed.table.TTL, want)
	}
}

var variable = regexp.MustCompile(`\{[^}]*\}`)

// isAnother reports whether a path with a fixed segment as a name is the path of another operation.
func isAnother(operation, path string) bool {
	for _, group := range groups(nil, nil, httpapi.Config{}) {
		for _, other := range group.Routes() {
			_, pattern, _ := strings.Cut(other, " ")
			if other != operation && strings.Count(pattern, "{") < strings.Count(operation, "{") &&
				regexp.MustCompile("^"+variable.ReplaceAllString(pattern, "[^/]+")+"$").MatchString(path) {
				return true
			}
		}
	}
	return false
}

// realRouter has the routes of template.yaml.
func realRouter(t *testing.T) *router {
	t.Helper()
	parsed, err := readTemplate(templateFileName)
	if err != nil {
		t.Fatal(err)
	}
	routes, err := (&gateway{}).functions(parsed, nil, httpapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := newRouter(routes)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}
