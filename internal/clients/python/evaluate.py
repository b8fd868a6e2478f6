"""Evaluates the flags in FLAGS, a list of names, for every context of the standard input with UnleashClient, and prints an object: for
each flag a list with one text for each context."""

import json
import os
import sys

from UnleashClient import UnleashClient

contexts = json.load(sys.stdin)
client = UnleashClient(
    url=os.environ["GUIDON_URL"] + "/api",
    app_name="evaluate",
    custom_headers={"Authorization": os.environ["TOKEN"]},
    disable_metrics=True,
    disable_registration=True,
)
client.initialize_client()


def evaluate(name, context):
    if not client.is_enabled(name, context):
        return "false"
    variant = client.get_variant(name, context)
    return f"true {variant['name']}" if variant["enabled"] else "true"


print(json.dumps({name: [evaluate(name, context) for context in contexts] for name in json.loads(os.environ["FLAGS"])}))
client.destroy()
