# SPDX-License-Identifier: MIT
"""importwords.py LFPROXYCTL CASES WORK: adds a word that means nothing to each
line of each case, HAProxy's and nginx's, and prints the words that neither the
converted file nor a message has, with their lines.  No word may vanish."""
import glob
import os
import re
import subprocess
import sys

# Lines whose words may go without a remark of their own, and why.
EXCEPT = {
    'haproxy': [
        'defaults|resolvers',  # a name
        'acl ',                # the rules that have the ACL are reported
        r'stats |listen .*stats|bind \*:8404|mode http$',  # the statistics page
        'retry-on|hash-type|no option',  # words that have no effect
        'option httpchk',      # the last word is a part of the request
        'tcp-check connect$',  # the line is reported as a whole
    ],
    'nginx': [
        r'.*(?:split|%|\* )',  # shares are reported as a whole
        '.*(?:http|return|server_name|upstream app)',  # in a block that is lost
        r'proxy_pass (?:nowhere|local|10\.0\.6\.1:123)|ssl_preread on;$',
        'tcp_nodelay|preread_timeout',  # without effect
    ],
}


def excepted(kind, line):
    return any(re.match(pattern, line) for pattern in EXCEPT[kind])


def extended(kind, text):
    """The text with its additional words, and {word: line}."""
    words = {}

    def word(line):
        name = 'zz%dz' % len(words)
        words[name] = line.strip()
        return name

    out = []
    for line in text.split('\n'):
        body, hash_, comment = line.partition('#')
        plain = body.strip()
        if kind == 'haproxy' and plain and not plain.startswith('.'):
            body = '%s %s ' % (body.rstrip(), word(plain))
        elif kind == 'nginx' and 'include' not in plain:
            body = re.sub(r'''(?<=[\w"'.*:\]])\s*;''',
                          lambda m: ' %s;' % word(plain), body)
        out.append(body + hash_ + comment)
    return '\n'.join(out), words


def main():
    ctl, cases, work = sys.argv[1:]
    tried = 0
    for path in sorted(glob.glob(cases + '/*/*.c*f*')):
        kind = os.path.basename(os.path.dirname(path))
        if not os.path.isfile(path):
            continue
        with open(path, encoding='utf-8') as case:
            text, words = extended(kind, case.read())
        made = os.path.join(work, os.path.basename(path))
        with open(made, 'w', encoding='utf-8') as out:
            out.write(text)
        run = subprocess.run([ctl, 'import', kind, made], text=True,
                             capture_output=True, check=False)
        for word, line in words.items():
            tried += 1
            if word not in run.stdout + run.stderr and not excepted(kind, line):
                print('%s: %s: %s' % (os.path.basename(path), word, line))
    print('%d words' % tried)


main()
