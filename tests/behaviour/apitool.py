#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""apitool.py ADDRESS COMMANDS: compares the API of an lfproxy with the commands
that `lfproxy --list-commands` has written to the file COMMANDS, asks for each
path, and checks the OpenAPI description.  Prints `paths=N failed=N`, and what is
wrong."""
import json
import re
import sys
import urllib.error
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
        if not usage.startswith("show "):
            continue
        # `show schema json` is about HAProxy's JSON.
        if "json" not in usage or usage.startswith("show schema"):
            continue
        name = re.split(r" [\[<]| json", usage[5:])[0]
        yield "/api/v1/" + name.replace(" ", "-"), level


def status(path):
    try:
        get(path)
        return 200
    except urllib.error.HTTPError as error:
        return error.code


def check_openapi(paths):
    api = get("/api/v1/openapi.json")
    if not api["openapi"].startswith("3.") or not api["info"]["title"]:
        wrong.append("no OpenAPI 3")
    described = {p for p in api["paths"] if "{" not in p}
    others = {"/api/v1/command", "/api/v1/session"}
    if described != paths | others:
        wrong.append(f"described, or not: {sorted(described ^ paths)}")
    ids = [m["operationId"] for i in api["paths"].values() for m in i.values()]
    if len(set(ids)) != len(ids):
        wrong.append("an operationId occurs twice")
    for path, item in api["paths"].items():
        named = re.findall(r"{(\w+)}", path)
        for method in item.values():
            given = [p["name"] for p in method.get("parameters", [])]
            if named != given or not method["summary"]:
                wrong.append(f"{path}: parameters {given}")
            for response in method["responses"].values():
                node = api
                for key in response.get("$ref", "#").split("/")[1:]:
                    node = node[key]


paths = {p["path"]: p["level"] for p in get("/api/v1/")["paths"]}
want = dict(expected())
if want != paths:
    wrong.append(f"listed, or not: {sorted(set(want.items()) ^ set(paths.items()))}")
for path, level in sorted(paths.items()):
    try:
        if status(path) != (200 if level == "user" else 403):
            wrong.append(f"{path}: {status(path)} for level {level}")
    except (OSError, ValueError) as error:
        wrong.append(f"{path}: {error}")
check_openapi(set(paths))
print(f"paths={len(paths)} failed={len(wrong)}", *wrong)
