package template

variable(name) := ["Environment", "Variables", name]

# AUTH_TYPE has no parameter: the API is public. AutoPublishAliasAllProperties publishes a version when any property changes,
# and Lambda refuses a version whose code and configuration are the same. So a property that is not part of the
# configuration, such as a tag, must never change, or must change a variable too (SETTINGS).
settings := [
	[["TracingConfig", "Mode"], "Active"], # the value of Tracing
	[["LoggingConfig", "LogFormat"], "JSON"],
	[["Tags"], [{"Key": "lambda:createdBy", "Value": "SAM"}]],
	[variable("AUTH_TYPE"), "api-token"],
]

problems.functions contains sprintf("%s: %v is %v; expected %v", [name, path, property(name, path), want]) if {
	some name in functions
	some [path, want] in settings
	not [name, path] in exempt
	property(name, path) != want
}

# Traces of polls and evaluations, and lines of their successes, would cost a third of a poll. The functions for applications decide what
# they log: Lambda must not leave out the lines with metrics. Scheduled runs are not traced either, see schedules.
exempt := {[name, ["TracingConfig", "Mode"]] | some name in (serving | object.keys(schedules))}

quiet := [
	[["TracingConfig", "Mode"], "PassThrough"],
	[["LoggingConfig", "SystemLogLevel"], "WARN"],
	[["LoggingConfig", "ApplicationLogLevel"], "DEBUG"],
]

problems.functions contains sprintf("%s: %v is %v; expected %v", [name, path, property(name, path), want]) if {
	some name in serving
	some [path, want] in quiet
	property(name, path) != want
}

# A header can ask for a trace. Strangers call the functions for applications, and the workers are never traced.
problems.functions contains sprintf("%s may write traces: %v; expected %v", [name, may, want]) if {
	some name in functions
	want := name in (functions - (serving | workers))
	may := xray in [statement.actions | some statement in statements(name)]
	may != want
}

gateway_timeout := 30 # seconds that API Gateway waits

store_budget := 10 # seconds that the store's attempts need, at 2 s each

problems.functions contains sprintf("%s has a timeout of %v s; API Gateway waits for %d s", [name, timeout, gateway_timeout]) if {
	some name in services
	timeout := property(name, ["Timeout"])
	timeout >= gateway_timeout
}

problems.functions contains sprintf("%s has a timeout of %v s; the store needs %d s", [name, timeout, store_budget]) if {
	some name in (services - {"Site"}) # which does not use the store
	timeout := property(name, ["Timeout"])
	timeout < store_budget
}

own_concurrency := {"Applications": "50", "Frontend": "20"} if input.everything

own_concurrency := {} if not input.everything

problems.functions contains sprintf("%s reserves the concurrency %v", [name, reserved]) if {
	some name in functions
	reserved := property(name, ["ReservedConcurrentExecutions"])
	reserved != object.get(own_concurrency, name, property("Setup", ["ReservedConcurrentExecutions"]))
}

problems.logs contains sprintf("%s has the function name %v; expected %s", [name, got, want]) if {
	some name in functions
	want := sprintf("${AWS::StackName}-%s", [name])
	got := plain(property(name, ["FunctionName"]))
	got != want
}

# Log groups are shared by kind, and each role may write to that of its functions.
log_group(name) := "ApplicationsLogs" if name in serving

log_group(name) := "WorkerLogs" if name in workers

log_group(name) := "AdministrationLogs" if not name in (serving | workers)

problems.logs contains sprintf("%s writes to the log group %v, and may write to %v; expected %s", [name, got, may, want]) if {
	some name in functions
	want := log_group(name)
	got := property(name, ["LoggingConfig", "LogGroup", "Ref"])
	may := [statement.resources | some statement in statements(name); "logs:PutLogEvents" in statement.actions]
	[got, may] != [want, [[{"Fn::GetAtt": [want, "Arn"]}]]]
}

problems.deployment contains sprintf("%s has no alias named live", [name]) if {
	some name in functions
	get(sprintf("%sFunctionAliaslive", [name]), ["Name"]) != "live"
}

deployment_group(name, path) := get(sprintf("%sFunctionDeploymentGroup", [name]), path)

problems.deployment contains sprintf("the hook before a canary of %s is %v", [name, hook]) if {
	some name in services
	path := [sprintf("%sFunctionAliaslive", [name]), "UpdatePolicy", "CodeDeployLambdaAliasUpdate", "BeforeAllowTrafficHook"]
	hook := object.get(input.Resources, path, null)
	hook != canary_hook
}

canary_hook := {"Ref": "SetupFunction"} if input.everything

canary_hook := null if not input.everything

# Without a canary, CloudFormation moves the aliases itself: neither CodeDeploy nor an alarm can stop a repair.
problems.deployment contains sprintf("%s needs CodeDeploy without a canary", [id]) if {
	not input.everything
	some id, resource in input.Resources
	[startswith(resource.Type, "AWS::CodeDeploy::"), "UpdatePolicy" in object.keys(resource)] != [false, false]
}

problems.deployment contains sprintf("a deployment of %s is rolled back by %v; expected %v", [name, alarms, rollback_alarms]) if {
	input.everything
	some name in services
	alarms := deployment_group(name, ["AlarmConfiguration", "Alarms"])
	alarms != rollback_alarms
}

rollback_alarms := [{"Name": {"Ref": "ReleaseErrors"}}, {"Name": {"Ref": "ReleaseFailures"}}]

# One failure may be of the table or the network: it rolls nothing back.
problems.deployment contains sprintf("%s rings at %v within %v s; expected 3 failures in five minutes", [id, threshold, seconds]) if {
	input.everything
	some id in object.keys(release_metrics)
	threshold := [get(id, ["ComparisonOperator"]), get(id, ["Threshold"])]
	seconds := {m.MetricStat.Period | some m in list(get(id, ["Metrics"]))}
	[threshold, seconds] != [["GreaterThanOrEqualToThreshold", 3], {300}]
}

# The package before is kept, and these are not needed to go back.
problems.deployment contains sprintf("%s stays when there is another version", [id]) if {
	some id in of_type("AWS::Lambda::Version")
	object.get(input.Resources[id], "DeletionPolicy", "") != "Delete"
}

problems.deployment contains sprintf("%s is not rolled back when an alarm rings", [name]) if {
	input.everything
	some name in services
	not "DEPLOYMENT_STOP_ON_ALARM" in list(deployment_group(name, ["AutoRollbackConfiguration", "Events"]))
}

# The alarms that roll back a canary watch only the newest version of each function. An alarm for all versions would see the errors of the
# version that the deployment repairs.
release_metrics := {
	"ReleaseErrors": ["AWS/Lambda", "Errors", "FunctionName", "ExecutedVersion"],
	"ReleaseFailures": ["Guidon/${AWS::StackName}", "VersionFailures", "Function", "Version"],
}

problems.deployment contains sprintf("%s does not watch the newest version of %s", [id, name]) if {
	input.everything
	some name in services
	some id, want in release_metrics
	not watches_version(id, name, want)
}

watches_version(id, name, [namespace, metric, function, version]) if {
	some m in list(get(id, ["Metrics"]))
	m.Id == lower(name)
	plain(m.MetricStat.Metric.Namespace) == namespace
	m.MetricStat.Metric.MetricName == metric
	dimensions := {d.Name: d.Value | some d in m.MetricStat.Metric.Dimensions}
	dimensions[function] == {"Ref": sprintf("%sFunction", [name])}
	startswith(dimensions[version]["Fn::GetAtt"][0], sprintf("%sFunctionVersion", [name]))
}

problems.deployment contains message if {
	input.everything
	some id in object.keys(release_metrics)
	some message in (wrong_actions(id, "AlarmActions") | wrong_condition(id))
}

# A metric filter reads one log group, so each kind has its own.
problems.deployment contains sprintf("%s does not count responses with status 500 by function and version: %v", [id, got]) if {
	input.everything
	some kind in ["Administration", "Applications"]
	id := sprintf("%sVersionFailures", [kind])
	got := [get(id, ["LogGroupName", "Ref"]), get(id, ["MetricTransformations", 0, "MetricName"]), [d.Value | some d in get(id, ["MetricTransformations", 0, "Dimensions"])]]
	got != [sprintf("%sLogs", [kind]), "VersionFailures", ["$.function", "$.functionVersion"]]
}

problems.deployment contains sprintf("%s has %d metrics; CloudWatch allows 10 in an alarm", [id, n]) if {
	some id in of_type("AWS::CloudWatch::Alarm")
	n := count([m | some m in list(get(id, ["Metrics"])); m.MetricStat])
	n > 10
}

# CodeDeploy and its hook may do what a canary needs, and only with the functions of this stack.
problems.traffic_shifting contains sprintf("%s does not use CodeDeployRole", [id]) if {
	some id in of_type("AWS::CodeDeploy::DeploymentGroup")
	get(id, ["ServiceRoleArn", "Fn::GetAtt", 0]) != "CodeDeployRole"
}

problems.traffic_shifting contains sprintf("CodeDeploy may do %v; expected %v", [got, shifting]) if {
	got := [[statement.actions, statement.resources] | some statement in allowed("CodeDeploy")]
	got != shifting
}

shifting := [
	[
		["lambda:GetAlias", "lambda:UpdateAlias"],
		[{"Fn::GetAtt": [sprintf("%sFunction", [name]), "Arn"]} | some name in in_order],
	],
	[["lambda:GetProvisionedConcurrencyConfig"], versions_in_order],
	[["lambda:InvokeFunction"], [{"Fn::GetAtt": ["SetupFunction", "Arn"]}]],
	[["cloudwatch:DescribeAlarms"], ["*"]],
]

problems.traffic_shifting contains sprintf("the hook may do %v; expected %v", [got, checking]) if {
	got := [[statement.actions, statement.resources] |
		some statement in statements("Setup")
		some action in statement.actions
		regex.match("^(lambda:|codedeploy:Put)", action)
	]
	got != checking
}

checking := [
	[["lambda:InvokeFunction"], versions_in_order],
	[
		["codedeploy:GetDeploymentTarget", "codedeploy:ListDeploymentTargets", "codedeploy:PutLifecycleEventHookExecutionStatus"],
		["arn:${AWS::Partition}:codedeploy:${AWS::Region}:${AWS::AccountId}:deploymentgroup:${AWS::StackName}-ServerlessDeploymentApplication-*/*"],
	],
]

versions_in_order := [sprintf("${%sFunction.Arn}:*", [name]) | some name in in_order]

# The functions with canaries, one by one: <stack>-* would also be those of a stack <stack>-x.
in_order := ["Features", "Projects", "Configuration", "Access", "Transfer", "Insight", "Integrations", "Applications", "Frontend", "Site"]

problems.traffic_shifting contains sprintf("a canary of %v may not be shifted or tested", [missing]) if {
	missing := services - {name | some name in in_order}
	count(missing) > 0
}

problems.traffic_shifting contains sprintf("%s lets deployments of other accounts use it", [id]) if {
	some id in ["CodeDeployRole", "BackupRole"]
	not conditional(id)
	get(id, ["AssumeRolePolicyDocument", "Statement", 0, "Condition"]) != {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
}
