"""Prints template.yaml as JSON, as CloudFormation has it after its two transforms, without calling AWS.

    transform.py FILE [Parameter=value ...]

It uses the libraries of the SAM CLI, which `sam validate` and the transform at AWS use too. Other parameters have their
defaults.
"""

import json
import logging
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")  # required by the translator, which makes no call

from samcli.lib.cfn_language_extensions.sam_integration import expand_language_extensions
from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform


class NoManagedPolicies:
    """The AWS managed policies by name. The functions' roles must not have any."""

    def load(self):
        return {}


def main(path, overrides):
    with open(path, encoding="utf-8") as file:
        template = yaml_parse(file.read())
    values = {name: p["Default"] for name, p in template["Parameters"].items() if "Default" in p}
    values |= dict(o.split("=", 1) for o in overrides)
    for function in template["Resources"].values():
        if isinstance(function, dict) and function.get("Type") == "AWS::Serverless::Function":
            function["Properties"]["CodeUri"] = "s3://bucket/code"  # as `sam package` leaves it
    for properties in template["Globals"].values():
        properties.pop("CodeUri", None)
    expanded = expand_language_extensions(template, values, enabled=True).expanded_template
    expanded.pop("Transform")
    json.dump(transform(expanded, values, NoManagedPolicies()), sys.stdout, indent=1, sort_keys=True)


logging.getLogger("samtranslator").setLevel(logging.ERROR)  # it warns about internal switches of AWS

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
