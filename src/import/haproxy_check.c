/* SPDX-License-Identifier: MIT
 * The check of a backend of HAProxy's: option tcp-check, httpchk and so on,
 * with their rules.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/haproxy_check.h"

static const struct check_kind {
	const char *option, *check, *note;
} check_kinds[] = {
    {"tcp-check", "connect", NULL},
    {"httpchk", "http", NULL},
    {"ssl-hello-chk", "tls verify=off", NULL},
    {"mysql-check", "mysql", NULL},
    {"pgsql-check", "postgresql", NULL},
    {"redis-check", "redis", NULL},
    {"smtpchk", "smtp", NULL},
    {"ldap-check", "send-expect", NULL},
    {"external-check", "script", NULL},
    {"spop-check", "connect", "lfproxy knows no SPOE; nearest: connect"},
};

static const struct check_kind *
find_kind(const char *option)
{
	size_t n = sizeof(check_kinds) / sizeof(check_kinds[0]);

	for (size_t i = 0; i < n; i++)
		if (strcmp(check_kinds[i].option, option) == 0)
			return &check_kinds[i];
	return NULL;
}

bool
hap_is_check_line(const struct hap_line *line)
{
	const char *word = hap_word(line, 0);

	return strcmp(word, "tcp-check") == 0 ||
	       strcmp(word, "http-check") == 0 ||
	       strcmp(word, "external-check") == 0 ||
	       (strcmp(word, "timeout") == 0 &&
	           strcmp(hap_word(line, 1), "check") == 0) ||
	       (strcmp(word, "option") == 0 && find_kind(hap_word(line, 1)));
}

void
hap_check_lose(
    struct check_state *check, const struct hap_line *line, const char *reason)
{
	hap_lost(check->proxy->file, check->proxy->be, line, LOSS_CLIENTS, "%s",
	    reason);
}

void
hap_check_key(struct check_state *check, const char *key, const char *text)
{
	arena_text_printf(&check->proxy->file->doc->arena, &check->keys,
	    "%s = %s\n", key, doc_clean(check->proxy->file->doc, text));
}

static const char *
regex_of(struct arena *arena, const char *expression)
{
	struct arena_text text = {NULL, 0, 0};

	arena_text_add(arena, &text, "regex \"", 7);
	for (const char *c = expression; *c; c++) {
		if (*c == '"' || *c == ';' || iscntrl((unsigned char)*c))
			arena_text_printf(arena, &text, "\\x%02x",
			    (unsigned)(unsigned char)*c);
		else if (*c == '$' && c[1] == '{')
			arena_text_add(arena, &text, "\\x24", 4);
		else
			arena_text_add(arena, &text, c, 1);
	}
	arena_text_add(arena, &text, "\"", 1);
	return text.data;
}

static const char *
hex_of(struct arena *arena, const char *digits)
{
	size_t n = strlen(digits);

	if (n == 0 || n % 2 != 0 ||
	    strspn(digits, "0123456789abcdefABCDEF") != n)
		return NULL;
	return arena_printf(arena, "hex %s", digits);
}

const char *
hap_check_pattern(struct arena *arena, const char *type, const char *text)
{
	if (!*text)
		return NULL;
	if (strcmp(type, "string") == 0)
		return value_quote(arena, text, strlen(text));
	if (strcmp(type, "rstring") == 0)
		return regex_of(arena, text);
	if (strcmp(type, "binary") == 0)
		return hex_of(arena, text);
	return NULL;
}

size_t
hap_check_find_expect(
    const struct hap_line *line, const char **ret_type, bool *ret_not)
{
	static const char *const with[] = {"min-recv", "comment", "ok-status",
	    "error-status", "tout-status", "on-success", "on-error",
	    "status-code"};
	size_t i = 2;

	*ret_not = false;
	for (bool again = true; again;) {
		again = false;
		for (size_t j = 0; j < sizeof(with) / sizeof(with[0]); j++)
			if (strcmp(hap_word(line, i), with[j]) == 0) {
				i += 2;
				again = true;
			}
		if (strcmp(hap_word(line, i), "!") == 0) {
			*ret_not = again = true;
			i++;
		}
	}
	*ret_type = hap_word(line, i);
	if (**ret_type == '!') {
		*ret_not = true;
		++*ret_type;
	}
	return i + 1;
}

static void
tcp_expect(struct check_state *check, const struct hap_line *line)
{
	struct arena *arena = &check->proxy->file->doc->arena;
	const char *type, *pattern;
	bool not ;
	size_t i = hap_check_find_expect(line, &type, &not );

	pattern = hap_check_pattern(arena, type, hap_word(line, i));
	if (!pattern) {
		hap_check_lose(check, line,
		    "write check_step = expect \"TEXT\", hex BYTES, or regex "
		    "\"EXPRESSION\"");
		return;
	}
	check->n_steps++;
	check->n_expects += !not ;
	hap_check_key(check, "check_step",
	    arena_printf(arena, "%s %s", not ? "refuse" : "expect", pattern));
}

void
hap_check_connect(struct check_state *check, const struct hap_line *line)
{
	struct arena *arena = &check->proxy->file->doc->arena;

	if (check->n_steps > 0 || strstr(check->options.data, " port=")) {
		hap_check_lose(check, line,
		    "a check has one connection; check further ports by "
		    "check = script");
		return;
	}
	for (size_t i = 2; i < line->words.n; i++) {
		const char *word = line->words.word[i];
		uint64_t port;

		if (strcmp(word, "port") == 0 &&
		    value_number(hap_word(line, i + 1), &port) && port > 0 &&
		    port < 65536) {
			arena_text_printf(
			    arena, &check->options, " port=%u", (unsigned)port);
			(void)hap_word(line, i++);
		} else if (strcmp(word, "comment") == 0)
			(void)hap_word(line, ++i);
		else if (strcmp(word, "ssl") == 0)
			check->over_tls = true;
		else if (strcmp(word, "send-proxy") == 0)
			arena_text_printf(
			    arena, &check->options, " send_proxy=v1");
		else if (strcmp(word, "default") != 0)
			continue;
		(void)hap_word(line, i);
	}
}

static void
tcp_check(struct check_state *check, const struct hap_line *line)
{
	struct arena *arena = &check->proxy->file->doc->arena;
	const char *word = hap_word(line, 1), *text = hap_word(line, 2), *hex;

	if (strcmp(word, "connect") == 0) {
		hap_check_connect(check, line);
	} else if (strcmp(word, "expect") == 0) {
		tcp_expect(check, line);
	} else if (strcmp(word, "send") == 0 && *text) {
		check->n_steps++;
		hap_check_key(check, "check_step",
		    arena_printf(arena, "send %s",
		        value_quote(arena, text, strlen(text))));
	} else if (strcmp(word, "send-binary") == 0 &&
	           (hex = hex_of(arena, text))) {
		check->n_steps++;
		hap_check_key(
		    check, "check_step", arena_printf(arena, "send %s", hex));
	} else if (strcmp(word, "comment") != 0) {
		hap_check_lose(
		    check, line, "check_step has send, expect, refuse");
	}
}

void
hap_check_option(struct check_state *check, const char *name, const char *value)
{
	if (value && doc_word(check->proxy->file->doc, value))
		arena_text_printf(&check->proxy->file->doc->arena,
		    &check->options, " %s=%s", name, value);
}

/* Reads `option smtpchk [HELO|EHLO NAME]`; HAProxy says HELO localhost in place
 * of anything else. */
static void
read_smtp(struct check_state *check, const struct hap_line *line)
{
	const char *hello = hap_word(line, 2), *name = hap_word(line, 3);

	bool ehlo = strcmp(hello, "EHLO") == 0 && *name;
	bool named = ehlo || strcmp(hello, "HELO") == 0;

	hap_check_option(check, "hello", named && *name ? name : "localhost");
	if (!ehlo)
		arena_text_printf(
		    &check->proxy->file->doc->arena, &check->options, " helo");
}

/* Reads the arguments of `option mysql-check` and others. */
static void
read_check_option(struct check_state *check, const struct hap_line *line)
{
	const char *kind = hap_word(line, 1);

	if (strcmp(kind, "smtpchk") == 0)
		read_smtp(check, line);
	else if (line->words.n < 3)
		return;
	if (strcmp(kind, "pgsql-check") == 0) {
		(void)hap_word(line, 2);
		hap_check_option(check, "user", hap_word(line, 3));
	} else if (strcmp(kind, "mysql-check") == 0) {
		hap_lost(check->proxy->file, check->proxy->be, line,
		    LOSS_SERVERS,
		    "the check reads the server's greeting and does not log "
		    "in");
	}
}

/* Reads all lines about the check. */
static void
read_check_lines(struct check_state *check)
{
	struct hap_proxy *proxy = check->proxy;

	for (size_t i = 0; i < proxy->lines.n; i++) {
		const struct hap_line *line = &proxy->lines.all[i];
		const char *word = hap_word(line, 0);
		bool http = strcmp(check->kind->option, "httpchk") == 0;
		bool tcp = strcmp(check->kind->option, "tcp-check") == 0;

		if (line->reason)
			continue;
		if (tcp && strcmp(word, "tcp-check") == 0)
			tcp_check(check, line);
		else if (http && strcmp(word, "http-check") == 0)
			hap_check_http_rule(check, line);
		else if (strcmp(word, "option") == 0 && http &&
		         strcmp(hap_word(line, 1), "httpchk") == 0)
			hap_check_http_option(check, line);
		else if (strcmp(word, "external-check") == 0 &&
		         strcmp(hap_word(line, 1), "command") == 0)
			check->command = hap_word(line, 2);
		else if (strcmp(word, "external-check") == 0 &&
		         strcmp(hap_word(line, 1), "path") == 0)
			hap_check_lose(check, line,
			    "the command gets lfproxy's own PATH; write "
			    "Environment=PATH=... in its unit");
		else if (strcmp(word, "option") == 0 &&
		         find_kind(hap_word(line, 1)) == check->kind)
			read_check_option(check, line);
	}
}

/* Returns the kind of check, which the last of the options for it chooses. */
static const struct check_kind *
kind_of(const struct hap_proxy *proxy, const struct hap_line **ret_line)
{
	for (size_t i = proxy->lines.n; i-- > 0;) {
		const struct hap_line *line = &proxy->lines.all[i];

		*ret_line = line;
		if (!line->reason && strcmp(hap_word(line, 0), "option") == 0 &&
		    find_kind(hap_word(line, 1)))
			return find_kind(hap_word(line, 1));
	}
	*ret_line = NULL;
	return &check_kinds[0];
}

/* Writes a check by a script, if the script exists, and returns the kind. */
static const char *
script_check(struct check_state *check, const struct hap_line *line)
{
	const char *command = check->command;

	if (command && command[0] == '/' &&
	    doc_word(check->proxy->file->doc, command) &&
	    check->proxy->file->source->may_read &&
	    access(command, X_OK) == 0) {
		hap_check_key(check, "check_command", command);
		return "script";
	}
	hap_lost(check->proxy->file, check->proxy->be, line, LOSS_CLIENTS,
	    "this host has no such program; write check = script and "
	    "check_command = /PATH");
	return "connect";
}

/* Writes the anonymous bind of ldap-check, and the answer that means
 * success. */
static void
ldap_check(struct check_state *check)
{
	hap_check_key(
	    check, "check_step", "send hex 300c020101600702010304008000");
	hap_check_key(check, "check_step", "expect hex 0a0100");
}

static void
add_times(struct check_state *check)
{
	struct hap_proxy *proxy = check->proxy;
	const struct hap_line *timeout = hap_find(proxy, "timeout check");
	uint64_t ms;

	if (timeout && value_haproxy_time(hap_word(timeout, 2), &ms))
		hap_check_option(check, "timeout",
		    value_duration(
		        &proxy->file->doc->arena, ms, 10, 86400ULL * 1000));
	if (proxy->file->spread)
		hap_check_option(check, "jitter",
		    arena_printf(
		        &proxy->file->doc->arena, "%s%%", proxy->file->spread));
}

/* Adds the options of a check over TLS, and returns its kind. */
static const char *
add_tls(struct check_state *check, const char *name)
{
	const char *options = check->proxy->check_tls;

	if (strcmp(name, "connect") == 0)
		name = "tls";
	else if (strcmp(name, "http") == 0)
		name = "https";
	else
		hap_check_option(check, "tls", "on");
	arena_text_printf(&check->proxy->file->doc->arena, &check->options,
	    "%s", options ? options : " verify=off");
	return name;
}

/* Marks lines about checks that have no effect: those of other kinds, or all if
 * no server is checked. */
static void
skip_check_lines(const struct hap_proxy *proxy, const char *used)
{
	for (size_t i = 0; i < proxy->lines.n; i++) {
		const struct hap_line *line = &proxy->lines.all[i];

		if (!line->reason && hap_is_check_line(line) &&
		    (!used || (strcmp(hap_word(line, 0), used) != 0 &&
		                  strstr(hap_word(line, 0), "-check"))))
			words_read_all(&line->words, 1);
	}
}

void
hap_check(struct hap_proxy *proxy)
{
	struct check_state check = {.proxy = proxy};
	struct document *doc = proxy->file->doc;
	const struct hap_line *line;
	const char *name;

	if (!proxy->checks) {
		skip_check_lines(proxy, NULL);
		doc_key(doc, proxy->be, "check", "off");
		return;
	}
	check.kind = kind_of(proxy, &line);
	name = check.kind->check;
	arena_text_add(&doc->arena, &check.options, "", 0);
	read_check_lines(&check);
	skip_check_lines(
	    proxy, strcmp(check.kind->option, "httpchk") == 0 ? "http-check"
	           : strstr(check.kind->option, "external")   ? "external-check"
	                                                      : "tcp-check");
	if (check.n_steps > 0)
		name = "send-expect";
	if (strcmp(name, "http") == 0)
		hap_check_http_options(&check);
	else if (strcmp(name, "script") == 0)
		name = script_check(&check, line);
	else if (strcmp(check.kind->option, "ldap-check") == 0)
		ldap_check(&check);
	if (check.over_tls || proxy->check_tls)
		name = add_tls(&check, name);
	add_times(&check);
	if (check.kind->note)
		doc_note(doc, proxy->be, "%s", check.kind->note);
	proxy->check_port = strstr(check.options.data, " port=");
	doc_key(doc, proxy->be, "check", "%s%s", name, check.options.data);
	if (check.keys.n > 0)
		arena_text_add(&doc->arena, &proxy->be->lines, check.keys.data,
		    check.keys.n);
}
