"""Evaluates the flags in FLAGS, a list of names, for every context of the standard input with Yggdrasil, the engine of UnleashClient, and
prints an object: for each flag a text with 1 or 0 for each context."""

import json
import os
import sys
from urllib.request import urlopen

from yggdrasil_engine.engine import UnleashEngine

contexts = json.load(sys.stdin)
engine = UnleashEngine()
with urlopen(os.environ["GUIDON_URL"] + "/api/client/features") as response:
    engine.take_state(response.read().decode())


def evaluate(name, context):
    return "1" if engine.check_enabled(name, context).is_enabled else "0"


print(json.dumps({name: "".join(evaluate(name, context) for context in contexts) for name in json.loads(os.environ["FLAGS"])}))
