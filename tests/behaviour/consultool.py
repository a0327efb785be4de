#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A responder of Consul's protocol, built from its documentation.

    consultool.py [--token TOKEN] [--cert FILE] [--instances N]

It answers GET /v1/health/service/NAME as an agent does: at once without an
index, else when its own index is higher than that, or after the wait.  Every
request is printed as `asked PATH`.  PUT /state changes what it does, with any
of

    instances   the list that is answered
    index       the value of X-Consul-Index; null: no such header
    mode        ok, status, cut, garbage, silent, trickle, filtered
    status      the status of mode status

and wakes all queries that wait.
"""
import argparse
import http.server
import json
import re
import ssl
import sys
import threading
import urllib.parse

state = {"instances": [], "index": 1, "mode": "ok", "status": 500}
changed = threading.Condition()
arguments = None


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60}[unit]


def instance(i):
    """As Consul lists it, but for what nobody reads."""
    node = {"ID": f"40e4a748-2192-161a-0510-{i:012}", "Node": f"node-{i}",
            "Address": "10.1.10.12", "Datacenter": "dc1", "Meta": {"os": "x"}}
    service = {"ID": f"web-{i}", "Service": "web", "Tags": ["primary", "v1"],
               "Address": f"10.0.{i // 250}.{i % 250}", "Port": 8000,
               "Meta": {"version": "4.0"},
               "Weights": {"Passing": i + 1, "Warning": 1},
               "CreateIndex": i, "ModifyIndex": i}
    checks = [{"Node": f"node-{i}", "CheckID": f"service:web-{i}",
               "Name": "HTTP check", "Status": "passing", "Notes": "",
               "Output": "HTTP GET http://10.0.0.1:8000/: 200 OK " * 10,
               "ServiceID": f"web-{i}", "ServiceName": "web"},
              {"Node": f"node-{i}", "CheckID": "serfHealth",
               "Name": "Serf Health Status", "Status": "passing",
               "Output": "Agent alive and reachable"}]
    return {"Node": node, "Service": service, "Checks": checks}


class Agent(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body, index=None, headers=()):
        self.send_response(status)
        if index is not None:
            self.send_header("X-Consul-Index", str(index))
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.flush()
        return body

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with changed:
            state.update(json.loads(body))
            changed.notify_all()
        self.wfile.write(self.answer(200, b"{}"))

    def wait_for_change(self, query):
        """Returns the state to answer with."""
        index = int(query.get("index", ["0"])[0])
        wait = seconds(query.get("wait", ["5m"])[0])
        with changed:
            before = dict(state)
            if index > 0 and index == state["index"] and \
                    state["mode"] == "ok":
                changed.wait_for(lambda: state != before, wait)
            return dict(state)

    def do_GET(self):
        print("asked", self.path, flush=True)
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        if arguments.token and \
                self.headers["X-Consul-Token"] != arguments.token:
            self.wfile.write(self.answer(403, b"Permission denied"))
            return
        if not url.path.startswith("/v1/health/service/"):
            self.wfile.write(self.answer(404, b"no such path"))
            return
        now = self.wait_for_change(query)
        self.answer_in_mode(now, json.dumps(now["instances"]).encode())

    def answer_in_mode(self, now, body):
        mode, index = now["mode"], now["index"]
        if mode == "status":
            self.wfile.write(self.answer(now["status"], b"No cluster leader"))
        elif mode == "garbage":
            self.wfile.write(self.answer(200, b"<html>busy</html>", index))
        elif mode == "cut":
            body = self.answer(200, body, index)
            self.wfile.write(body[:len(body) // 2])
            self.close_connection = True
        elif mode == "filtered":
            self.wfile.write(self.answer(
                200, b"[]", index,
                [("X-Consul-Results-Filtered-By-ACLs", "true")]))
        elif mode == "silent":
            with changed:
                changed.wait_for(lambda: state["mode"] != "silent")
            self.close_connection = True
        elif mode == "trickle":
            body = self.answer(200, body, index)
            for at in range(len(body)):
                self.wfile.write(body[at:at + 1])
                self.wfile.flush()
        else:
            self.wfile.write(self.answer(200, body, index))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients may go whenever they like."""


def main():
    global arguments
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--token")
    parser.add_argument("--cert")
    parser.add_argument("--instances", type=int, default=0)
    arguments = parser.parse_args()
    state["instances"] = [instance(i) for i in range(arguments.instances)]
    server = Server(("127.0.0.1", 0), Agent)
    if arguments.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.cert)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print("listening on %s:%d" % server.server_address, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
