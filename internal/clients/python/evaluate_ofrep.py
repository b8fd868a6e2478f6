"""Evaluates the flags in FLAGS, a list of names, for every context of the standard input with openfeature-provider-ofrep, which sends a
request for each, and prints an object: for each flag a list with one text for each context."""

import json
import os
import sys

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

headers = {"Authorization": os.environ["TOKEN"]}
api.set_provider(OFREPProvider(os.environ["GUIDON_URL"], headers_factory=lambda: headers))
client = api.get_client()


def evaluate(name, context):
    user = EvaluationContext(context["userId"], {**context, **context["properties"]})
    details = client.get_boolean_details(name, False, user)
    if details.error_code:
        sys.exit(f"{name}: {details.error_code}: {details.error_message}")
    variant = "" if details.variant in ("enabled", "disabled") else f" {details.variant}"
    return str(details.value).lower() + variant


contexts = json.load(sys.stdin)
print(json.dumps({name: [evaluate(name, context) for context in contexts] for name in json.loads(os.environ["FLAGS"])}))
