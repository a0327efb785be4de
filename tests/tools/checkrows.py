# SPDX-License-Identifier: MIT
# Waits until servers' rows of `show stat` are as they should be.
#
#   checkrows.py ADMIN SECONDS < TABLE
#
# The table's first line names columns, `svname` first; each further line has, a
# blank or more between, a server and a regular expression for the whole of each
# column, with `_` for a blank.  Exits with 1, and says what is otherwise, when
# SECONDS have passed.
import csv
import re
import socket
import sys
import time

admin, seconds = sys.argv[1], float(sys.argv[2])
lines = [line.split() for line in sys.stdin if line.strip()]
head, wanted = lines[0], lines[1:]


def rows():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(admin)
        s.sendall(b"show stat -1 4 -1\n")
        text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
    return {row["svname"]: row for row in csv.DictReader(text.splitlines())}


def differences():
    found = rows()
    for line in wanted:
        row = found[line[0]]
        for column, pattern in zip(head[1:], line[1:], strict=True):
            if not re.fullmatch(pattern.replace("_", " "), row[column]):
                yield (f"{line[0]}: {column} is '{row[column]}' and not "
                       f"{pattern}; it said '{row['last_chk']}'")


end = time.monotonic() + seconds
while found := list(differences()):
    if time.monotonic() > end:
        sys.exit("\n".join(found))
    time.sleep(0.05)
