"""Runs a handler as Lambda's runtime for Python does: python3 runtime.py <file>"""

import json
import os
import runpy
import sys
import urllib.request

handler = runpy.run_path(sys.argv[1])["handler"]
api = "http://" + os.environ["AWS_LAMBDA_RUNTIME_API"] + "/2018-06-01/runtime/invocation/"
while True:
    with urllib.request.urlopen(api + "next") as event:
        answer = handler(json.load(event), None)
        request = event.headers["Lambda-Runtime-Aws-Request-Id"]
    urllib.request.urlopen(api + request + "/response", data=json.dumps(answer).encode()).close()
