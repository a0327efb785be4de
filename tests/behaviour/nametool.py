#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nametool.py FILE [RATE]: a name server for what real ones do not do.  It answers over
UDP and TCP at one port of 127.0.0.1 as FILE says, which is read again when
it is another one; names that are not in it do not exist.  With RATE it answers
so many questions a second over UDP, one after the other.  Lines:

  NAME [ttl=N] ADDRESS...      A and AAAA records
  NAME [ttl=N] srv PRIORITY WEIGHT PORT TARGET    one of its SRV records
  NAME none | empty | silent | servfail | refused
  NAME late N ADDRESS...       no answer to the first N questions of this file
  NAME garbage                 bytes that are no message
  NAME short                   a message that is cut off
  NAME loop                    names that are compressed in a circle
  NAME spoofed ADDRESS         answers with 64 wrong ids and another question,
                               with another address, before the right one
  NAME truncated N ADDRESS     truncated over UDP; over TCP N records, the last
                               of which has the ADDRESS

`*` is every other name.  Each question appends a line `NAME TYPE udp|tcp` to
FILE.asked.  Ends with SIGTERM.
"""

import asyncio
import ipaddress
import os
import socket
import struct
import sys

A, AAAA, SRV, IN = 1, 28, 33, 1
RCODES = {"servfail": 2, "none": 3, "refused": 5}


def encode(name):
    labels = [part.encode() for part in name.split(".") if part]
    return b"".join(bytes([len(p)]) + p for p in labels) + b"\0"


def record(owner, kind, ttl, data):
    return owner + struct.pack("!HHIH", kind, IN, ttl, len(data)) + data


def read_question(message):
    at, labels = 12, []
    while message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode())
        at += 1 + message[at]
    kind = struct.unpack("!H", message[at + 1 : at + 3])[0]
    return ".".join(labels), kind, message[12 : at + 5]


def message(query_id, question, flags, records):
    return (
        struct.pack("!HHHHHH", query_id, 0x8180 | flags, 1, len(records), 0, 0)
        + question
        + b"".join(records)
    )


class Server:
    def __init__(self, path):
        self.path = path
        self.asked = open(path + ".asked", "a", encoding="ascii")
        self.rules, self.read, self.questions = {}, None, 0

    def read_rules(self):
        """Reads the file if it is another one."""
        stat = os.stat(self.path)
        read = stat.st_ino, stat.st_mtime_ns, stat.st_size
        if read == self.read:
            return
        self.rules, self.read, self.questions = {}, read, 0
        with open(self.path, encoding="ascii") as lines:
            for line in lines:
                words = line.split()
                if not words:
                    continue
                ttl = 60
                if len(words) > 1 and words[1].startswith("ttl="):
                    ttl = int(words.pop(1)[4:])
                self.rules.setdefault(words[0].lower(), []).append(
                    (ttl, words[1:]))

    def rules_of(self, name):
        """Returns the lines of the name, each as its ttl and words."""
        self.read_rules()
        return (
            self.rules.get(name.lower())
            or self.rules.get("*")
            or [(0, ["none"])]
        )

    def records(self, rules, kind):
        found = []
        for ttl, words in rules:
            if words[0] == "srv" and kind == SRV:
                numbers = [int(w) for w in words[1:4]]
                data = struct.pack("!HHH", *numbers) + encode(words[4])
                found.append(record(b"\xc0\x0c", SRV, ttl, data))
            elif words[0] != "srv" and kind != SRV:
                for word in words:
                    ip = ipaddress.ip_address(word)
                    if (ip.version == 4) == (kind == A):
                        found.append(
                            record(b"\xc0\x0c", kind, ttl, ip.packed)
                        )
        return found

    def spoofed(self, query_id, question, kind, words):
        bad = [record(b"\xc0\x0c", A, 60, b"\x7f\0\0\x63")]
        other = encode("other.test") + struct.pack("!HH", kind, IN)
        answers = [
            message(query_id ^ i, question, 0, bad) for i in range(1, 65)
        ]
        answers.append(message(query_id, other, 0, bad))
        good = self.records([(60, words)], kind)
        return answers + [message(query_id, question, 0, good)]

    def truncated(self, query_id, question, kind, words, tcp):
        if not tcp:
            return [message(query_id, question, 0x200, [])]
        if kind != A:
            return [message(query_id, question, 0, [])]
        last = ipaddress.ip_address(words[1])
        n = int(words[0])
        found = [
            record(b"\xc0\x0c", A, 60, (last - n + 1 + i).packed)
            for i in range(n)
        ]
        return [message(query_id, question, 0, found)]

    def answers(self, query, tcp):
        """Returns the messages that answer the query."""
        query_id = struct.unpack("!H", query[:2])[0]
        name, kind, question = read_question(query)
        print(name, kind, "tcp" if tcp else "udp", file=self.asked, flush=True)
        rules = self.rules_of(name)
        word, words = rules[0][1][0], rules[0][1][1:]
        if word == "late":
            self.questions += 1
            if self.questions <= int(words[0]):
                return []
            rules = [(60, words[1:])]
        if word == "silent":
            return []
        if word == "garbage":
            return [b"\xff" * 11, query[:2] + b"\xff" * 600]
        if word == "short":
            whole = message(query_id, question, 0, [b"\xc0\x0c\0\1\0\1"])
            return [whole]
        if word == "loop":
            at = 12 + len(question)
            circle = struct.pack("!H", 0xC000 | at)
            return [
                message(
                    query_id,
                    question,
                    0,
                    [record(circle, kind, 60, b"\x7f\0\0\1")],
                )
            ]
        if word == "spoofed":
            return self.spoofed(query_id, question, kind, words)
        if word == "truncated":
            return self.truncated(query_id, question, kind, words, tcp)
        if word in RCODES:
            return [message(query_id, question, RCODES[word], [])]
        if word == "empty":
            return [message(query_id, question, 0, [])]
        return [message(query_id, question, 0, self.records(rules, kind))]


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, server, rate):
        self.server, self.rate = server, rate
        self.waiting = asyncio.Queue()

    def connection_made(self, transport):
        self.transport = transport
        if self.rate:
            self.task = asyncio.create_task(self.answer_waiting())

    def datagram_received(self, data, addr):
        if self.rate:
            self.waiting.put_nowait((data, addr))
        else:
            self.answer(data, addr)

    def answer(self, data, addr):
        for answer in self.server.answers(data, False):
            self.transport.sendto(answer, addr)

    async def answer_waiting(self):
        while True:
            data, addr = await self.waiting.get()
            await asyncio.sleep(1 / self.rate)
            self.answer(data, addr)


async def serve_stream(server, reader, writer):
    try:
        while True:
            size = struct.unpack("!H", await reader.readexactly(2))[0]
            query = await reader.readexactly(size)
            for answer in server.answers(query, True):
                writer.write(struct.pack("!H", len(answer)) + answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    server = Server(sys.argv[1])
    rate = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    loop = asyncio.get_running_loop()
    while True:
        listener = await asyncio.start_server(
            lambda r, w: serve_stream(server, r, w), "127.0.0.1", 0
        )
        port = listener.sockets[0].getsockname()[1]
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        try:
            udp.bind(("127.0.0.1", port))
            break
        except OSError:
            listener.close()
    udp.setblocking(False)
    await loop.create_datagram_endpoint(
        lambda: Datagrams(server, rate), sock=udp
    )
    print(f"listening on 127.0.0.1:{port}", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
