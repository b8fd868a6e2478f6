"""UnleashClient. It evaluates every flag for every user again and again, ROUNDS times if that is set, and prints the answers as one
line of JSON whenever an answer changes. It ends when stdin ends."""

import json
import os
import sys
import threading

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


threading.Thread(target=wait_for_end, daemon=True).start()
client = UnleashClient(
    url=os.environ["GUIDON_URL"] + "/api",
    app_name=os.environ["APP_NAME"],
    custom_headers={"Authorization": os.environ["TOKEN"]},
    refresh_interval=1,
    metrics_interval=2,
)
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
client.destroy()
