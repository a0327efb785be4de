#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks of the status page; prints `ok`, or what is wrong.

    pagetool.py policy ADDRESS   the page's Content-Security-Policy fits its own
                                 style and script, and it names nothing elsewhere
    pagetool.py events FILE      a recorded stream: whole events, with JSON
"""
import base64
import hashlib
import json
import re
import sys
import urllib.request


def policy(address):
    with urllib.request.urlopen(f"http://{address}/", timeout=60) as answer:
        page, rules = answer.read().decode(), answer.headers
    allowed = rules["Content-Security-Policy"]
    for tag in ("style", "script"):
        bodies = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.S)
        if len(bodies) != 1:
            return f"{len(bodies)} elements {tag}"
        digest = hashlib.sha256(bodies[0].encode()).digest()
        want = f"{tag}-src 'sha256-{base64.b64encode(digest).decode()}'"
        if want not in allowed:
            return f"not {want} in {allowed}"
    for word in ("default-src 'none'", "frame-ancestors 'none'",
                 "base-uri 'none'", "form-action 'none'"):
        if word not in allowed:
            return f"{word} is missing"
    if "unsafe" in allowed or rules["X-Content-Type-Options"] != "nosniff":
        return allowed
    outside = [u for u in re.findall(r"(?:src|href)=[\"']?([^\"' >]+)", page)
               if not u.startswith(("/", "#", "data:,"))]
    outside += re.findall(r" on[a-z]+=|\bstyle=|@import|url\(", page)
    return f"not of this page: {outside}" if outside else "ok"


def events(path):
    text = open(path, encoding="utf-8").read()
    whole = text.split("\n\n")[:-1]
    if len(whole) < 2:
        return f"{len(whole)} events"
    for event in whole:
        kind, data = event.split("\n")
        if kind != "event: snapshot" or not data.startswith("data: "):
            return event[:200]
        snapshot = json.loads(data[6:])
        for key in ("history", "info", "pools", "threads", "events", "stat",
                    "time_ms"):
            if key not in snapshot:
                return f"no {key}"
    return "ok"


mode, where = sys.argv[1:]
print({"policy": policy, "events": events}[mode](where))
