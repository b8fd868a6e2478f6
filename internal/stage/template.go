//go:build !windows

package stage

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
)

type object = map[string]any

// adaptTemplate changes a template of `sam build` (YAML) so that MiniStack can deploy it (JSON). The emulator does not test what
// it changes; docs/operations/emulator.md says so. address is that of the emulator, and adminToken the beginning
// of the first admin token of each stack.
func adaptTemplate(built []byte, address, adminToken string) ([]byte, error) {
	var template object
	if err := yaml.Unmarshal(built, &template); err != nil {
		return nil, err
	}
	resources, secrets := at(template, "Resources"), []string{}
	delete(at(template, "Globals", "Function"), "DeploymentPreference") // there is no CodeDeploy
	for id := range resources {
		properties := at(resources, id, "Properties")
		switch at(resources, id)["Type"] {
		case "AWS::Serverless::Function":
			delete(properties, "DeploymentPreference")
		case "AWS::CloudWatch::Alarm":
			if properties["Metrics"] != nil { // metric math
				delete(resources, id)
			}
		case "AWS::SecretsManager::Secret":
			secrets = append(secrets, id)
			if properties["GenerateSecretString"] == nil { // its first version would be empty; on AWS there is none
				properties["SecretString"] = object{"Fn::Sub": adminToken + "${AWS::StackName}"}
			}
		}
	}
	if err := addRoutes(resources); err != nil {
		return nil, err
	}
	at(template, "Outputs", "Address")["Value"] = object{"Fn::Sub": address + "/_aws/execute-api/${Api}"}
	adapted, err := json.Marshal(template)
	for _, id := range secrets { // of which a Ref is the name, and the ARN on AWS
		adapted = bytes.ReplaceAll(adapted, []byte(`{"Ref":"`+id+`"}`), []byte(`{"Fn::GetAtt":["`+id+`","Id"]}`))
	}
	return adapted, err
}

// integrated matches the end of the integration of a route.
var integrated = regexp.MustCompile(`/functions/\$\{(\w+)\.Arn\}:live/invocations$`)

// addRoutes replaces the body of the API, which MiniStack ignores, by a resource for each route. A route is named after its key, so an
// update that moves it to another function changes its resource.
func addRoutes(resources object) error {
	api := at(resources, "Api", "Properties")
	paths := at(api, "DefinitionBody", "paths")
	if len(paths) == 0 {
		return fmt.Errorf("the API has no routes")
	}
	for path := range paths {
		key := "ANY " + path
		if path == "$default" {
			key = path
		}
		uri, _ := at(paths, path, "x-amazon-apigateway-any-method", "x-amazon-apigateway-integration", "uri")["Fn::Sub"].(string)
		to := integrated.FindStringSubmatch(uri)
		if to == nil {
			return fmt.Errorf("the route %s has no integration with a function's alias live", key)
		}
		resources[to[1]+"Integration"] = object{"Type": "AWS::ApiGatewayV2::Integration", "Properties": object{
			"ApiId": object{"Ref": "Api"}, "IntegrationType": "AWS_PROXY", "IntegrationUri": object{"Ref": to[1] + ".Alias"}, "PayloadFormatVersion": "2.0",
		}}
		resources[fmt.Sprintf("Route%x", sha256.Sum256([]byte(key)))] = object{"Type": "AWS::ApiGatewayV2::Route", "Properties": object{
			"ApiId": object{"Ref": "Api"}, "RouteKey": key, "Target": object{"Fn::Sub": "integrations/${" + to[1] + "Integration}"},
		}}
	}
	delete(api, "DefinitionBody")
	return nil
}

// at returns the object at a path of names, or nil, which reads as an empty object.
func at(in object, path ...string) object {
	for _, name := range path {
		in, _ = in[name].(object)
	}
	return in
}
