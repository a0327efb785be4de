# SPDX-License-Identifier: MIT
# A server that runs a command for each connection, which is its stdin and
# stdout, as inetd(8) does.  Prints `listening on ADDRESS`.
#
#   inetd.py COMMAND...
import socket
import subprocess
import sys
import threading


def serve(connection):
    with connection:
        subprocess.run(sys.argv[1:], stdin=connection, stdout=connection)


listener = socket.create_server(("127.0.0.1", 0))
print("listening on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
while True:
    threading.Thread(
        target=serve, args=(listener.accept()[0],), daemon=True).start()
