# SPDX-License-Identifier: MIT
"""Configurations for importjudge.py: features of HAProxy and of nginx, and the
probes that follow from them."""
import random

NAMES = ['a.test', 'b.test', 'x.a.test', 'y.x.a.test', 'other.test', 'aa.test']
OFFERS = [((), None, False), (('h2', 'http/1.1'), None, False), (('mqtt',), None, False),
          ((), '1.2', False), (('h2',), '1.2', False)]
NEAR, FAR = '127.20.5.1', '127.30.0.1'
SOURCES = ['127.0.0.1', NEAR, '127.20.6.1', FAR, '127.20.5.200']


# Features whose sessions wait, or end by a short timeout.
TIMED = ('hap_maxconn', 'hap_timeouts', 'hap_servers', 'hap_backups', 'ngx_timeouts',
         'ngx_preread', 'ngx_max_conns', 'ngx_servers')


class Probe:
    def __init__(self, listen, kind, **more):
        self.listen, self.kind = listen, kind
        self.source = '127.0.0.1'
        self.name, self.offer, self.header = None, OFFERS[0], ''
        self.handshake, self.sessions, self.patience = False, 0, 1
        self.group, self.lenient = {}, False
        self.__dict__.update(more)

    def plain(self, data):
        """The text of an answer, without what chance decides."""
        if data[:1] in (b'\x15', b'\x16'):
            return 'a TLS handshake'
        text = data.decode(errors='replace')
        for server, group in self.group.items():
            text = text.replace(server, group)
        return text

    def __str__(self):
        return ' '.join(str(x) for x in (
            self.listen, self.kind, self.name or '', self.offer if self.name else '',
            'from ' + self.source, self.header,
            'handshake' if self.handshake else '', self.sessions or '') if x)


class Config:
    """A configuration that features are added to."""

    def __init__(self, seed, steady):
        self.steady = steady
        self.random = random.Random(seed)
        self.listens = {'L0': ''}       # label: words behind the address
        self.servers = {}               # label: up, dead, reset, tls
        self.files, self.features = {}, []
        self.front, self.back = [], []  # lines of the frontend, the first backend
        self.more, self.top = [], []    # further sections, lines for all
        self.words = []                 # of each server of the first backend
        self.targets = {}               # further backends: their server
        self.names, self.sources = set(), set()
        self.probed, self.sessions = [], 0
        self.probes, self.group = [], {}
        self.proxied = self.tls = self.hello = self.down_first = False
        self.all_tls = False
        self.lenient = ()   # kinds of probes
        self.suffix = ''    # of each server of the first backend
        self.text = ''

    def server(self, how='up'):
        how = 'tls' if how == 'up' and self.all_tls else how
        label = 'S%d' % len(self.servers)
        self.servers[label] = how
        return label

    def pick(self, *choices):
        return self.random.choice(choices)

    def features_of(self, all_of_kind):
        """Some features of the kind."""
        usable = [x for x in all_of_kind if not self.steady or x.__name__ not in TIMED]
        for feature in self.random.sample(usable, self.pick(2, 2, 3)):
            self.features.append(feature.__name__)
            feature(self)

    def delay(self):
        """How long a hello is waited for."""
        return '1m' if self.steady else self.pick('300ms', '5s')

    def target(self):
        """Another backend, by its name."""
        if self.targets and self.random.random() < 0.5:
            return self.random.choice(list(self.targets))
        name = 'b%d' % (len(self.targets) + 1)
        self.targets[name] = self.server()
        return name

    def make_probes(self):
        r = self.random
        for listen in self.listens:
            common = {'group': self.group,
                      'handshake': self.tls and 'ssl' in self.listens[listen],
                      'header': '127.9.9.9' if self.proxied else ''}

            def add(kind, common=common, listen=listen, **more):
                self.probes.append(Probe(listen, kind, **{**common, **more}))
            names = sorted(self.names) or ['a.test']
            kinds = ('plain', 'half-close', 'finish', 'silent')
            for kind in kinds[:3] if self.steady else kinds:
                add(kind, lenient=kind in self.lenient)
            if self.proxied:
                add('plain', header='', lenient=True)
                add('plain', header=NEAR)
            for name in names + ['other.test', None]:
                for offer in OFFERS if self.hello else OFFERS[:2]:
                    if r.random() < 0.6 or name == names[0]:
                        add('plain' if common['handshake'] else 'hello', name=name,
                            offer=offer)
            for source in sorted(self.sources):
                add('plain', source=source)
                add('plain' if common['handshake'] else 'hello', source=source,
                    name=names[0])
            if common['handshake']:
                add('hello', handshake=False, name='a.test')
                add('plain', handshake=False)
                add('plain', name='a.test', offer=((), None, True))
            for _ in range(2):
                add('plain')
            if self.sessions:
                add('plain', sessions=self.sessions)
                add('plain', sessions=self.sessions, source=NEAR)
                add('plain')


# -- HAProxy --

def ranges(c):
    c.sources.update(SOURCES)
    return c.pick('127.20.0.0/16', '127.20.5.0/24', '127.20.5.1', '127.20.5.1 127.30.0.1',
                  '127.20.5.0/255.255.255.0', '127.20.5.0/25 127.30.0.0/16')


def source_test(c):
    if c.pick(0, 0, 1):
        name = 'list%d' % len(c.files)
        c.files[name] = '# some\n%s\n' % ranges(c).replace(' ', '\n')
        return 'src -f @WORK@/' + name
    return 'src ' + ranges(c)


def name_test(c):
    c.names.update(NAMES)
    c.hello = True
    return c.pick('req.ssl_sni -i a.test', 'req.ssl_sni a.test b.test', 'req_ssl_sni b.test',
                  'req.ssl_sni -m end .a.test', 'req.ssl_sni -i -m end a.test',
                  'req_ssl_sni -m reg -i ^(a|b)\\.test$', 'req.ssl_sni,lower -m str a.test',
                  'req.ssl_sni -m found', 'req.ssl_sni -m dom a.test',
                  'req.ssl_sni -m beg a')


def hello_test(c):
    c.hello = True
    c.names.add('a.test')
    return c.pick('req.ssl_hello_type 1', 'req.ssl_alpn h2', 'req.ssl_alpn mqtt',
                  'req.ssl_ver 3.3', 'req.ssl_ver 3.4', 'req.ssl_ver ge 3.3',
                  'req_ssl_hello_type 1', 'req.ssl_ver gt 3.3')


def condition(c, *tests):
    made = [c.pick('', '', '!') + '{ %s }' % c.pick(*tests)(c)
            for _ in range(c.pick(1, 1, 2))]
    if c.pick(0, 0, 0, 1):
        name = 'acl%d' % len(c.front)
        c.front.append('acl %s %s' % (name, c.pick(*tests)(c)))
        made.append(c.pick('', '!') + name)
    return '%s %s' % (c.pick('if', 'if', 'if', 'unless'),
                      c.pick(' ', ' ', ' or ', ' || ').join(made))


def hap_reject(c):
    c.front.append('tcp-request connection %s %s' % (
        c.pick('reject', 'reject', 'accept'), condition(c, source_test)))


def hap_reject_content(c):
    c.front += ['tcp-request inspect-delay %s' % c.delay(),
                'tcp-request content %s %s' % (
                    c.pick('reject', 'reject', 'accept'),
                    condition(c, hello_test, name_test, source_test))]


def hap_wait(c):
    c.front += ['tcp-request inspect-delay %s' % c.delay(),
                'tcp-request content accept if { %s }' % c.pick(
                    'req.ssl_hello_type 1', 'req_ssl_hello_type 1', 'req.len gt 0', 'req.len ge 5')]


def hap_route(c):
    if c.pick(0, 1):
        hap_wait(c)
    c.front.append('use_backend %s %s' % (
        c.target(), condition(c, name_test, hello_test, source_test, name_test)))


def hap_port(c):
    c.listens['L1'] = ''
    c.front.append('use_backend %s if { dst_port %s@L1@ }' % (c.target(), c.pick('', 'eq ')))


def hap_map(c):
    hap_wait(c)
    c.names.update(NAMES)
    kind = c.pick('map', 'map_str', 'map_dom', 'map_end')
    c.files['map'] = 'a.test %s\nb.test %s\n' % (c.target(), c.target())
    c.front.append('use_backend %%[req.ssl_sni%s,%s(@WORK@/map%s)]' % (
        c.pick('', ',lower'), kind, c.pick('', ',' + c.target())))


def hap_balance(c):
    c.back.append('balance ' + c.pick('roundrobin', 'leastconn', 'source', 'first', 'static-rr',
                                      'random'))
    c.words += [''] * 2


def hap_servers(c):
    c.words += [c.pick('', 'backup', 'disabled', 'weight 3', 'weight 0', '@dead', '@reset',
                       '@dead backup') for _ in range(c.pick(1, 2, 3))]
    c.back += c.random.sample(['option redispatch', 'retries 2', 'retries 0',
                               'option allbackups', 'balance first', 'timeout connect 1s'], 2)


def hap_backups(c):
    c.words = ['@dead'] + [c.pick('backup', 'backup weight 5') for _ in range(2)]
    c.back += ['option redispatch', c.pick('', 'option allbackups')]


def hap_stick(c):
    c.back += ['stick-table type ip size 10k' + c.pick('', ' expire 1m'),
               c.pick('stick on src', 'stick on src', 'stick match src', 'stick store-request src',
                      'stick match src\n stick store-request src')]
    c.words += ['', c.pick('', 'backup', 'weight 0')]
    c.sources.update(SOURCES[:2])


def hap_limit(c):
    c.sessions = 4
    c.front += ['stick-table type ip size 1k expire 1m store conn_cur',
                'tcp-request connection track-sc0 src' +
                c.pick('', '', ' if { src 127.20.0.0/16 }'),
                'tcp-request %s reject if { %s gt %d }' % (
                    c.pick('connection', 'connection', 'content'),
                    c.pick('sc0_conn_cur', 'src_conn_cur', 'sc_conn_cur(0)'), c.pick(1, 2))]
    c.sources.update(SOURCES[:2])


def hap_maxconn(c):
    c.sessions = 4
    if c.pick(0, 1):
        c.front.append('maxconn %d' % c.pick(1, 2))
    else:
        c.words[0] += ' maxconn %d' % c.pick(1, 2)
        c.back.append('timeout queue %s' % c.pick('200ms', '1m'))
        c.words = c.words[:1]


def hap_timeouts(c):
    c.top.append('timeout %s 300ms' % c.pick('client', 'server', 'client-fin', 'server-fin',
                                             'tunnel', 'connect'))


def hap_tls(c):
    c.tls = True
    c.names.update(['a.test', 'www.test'])
    c.listens['L0'] = 'ssl crt @TLS@/rsa.pem' + c.pick(
        '', ' alpn h2,http/1.1', ' verify optional ca-file @TLS@/ca.pem',
        ' verify required ca-file @TLS@/ca.pem', ' strict-sni', ' ssl-min-ver TLSv1.3',
        ' ssl-max-ver TLSv1.2', ' no-tls-tickets', ' crt @TLS@/ecdsa.pem')
    if c.pick(0, 1):
        c.front.append('use_backend %s if { %s }' % (c.target(), c.pick(
            'ssl_fc_sni a.test', 'ssl_fc_sni -i A.test', 'ssl_fc_alpn h2', 'ssl_fc',
            'ssl_fc_sni_end .test')))


def hap_send(c):
    c.suffix = ' ' + c.pick('send-proxy', 'send-proxy-v2')


def hap_accept(c):
    c.proxied = True
    c.listens = {k: v + ' accept-proxy' for k, v in c.listens.items()}
    if c.pick(0, 1):
        c.front.append('tcp-request %s reject if { src 127.20.0.0/16 }' % c.pick(
            'connection', 'content', 'session'))


def hap_nbsrv(c):
    c.words = c.pick(['disabled'], ['weight 0'], ['@dead'], [''], ['backup'])
    c.front += ['use_backend %s if { nbsrv(b0) %s }' % (c.target(), c.pick(
        'eq 0', 'lt 1', '0'))]


def hap_server_tls(c):
    c.words = ['@tls ssl verify none' + c.pick('', ' sni str(a.test)', ' alpn h2')]


def hap_second(c):
    """The same frontend has another listener, and a clear one beside TLS."""
    c.listens['L2'] = c.pick('', 'v4v6', 'defer-accept')


def hap_none(c):
    c.front.append('# no default_backend')


HAPROXY = [hap_reject, hap_reject, hap_reject_content, hap_wait, hap_route, hap_route,
           hap_route, hap_port, hap_map, hap_balance, hap_servers, hap_backups, hap_stick,
           hap_limit, hap_maxconn, hap_timeouts, hap_tls, hap_send, hap_accept, hap_nbsrv,
           hap_server_tls, hap_second, hap_none]


def server_lines(c, words, line):
    """The lines of servers; c.group has what chance decides."""
    lines = []
    for word in words:
        how = 'up'
        for kind in ('dead', 'reset', 'tls'):
            if '@' + kind in word:
                how, word = kind, word.replace('@' + kind, '').strip()
        label = c.server(how)
        c.group[label] = 'b0'
        lines.append(line(label, word))
    return lines


def make_haproxy(c):
    c.features_of(HAPROXY)
    lines = ['defaults', ' mode tcp', ' timeout client 1m', ' timeout server 1m',
             ' timeout connect 5s'] + [' ' + x for x in c.top]
    lines += ['frontend f'] + [' bind 127.0.0.1:@%s@ %s' % x for x in c.listens.items()]
    # HAProxy warns of rules behind use_backend, and takes them before it.
    lines += [' ' + x for x in sorted(c.front, key=lambda x: 'use_backend' in x)]
    if '# no default_backend' not in c.front:
        lines.append(' default_backend b0')
    lines += ['backend b0'] + [' ' + x for x in c.back if x]
    lines += server_lines(c, c.words, lambda label, word: ' server %s 127.0.0.1:@%s@ %s%s' % (
        label.lower(), label, word, c.suffix))
    for name, label in c.targets.items():
        lines += ['backend ' + name, ' server %s 127.0.0.1:@%s@' % (label.lower(), label)]
    c.text = '\n'.join(lines) + '\n'


# -- nginx --

def ngx_access(c):
    c.sources.update(SOURCES)
    c.front += ['%s %s;' % (c.pick('allow', 'deny'), c.pick(
        '127.20.0.0/16', '127.20.5.1', '127.20.5.0/24', '127.30.0.0/16', '127.0.0.1', 'unix:',
        '::1')) for _ in range(c.pick(1, 2, 3))] + [c.pick('', 'deny all;')]


def ngx_target(c):
    return '127.0.0.1:@%s@' % c.targets[c.target()]


def ngx_map(c):
    subject, keys = c.pick(
        ('$ssl_preread_server_name', ['a.test', 'b.test', '*.a.test', '.a.test', 'A.Test', '""',
                                      '~^a', r'~^(a|b)\.test$', '"~*^A\\.test$"']),
        ('$ssl_preread_protocol', ['""', '"TLSv1.2"', '"TLSv1.3"', '~TLS']),
        ('$ssl_preread_alpn_protocols', ['""', 'h2', '~\\bh2\\b', 'h2,http/1.1', '"~\\bmqtt\\b"']),
        ('$remote_addr', ['127.0.0.1', NEAR, '~^127.20.']),
        ('$server_port', ['@L0@', '@L1@']))
    if subject == '$server_port':
        c.listens['L1'] = ''
    if subject == '$remote_addr':
        c.sources.update(SOURCES)
    c.names.update(NAMES)
    c.hello = True
    entries = ['%s %s;' % (key, ngx_target(c))
               for key in c.random.sample(keys, min(len(keys), c.pick(1, 2, 3)))]
    if c.pick(0, 1) and 'name' in subject:
        entries.insert(0, 'hostnames;')
        entries = [x for x in entries if 'A.Test' not in x]
    if c.pick(0, 1, 1):
        entries.append('default %s;' % ngx_target(c))
    c.more.append('map %s $to {\n  %s\n }' % (subject, '\n  '.join(dict.fromkeys(entries))))
    c.passes = '$to'
    c.front.append(c.pick('ssl_preread on;', 'ssl_preread on;', 'ssl_preread off;'))


def ngx_geo(c):
    c.sources.update(SOURCES)
    c.more.append('geo $to {\n  %s %s;\n  %s %s;\n  %s\n }' % (
        c.pick('127.20.0.0/16', '127.20.5.0/24'), ngx_target(c),
        c.pick('127.20.5.1', '127.30.0.0/16'), ngx_target(c),
        c.pick('default %s;' % ngx_target(c), '')))
    c.passes = '$to'


def ngx_preread(c):
    c.front += ['ssl_preread %s;' % c.pick('on', 'off'), 'preread_timeout 400ms;']


def ngx_half(c):
    c.front.append('proxy_half_close %s;' % c.pick('on', 'off'))


def ngx_timeouts(c):
    c.front.append(c.pick('proxy_timeout 400ms;', 'proxy_connect_timeout 400ms;'))


def ngx_servers(c):
    c.words += [c.pick('', 'backup', 'down', 'weight=3', '@dead', '@reset', '@dead backup',
                       'max_fails=0', '@dead max_fails=0', '@reset max_fails=3')
                for _ in range(c.pick(1, 2, 3))]


def ngx_backups(c):
    c.words = ['@dead'] + [c.pick('backup', 'backup weight=5') for _ in range(2)]


def ngx_balance(c):
    c.back.append(c.pick('least_conn;', 'hash $remote_addr;', 'hash $remote_addr consistent;',
                         'random;', 'random two;', 'hash $ssl_preread_server_name;'))
    c.words += [''] * 2


def ngx_no_next(c):
    c.front.append(c.pick('proxy_next_upstream off;', 'proxy_next_upstream_tries 2;',
                          'proxy_next_upstream_timeout 1s;'))
    c.words += ['@dead', '']


def ngx_limit(c):
    c.sessions = 4
    c.more.append('limit_conn_zone $binary_remote_addr zone=z:1m;')
    c.front.append('limit_conn z %d;' % c.pick(1, 2))
    c.sources.update(SOURCES[:2])


def ngx_max_conns(c):
    c.sessions = 4
    c.back.insert(0, 'zone u 64k;')
    c.words = ['max_conns=%d' % c.pick(1, 2)]


def ngx_tls(c):
    c.tls = True
    c.names.update(['a.test', 'www.test'])
    c.listens['L0'] = 'ssl'
    c.front += ['ssl_certificate @TLS@/rsa.pem;', 'ssl_certificate_key @TLS@/rsa.pem;',
                'ssl_protocols %s;' % c.pick('TLSv1.2 TLSv1.3', 'TLSv1.2', 'TLSv1.3'),
                c.pick('', 'ssl_client_certificate @TLS@/ca.pem; ssl_verify_client %s;' %
                       c.pick('on', 'optional'), 'ssl_alpn h2 http/1.1;')]


def ngx_tls_map(c):
    ngx_tls(c)
    c.more.append('map $ssl_server_name $to {\n  a.test %s;\n  default %s;\n }' % (
        ngx_target(c), ngx_target(c)))
    c.passes = '$to'


def ngx_send(c):
    c.front.append('proxy_protocol on;')


def ngx_accept(c):
    c.proxied = True
    c.listens = {k: v + ' proxy_protocol' for k, v in c.listens.items()}
    c.front.append(c.pick('', 'set_real_ip_from 127.0.0.0/8;'))


def ngx_server_tls(c):
    c.all_tls = True
    c.front += ['proxy_ssl on;', c.pick('', 'proxy_ssl_server_name on; proxy_ssl_name a.test;')]


def ngx_second(c):
    c.listens['L2'] = c.pick('', 'so_keepalive=on', 'backlog=100')


NGINX = [ngx_access, ngx_access, ngx_map, ngx_map, ngx_map, ngx_geo, ngx_preread, ngx_half,
         ngx_timeouts, ngx_servers, ngx_backups, ngx_balance, ngx_no_next, ngx_limit,
         ngx_max_conns, ngx_tls, ngx_tls_map, ngx_send, ngx_accept, ngx_server_tls, ngx_second]


def make_nginx(c):
    c.passes = 'u'
    c.features_of(NGINX)
    lines = ['events {}', 'stream {', ' upstream u {'] + ['  ' + x for x in c.back]
    lines += server_lines(c, c.words, lambda label, word: '  server 127.0.0.1:@%s@ %s;' % (
        label, word)) + [' }']
    lines += [' ' + x for x in dict.fromkeys(c.more)] + [' server {']
    lines += ['  listen 127.0.0.1:@%s@ %s;' % x for x in c.listens.items()]
    # Of two lines of one key nginx takes none.
    last = {x.split()[0]: x for x in c.front if x}
    several = ('allow', 'deny')
    lines += ['  ' + x for x in c.front if x.startswith(several)]
    lines += ['  ' + x for x in last.values() if not x.startswith(several)]
    lines += ['  proxy_pass %s;' % c.passes, ' }', '}']
    if 'proxy_half_close on;' not in last.values():
        c.lenient = ('half-close', 'finish')
    c.text = '\n'.join(lines) + '\n'


def make(kind, seed, steady):
    c = Config(seed, steady)
    c.words = ['']
    {'haproxy': make_haproxy, 'nginx': make_nginx}[kind](c)
    c.make_probes()
    return c
