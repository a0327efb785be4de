# SPDX-License-Identifier: MIT
"""Tries alerts and a dashboard with a Prometheus that reads a live lfproxy.

    monitortool.py record DASHBOARD >RULES     a recording rule per expression
    monitortool.py verify PROMETHEUS DASHBOARD METRICS
    monitortool.py commands PROMETHEUS         those that alerts suggest
"""
import json
import re
import sys
import time
import urllib.parse
import urllib.request

VARIABLES = {"$__rate_interval": "30s", "$job": ".*", "$instance": ".*",
             "$frontend": ".*", "$backend": ".*"}
NAME = re.compile(r"\b(?:lfproxy|haproxy|process)_[a-z0-9_]+|\bup\b")
DEADLINE_S = 180


def expressions(dashboard):
    """Yields the place, expression and legend of each query."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"], target["legendFormat"]
    for note in dashboard["annotations"]["list"]:
        yield note["name"], note["expr"], note["textFormat"]


def plain(expr):
    for name, value in VARIABLES.items():
        expr = expr.replace("[%s]" % name, "[%s]" % value).replace(name, value)
    assert "$" not in expr, "unknown variable: " + expr
    return expr


def record(dashboard):
    rules = [{"record": "dashboard:%d" % i, "expr": plain(expr)}
             for i, (_, expr, _) in enumerate(expressions(dashboard))]
    json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, sys.stdout)


def ask(prometheus, path, **query):
    url = "http://%s/api/v1/%s?%s" % (
        prometheus, path, urllib.parse.urlencode(query))
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)["data"]


def all_rules(prometheus):
    return [rule for group in ask(prometheus, "rules")["groups"]
            for rule in group["rules"]]


def read_metrics(path):
    """Returns the labels of each metric that has samples."""
    labels = {"up": set()}
    for line in open(path):
        sample = re.match(r"([a-z0-9_]+)(?:\{(.*)\})? ", line)
        if sample:
            labels.setdefault(sample[1], set()).update(
                re.findall(r'(\w+)="', sample[2] or ""))
    return labels


def wrong_alert(rule, live):
    """Returns what is wrong with the alert, or None."""
    names = NAME.findall(re.sub(r'"[^"]*"', "", rule["query"]))
    missing = [n for n in names if n not in live]
    if not names or missing:
        return "not in /metrics: %s" % missing
    known = set().union(*(live[n] for n in names)) | {"instance", "job"}
    used = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    return "no labels %s" % (used - known) if used - known else None


def wrong_rule(rule, prometheus, queries, live):
    if rule["health"] != "ok":
        return "%s: %s" % (rule["health"], rule.get("lastError"))
    if rule["type"] == "alerting":
        return wrong_alert(rule, live)
    title, _, legend = queries[int(rule["name"].split(":")[1])]
    found = ask(prometheus, "query", query="last_over_time(%s[1h])"
                % rule["name"])["result"]
    if not found:
        return "panel '%s' has no data: %s" % (title, rule["query"])
    used = set(re.findall(r"\{\{(\w+)\}\}", legend))
    known = set(found[0]["metric"])
    return "panel '%s': no labels %s" % (title, used - known) \
        if used - known else None


def verify(prometheus, dashboard, metrics):
    queries = list(expressions(dashboard))
    live = read_metrics(metrics)
    end = time.monotonic() + DEADLINE_S
    while True:
        rules = all_rules(prometheus)
        wrong = {rule["name"]: why for rule in rules if (
            why := wrong_rule(rule, prometheus, queries, live))}
        if not wrong or time.monotonic() > end:
            break
        time.sleep(0.3)
    for name, why in wrong.items():
        print("%s: %s" % (name, why))
    recorded = sum(rule["type"] == "recording" for rule in rules)
    assert recorded == len(queries) > 50, (recorded, len(queries))
    assert len(rules) - recorded > 15, len(rules)
    sys.exit(bool(wrong))


def commands(prometheus):
    for rule in all_rules(prometheus):
        for command in re.findall(
                r"`lfproxyctl ([^`]*)`", str(rule.get("annotations"))):
            print(re.sub(r"\{\{ *\$labels\.proxy *\}\}", "app", command))


def main(what, *args):
    if what == "record":
        record(json.load(open(args[0])))
    elif what == "verify":
        verify(args[0], json.load(open(args[1])), args[2])
    else:
        commands(args[0])


main(*sys.argv[1:])
