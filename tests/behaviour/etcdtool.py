#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients of etcd's JSON gateway, and what stands between one and etcd.

    etcdtool.py hold ADDRESS FILE       passes connections on to etcd, but the
                                        first watch only once FILE exists
    etcdtool.py change ADDRESS PREFIX N ROUNDS
                                        writes N keys, ROUNDS times, and then
                                        deletes every second one
"""
import base64
import http.client
import json
import os
import socket
import sys
import threading
import time


def address_of(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def base64_of(text):
    return base64.b64encode(text.encode()).decode()


# -- hold --

held = threading.Lock()


def pass_on(source, target, path):
    try:
        while data := source.recv(65536):
            if path and data.startswith(b"POST /v3/watch") and \
                    held.acquire(blocking=False):
                print("holding", flush=True)
                while not os.path.exists(path):
                    time.sleep(0.01)
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in source, target:
            end.close()


def hold(etcd, path):
    listener = socket.create_server(("127.0.0.1", 0))
    print("listening on %s:%d" % listener.getsockname(), flush=True)
    while True:
        client = listener.accept()[0]
        server = socket.create_connection(address_of(etcd))
        for ends in (client, server, path), (server, client, None):
            threading.Thread(target=pass_on, args=ends, daemon=True).start()


# -- change --

def transact(connection, operations):
    connection.request("POST", "/v3/kv/txn",
                       json.dumps({"success": operations}))
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        sys.exit(f"etcd: {answer.status} {text}")


def put(key, value):
    return {"requestPut": {"key": base64_of(key), "value": base64_of(value)}}


def delete(key):
    return {"requestDeleteRange": {"key": base64_of(key)}}


def change(etcd, prefix, n, rounds):
    connection = http.client.HTTPConnection(*address_of(etcd))
    keys = [f"{prefix}app-{i:05}" for i in range(n)]
    for r in range(rounds):
        for at in range(0, n, 100):
            transact(connection, [
                put(key, json.dumps({"address": "10.0.0.1", "port": 80,
                                     "weight": r + 1}))
                for key in keys[at:at + 100]])
    for at in range(0, n, 200):
        transact(connection, [delete(key) for key in keys[at:at + 200:2]])


def main():
    verb, etcd, *rest = sys.argv[1:]
    if verb == "hold":
        hold(etcd, rest[0])
    else:
        change(etcd, rest[0], int(rest[1]), int(rest[2]))


main()
