# Rules for the CloudFormation template of Guidon. `make template` runs them with `opa test`.
#
# `input` is the template after its transforms, plus `everything`: true when every parameter is set (the file
# everything), false when all have their defaults. A rule adds messages to `problems.<rule>`; no message means that it passes.
# An expression with a missing value is undefined in Rego, and a rule that contains it does not fire. Rules therefore read
# values with `get`, which returns null. faults.yaml and template_test.rego prove that each rule still finds what it must.
package template

# The values of the file everything.
kms_key := "arn:aws:kms:eu-central-1:123456789012:key/a"

alarm_topic := "arn:aws:sns:eu-central-1:123456789012:a"

restored_table := "another-table"

# get returns the property at a path of a resource, or null.
get(id, path) := object.get(input.Resources, array.concat([id, "Properties"], path), null)

of_type(type) := {id | some id, resource in input.Resources; resource.Type == type}

# Functions are named by their logical id without "Function".
functions := {trim_suffix(id, "Function") | some id in of_type("AWS::Lambda::Function")}

workers := {"Snapshot", "Aggregate", "Deliver"}

# These answer callers, and get canaries.
services := functions - (workers | {"Setup"})

# These answer applications: they share their role and log group, and have no traces.
serving := {"Applications", "Frontend"}

# role_of returns the name of a function's role, less "Role".
role_of(name) := trim_suffix(property(name, ["Role", "Fn::GetAtt", 0]), "Role")

# property returns a property of a function.
property(name, path) := get(concat("", [name, "Function"]), path)

# list returns the items of a value that can be one item or a list.
list(null) := []

list(value) := value if is_array(value)

list(value) := [value] if {
	not is_array(value)
	value != null
}

# plain returns the text of Fn::Sub, or the value itself.
plain(value) := object.get(value, "Fn::Sub", value) if is_object(value)

plain(value) := value if not is_object(value)

text(value) := value if is_string(value)

text(value) := json.marshal(value) if not is_string(value)

# statements returns what a function may do.
statements(name) := allowed(role_of(name))

# allowed returns what a role allows, from its inline policies and those attached to it.
allowed(role) := [{
	"actions": list(statement.Action),
	"resources": list(object.get(statement, "Resource", null)),
	"condition": object.get(statement, "Condition", null),
} |
	some policy in array.concat(list(get(sprintf("%sRole", [role]), ["Policies"])), attached(role))
	some statement in policy.PolicyDocument.Statement
]

attached(role) := [input.Resources[id].Properties |
	some id in of_type("AWS::IAM::RolePolicy")
	get(id, ["RoleName"]) == {"Ref": sprintf("%sRole", [role])}
]
