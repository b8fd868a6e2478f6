# Runs the rules on the template with its default parameters and with every parameter set (data.defaults and
# data.everything, written by transform.py), and then on copies with the faults of faults.yaml.
package template_test

templates["defaults"] := object.union(data.defaults, {"everything": false})

templates["everything"] := object.union(data.everything, {"everything": true})

test_template[name] if {
	some name, template in templates
	problems := {sprintf("%s: %s", [rule, message]) | some rule, messages in problems_of(template); some message in messages}
	every problem in problems { print(problem) }
	count(problems) == 0
}

problems_of(template) := problems if problems := data.template.problems with input as template

# Two tests with half of the faults each, which run side by side.
test_fault_even[fault.name] if {
	some fault in half(0)
	found(fault)
}

test_fault_odd[fault.name] if {
	some fault in half(1)
	found(fault)
}

half(n) := [fault | some i, fault in faults; i % 2 == n]

# The faults of the other templates: those of pipelines, and the optional stacks of docs/operations.
found(fault) if {
	some patches in [object.get(fault, "pipeline", [])]
	count(patches) > 0
	broken := json.patch(data.pipeline, patches)
	count(data.template.problems[fault.rule]) > 0 with input as templates.everything with data.pipeline as broken
}

found(fault) if {
	some patches in [object.get(fault, "front", [])]
	count(patches) > 0
	broken := json.patch(data.front, patches)
	count(data.template.problems[fault.rule]) > 0 with input as templates.defaults with data.front as broken
}

found(fault) if {
	some name, template in templates
	object.get(fault, "only", name) == name
	broken := json.patch(template, patch(fault))
	count(data.template.problems[fault.rule]) > 0 with input as broken
}

patch(fault) := array.concat(
	array.concat([{"op": "add", "path": concat("/", ["/Resources", pointer]), "value": value} | some pointer, value in fault.set], object.get(fault, "patch", [])),
	[{"op": "remove", "path": concat("/", ["/Resources", pointer])} | some pointer in fault.remove],
) if not fault.allow

patch({"allow": [name, action, resource], "rule": _, "name": _}) := [{
	"op": "add",
	"path": sprintf("/Resources/%sRole/Properties/Policies/0/PolicyDocument/Statement/-", [name]),
	"value": {"Effect": "Allow", "Action": [action], "Resource": resource},
}]

faults := array.concat(data.faults, [
	{"rule": "routes", "name": "there are more than 300 routes", "set": {pointer: templates.defaults.Resources.Api.Properties.Body.paths["/api/admin/roles"] |
		some i in numbers.range(1, 300)
		pointer := sprintf("Api/Properties/Body/paths/~1%d", [i])
	}},
	{"rule": "size", "name": "the stack has too many resources", "set": {sprintf("More%d", [i]): templates.defaults.Resources.ApiLogs |
		some i in numbers.range(1, 20)
	}},
	{"rule": "permissions", "name": "a function has many permissions", "set": {sprintf("More%d", [i]): {
		"Type": "AWS::Lambda::Permission", "Properties": {"FunctionName": {"Ref": "SiteFunctionAliaslive"}, "Principal": "events.amazonaws.com"},
	} |
		some i in numbers.range(1, 3)
	}},
	{"rule": "deployment", "name": "versions are never deleted", "set": {sprintf("%s/DeletionPolicy", [id]): "Retain" |
		some id, resource in templates.everything.Resources
		resource.Type == "AWS::Lambda::Version"
	}},
	{"rule": "pipeline", "name": "a policy is too long for IAM", "pipeline": [{
		"op": "add", "path": "/Resources/RolesPolicy/Properties/PolicyDocument/Statement/-",
		"value": {"Effect": "Allow", "Action": [sprintf("iam:Get%d", [i]) | some i in numbers.range(1, 700)]},
	}]},
	{"rule": "dashboard", "name": "a function is missing in the dashboard", "set": {"StageDashboard/Properties/DashboardBody": replace(templates.everything.Resources.StageDashboard.Properties.DashboardBody, "-Configuration", "")}},
])

test_number_of_faults if count({fault.name | some fault in faults}) == 162

test_every_rule_has_a_fault if {
	every rule in object.keys(problems_of(templates.defaults)) { rule in {fault.rule | some fault in faults} }
}
