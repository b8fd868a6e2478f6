package template

# alarm_problems checks that an alarm watches a metric with these dimension values, and notifies the topic if there is one.
alarm_problems(id, namespace, metric, values) := {message |
	some message in [
		missing_alarm(id),
		unwatched(id, namespace, metric, values),
		wrong_actions(id, "AlarmActions"),
		wrong_actions(id, "OKActions"),
		wrong_condition(id),
	][_]
}

missing_alarm(id) := {sprintf("there is no alarm %s", [id]) | not id in of_type("AWS::CloudWatch::Alarm")}

unwatched(id, namespace, metric, values) := {sprintf("%s does not watch %s %s of %v", [id, namespace, metric, values]) |
	not watches(id, namespace, metric, values)
}

# A metric is that of a simple alarm, or one of an alarm with metric math.
watches(id, namespace, name, values) if {
	alarm := input.Resources[id].Properties
	some metric in array.concat([alarm], [m.MetricStat.Metric | some m in list(get(id, ["Metrics"]))])
	metric.Namespace == namespace
	metric.MetricName == name
	every value in values { value in {d.Value | some d in metric.Dimensions} }
}

wrong_actions(id, actions) := {sprintf("%s has the %s %v; expected %v", [id, actions, got, want]) |
	want := topics
	got := list(get(id, [actions]))
	got != want
}

topics := [alarm_topic] if input.everything

topics := [] if not input.everything

wrong_condition(id) := {sprintf("%s depends on the condition %s", [id, condition]) |
	condition := input.Resources[id].Condition
	not condition in {"WithAlarms", "WithUrlAlarms", "Gradual"}
}

# metric_stat returns the MetricStat with an id, of an alarm with metric math.
metric_stat(alarm, id) := stat if {
	some metric in list(get(alarm, ["Metrics"]))
	metric.Id == id
	stat := metric.MetricStat
} else := {}

table_in_use := restored_table if input.everything

table_in_use := {"Ref": "Table"} if not input.everything

stack_alarms := {
	["AdministrationFails", "Guidon/${AWS::StackName}", "AdministrationFailures", []],
	["ApplicationsFails", "Guidon/${AWS::StackName}", "ApplicationsFailures", []],
	["ApiErrors", "AWS/ApiGateway", "5xx", [{"Ref": "Api"}]],
	["ApiRefused", "Guidon/${AWS::StackName}", "Refusals", []],
	["TableThrottles", "AWS/DynamoDB", "ReadThrottleEvents", [table_in_use]],
	["TableThrottles", "AWS/DynamoDB", "WriteThrottleEvents", [table_in_use]],
	["SnapshotFails", "AWS/Lambda", "Errors", ["${AWS::StackName}-Snapshot"]],
	["AggregateFails", "AWS/Lambda", "Errors", ["${AWS::StackName}-Aggregate"]],
	["DeliverFails", "AWS/Lambda", "Errors", ["${AWS::StackName}-Deliver"]],
	["DeliverWaits", "Guidon/${AWS::StackName}", "OldestWaiting", []],
	["DeliverParks", "Guidon/${AWS::StackName}", "DeliveriesParked", []],
}

# The alarm of a worker rings, too, if it does not run.
problems.stack_alarms contains sprintf("%sFails rings after %v periods of %v s, and with missing data %v; expected %v", [name, got[0], got[1], got[2], want]) if {
	some name, want in {"Snapshot": [3, 3600, "breaching"], "Aggregate": [5, 60, "breaching"], "Deliver": [2, 300, "breaching"]}
	got := [get(sprintf("%sFails", [name]), [field]) | some field in ["EvaluationPeriods", "Period", "TreatMissingData"]]
	got != want
}

# The metrics of lines of logs. A status of 503 is not the code's fault.
failed_lines := `{ $.status = 500 || $.message = "event" || ($.type = "platform.report" && $.record.status != "success") }`

problems.stack_alarms contains sprintf("%s counts %v; expected %v", [id, got, want]) if {
	some [id, logs, metric, want] in {
		["AdministrationFailures", "AdministrationLogs", "AdministrationFailures", failed_lines],
		["ApplicationsFailures", "ApplicationsLogs", "ApplicationsFailures", failed_lines],
		["DeliveriesParked", "WorkerLogs", "DeliveriesParked", "{ $.message = \"delivery parked\" }"],
		["OldestWaiting", "WorkerLogs", "OldestWaiting", "{ $.oldestSeconds > 0 }"],
	}
	got := [get(id, ["LogGroupName", "Ref"]), get(id, ["MetricTransformations", 0, "MetricName"]), get(id, ["FilterPattern"])]
	got != [logs, metric, want]
}

# AWS bills alarms by the metrics that they use, which docs/operations/cost.md counts.
problems.stack_alarms contains sprintf("the alarms use %d metrics; expected %d", [n, alarm_metrics]) if {
	n := sum([metrics | some id in of_type("AWS::CloudWatch::Alarm"); input.Resources[id].Condition in alarm_conditions; metrics := billed(id)])
	n != alarm_metrics
}

alarm_conditions := {"WithAlarms", "WithUrlAlarms"} if input.everything

alarm_conditions := {"WithAlarms"} if not input.everything

alarm_metrics := 35 if input.everything # 16 of them for the URLs of ClientUrl

alarm_metrics := 19 if not input.everything

billed(id) := max([1, count([m | some m in list(get(id, ["Metrics"])); m.MetricStat])])

burn_alarms := {[burn_alarm(callers, burn), "Guidon/${AWS::StackName}", concat("", [callers, metric]), []] |
	some callers in ["Administration", "Applications"]
	some burn in ["Fast", "Slow"]
	some metric in ["Errors", "Requests"]
}

# A function URL has no access log, so the objective of applications counts the metrics of Lambda.
url_alarms := {[id, "AWS/Lambda", metric, [{"Ref": sprintf("%sFunction", [name])}, sprintf("${%sFunction}:live", [name])]] |
	input.everything
	some id, metrics in {
		"UrlRefuses": ["Url4xxCount", "UrlRequestCount"],
		"SloApplicationsFastBurn": ["Url5xxCount", "Throttles", "UrlRequestCount"],
		"SloApplicationsSlowBurn": ["Url5xxCount", "Throttles", "UrlRequestCount"],
	}
	some metric in metrics
	some name in serving
}

# Each URL has a share of its own: many requests to one would hide that the other refuses all.
problems.stack_alarms contains sprintf("UrlRefuses compares %v", [got]) if {
	input.everything
	got := {metric.Id: metric.Expression | some metric in get("UrlRefuses", ["Metrics"]); metric.Expression}
	share := "IF(FILL(refused%[1]s, 0) >= 10, FILL(refused%[1]s, 0) / FILL(requests%[1]s, 1), 0)"
	got != {"share": "MAX([server, browser])", "server": sprintf(share, ["Server"]), "browser": sprintf(share, ["Browser"])}
}

burn_alarm(callers, burn) := sprintf("Slo%s%sBurn", [callers, burn])

problems.stack_alarms contains message if {
	some [id, namespace, metric, values] in ((stack_alarms | burn_alarms) | url_alarms)
	some message in alarm_problems(id, namespace, metric, values)
}

problems.stack_alarms contains sprintf("%s rings above %v; expected [requests, seconds, share] %v", [id, got, want]) if {
	some callers in ["Administration", "Applications"]
	some burn, limits in {"Fast": [3600, 0.0144], "Slow": [21600, 0.006]}
	id := burn_alarm(callers, burn)
	want := array.concat([concat("", [callers, "Requests"])], limits)
	got := [
		object.get(metric_stat(id, "requests"), ["Metric", "MetricName"], null),
		object.get(metric_stat(id, "errors"), "Period", null),
		get(id, ["Threshold"]),
	]
	got != want
}

# The filters of the access log count each route for the right objective, and 5xx and 429 as errors.
served_patterns := {pattern |
	some match in regex.find_all_string_submatch_n(`"(ANY [^"]+)\*"`, counts("ApplicationsRequests"), -1)
	pattern := match[1]
}

counts(metric) := pattern if {
	transformations := [{"MetricNamespace": "Guidon/${AWS::StackName}", "MetricName": metric, "MetricValue": "1"}]
	get(sprintf("Api%s", [metric]), ["MetricTransformations"]) == transformations
	get(sprintf("Api%s", [metric]), ["LogGroupName"]) == {"Ref": "ApiLogs"}
	pattern := get(sprintf("Api%s", [metric]), ["FilterPattern"])
} else := ""

problems.objectives contains sprintf("%s counts for the objective of applications: %v; expected %v", [path, got, want]) if {
	some path, operations in get("Api", ["Body", "paths"])
	uri := json.marshal(operations)
	want := regex.match("(Applications|Frontend)Function", uri)
	got := count({p | some p in served_patterns; startswith(sprintf("ANY %s", [path]), p)}) > 0
	got != want
}

problems.objectives contains sprintf("%s counts %s; expected %s", [metric, counts(metric), want]) if {
	applications := trim_suffix(trim_prefix(counts("ApplicationsRequests"), "{ "), " }")
	others := replace(replace(applications, " = ", " != "), "||", "&&")
	failed := `($.status = "5*" || $.status = "429")`
	some metric, want in {
		"Refusals": `{ $.status = "429" }`,
		"ApplicationsErrors": sprintf("{ (%s) && %s }", [applications, failed]),
		"AdministrationRequests": sprintf("{ %s }", [others]),
		"AdministrationErrors": sprintf("{ %s && %s }", [others, failed]),
	}
	counts(metric) != want
}

# Nobody forgets the topic: the parameter has no default, and "none" and "off" are words of their own.
problems.stack_alarms contains "the alarms may notify no one: the parameter Alarms has a default" if input.Parameters.Alarms.Default

datapoints_to_alarm(id) := object.get(alarm, "DatapointsToAlarm", alarm.EvaluationPeriods) if alarm := input.Resources[id].Properties

# Metrics can be minutes late. An alarm that rings at one datapoint must evaluate that datapoint again: with one period, or with
# FILL(x, 0) in a short time, a missing datapoint counts as 0 and is not evaluated again.
problems.late_datapoints contains sprintf("%s evaluates %v periods of %v s and misses late datapoints", [id, evaluated, period]) if {
	some id in of_type("AWS::CloudWatch::Alarm")
	metrics := list(get(id, ["Metrics"]))
	period := max({object.get(input.Resources[id].Properties, "Period", 0)} | {m.MetricStat.Period | some m in metrics})
	evaluated := get(id, ["EvaluationPeriods"])
	datapoints_to_alarm(id) == 1
	period < 3600
	evaluated < 5
	evaluated * period < 600
}
