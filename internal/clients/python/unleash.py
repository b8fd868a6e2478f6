"""UnleashClient. It prints the answers to all questions as one line of JSON, whenever an answer changes, until stdin ends."""

import json
import os
import sys
import threading

from UnleashClient import UnleashClient

flags = json.loads(os.environ["FLAGS"])
users = json.loads(os.environ["USERS"])
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


threading.Thread(target=wait_for_end, daemon=True).start()
client = UnleashClient(
    url=os.environ["GUIDON_URL"] + "/api",
    app_name="python",
    custom_headers={"Authorization": os.environ["TOKEN"]},
    refresh_interval=1,
    metrics_interval=2,
)
client.initialize_client()
printed = None
while not ended.wait(0.1):
    answers = {f"{user['name']} {flag['name']}": evaluate(client, flag, user) for user in users for flag in flags}
    if answers != printed:
        print(json.dumps(answers), flush=True)
        printed = answers
client.destroy()
