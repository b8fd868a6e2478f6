package gateway

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/dynamo/localtable"
)

const realTemplate = "../../template.yaml"

func TestParseTemplate(t *testing.T) {
	got, err := parseTemplate([]byte(`
Parameters:
  Rate: {Type: String, Default: 50}
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
      DefaultRouteSettings: {ThrottlingRateLimit: !Select [1, !Split [",", !Sub "${Rate},5"]], ThrottlingBurstLimit: 10}
      RouteSettings:
        ANY /b: {ThrottlingRateLimit: !Select [0, !Split [",", !Sub "${Rate},5"]], ThrottlingBurstLimit: 20}
      DefinitionBody:
        paths:
          /b: {x-amazon-apigateway-any-method: {x-amazon-apigateway-integration: {type: aws_proxy, uri: !Sub "arn:${AWS::Partition}/functions/${ThingsFunction.Arn}:live/invocations"}}}
          /a/{x+}: {get: {x-amazon-apigateway-integration: {type: aws_proxy, uri: !Sub "arn:${AWS::Partition}/functions/${ThingsFunction.Arn}:live/invocations"}}}
          "$default": {x-amazon-apigateway-any-method: {isDefaultRoute: true, x-amazon-apigateway-integration: {type: aws_proxy, uri: !Sub "arn:${AWS::Partition}/functions/${RestFunction.Arn}:live/invocations"}}}
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
	want := []Function{
		{ID: "RestFunction", Name: "rest", Timeout: 4 * time.Second, Memory: 128, Routes: []string{"$default"}},
		{ID: "SeedFunction", Name: "seed", Timeout: time.Minute, Memory: 128},
		{
			ID: "ThingsFunction", Name: "things", Timeout: 9 * time.Second, Memory: 256, Routes: []string{"GET /a/{x+}", "ANY /b"},
			Every: 24 * time.Hour,
		},
	}
	if diff := cmp.Diff(want, got.Functions); diff != "" || got.Defaults["Rate"] != "50" {
		t.Errorf("the default is %q, and the functions are (-want +got):\n%s", got.Defaults["Rate"], diff)
	}
	for rate, want := range map[string]map[string]Throttle{"": {"": {5, 10}, "ANY /b": {50, 20}}, "7,8": {"": {8, 10}, "ANY /b": {7, 20}}} {
		if got, err := got.Throttles(map[string]string{"Rate": rate}); err != nil || !maps.Equal(got, want) {
			t.Errorf("the throttles of %q are %v, %v; want %v", rate, got, err, want)
		}
	}
}

func TestParseRate(t *testing.T) {
	for schedule, want := range map[string]time.Duration{
		"rate(5 minutes)": 5 * time.Minute, "rate(1 minute)": time.Minute, "rate(2 hours)": 2 * time.Hour, "rate(1 day)": 24 * time.Hour,
		"": 0, "rate(5 seconds)": 0, "cron(0 2 * * ? *)": 0, "rate(x minutes)": 0, "rate(5 minutes": 0,
	} {
		got, err := parseRate(schedule)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %s, %v; want %s", schedule, got, err, want)
		}
	}
}

// TestLocalTable checks that local tables, and those of tests, equal the deployed one. The fields of the SDK have the names of the template.
func TestLocalTable(t *testing.T) {
	deployed, err := ReadTemplate(realTemplate)
	if err != nil {
		t.Fatal(err)
	}
	type table struct {
		AttributeDefinitions   []types.AttributeDefinition
		KeySchema              []types.KeySchemaElement
		GlobalSecondaryIndexes []struct {
			IndexName  *string
			KeySchema  []types.KeySchemaElement
			Projection *types.Projection
		}
	}
	decode := func(raw []byte, into any) {
		t.Helper()
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatal(err)
		}
	}
	var want, got table
	decode(deployed.Table, &want)
	local, err := json.Marshal(localtable.Table("guidon"))
	if err != nil {
		t.Fatal(err)
	}
	decode(local, &got)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(types.AttributeDefinition{}, types.KeySchemaElement{}, types.Projection{})); diff != "" {
		t.Errorf("local tables differ from template.yaml's (-want +got):\n%s", diff)
	}
	var expires struct {
		TimeToLiveSpecification struct{ AttributeName string }
	}
	if decode(deployed.Table, &expires); expires.TimeToLiveSpecification.AttributeName != localtable.TTL {
		t.Errorf("the table's TTL attribute is %q, want %q", expires.TimeToLiveSpecification.AttributeName, localtable.TTL)
	}
}
