"""Checks that SAM alone accepts template.yaml, with every Fn::If still in place.

    unresolved.py FILE

AWS documents that AWS::LanguageExtensions runs first, but not how much it resolves. The SAM CLI resolves every Fn::If
before it calls SAM's translator, so `sam validate` and transform.py cannot see a property that the translator accepts
only as a plain value. This script removes the Fn::ForEach blocks, which contain no SAM resources, and runs the translator
on the rest. Then it inserts a mistake and checks that it is found.
"""

import copy
import logging
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")  # required by the translator, which makes no call

from samcli.yamlhelper import yaml_parse
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.translator.transform import transform

NO_VALUE = {"Ref": "AWS::NoValue"}


class NoManagedPolicies:
    """The AWS managed policies by name. The functions' roles must not have any."""

    def load(self):
        return {}


def read(path):
    with open(path, encoding="utf-8") as file:
        template = yaml_parse(file.read())
    template.pop("Transform")
    template["Globals"]["Function"]["CodeUri"] = "s3://bucket/code"  # as `sam package` leaves it
    template["Resources"] = {k: v for k, v in template["Resources"].items() if not k.startswith("Fn::ForEach::")}
    return template


def problems(template):
    """Runs only SAM's translator on the template and returns the problems of the result."""
    template = copy.deepcopy(template)
    values = {name: p["Default"] for name, p in template["Parameters"].items() if "Default" in p}
    try:
        resources = transform(template, values, NoManagedPolicies())["Resources"]
    except InvalidDocumentException as e:
        return [str(cause.message) for cause in e.causes]
    found = []
    for name, resource in resources.items():
        if resource["Type"] == "AWS::CodeDeploy::DeploymentGroup":
            branches = resource["Properties"]["AlarmConfiguration"].get("Fn::If")
            if not branches or not branches[1].get("Enabled") or branches[2] != {}:
                found.append(f"{name}: AlarmConfiguration is {resource['Properties']['AlarmConfiguration']}")
    return found


def alarms_without_a_list(template):
    preference = template["Resources"]["ConfigurationFunction"]["Properties"]["DeploymentPreference"]
    preference["Alarms"]["Fn::If"][2] = NO_VALUE


FAULTS = [alarms_without_a_list]


def main(path):
    template = read(path)
    failed = [f"{path} without its conditions resolved: {problem}" for problem in problems(template)]
    if not failed:
        for fault in FAULTS:
            broken = copy.deepcopy(template)
            fault(broken)
            if not problems(broken):
                failed.append(f"this fault is not found: {fault.__name__}")
    if failed:
        sys.exit("\n".join(failed))
    print(f"SAM alone accepts the template with its conditions in place; the fault is found")


logging.getLogger("samtranslator").setLevel(logging.ERROR)  # it warns about internal switches of AWS

if __name__ == "__main__":
    main(sys.argv[1])
