package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

func functionAlarms(s *stack) (problems []string) {
	for _, name := range s.services() {
		for suffix, metric := range map[string]string{"Errors": "Errors", "Throttles": "Throttles", "Slow": "Duration"} {
			problems = append(problems, s.alarm(name+suffix, "AWS/Lambda", metric, `"${AWS::StackName}-`+name+`"`)...)
		}
		if s.get(name+"Slow", "ExtendedStatistic") != "p99" {
			problems = append(problems, name+"Slow is not about p99")
		}
		slow := 3000.0
		if name == "Imports" { // thousands of flags in one call: only what comes near its time is too slow
			slow = 20000
		}
		if got := number(s.get(name+"Slow", "Threshold")); got != slow {
			problems = append(problems, fmt.Sprintf("%sSlow begins at %v ms, want %v", name, got, slow))
		}
		if raw, _ := json.Marshal(s.get(name+"Errors", "Metrics")); !strings.Contains(string(raw), name+"Failures") ||
			s.get(name+"Failures", "MetricTransformations", 0, "MetricName") != name+"Failures" {
			problems = append(problems, name+"Errors does not count answers of 500")
		}
	}
	return problems
}

func stackAlarms(s *stack) (problems []string) {
	problems = append(problems, s.alarm("ApiErrors", "AWS/ApiGateway", "5xx", `{"Ref":"Api"}`)...)
	for id, want := range map[string][2]float64{"SloFastBurn": {3600, 0.0144}, "SloSlowBurn": {21600, 0.006}} {
		problems = append(problems, s.alarm(id, "AWS/ApiGateway", "5xx", `{"Ref":"Api"}`)...)
		period, threshold := number(at(s.metric(id, "errors"), "Period")), number(s.get(id, "Threshold"))
		if requests := s.metric(id, "requests"); at(requests, "Metric", "MetricName") != "Count" || period != want[0] || threshold != want[1] {
			problems = append(problems, fmt.Sprintf("%s rings above %v of %v in %v s", id, threshold, at(requests, "Metric", "MetricName"), period))
		}
	}
	for id, metric := range map[string]string{
		"TableThrottles": "WriteThrottleEvents", "TableConflicts": "TransactionConflict",
		"TableBatchGetItemErrors": "SystemErrors", "TableTransactWriteItemsErrors": "SystemErrors", "TableQueryErrors": "SystemErrors",
	} {
		problems = append(problems, s.alarm(id, "AWS/DynamoDB", metric, s.tableInUse())...)
	}
	problems = append(problems, s.alarm("TableThrottles", "AWS/DynamoDB", "ReadThrottleEvents", s.tableInUse())...)
	indexes, _ := s.get("Table", "GlobalSecondaryIndexes").([]any)
	for _, index := range indexes { // the table's metrics leave them out
		name, _ := at(index, "IndexName").(string)
		of := s.tableInUse() + `},{"Name":"GlobalSecondaryIndexName","Value":"` + name + `"}`
		for metric, id := range map[string]string{"ReadThrottleEvents": "reads", "WriteThrottleEvents": "writes"} {
			problems = append(problems, s.alarm(name+"Throttles", "AWS/DynamoDB", metric, of)...)
			if raw, _ := json.Marshal(s.metric(name+"Throttles", id)); !strings.Contains(string(raw), of) {
				problems = append(problems, fmt.Sprintf("%sThrottles does not watch %s of the index", name, metric))
			}
		}
	}
	rule, _ := json.Marshal(s.Rules["AlarmsNotify"])
	for _, part := range []string{`"Assert":{"Fn::Not":[{"Fn::Equals":[{"Ref":"AlarmTopicArn"},""]}]}`, `"RuleCondition":{"Fn::Equals":[{"Ref":"Alarms"},"on"]}`} {
		if !strings.Contains(string(rule), part) {
			problems = append(problems, "alarms may notify nobody: there is no rule with "+part)
		}
	}
	return append(problems, s.conflictsAlarm()...)
}

// conflictsAlarm checks that an import does not ring the alarm of conflicts: it counts them for each transaction that
// succeeds, and waits for longer than an import takes.
func (s *stack) conflictsAlarm() (problems []string) {
	const id = "TableConflicts"
	if expression, _ := s.get(id, "Metrics", 0, "Expression").(string); !strings.Contains(expression, "/ FILL(transactions, 1)") {
		problems = append(problems, id+" does not divide by the number of transactions")
	}
	if of, stat := at(s.metric(id, "transactions"), "Metric", "MetricName"), at(s.metric(id, "transactions"), "Stat"); of != "SuccessfulRequestLatency" || stat != "SampleCount" {
		problems = append(problems, fmt.Sprintf("%s counts transactions by %v of %v", id, stat, of))
	}
	if seconds := number(at(s.metric(id, "conflicts"), "Period")) * s.datapointsToAlarm(id); seconds < 900 {
		problems = append(problems, fmt.Sprintf("%s rings after %v s, which an import may take", id, seconds))
	}
	return problems
}

// metric is the MetricStat with an id, of an alarm with metric math.
func (s *stack) metric(alarm, id string) any {
	metrics, _ := s.get(alarm, "Metrics").([]any)
	for _, metric := range metrics {
		if at(metric, "Id") == id {
			return at(metric, "MetricStat")
		}
	}
	return nil
}

// datapointsToAlarm is how many datapoints must breach: all that are evaluated, unless the alarm says otherwise.
func (s *stack) datapointsToAlarm(alarm string) float64 {
	if n := number(s.get(alarm, "DatapointsToAlarm")); n > 0 {
		return n
	}
	return number(s.get(alarm, "EvaluationPeriods"))
}

// lateDatapoints checks that an alarm which one datapoint rings looks at that datapoint again. Metrics come late, up to
// some minutes. With one evaluation period and FILL(x, 0) the missing datapoint counts as 0, and is never looked at again.
func lateDatapoints(s *stack) (problems []string) {
	for _, id := range s.of("AWS::CloudWatch::Alarm") {
		period := number(s.get(id, "Period"))
		metrics, _ := s.get(id, "Metrics").([]any)
		for _, metric := range metrics {
			period = max(period, number(at(metric, "MetricStat", "Period")))
		}
		evaluated := number(s.get(id, "EvaluationPeriods"))
		if s.datapointsToAlarm(id) == 1 && period < 3600 && evaluated < 5 && (metrics != nil || evaluated*period < 600) {
			problems = append(problems, fmt.Sprintf("%s looks at %v periods of %v s, and does not see a datapoint that comes late", id, evaluated, period))
		}
	}
	return problems
}

// alarm sees that an alarm watches a metric of something, and tells those who are to know.
func (s *stack) alarm(id, namespace, metric, of string) (problems []string) {
	r := s.Resources[id]
	if r == nil || r.Type != "AWS::CloudWatch::Alarm" {
		return []string{"there is no alarm " + id}
	}
	raw, _ := json.Marshal(r.Properties)
	for _, part := range []string{`"Namespace":"` + namespace + `"`, `"MetricName":"` + metric + `"`, of} {
		if !strings.Contains(string(raw), part) {
			problems = append(problems, fmt.Sprintf("%s does not watch %s", id, part))
		}
	}
	for _, property := range []string{"AlarmActions", "OKActions"} {
		if told := texts(r.Properties[property]); s.everything != slices.Equal(told, []string{aTopic}) {
			problems = append(problems, fmt.Sprintf("%s: %s tells %s", id, property, told))
		}
	}
	if r.Condition != "" && r.Condition != "WithAlarms" && r.Condition != "Gradual" && r.Condition != "ProbeRings" {
		problems = append(problems, id+" depends on "+r.Condition)
	}
	return problems
}

func table(s *stack) (problems []string) {
	const id = "Table"
	want := func(wanted any, path ...any) {
		if got := s.get(id, path...); fmt.Sprint(got) != fmt.Sprint(wanted) {
			problems = append(problems, fmt.Sprintf("%v is %v, want %v", path, got, wanted))
		}
	}
	want("PAY_PER_REQUEST", "BillingMode")
	want(true, "DeletionProtectionEnabled")
	want(true, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled")
	want(35, "PointInTimeRecoverySpecification", "RecoveryPeriodInDays")
	want("NEW_AND_OLD_IMAGES", "StreamSpecification", "StreamViewType")
	want("ttl", "TimeToLiveSpecification", "AttributeName")
	if r := s.Resources[id]; r == nil || r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
		problems = append(problems, "it does not outlive the stack, or its replacement")
	}
	if s.everything {
		want(aKey, "SSESpecification", "KMSMasterKeyId")
	} else {
		want(nil, "SSESpecification")
	}
	capped := [][]any{{"OnDemandThroughput"}}
	indexes, _ := s.get(id, "GlobalSecondaryIndexes").([]any)
	for i := range indexes {
		capped = append(capped, []any{"GlobalSecondaryIndexes", i, "OnDemandThroughput"})
	}
	for _, path := range capped {
		if s.everything {
			want(1000, append(slices.Clone(path), "MaxReadRequestUnits")...)
			want(1000, append(slices.Clone(path), "MaxWriteRequestUnits")...)
		} else {
			want(nil, path...)
		}
	}
	return problems
}

// trafficShifting checks that CodeDeploy and its hook may do what a canary takes, with the functions of this stack.
func trafficShifting(s *stack) (problems []string) {
	for _, id := range s.of("AWS::CodeDeploy::DeploymentGroup") {
		if at(s.get(id, "ServiceRoleArn"), "Fn::GetAtt", 0) != "CodeDeployRole" {
			problems = append(problems, id+" does not use CodeDeployRole")
		}
	}
	want := []statement{
		{[]string{"lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias"},
			[]string{ofStack("lambda", "function:") + "-*"}},
		{[]string{"lambda:InvokeFunction"}, []string{ofStack("lambda", "function:") + "-Smoke"}},
		{[]string{"cloudwatch:DescribeAlarms"}, []string{"*"}},
	}
	if got := s.statements("CodeDeploy"); !reflect.DeepEqual(got, want) {
		problems = append(problems, fmt.Sprintf("CodeDeploy may %v, want %v", got, want))
	}
	want = []statement{
		{[]string{"logs:CreateLogStream", "logs:PutLogEvents"}, []string{`{"Fn::GetAtt":["SmokeLogs","Arn"]}`}},
		{xray, []string{"*"}},
		{[]string{"lambda:InvokeFunction"}, []string{ofStack("lambda", "function:") + "-*:*"}},
		{[]string{"codedeploy:BatchGetDeploymentTargets", "codedeploy:ListDeploymentTargets", "codedeploy:PutLifecycleEventHookExecutionStatus"},
			[]string{ofStack("codedeploy", "deploymentgroup:") + "-*/*"}},
	}
	if got := s.statements("Smoke"); !reflect.DeepEqual(got, want) {
		problems = append(problems, fmt.Sprintf("Smoke may %v, want %v", got, want))
	}
	return problems
}

// ofStack is how the ARN of something begins whose name begins with the stack's.
func ofStack(service, kind string) string {
	return "arn:${AWS::Partition}:" + service + ":${AWS::Region}:${AWS::AccountId}:" + kind + "${AWS::StackName}"
}

func interfaceOf(s *stack) (problems []string) {
	const stage = "ApiApiGatewayDefaultStage"
	for _, property := range []string{"ThrottlingRateLimit", "ThrottlingBurstLimit"} {
		if number(s.get(stage, "DefaultRouteSettings", property)) <= 0 && at(s.get(stage, "DefaultRouteSettings", property), "Ref") == nil {
			problems = append(problems, property+" is not set")
		}
	}
	if s.get(stage, "StageName") != "$default" {
		problems = append(problems, fmt.Sprintf("the stage is %v", s.get(stage, "StageName")))
	}
	if format, _ := s.get(stage, "AccessLogSettings", "Format").(string); !json.Valid([]byte(format)) || !strings.Contains(format, "$context.requestId") {
		problems = append(problems, "the access log is no JSON with the request's id")
	}
	if s.get(stage, "AccessLogSettings", "DestinationArn", "Fn::GetAtt", 0) != "ApiLogs" {
		problems = append(problems, "there is no access log")
	}
	cors, _ := json.Marshal(s.get("Api", "Body", "x-amazon-apigateway-cors"))
	if listed := len(texts(s.get("Api", "Body", "x-amazon-apigateway-cors", "allowOrigins"))); s.everything != (listed == 2) {
		problems = append(problems, fmt.Sprintf("%d pages may call", listed))
	}
	if strings.Contains(string(cors), `"*"`) || strings.Contains(string(cors), "allowCredentials") {
		problems = append(problems, "any page may call: "+string(cors))
	}
	pattern, _ := s.Parameters["CorsOrigins"]["AllowedPattern"].(string)
	origins, err := regexp.Compile(pattern)
	if err != nil {
		return append(problems, err.Error())
	}
	for list, good := range map[string]bool{
		"": true, "https://flags.example.com": true, "https://a.example,http://localhost:3000": true,
		"http://a.example": false, "*": false, "https://*": false, "https://a.example,*": false, "https://a.example/": false, "null": false,
	} {
		if origins.MatchString(list) != good {
			problems = append(problems, fmt.Sprintf("whether CorsOrigins takes %q is %t", list, !good))
		}
	}
	return problems
}

// What AWS allows an HTTP API and the policy of a function or alias.
const (
	maxRoutes = 300
	maxPolicy = 20480 // bytes
)

func routes(s *stack) (problems []string) {
	paths, _ := s.get("Api", "Body", "paths").(map[string]any)
	count := 0
	for path, methods := range paths {
		operations, _ := methods.(map[string]any)
		count += len(operations)
		for method, operation := range operations {
			if raw, _ := json.Marshal(at(operation, "x-amazon-apigateway-integration", "uri")); !strings.Contains(string(raw), "Aliaslive") {
				problems = append(problems, fmt.Sprintf("%s %s does not go to the alias live", method, path))
			}
		}
	}
	if count == 0 || count > maxRoutes {
		problems = append(problems, fmt.Sprintf("there are %d routes, and may be %d", count, maxRoutes))
	}
	return problems
}

// policies adds up what the permissions of each function make of its policy, as Lambda writes them, with an account's and
// an API's ids of their full length.
func policies(s *stack) (problems []string) {
	const around, each, ids = 60, 320, 12 + 12 + 24 // the document; a statement without its ARNs and with an id of its own; account, API, region
	sizes := map[string]int{}
	for _, id := range s.of("AWS::Lambda::Permission") {
		function, _ := s.get(id, "FunctionName", "Ref").(string)
		source, _ := s.get(id, "SourceArn", "Fn::Sub", 0).(string)
		if source == "" && s.get(id, "Principal") != "events.amazonaws.com" {
			problems = append(problems, id+" lets in anybody's API")
		}
		sizes[function] += each + len(source) + ids + len(id)
	}
	for function, size := range sizes {
		if size += around; size > maxPolicy {
			problems = append(problems, fmt.Sprintf("the policy of %s takes about %d bytes, and may take %d", function, size, maxPolicy))
		}
	}
	if len(sizes) == 0 {
		problems = append(problems, "there are no permissions")
	}
	return problems
}
