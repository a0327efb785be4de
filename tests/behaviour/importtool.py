#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts a configuration of HAProxy or nginx beside what lfproxyctl makes of it.

    importtool.py KIND CASE WORK LFPROXY LFPROXYCTL

Both programs get the same servers: each server address of the case (10.*)
becomes a port of this host whose server answers the first bytes with that
address.  Clients send the same bytes to each address that both listen on: plain
text and TLS hellos with the names of the case.  Where a listener has TLS they
make a handshake.  Every client must be answered by the same servers, or be
closed by both.  Prints the answers that differ; exit status 1 if there are any.
"""
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

KIND, CASE, WORK, LFPROXY, LFPROXYCTL = sys.argv[1:]
SERVER = re.compile(r'\b10\.\d+\.\d+\.\d+:\d+\b')
NAME = re.compile(r'\b(?:[a-z0-9-]+\.)+example\.(?:com|net|org)\b')
# What a test cannot have, or is not about.
DROPPED = re.compile(r'\s*(chroot|user|group|daemon|pidfile|pid|log|stats socket|'
                     r'stats timeout|error_log|access_log|log_format|include modules'
                     r'|nbthread|maxconn|worker_rlimit_nofile)\b')
MODULE = '/usr/lib/nginx/modules/ngx_stream_module.so'
ROUNDS = 6
DEADLINE = 20


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def serve(listener, name):
    """Answers the first bytes of each client with the name."""
    def talk(conn):
        with conn:
            conn.settimeout(DEADLINE)
            try:
                if conn.recv(4096):
                    conn.sendall(name.encode() + b'\n')
            except OSError:
                pass

    while True:
        try:
            conn, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=talk, args=(conn,), daemon=True).start()


def start_servers(text):
    ports = {}
    for name in sorted(set(SERVER.findall(text))):
        listener = socket.create_server(('127.0.0.1', 0))
        ports[name] = listener.getsockname()[1]
        threading.Thread(target=serve, args=(listener, name), daemon=True).start()
    return SERVER.sub(lambda m: '127.0.0.1:%d' % ports[m[0]], text)


def place(text):
    """Gives each listener a port.  Returns the text and {old port: (new, tls)}."""
    listeners, lines, word = {}, [], 'bind' if KIND == 'haproxy' else 'listen'
    # In a line of its own or behind `{` and `;` of nginx.
    pattern = re.compile(r'(?<![\w-])%s (?:[\w.*]*:|\[::\]:|:::)?(\d+)(?=[\s;]|$)' % word)
    for line in text.split('\n'):
        if DROPPED.match(line) or re.search(r'\[::\]:|:::|\budp\b', line):
            continue
        if line.strip().startswith('#'):
            continue

        def move(match, line=line):
            port = free_port()
            tls = bool(re.search(r'\sssl\b', line))
            listeners[int(match[1])] = (port, tls)
            return '%s 127.0.0.1:%d' % (word, port)
        lines.append(pattern.sub(move, line))
    return '\n'.join(lines) + '\n', listeners


def hello(name, protocols):
    """The first bytes of a TLS client that asks for the name."""
    context = ssl.create_default_context()
    context.check_hostname = False
    if protocols:
        context.set_alpn_protocols(protocols)
    sent = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname=name)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return sent.read()


def answer(port, what, tls):
    """What a client gets: the server's name, or '' if it was closed."""
    try:
        sock = socket.create_connection(('127.0.0.1', port), DEADLINE)
        with sock:
            if tls:
                context = ssl._create_unverified_context()
                context.set_alpn_protocols(what[1])
                with context.wrap_socket(sock, server_hostname=what[0]) as inner:
                    inner.sendall(b'hello\n')
                    return inner.recv(200).decode().strip()
            sock.sendall(what)
            return sock.recv(200).decode().strip()
    except (OSError, ssl.SSLError):
        return ''


def probes(text, tls):
    names = sorted(set(NAME.findall(text)))
    # HAProxy's strict-sni takes a certificate's wildcard for one label.
    names += [] if tls else ['x.' + name for name in names]
    names.append('elsewhere.example.edu')
    asked = [(name, alpn) for name in names for alpn in ([], ['h2', 'http/1.1'])]
    if tls:
        # A client that offers none of the listener's protocols is refused by
        # lfproxy, as the import says, so all are offered.
        return {'%s %s' % (name, alpn): (name, (alpn or ['http/1.1']) + ['mqtt'])
                for name, alpn in asked}
    found = {'%s %s' % (name, alpn): hello(name, alpn) for name, alpn in asked}
    found['no name'] = hello(None, [])
    found['plain'] = b'hello\n'
    return found


def all_answers(text, listeners):
    found = {}
    for old, (port, tls) in sorted(listeners.items()):
        for label, what in probes(text, tls).items():
            found[old, label] = {answer(port, what, tls) for _ in range(ROUNDS)}
    return found


def wait_until_ready(program, listeners):
    limit = time.monotonic() + DEADLINE
    for port, _ in listeners.values():
        while True:
            try:
                socket.create_connection(('127.0.0.1', port), 1).close()
                break
            except OSError:
                if program.poll() is not None or time.monotonic() > limit:
                    sys.exit('%s does not listen: see its output in %s' %
                             (program.args[0], WORK))
                time.sleep(0.02)


def run(command, label, text, listeners):
    with open(os.path.join(WORK, label + '.log'), 'wb') as log:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, start_new_session=True)
    try:
        wait_until_ready(program, listeners)
        return all_answers(text, listeners)
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGTERM)
        try:
            program.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            print('%s has not ended by itself' % label)
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()


def write(name, text):
    path = os.path.join(WORK, name)
    with open(path, 'w', encoding='utf-8') as out:
        out.write(text)
    return path


def original(text):
    placed, listeners = place(text)
    if KIND == 'haproxy':
        command = ['haproxy', '-db', '-f', write('original.cfg', placed)]
    else:
        path = write('original.conf', 'load_module %s;\n%s' % (MODULE, placed))
        command = ['nginx', '-p', WORK, '-c', path, '-e', 'stderr',
                   '-g', 'daemon off; pid %s/nginx.pid;' % WORK]
    return run(command, 'original', text, listeners)


def imported(text):
    placed, listeners = place(text)
    path = write('placed.' + ('cfg' if KIND == 'haproxy' else 'conf'), placed)
    made = subprocess.run([LFPROXYCTL, 'import', KIND, path], check=False,
                          stdout=subprocess.PIPE)
    if made.returncode not in (0, 1):
        sys.exit('import failed')
    ini = write('imported.ini', made.stdout.decode())
    return run([LFPROXY, '-c', ini], 'imported', text, listeners)


def main():
    with open(CASE, encoding='utf-8') as f:
        text = f.read().replace('@DIR@', os.path.join(WORK, 'tls'))
    if KIND == 'nginx' and 'stream {' not in text:
        text = 'events {}\nstream {\n%s}\n' % text
    # Which server a hash chooses differs; that it is one does not.
    hashed = re.search(r'balance source|stick on|\bhash \$', text)
    text = start_servers(text)
    theirs, ours, bad = original(text), imported(text), 0
    for key, expected in theirs.items():
        same = len(ours[key]) == len(expected) and \
            ('' in ours[key]) == ('' in expected) if hashed else ours[key] == expected
        if not same:
            bad += 1
            print('port %s, %s: %s has %s, lfproxy %s' % (
                *key, KIND, sorted(expected), sorted(ours[key])))
    print('%d kinds of clients, %d differ' % (len(theirs), bad))
    sys.exit(bad > 0 or not theirs)


main()
