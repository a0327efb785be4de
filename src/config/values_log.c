/* SPDX-License-Identifier: MIT
 * Targets of the access log and of messages: `stdout`, `stderr`, `off`,
 * `file=/path`, `syslog` and `syslog=[tcp:]ADDRESS`, each with its options.
 */
#include "config/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"

#define LOCAL_DAEMON "unix:/dev/log"
#define SYSLOG_PORT  ":514"
#define TCP          "tcp:"

static const char *const kinds[] = {[LOG_SINK_OFF] = "off",
    [LOG_SINK_STDOUT] = "stdout",
    [LOG_SINK_STDERR] = "stderr",
    [LOG_SINK_FILE] = "file",
    [LOG_SINK_SYSLOG] = "syslog"};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
_Static_assert(KINDS == LOG_SINK_SYSLOG + 1, "the last is last");

static unsigned
allowed_options(enum log_sink_kind kind)
{
	return kind == LOG_SINK_FILE     ? KEY_FILE_ONLY
	       : kind == LOG_SINK_SYSLOG ? KEY_SYSLOG_ONLY
	                                 : 0;
}

/* Reads a daemon's address; its port is 514 unless it is given. */
static bool
parse_daemon(const struct value *v, const char *where, struct log_spec *l)
{
	struct addr_name name;
	char with_port[DRAFT_VALUE_MAX + sizeof(SYSLOG_PORT)];
	bool complete;
	struct err err;

	l->tcp = strncmp(where, TCP, strlen(TCP)) == 0;
	if (l->tcp)
		where += strlen(TCP);
	complete = where[0] == '[' ? where[strlen(where) - 1] != ']'
	                           : strchr(where, ':') != NULL;
	snprintf(with_port, sizeof(with_port), "%s%s", where,
	    complete ? "" : SYSLOG_PORT);
	if (!addr_parse_name(with_port, &l->addr, &name, &err))
		return value_fail(v, "%s", err.text);
	if (l->tcp && l->addr.sa.sa_family == AF_UNIX)
		return value_fail(v, "a daemon by TCP has a host: write "
		                     "syslog=tcp:HOST:PORT");
	l->port = name.port;
	return !name.host[0] || value_set_string(v, &l->host, name.host);
}

static bool
parse_where(const struct value *v, const char *where, struct log_spec *l)
{
	if (l->kind == LOG_SINK_FILE) {
		if (!where || where[0] != '/')
			return value_fail(v,
			    "the file needs a path that starts with /, as "
			    "in file=/var/log/lfproxy/access.log");
		return true;
	}
	if (l->kind == LOG_SINK_SYSLOG) {
		if (where && !*where)
			return value_fail(v,
			    "the address is missing; write syslog=HOST:PORT, "
			    "syslog=tcp:HOST:PORT, syslog=unix:/path, or "
			    "syslog alone for /dev/log");
		return parse_daemon(v, where ? where : LOCAL_DAEMON, l);
	}
	if (where)
		return value_fail(
		    v, "'%s' takes no '=%s'", kinds[l->kind], where);
	return true;
}

/* Checks that `off`, which says that there is no log, is the only value. */
static bool
check_off(const struct value *v, const struct log_list *list,
    const struct log_spec *l)
{
	char first[DRAFT_FIRST_SIZE];

	if (list->n == 0 ||
	    (l->kind != LOG_SINK_OFF && list->logs[0].kind != LOG_SINK_OFF))
		return true;
	return value_fail(v, "'off' is given beside another log%s; keep one",
	    draft_first(list->logs[0].place, l->place, first));
}

static bool
parse_log(const struct value *v)
{
	struct log_list *list = value_target(v);
	struct log_spec l = {.sample = 1};
	struct words words;
	char *where;
	size_t kind;
	bool ok;

	if (v->entry)
		l.place = v->entry->place;
	words_split(&words, v->text);
	if (words.word[0][0] == '/')
		return value_fail(v, "'%s' is a path; write file=%s",
		    words.word[0], words.word[0]);
	where = strchr(words.word[0], '=');
	if (where)
		*where++ = '\0';
	if (!value_choose(v, words.word[0], NAME_TABLE(kinds, KINDS), &kind))
		return false;
	l.kind = (enum log_sink_kind)kind;
	if (l.kind == LOG_SINK_OFF && words.n > 1)
		return value_fail(v, "'off' takes no options");
	ok = parse_where(v, where, &l) && check_off(v, list, &l);
	ok &= options_read(v, &words, 1, &l, allowed_options(l.kind),
	    "another target: mode for files; facility, tag and rfc for syslog");
	if (ok && where)
		ok = value_set_string(v, &l.where, where);
	if (ok && value_append(v, &list->logs, &list->n, &l, sizeof(l)))
		return true;
	free(l.where);
	free(l.host);
	free(l.tag);
	return false;
}

static bool
parse_message_log(const struct value *v)
{
	const struct log_list *list = value_target(v);

	if (strcmp(v->text, "off") == 0)
		return value_fail(
		    v, "messages cannot be switched off; name a target");
	if (list->n == LOG_MESSAGE_TARGETS)
		return value_fail(v, "messages go to %d targets at most",
		    LOG_MESSAGE_TARGETS);
	return parse_log(v);
}

static bool
print_log(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct log_list *list = shown_source(s);
	const struct log_spec *l;

	if (s->nth >= list->n)
		return false;
	l = &list->logs[s->nth];
	value_write(out, "%s%s%s", kinds[l->kind], l->where ? "=" : "",
	    l->where ? l->where : "");
	if (l->kind != LOG_SINK_OFF)
		options_print(s, l, NULL, allowed_options(l->kind), out);
	return true;
}

static bool
parse_sample(const struct value *v)
{
	unsigned *sample = value_target(v);
	uint64_t n;

	if (strncmp(v->text, "1/", 2) != 0 ||
	    !text_parse_number(v->text + 2, v->key->min, v->key->max, &n, NULL))
		return value_fail(v,
		    "'%s' is not a share; write 1/NUMBER, as in 1/100, down to "
		    "1/1000000",
		    v->text);
	*sample = (unsigned)n;
	return true;
}

static bool
print_sample(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const unsigned *sample = shown_source(s);

	return value_write(out, "1/%u", *sample);
}

VALUE_TYPE(log, print_log,
    "stdout, stderr, file=/path, syslog, syslog=ADDRESS or off", 0);
VALUE_TYPE(message_log, print_log,
    "stdout, stderr, file=/path, syslog or syslog=ADDRESS", 0);
VALUE_TYPE(sample, print_sample, "1/1 to 1/1000000", 0);
