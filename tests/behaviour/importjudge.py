#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes configurations of HAProxy or nginx, and lets the original program judge
what lfproxyctl makes of them.

    importjudge.py long|steady KIND FIRST COUNT WORK LFPROXY LFPROXYCTL TLS

The steady form leaves out what depends on time: silent clients, short timeouts,
sessions that wait. Seed FIRST and the COUNT - 1 seeds behind it determine a configuration each: some
features of importgrammar.py, put together.  Its facts give the probes: each
listener with each name, protocol and version, without a hello, silent, with
either side half-closed, from addresses inside and outside each rule, with more
sessions than each limit, and servers that are dead or that reset.  The original
and lfproxy run beside each other, each with servers of its own.  What clients get
and what servers see must be the same, unless the import says that clients or
servers may notice something.  A difference counts once it has shown three
times, with longer waits each time.

Prints each difference and the totals.  The exit status is 1 if a difference was
not said, or lfproxy refuses a converted file.
"""
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

import importgrammar

FORM, KIND, FIRST, COUNT, WORK, LFPROXY, LFPROXYCTL, TLS = sys.argv[1:]
STEADY = FORM == 'steady'
# How long a client waits for bytes.
WINDOW = 10 if STEADY else 0.7
MODULE = '/usr/lib/nginx/modules/ngx_stream_module.so'
DEADLINE = 60
HEADER2 = b'\r\n\r\n\0\r\nQUIT\n'
VERSIONS = {'1.2': ssl.TLSVersion.TLSv1_2, '1.3': ssl.TLSVersion.TLSv1_3}


def split_header(data):
    """The client's address in a PROXY header, and the data behind it."""
    if data.startswith(b'PROXY '):
        line, _, rest = data.partition(b'\r\n')
        return b' '.join(line.split()[1:4]).decode(), rest
    if data.startswith(HEADER2) and len(data) >= 16:
        size = 16 + int.from_bytes(data[14:16], 'big')
        family = {0x11: 'TCP4'}.get(data[13], '%#x' % data[13])
        return 'v2 %s %s' % (family, socket.inet_ntoa(data[16:20].ljust(4, b'\0'))), \
            data[size:]
    return '', data


def tls_context(server, offer=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server
                             else ssl.PROTOCOL_TLS_CLIENT)
    if server:
        context.load_cert_chain(os.path.join(TLS, 'rsa.pem'))
    else:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    alpn, version, certificate = offer or ((), None, False)
    if certificate:
        context.load_cert_chain(os.path.join(TLS, 'client.pem'))
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if version:
        context.minimum_version = context.maximum_version = VERSIONS[version]
    return context


def hello(name, offer):
    """The first bytes of a TLS client."""
    sent = ssl.MemoryBIO()
    try:
        tls_context(False, offer).wrap_bio(
            ssl.MemoryBIO(), sent, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return sent.read()


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    sock.close()


def is_listening(port):
    """Whether a program listens at the port: no session is made to find out."""
    with open('/proc/net/tcp', encoding='ascii') as lines:
        return any(x[1].endswith(':%04X' % port) and x[3] == '0A'
                   for x in (line.split() for line in lines))


class Side:
    """One of the two programs, its ports and its servers."""

    def __init__(self, config, name):
        self.name = name
        self.log = []       # what servers have seen, by session
        self.sockets = []
        self.ports = {}
        self.program = None
        for label in config.listens:
            self.ports[label] = self.hold()
        for label, how in config.servers.items():
            self.ports[label] = self.hold() if how == 'dead' else self.serve(label, how)

    def hold(self):
        """A port that nobody else is given, and where nobody listens."""
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(('127.0.0.1', 0))
        self.sockets.append(sock)
        return sock.getsockname()[1]

    def serve(self, label, how):
        listener = socket.create_server(('127.0.0.1', 0), backlog=50)
        self.sockets.append(listener)

        def accept():
            while True:
                try:
                    conn, _ = listener.accept()
                except OSError:
                    return
                seen = {'server': label, 'header': '', 'data': b'', 'end': ''}
                self.log.append(seen)
                if how == 'reset':
                    seen['end'] = 'reset by server'
                    reset(conn)
                    continue
                threading.Thread(target=self.talk, args=(conn, seen, how),
                                 daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        return listener.getsockname()[1]

    def talk(self, conn, seen, how):
        """Answers the first bytes as they ask for, and notes all of them."""
        try:
            conn.settimeout(DEADLINE)
            if how == 'tls':
                seen['data'] = conn.recv(1, socket.MSG_PEEK)
                if seen['data'] != b'\x16':
                    raise OSError
                conn = tls_context(True).wrap_socket(conn, server_side=True)
                seen['data'] = b''
            with conn:
                self.answer(conn, seen)
            seen['end'] = 'end'
        except OSError:
            seen['end'] = 'end' if not seen['data'] else 'error'

    @staticmethod
    def answer(conn, seen):
        raw, first = b'', True
        while True:
            more = conn.recv(65536)
            if not more:
                break
            raw += more
            seen['header'], seen['data'] = split_header(raw)
            if first and seen['data']:
                first = False
                # TLS of Python does not end one direction alone.
                if seen['data'].startswith(b'finish\n') and \
                        not isinstance(conn, ssl.SSLSocket):
                    conn.sendall(b'bye\n')
                    conn.shutdown(socket.SHUT_WR)
                elif not seen['data'].startswith(b'half-close\n'):
                    conn.sendall(seen['server'].encode() + b'\n')
        if seen['data'].startswith(b'half-close\n'):
            conn.sendall(b'late\n')

    def render(self, text):
        for label, port in self.ports.items():
            text = text.replace('@%s@' % label, str(port))
        return text.replace('@TLS@', TLS).replace('@WORK@', WORK)

    def start(self, command, label):
        with open(os.path.join(WORK, self.name + '.log'), 'wb') as log:
            self.program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True)
        limit = time.monotonic() + DEADLINE
        while not is_listening(self.ports[label]):
            if self.program.poll() is not None or time.monotonic() > limit:
                return False
            time.sleep(0.05)
        return True

    def settle(self, since):
        """Waits for the ends of all sessions at servers.  Returns what they saw."""
        limit = time.monotonic() + 2 * WINDOW
        while time.monotonic() < limit and any(not x['end'] for x in self.log[since:]):
            time.sleep(0.005)
        return self.log[since:]

    def stop(self):
        if self.program and self.program.poll() is None:
            os.killpg(self.program.pid, signal.SIGKILL)
            self.program.wait()
        for sock in self.sockets:
            sock.close()

    # -- clients --

    def connect(self, probe):
        sock = socket.socket()
        sock.settimeout(WINDOW * probe.patience)
        sock.bind((probe.source, 0))
        sock.connect(('127.0.0.1', self.ports[probe.listen]))
        if probe.header:
            sock.sendall(b'PROXY TCP4 %s 127.0.0.1 1000 443\r\n' % probe.header.encode())
        if probe.handshake:
            sock = tls_context(False, probe.offer).wrap_socket(
                sock, server_hostname=probe.name)
        return sock

    @staticmethod
    def read(sock, line=False):
        """What arrives, and how it ended: 'open' is nothing more in time."""
        data = b''
        try:
            while True:
                more = sock.recv(65536)
                if not more:
                    return data, 'closed'
                data += more
                if line and data.endswith(b'\n'):
                    return data, 'answered'
        except TimeoutError:
            return data, 'open'
        except OSError:
            return data, 'closed'

    def ask(self, probe):
        """What the client gets: bytes, and how it ended."""
        try:
            sock = self.connect(probe)
        except TimeoutError:
            return b'', 'open'
        except OSError:
            return b'', 'closed'
        with sock:
            try:
                if probe.kind == 'silent':
                    return self.read(sock)
                sock.sendall(hello(probe.name, probe.offer) if probe.kind == 'hello'
                             else probe.kind.encode() + b'\n')
                if probe.kind == 'half-close':
                    if probe.handshake:
                        return self.read(sock, True)
                    sock.shutdown(socket.SHUT_WR)
                    return self.read(sock)
                if probe.kind == 'finish':
                    got = self.read(sock)
                    sock.sendall(b'more\n')
                    # An answer to bytes for a closed session is a reset.
                    return got
                return self.read(sock, True)
            except OSError:
                return b'', 'closed'
            finally:
                self.say_goodbye(sock)

    @staticmethod
    def say_goodbye(sock):
        """Sends close_notify, without which lfproxy resets the server's side."""
        if isinstance(sock, ssl.SSLSocket):
            try:
                sock.settimeout(0)
                sock.unwrap()
            except OSError:
                pass

    def hold_sessions(self, probe):
        """How many of several sessions at once get an answer."""
        answers, socks = [], []
        for _ in range(probe.sessions):
            try:
                sock = self.connect(probe)
                socks.append(sock)
                sock.sendall(hello(probe.name, probe.offer) if probe.name
                             else b'hold\n')
                answers.append(self.read(sock, True))
            except OSError:
                answers.append((b'', 'closed'))
        for sock in socks:
            self.say_goodbye(sock)
            sock.close()
        return answers

    def probe(self, probe):
        """What client and servers see."""
        since = len(self.log)
        got = self.hold_sessions(probe) if probe.sessions else [self.ask(probe)]
        seen = self.settle(since)
        if probe.lenient:
            # The bytes behind an end are lost, unless they come with its
            # acknowledgement.
            return [end for _, end in got]
        return [(probe.plain(data), end) for data, end in got], sorted(
            (probe.plain(x['server'].encode()), x['header'],
             'hello' if x['data'][:1] == b'\x16' else x['data'].decode(errors='replace'),
             x['end']) for x in seen)


def original_command(path):
    if KIND == 'haproxy':
        return ['haproxy', '-db', '-f', path]
    return ['nginx', '-p', WORK, '-c', path, '-e', 'stderr',
            '-g', 'daemon off; pid %s/nginx.pid;' % WORK]


def write(name, text):
    path = os.path.join(WORK, name)
    with open(path, 'w', encoding='utf-8') as out:
        out.write(text)
    return path


def original_text(text):
    if KIND == 'haproxy':
        return text
    return 'load_module %s;\n%s%s' % (
        MODULE, 'user root;\n' if os.geteuid() == 0 else '', text)


class Judge:
    def __init__(self):
        self.totals = dict.fromkeys(
            ('compared', 'exact', 'probes', 'said', 'unsaid', 'refused', 'left out'), 0)

    def run(self, seed, patience):
        """[(probe, theirs, ours)] that differ, the import's status and its result."""
        config = importgrammar.make(KIND, seed, STEADY)
        for name, text in config.files.items():
            write(name, text)
        sides = Side(config, 'original'), Side(config, 'imported')
        try:
            placed = sides[1].render(config.text)
            path = write('placed', placed)
            made = subprocess.run([LFPROXYCTL, 'import', KIND, path], text=True,
                                  capture_output=True, check=False)
            if made.returncode == 2:
                return None, 2, made.stderr, config
            ini = write('imported.ini', made.stdout)
            checked = subprocess.run([LFPROXY, '-t', '-c', ini], text=True,
                                     capture_output=True, check=False)
            if checked.returncode:
                return None, 3, checked.stderr, config
            their_path = write('original.cfg',
                               original_text(sides[0].render(config.text)))
            first = next(iter(config.listens))
            for side, command, status in (
                    (sides[0], original_command(their_path), 4),
                    (sides[1], [LFPROXY, '-c', ini], 3)):
                if not side.start(command, first):
                    with open(os.path.join(WORK, side.name + '.log'),
                              encoding='utf-8') as log:
                        return None, status, 'no start: ' + log.read(), config
            return self.compare(config, sides, patience), made.returncode, \
                made.stdout, config
        finally:
            for side in sides:
                side.stop()

    def compare(self, config, sides, patience):
        differ = []
        for probe in config.probes:
            probe.patience = patience
            self.totals['probes'] += 1
            results = [None, None]

            def ask(i, probe=probe, results=results):
                results[i] = sides[i].probe(probe)
            other = threading.Thread(target=ask, args=(1,))
            other.start()
            ask(0)
            other.join()
            if results[0] != results[1]:
                differ.append((probe, *results))
        return differ

    def judge(self, seed):
        differ, status, text, config = self.run(seed, 1)
        for patience in (2, 4):
            if differ:
                again, status, text, config = self.run(seed, patience)
                differ = [x for x in again or []
                          if str(x[0]) in [str(y[0]) for y in differ]]
        if status in (2, 4):
            self.totals['left out'] += 1
            lines = [x for x in text.split('\n') if 'ALERT' in x or 'emerg' in x] or \
                text.split('\n')
            print('seed %d, %s: left out: %s' % (seed, ' + '.join(config.features), lines[0]))
            return
        if status == 3:
            self.totals['refused'] += 1
            print('seed %d: lfproxy refuses the result: %s' % (seed, text))
            return
        self.totals['compared'] += 1
        self.totals['exact'] += status == 0
        if differ:
            self.totals['said' if status else 'unsaid'] += 1
            self.report(seed, differ, status, text, config)

    @staticmethod
    def report(seed, differ, status, text, config):
        print('seed %d, %s: differs%s' % (
            seed, ' + '.join(config.features), ', as was said' if status else ''))
        for probe, theirs, ours in differ[:6]:
            print('  %s:\n    %s: %s\n    lfproxy: %s' % (probe, KIND, theirs, ours))
        if not status:
            print(config.text + '-- is --\n' + text)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    judge = Judge()
    os.makedirs(WORK, exist_ok=True)
    for seed in range(int(FIRST), int(FIRST) + int(COUNT)):
        judge.judge(seed)
        sys.stdout.flush()
    print(', '.join('%d %s' % (n, name) for name, n in judge.totals.items()))
    sys.exit(judge.totals['unsaid'] + judge.totals['refused'] > 0)


if __name__ == '__main__':
    main()
