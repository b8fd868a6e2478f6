package template

xray := ["xray:PutTelemetryRecords", "xray:PutTraceSegments"] # IAM supports only "*" as their resource

problems.wildcards contains sprintf("%s may call %s", [name, action]) if {
	some name in functions
	some action in statements(name)[_].actions
	too_wide(action)
}

too_wide("dynamodb:Scan")

too_wide(action) if contains(action, "*")

problems.wildcards contains sprintf("%s may call %v on %v", [name, statement.actions, resource]) if {
	some name in (functions - {"Setup"}) # traffic_shifting compares what it may do with other functions and deployments
	some statement in statements(name)
	statement.actions != xray
	not statement in publishing
	not [role_of(name), statement] in plan_alarms
	some resource in statement.resources
	contains(text(resource), "*")
}

# With PlanAlarms, Configuration, Features and Transfer read the alarms of release plans: composite ones have no other resource.
plan_alarms := [["Administration", {"actions": ["cloudwatch:DescribeAlarms"], "resources": ["*"], "condition": null}] | input.everything]

problems.plan_alarms contains sprintf("%s reads alarms with the prefix %v, and its role allows: %v; expected both with PlanAlarms alone", [name, prefix, may]) if {
	some name in ["Configuration", "Features", "Transfer"]
	prefix := plain(property(name, variable("PLAN_ALARMS")))
	may := [s | some s in statements(name); "cloudwatch:DescribeAlarms" in s.actions]
	[prefix != "", count(may) == 1] != [input.everything, input.everything]
}

roles := of_type("AWS::IAM::Role")

managed_policies := {"BackupRole": ["arn:${AWS::Partition}:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup"]}

# Roles are shared only where rights are equal, which the tests of the functions check. Access and Integrations have the key.
shared_roles := {"Features": "Administration", "Projects": "Administration", "Configuration": "Administration", "Transfer": "Administration", "Frontend": "Applications"}

problems.own_roles contains sprintf("%s has the role %v; expected %s", [name, role_of(name), want]) if {
	some name in functions
	want := object.get(shared_roles, name, name)
	role_of(name) != want
}

problems.own_roles contains sprintf("%s may do nothing, not even log", [name]) if {
	some name in functions
	count(statements(name)) == 0
}

problems.own_roles contains sprintf("%s belongs to no function", [id]) if {
	some id in (roles - {"CodeDeployRole", "BackupRole"})
	not trim_suffix(id, "Role") in {role_of(name) | some name in functions}
}

problems.own_roles contains sprintf("%s has the managed policies %v", [id, managed]) if {
	some id in roles
	managed := list(get(id, ["ManagedPolicyArns"]))
	managed != object.get(managed_policies, id, [])
}

problems.own_roles contains sprintf("%s has the path and permissions boundary %v; expected %v", [id, got, role_limits]) if {
	some id in roles
	not conditional(id)
	got := [get(id, ["Path"]), get(id, ["PermissionsBoundary"])]
	got != role_limits
}

# The transform does not resolve the properties of BackupRole when there is no backup.
conditional("BackupRole") if not input.everything

role_limits := ["/a/", "arn:aws:iam::123456789012:policy/a"] if input.everything

role_limits := ["/", null] if not input.everything

# A function with access to the stack's table has the same access to the table that it was restored to, and the reverse:
# policies change before functions do, and a canary leaves most requests to the old versions.
problems.table_access contains sprintf("%s may use %v, which is not a table of the stack", [name, resource]) if {
	some name in functions
	some resource in table_resources(name)[_]
	not own_part(resource)
	not restored_part(resource)
}

problems.table_access contains sprintf("%s may use %v of the stack's table, but %v of the restored one", [name, own, restored]) if {
	input.everything
	some name in functions
	some resources in table_resources(name)
	own := {own_part(resource) | some resource in resources}
	restored := {restored_part(resource) | some resource in resources}
	own != restored
}

problems.table_access contains sprintf("%s uses the table without its KMS key", [name]) if {
	some name in functions
	needs_key(name)
	not has_key(name)
}

problems.table_access contains sprintf("%s may use the KMS key and does not need it", [name]) if {
	some name in functions
	has_key(name)
	not needs_key(name)
}

table_resources(name) := [statement.resources |
	some statement in statements(name)
	startswith(statement.actions[0], "dynamodb:")
]

# The part after the table: "" for the table itself, or "/index/log".
own_part({"Fn::GetAtt": ["Table", "Arn"]}) := ""

own_part(resource) := trim_prefix(resource, "${Table.Arn}") if startswith(resource, "${Table.Arn}")

restored_part(resource) := part if {
	input.everything
	[_, part] := split(resource, concat("", [":table/", restored_table]))
}

needs_key(name) if {
	input.everything
	count(table_resources(name)) > 0
}

has_key(name) if {
	some statement in statements(name)
	"kms:Decrypt" in statement.actions
	statement.resources == [kms_key]
}

problems.site contains sprintf("Site may call %s", [action]) if {
	some action in statements("Site")[_].actions
	not action in array.concat(xray, ["logs:CreateLogStream", "logs:PutLogEvents"])
}

# Every route of applications and of Site has a throttle of its own: they must not share the default of the administration.
problems.throttles contains sprintf("%s has no throttle of its own", [route]) if {
	some route in throttled
	some limit in ["ThrottlingRateLimit", "ThrottlingBurstLimit"]
	not positive(get(stage, ["RouteSettings", route, limit]))
}

throttled contains route if {
	some path, operations in get("Api", ["Body", "paths"])
	regex.match(`^/(api/client|api/frontend|ofrep|edge|docs)(/|$)`, path)
	some _, _ in operations
	route := sprintf("ANY %s", [path])
}

throttled contains "$default"

problems.throttles contains sprintf("polls have the throttle %v; expected %v", [got, client_throttle]) if {
	got := sprintf("%v", [get(stage, ["RouteSettings", "ANY /api/client/features", "ThrottlingRateLimit"])])
	got != client_throttle
}

client_throttle := "700" if input.everything

client_throttle := "200" if not input.everything

# Snapshot publishes in the folder of this stack, and uses keys only for what is there.
published_buckets := ["arn:${AWS::Partition}:s3:::bucket-a", "arn:${AWS::Partition}:s3:::bucket-b"]

published_objects := [sprintf("%s/${AWS::StackName}/*", [bucket]) | some bucket in published_buckets]

publishing := [
	{"actions": ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"], "resources": published_objects, "condition": null},
	{"actions": ["s3:ListBucket"], "resources": published_buckets, "condition": null},
	{
		"actions": ["kms:Decrypt", "kms:GenerateDataKey"],
		"resources": ["arn:${AWS::Partition}:kms:*:${AWS::AccountId}:key/*"],
		"condition": {"StringLike": {
			"kms:ViaService": "s3.*.amazonaws.com",
			"kms:EncryptionContext:aws:s3:arn": [published_buckets[0], published_objects[0], published_buckets[1], published_objects[1]],
		}},
	},
]

problems.publishing contains sprintf("Snapshot may not %v in the buckets", [want]) if {
	input.everything
	some want in publishing
	not want in statements("Snapshot")
}

problems.publishing contains sprintf("%s may call %v", [name, statement.actions]) if {
	some name in functions
	some statement in statements(name)
	some action in statement.actions
	startswith(action, "s3:")
	not statement in [s | some s in publishing; input.everything; name == "Snapshot"]
}

# The schedules. A run that failed or was throttled is not tried again, because the next one comes soon, and none is traced: its traces
# would cost more than all the rest of it.
schedules := {"Transfer": ["Due", "rate(1 minute)"], "Aggregate": ["Often", "rate(1 minute)"], "Deliver": ["Often", "rate(1 minute)"], "Snapshot": ["Often", snapshot_rate]}

snapshot_rate := "rate(1 minute)" if input.everything # it publishes

snapshot_rate := "rate(5 minutes)" if not input.everything

problems.schedules contains sprintf("%s has the schedule, retries, age and traces %v; expected %v", [name, got, want]) if {
	some name, [event, rate] in schedules
	want := [rate, 0, 60, "PassThrough"]
	got := [
		get(sprintf("%sFunction%s", [name, event]), ["ScheduleExpression"]),
		get(sprintf("%sFunctionEventInvokeConfig", [name]), ["MaximumRetryAttempts"]),
		get(sprintf("%sFunctionEventInvokeConfig", [name]), ["MaximumEventAgeInSeconds"]),
		property(name, ["TracingConfig", "Mode"]),
	]
	got != want
}

problems.schedules contains sprintf("%s is the schedule of no function of this rule", [id]) if {
	some id in of_type("AWS::Events::Rule")
	not id in {sprintf("%sFunction%s", [name, event]) | some name, [event, _] in schedules}
}

# Access encrypts the secrets of tokens and reads the settings of OpenID Connect. Integrations encrypts the secrets of webhooks, and
# Deliver decrypts them. Setup creates the first token, and derives those with which it tests deployments from the key.
secret_readers := {
	"Access": {"TokenKey", "OpenIdSecret"},
	"Integrations": {"TokenKey"},
	"Deliver": {"TokenKey"},
	"Setup": {"TokenKey", "AdminToken"},
}

absent := {"OpenIdSecret"} if not input.everything

absent := set() if input.everything

problems.secret contains sprintf("%s may read the secrets %v; expected %v", [name, got, want]) if {
	some name in functions
	want := object.get(secret_readers, name, set()) - absent
	got := {object.get(resource, "Ref", resource) |
		some statement in statements(name)
		"secretsmanager:GetSecretValue" in statement.actions
		some resource in statement.resources
	}
	got != want
}

problems.secret contains sprintf("%s may call %s", [name, action]) if {
	some name in functions
	some action in statements(name)[_].actions
	startswith(action, "secretsmanager:")
	not action in {"secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue"}
}

problems.secret contains sprintf("%s may overwrite %v", [name, statement.resources]) if {
	some name in functions
	some statement in statements(name)
	"secretsmanager:PutSecretValue" in statement.actions
	[name, statement.resources] != ["Setup", [{"Ref": "AdminToken"}]]
}

problems.secret contains sprintf("%s has a secret in its variable %s", [name, variable]) if {
	some name in functions
	some variable, value in property(name, ["Environment", "Variables"])
	contains(text(value), "resolve:")
}

# Without this secret, tokens cannot be shown again.
problems.secret contains "TokenKey is not kept when the stack is deleted, or is kept when its creation fails" if {
	key := input.Resources.TokenKey
	[object.get(key, "DeletionPolicy", ""), object.get(key, "UpdateReplacePolicy", "")] != ["RetainExceptOnCreate", "Retain"]
}
