package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// pipelineFile has the roles of a pipeline that deploys the stack. `make template` runs in the root of the repository.
const pipelineFile = "infra/pipeline/roles.yaml"

// services are the names that IAM has for the services of resource types, where these differ.
var services = map[string]string{"apigatewayv2": "apigateway"}

// pipeline checks that the roles of infra/pipeline may deploy every type of resource of the stack, and that their boundary
// leaves the stack's own roles what they need.
func pipeline(s *stack) (problems []string) {
	policies, err := pipelineActions()
	if err != nil {
		return []string{err.Error()}
	}
	for _, r := range s.Resources {
		parts := strings.Split(strings.ToLower(r.Type), "::")
		if len(parts) != 3 || parts[1] == "cloudformation" { // a custom resource is Lambda's
			continue
		}
		service := parts[1]
		if other := services[service]; other != "" {
			service = other
		}
		if !slices.ContainsFunc(policies["ExecutionPolicy"], func(action string) bool { return strings.HasPrefix(action, service+":") }) &&
			service != "iam" { // in RolesPolicy
			problems = append(problems, fmt.Sprintf("%s does not let a pipeline create %s", pipelineFile, r.Type))
		}
	}
	for _, role := range s.of("AWS::IAM::Role") {
		for _, statement := range s.statements(strings.TrimSuffix(role, "Role")) {
			for _, action := range statement.actions {
				if !slices.Contains(policies["Boundary"], action) {
					problems = append(problems, fmt.Sprintf("the boundary of %s does not leave %s its %s", pipelineFile, role, action))
				}
			}
		}
	}
	return problems
}

// pipelineActions are the actions of each managed policy of the pipeline.
func pipelineActions() (map[string][]string, error) {
	raw, err := os.ReadFile(pipelineFile)
	if err != nil {
		return nil, err
	}
	var file map[string]any
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", pipelineFile, err)
	}
	all := map[string][]string{}
	resources, _ := file["Resources"].(map[string]any)
	for id, r := range resources {
		statements, _ := at(r, "Properties", "PolicyDocument", "Statement").([]any)
		for _, each := range statements {
			if branches, conditional := each.([]any); conditional && len(branches) == 3 { // !If
				each = branches[1]
			}
			all[id] = append(all[id], texts(at(each, "Action"))...)
		}
	}
	return all, nil
}
