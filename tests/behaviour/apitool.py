#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""apitool.py ADDRESS COMMANDS: compares the API of an lfproxy with the commands
that `lfproxy --list-commands` has written to the file COMMANDS, asks for each
path, and checks the OpenAPI description.  Prints `paths=N failed=N`, and what is
wrong."""
import json
import re
import sys
import urllib.request

address, commands = sys.argv[1:]
wrong = []


def get(path):
    with urllib.request.urlopen(f"http://{address}{path}", timeout=60) as answer:
        if answer.headers["Content-Type"] != "application/json":
            wrong.append(f"{path}: {answer.headers['Content-Type']}")
        return json.load(answer)


def expected():
    for line in open(commands, encoding="utf-8"):
        level, usage = line.split("\t")[:2]
        if level != "user" or not usage.startswith("show "):
            continue
        # `show schema json` is about HAProxy's JSON.
        if "json" not in usage or usage.startswith("show schema"):
            continue
        name = re.split(r" [\[<]| json", usage[5:])[0]
        yield "/api/v1/" + name.replace(" ", "-"), usage


def check_openapi(paths):
    api = get("/api/v1/openapi.json")
    if not api["openapi"].startswith("3.") or not api["info"]["title"]:
        wrong.append("no OpenAPI 3")
    described = {p for p in api["paths"] if "{" not in p}
    if described != paths:
        wrong.append(f"described, or not: {sorted(described ^ paths)}")
    ids = [i["get"]["operationId"] for i in api["paths"].values()]
    if len(set(ids)) != len(ids):
        wrong.append("an operationId occurs twice")
    for path, item in api["paths"].items():
        get_item = item["get"]
        named = re.findall(r"{(\w+)}", path)
        given = [p["name"] for p in get_item.get("parameters", [])]
        if named != given or not get_item["summary"]:
            wrong.append(f"{path}: parameters {given}")
        for response in get_item["responses"].values():
            node = api
            for key in response.get("$ref", "#").split("/")[1:]:
                node = node[key]


paths = {p["path"] for p in get("/api/v1/")["paths"]}
want = dict(expected())
if set(want) != paths:
    wrong.append(f"listed, or not: {sorted(set(want) ^ paths)}")
for path in sorted(paths):
    try:
        get(path)
    except (OSError, ValueError) as error:
        wrong.append(f"{path}: {error}")
check_openapi(paths)
print(f"paths={len(paths)} failed={len(wrong)}", *wrong)
