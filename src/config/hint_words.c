/* SPDX-License-Identifier: MIT
 * See hint.h: what does the same here as words of HAProxy and nginx.
 */
#include "config/hint.h"

#include <string.h>

#include "vocabulary/keywords.h"
#include "vocabulary/match.h"
#include "vocabulary/options.h"

#define LEAVE   "it is not needed here: leave it out"
#define NO_HTTP "HTTP is not looked into here: leave it out"

/* Words that a line begins with, or options, as in match.h. */
struct advice {
	const char *words, *advice;
};

static const struct advice check_options[] = {
    {"check_interval, inter", "write interval=TIME"},
    {"check_fall, fails", "write fall=NUMBER"},
    {"check_rise, passes", "write rise=NUMBER"},
    {"downinter", "write down_interval=TIME"},
    {"expect, match",
        "write status=LIST, or check_body = TEXT in [backend NAME]"},
    {"fastinter", "write fast_interval=TIME"},
    {"send-proxy", "write send_proxy=v1"},
    {"ssl", "write check = https or tls"},
    {"uri", "write path=/PATH"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *key, *words, *advice;
} values[] = {
    {"balance", "first-available", "write first"},
    {"balance", "hdr, uri, url_param", NO_HTTP},
    {"balance", "ip_hash, rdp-cookie", "write source"},
    {"balance", "least-conn, least_conn", "write leastconn"},
    {"balance", "least_time", "write ewma"},
    {"balance", "p2c", "write ewma or random"},
    {"balance", "round-robin, round_robin, rr, static-rr, wrr",
        "write roundrobin"},
    {"check", "external-check", "write script"},
    {"check", "httpchk", "write http"},
    {"check", "mariadb, mysql-check", "write mysql"},
    {"check", "no, none", "write off"},
    {"check", "on, yes", "write connect, or another kind"},
    {"check", "pg, pgsql, pgsql-check, postgres", "write postgresql"},
    {"check", "redis-check", "write redis"},
    {"check", "smtpchk", "write smtp"},
    {"check", "ssl, ssl-hello-chk", "write tls"},
    {"check", "tcp", "write connect"},
    {"check", "tcp-check", "write connect or send-expect"},
    {"log", "/dev/log", "write syslog"},
    {"max_version", "TLSv1.2, tls12, tlsv12", "write 1.2"},
    {"max_version", "TLSv1.3, tls13, tlsv13", "write 1.3"},
    {"min_version", "TLSv1.2, tls12, tlsv12", "write 1.2"},
    {"min_version", "TLSv1.3, tls13, tlsv13", "write 1.3"},
    {"splice", "on", "write auto"},
    {"verify", "no, off", "write none"},
    {"verify", "on, yes", "write required"},
    {"verify", "optional_no_ca", "write optional, and ca = FILE"},
};

static const struct advice heads[] = {
    {"listen", "write a [frontend NAME] and a [backend NAME]"},
    {"upstream", "write [backend NAME]"},
    {"server", "write [frontend NAME], or server = NAME ADDRESS in a "
               "[backend NAME]"},
    {"stream", "write [frontend NAME] and [backend NAME]"},
    {"http", "write http = ADDRESS in [global] for monitoring; lfproxy "
             "balances TCP only"},
    {"events", "write [global] and [pool NAME]"},
    {"default", "write [defaults]"},
    {"peers, program", LEAVE},
    {"resolvers", "write [resolver] with nameserver = ADDRESS:PORT"},
    {"userlist, cache", NO_HTTP},
};

static const char *
find_advice(const struct advice *all, size_t n, const char *line)
{
	const char *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len = match_longest(line, all[i].words);

		if (len > longest) {
			longest = len;
			found = all[i].advice;
		}
	}
	return found;
}

const char *
hint_words_key(const char *line)
{
	const struct keyword *found = keyword_find(line);

	return found ? found->advice : NULL;
}

const char *
hint_words_option(const char *key, const char *option)
{
	const struct option_words *row = NULL;

	if (strcmp(key, "check") == 0)
		return find_advice(check_options, COUNT(check_options), option);
	if (strcmp(key, "listen") == 0)
		row = listen_option_find(option);
	else if (strcmp(key, "server") == 0 || strcmp(key, "servers") == 0 ||
	         strcmp(key, "server_defaults") == 0)
		row = server_option_find(option);
	return row ? row->advice : NULL;
}

const char *
hint_words_value(const char *key, const char *value)
{
	for (size_t i = 0; i < COUNT(values); i++)
		if (strcmp(values[i].key, key) == 0 &&
		    match_word(value, values[i].words))
			return values[i].advice;
	return NULL;
}

const char *
hint_words_section(const char *head)
{
	return find_advice(heads, COUNT(heads), head);
}
