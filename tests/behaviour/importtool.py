#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts a configuration of HAProxy or nginx, and then what lfproxyctl makes of it.

    importtool.py KIND CASE WORK LFPROXY LFPROXYCTL

A copy of the case is placed on this host: its listeners get ports and paths of
their own, its servers (10.*) and the clients that it names (192.0.2.*,
198.51.100.*, 203.0.113.*) become addresses in 127.0.0.0/8.  importcases.py has
the substitutions for what a test machine cannot have.  Both programs get this
copy, one after the other.

Each server answers the first bytes with its address in the case, and with what
has reached it: a PROXY header, the name in a TLS handshake, a client certificate.
Clients send the same bytes to each listener: plain text, HTTP, TLS hellos with
the names of the case, PROXY headers; where a listener has TLS they make a
handshake.  Every client must get the same answers from both programs, but for
the differences in importcases.py, which must be announced by the import and must
still be there.  Prints the substitutions and the differences.  The exit status
is 1 if a difference is unexpected, or an expected one is missing.
"""
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

import importcases

KIND, CASE, WORK, LFPROXY, LFPROXYCTL = sys.argv[1:]
NAME = os.path.splitext(os.path.basename(CASE))[0]
KEY = '%s/%s' % (KIND, NAME)
TLS = os.path.join(WORK, 'tls')
SERVER = re.compile(r'(?<![\w.])10\.\d+\.(\d+\.\d+):(\d+)\b')
SERVER6 = re.compile(r'2001:db8::1:80\b')
SNI = re.compile(r'\b(?:[a-z0-9-]+\.)+example\.(?:com|net|org)\b')
# Addresses of documentation, which stand for clients.
CLIENT = re.compile(r'\b(?:192\.(0\.2)|198\.(51\.100)|203\.(0\.113))\.(\d+)(/\d+)?')
MODULE = '/usr/lib/nginx/modules/ngx_stream_module.so'
DEADLINE = 20
TRIES = 3
HEADER = b'PROXY TCP4 127.9.9.9 127.0.0.1 1000 443\r\n'
HEADER2 = b'\r\n\r\n\0\r\nQUIT\n'


class Listener:
    """An address that both programs listen at."""

    def __init__(self, label, address, options):
        self.label = label
        self.address = address
        self.udp = bool(re.search(r'\budp\b', options))
        self.tls = bool(re.search(r'\sssl\b', options))
        self.proxied = bool(re.search(r'accept-proxy|proxy_protocol', options))
        self.verify = bool(re.search(r'\bverify (?:required|optional)', options))
        self.disabled = False
        self.family = socket.AF_UNIX if isinstance(address, str) else \
            socket.AF_INET6 if ':' in address[0] else socket.AF_INET

    def connect(self, source=None):
        sock = socket.socket(self.family, socket.SOCK_DGRAM if self.udp
                             else socket.SOCK_STREAM)
        try:
            sock.settimeout(DEADLINE)
            if source and self.family == socket.AF_INET:
                sock.bind((source, 0))
            sock.connect(self.address)
        except BaseException:
            sock.close()
            raise
        return sock


class Place:
    """The copy of a case that runs on this host."""

    def __init__(self):
        self.ports = {}     # port of the case: port here
        self.held = []      # sockets that keep these ports from others
        self.listeners = []
        self.servers = {}   # address of the case: address here
        self.sources = {'127.0.0.1'}

    def port(self, old, wanted=0):
        """The port that stands for one of the case."""
        old = int(old)
        if old not in self.ports:
            self.ports[old] = self.hold(wanted)
        return self.ports[old]

    def hold(self, port):
        sock = socket.socket()
        # Bound, but not listening: lfproxy and others can bind here, as they set
        # SO_REUSEADDR too, and the kernel chooses the port for nobody else.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(('127.0.0.1', port))
        self.held.append(sock)
        return sock.getsockname()[1]

    def hold_ranges(self, ranges):
        """Ports that follow each other, for each range."""
        for first, last in ranges:
            for _ in range(100):
                kept, ports = len(self.held), dict(self.ports)
                try:
                    # Among those that the kernel chooses few follow each other.
                    start = random.randrange(12000, 32000)
                    for old in range(first, last + 1):
                        self.port(old, start + old - first)
                    break
                except (OSError, OverflowError):
                    for sock in self.held[kept:]:
                        sock.close()
                    self.held, self.ports = self.held[:kept], ports
            else:
                sys.exit('no free ports')

    def server(self, match):
        name = match[0]
        if name not in self.servers:
            self.servers[name] = start_server(name, '127.10.' + match[1])
        return '%s:%d' % self.servers[name]

    def server6(self, match):
        if match[0] not in self.servers:
            self.servers[match[0]] = start_server(match[0], '::1')
        return '%s:%d' % self.servers[match[0]]

    def client(self, match):
        net = '127.%s' % (match[1] or match[2] or match[3])
        if match[5]:
            self.sources.add(net + '.1')
        else:
            self.sources.add('%s.%s' % (net, match[4]))
        return '%s.%s%s' % (net, match[4], match[5] or '')

    def path(self, match):
        name = os.path.basename(match[0])
        path = os.path.join(WORK, name)
        if name in ('a.sock', 'b.sock') and name not in self.servers:
            self.servers[name] = path
            start_server(name, path)
        return path

    def listen(self, address, options):
        """Places one address of a listener."""
        quote = '"' if address.startswith('"') else ''
        address = address.strip('"')
        kind, at, rest = address.rpartition('@')
        if kind == 'abns':
            name = '%s-%d' % (rest, os.getpid())
            raw = b'\0' + name.encode()
            self.listeners.append(Listener(
                address, (raw + bytes(108 - len(raw))).decode(), options))
            return kind + at + name
        if '/' in rest:
            path = self.path(re.match(r'.*', rest))
            self.listeners.append(Listener(os.path.basename(path), path, options))
            return kind + at + ('unix:' if rest.startswith('unix:') else '') + path
        host, colon, port = rest.rpartition(':') if not rest.isdigit() else ('', '', rest)
        if port.startswith('$') or '${' in rest:
            host, colon, port = re.match(r'(.*?)(:)(\$.*)', rest).groups()
        numbers = re.search(r'(\d+)(?:-(\d+))?\}?$', port)
        if not numbers:
            # A variable that the case sets itself.
            name = port.strip('${}')
            numbers = re.search(r'@%s@(\d+)()' % name, self.variables)
            placed = port
        else:
            placed = port.replace(numbers[1], str(self.port(numbers[1])), 1)
            if numbers[2]:
                placed = '%d-%d' % (self.port(numbers[1]), self.port(numbers[2]))
        if ':' in host:
            here = '::1'
        elif host.startswith('127.') and host != '127.0.0.1':
            here = host
        else:
            here = '127.0.0.1'
        for old in range(int(numbers[1]), int(numbers[2] or numbers[1]) + 1):
            self.listeners.append(Listener(
                ('[%s]:%d' if here == '::1' else '%s:%d') % (here, old)
                if here != '127.0.0.1' else str(old), (here, self.port(old)), options))
        written = here if here != '::1' or KIND == 'haproxy' and '[' not in host \
            else '[::1]'
        return '%s%s%s:%s%s' % (quote, kind + at, written, placed, quote)

    def text(self, text):
        """Places the text of one file."""
        setenv = re.findall(r'setenv (\w+) (\d+)', text)
        self.variables = ''.join('@%s@%s' % pair for pair in setenv)
        text = re.sub(r'(setenv \w+ )(\d+)', lambda m: m[1] + str(self.port(m[2])), text)
        text = CLIENT.sub(self.client, text)
        text = re.sub(r'\b(source|proxy_bind) 10\.\d+\.', r'\1 127.0.', text)
        text = SERVER.sub(self.server, text)
        text = SERVER6.sub(self.server6, text)
        word = 'bind' if KIND == 'haproxy' else 'listen'
        # In a line of its own, or behind `{` and `;` of nginx.
        known = len(self.listeners)
        pattern = re.compile(r'(^\s*|[{;]\s*)%s (\S+?)(?=[\s;]|$)([^;\n]*)' % word, re.M)
        text = pattern.sub(lambda m: '%s%s %s%s' % (m[1], word, ','.join(
            self.listen(one, m[3]) for one in m[2].split(',')), m[3]), text)
        for section in re.split(r'^(?=\w)', text, flags=re.M):
            for listener in self.listeners[known:]:
                if re.search(r'^\s+disabled$', section, re.M):
                    listener.disabled |= ':%s\n' % listener.address[1] in section
        text = re.sub(r'/run/app/\w+\.sock', self.path, text)
        text = re.sub(r'(dst_port\s+(?:[gl][et]\s+)?)(\d+)',
                      lambda m: m[1] + str(self.port(m[2])), text)
        text = re.sub(r'^(\s+)(\d{4,5})(\s+\w+;)$',
                      lambda m: m[1] + str(self.port(m[2])) + m[3], text, flags=re.M)
        return re.sub(r'@PORT:(\d+)@', lambda m: str(self.port(m[1])), text)


def header_of(data):
    """What a PROXY header at the start of the data says, and its length; None as
    the length where the data ends too soon."""
    if data.startswith(b'PROXY '):
        end = data.find(b'\r\n')
        words = data[:max(end, 0)].decode().split()
        return ' proxy=v1,%s' % ''.join(words[2:3]), end + 2 if end >= 0 else None
    if not data.startswith(HEADER2):
        return '', None if HEADER2.startswith(data) else 0
    if len(data) < 16 or len(data) < 16 + int.from_bytes(data[14:16], 'big'):
        return '', None
    end = 16 + int.from_bytes(data[14:16], 'big')
    at, told = 28, ' proxy=v2,' + socket.inet_ntoa(data[16:20])
    while at + 3 <= end:
        kind, size = data[at], int.from_bytes(data[at + 1:at + 3], 'big')
        value = data[at + 3:at + 3 + size]
        if kind == 0x20:
            told += ',tls=%d' % value[0]
            name = value.find(b'test client')
            told += ',cn' if name >= 0 else ''
        at += 3 + size
    return told, end


def reply(conn, name):
    """Reads what the client sends first, and answers it."""
    data = b''
    while True:
        more = conn.recv(4096)
        if not more:
            return
        data += more
        told, used = header_of(data)
        if used is not None and len(data) > used:
            break
    text = (name + told + '\n').encode()
    if data[used:].startswith(b'GET '):
        path = data[used:].split()[1]
        text = b'%s %s' % (path, text)
        text = b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' % \
            len(text) + text
    conn.sendall(text)


def server_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(TLS, 'rsa.pem'))
    context.load_verify_locations(os.path.join(TLS, 'ca.pem'))
    context.verify_mode = ssl.CERT_OPTIONAL
    context.set_alpn_protocols(['h2', 'http/1.1'])
    # A resumed session tells what the client said in an earlier one.
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0

    def note(sock, asked, _):
        sock.asked = asked
    context.sni_callback = note
    return context


def talk(conn, name):
    try:
        with conn:
            conn.settimeout(DEADLINE)
            first = conn.recv(1, socket.MSG_PEEK)
            if first != b'\x16' or name not in TLS_SERVERS:
                reply(conn, name)
                return
            with CONTEXT.wrap_socket(conn, server_side=True) as inner:
                told = ' tls,name=%s,alpn=%s,client=%s' % (
                    getattr(inner, 'asked', None), inner.selected_alpn_protocol(),
                    bool(inner.getpeercert()))
                reply(inner, name + told)
    except (OSError, ValueError):
        pass


def serve(listener, name):
    """Answers the first bytes of each client with the name."""
    while True:
        try:
            conn, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=talk, args=(conn, name), daemon=True).start()


def serve_datagrams(sock, name):
    while True:
        _, client = sock.recvfrom(4096)
        sock.sendto(name.encode() + b'\n', client)


def start_server(name, host, port=0):
    """Returns its address."""
    if '/' in host:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(host)
        listener.listen(100)
        os.chmod(host, 0o666)
    else:
        listener = socket.create_server(
            (host, port), backlog=100,
            family=socket.AF_INET6 if ':' in host else socket.AF_INET)
        datagrams = socket.socket(listener.family, socket.SOCK_DGRAM)
        try:
            datagrams.bind(listener.getsockname()[:2])
            threading.Thread(target=serve_datagrams, args=(datagrams, name),
                             daemon=True).start()
        except OSError:
            datagrams.close()
    threading.Thread(target=serve, args=(listener, name), daemon=True).start()
    return listener.getsockname()[:2]


def resolve(sock, names):
    """Answers DNS questions: {name: [address]}, {_service: [(port, target)]}."""
    def coded(name):
        return b''.join(bytes([len(part)]) + part.encode()
                        for part in name.split('.')) + b'\0'

    def record(name, kind, data):
        return coded(name) + kind.to_bytes(2, 'big') + b'\0\1\0\0\0\x3c' + \
            len(data).to_bytes(2, 'big') + data

    while True:
        data, client = sock.recvfrom(4096)
        at, parts = 12, []
        while data[at]:
            parts.append(data[at + 1:at + 1 + data[at]].decode())
            at += 1 + data[at]
        kind, name = int.from_bytes(data[at + 1:at + 3], 'big'), '.'.join(parts).lower()
        found, extra = [], []
        for value in names.get(name, []):
            if kind == 33 and isinstance(value, tuple):
                found.append(record(name, 33, b'\0\1\0\x64' + value[0].to_bytes(2, 'big') +
                                    coded(value[1])))
                extra += [record(value[1], 1, socket.inet_aton(a)) for a in names[value[1]]]
            elif kind == 1 and isinstance(value, str):
                found.append(record(name, 1, socket.inet_aton(value)))
        code = 0 if name in names else 3
        sock.sendto(data[:2] + bytes([0x84 | data[2] & 1, 0x80 | code]) + b'\0\1' +
                    len(found).to_bytes(2, 'big') + b'\0\0' +
                    len(extra).to_bytes(2, 'big') + data[12:at + 5] +
                    b''.join(found + extra), client)


def start_resolver(place):
    """Two name servers, and the servers behind the names of the case."""
    names = {}
    for name, values in importcases.NAMES.get(KEY, {}).items():
        names[name] = []
        for value in values:
            if isinstance(value, tuple):
                names[name].append((place.port(value[0]), value[1]))
            else:
                address, *ports = value.split()
                names[name].append(address)
                for port in ports:
                    start_server('%s:%s' % (address, port), address, place.port(port))
    found = []
    for _ in range(2):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(('127.0.0.1', 0))
        threading.Thread(target=resolve, args=(sock, names), daemon=True).start()
        found.append('127.0.0.1:%d' % sock.getsockname()[1])
    return found


def client_context(protocols, certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(protocols)
    if certificate:
        context.load_cert_chain(os.path.join(TLS, 'client.pem'))
    return context


def hello(name, protocols):
    """The first bytes of a TLS client that asks for the name."""
    sent = ssl.MemoryBIO()
    client = client_context(protocols, False).wrap_bio(
        ssl.MemoryBIO(), sent, server_hostname=name)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return sent.read()


def read_answer(sock):
    data = sock.recv(4096)
    if data[:1] in (b'\x15', b'\x16'):
        return 'a TLS handshake'
    if not data.startswith(b'HTTP/'):
        return data.decode().strip()
    while True:
        more = sock.recv(4096)
        if not more:
            break
        data += more
    head, _, body = data.decode().partition('\r\n\r\n')
    status = head.split()[1]
    return body.strip() if status == '200' else 'HTTP status ' + status


def answer(listener, probe):
    """What a client gets: the server's answer, or '' if it was closed."""
    source, what, handshake = probe
    try:
        with listener.connect(source) as sock:
            if not handshake:
                sock.sendall(what)
                return read_answer(sock)
            name, context = handshake
            with context.wrap_socket(sock, server_hostname=name) as inner:
                inner.sendall(what)
                return read_answer(inner)
    except TimeoutError:
        return 'nothing in time'
    except OSError:
        return ''


def handshakes(listener, names):
    """{label: (name, context)} of clients of a listener that has TLS."""
    offers = [[], ['h2', 'http/1.1', 'mqtt'], ['http/1.1', 'mqtt'], ['other']]
    found = {}
    for protocols in offers:
        for certificate in ([False, True] if listener.verify else [False]):
            context = client_context(protocols, certificate)
            for name in names:
                found['%s %s%s' % (name, protocols, ' certificate' * certificate)] = \
                    (name, context)
    return found


def probes(text, listener, sources):
    """{label: (source, bytes, handshake)} of the clients of a listener."""
    names = sorted(set(SNI.findall(text)))
    # HAProxy's strict-sni takes a certificate's wildcard for one label.
    names += [] if listener.tls else ['x.' + name for name in names]
    names.append('elsewhere.example.edu')
    http = {}
    if re.search(r'mode +http|http \{', text):
        for path, host in (('/', 'www'), ('/api/x', 'www'), ('/', 'admin')):
            http['GET %s %s' % (path, host)] = (
                'GET %s HTTP/1.1\r\nHost: %s.example.com\r\nConnection: close\r\n\r\n' %
                (path, host)).encode()
    if listener.udp:
        return {'datagram': (None, b'hello\n', None)}
    found = {}
    if listener.tls:
        for label, handshake in handshakes(listener, names).items():
            found[label] = (None, b'hello\n', handshake)
        for label, what in http.items():
            found['TLS ' + label] = (None, what, found[
                "%s ['http/1.1', 'mqtt']" % names[0]][2])
        return found
    for alpn in ([], ['h2', 'http/1.1']):
        for name in names:
            found['%s %s' % (name, alpn)] = (None, hello(name, alpn), None)
    found['no name'] = (None, hello(None, []), None)
    found['plain'] = (None, b'hello\n', None)
    for label, what in http.items():
        found[label] = (None, what, None)
    for source in sources:
        if source != '127.0.0.1' and listener.family == socket.AF_INET:
            for label in ('plain', names[0] + ' []'):
                found['%s from %s' % (label, source)] = (source, found[label][1], None)
    if listener.proxied or 'expect-proxy' in text:
        for label in list(found):
            source, what, _ = found[label]
            found[label + ' behind a header'] = (source, HEADER + what, None)
    return found


def all_answers(asked, rounds):
    found = {}
    for (listener, label), probe in asked.items():
        found[listener.label, label] = {answer(listener, probe) for _ in range(rounds)}
    return found


def wait_until_ready(program, listeners):
    limit = time.monotonic() + DEADLINE
    for listener in listeners:
        while True:
            try:
                listener.connect().close()
                break
            except OSError:
                if program.poll() is not None or time.monotonic() > limit:
                    sys.exit('%s does not listen at %s: see its output in %s' % (
                        program.args[0], listener.label, WORK))
                time.sleep(0.02)


def is_resolved(answers):
    """Whether all servers whose names are looked up have been seen."""
    found = set().union(*answers.values())
    return KEY not in importcases.ANSWERS or \
        ('' not in found and len(found) == importcases.ANSWERS[KEY])


def run(command, label, listeners, asked):
    for listener in listeners:
        # What the program before has left.
        if isinstance(listener.address, str) and os.path.exists(
                listener.address.replace('\0', '@')):
            os.unlink(listener.address)
    with open(os.path.join(WORK, label + '.log'), 'wb') as log:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, start_new_session=True)
    rounds = importcases.ROUNDS.get(KEY, importcases.ROUNDS_ELSE)
    limit = time.monotonic() + DEADLINE
    try:
        wait_until_ready(program, listeners)
        answers = all_answers(asked, rounds)
        # Names are looked up after the start.
        while not is_resolved(answers) and time.monotonic() < limit:
            answers = all_answers(asked, rounds)
        return answers
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
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as out:
        out.write(text)
    return path


def original_command(text):
    if KIND == 'haproxy':
        return ['haproxy', '-db', '-f', write('original.cfg', text)]
    user = 'user root;\n' if os.geteuid() == 0 else ''
    path = write('original.conf', 'load_module %s;\n%s%s' % (MODULE, user, text))
    return ['nginx', '-p', WORK, '-c', path, '-e', 'stderr',
            '-g', 'daemon off; pid %s/nginx.pid;' % WORK]


def import_text(text):
    """Returns the path of the import and whether it says that clients see a
    difference."""
    path = write('placed.' + ('cfg' if KIND == 'haproxy' else 'conf'), text)
    made = subprocess.run([LFPROXYCTL, 'import', KIND, path], check=False,
                          stdout=subprocess.PIPE)
    if made.returncode not in (0, 1):
        sys.exit('import failed')
    return write('imported.ini', made.stdout.decode()), made.returncode == 1


def is_imported(listener, ini):
    address = listener.address
    if listener.udp:
        return False
    if isinstance(address, tuple):
        host = '[%s]' % address[0] if ':' in address[0] else address[0]
        for line in re.findall(r'^listen = (\S+)', ini, re.M):
            at, _, ports = line.rpartition(':')
            first, _, last = re.sub(r'\$\{\w+:-|\}', '', ports).partition('-')
            if re.sub(r':\$.*', '', at) == host and first.isdigit() and \
                    int(first) <= address[1] <= int(last or first):
                return True
            if line == '%s:${PORT:-%d}' % (host, address[1]):
                return True
        return False
    return 'listen = unix:' + address in ini


def substitute(text):
    """What a test machine cannot have, or is not compared."""
    for pattern, by, reason in importcases.SUBSTITUTIONS:
        kinds, _, pattern = pattern.partition(' ')
        if kinds not in (KIND, KEY, 'all'):
            continue
        text, n = re.subn(pattern, by.replace('@WORK@', WORK), text, flags=re.M)
        if n:
            print('substituted %d times: %s' % (n, reason))
        elif kinds == KEY:
            sys.exit('nothing to substitute any more: %s' % pattern)
    return text


def compare(theirs, ours, hashed):
    """The keys whose answers differ."""
    differ = []
    for key, expected in theirs.items():
        got = ours[key]
        # Which server a hash chooses differs; that it is one does not.
        if got != expected and not (hashed and len(got) == len(expected) and
                                    ('' in got) == ('' in expected)):
            differ.append(key)
    return differ


def run_both(placed, listeners, asked, hashed):
    """Returns the number of clients whose answers are not as expected."""
    tcp = [listener for listener in listeners
           if not listener.udp and not listener.disabled]
    theirs = run(original_command(placed), 'original', tcp, asked)
    ini, announced = import_text(placed)
    with open(ini, encoding='utf-8') as f:
        made = f.read()
    ours = run([LFPROXY, '-c', ini], 'imported',
               [listener for listener in tcp if is_imported(listener, made)], asked)

    bad, expected = 0, importcases.DIFFERENCES.get(KEY, [])
    missing = [list(one) for one in expected]
    for key in compare(theirs, ours, hashed):
        label = 'port %s, %s' % key
        reasons = [one for one in expected if re.fullmatch(one[0], label)]
        missing = [one for one in missing if tuple(one) not in reasons]
        if not reasons or not announced:
            bad += 1
        print('%s: %s has %s, lfproxy %s%s' % (
            label, KIND, sorted(theirs[key]), sorted(ours[key]),
            ': expected: ' + reasons[0][1] if reasons else ''))
    for pattern, reason in missing:
        bad += 1
        print('expected, but no difference: %s: %s' % (pattern, reason))
    served = {a for answers in theirs.values() for a in answers if a}
    print('%d kinds of clients, %d answers, %d not as expected' % (
        len(theirs), len(served), bad))
    return bad + (not served)


def main():
    global TLS_SERVERS, CONTEXT
    with open(CASE, encoding='utf-8') as f:
        text = f.read().replace('@DIR@', TLS)
    if KIND == 'nginx' and 'stream {' not in text:
        text = 'events {}\nstream {\n%s}\n' % text
    text = substitute(text)
    hashed = re.search(r'balance source|stick on|\bhash \$', text)
    CONTEXT = server_context()
    TLS_SERVERS = set(re.findall(r'server \S+ (\S+) (?:.* )?ssl\b', text))
    if 'proxy_ssl on' in text:
        TLS_SERVERS.update(m[0] for m in SERVER.finditer(text))

    place = Place()
    place.hold_ranges((int(first), int(last)) for first, last in re.findall(
        r'\b(?:bind|listen) \S*?\b(\d+)-(\d+)\b', text))
    for label, host, port, more in importcases.SERVERS.get(KEY, []):
        start_server(label, host, place.port(port) + more)
    if KEY in importcases.NAMES:
        for resolver in start_resolver(place):
            text = text.replace('@RESOLVER@', resolver, 1)
    placed = place.text(text)
    everything = text
    if 'include conf.d/' in text:
        folder = os.path.join(os.path.dirname(CASE), 'conf.d')
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                part = f.read()
            everything += part
            write('conf.d/' + name, place.text(part))

    asked = {}
    for listener in place.listeners:
        for label, probe in probes(everything, listener, sorted(place.sources)).items():
            asked[listener, label] = probe
    # After a failed connection nginx sets a server aside for 10 s.
    for _ in range(TRIES):
        bad = run_both(placed, place.listeners, asked, hashed)
        if not bad:
            break
        print('------')
    sys.exit(bad > 0)


main()
