#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sends the same to HAProxy's and to lfproxy's admin sockets, and compares.

    likenesstool.py HAPROXY-DIR LFPROXY-DIR CASES...

Each folder has the sockets admin, operator and user, named by their levels.  A
file of cases has one on each line that begins in the first column:

    LEVEL TEXT

TEXT goes to the socket of that level as it is, with \\n, \\r, \\t, \\0 and \\\\
for what they are, and a line end behind it unless it has one.  What comes back
until the end of the connection must be equal, byte by byte.  Indented lines
below a case say otherwise:

    mask REGEX      what this finds is replaced by a `*` in both
    cut REGEX       what this finds is left out of both
    shape           every number is replaced by an N in both
    sorted          the lines may come in any order
    only REGEX      only lines in which this is found are compared
    less REGEX      lines in which this is found are left out of lfproxy's
    less_theirs REGEX   likewise, of HAProxy's
    differs WHY     the answers differ, for this reason; it is an error if they
                    do not
    !TEXT           lfproxy's answer then has this text in it
    theirs TEXT     HAProxy's answer then has this text in it
    skip WHY        the case is left out, for this reason
    haproxy2 RULE   the rule counts beside HAProxy 2 alone; haproxy3 likewise

lfproxy speaks as HAProxy 3.0 does.  What 2.6 said in other words, FORMER puts
into lfproxy's answers beside a HAProxy 2.

A file is run from top to bottom on the same two processes, so a case may
depend on what those before it have changed.  What only shows is asked again
until it is alike, for at most SETTLE_S: either of the two may be about to let
go of the connection before, or to end a check.
"""
import difflib
import re
import socket
import sys
import time

PATIENCE_S = 10
SETTLE_S = 3


FORMER = [(re.compile(regex, re.M), words) for regex, words in (
    (r"^(\[\S+ )?Unknown command: '.*', but", r"\1Unknown command, but"),
    (r"^  prompt \[timed\]", "  prompt        "),
    (r"TotalSplicedBytesOut", "TotalSplicdedBytesOut"),
    (r"^(7[2-8]\.)?(TotalWarnings|MaxconnReached|Niced_tasks|CurrStreams|"
     r"CumStreams|BlockedTrafficWarnings)\b.*\n", ""),
    # The columns srid to proto of `show stat`.
    (r"^((?:[^,\n]*,){103})(?:[^,\n]*,){10}(-,)", r"\1\2"),
    (r"^\w(\.\d+){3}\.(srid|sess_other|h[123]sess|req_other|h[123]req|"
     r"proto)\..*\n", ""),
    (r"^(B\.\d+\.0\.33\.rate\.1:)MRP", r"\1MGP"),
    (r'("objType":"Backend"[^}]*"name":"rate"\},"processNum":\d+,"tags":'
     r'\{"origin":"Metric","nature":")Rate', r"\1Gauge"),
    (r',\{"objType":"\w+","proxyId":\d+,"id":\d+,"field":\{"pos":\d+,"name":"'
     r'(srid|sess_other|h[123]sess|req_other|h[123]req|proto)"\},'
     r'"processNum":1,"tags":\{[^}]*\},"value":\{[^}]*\}\}', ""),
    (r" shard=0", ""),
)]


class Case:
    def __init__(self, place, level, text):
        self.place, self.level, self.text = place, level, text
        self.rules = []
        self.why = self.skipped = None
        self.wanted, self.theirs = [], []

    def add(self, rule, peer):
        of, _, rest = rule.partition(" ")
        if of in ("haproxy2", "haproxy3"):
            if of == f"haproxy{peer}":
                self.add(rest, peer)
            return
        if rule.startswith("!"):
            self.wanted.append(rule[1:])
            return
        word, _, rest = rule.partition(" ")
        if word == "differs" and rest:
            self.why = rest
        elif word == "theirs" and rest:
            self.theirs.append(rest)
        elif word == "skip" and rest:
            self.skipped = rest
        elif word in ("mask", "cut", "only", "less", "less_theirs") and rest:
            self.rules.append((word, re.compile(rest, re.M)))
        elif rule in ("shape", "sorted"):
            self.rules.append((rule, None))
        else:
            sys.exit(f"{self.place}: no such rule: {rule}")


def unescape(text):
    plain = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\"}
    return re.sub(r"\\(.)", lambda m: plain.get(m[1], m[0]), text)


def read_cases(path, peer):
    cases = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if not line.strip() or line.startswith("#"):
                continue
            if line[0].isspace():
                cases[-1].add(line.strip(), peer)
                continue
            level, _, text = line.partition(" ")
            text = unescape(text)
            if not text.endswith("\n"):
                text += "\n"
            cases.append(Case(f"{path}:{number}", level, text))
    return cases


def ask(path, text):
    """All that comes back; the connection is to end by itself."""
    answer = b""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(PATIENCE_S)
        s.connect(path)
        s.sendall(text.encode("latin-1"))
        s.shutdown(socket.SHUT_WR)
        try:
            while data := s.recv(65536):
                answer += data
        except ConnectionResetError:
            answer += b"<reset>"
        except socket.timeout:
            answer += b"<not closed>"
    return answer.decode("latin-1")


def normal(answer, rules, ours):
    for word, regex in rules:
        lines = answer.split("\n")
        if word == "mask":
            answer = regex.sub("*", answer)
        elif word == "cut":
            answer = regex.sub("", answer)
        elif word == "shape":
            answer = re.sub(r"\d+", "N", answer)
        elif word == "sorted":
            answer = "\n".join(sorted(lines))
        elif word == "only":
            answer = "\n".join(x for x in lines if regex.search(x))
        elif (word == "less") == ours:
            answer = "\n".join(x for x in lines if not regex.search(x))
    return answer


def only_shows(text):
    """True of what may be asked any number of times."""
    return all(re.match(r"(show|get|help)\b", part.strip())
               for part in re.split(r"[;\n]", text) if part.strip())


def major_version(theirs):
    return int(ask(f"{theirs}/user", "show version\n").split(".")[0])


def former(answer):
    for regex, words in FORMER:
        answer = regex.sub(words, answer)
    return answer


def try_case(case, theirs, ours, peer):
    """What is wrong, or None."""
    deadline = time.monotonic() + (SETTLE_S if only_shows(case.text) else 0)
    while True:
        wrong = judge(case, ask(f"{theirs}/{case.level}", case.text),
                      ask(f"{ours}/{case.level}", case.text), peer)
        if not wrong or time.monotonic() > deadline:
            return wrong
        time.sleep(0.05)


def judge(case, theirs, ours, peer):
    """What is wrong, or None."""
    raw = ours
    # HAProxy 3 counts in srid the servers that were added so far.
    theirs = re.sub(r"^((?:[^,\n]*,){103})\d+,", r"\g<1>0,", theirs, flags=re.M)
    # A check that is under way at this moment is marked there.
    theirs = re.sub(r"\* (?=L\d)", "", theirs)
    if peer < 3:
        ours = former(ours)
    theirs = normal(theirs, case.rules, False)
    ours = normal(ours, case.rules, True)
    for text in case.theirs:
        if text not in theirs:
            return f"HAProxy's answer has no '{text}':\n{theirs[:2000]}"
    for text in case.wanted:
        if text not in raw:
            return f"lfproxy's answer has no '{text}':\n{raw[:2000]}"
    if case.why:
        return None if theirs != ours else (
            f"the answers are equal now; it said: {case.why}")
    if theirs == ours:
        return None
    return "".join(difflib.unified_diff(
        theirs.splitlines(keepends=True), ours.splitlines(keepends=True),
        "haproxy", "lfproxy", n=1))[:6000]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    theirs, ours = sys.argv[1:3]
    peer = major_version(theirs)
    total = different = bad = 0
    for path in sys.argv[3:]:
        for case in read_cases(path, peer):
            if case.skipped:
                continue
            wrong = try_case(case, theirs, ours, peer)
            total += 1
            different += case.why is not None
            if wrong:
                bad += 1
                print(f"{case.place}: {case.level} {case.text!r}\n{wrong}\n")
    print(f"{total} cases: {total - different - bad} answered alike, "
          f"{different} differ for a reason, {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
