/* SPDX-License-Identifier: MIT
 * HAProxy's lines that are one key here, in proxies and in defaults.
 */
#include <string.h>

#include "import/haproxy.h"

enum side {
	FRONT = 1,
	BACK = 2,
	NOWHERE = 0, /* what lfproxy does by itself */
};

enum kind {
	TIME,  /* an argument */
	COUNT, /* an argument */
	FIXED,
};

static const struct simple_key {
	const char *words;
	enum side side;
	enum kind kind;
	const char *key, *value; /* of COUNT: a format */
} simple_keys[] = {
    {"timeout client", FRONT, TIME, "timeout_client", NULL},
    {"clitimeout", FRONT, TIME, "timeout_client", NULL},
    {"timeout client-fin", FRONT, TIME, "timeout_client_fin", NULL},
    {"timeout client-hs", FRONT, TIME, "timeout_handshake", NULL},
    {"timeout connect", BACK, TIME, "timeout_connect", NULL},
    {"contimeout", BACK, TIME, "timeout_connect", NULL},
    {"timeout server", BACK, TIME, "timeout_server", NULL},
    {"srvtimeout", BACK, TIME, "timeout_server", NULL},
    {"timeout server-fin", BACK, TIME, "timeout_server_fin", NULL},
    {"timeout queue", BACK, TIME, "timeout_queue", NULL},
    {"timeout tunnel", BACK, TIME, "timeout_tunnel", NULL},
    {"retries", BACK, COUNT, "retries", NULL},
    {"maxconn", FRONT, COUNT, "maxconn", NULL},
    {"rate-limit sessions", FRONT, COUNT, "rate", "/s"},
    {"option dontlognull", FRONT, FIXED, "log_empty", "off"},
    {"option logasap", FRONT, FIXED, "log_on_connect", "on"},
    {"option allbackups", BACK, FIXED, "all_backups", "on"},
    {"option redispatch", NOWHERE, FIXED, NULL, NULL},
    {"redispatch", NOWHERE, FIXED, NULL, NULL},
    {"option tcplog", NOWHERE, FIXED, NULL, NULL},
    {"option log-health-checks", NOWHERE, FIXED, NULL, NULL},
    {"option splice-auto", NOWHERE, FIXED, NULL, NULL},
    {"option splice-request", NOWHERE, FIXED, NULL, NULL},
    {"option splice-response", NOWHERE, FIXED, NULL, NULL},
    {"option tcp-smart-accept", NOWHERE, FIXED, NULL, NULL},
    {"option tcp-smart-connect", NOWHERE, FIXED, NULL, NULL},
    {"mode", NOWHERE, FIXED, NULL, NULL},
    {"enabled", NOWHERE, FIXED, NULL, NULL},
};

static const struct simple_key *
find_simple(const struct hap_line *line)
{
	size_t n = sizeof(simple_keys) / sizeof(simple_keys[0]);

	for (size_t i = 0; i < n; i++) {
		const char *words = simple_keys[i].words;
		size_t first = strcspn(words, " ");

		if (strncmp(words, hap_word(line, 0), first) != 0 ||
		    hap_word(line, 0)[first] != '\0')
			continue;
		if (!words[first] ||
		    strcmp(words + first + 1, hap_word(line, 1)) == 0)
			return &simple_keys[i];
	}
	return NULL;
}

/* Returns the argument as a value, or NULL. */
static const char *
value_of_key(struct hap_file *file, const struct simple_key *key,
    const struct hap_line *line)
{
	const char *arg;
	struct arena *arena = &file->doc->arena;
	bool retries = strcmp(key->words, "retries") == 0;
	uint64_t n;

	if (key->kind == FIXED)
		return key->value;
	arg = hap_word(line, strchr(key->words, ' ') ? 2 : 1);
	if (key->kind == TIME) {
		if (!value_haproxy_time(arg, &n))
			return strchr(arg, '$') ? doc_word(file->doc, arg)
			                        : NULL;
		return value_duration(
		    arena, n > 0 ? n : VALUE_FOREVER_MS, 10, VALUE_FOREVER_MS);
	}
	if (strchr(arg, '$'))
		return doc_word(file->doc, arg);
	if (!value_number(arg, &n))
		return NULL;
	if (n == 0 && !retries)
		return strcmp(key->key, "maxconn") == 0 ? "auto" : "off";
	n = retries && n > 10 ? 10 : n > 1048576 ? 1048576 : n;
	return arena_printf(
	    arena, "%u%s", (unsigned)n, key->value ? key->value : "");
}

static bool
is_idle_timeout(const struct simple_key *key)
{
	return key->key && (strcmp(key->key, "timeout_client") == 0 ||
	                       strcmp(key->key, "timeout_server") == 0);
}

/* Writes the key.  Half-closed sessions without a time of their own get the
 * same time. */
static void
write_simple(struct hap_file *file, struct ini_section *section,
    const struct simple_key *key, const struct hap_line *line, bool has_fin)
{
	const char *value = value_of_key(file, key, line);

	if (!value) {
		hap_lost(file, section, line, LOSS_CLIENTS,
		    "the argument is not understood; write %s = VALUE",
		    key->key);
		return;
	}
	doc_key(file->doc, section, key->key, "%s", value);
	if (is_idle_timeout(key) && !has_fin)
		doc_key(file->doc, section,
		    key->side == FRONT ? "timeout_client_fin"
		                       : "timeout_server_fin",
		    "%s", value);
}

/* Takes options of the proxy that are options of listen or server in lfproxy.
 * Returns false for others. */
static bool
take_keepalive(struct hap_proxy *proxy, const struct hap_line *line)
{
	struct arena *arena = &proxy->file->doc->arena;
	const char *option =
	    strcmp(hap_word(line, 0), "option") == 0 ? hap_word(line, 1) : "";
	bool both = strcmp(option, "tcpka") == 0;

	if (!*option || (!both && strcmp(option, "clitcpka") != 0 &&
	                    strcmp(option, "srvtcpka") != 0))
		return false;
	if (option[0] != 's' && !words_has(&proxy->keepalive, "listen")) {
		words_add(arena, &proxy->keepalive, "listen");
		words_add(arena, &proxy->binds, "keepalive");
	}
	if (option[0] != 'c')
		words_add(arena, &proxy->keepalive, "server");
	return true;
}

/* Adds the addresses of `acl NAME src ADDRESSES`.  Returns false if there is no
 * such line. */
static bool
add_acl_ranges(struct hap_proxy *proxy, const char *name)
{
	const char *range;
	bool found = false;

	for (size_t i = 0; i < proxy->lines.n; i++) {
		const struct words *words = &proxy->lines.all[i].words;

		if (words->n < 4 || strcmp(words->word[0], "acl") != 0 ||
		    strcmp(words->word[1], name) != 0 ||
		    strcmp(words->word[2], "src") != 0)
			continue;
		for (size_t j = 3; j < words->n; j++) {
			if (!value_range(&proxy->file->doc->arena,
			        words->word[j], &range))
				return false;
			words_add(&proxy->file->doc->arena, &proxy->proxy_from,
			    range);
			found = true;
		}
	}
	return found;
}

/* Reads `tcp-request connection expect-proxy layer4 if { src ADDRESSES }`. */
static void
scan_expect_proxy(struct hap_proxy *proxy, const struct hap_line *line)
{
	struct arena *arena = &proxy->file->doc->arena;
	const char *range;

	if (line->reason || strcmp(hap_word(line, 0), "tcp-request") != 0 ||
	    strcmp(hap_word(line, 1), "connection") != 0 ||
	    strcmp(hap_word(line, 2), "expect-proxy") != 0 ||
	    strcmp(hap_word(line, 3), "layer4") != 0 ||
	    words_has(&proxy->keepalive, "accept_proxy"))
		return;
	words_add(arena, &proxy->keepalive, "accept_proxy");
	words_add(arena, &proxy->binds, "accept_proxy");
	for (size_t i = 4; i < line->words.n; i++) {
		const char *word = line->words.word[i];

		if (value_range(arena, word, &range))
			words_add(arena, &proxy->proxy_from, range);
		else if (strcmp(word, "if") != 0 && strcmp(word, "{") != 0 &&
		         strcmp(word, "src") != 0 && strcmp(word, "}") != 0 &&
		         !add_acl_ranges(proxy, word))
			continue;
		(void)hap_word(line, i);
	}
}

void
hap_scan_keys(struct hap_proxy *proxy)
{
	const struct hap_line *backlog = hap_find(proxy, "backlog");
	static const char *const options[] = {
	    "option tcpka", "option clitcpka", "option srvtcpka"};

	for (size_t i = 0; i < proxy->lines.n; i++)
		scan_expect_proxy(proxy, &proxy->lines.all[i]);
	if (backlog)
		proxy->backlog = value_up_to(
		    &proxy->file->doc->arena, hap_word(backlog, 1), 65535);
	for (size_t i = 0; i < 3; i++) {
		const struct hap_line *line = hap_find(proxy, options[i]);

		if (line)
			(void)take_keepalive(proxy, line);
	}
}

/* Writes the retries for `retry-on WORD ...`.  All words but conn-failure and
 * none are about HTTP: in mode tcp HAProxy ignores them. */
static void
put_retry_on(struct hap_proxy *proxy, const struct hap_line *line)
{
	struct document *doc = proxy->file->doc;
	const struct words *words = &line->words;
	bool close =
	    proxy->http && (words_has(words, "empty-response") ||
	                       words_has(words, "all-retryable-errors"));

	if (words_has(words, "none"))
		doc_key(doc, proxy->be, "retries", "0");
	else
		doc_key(
		    doc, proxy->be, "retry_on", close ? "close" : "connect");
	if (proxy->http && words_unread(&doc->arena, words))
		hap_lost(proxy->file, proxy->be, line, LOSS_CLIENTS,
		    "answers are not looked into");
	words_read_all(words, 1);
}

/* Takes lines whose keys need more than the table.  Returns false for
 * others. */
static bool
take_other(struct hap_proxy *proxy, const struct hap_line *line)
{
	struct document *doc = proxy->file->doc;
	const char *word = hap_word(line, 0), *interface, *value;
	size_t i = 0;

	if (strcmp(word, "disabled") == 0) {
		if (proxy->fe)
			doc_key(doc, proxy->fe, "disabled", "on");
		else
			doc_key(doc, proxy->be, "server_defaults", "disabled");
	} else if (strcmp(word, "source") == 0) {
		if (!proxy->be || hap_find(proxy, word) != line)
			return true;
		value = hap_source(proxy, &line->words, &i, &interface);
		if (value)
			doc_key(doc, proxy->be, "source", "%s", value);
	} else if (strcmp(word, "retry-on") == 0) {
		if (proxy->be && hap_find(proxy, word) == line)
			put_retry_on(proxy, line);
	} else if (strcmp(word, "hash-type") == 0) {
		/* The function that hashes does not matter. */
		words_read_all(&line->words, 1);
	} else if (strcmp(word, "description") == 0) {
		doc_comment(doc, words_join(&doc->arena, &line->words, 1, " "));
	} else {
		return strcmp(word, "backlog") == 0;
	}
	return true;
}

bool
hap_simple_key(struct hap_proxy *proxy, const struct hap_line *line)
{
	const struct simple_key *key;
	struct ini_section *where;
	bool has_fin;

	if (strcmp(hap_word(line, 0), "no") == 0)
		return hap_no_option(proxy, line);
	key = find_simple(line);
	/* The number of retries before another server is tried; here it is
	 * none. */
	if (strcmp(hap_word(line, 0), "option") == 0 && key &&
	    strcmp(key->words, "option redispatch") == 0 &&
	    strspn(hap_word(line, 2), "-0123456789") <
	        strlen(hap_word(line, 2)))
		return false;
	if (!key)
		return take_keepalive(proxy, line) || take_other(proxy, line);
	where = key->side == FRONT  ? proxy->fe
	        : key->side == BACK ? proxy->be
	                            : NULL;
	if (strcmp(key->words, "retries") == 0 &&
	    hap_find(proxy, "retry-on none")) {
		(void)hap_word(line, 1);
		return true;
	}
	if (!where || hap_find(proxy, key->words) != line ||
	    (line->inherited && proxy->file->one_defaults))
		return true;
	has_fin = hap_find(proxy,
	    key->side == FRONT ? "timeout client-fin" : "timeout server-fin");
	write_simple(proxy->file, where, key, line, has_fin);
	return true;
}

/* Sets the opposite value for `no option X`, if a single [defaults] has the key
 * of X. */
bool
hap_no_option(struct hap_proxy *proxy, const struct hap_line *line)
{
	struct hap_line positive = *line;
	const struct simple_key *key;
	struct ini_section *where;

	words_read_all(&line->words, 1);
	if (line->words.n < 3)
		return true;
	positive.words.word++;
	positive.words.n--;
	key = find_simple(&positive);
	where = !key                 ? NULL
	        : key->side == FRONT ? proxy->fe
	        : key->side == BACK  ? proxy->be
	                             : NULL;
	/* HAProxy knows `no` before options alone. */
	if (where && key->value && proxy->file->one_defaults &&
	    !line->inherited)
		doc_key(proxy->file->doc, where, key->key, "%s",
		    strcmp(key->value, "on") == 0 ? "off" : "on");
	return true;
}

/* Returns whether a client of the backend has a server of its own, which
 * HAProxy tries again before it tries another one. */
static bool
has_own_server(const struct hap_proxy *proxy)
{
	static const char *const any[] = {
	    "roundrobin", "static-rr", "leastconn", "random"};
	const struct hap_line *line = hap_find(proxy, "balance");

	if (hap_find(proxy, "stick on") || hap_find(proxy, "stick match"))
		return true;
	for (size_t i = 0; line && i < sizeof(any) / sizeof(any[0]); i++)
		if (strncmp(hap_word(line, 1), any[i], strlen(any[i])) == 0)
			return false;
	return line;
}

/* Reports once where retries go, unless HAProxy goes to another server at once
 * as well, or retries nothing. */
static void
report_retries(struct hap_proxy *proxy)
{
	const struct hap_line *redispatch =
	    hap_find(proxy, "option redispatch");
	const struct hap_line *retries = hap_find(proxy, "retries");

	redispatch = redispatch ? redispatch : hap_find(proxy, "redispatch");
	if (proxy->file->told_retries || proxy->n_servers < 2 ||
	    (redispatch && (!has_own_server(proxy) ||
	                       strcmp(hap_word(redispatch, 2), "1") == 0)) ||
	    (retries && strcmp(hap_word(retries, 1), "0") == 0))
		return;
	proxy->file->told_retries = true;
	doc_default(proxy->file->doc, proxy->be, LOSS_OPERATORS, "retries",
	    "a failed connect is tried again at another server at once; "
	    "HAProxy tries the same server each second, and %s",
	    redispatch ? "another one last"
	               : "without redispatch no other one");
}

/* Writes the longest times for missing timeouts, without which HAProxy waits
 * forever. */
void
hap_missing_keys(struct hap_proxy *proxy)
{
	struct document *doc = proxy->file->doc;

	if (proxy->fe && !hap_find(proxy, "timeout client") &&
	    !hap_find(proxy, "clitimeout")) {
		doc_note(doc, proxy->fe,
		    "without `timeout client` HAProxy "
		    "waits forever");
		doc_key(doc, proxy->fe, "timeout_client", "30d");
		doc_key(doc, proxy->fe, "timeout_client_fin", "30d");
	}
	if (proxy->be && !hap_find(proxy, "timeout server") &&
	    !hap_find(proxy, "srvtimeout")) {
		doc_note(doc, proxy->be,
		    "without `timeout server` HAProxy "
		    "waits forever");
		doc_key(doc, proxy->be, "timeout_server", "30d");
		doc_key(doc, proxy->be, "timeout_server_fin", "30d");
	}
	if (proxy->be && proxy->n_servers > 0 &&
	    !hap_find(proxy, "timeout connect") &&
	    !hap_find(proxy, "contimeout")) {
		doc_note(doc, proxy->be,
		    "without `timeout connect` HAProxy "
		    "waits as long as the kernel tries");
		doc_key(doc, proxy->be, "timeout_connect", "30d");
	}
	report_retries(proxy);
}

static const struct hap_line *
find_in(const struct hap_section *section, const char *words)
{
	struct hap_proxy proxy = {.lines = section->lines};

	return hap_find(&proxy, words);
}

static bool
is_proxys_own(const struct hap_line *line)
{
	static const char *const words[] = {"balance", "default-server", "log",
	    "tcp-check", "http-check", "external-check", "source", "retry-on",
	    "backlog", "tcp-request", "default_backend", "stick-table",
	    "hash-balance-factor", "disabled"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(hap_word(line, 0), words[i]) == 0)
			return true;
	return hap_is_check_line(line);
}

/* Converts a line of a defaults section, unless each proxy converts it. */
static void
convert_default(struct hap_file *file, const struct hap_section *section,
    struct ini_section *out, const struct hap_line *line, bool http)
{
	const struct simple_key *key = find_simple(line);
	struct hap_proxy none = {.file = file};
	bool has_fin;

	if (hap_common_line(file, out, line))
		return;
	if (key && file->one_defaults && key->side != NOWHERE) {
		has_fin =
		    find_in(section, key->side == FRONT ? "timeout client-fin"
		                                        : "timeout server-fin");
		if (find_in(section, key->words) == line)
			write_simple(file, out, key, line, has_fin);
	} else if (!key && !take_keepalive(&none, line) &&
	           !is_proxys_own(line) &&
	           strcmp(hap_word(line, 0), "no") != 0 &&
	           !hap_report_keyword(file, out, line, http)) {
		hap_lost(file, out, line, LOSS_CLIENTS,
		    "lfproxy has nothing of that name");
	}
	hap_end_line(file);
}

void
hap_defaults(struct hap_file *file, const struct hap_section *section)
{
	struct ini_section *out = doc_section(file->doc, "defaults");
	bool http = false;

	(void)hap_word(&section->head, 1);

	if (!file->one_defaults)
		out->head = NULL;
	for (size_t i = 0; i < file->n; i++)
		if (file->sections[i].defaults == section &&
		    !find_in(&file->sections[i], "stats"))
			http |= hap_is_http(&file->sections[i]);
	for (size_t i = 0; i < section->lines.n; i++)
		convert_default(
		    file, section, out, &section->lines.all[i], http);
	if (!file->one_defaults)
		doc_note(file->doc, out,
		    "%s:%u: the other lines of `%s` stand in each frontend and "
		    "backend that they hold for",
		    file->name, section->head.line, section->head.text);
}
