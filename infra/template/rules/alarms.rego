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
	want := {true: [], false: topics}[id in grouped]
	got := list(get(id, [actions]))
	got != want
}

# The alarms of a group notify nobody. Its own alarm does, once for all of them.
groups := {
	"Administration": services - {"Applications", "Frontend"},
	"ForApplications": {"Applications", "Frontend"},
}

members["ForTable"] := {id | some id in of_type("AWS::CloudWatch::Alarm"); regex.match("^Table|^(log|project)Throttles$", id)}

members[group] := {concat("", [name, suffix]) | some name in names; some suffix in ["Errors", "Throttles", "Slow"]} if some group, names in groups

grouped := union({ids | some ids in members})

problems.groups contains sprintf("%s watches %v; expected %v", [group, got, want]) if {
	some group, want in members
	rule := plain(get(group, ["AlarmRule"]))
	got := {id | some part in split(rule, " OR "); id := trim_suffix(trim_prefix(part, "ALARM(\"${"), "}\")")}
	got != want
}

problems.groups contains sprintf("%s has the %s %v; expected %v", [group, actions, got, topics]) if {
	some group, _ in members
	some actions in ["AlarmActions", "OKActions"]
	got := list(get(group, [actions]))
	got != topics
}

topics := [alarm_topic] if input.everything

topics := [] if not input.everything

wrong_condition(id) := {sprintf("%s depends on the condition %s", [id, condition]) |
	condition := input.Resources[id].Condition
	not condition in {"WithAlarms", "Gradual", "ProbeRings"}
}

# metric_stat returns the MetricStat with an id, of an alarm with metric math.
metric_stat(alarm, id) := stat if {
	some metric in list(get(alarm, ["Metrics"]))
	metric.Id == id
	stat := metric.MetricStat
} else := {}

problems.function_alarms contains message if {
	some name in services
	some suffix, metric in {"Errors": "Errors", "Throttles": "Throttles", "Slow": "Duration"}
	some message in alarm_problems(concat("", [name, suffix]), "AWS/Lambda", metric, [sprintf("${AWS::StackName}-%s", [name])])
}

problems.function_alarms contains sprintf("%sSlow rings at %v; expected %v", [name, got, want]) if {
	some name in services
	want := ["p99", object.get({"Transfer": 20000}, name, 3000)] # an import writes thousands of flags in one call
	got := [get(sprintf("%sSlow", [name]), ["ExtendedStatistic"]), get(sprintf("%sSlow", [name]), ["Threshold"])]
	got != want
}

problems.function_alarms contains sprintf("%sErrors does not count responses with status 500", [name]) if {
	some name in services
	metric := sprintf("%sFailures", [name])
	got := {get(metric, ["MetricTransformations", 0, "MetricName"])} | {m.MetricStat.Metric.MetricName |
		some m in get(sprintf("%sErrors", [name]), ["Metrics"])
	}
	got != {"Errors", metric}
}

table_in_use := restored_table if input.everything

table_in_use := {"Ref": "Table"} if not input.everything

stack_alarms := {
	["ApiErrors", "AWS/ApiGateway", "5xx", [{"Ref": "Api"}]],
	["ApiRefused", "Guidon/${AWS::StackName}", "Refusals", []],
	["TableThrottles", "AWS/DynamoDB", "ReadThrottleEvents", [table_in_use]],
	["TableThrottles", "AWS/DynamoDB", "WriteThrottleEvents", [table_in_use]],
	["TableConflicts", "AWS/DynamoDB", "TransactionConflict", [table_in_use]],
	["TableBatchGetItemErrors", "AWS/DynamoDB", "SystemErrors", [table_in_use]],
	["TableTransactWriteItemsErrors", "AWS/DynamoDB", "SystemErrors", [table_in_use]],
	["TableQueryErrors", "AWS/DynamoDB", "SystemErrors", [table_in_use]],
}

# The metrics of a table leave out its indexes.
index_alarms := {[sprintf("%sThrottles", [index.IndexName]), "AWS/DynamoDB", metric, [table_in_use, index.IndexName]] |
	some index in get("Table", ["GlobalSecondaryIndexes"])
	some metric in ["ReadThrottleEvents", "WriteThrottleEvents"]
}

burn_alarms := {[burn_alarm(callers, burn), "Guidon/${AWS::StackName}", concat("", [callers, metric]), []] |
	some callers in ["Administration", "Applications"]
	some burn in ["Fast", "Slow"]
	some metric in ["Errors", "Requests"]
}

burn_alarm(callers, burn) := sprintf("Slo%s%sBurn", [callers, burn])

problems.stack_alarms contains message if {
	some [id, namespace, metric, values] in ((stack_alarms | index_alarms) | burn_alarms)
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

problems.stack_alarms contains "the alarms may notify no one: the rule AlarmsNotify does not require a topic when Alarms is on" if {
	not notifies
}

notifies if {
	rule := input.Rules.AlarmsNotify
	rule.RuleCondition == {"Fn::Equals": [{"Ref": "Alarms"}, "on"]}
	rule.Assertions[_].Assert == {"Fn::Not": [{"Fn::Equals": [{"Ref": "AlarmTopicArn"}, ""]}]}
}

# An import must not ring the alarm for conflicts: it divides by the successful transactions, over more time than an import takes.
problems.stack_alarms contains "TableConflicts does not divide by the number of transactions" if {
	not contains(get("TableConflicts", ["Metrics", 0, "Expression"]), "/ FILL(transactions, 1)")
}

problems.stack_alarms contains sprintf("TableConflicts counts transactions as %v", [got]) if {
	stat := metric_stat("TableConflicts", "transactions")
	got := [object.get(stat, ["Metric", "MetricName"], null), object.get(stat, "Stat", null)]
	got != ["SuccessfulRequestLatency", "SampleCount"]
}

problems.stack_alarms contains sprintf("TableConflicts rings after %v s; an import may take 900 s", [seconds]) if {
	seconds := metric_stat("TableConflicts", "conflicts").Period * datapoints_to_alarm("TableConflicts")
	seconds < 900
}

datapoints_to_alarm(id) := object.get(alarm, "DatapointsToAlarm", alarm.EvaluationPeriods) if alarm := input.Resources[id].Properties

# Metrics can be minutes late. An alarm that rings at one datapoint must evaluate that datapoint again: with one period, and
# with FILL(x, 0), a missing datapoint counts as 0 and is not evaluated again.
problems.late_datapoints contains sprintf("%s evaluates %v periods of %v s and misses late datapoints", [id, evaluated, period]) if {
	some id in of_type("AWS::CloudWatch::Alarm")
	metrics := list(get(id, ["Metrics"]))
	period := max({object.get(input.Resources[id].Properties, "Period", 0)} | {m.MetricStat.Period | some m in metrics})
	evaluated := get(id, ["EvaluationPeriods"])
	datapoints_to_alarm(id) == 1
	period < 3600
	evaluated < 5
	misses_late(metrics, evaluated * period)
}

misses_late(metrics, _) if count(metrics) > 0

misses_late(_, seconds) if seconds < 600
