# SPDX-License-Identifier: MIT
"""The manifests of packaging/kubernetes, without a cluster.

    kubetool.py serve                      an API server that has nothing: what
                                           `kubectl apply --dry-run=client` asks
    kubetool.py check FILE...              fields and types, by the models of the
                                           official client
    kubetool.py ini FILE                   lfproxy.ini of a ConfigMap
    kubetool.py agree EFFECTIVE FILE...    what files say about each other;
                                           EFFECTIVE is the output of lfproxy -T
"""
import http.server
import json
import re
import sys

import yaml

KINDS = {"v1": {"configmaps": "ConfigMap", "services": "Service",
                "serviceaccounts": "ServiceAccount"},
         "apps/v1": {"deployments": "Deployment", "daemonsets": "DaemonSet"},
         "policy/v1": {"poddisruptionbudgets": "PodDisruptionBudget"}}


# -- serve: https://kubernetes.io/docs/reference/using-api/api-concepts/

def discovery(path):
    """Returns the document of a discovery path, or None."""
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
            {"name": name.split("/")[0],
             "versions": [{"groupVersion": name, "version": "v1"}],
             "preferredVersion": {"groupVersion": name, "version": "v1"}}
            for name in KINDS if "/" in name]}
    name = re.sub("^/apis?/", "", path)
    if name not in KINDS:
        return None
    return {"kind": "APIResourceList", "apiVersion": "v1",
            "groupVersion": name, "resources": [
                {"name": plural, "singularName": "", "namespaced": True,
                 "kind": kind, "verbs": ["create", "get", "patch"]}
                for plural, kind in KINDS[name].items()]}


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = discovery(self.path.split("?")[0])
        body = json.dumps(found or {
            "kind": "Status", "apiVersion": "v1", "status": "Failure",
            "reason": "NotFound", "code": 404}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    print("listening on 127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()


# -- check

PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float),
         "object": object, "datetime": str}


def check(value, kind, path):
    """Raises ValueError for an unknown field or a value of another type."""
    from kubernetes import client
    of = re.fullmatch(r"list\[(.*)\]|dict[(\[]str, (.*)[)\]]", kind)
    if of:
        if not isinstance(value, list if of[1] else dict):
            raise ValueError("%s: not a %s" % (path, kind))
        for key, item in enumerate(value) if of[1] else value.items():
            check(item, of[1] or of[2], "%s[%s]" % (path, key))
    elif kind in PLAIN:
        if not isinstance(value, PLAIN[kind]) or \
                (isinstance(value, bool) and kind not in ("bool", "object")):
            raise ValueError("%s: %r is not a %s" % (path, value, kind))
    else:
        model = getattr(client, kind)
        fields = {model.attribute_map[a]: t
                  for a, t in model.openapi_types.items()}
        for key, item in value.items():
            if key not in fields:
                raise ValueError("%s: %s has no field %s" % (path, kind, key))
            check(item, fields[key], "%s.%s" % (path, key))


def check_file(path):
    from kubernetes import client
    for doc in yaml.safe_load_all(open(path)):
        kind = "V1" + doc["kind"]
        if doc["kind"] not in KINDS[doc["apiVersion"]].values():
            raise ValueError("%s: unexpected kind" % path)
        check(doc, kind, path)
        # The constructors refuse documents without a required field.
        client.ApiClient()._ApiClient__deserialize(doc, kind)
        print("%s: %s" % (path, doc["kind"]))


# -- agree

def seconds(effective, key):
    text = re.search(r"^%s = (\d+)(ms|s|m)$" % key, effective, re.M)
    return int(text[1]) * {"ms": 0.001, "s": 1, "m": 60}[text[2]]


def pod_agrees(doc, account, config, effective):
    """Yields what is wrong with the pods of a Deployment or a DaemonSet."""
    template = doc["spec"]["template"]
    pod = template["spec"]
    box = pod["containers"][0]
    ports = {p["name"]: p["containerPort"] for p in box["ports"]}
    listens = [int(p) for p in re.findall(
        r"^(?:listen|http) = :(\d+)", effective, re.M)]
    mounts = {m["name"]: m["mountPath"] for m in box["volumeMounts"]}
    volumes = {v["name"]: v for v in pod["volumes"]}
    probes = [(box[k]["httpGet"]["path"], box[k]["httpGet"]["port"])
              for k in ("readinessProbe", "livenessProbe")]
    grace = pod["terminationGracePeriodSeconds"]
    stop = seconds(effective, "shutdown_delay") + \
        seconds(effective, "drain_timeout")
    yield "ports", sorted(ports.values()), sorted(listens)
    yield "scraped port", template["metadata"]["annotations"][
        "prometheus.io/port"], str(ports["metrics"])
    yield "probes", probes, [("/readyz", "metrics"), ("/healthz", "metrics")]
    yield "stop in time", True, grace >= stop + 5 > 5
    yield "selector", doc["spec"]["selector"]["matchLabels"], \
        template["metadata"]["labels"]
    yield "volumes", sorted(mounts), sorted(volumes)
    yield "configuration", volumes["config"]["configMap"]["name"], \
        config["metadata"]["name"]
    yield "arguments", box["args"], \
        ["-c", "%s/%s" % (mounts["config"], *config["data"])]
    yield "admin socket", re.search(
        r"^admin = (\S+)/", effective, re.M)[1], mounts["run"]
    yield "account", pod["serviceAccountName"], account["metadata"]["name"]
    yield "no token", (False, False), (
        pod["automountServiceAccountToken"],
        account["automountServiceAccountToken"])
    yield "user", (True, 65532, {"type": "RuntimeDefault"}), tuple(
        pod["securityContext"][k]
        for k in ("runAsNonRoot", "runAsUser", "seccompProfile"))
    yield "rights", box["securityContext"], {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]}}
    yield "unprivileged ports", True, min(listens) >= 1024


def agree(effective, paths):
    docs = {}
    for path in paths:
        doc = yaml.safe_load(open(path))
        docs[doc["kind"]] = doc
    pods = [docs["Deployment"], docs["DaemonSet"]]
    facts = [(p["kind"], *fact) for p in pods for fact in pod_agrees(
        p, docs["ServiceAccount"], docs["ConfigMap"], effective)]
    labels = pods[0]["spec"]["template"]["metadata"]["labels"]
    facts += [("Service", "pods", docs["Service"]["spec"]["selector"], labels),
              ("PodDisruptionBudget", "pods", docs["PodDisruptionBudget"][
                  "spec"]["selector"]["matchLabels"], labels)]
    wrong = [f for f in facts if f[2] != f[3]]
    for fact in wrong:
        print("%s: %s: %s, expected %s" % fact)
    sys.exit(bool(wrong))


def main(what, *args):
    if what == "serve":
        serve()
    elif what == "check":
        for path in args:
            check_file(path)
    elif what == "ini":
        print(yaml.safe_load(open(args[0]))["data"]["lfproxy.ini"], end="")
    else:
        agree(open(args[0]).read(), args[1:])


main(*sys.argv[1:])
