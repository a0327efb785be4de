/* SPDX-License-Identifier: MIT
 * HAProxy's global and resolvers sections, log lines, and the statistics page.
 */
#include <string.h>

#include "import/haproxy.h"
#include "import/serve_check.h"

/* Converts `stats socket PATH|ADDRESS [mode M] [level L] [user U] [group G]
 * ...`. */
static void
stats_socket(struct hap_file *file, const struct hap_line *line)
{
	struct arena *arena = &file->doc->arena;
	struct arena_text options = {NULL, 0, 0};
	const char *reason = "", *address, *path;
	const char *level = "operator";
	const struct words *words = &line->words;

	for (size_t i = 3; i + 1 < words->n; i += 2) {
		const char *word = words->word[i], *arg = words->word[i + 1];
		bool owner =
		    strcmp(word, "user") == 0 || strcmp(word, "group") == 0;

		if (strcmp(word, "level") == 0)
			level = arg;
		else if (strcmp(word, "mode") == 0)
			arena_text_printf(arena, &options, " mode=0%s",
			    arg[0] == '0' ? arg + 1 : arg);
		else if (owner)
			arena_text_printf(arena, &options, " %s=%s", word, arg);
		else if (strcmp(word, "expose-fd") != 0 &&
		         strcmp(word, "severity-output") != 0 &&
		         strcmp(word, "name") != 0 &&
		         strcmp(word, "process") != 0 &&
		         strcmp(word, "thread") != 0)
			continue;
		(void)words_get(words, i);
		(void)words_get(words, i + 1);
	}
	if (file->stats_timeout)
		arena_text_printf(
		    arena, &options, " timeout=%s", file->stats_timeout);
	address = hap_listen_address(arena, hap_word(line, 2), &reason);
	if (file->source->serves && address &&
	    strncmp(address, "unix:", 5) == 0) {
		address = arena_printf(arena, "unix:%s%s", SERVE_RUN_DIR,
		    strrchr(address, '/') + 1);
		hap_lost(file, file->global, line, LOSS_OPERATORS,
		    "the service's sockets are in %s", SERVE_RUN_DIR);
	}
	path =
	    address && strncmp(address, "unix:", 5) == 0 ? address + 5 : NULL;
	if ((path && !doc_word(file->doc, path)) ||
	    (!path && (!address || (strncmp(address, "127.", 4) != 0 &&
	                               strncmp(address, "[::1]", 5) != 0)))) {
		hap_lost(file, file->global, line, LOSS_OPERATORS,
		    "an admin socket is a path without blanks or a loopback "
		    "address; write "
		    "admin = 127.0.0.1:PORT, or admin = PATH");
		return;
	}
	doc_key(file->doc, file->global, "admin", "%s level=%s%s",
	    path ? path : address, level, options.data ? options.data : "");
}

struct global_key {
	const char *word, *key, *format;
};

static const struct global_key global_keys[] = {
    {"maxconn", "maxconn", "%s"},
    {"user", "user", "%s"},
    {"group", "group", "%s"},
    {"node", "node", "%s"},
    {"maxconnrate", "rate_connections", "%s/s"},
    {"maxsessrate", "rate_sessions", "%s/s"},
};

static bool
plain_global_key(struct hap_file *file, const struct hap_line *line)
{
	const char *value = hap_word(line, 1);

	for (size_t i = 0; i < sizeof(global_keys) / sizeof(global_keys[0]);
	     i++) {
		const struct global_key *key = &global_keys[i];
		uint64_t n = 1;

		if (strcmp(hap_word(line, 0), key->word) != 0)
			continue;
		if (!doc_word(file->doc, value) ||
		    (value_number(value, &n) && n == 0 && i != 0))
			return true;
		if (n > 1048576 && key->word[0] == 'm')
			value = key->word[3] == 'c' && key->word[7] == '\0'
			            ? "1048576"
			            : "1000000";
		if (n == 0)
			value = "auto";
		doc_key(file->doc, file->global, key->key,
		    strstr(key->format, "/s") ? "%s/s" : "%s", value);
		return true;
	}
	return false;
}

/* Reports a user or group that this host does not have, which would be an error
 * in lfproxy.ini.  Returns whether the line was reported. */
static bool
lose_unknown_user(struct hap_file *file, const struct hap_line *line)
{
	const char *word = hap_word(line, 0), *name = hap_word(line, 1);
	bool user = strcmp(word, "user") == 0;

	if ((user || strcmp(word, "group") == 0) && file->source->serves) {
		hap_lost(file, file->global, line, LOSS_OPERATORS,
		    "the service runs as " SERVE_USER);
		return true;
	}
	if ((!user && strcmp(word, "group") != 0) || !file->source->may_read ||
	    strchr(name, '$') ||
	    (user ? value_has_user(name) : value_has_group(name)))
		return false;
	hap_lost(file, file->global, line, LOSS_OPERATORS,
	    "this host has no such %s; write %s = NAME", word, word);
	return true;
}

/* Sets a key of [pool main]. */
static void
pool_key(struct hap_file *file, const char *key, const char *value)
{
	struct ini_section *pool = doc_find_section(file->doc, "pool main");

	if (words_has(&file->pool_keys, key))
		return;
	words_add(&file->doc->arena, &file->pool_keys, key);
	if (strcmp(key, "threads") == 0)
		doc_key(file->doc, pool, "threads", "%s", value);
	else
		doc_key(file->doc, pool, "cpus", "%s", value);
}

static bool
threads(struct hap_file *file, const struct hap_line *line)
{
	const char *word = hap_word(line, 0), *arg = hap_word(line, 1);
	uint64_t n;

	if (strcmp(word, "nbthread") == 0 || strcmp(word, "nbproc") == 0) {
		if (value_number(arg, &n) && n >= 1 && n <= 1024 &&
		    (word[2] == 't' || n > 1))
			pool_key(file, "threads", arg);
		return true;
	}
	if (strcmp(word, "cpu-map") != 0 || line->words.n < 3 ||
	    strncmp(arg, "auto:", 5) != 0)
		return false;
	pool_key(
	    file, "cpus", words_join(&file->doc->arena, &line->words, 2, ","));
	return true;
}

/* Keeps a setting that later sections need and that has no key of its own.
 * Returns false for others. */
static bool
remember(struct hap_file *file, const struct hap_line *line)
{
	const struct {
		const char *word;
		const struct hap_line **where;
	} lines[] = {
	    {"ssl-default-bind-options", &file->bind_options},
	    {"ssl-default-bind-ciphers", &file->bind_ciphers},
	    {"ssl-default-bind-ciphersuites", &file->bind_suites},
	    {"ssl-default-bind-curves", &file->bind_curves},
	    {"ssl-default-server-options", &file->server_options},
	    {"ssl-default-server-ciphers", &file->server_ciphers},
	    {"ssl-default-server-ciphersuites", &file->server_suites},
	};
	const char *word = hap_word(line, 0), *arg = hap_word(line, 1);
	uint64_t n;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (strcmp(word, lines[i].word) == 0) {
			*lines[i].where = line;
			return true;
		}
	if (strcmp(word, "ca-base") == 0)
		file->ca_base = arg;
	else if (strcmp(word, "crt-base") == 0)
		file->crt_base = arg;
	else if (strcmp(word, "ssl-server-verify") == 0)
		file->servers_unverified = strcmp(arg, "none") == 0;
	else if (strcmp(word, "spread-checks") == 0 && value_number(arg, &n))
		file->spread = arena_printf(
		    &file->doc->arena, "%u", n > 50 ? 50 : (unsigned)n);
	else if (strcmp(word, "strict-limits") == 0)
		file->lax_limits = false;
	else if (strcmp(word, "no") == 0 && strcmp(arg, "strict-limits") == 0)
		file->lax_limits = true;
	else
		return strcmp(word, "setenv") == 0 ||
		       strcmp(word, "presetenv") == 0 ||
		       strcmp(word, "log-tag") == 0 ||
		       strcmp(word, "description") == 0 ||
		       (strcmp(word, "stats") == 0 &&
		           strcmp(arg, "timeout") == 0);
	return true;
}

static void
global_line(struct hap_file *file, const struct hap_line *line)
{
	const char *word = hap_word(line, 0);
	uint64_t ms;

	if (strcmp(word, "stats") == 0 &&
	    strcmp(hap_word(line, 1), "socket") == 0) {
		stats_socket(file, line);
	} else if (strcmp(word, "log") == 0) {
		hap_log(file, file->global, line);
	} else if (strcmp(word, "hard-stop-after") == 0 &&
	           value_haproxy_time(hap_word(line, 1), &ms)) {
		doc_key(file->doc, file->global, "drain_timeout", "%s",
		    value_duration(
		        &file->doc->arena, ms, 10, VALUE_FOREVER_MS));
	} else if (!remember(file, line) && !lose_unknown_user(file, line) &&
	           !plain_global_key(file, line) && !threads(file, line) &&
	           !hap_report_keyword(file, file->global, line, false)) {
		hap_lost(file, file->global, line, LOSS_CLIENTS,
		    "lfproxy has nothing of that name");
	}
}

void
hap_global(struct hap_file *file, const struct hap_section *section)
{
	uint64_t ms;

	if (section->head.words.n > 0 && file->global->n_keys == 0) {
		file->global->before = file->doc->pending;
		file->doc->pending = (struct arena_text){NULL, 0, 0};
	}
	/* These settings also apply to the lines before them. */
	for (size_t i = 0; i < section->lines.n; i++) {
		const struct hap_line *line = &section->lines.all[i];

		if (line->reason)
			continue;
		if (strcmp(hap_word(line, 0), "log-tag") == 0)
			file->log_tag = hap_word(line, 1);
		if (strcmp(hap_word(line, 0), "stats") == 0 &&
		    strcmp(hap_word(line, 1), "timeout") == 0 &&
		    value_haproxy_time(hap_word(line, 2), &ms))
			file->stats_timeout = value_duration(
			    &file->doc->arena, ms, 1000, 86400ULL * 1000);
	}
	for (size_t i = 0; i < section->lines.n; i++) {
		const struct hap_line *line = &section->lines.all[i];

		if (hap_common_line(file, file->global, line))
			continue;
		global_line(file, line);
		hap_end_line(file);
	}
	if (file->lax_limits)
		doc_key(file->doc, file->global, "strict_limits", "off");
	file->lax_limits = false;
}

#define STATS_OPEN "every client that reaches the address of http may read"

/* Lines of a statistics page, and how lfproxy's page differs; reason NULL: it
 * does not.  is_guard: the line keeps clients away. */
static const struct stats_word {
	const char *words, *reason;
	bool is_guard;
} stats_words[] = {
    {"bind", "http takes one address", false},
    {"stats admin",
        "clients that are not signed in can change nothing; write "
        "users = FILE behind http",
        false},
    {"stats auth",
        "lfproxy's page may be read without a password; users = FILE "
        "is for changes",
        true},
    {"stats http-request", STATS_OPEN, true},
    {"stats scope", "the page shows all frontends and backends", false},
    {"stats uri", "the page is at /", false},
    {"stats", NULL, false},
    {"mode", NULL, false},
    {"timeout", NULL, false},
    {"log", NULL, false},
    {"option", NULL, false},
    {"description", NULL, false},
    {"http-request use-service", "the metrics are at /metrics", false},
    {"", STATS_OPEN, true},
};

static const struct stats_word *
find_stats_word(const struct hap_line *line)
{
	const struct stats_word *w = stats_words;

	while (*w->words && !hap_begins(line, 0, w->words))
		w++;
	return w;
}

/* Returns whether the page is as the line says. */
static bool
is_stats_default(const struct hap_line *line)
{
	const char *last = words_get(&line->words, line->words.n - 1);

	return (hap_begins(line, 0, "stats uri") && strcmp(last, "/") == 0) ||
	       (hap_begins(line, 0, "http-request use-service") &&
	           strcmp(last, "}") == 0 && strstr(line->text, "/metrics"));
}

static bool
is_guarded(const struct hap_proxy *proxy)
{
	for (size_t i = 0; i < proxy->section->lines.n; i++)
		if (find_stats_word(&proxy->section->lines.all[i])->is_guard)
			return true;
	return false;
}

/* Writes the page's address, unless the page would be open to more clients than
 * before.  Returns the line that it comes from, or NULL. */
static const struct hap_line *
stats_address(struct hap_proxy *proxy)
{
	struct hap_file *file = proxy->file;
	const struct hap_line *bind = hap_find(proxy, "bind");
	const char *reason, *address;

	if (!bind || file->has_http)
		return NULL;
	address =
	    hap_listen_address(&file->doc->arena, hap_word(bind, 1), &reason);
	if (!address || strncmp(address, "unix:", 5) == 0 ||
	    strchr(address, ','))
		return NULL;
	if (is_guarded(proxy)) {
		hap_lost(file, file->global, bind, LOSS_OPERATORS,
		    STATS_OPEN "; write http = %s in [global] if that may be",
		    address);
		return bind;
	}
	file->has_http = true;
	doc_key(file->doc, file->global, "http", "%s", address);
	if (bind->words.n > 2)
		hap_lost(file, file->global, bind, LOSS_OPERATORS,
		    "http takes the address alone; for HTTPS, write tls = NAME "
		    "behind it, and a section [tls NAME]");
	return bind;
}

/* Converts a proxy that has nothing but the statistics page. */
void
hap_stats_page(struct hap_proxy *proxy)
{
	struct hap_file *file = proxy->file;
	const struct hap_line *bind = stats_address(proxy);

	words_read_all(&proxy->section->head.words, 0);
	for (size_t i = 0; i < proxy->section->lines.n; i++) {
		const struct hap_line *line = &proxy->section->lines.all[i];
		const struct stats_word *w = find_stats_word(line);

		if (hap_common_line(file, file->global, line))
			continue;
		file->doc->remark = NULL;
		words_read_all(&line->words, 0);
		if (w->reason && !is_stats_default(line) &&
		    (!bind || line->line != bind->line))
			hap_lost(file, file->global, line, LOSS_OPERATORS, "%s",
			    w->reason);
	}
}

/* Converts a line of a resolvers section. */
static void
resolver_line(struct hap_file *file, const struct hap_line *line)
{
	const char *word = hap_word(line, 0), *host, *port, *range;
	struct document *doc = file->doc;
	bool timeout = strcmp(word, "timeout") == 0;
	uint64_t n;

	if (strcmp(word, "nameserver") == 0) {
		(void)hap_word(line, 1);
		hap_split_address(&doc->arena, hap_word(line, 2), &host, &port);
		if (strncmp(host, "udp@", 4) == 0)
			host += 4;
		if (value_range(&doc->arena, host, &range))
			doc_key(doc, file->resolver, "nameserver",
			    strchr(host, ':') ? "[%s]:%s" : "%s:%s", host,
			    port ? port : "53");
		else
			hap_lost(file, file->resolver, line, LOSS_OPERATORS,
			    "a name server is an IP address, asked by UDP");
	} else if (timeout && strcmp(hap_word(line, 1), "retry") == 0 &&
	           value_haproxy_time(hap_word(line, 2), &n)) {
		doc_key(doc, file->resolver, "timeout", "%s",
		    value_duration(&doc->arena, n, 10, 60000));
	} else if (strcmp(word, "resolve_retries") == 0 &&
	           value_number(hap_word(line, 1), &n)) {
		doc_key(doc, file->resolver, "retries", "%u",
		    n > 10 ? 10 : (unsigned)n);
	} else if (strcmp(word, "hold") == 0 &&
	           strcmp(hap_word(line, 1), "valid") == 0 &&
	           value_haproxy_time(hap_word(line, 2), &n)) {
		doc_key(doc, file->resolver, "ttl_max", "%s",
		    value_duration(&doc->arena, n, 1000, VALUE_FOREVER_MS));
	} else if (!hap_report_keyword(file, file->resolver, line, false)) {
		hap_lost(file, file->resolver, line, LOSS_OPERATORS,
		    "look-ups follow the TTL, and keep the last good answer "
		    "for the time of hold");
	}
}

void
hap_resolvers(struct hap_file *file, const struct hap_section *section)
{
	bool first = !file->resolver;

	(void)hap_word(&section->head, 1);
	if (first)
		file->resolver = doc_section(file->doc, "resolver");
	else
		hap_lost(file, file->resolver, &section->head, LOSS_OPERATORS,
		    "there is one [resolver] for all servers");
	for (size_t i = 0; i < section->lines.n; i++) {
		const struct hap_line *line = &section->lines.all[i];

		if (hap_common_line(file, file->resolver, line))
			continue;
		if (first || strcmp(hap_word(line, 0), "nameserver") == 0)
			resolver_line(file, line);
		else
			hap_lost(file, file->resolver, line, LOSS_OPERATORS,
			    "[resolver] has what the first section says");
		hap_end_line(file);
	}
}
