package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A check finds what is wrong with one thing.
type check struct {
	name string
	find func(s *stack) []string
}

var checks = []check{
	{"wildcards", wildcards},
	{"own roles", ownRoles},
	{"table access", tableAccess},
	{"read functions", readFunctions},
	{"secret", secret},
	{"functions", functionSettings},
	{"logs", logs},
	{"deployment", deployment},
	{"traffic shifting", trafficShifting},
	{"function alarms", functionAlarms},
	{"stack alarms", stackAlarms},
	{"late datapoints", lateDatapoints},
	{"table", table},
	{"backup", backup},
	{"front", front},
	{"probe", probe},
	{"pipeline", pipeline},
	{"interface", interfaceOf},
	{"routes", routes},
	{"policies", policies},
	{"dashboard", dashboard},
}

// readers have no operation that changes anything. What they write is when a token was last used, and that is a PutItem.
var readers = []string{"Events", "Docs", "Fallback"}

// xray are the two actions that IAM knows no resources for, so that "*" is the only one.
var xray = []string{"xray:PutTelemetryRecords", "xray:PutTraceSegments"}

func wildcards(s *stack) (problems []string) {
	for _, name := range s.functions() {
		for _, statement := range s.statements(name) {
			for _, action := range statement.actions {
				if strings.Contains(action, "*") || action == "dynamodb:Scan" {
					problems = append(problems, fmt.Sprintf("%s may %s", name, action))
				}
			}
			for _, resource := range statement.resources {
				if strings.Contains(resource, "*") && !slices.Equal(statement.actions, xray) && name != "Smoke" { // trafficShifting has its whole policy
					problems = append(problems, fmt.Sprintf("%s may %s on %s", name, statement.actions, resource))
				}
			}
		}
	}
	return problems
}

// backupPolicy is AWS's own for AWS Backup. BackupRole alone has a policy that is not of this template.
const backupPolicy = "arn:${AWS::Partition}:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup"

func ownRoles(s *stack) (problems []string) {
	for _, name := range s.functions() {
		if role := at(s.get(name+"Function", "Role"), "Fn::GetAtt", 0); role != name+"Role" {
			problems = append(problems, fmt.Sprintf("%s has the role %v, want its own", name, role))
		}
		if len(s.statements(name)) == 0 {
			problems = append(problems, name+" may nothing, not even log")
		}
	}
	for _, id := range s.of("AWS::IAM::Role") {
		name := strings.TrimSuffix(id, "Role")
		if name != "CodeDeploy" && name != "Backup" && s.Resources[name+"Function"] == nil {
			problems = append(problems, id+" is nobody's")
		}
		if managed := texts(s.get(id, "ManagedPolicyArns")); managed != nil && (name != "Backup" || !slices.Equal(managed, []string{backupPolicy})) {
			problems = append(problems, fmt.Sprintf("%s has policies of others: %v", id, managed))
		}
		boundary, path := texts(s.get(id, "PermissionsBoundary")), s.get(id, "Path")
		if s.everything && (!slices.Equal(boundary, []string{aBoundary}) || path != aRolePath) || !s.everything && name != "Backup" && (boundary != nil || path != "/") {
			problems = append(problems, fmt.Sprintf("%s has the path %v and the boundary %v", id, path, boundary))
		}
	}
	return problems
}

// tableAccess sees that who has the table has the stack's, the one that it was restored to, no other, and the key.
func tableAccess(s *stack) (problems []string) {
	for _, name := range s.functions() {
		store, key := false, false
		for _, statement := range s.statements(name) {
			switch {
			case strings.HasPrefix(statement.actions[0], "dynamodb:"):
				store = true
				problems = append(problems, s.bothTables(name, statement.resources)...)
			case slices.Contains(statement.actions, "kms:Decrypt"):
				key = key || slices.Equal(statement.resources, []string{aKey})
			}
		}
		if key != (store && s.everything) {
			problems = append(problems, fmt.Sprintf("whether %s may use the key is %t", name, key))
		}
	}
	return problems
}

// bothTables sees that what is allowed of the stack's table is allowed of the restored one, and the reverse: while a
// deployment goes from one to the other, policies change before functions do, and a canary leaves most calls to the old ones.
func (s *stack) bothTables(name string, resources []string) (problems []string) {
	own, restored := map[string]bool{}, map[string]bool{} // "" for the table, "/index/log"
	for _, resource := range resources {
		if resource == `{"Fn::GetAtt":["Table","Arn"]}` {
			resource = "${Table.Arn}"
		}
		if part, is := strings.CutPrefix(resource, "${Table.Arn}"); is {
			own[part] = true
		} else if _, part, is := strings.Cut(resource, ":table/"+aTable); is && s.everything {
			restored[part] = true
		} else {
			problems = append(problems, fmt.Sprintf("%s may use %s, which is no table of the stack", name, resource))
		}
	}
	if s.everything && !maps.Equal(own, restored) {
		problems = append(problems, fmt.Sprintf("%s may use %v of the stack's table, and %v of the restored one", name, own, restored))
	}
	return problems
}

func readFunctions(s *stack) (problems []string) {
	for _, name := range readers {
		if s.Resources[name+"Function"] == nil {
			problems = append(problems, name+" is not there: strike it from the list")
		}
		for _, statement := range s.statements(name) {
			for _, action := range statement.actions {
				for _, write := range []string{"Update", "Delete", "Write", "Transact"} {
					if strings.HasPrefix(action, "dynamodb:") && strings.Contains(action, write) {
						problems = append(problems, fmt.Sprintf("%s only reads, and may %s", name, action))
					}
				}
			}
		}
	}
	return problems
}

func secret(s *stack) (problems []string) {
	for _, name := range s.functions() {
		for _, statement := range s.statements(name) {
			for _, action := range statement.actions {
				if strings.HasPrefix(action, "secretsmanager:") && name != "Tokens" && name != "Bootstrap" {
					problems = append(problems, fmt.Sprintf("%s may %s", name, action))
				}
				if action == "secretsmanager:PutSecretValue" && (name != "Bootstrap" || !slices.Equal(statement.resources, []string{`{"Ref":"AdminToken"}`})) {
					problems = append(problems, fmt.Sprintf("%s may %s on %s", name, action, statement.resources))
				}
			}
		}
		variables, _ := s.get(name+"Function", "Environment", "Variables").(map[string]any)
		for variable, value := range variables {
			if raw, _ := json.Marshal(value); strings.Contains(string(raw), "resolve:") {
				problems = append(problems, fmt.Sprintf("%s has a secret in its variable %s", name, variable))
			}
		}
	}
	for _, id := range s.of("AWS::SecretsManager::Secret") {
		if id == "TokenKey" && (s.Resources[id].DeletionPolicy != "RetainExceptOnCreate" || s.Resources[id].UpdateReplacePolicy != "Retain") {
			problems = append(problems, id+" does not outlive the stack, and without it no list shows a token again")
		}
	}
	return problems
}

// What API Gateway waits, in seconds, and what the store's attempts, of 2 s each, need at least.
const (
	gatewayTimeout = 30
	storeBudget    = 10
)

func functionSettings(s *stack) (problems []string) {
	for _, name := range s.functions() {
		id := name + "Function"
		wrong := func(property string, path ...any) {
			problems = append(problems, fmt.Sprintf("%s: %s is %v", name, property, s.get(id, path...)))
		}
		timeout, store := number(s.get(id, "Timeout")), name != "Docs" && name != "Fallback"
		if name != "Bootstrap" && !slices.Contains(helpers, name) && (timeout >= gatewayTimeout || store && timeout < storeBudget) { // no gateway waits for Bootstrap
			wrong("Timeout", "Timeout")
		}
		if s.get(id, "Runtime") != "provided.al2023" {
			wrong("Runtime", "Runtime")
		}
		if at(s.get(id, "TracingConfig", "Mode"), "Ref") != "Tracing" {
			wrong("TracingConfig", "TracingConfig")
		}
		if s.get(id, "Environment", "Variables", "AUTH_TYPE") != "api-token" { // whatever the parameters: the interface is public
			wrong("AUTH_TYPE", "Environment", "Variables", "AUTH_TYPE")
		}
		if s.get(id, "LoggingConfig", "LogFormat") != "JSON" {
			wrong("LoggingConfig", "LoggingConfig")
		}
		// AutoPublishAliasAllProperties makes a version for any property that changes, and Lambda refuses one whose code and
		// configuration are the same. So what is no part of the configuration must not change, or change a variable too.
		if got := texts(s.get(id, "Tags")); !slices.Equal(got, []string{`{"Key":"lambda:createdBy","Value":"SAM"}`}) {
			wrong("Tags", "Tags")
		}
		if at(s.get(id, "Environment", "Variables", "RESERVED_CONCURRENCY"), "Ref") != "ReservedConcurrency" {
			wrong("RESERVED_CONCURRENCY", "Environment", "Variables", "RESERVED_CONCURRENCY")
		}
		if at(s.get(id, "Environment", "Variables", "PAUSED"), "Ref") != "Paused" {
			wrong("PAUSED", "Environment", "Variables", "PAUSED")
		}
		if at(s.get(id, "Architectures"), 0) == nil {
			wrong("Architectures", "Architectures")
		}
		if memory := number(s.get(id, "MemorySize")); memory < 128 || memory > 1024 {
			wrong("MemorySize", "MemorySize")
		}
		// Nothing, or what the parameter says: the transform knows it.
		if got := texts(s.get(id, "ReservedConcurrentExecutions")); !slices.Equal(got, nil) && !slices.Equal(got, []string{"5"}) || !slices.Equal(got, texts(s.get("BootstrapFunction", "ReservedConcurrentExecutions"))) {
			wrong("ReservedConcurrentExecutions", "ReservedConcurrentExecutions")
		}
	}
	return problems
}

func logs(s *stack) (problems []string) {
	for _, name := range s.functions() {
		function, group := "${AWS::StackName}-"+name, name+"Logs"
		if got := sub(s.get(name+"Function", "FunctionName")); got != function {
			problems = append(problems, fmt.Sprintf("%s is called %s, want %s", name, got, function))
		}
		if got, want := sub(s.get(group, "LogGroupName")), "/aws/lambda/"+function; got != want {
			problems = append(problems, fmt.Sprintf("%s is of %s, and %s logs to %s", group, got, name, want))
		}
	}
	for _, id := range s.of("AWS::Logs::LogGroup") {
		if s.get(id, "RetentionInDays") == nil {
			problems = append(problems, id+" keeps logs for ever")
		}
	}
	return problems
}

func deployment(s *stack) (problems []string) {
	for _, name := range s.functions() {
		id := name + "Function"
		if s.get(id+"Aliaslive", "Name") != "live" {
			problems = append(problems, name+" has no alias live")
		}
		for _, version := range s.of("AWS::Lambda::Version") {
			if at(s.get(version, "FunctionName"), "Ref") == id && name != "Probe" && at(s.get(version, "Description"), "Fn::GetAtt", 0) != "Settings" {
				problems = append(problems, name+" would not get a parameter's new value: its version has no description by Settings")
			}
		}
	}
	for _, name := range s.services() {
		if name == "Bootstrap" { // runs once a deployment, before anything can be measured
			continue
		}
		group := name + "FunctionDeploymentGroup"
		alarms, _ := json.Marshal(s.get(group, "AlarmConfiguration", "Alarms"))
		hook := at(s.Resources[name+"FunctionAliaslive"].UpdatePolicy, "CodeDeployLambdaAliasUpdate", "BeforeAllowTrafficHook")
		if len(texts(hook)) != 1 || texts(hook)[0] != `{"Fn::If":["Gradual",{"Ref":"SmokeFunction"},{"Ref":"AWS::NoValue"}]}` { // Globals keep their conditions
			problems = append(problems, fmt.Sprintf("before a canary of %s comes %v", name, hook))
		}
		if s.everything { // with canaries
			problems = append(problems, s.release(name)...)
			if string(alarms) != `[{"Name":{"Ref":"`+name+`Release"}}]` {
				problems = append(problems, fmt.Sprintf("a canary of %s is rolled back by %s", name, alarms))
			}
		} else if string(alarms) != "null" {
			problems = append(problems, fmt.Sprintf("a repair of %s all at once can be stopped by %s", name, alarms))
		}
		events := texts(s.get(group, "AutoRollbackConfiguration", "Events"))
		if !slices.Contains(events, "DEPLOYMENT_STOP_ON_ALARM") {
			problems = append(problems, fmt.Sprintf("%s rolls back on %v", name, events))
		}
	}
	return problems
}

// release checks that the alarm which rolls back a canary looks at the newest version alone: an alarm of all versions
// would also see the errors of the version that is to be repaired, and stop the repair.
func (s *stack) release(name string) (problems []string) {
	id := name + "Release"
	problems = append(problems, s.alarm(id, "AWS/Lambda", "Errors", `"${AWS::StackName}-`+name+`:live"`)...)
	versions := 0
	for metric, dimension := range map[string]string{"errors": "ExecutedVersion", "failures": "Version"} {
		dimensions, _ := at(s.metric(id, metric), "Metric", "Dimensions").([]any)
		for _, d := range dimensions {
			of, _ := at(d, "Value", "Fn::GetAtt", 0).(string)
			if at(d, "Name") == dimension && strings.HasPrefix(of, name+"FunctionVersion") {
				versions++
			}
		}
	}
	if versions != 2 {
		problems = append(problems, id+" does not look at the newest version alone")
	}
	filter := name + "VersionFailures"
	if s.get(filter, "MetricTransformations", 0, "MetricName") != filter ||
		s.get(filter, "MetricTransformations", 0, "Dimensions", 0, "Value") != "$.functionVersion" {
		problems = append(problems, id+" does not count answers of 500 by version")
	}
	return problems
}

func dashboard(s *stack) (problems []string) {
	body := s.get("Dashboard", "DashboardBody", "Fn::Sub", 0)
	if body == nil {
		body = s.get("Dashboard", "DashboardBody")
	}
	if name := sub(s.get("Dashboard", "DashboardName")); !strings.Contains(name, "${AWS::Region}") {
		problems = append(problems, "the stack of another region has a dashboard of the same name: "+name)
	}
	text, _ := body.(string)
	var parsed struct{ Widgets []any }
	if err := json.Unmarshal([]byte(text), &parsed); err != nil || len(parsed.Widgets) == 0 {
		return append(problems, fmt.Sprintf("it is no dashboard: %v", err))
	}
	for _, name := range s.services() {
		if strings.Count(text, "${AWS::StackName}-"+name+`"`) < 3 {
			problems = append(problems, name+" is not in all of its widgets")
		}
	}
	return problems
}
