//go:build !windows

package stage

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
)

// adaptTemplate changes a template of `sam build` (YAML) so that MiniStack can deploy it (JSON). The emulator does not test what
// it changes; docs/operations/emulator.md says so. address is that of the emulator, and adminToken the value
// of the first admin token.
func adaptTemplate(built []byte, address, adminToken string) ([]byte, error) {
	var template map[string]any
	if err := yaml.Unmarshal(built, &template); err != nil {
		return nil, err
	}
	resources, ok := template["Resources"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the template has no Resources section")
	}
	shiftTrafficAtOnce(template, resources)
	dropMetricMath(resources)
	useInlinePolicies(resources)
	useSecretARNs(template, resources)
	setAdminToken(resources, adminToken)
	if err := addRoutes(resources); err != nil {
		return nil, err
	}
	setAddress(template, address)
	return json.MarshalIndent(template, "", " ")
}

// shiftTrafficAtOnce turns gradual deployments off: MiniStack has no CodeDeploy.
func shiftTrafficAtOnce(template, resources map[string]any) {
	off := func(properties map[string]any) {
		if properties["DeploymentPreference"] != nil {
			properties["DeploymentPreference"] = map[string]any{"Enabled": false}
		}
	}
	off(at(template, "Globals", "Function"))
	for _, function := range ofType(resources, "AWS::Serverless::Function") {
		off(at(function, "Properties"))
	}
}

// dropMetricMath removes alarms over several metrics, which MiniStack rejects.
func dropMetricMath(resources map[string]any) {
	for id, alarm := range ofType(resources, "AWS::CloudWatch::Alarm") {
		if at(alarm, "Properties")["Metrics"] != nil {
			delete(resources, id)
		}
	}
}

// useInlinePolicies replaces AWS::IAM::RolePolicy, which MiniStack does not support, by AWS::IAM::Policy.
func useInlinePolicies(node any) {
	eachObject(node, func(object map[string]any) {
		if object["Type"] == "AWS::IAM::RolePolicy" {
			object["Type"] = "AWS::IAM::Policy"
			properties := at(object, "Properties")
			properties["Roles"] = []any{properties["RoleName"]}
			delete(properties, "RoleName")
		}
	})
}

// useSecretARNs replaces each Ref to a secret by Fn::GetAtt. A Ref returns the ARN on AWS, and the name in MiniStack.
func useSecretARNs(template, resources map[string]any) {
	secrets := ofType(resources, "AWS::SecretsManager::Secret")
	eachObject(template, func(object map[string]any) {
		id, _ := object["Ref"].(string)
		if _, isSecret := secrets[id]; isSecret && len(object) == 1 {
			delete(object, "Ref")
			object["Fn::GetAtt"] = []any{id, "Id"}
		}
	})
}

// setAdminToken sets the value of secrets without one. On AWS they have no version until the first start creates it; in
// MiniStack they have an empty version.
func setAdminToken(resources map[string]any, value string) {
	for _, secret := range ofType(resources, "AWS::SecretsManager::Secret") {
		properties := at(secret, "Properties")
		if properties["GenerateSecretString"] == nil {
			properties["SecretString"] = value
		}
	}
}

// integrated matches the end of the integration of a route.
var integrated = regexp.MustCompile(`/functions/\$\{(\w+)\.Arn\}:live/invocations$`)

// addRoutes replaces the body of the API, which MiniStack ignores, by a resource for each route. A route is named after its key, so an
// update that moves it to another function changes its resource.
func addRoutes(resources map[string]any) error {
	api := at(resources, "Api", "Properties")
	paths := at(api, "DefinitionBody", "paths")
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
		resources[to[1]+"Integration"] = map[string]any{
			"Type": "AWS::ApiGatewayV2::Integration",
			"Properties": map[string]any{
				"ApiId":                map[string]any{"Ref": "Api"},
				"IntegrationType":      "AWS_PROXY",
				"IntegrationUri":       map[string]any{"Ref": to[1] + ".Alias"},
				"PayloadFormatVersion": "2.0",
			},
		}
		resources[fmt.Sprintf("Route%x", sha256.Sum256([]byte(key)))] = map[string]any{
			"Type": "AWS::ApiGatewayV2::Route",
			"Properties": map[string]any{
				"ApiId":    map[string]any{"Ref": "Api"},
				"RouteKey": key,
				"Target":   map[string]any{"Fn::Sub": "integrations/${" + to[1] + "Integration}"},
			},
		}
	}
	if len(paths) == 0 {
		return fmt.Errorf("the API has no routes")
	}
	delete(api, "DefinitionBody")
	return nil
}

// setAddress sets the output Address to the URL at which the emulator serves the API.
func setAddress(template map[string]any, address string) {
	at(template, "Outputs", "Address")["Value"] = map[string]any{"Fn::Sub": address + "/_aws/execute-api/${Api}"}
}

// eachObject calls change for each object in node, parents first.
func eachObject(node any, change func(object map[string]any)) {
	switch node := node.(type) {
	case map[string]any:
		change(node)
		for _, member := range node {
			eachObject(member, change)
		}
	case []any:
		for _, element := range node {
			eachObject(element, change)
		}
	}
}

// ofType returns the resources of a type by logical id.
func ofType(resources map[string]any, kind string) map[string]map[string]any {
	found := map[string]map[string]any{}
	for id, resource := range resources {
		if resource, ok := resource.(map[string]any); ok && resource["Type"] == kind {
			found[id] = resource
		}
	}
	return found
}

// at returns the object at a path of names, or nil, which reads as an empty object.
func at(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	return object
}
