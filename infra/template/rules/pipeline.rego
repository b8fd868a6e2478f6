package template

# The roles of infra/pipeline may deploy every type of resource, and their boundary leaves the stack's roles what they need.
problems.pipeline contains sprintf("infra/pipeline/roles.yaml does not let a pipeline create %s", [resource.Type]) if {
	some resource in input.Resources
	[_, service, _] := split(lower(resource.Type), "::")
	not service in {"cloudformation", "iam"} # custom resources belong to Lambda; IAM is in RolesPolicy
	prefix := sprintf("%s:", [object.get({"apigatewayv2": "apigateway"}, service, service)])
	every action in union({actions_of(id) | some id in ["ExecutionPolicy", "DataPolicy", "MonitoringPolicy"]}) { not startswith(action, prefix) }
}

problems.pipeline contains sprintf("the boundary in infra/pipeline/roles.yaml denies %s to %s", [action, id]) if {
	some id in roles
	some action in allowed(trim_suffix(id, "Role"))[_].actions
	not action in actions_of("Boundary")
}

# Names that begin with <stack>- are also those of a stack <stack>-x. So each pattern has the name of a resource after the stack's.
problems.pipeline contains sprintf("infra/pipeline/roles.yaml: %s reaches the resources of other stacks: %s", [id, resource]) if {
	some id, _ in data.pipeline.Resources
	some statement in policy(id)
	some resource in list(object.get(statement, "Resource", null))
	endswith(plain(resource), "${Stack}-*")
}

problems.pipeline contains sprintf("infra/pipeline/roles.yaml: %s does not name %v", [id, missing]) if {
	some [id, before, names, after] in {
		["ExecutionPolicy", ":function:${Stack}-", functions, ["", ":*"]],
		["MonitoringPolicy", ":log-group:/aws/lambda/${Stack}/", {"*"}, [""]],
		["Boundary", ":log-group:/aws/lambda/${Stack}/", {"*"}, [""]],
		["Boundary", ":function:${Stack}-", (services | {"Setup"}), [""]],
		["Boundary", ":function:${Stack}-", services, [":*"]],
		["MonitoringPolicy", ":rule/${Stack}-", of_type("AWS::Events::Rule"), ["-*"]],
	}
	got := {plain(resource) | some statement in policy(id); some resource in list(object.get(statement, "Resource", null))}
	missing := {pattern |
		some name in names
		some end in after
		pattern := concat("", [before, name, end])
		every resource in got { not endswith(resource, pattern) }
	}
	count(missing) > 0
}

problems.pipeline contains sprintf("infra/pipeline/roles.yaml does not let a pipeline write the alarm %s", [name]) if {
	some id in of_type("AWS::CloudWatch::Alarm")
	name := trim_prefix(plain(get(id, ["AlarmName"])), "${AWS::StackName}-")
	patterns := [split(plain(resource), ":alarm:${Stack}-")[1] |
		some statement in policy("MonitoringPolicy")
		some resource in list(statement.Resource)
		contains(plain(resource), ":alarm:${Stack}-")
	]
	every pattern in patterns { not glob.match(pattern, [], name) }
}

# Secrets have the names of their resources, which are those of every stack, and plans of backups have ids. CloudFormation gives both
# the tag with the name of the stack, and nobody else can: names of tags that begin with aws: are reserved.
problems.pipeline contains sprintf("infra/pipeline/roles.yaml: %s may call %v for the secrets and backups of all stacks", [id, shared]) if {
	some id, _ in data.pipeline.Resources
	some statement in policy(id)
	shared := [action |
		some action in list(statement.Action)
		regex.match("^(secretsmanager|backup):", action)
		not action in unshared
	]
	count(shared) > 0
	some resource in list(statement.Resource)
	not contains(plain(resource), "${Stack}-backups")
	statement_condition := object.get(statement, ["Condition", "StringEquals", "aws:ResourceTag/aws:cloudformation:stack-name"], null)
	statement_condition != "Stack"
}

# These read or create, or copy from one vault to another, and none of them shows a secret.
unshared := {
	"backup:CopyFromBackupVault", "backup:CopyIntoBackupVault", "backup:CreateBackupPlan", "backup:DescribeBackupVault", "backup:TagResource",
	"secretsmanager:CreateSecret", "secretsmanager:GetRandomPassword", "secretsmanager:TagResource",
}

# A managed policy has at most 6,144 characters without white space. The name of this stack has 32.
problems.pipeline contains sprintf("infra/pipeline/roles.yaml: %s has some %d characters; IAM allows 6144", [id, size]) if {
	some id, resource in data.pipeline.Resources
	resource.Type == "AWS::IAM::ManagedPolicy"
	written := json.marshal(resource.Properties.PolicyDocument)
	values := {"${AWS::Partition}": "aws", "${AWS::Region}": "eu-central-1", "${AWS::AccountId}": "123456789012", "${Stack}": "a-name-of-thirty-two-characters-x"}
	size := count(strings.replace_n(values, written))
	size > 6144
}

# data.handlers has what the handlers of CloudFormation may call, by the schemas of the types in the template. Some need no permission here.
problems.pipeline contains sprintf("infra/pipeline/roles.yaml does not let CloudFormation call %s for %s", [action, type]) if {
	some type in {resource.Type | some resource in input.Resources}
	some action in data.handlers[type]
	every pattern in unneeded | pipeline_actions { not glob.match(lower(pattern), null, action) }
}

pipeline_actions := union({actions_of(id) | some id in ["ExecutionPolicy", "DataPolicy", "MonitoringPolicy", "RolesPolicy"]})

unneeded := {
	"apigateway:*certificate*domain", # for mutual TLS only
	"backup:*backupvault{accesspolicy,lockconfiguration,notifications}", # the vault has none
	"backup-storage:mount", # no action of IAM: it has MountCapsule
	"dynamodb:deletetable", # no deployment deletes the table
	"dynamodb:{*replica,*item,query,scan,importtable,*kinesisstreamingdestination,updatecontributorinsights,{delete,put}resourcepolicy}",
	"{ec2,elasticfilesystem,firehose,kinesis,s3files}:*", # no network, no file system, no stream
	"iam:{updaterole*,deleterolepermissionsboundary}", # roles have no description, and keep their boundary
	"kms:{listaliases,revokegrant}", # for replicas
	"logs:{*logstream*,putlogevents}", # for imports into the table
	"logs:{delete,put}{dataprotectionpolicy,indexpolicy,bearertokenauthentication,loggroupdeletionprotection}",
	"logs:deleteresourcepolicy", # shared with other stacks
	"s3:{getobjectmetadata,getobjectversion,listbucket,rest.put.object}", # for imports, versions and other logs
	"secretsmanager:{getsecretvalue,*replicat*}", # no pipeline reads a secret
}

problems.pipeline contains "infra/pipeline/roles.yaml lets no pipeline create the service-linked role of API Gateway or AWS Backup" if {
	services_with_roles := {service |
		some statement in policy("RolesPolicy")
		statement.Action == "iam:CreateServiceLinkedRole"
		some service in statement.Condition.StringEquals["iam:AWSServiceName"]
	}
	services_with_roles != {"backup.amazonaws.com", "ops.apigateway.amazonaws.com"}
}

actions_of(id) := {action | some statement in policy(id); some action in list(statement.Action)}

# The statements of a policy: of those with a condition of CloudFormation the first branch.
policy(id) := [unconditional(statement) | some statement in object.get(data.pipeline.Resources, [id, "Properties", "PolicyDocument", "Statement"], [])]

unconditional(value) := value[1] if is_array(value)

unconditional(value) := value if is_object(value)
