# SPDX-License-Identifier: MIT
"""The tables of importtool.py: what is changed in the cases before both programs
get them, and which differences are expected."""

ROUNDS_ELSE = 6
# More where a choice is random, or there are many servers or unequal weights.
ROUNDS = {
    'haproxy/agents': 44,
    'haproxy/mysql-split': 24,
    'haproxy/templates': 24,
    'nginx/hashes': 24,
    'nginx/snippet': 70,
    'nginx/split': 40,
}

CHECKS = 'health checks want services that a test has not'
LOGS = 'logs are not compared'
PROCESS = 'users, processes and their limits are not compared'
ADMIN = 'admin listeners are not compared'
RIGHTS = 'needs rights that a test may lack'

# (KIND or KIND/CASE, then the pattern; what replaces it; why).
SUBSTITUTIONS = [
    ('haproxy ^(listen \\S+) (\\d+\\.\\d+\\.\\d+\\.\\d+:\\d+)$', r'\1\n bind \2',
     'HAProxy 2 takes no address in a listen line'),
    ('haproxy ^\\s*contimeout', ' timeout connect', 'HAProxy 2 refuses the old form'),
    ('haproxy ^\\s*clitimeout', ' timeout client', 'HAProxy 2 refuses the old form'),
    ('haproxy ^\\s*srvtimeout', ' timeout server', 'HAProxy 2 refuses the old form'),
    ('haproxy ^\\s*redispatch$', ' option redispatch', 'HAProxy 2 refuses the old form'),
    ('haproxy ^listen (?:admin_)?stats.*\n(?:[ \t]+.*\n)+', '', ADMIN),
    ('haproxy ^\\s*stats (?:socket|timeout)\\b.*', '', ADMIN),
    ('haproxy ^\\s*(?:chroot|user|group|uid|gid|daemon|nbthread|maxconn|cpu-map)\\b.*', '',
     PROCESS),
    ('haproxy ^\\s*(?:log|log-format)\\b.*', '', LOGS),
    ('haproxy ^\\s*(?:tcp-check|http-check|external-check)\\b.*', '', CHECKS),
    ('haproxy ^\\s*option (?:\\S+-check|\\S+chk)\\b.*', '', CHECKS),
    ('haproxy (?<!timeout) (?:no-)?(?:check|check-ssl|check-send-proxy|agent-check)(?= |$)', '', CHECKS),
    ('haproxy  (?:agent-port|agent-inter|agent-send|track|observe|error-limit|on-error)'
     ' (?:"[^"\n]*"|\\S+)', '', CHECKS),
    ('haproxy  (?<=\\d )port \\d+', '', CHECKS),
    ('nginx ^\\s*(?:user|daemon|pid|worker_rlimit_nofile)\\b[^\n]*', '', PROCESS),
    ('nginx \\b(?:error_log|access_log|log_format) [^;]*;', '', LOGS),
    ('nginx ^\\s*include modules-enabled[^\n]*', '',
     'the module that is needed is loaded by the test'),

    ('haproxy/agents weight 200', 'weight 8', 'every server is to be seen in a few rounds'),
    ('haproxy/agents weight 256', 'weight 9', 'every server is to be seen in a few rounds'),
    ('haproxy/agents weight 50', 'weight 2', 'every server is to be seen in a few rounds'),
    ('haproxy/allowlist silent-drop', 'reject',
     'such a client waits for the deadline of the test'),
    ('haproxy/http-site alpn h2,', 'alpn ', 'the clients here speak no HTTP/2'),
    ('haproxy/limits gt 20 ', 'gt 20000 ',
     'all clients have one address here, and are more than the rule lets pass'),
    ('haproxy/limits rate-limit sessions 50', 'rate-limit sessions 5000',
     'the clients come faster'),
    ('haproxy/sockets user root group root', '', RIGHTS),
    ('haproxy/sockets ^\\s*bind fd@3', '', 'a parent process passes no descriptors'),
    ('haproxy/sockets ^\\s*bind quic4@.*', '', 'QUIC is not in this build of HAProxy'),
    ('haproxy/sockets interface lo (.*) transparent', r'\1', RIGHTS),
    ('haproxy/sockets ^\\s*source 0.0.0.0 usesrc clientip', '', RIGHTS),
    ('haproxy/templates 10\\.0\\.0\\.[23]:53', '@RESOLVER@', 'the name server of the test'),
    ('haproxy/templates :8080', ':@PORT:8080@', 'a port of the servers behind the name'),
    ('haproxy/transparent (source 192.0.2.2):1024-2048', r'\1',
     'HAProxy takes a range of ports for a server only'),
    ('haproxy/transparent ^\\s*server s2 0\\.0\\.0\\.0:80', '',
     'the server is the listener itself: HAProxy connects in a circle'),
    ('haproxy/unknown ^\\s*(?:lua-load|filter|invented).*', '', 'HAProxy does not start with it'),
    ('haproxy/unknown tcp-request content lua.check',
     'tcp-request inspect-delay 5s\n tcp-request content accept if { req.ssl_hello_type 1 }',
     'no script here; the rules below want to wait for the hello'),
    ('haproxy/unknown ^.*missing.map.*', '', 'HAProxy does not start with it'),
    ('haproxy/unknown ^\\s*use_backend gone.*', '', 'HAProxy does not start with it'),
    ('haproxy/unknown ^ *mode tcp$', ' mode tcp\\n retries 0',
     'each attempt by way of SOCKS takes a second to fail'),
    ('haproxy/unknown  invented$', '', 'HAProxy does not start with it'),

    ('nginx/dynamic resolver 10.0.0.2', 'resolver @RESOLVER@', 'the name server of the test'),
    ('nginx/dynamic ^\\s*js_import.*', '', 'the module may be missing'),
    ('nginx/dynamic server_name:443', 'server_name:@PORT:7443@',
     'a port of the servers behind the name'),
    ('nginx/dynamic \n    server {\n        listen 7900;\n        proxy_pass nowhere;\n    }',
     '', 'nginx before 1.25.5 refuses two servers at one address'),
    ('nginx/mail \\$remote_addr transparent', '127.0.0.9', RIGHTS),
    ('nginx/weights deferred ', '', 'nginx before 1.23 refuses it in stream'),
    ('nginx/sockets somewhere.example.com', '127.0.3.3', 'a name that this host has not'),
    ('nginx/suffix :5223', ':@PORT:5223@', 'a port of the servers'),
    ('nginx/suffix 10\\.0\\.17\\.', '127.10.17.', 'addresses of the servers'),
    ('nginx/timeouts app.example.invalid:80 resolve', '10.0.16.2:80',
     'resolve is of nginx Plus, and the name does not exist'),
    ('nginx/timeouts 127.0.0.53 \\[::1\\]:5353', '127.0.0.53',
     'nothing is looked up'),
    ('nginx/web include mime.types;',
     'access_log off; ' + ' '.join('%s_temp_path @WORK@;' % name for name in
              ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi')),
     'no files are served'),
    ('nginx/web (server_name secure.example.com;)',
     r'\1 ssl_certificate @WORK@/tls/rsa.pem; ssl_certificate_key @WORK@/tls/rsa.pem;',
     'nginx does not start without a certificate'),
]

# Servers whose port the case leaves to something else: label, address, the
# case's port, and what is added to it here.
SERVERS = {
    'nginx/suffix': [('10.0.17.3', '127.10.17.3', 5223, 0),
                     ('10.0.17.4', '127.10.17.4', 5223, 0)],
    'haproxy/ports': [('10.0.26.4', '127.10.26.4', 27100, 0),
                      ('10.0.26.5', '127.10.26.5', 27100, 100),
                      ('10.0.26.6', '127.10.26.6', 27100, 0),
                      ('10.0.26.7', '127.10.26.7', 27100, 0)],
}
SUBSTITUTIONS.append(('haproxy/ports 10\\.0\\.26\\.([4567])', r'127.10.26.\1',
                      'addresses of the servers'))

# What the name server of the test knows: addresses, each with the ports of the
# case that a server listens at; ports and targets of services.
NAMES = {
    'haproxy/templates': {
        'app.service.example.com': ['127.10.22.1 8080', '127.10.22.2 8080',
                                    '127.10.22.3 8080'],
        '_app._tcp.service.example.com': [(8081, 'srv1.example.com'),
                                          (8081, 'srv2.example.com')],
        'srv1.example.com': ['127.10.22.8 8081'],
        'srv2.example.com': ['127.10.22.9 8081'],
    },
    'nginx/dynamic': {'elsewhere.example.edu': ['127.10.18.9 7443 7900']},
}
# How many different answers there are once all names are known.
ANSWERS = {'haproxy/templates': 5}

# {KIND/CASE: [(pattern of "port PORT, CLIENT", what the import says)]}.
DIFFERENCES = {
    'haproxy/blocks': [
        ('port 7213, .*', 'only HAProxy knows whether its version is at least 9.0'),
    ],
    'haproxy/http-site': [
        ('port 80, .*', 'a frontend that only redirects is left out'),
        ('port 443, TLS GET /api/x www', 'HTTP is not looked into: no choice by the path'),
        ('port 443, TLS GET / admin', 'HTTP is not looked into: no http-request deny'),
        (r"port 443, [a-z.]+ (\[\]|\['h.*\])", 'HTTP is not looked into: relayed as it is'),
        (r"port 443, [a-z.]+ \['other'\]", 'none of the protocols of alpn'),
    ],
    'haproxy/peers': [
        ('port 3389, .*', 'the address is hashed, where no RDP cookie is looked for'),
    ],
    'haproxy/sockets': [
        ('port abns@hidden, .*', 'no abstract sockets'),
    ],
    'haproxy/tls-terminate': [
        (r"port 8883, [a-z.]+ \['other'\]", 'none of the protocols of alpn'),
        (r"port 443, [a-z.]+ \['other'\]", 'none of the protocols of alpn'),
    ],
    'haproxy/unknown': [
        ('port 7800, .*', 'a server behind SOCKS is connected to directly'),
    ],
    'nginx/dns': [
        ('port 53, datagram', 'no UDP'),
        ('port 123, datagram', 'no UDP'),
    ],
    'nginx/dynamic': [
        (r'port 7900, elsewhere.*', 'a variable cannot be an address'),
        (r'port 7901, elsewhere.*', 'a variable cannot be an address'),
        ('port 7902, .*', 'nothing is answered by lfproxy'),
    ],
    'nginx/hashes': [
        ('port 7602, (no name|plain)', 'clients without a name are spread by their address'),
    ],
    'nginx/mail': [
        ('port 993, .*', 'only peers of set_real_ip_from begin with a header'),
    ],
    'nginx/split': [
        ('port 7300, .*', 'shares are drawn for each session'),
    ],
    'nginx/web': [
        ('port 80, .*', 'HTTP sites are lost'),
        ('port 443, .*', 'HTTP sites are lost'),
    ],
}
