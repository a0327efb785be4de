#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replaces a certificate again and again, and looks at each at once.

    tlsadmintool.py SOCKET SECTION FILE ADDRESS COUNT PEM PEM...

Sends `set tls cert SECTION FILE` with one PEM after the other to the admin
socket, COUNT times.  After each answer a handshake at ADDRESS must get that
certificate.  Prints the number of replacements.
"""
import socket
import ssl
import sys


def ask(path, command, payload):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(100)
    s.connect(path)
    s.sendall(f"{command} <<\n{payload}\n".encode())
    s.shutdown(socket.SHUT_WR)
    answer = b""
    while data := s.recv(65536):
        answer += data
    s.close()
    return answer.decode()


def certificate_at(context, address):
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), 100) as s:
        with context.wrap_socket(s, server_hostname="a.example") as t:
            return t.getpeercert(True)


def main(path, section, file, address, count, *pems):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    texts = [open(pem, encoding="ascii").read() for pem in pems]
    end = "-----END CERTIFICATE-----\n"
    certs = [ssl.PEM_cert_to_DER_cert(t[:t.index(end) + len(end)])
             for t in texts]
    for i in range(int(count)):
        n = (i + 1) % len(texts)
        answer = ask(path, f"set tls cert {section} {file}", texts[n])
        if " is now " not in answer:
            sys.exit(f"replacement {i}: {answer}")
        if certificate_at(context, address) != certs[n]:
            sys.exit(f"replacement {i}: a handshake got another certificate")
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
