package main

import (
	"fmt"
	"slices"
	"strings"
)

// A fault is a mistake that somebody could make in the template, and the check that has to find it.
type fault struct {
	name  string
	check string
	put   func(s *stack)
}

var faults = []fault{
	{"a function may do anything with the table", "wildcards", allow("Tags", "dynamodb:*", "table")},
	{"a function may scan the table", "wildcards", allow("Tags", "dynamodb:Scan", "table")},
	{"a function may read every table", "wildcards", allow("Tags", "dynamodb:GetItem", "*")},
	{"a function may read every index", "wildcards", allow("Events", "dynamodb:Query", "table/index/*")},
	{"two functions share a role", "own roles", set("TagsFunction", map[string]any{"Fn::GetAtt": []any{"UsersRole", "Arn"}}, "Role")},
	{"a role has a policy of AWS's", "own roles", set("TagsRole", []any{"arn:aws:iam::aws:policy/AWSLambdaExecute"}, "ManagedPolicyArns")},
	{"a role may nothing", "own roles", set("DocsRole", []any{}, "Policies")},
	{"a function has another table", "table access", allow("Tags", "dynamodb:GetItem", "other")},
	{"a function loses the stack's table when it is restored", "table access", only("TagsAccess", 1)},
	{"a function does not get the restored table", "table access", only("TagsAccess", 0)},
	{"the log loses the stack's indexes when it is restored", "table access", only("EventsIndexAccess", 2, 3)},
	{"the log gets one of the restored indexes", "table access", only("EventsIndexAccess", 0, 1, 2)},
	{"a function may not use the key", "table access", func(s *stack) {
		document := s.get("TagsAccess", "PolicyDocument").(map[string]any)
		document["Statement"] = document["Statement"].([]any)[:1]
	}},
	{"a function without the table may use the key", "table access", allow("Docs", "kms:Decrypt", aKey)},
	{"a function that reads may delete", "read functions", allow("Events", "dynamodb:DeleteItem", "table")},
	{"a function that reads may update", "read functions", allow("Docs", "dynamodb:UpdateItem", "table")},
	{"another function reads the key", "secret", allow("Users", "secretsmanager:GetSecretValue", "key")},
	{"tokens may overwrite its key", "secret", allow("Tokens", "secretsmanager:PutSecretValue", "key")},
	{"a secret is a variable", "secret", set("TagsFunction", "{{resolve:secretsmanager:x}}", "Environment", "Variables", "SECRET")},
	{"the key goes with the stack", "secret", func(s *stack) { s.Resources["TokenKey"].DeletionPolicy = "" }},
	{"the key of a stack that was never made is left", "secret", func(s *stack) { s.Resources["TokenKey"].DeletionPolicy = "Retain" }},
	{"a function takes longer than the gateway waits", "functions", set("TagsFunction", 30.0, "Timeout")},
	{"a function has no time for the store", "functions", set("TagsFunction", 3.0, "Timeout")},
	{"another runtime", "functions", set("TagsFunction", "go1.x", "Runtime")},
	{"no traces", "functions", set("TagsFunction", nil, "TracingConfig")},
	{"traces that no parameter ends", "functions", set("TagsFunction", "Active", "TracingConfig", "Mode")},
	{"everybody is the administrator", "functions", set("TagsFunction", "none", "Environment", "Variables", "AUTH_TYPE")},
	{"a parameter makes everybody the administrator", "functions", set("TagsFunction", map[string]any{"Ref": "AuthType"}, "Environment", "Variables", "AUTH_TYPE")},
	{"logs are text", "functions", set("TagsFunction", "Text", "LoggingConfig", "LogFormat")},
	{"a function has the default of memory", "functions", set("TagsFunction", nil, "MemorySize")},
	{"a function reserves concurrency", "functions", set("TagsFunction", 10.0, "ReservedConcurrentExecutions")},
	{"a function has a tag, which makes a version that Lambda refuses", "functions", set("TagsFunction", []any{map[string]any{"Key": "a", "Value": "b"}}, "Tags")},
	{"a reservation makes a version that Lambda refuses", "functions", set("TagsFunction", nil, "Environment", "Variables", "RESERVED_CONCURRENCY")},
	{"a pause makes a version that Lambda refuses", "functions", set("TagsFunction", nil, "Environment", "Variables", "PAUSED")},
	{"a function reserves none whatever the parameter", "functions", set("TagsFunction", nil, "ReservedConcurrentExecutions")},
	{"a function logs elsewhere", "logs", set("TagsFunction", "other", "FunctionName")},
	{"a log group that no function writes to", "logs", set("TagsLogs", "/other", "LogGroupName")},
	{"the access log is kept for ever", "logs", set("ApiLogs", nil, "RetentionInDays")},
	{"a function's log is kept for ever", "logs", set("TagsLogs", nil, "RetentionInDays")},
	{"no alias", "deployment", set("TagsFunctionAliaslive", "other", "Name")},
	{"no rollback by an alarm", "deployment", set("TagsFunctionDeploymentGroup", nil, "AlarmConfiguration")},
	{"a canary is rolled back by errors of any version", "deployment", set("TagsFunctionDeploymentGroup", map[string]any{
		"Enabled": true, "Alarms": []any{map[string]any{"Name": map[string]any{"Ref": "TagsErrors"}}}}, "AlarmConfiguration")},
	{"the alarm of a canary watches all versions", "deployment", func(s *stack) {
		metric := s.get("TagsRelease", "Metrics", 1, "MetricStat", "Metric").(map[string]any)
		metric["Dimensions"] = metric["Dimensions"].([]any)[:2]
	}},
	{"answers of 500 are counted for all versions", "deployment", set("TagsVersionFailures", []any{map[string]any{
		"MetricName": "TagsVersionFailures"}}, "MetricTransformations")},
	{"a canary without a test request before it", "deployment", func(s *stack) { s.Resources["TagsFunctionAliaslive"].UpdatePolicy = nil }},
	{"a repair all at once is stopped by an alarm", "deployment", func(s *stack) {
		if !s.everything {
			set("TagsFunctionDeploymentGroup", map[string]any{"Alarms": []any{"x"}}, "AlarmConfiguration")(s)
		}
	}},
	{"the hook may invoke any function", "traffic shifting", allow("Smoke", "lambda:InvokeFunction", "*")},
	{"rollback by failures alone", "deployment", set("TagsFunctionDeploymentGroup", []any{"DEPLOYMENT_FAILURE"}, "AutoRollbackConfiguration", "Events")},
	{"a parameter's new value makes no version", "deployment", func(s *stack) {
		for _, id := range s.of("AWS::Lambda::Version") {
			if strings.HasPrefix(id, "Tags") {
				delete(s.Resources[id].Properties, "Description")
			}
		}
	}},
	{"CodeDeploy has a role of SAM's", "traffic shifting", set("TagsFunctionDeploymentGroup", map[string]any{"Fn::GetAtt": []any{"CodeDeployServiceRole", "Arn"}}, "ServiceRoleArn")},
	{"CodeDeploy may invoke other functions", "traffic shifting", allow("CodeDeploy", "lambda:InvokeFunction", "function")},
	{"CodeDeploy cannot see alarms", "traffic shifting", func(s *stack) {
		policy := s.get("CodeDeployRole", "Policies", 0, "PolicyDocument").(map[string]any)
		policy["Statement"] = policy["Statement"].([]any)[:1]
	}},
	{"CodeDeploy has a policy of AWS's", "own roles", set("CodeDeployRole", []any{"arn:aws:iam::aws:policy/service-role/AWSCodeDeployRoleForLambda"}, "ManagedPolicyArns")},
	{"a role of SAM's", "own roles", func(s *stack) { s.Resources["CodeDeployServiceRole"] = s.Resources["CodeDeployRole"] }},
	{"a function has no alarm of errors", "function alarms", remove("TagsErrors")},
	{"a function has no alarm of throttles", "function alarms", remove("TagsThrottles")},
	{"a function has no alarm of p99", "function alarms", remove("FallbackSlow")},
	{"an alarm watches another function", "function alarms", set("TagsThrottles", "${AWS::StackName}-Users", "Dimensions", 0, "Value")},
	{"an alarm watches the mean", "function alarms", set("TagsSlow", "p50", "ExtendedStatistic")},
	{"an alarm at every import of some size", "function alarms", set("ImportsSlow", 3000.0, "Threshold")},
	{"an alarm after everybody's patience", "function alarms", set("TagsSlow", 20000.0, "Threshold")},
	{"an alarm tells nobody", "function alarms", set("TagsSlow", nil, "AlarmActions")},
	{"answers of 500 are no errors", "function alarms", remove("TagsFailures")},
	{"alarms notify nobody", "stack alarms", func(s *stack) { delete(s.Rules, "AlarmsNotify") }},
	{"no alarm of 5xx", "stack alarms", remove("ApiErrors")},
	{"no alarm of throttled reads", "stack alarms", set("TableThrottles", "Other", "Metrics", 1, "MetricStat", "Metric", "MetricName")},
	{"no alarm of conflicts", "stack alarms", remove("TableConflicts")},
	{"an import rings the alarm of conflicts", "stack alarms", set("TableConflicts", "FILL(conflicts, 0)", "Metrics", 0, "Expression")},
	{"a short import rings the alarm of conflicts", "stack alarms", set("TableConflicts", 1.0, "DatapointsToAlarm")},
	{"no alarm of an index that throttles", "stack alarms", remove("logThrottles")},
	{"an alarm watches the table in place of its index", "stack alarms", func(s *stack) {
		metric := s.get("projectThrottles", "Metrics", 2, "MetricStat", "Metric").(map[string]any)
		metric["Dimensions"] = metric["Dimensions"].([]any)[:1]
	}},
	{"a late crash is never seen", "late datapoints", set("TagsErrors", 1.0, "EvaluationPeriods")},
	{"a late throttle of the table is never seen", "late datapoints", set("TableThrottles", 4.0, "EvaluationPeriods")},
	{"a late 5xx is never seen", "late datapoints", set("ApiErrors", 1.0, "EvaluationPeriods")},
	{"no alarm of the table's errors", "stack alarms", remove("TableQueryErrors")},
	{"the table can be deleted", "table", set("Table", false, "DeletionProtectionEnabled")},
	{"the table goes with the stack", "table", func(s *stack) { s.Resources["Table"].DeletionPolicy = "Delete" }},
	{"the table goes when it is replaced", "table", func(s *stack) { s.Resources["Table"].UpdateReplacePolicy = "" }},
	{"no recovery", "table", set("Table", nil, "PointInTimeRecoverySpecification")},
	{"recovery of a week", "table", set("Table", 7.0, "PointInTimeRecoverySpecification", "RecoveryPeriodInDays")},
	{"capacity is provisioned", "table", set("Table", "PROVISIONED", "BillingMode")},
	{"no cap", "table", set("Table", nil, "OnDemandThroughput")},
	{"an index has no cap", "table", set("Table", nil, "GlobalSecondaryIndexes", 1, "OnDemandThroughput")},
	{"no key of one's own", "table", set("Table", nil, "SSESpecification")},
	{"no stream", "table", set("Table", nil, "StreamSpecification")},
	{"no daily backup", "backup", remove("BackupPlan")},
	{"no copy in another account", "backup", func(s *stack) {
		delete(s.get("BackupPlan", "BackupPlan", "BackupPlanRule", 0).(map[string]any), "CopyActions")
	}},
	{"the backup is of the table before the restore", "backup", set("BackupSelection", []any{map[string]any{"Fn::GetAtt": []any{"Table", "Arn"}}}, "BackupSelection", "Resources")},
	{"backups go with the stack", "backup", func(s *stack) { s.Resources["BackupVault"].DeletionPolicy = "" }},
	{"a role outside the boundary", "own roles", set("TagsRole", nil, "PermissionsBoundary")},
	{"a role outside its path", "own roles", set("CodeDeployRole", nil, "Path")},
	{"a function that any address reaches", "front", set("TagsFunction", nil, "Environment", "Variables", "FRONT_SECRET_SHA256")},
	{"the execute-api address stays", "front", set("Api", []any{}, "Body", "servers")},
	{"no address at all", "front", func(s *stack) { delete(s.Rules, "ExecuteApiOffWithDomain") }},
	{"a probe that never runs", "probe", set("ProbeFunctionOften", nil, "State")},
	{"a failure of the probe that counts three times", "probe", remove("ProbeFunctionEventInvokeConfig")},
	{"a probe that does not run is a good one", "probe", set("ProbeFails", "notBreaching", "TreatMissingData")},
	{"no alarm of a fast burn", "stack alarms", remove("SloFastBurn")},
	{"an alarm of a slow burn that is fast", "stack alarms", set("SloSlowBurn", 0.0144, "Threshold")},
	{"a resource that a pipeline may not create", "pipeline", func(s *stack) { s.Resources["Queue"] = &resource{Type: "AWS::SQS::Queue"} }},
	{"an action that the boundary takes away", "pipeline", allow("Tags", "dynamodb:PartiQLSelect", "table")},
	{"no throttling", "interface", set("ApiApiGatewayDefaultStage", nil, "DefaultRouteSettings")},
	{"another stage", "interface", set("ApiApiGatewayDefaultStage", "v1", "StageName")},
	{"the access log breaks its JSON", "interface", set("ApiApiGatewayDefaultStage", `{"requestId":$context.requestId}`, "AccessLogSettings", "Format")},
	{"no access log", "interface", set("ApiApiGatewayDefaultStage", nil, "AccessLogSettings", "DestinationArn")},
	{"any page may call", "interface", func(s *stack) {
		if s.everything {
			set("Api", []any{"*"}, "Body", "x-amazon-apigateway-cors", "allowOrigins")(s)
		}
	}},
	{"pages are listed, and not let in", "interface", set("Api", nil, "Body", "x-amazon-apigateway-cors")},
	{"any page may be let in", "interface", func(s *stack) { s.Parameters["CorsOrigins"]["AllowedPattern"] = "^.*$" }},
	{"301 routes", "routes", func(s *stack) {
		paths := s.get("Api", "Body", "paths").(map[string]any)
		for i := range maxRoutes {
			paths[fmt.Sprint("/", i)] = paths["/docs"]
		}
	}},
	{"a route passes by the alias", "routes", func(s *stack) {
		for _, operation := range s.get("Api", "Body", "paths", "/docs").(map[string]any) {
			operation.(map[string]any)["x-amazon-apigateway-integration"] = map[string]any{"uri": "DocsFunction"}
		}
	}},
	{"a function of fifty routes", "policies", func(s *stack) {
		for i := range 50 {
			s.Resources[fmt.Sprint("More", i)] = s.Resources["TagsFunctionFeatureTagPermission"]
		}
	}},
	{"a permission for any API", "policies", set("TagsFunctionFeatureTagPermission", nil, "SourceArn")},
	{"two regions share a dashboard", "dashboard", set("Dashboard", map[string]any{"Ref": "AWS::StackName"}, "DashboardName")},
	{"no dashboard", "dashboard", remove("Dashboard")},
	{"a function is not in the dashboard", "dashboard", func(s *stack) {
		text := s.get("Dashboard", "DashboardBody")
		if sub, ok := text.(map[string]any); ok {
			parts := sub["Fn::Sub"].([]any)
			parts[0] = strings.ReplaceAll(parts[0].(string), "-Tags", "")
			return
		}
		s.Resources["Dashboard"].Properties["DashboardBody"] = strings.ReplaceAll(text.(string), "-Tags", "")
	}},
}

// set puts a value, or nothing if it is nil, into a resource.
func set(id string, value any, path ...any) func(s *stack) {
	return func(s *stack) {
		last := len(path) - 1
		within, ok := at(s.Resources[id].Properties, path[:last]...).(map[string]any)
		if !ok {
			panic(fmt.Sprintf("%s has no %v to put a fault into", id, path[:last]))
		}
		if value == nil {
			delete(within, path[last].(string))
			return
		}
		within[path[last].(string)] = value
	}
}

// only leaves some of the resources of a policy's first statement, by their numbers, where there are as many.
func only(id string, left ...int) func(s *stack) {
	return func(s *stack) {
		statement := s.get(id, "PolicyDocument", "Statement", 0).(map[string]any)
		all, kept := statement["Resource"].([]any), []any{}
		if !s.everything {
			return
		}
		for _, i := range left {
			kept = append(kept, all[i])
		}
		statement["Resource"] = kept
	}
}

// remove takes a resource away.
func remove(id string) func(s *stack) {
	return func(s *stack) {
		if s.Resources[id] == nil {
			panic("there is no " + id + " to take away")
		}
		delete(s.Resources, id)
	}
}

// allow adds a statement to the role of a function.
func allow(function, action, resource string) func(s *stack) {
	return func(s *stack) {
		policy := s.get(function+"Role", "Policies", 0, "PolicyDocument").(map[string]any)
		policy["Statement"] = append(slices.Clone(policy["Statement"].([]any)), map[string]any{
			"Effect": "Allow", "Action": []any{action}, "Resource": resource,
		})
	}
}
