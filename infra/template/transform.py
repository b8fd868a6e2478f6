"""Writes template.yaml as JSON, as CloudFormation has it after SAM's transform, without calling AWS.

    transform.py FILE FOLDER [Parameter=value ...]

FOLDER/everything.json has these values of parameters, and FOLDER/defaults.json the defaults. FOLDER/handlers.json has, for each type of
resource, what CloudFormation may call to create, read, change and delete it, as the schemas of cfn-lint say. SAM's translator gets the template with
its conditions in place, as at AWS; then the library of the SAM CLI resolves Fn::If, Fn::FindInMap and references to parameters, so that
the rules see what CloudFormation creates.
"""

import copy
import glob
import json
import logging
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")  # required by the translator, which makes no call

import cfnlint
from samcli.lib.cfn_language_extensions.sam_integration import expand_language_extensions
from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform


class NoManagedPolicies:
    """The AWS managed policies by name. The functions' roles must not have any."""

    def load(self):
        return {}


def main(path, folder, overrides):
    with open(path, encoding="utf-8") as file:
        template = yaml_parse(file.read())
    template["Globals"]["Function"]["CodeUri"] = "s3://bucket/code"  # as `sam package` leaves it
    defaults = {name: p["Default"] for name, p in template["Parameters"].items() if "Default" in p} | {"Alarms": "none"}
    for name, values in (("defaults", defaults), ("everything", defaults | dict(o.split("=", 1) for o in overrides))):
        translated = transform(copy.deepcopy(template), values, NoManagedPolicies())
        resolved = expand_language_extensions(translated | {"Transform": ["AWS::LanguageExtensions"]}, values, enabled=True)
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(resolved.expanded_template, file, indent=1, sort_keys=True)
    with open(os.path.join(folder, "handlers.json"), "w", encoding="utf-8") as file:
        json.dump(handlers({r["Type"] for r in resolved.expanded_template["Resources"].values()}), file, indent=1, sort_keys=True)


def handlers(types):
    calls = {}
    for path in glob.glob(os.path.join(os.path.dirname(cfnlint.__file__), "data", "schemas", "resources", "*.json")):
        with open(path, encoding="utf-8") as file:
            schema = json.load(file)
        if schema["typeName"] in types:
            permissions = (p for name, h in schema.get("handlers", {}).items() if name != "list" for p in h["permissions"])
            calls[schema["typeName"]] = sorted({p.lower() for p in permissions})
    return calls


logging.getLogger("samtranslator").setLevel(logging.ERROR)  # it warns about internal switches of AWS

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
