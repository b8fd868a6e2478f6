package template

table_settings := {
	[["BillingMode"], "PAY_PER_REQUEST"],
	[["DeletionProtectionEnabled"], true],
	[["PointInTimeRecoverySpecification", "RecoveryPeriodInDays"], 35],
	[["StreamSpecification", "StreamViewType"], "NEW_AND_OLD_IMAGES"],
	[["TimeToLiveSpecification", "AttributeName"], "ttl"],
}

optional_table_settings := {[array.concat(path, [units]), "1000"] |
	some path in capped
	some units in ["MaxReadRequestUnits", "MaxWriteRequestUnits"]
} if input.everything

optional_table_settings := {[array.concat(path, [units]), cap] |
	some path in capped
	some units, cap in {"MaxReadRequestUnits": "12000", "MaxWriteRequestUnits": null}
} if not input.everything

capped := {["OnDemandThroughput"]} | {["GlobalSecondaryIndexes", i, "OnDemandThroughput"] | some i, _ in get("Table", ["GlobalSecondaryIndexes"])}

problems.table contains sprintf("%v is %v; expected %v", [path, got, want]) if {
	some [path, want] in (table_settings | optional_table_settings)
	got := get("Table", path)
	not same(got, want)
}

same(a, a)

same(number, text) if sprintf("%v", [number]) == text

problems.table contains sprintf("the table is not kept when the stack is deleted or the table is replaced: %s", [policy]) if {
	some policy in ["DeletionPolicy", "UpdateReplacePolicy"]
	object.get(input.Resources.Table, policy, "") != "Retain"
}

# A daily backup of the table in use, with a copy in the vault of another account.
problems.backup contains sprintf("there is no %s with the condition HasBackup", [id]) if {
	some id in ["BackupVault", "BackupPlan", "BackupSelection", "BackupRole"]
	object.get(input.Resources, [id, "Condition"], null) != "HasBackup"
}

problems.backup contains "the backups are deleted with the stack" if {
	input.everything
	object.get(input.Resources, ["BackupVault", "DeletionPolicy"], "") != "Retain"
}

problems.backup contains sprintf("the copy is kept in %v for %v days", [vault, days]) if {
	input.everything
	path := ["BackupPlan", "BackupPlanRule", 0, "CopyActions", 0]
	vault := get("BackupPlan", array.concat(path, ["DestinationBackupVaultArn"]))
	days := get("BackupPlan", array.concat(path, ["Lifecycle", "DeleteAfterDays"]))
	not [vault, days >= 35] == ["arn:aws:backup:eu-central-1:210987654321:backup-vault:a", true]
}

problems.backup contains sprintf("the backup is of %v; expected the table in use", [of]) if {
	input.everything
	of := [text(resource) | some resource in list(get("BackupSelection", ["BackupSelection", "Resources"]))]
	not endswith(concat(" ", of), sprintf(":table/%s", [restored_table]))
}

# Functions refuse requests that bypass CloudFront. The execute-api endpoint can be disabled, but not without a domain name.
problems.front contains sprintf("%s has the hash %v of the front's secret", [name, hash]) if {
	some name in functions
	hash := property(name, variable("FRONT_SECRET_SHA256"))
	not hash in {"", "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"}
}

problems.front contains sprintf("the execute-api endpoint is disabled: %v; expected %v", [disabled, input.everything]) if {
	disabled := get("Api", ["Body", "servers", 0, "x-amazon-apigateway-endpoint-configuration", "disableExecuteApiEndpoint"])
	disabled != input.everything
}

problems.front contains "the API may have no address: there is no rule ExecuteApiOffWithDomain" if not input.Rules.ExecuteApiOffWithDomain

# A stack of this size is one that a person can look through.
problems.size contains sprintf("the stack has %d resources; expected at most 150", [n]) if {
	n := count(input.Resources)
	n > 150
}

stage := "ApiApiGatewayDefaultStage"

problems.api contains sprintf("%s is not set", [limit]) if {
	some limit in ["ThrottlingRateLimit", "ThrottlingBurstLimit"]
	value := get(stage, ["DefaultRouteSettings", limit])
	not positive(value)
}

positive(value) if to_number(value) > 0

problems.api contains sprintf("the stage is %v; expected $default", [name]) if {
	name := get(stage, ["StageName"])
	name != "$default"
}

problems.api contains "the access log is not JSON, or lacks the request id" if not valid_log_format(get(stage, ["AccessLogSettings", "Format"]))

valid_log_format(format) if {
	json.is_valid(format)
	contains(format, "$context.requestId")
}

# A CORS configuration would be one for all routes, and API Gateway would drop the CORS headers of the functions.
problems.api contains "API Gateway answers for CORS in the place of the functions" if {
	get("Api", ["Body", "x-amazon-apigateway-cors"]) != null
}

problems.api contains sprintf("%s has the origins %v; expected those of CorsOrigins", [name, origins]) if {
	some name in services
	origins := property(name, variable("CORS_ORIGINS"))
	not origins in {"", "https://a.example,https://b.example"}
}

origin_lists := {
	"": true, "https://flags.example.com": true, "https://a.example,http://localhost:3000": true,
	"http://a.example": false, "*": false, "https://*": false, "https://a.example,*": false, "https://a.example/": false, "null": false,
}

problems.api contains sprintf("the parameter CorsOrigins accepts %q: %v", [origins, accepted]) if {
	some origins, want in origin_lists
	accepted := regex.match(input.Parameters.CorsOrigins.AllowedPattern, origins)
	accepted != want
}

max_routes := 300 # quota of an HTTP API

problems.routes contains sprintf("there are %d routes; expected 1 to %d", [n, max_routes]) if {
	n := count([method | some method, _ in get("Api", ["Body", "paths"])[_]])
	not n in numbers.range(1, max_routes)
}

problems.routes contains sprintf("%s %s does not go to the alias live", [method, path]) if {
	some path, operations in get("Api", ["Body", "paths"])
	some method, operation in operations
	not regex.match(`/functions/\$\{\w+Function\.Arn\}:live/invocations`, json.marshal(operation["x-amazon-apigateway-integration"].uri))
}

# One permission a function lets the API call its alias, and only this API.
problems.permissions contains sprintf("%s has the permissions %v of the API; expected %v", [name, got, want]) if {
	some name in services
	want := [["lambda:InvokeFunction", {"Ref": sprintf("%sFunctionAliaslive", [name])}, "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*"]]
	got := [[get(id, ["Action"]), get(id, ["FunctionName"]), plain(get(id, ["SourceArn"]))] |
		some id in [sprintf("%sPermission", [name])]
		get(id, ["Principal"]) == "apigateway.amazonaws.com"
	]
	got != want
}

problems.permissions contains sprintf("%s lets %v call a function", [id, get(id, ["Principal"])]) if {
	some id in of_type("AWS::Lambda::Permission")
	not id in {sprintf("%sPermission", [name]) | some name in services}
	not id in url_permissions
	get(id, ["Principal"]) != "events.amazonaws.com"
}

# CloudFormation adds them at the same time, and Lambda refuses to change a policy that changes.
problems.permissions contains sprintf("%v has %d permissions; expected at most 3", [function, n]) if {
	some function in {get(id, ["FunctionName"]) | some id in of_type("AWS::Lambda::Permission"); get(id, ["FunctionName"]) != null}
	n := count([id | some id in of_type("AWS::Lambda::Permission"); get(id, ["FunctionName"]) == function])
	n > 3
}

# ClientUrl: each URL calls the alias of its function, and has the two permissions that AWS asks for.
url_permissions := {sprintf("%s%s", [name, permission]) | some name in serving; some permission in ["UrlPermission", "UrlInvokePermission"]}

problems.urls contains sprintf("%s is not of ClientUrl", [id]) if {
	some id in (of_type("AWS::Lambda::Url") | {id | some id in of_type("AWS::Lambda::Permission"); get(id, ["Principal"]) == "*"})
	not id in ({sprintf("%sUrl", [name]) | some name in serving} | url_permissions)
}

problems.urls contains sprintf("%s has the condition %v; expected HasClientUrl", [id, got]) if {
	some id in ({sprintf("%sUrl", [name]) | some name in serving} | url_permissions)
	got := object.get(input.Resources, [id, "Condition"], null)
	got != "HasClientUrl"
}

problems.urls contains sprintf("%s is %v; expected %v", [id, got, want]) if {
	input.everything
	some name in serving
	alias := {"Ref": sprintf("%sFunctionAliaslive", [name])}
	some id, want in {
		sprintf("%sUrl", [name]): {"TargetFunctionArn": {"Ref": sprintf("%sFunction", [name])}, "Qualifier": "live", "AuthType": "NONE"}, # functions answer preflights themselves
		sprintf("%sUrlPermission", [name]): {"Action": "lambda:InvokeFunctionUrl", "Principal": "*", "FunctionName": alias, "FunctionUrlAuthType": "NONE"},
		sprintf("%sUrlInvokePermission", [name]): {"Action": "lambda:InvokeFunction", "Principal": "*", "FunctionName": alias, "InvokedViaFunctionUrl": true},
	}
	got := object.get(input.Resources, [id, "Properties"], null)
	got != want
}

problems.urls contains sprintf("the rule %s accepts ClientUrl without what it needs", [rule]) if {
	some rule, text in {"ClientUrlReserves": "ReservedConcurrency", "ClientUrlBypassesFirewall": "FrontSecretHash"}
	not contains(json.marshal(object.get(input.Rules, rule, {})), text)
}

dashboard := plain(get("StageDashboard", ["DashboardBody"]))

problems.dashboard contains "stacks of two regions would have dashboards with the same name" if {
	not contains(plain(get("StageDashboard", ["DashboardName"])), "${AWS::Region}")
}

problems.dashboard contains "there is no dashboard with widgets" if not json.unmarshal(dashboard).widgets[0]

problems.dashboard contains "the dashboard, which costs, is not off by default" if input.Parameters.Dashboard.Default != "off"

problems.dashboard contains sprintf("%s is not in all widgets of the dashboard", [name]) if {
	some name in functions
	count(indexof_n(dashboard, sprintf("${AWS::StackName}-%s\"", [name]))) < 2
}

# The stack with CloudFront, which is not transformed: a function of CloudFormation is its arguments here.
problems.cloudfront contains sprintf("docs/operations/front.yaml: %v is %v; expected %v", [path, got, want]) if {
	some [path, want] in {
		[["Distribution", "Properties", "DistributionConfig", "IPV6Enabled"], true],
		[["Distribution", "Properties", "DistributionConfig", "Aliases"], ["HasDomain", ["DomainName"], "AWS::NoValue"]],
		[["Distribution", "Properties", "DistributionConfig", "ViewerCertificate", 1, "AcmCertificateArn"], "CertificateArn"],
		[["Distribution", "Properties", "DistributionConfig", "ViewerCertificate", 1, "MinimumProtocolVersion"], "TLSv1.2_2021"],
		[["Distribution", "Properties", "DistributionConfig", "WebACLId"], "Firewall.Arn"],
		[["LogDelivery", "Properties", "DeliverySourceName"], "LogSource"],
		[["LogSource", "Properties", "LogType"], "ACCESS_LOGS"],
	}
	got := object.get(data.front.Resources, path, null)
	got != want
}

problems.cloudfront contains sprintf("docs/operations/front.yaml: the log has the field %s, which can hold a secret", [field]) if {
	some field in data.front.Resources.LogDelivery.Properties.RecordFields
	regex.match("uri|query|cookie|referer|forwarded|cs\\(", lower(field))
}

# The limit, the action and the paths of each rule of the firewall, as docs/operations/front.md says.
problems.cloudfront contains sprintf("docs/operations/front.yaml: the firewall has %v; expected %v", [got, want]) if {
	blocks := {"Block": {"CustomResponse": {"ResponseCode": 429}}}
	want := {
		["rate", 2000, blocks, {"/api/admin", "/auth/"}], ["applications", 40000, blocks, set()], ["edge", 300, blocks, {"/edge/"}],
		["reputation", null, {"None": {}}, set()], ["common", null, {"Count": {}}, set()],
	}
	got := {[rule.Name, limit, action, paths] |
		some rule in data.front.Resources.Firewall.Properties.Rules
		limit := object.get(rule, ["Statement", "RateBasedStatement", "Limit"], null)
		action := object.get(rule, "Action", object.get(rule, "OverrideAction", null))
		paths := {value | walk(rule, [path, value]); path[count(path) - 1] == "SearchString"}
	}
	got != want
}
