"""UnleashClient, or with MODE=openfeature Unleash's provider for OpenFeature. It evaluates every flag for every user again and again,
ROUNDS times if that is set, and prints the answers as one line of JSON whenever an answer changes. It ends when stdin ends."""

import json
import os
import sys
import threading

from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from unleash_openfeature_python_provider import UnleashFlagProvider
from UnleashClient import UnleashClient

flags = json.loads(os.environ["FLAGS"])
users = json.loads(os.environ["USERS"])
rounds = int(os.environ.get("ROUNDS", "0")) or sys.maxsize
ended = threading.Event()


def wait_for_end():
    sys.stdin.read()
    ended.set()


def evaluate(client, flag, user):
    context = {"userId": user["userId"], "properties": {"plan": user["plan"]}}
    words = ["on" if client.is_enabled(flag["name"], context) else "off"]
    variant = client.get_variant(flag["name"], context)
    if variant["enabled"]:
        words += [variant["name"], variant.get("payload", {}).get("value", "")]
    return " ".join(words).strip()


def evaluate_openfeature(client, flag, user):
    ask = {
        "boolean": lambda context: client.get_boolean_details(flag["name"], False, context),
        "string": lambda context: client.get_string_details(flag["name"], "", context),
        "number": lambda context: client.get_integer_details(flag["name"], 0, context),
        "object": lambda context: client.get_object_details(flag["name"], {}, context),
    }[flag["type"]]
    details = ask(EvaluationContext(user["userId"], {"plan": user["plan"]}))
    if details.error_code:
        sys.exit(f"{flag['name']}: {details.error_code}: {details.error_message}")
    if flag["type"] == "boolean":
        return "on" if details.value else "off"
    if not details.value:
        return "off"
    value = json.dumps(details.value, separators=(",", ":")) if flag["type"] == "object" else details.value
    return f"on {details.variant} {value}"


threading.Thread(target=wait_for_end, daemon=True).start()
options = {
    "url": os.environ["GUIDON_URL"] + "/api",
    "app_name": os.environ["APP_NAME"],
    "custom_headers": {"Authorization": os.environ["TOKEN"]},
    "refresh_interval": 1,
    "metrics_interval": 2,
}
if os.environ.get("MODE") == "openfeature":
    api.set_provider_and_wait(UnleashFlagProvider(**options))
    client, evaluate = api.get_client(), evaluate_openfeature
else:
    client = UnleashClient(**options)
    client.initialize_client()
printed = None
while not ended.wait(0.1):
    if not rounds:
        continue
    rounds -= 1
    answers = {f"{user['name']} {flag['name']}": evaluate(client, flag, user) for user in users for flag in flags}
    if answers != printed:
        print(json.dumps(answers), flush=True)
        printed = answers
if evaluate is evaluate_openfeature:
    api.shutdown()
else:
    client.destroy()
