package template

variable(name) := ["Environment", "Variables", name]

# AUTH_TYPE has no parameter: the API is public. AutoPublishAliasAllProperties publishes a version when any property changes,
# and Lambda refuses a version whose code and configuration are the same. So a property that is not part of the
# configuration, such as a tag, must never change, or must change a variable too (RESERVED_CONCURRENCY, PAUSED).
settings := [
	[["Runtime"], "provided.al2023"],
	[["TracingConfig", "Mode"], {"Ref": "Tracing"}],
	[["LoggingConfig", "LogFormat"], "JSON"],
	[["Tags"], [{"Key": "lambda:createdBy", "Value": "SAM"}]],
	[variable("AUTH_TYPE"), "api-token"],
	[variable("RESERVED_CONCURRENCY"), {"Fn::Sub": "${ReservedConcurrency} ${ApplicationsConcurrency} ${FrontendConcurrency}"}],
	[variable("PAUSED"), {"Ref": "Paused"}],
]

problems.functions contains sprintf("%s: %v is %v; expected %v", [name, path, property(name, path), want]) if {
	some name in functions
	some [path, want] in settings
	not [name, path] in exempt
	property(name, path) != want
}

# A trace of each run would cost more than all the rest of these functions, and traces and lines of successes would cost a third
# of a poll. The functions for applications decide what they log: Lambda must not leave out the lines with metrics.
exempt := {[name, ["TracingConfig", "Mode"]] | some name in {"Aggregate", "Deliver", "Applications", "Frontend"}}

quiet := [
	[["TracingConfig", "Mode"], "PassThrough"],
	[["LoggingConfig", "SystemLogLevel"], "WARN"],
	[["LoggingConfig", "ApplicationLogLevel"], "DEBUG"],
]

problems.functions contains sprintf("%s: %v is %v; expected %v", [name, path, property(name, path), want]) if {
	some name in {"Applications", "Frontend"}
	some [path, want] in quiet
	property(name, path) != want
}

problems.functions contains sprintf("%s names no architecture", [name]) if {
	some name in functions
	property(name, ["Architectures", 0]) == null
}

problems.functions contains sprintf("%s has %v MB of memory; expected 128 to 1024", [name, memory]) if {
	some name in functions
	memory := property(name, ["MemorySize"])
	not in_range(memory, 128, 1024)
}

in_range(value, least, most) if {
	value >= least
	value <= most
}

gateway_timeout := 30 # seconds that API Gateway waits

store_budget := 10 # seconds that the store's attempts need, at 2 s each

problems.functions contains sprintf("%s has a timeout of %v s; API Gateway waits for %d s", [name, timeout, gateway_timeout]) if {
	some name in (services - {"Bootstrap"}) # no gateway waits for Bootstrap
	timeout := property(name, ["Timeout"])
	timeout >= gateway_timeout
}

problems.functions contains sprintf("%s has a timeout of %v s; the store needs %d s", [name, timeout, store_budget]) if {
	some name in (services - {"Bootstrap", "Site"}) # the last does not use the store
	timeout := property(name, ["Timeout"])
	timeout < store_budget
}

own_concurrency := {"Applications": "50", "Frontend": "20"} if input.everything

own_concurrency := {} if not input.everything

problems.functions contains sprintf("%s reserves the concurrency %v", [name, reserved]) if {
	some name in functions
	reserved := property(name, ["ReservedConcurrentExecutions"])
	reserved != object.get(own_concurrency, name, property("Bootstrap", ["ReservedConcurrentExecutions"]))
}

problems.logs contains sprintf("%s has the function name %v; expected %s", [name, got, want]) if {
	some name in functions
	want := sprintf("${AWS::StackName}-%s", [name])
	got := plain(property(name, ["FunctionName"]))
	got != want
}

problems.logs contains sprintf("%sLogs is the log group %v; %s writes to %s", [name, got, name, want]) if {
	some name in functions
	want := sprintf("/aws/lambda/${AWS::StackName}-%s", [name])
	got := plain(get(sprintf("%sLogs", [name]), ["LogGroupName"]))
	got != want
}

problems.logs contains sprintf("%s is encrypted with %v; expected %v", [id, got, want]) if {
	want := {true: kms_key, false: null}[input.everything]
	some id in of_type("AWS::Logs::LogGroup")
	got := get(id, ["KmsKeyId"])
	got != want
}

problems.logs contains sprintf("%s keeps its logs forever", [id]) if {
	some id in of_type("AWS::Logs::LogGroup")
	get(id, ["RetentionInDays"]) == null
}

problems.deployment contains sprintf("%s has no alias named live", [name]) if {
	some name in functions
	get(sprintf("%sFunctionAliaslive", [name]), ["Name"]) != "live"
}

problems.deployment contains sprintf("the version of %s does not depend on the parameters: its description is not that of Settings", [name]) if {
	some name in functions
	some version in of_type("AWS::Lambda::Version")
	get(version, ["FunctionName"]) == {"Ref": sprintf("%sFunction", [name])}
	not contains(text(get(version, ["Description"])), "Settings")
}

# Lambda refuses to publish a version if code and configuration are those of the version before.
problems.deployment contains sprintf("the configuration of %s does not depend on the parameters: its variable SETTINGS is %v", [name, got]) if {
	some name in functions
	got := property(name, variable("SETTINGS"))
	got != {"Fn::GetAtt": ["Settings", "Value"]}
}

# Bootstrap runs once for each deployment, before anything can be measured.
released := services - {"Bootstrap"}

deployment_group(name, path) := get(sprintf("%sFunctionDeploymentGroup", [name]), path)

problems.deployment contains sprintf("the hook before a canary of %s is %v", [name, hook]) if {
	some name in released
	path := [sprintf("%sFunctionAliaslive", [name]), "UpdatePolicy", "CodeDeployLambdaAliasUpdate", "BeforeAllowTrafficHook"]
	hook := object.get(input.Resources, path, null)
	hook != {"Fn::If": ["Gradual", {"Ref": "SmokeFunction"}, {"Ref": "AWS::NoValue"}]}
}

# An alarm must not stop a deployment without a canary: it could be the repair.
problems.deployment contains sprintf("a deployment of %s is rolled back by %v; expected %v", [name, alarms, want]) if {
	some name in released
	alarms := deployment_group(name, ["AlarmConfiguration", "Alarms"])
	want := rollback_alarms(name)
	alarms != want
}

rollback_alarms(name) := [{"Name": {"Ref": sprintf("%sRelease", [name])}}] if input.everything

rollback_alarms(_) := null if not input.everything

problems.deployment contains sprintf("%s is not rolled back when an alarm rings", [name]) if {
	some name in released
	not "DEPLOYMENT_STOP_ON_ALARM" in list(deployment_group(name, ["AutoRollbackConfiguration", "Events"]))
}

# The alarm that rolls back a canary watches only the newest version. An alarm for all versions would see the errors of the
# version that the deployment repairs.
problems.deployment contains message if {
	input.everything
	some name in released
	some message in alarm_problems(sprintf("%sRelease", [name]), "AWS/Lambda", "Errors", [sprintf("${AWS::StackName}-%s:live", [name])])
}

problems.deployment contains sprintf("%sRelease does not watch only the newest version in its metric %s", [name, metric]) if {
	input.everything
	some name in released
	some metric, dimension in {"errors": "ExecutedVersion", "failures": "Version"}
	every d in list(object.get(metric_stat(sprintf("%sRelease", [name]), metric), ["Metric", "Dimensions"], null)) {
		not is_version(d, dimension, name)
	}
}

is_version(d, dimension, name) if {
	d.Name == dimension
	startswith(d.Value["Fn::GetAtt"][0], sprintf("%sFunctionVersion", [name]))
}

problems.deployment contains sprintf("%s does not count responses with status 500 by version", [filter]) if {
	input.everything
	some name in released
	filter := sprintf("%sVersionFailures", [name])
	got := [get(filter, ["MetricTransformations", 0, "MetricName"]), get(filter, ["MetricTransformations", 0, "Dimensions", 0, "Value"])]
	got != [filter, "$.functionVersion"]
}

# CodeDeploy and its hook may do what a canary needs, and only with the functions of this stack.
problems.traffic_shifting contains sprintf("%s does not use CodeDeployRole", [id]) if {
	some id in of_type("AWS::CodeDeploy::DeploymentGroup")
	get(id, ["ServiceRoleArn", "Fn::GetAtt", 0]) != "CodeDeployRole"
}

problems.traffic_shifting contains sprintf("%s may do %v; expected %v", [name, got, want]) if {
	some name, want in shifting
	got := [[statement.actions, statement.resources] | some statement in statements(name)]
	got != want
}

in_stack(service, kind) := sprintf("arn:${AWS::Partition}:%s:${AWS::Region}:${AWS::AccountId}:%s:${AWS::StackName}-", [service, kind])

shifting := {
	"CodeDeploy": [
		[
			["lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias"],
			[{"Fn::GetAtt": [sprintf("%sFunction", [name]), "Arn"]} | some name in in_order],
		],
		[["lambda:InvokeFunction"], [{"Fn::GetAtt": ["SmokeFunction", "Arn"]}]],
		[["cloudwatch:DescribeAlarms"], ["*"]],
	],
	"Smoke": array.concat(
		[
			[["logs:CreateLogStream", "logs:PutLogEvents"], [{"Fn::GetAtt": ["SmokeLogs", "Arn"]}]],
			[xray, ["*"]],
			[["lambda:InvokeFunction"], [sprintf("${%sFunction.Arn}:*", [name]) | some name in in_order]],
			[
				["codedeploy:BatchGetDeploymentTargets", "codedeploy:ListDeploymentTargets", "codedeploy:PutLifecycleEventHookExecutionStatus"],
				[concat("", [in_stack("codedeploy", "deploymentgroup"), "ServerlessDeploymentApplication-*/*"])],
			],
			[["secretsmanager:GetSecretValue"], [{"Ref": "SmokeToken"}]],
		],
		[[["kms:Decrypt"], [kms_key]] | input.everything],
	),
}

# The functions with canaries, one by one: <stack>-* would also be those of a stack <stack>-x.
in_order := ["Features", "Projects", "Configuration", "Access", "Transfer", "Insight", "Integrations", "Applications", "Frontend", "Site"]

problems.traffic_shifting contains sprintf("a canary of %v may not be shifted or tested", [missing]) if {
	missing := released - {name | some name in in_order}
	count(missing) > 0
}

problems.traffic_shifting contains sprintf("%s lets deployments of other accounts use it", [id]) if {
	some id in ["CodeDeployRole", "BackupRole"]
	not conditional(id)
	get(id, ["AssumeRolePolicyDocument", "Statement", 0, "Condition"]) != {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
}
