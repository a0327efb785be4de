/* SPDX-License-Identifier: MIT
 * HAProxy's server, default-server, server-template and dispatch lines.
 */
#include <ctype.h>
#include <string.h>

#include "import/haproxy.h"
#include "vocabulary/options.h"

/* The options of one server, in lfproxy's words. */
struct server_state {
	struct hap_proxy *proxy;
	const struct hap_line *line; /* whose options are being read */
	struct hap_tls tls;
	struct words keys, values; /* "" for a flag, NULL for none */
	bool check, checked_over_tls, agent;
};

static void
set_option(struct server_state *server, const char *key, const char *value)
{
	struct arena *arena = &server->proxy->file->doc->arena;

	for (size_t i = 0; i < server->keys.n; i++)
		if (strcmp(server->keys.word[i], key) == 0) {
			server->values.word[i] = value;
			return;
		}
	words_add(arena, &server->keys, key);
	words_add(arena, &server->values, value);
}

static const char *
option_of(const struct server_state *server, const char *key)
{
	for (size_t i = 0; i < server->keys.n; i++)
		if (strcmp(server->keys.word[i], key) == 0)
			return server->values.word[i];
	return NULL;
}

static void
lose_words(struct server_state *server, enum loss loss, const char *words,
    const char *reason)
{
	struct hap_proxy *proxy = server->proxy;

	if (loss == LOSS_NONE)
		return;
	hap_lost_words(proxy->file, proxy->be, server->line, loss,
	    arena_printf(&proxy->file->doc->arena, "%s %s ... %s",
	        hap_word(server->line, 0), hap_word(server->line, 1), words),
	    "%s", reason);
}

/* Returns the value of our option, or NULL if arg cannot be one. */
static const char *
take_value(struct server_state *server, const struct option_words *row,
    const char *arg)
{
	struct arena *arena = &server->proxy->file->doc->arena;
	bool slow = strcmp(row->key, "slow_start") == 0;
	uint64_t number;

	switch (row->takes) {
	case TAKES_NOTHING:
		return row->value;
	case TAKES_ONE:
		return strcmp(arg, row->one) == 0 ? row->value : NULL;
	case TAKES_TIME:
		return value_haproxy_time(arg, &number)
		           ? value_duration(arena, number, slow ? 1000 : 10,
		                 86400ULL * 1000)
		           : NULL;
	case TAKES_NUMBER:
		if (!strchr(arg, '$'))
			return value_number(arg, &number) ? arg : NULL;
		break;
	case TAKES_TEXT:
		if (strcmp(row->key, "check_addr") == 0 &&
		    !value_range(arena, arg, &arg))
			return NULL;
	}
	return doc_word(server->proxy->file->doc, arg);
}

/* Takes an option that has a counterpart, with row NULL none.  Returns false
 * for others. */
static bool
take_plain(struct server_state *server, const struct option_words *row,
    const struct words *words, size_t *i)
{
	const char *word = words_get(words, *i);
	const char *arg = words_get(words, *i + 1);
	const char *value;

	if (!row || !row->key)
		return false;
	value = take_value(server, row, arg);
	if (value)
		set_option(server, row->key, value);
	else
		lose_words(server, LOSS_OPERATORS,
		    arena_printf(
		        &server->proxy->file->doc->arena, "%s %s", word, arg),
		    "this value cannot be written here");
	*i += row->takes != TAKES_NOTHING;
	return true;
}

/* Reports an option that has no counterpart, with its argument. */
static void
lose_server_option(struct server_state *server, const struct option_words *row,
    const struct words *words, size_t *i)
{
	const char *word = words_get(words, *i);
	bool known = row && row->reason;

	if (known && row->takes != TAKES_NOTHING && *i + 1 < words->n)
		word = arena_printf(&server->proxy->file->doc->arena, "%s %s",
		    word, words_get(words, ++*i));
	lose_words(server, known ? row->loss : LOSS_CLIENTS, word,
	    known ? row->reason : "servers have no such option");
}

/* Sets a key of the backend for an option that HAProxy has at each server. */
static void
set_backend_key(struct server_state *server, const char *key, const char *value)
{
	struct hap_proxy *proxy = server->proxy;
	const char *line =
	    arena_printf(&proxy->file->doc->arena, "%s = %s", key, value);

	if (words_has(&proxy->be_keys, key))
		return;
	words_add(&proxy->file->doc->arena, &proxy->be_keys, key);
	doc_key(proxy->file->doc, proxy->be, key, "%s",
	    line + strlen(key) + strlen(" = "));
}

static bool
is_error_action(const char *arg)
{
	return strcmp(arg, "fastinter") == 0 ||
	       strcmp(arg, "fail-check") == 0 ||
	       strcmp(arg, "sudden-death") == 0 ||
	       strcmp(arg, "mark-down") == 0;
}

/* Takes an option about failures.  Returns false for others. */
static bool
take_reaction(struct server_state *server, const char *word, const char *arg)
{
	if (strcmp(word, "observe") == 0 && strcmp(arg, "layer4") == 0)
		set_backend_key(server, "observe", "connect");
	else if (strcmp(word, "error-limit") == 0)
		set_backend_key(server, "error_limit", arg);
	else if (strcmp(word, "on-error") == 0 && is_error_action(arg))
		set_backend_key(server, "on_error",
		    strcmp(arg, "fastinter") == 0      ? "fast_check"
		    : strcmp(arg, "fail-check") == 0   ? "fail_check"
		    : strcmp(arg, "sudden-death") == 0 ? "sudden_death"
		                                       : "mark_down");
	else if (strcmp(word, "maxqueue") == 0)
		set_backend_key(server, "maxqueue", arg);
	else
		return false;
	return true;
}

/* Reads `source ADDR[:PORT[-PORT]] [usesrc ...] [interface NAME]`.  Returns the
 * value, or NULL. */
const char *
hap_source(struct hap_proxy *proxy, const struct words *words, size_t *i,
    const char **ret_interface)
{
	const char *address = words_get(words, ++*i);
	const char *host, *port, *value;
	struct arena *arena = &proxy->file->doc->arena;
	bool client = false;

	*ret_interface = NULL;
	while (*i + 2 < words->n) {
		const char *word = words_get(words, *i + 1);

		if (strcmp(word, "interface") == 0)
			*ret_interface = words_get(words, *i + 2);
		else if (strcmp(word, "usesrc") == 0)
			client =
			    strncmp(words_get(words, *i + 2), "client", 6) == 0;
		else
			break;
		*i += 2;
	}
	if (client)
		return "client";
	hap_split_address(arena, address, &host, &port);
	if (strcmp(host, "0.0.0.0") == 0 || !*host)
		host = "*";
	if (strcmp(host, "*") == 0 && !port)
		return NULL;
	value = strchr(host, ':') && port ? arena_printf(arena, "[%s]", host)
	                                  : host;
	return port ? arena_printf(arena, "%s:%s", value, port) : value;
}

static void
haproxy_take_option(
    struct server_state *server, const struct words *words, size_t *i)
{
	struct hap_file *file = server->proxy->file;
	const char *word = words_get(words, *i), *value, *interface;
	const char *arg = words_get(words, *i + 1);
	const struct option_words *row = server_option_find(word);

	if (strcmp(word, "check") == 0 || strcmp(word, "no-check") == 0) {
		server->check = word[0] == 'c';
	} else if (strcmp(word, "resolvers") == 0) {
		set_option(server, "resolve", "ttl");
		++*i;
	} else if (strcmp(word, "check-sni") == 0) {
		++*i;
		if (!server->proxy->check_tls)
			lose_words(server, LOSS_CLIENTS, word,
			    "write sni=NAME behind check = https or tls");
	} else if (strcmp(word, "agent-send") == 0) {
		value = value_quote(&file->doc->arena, arg, strlen(arg));
		value =
		    arena_copy(&file->doc->arena, value + 1, strlen(value) - 2);
		set_option(server, "agent_send", value);
		++*i;
	} else if (strcmp(word, "source") == 0) {
		value = hap_source(server->proxy, words, i, &interface);
		if (value)
			set_option(server, "source", value);
		if (interface)
			set_option(server, "interface", interface);
	} else if (take_reaction(server, word, arg)) {
		++*i;
	} else if (!take_plain(server, row, words, i) &&
	           !hap_tls_word(file, &server->tls, false, words, i)) {
		lose_server_option(server, row, words, i);
	}
}

static void
read_server_options(
    struct server_state *server, const struct hap_line *line, size_t first)
{
	server->line = line;
	for (size_t i = first; i < line->words.n; i++)
		haproxy_take_option(server, &line->words, &i);
}

/* Reads the options of the default-server lines that apply to the line. */
static void
haproxy_read_defaults(struct server_state *server, const struct hap_line *at)
{
	struct hap_proxy *proxy = server->proxy;

	for (size_t i = 0; i < proxy->lines.n && &proxy->lines.all[i] != at;
	     i++) {
		struct hap_line line = proxy->lines.all[i];

		/* The loss is reported once, at the line itself. */
		line.inherited = true;
		if (!line.reason &&
		    strcmp(hap_word(&line, 0), "default-server") == 0)
			read_server_options(server, &line, 1);
	}
}

static size_t
first_option(const struct hap_line *line)
{
	const char *word = hap_word(line, 0);

	return strcmp(word, "server") == 0            ? 3
	       : strcmp(word, "server-template") == 0 ? 4
	                                              : 1;
}

/* Returns whether the line is a template whose servers, with their weights,
 * come from SRV records. */
static bool
is_service(const struct hap_line *line)
{
	return strcmp(hap_word(line, 0), "server-template") == 0 &&
	       hap_word(line, 3)[0] == '_';
}

static void
report_server_tls(struct server_state *server)
{
	const struct words *lost = &server->tls.lost;

	for (size_t i = 0; i + 1 < lost->n; i += 2) {
		const char *reason = lost->word[i + 1];
		bool clients = strncmp(reason, "CLIENTS: ", 9) == 0;

		lose_words(server, clients ? LOSS_CLIENTS : LOSS_OPERATORS,
		    lost->word[i], clients ? reason + 9 : reason);
	}
}

/* Sets options of the check that HAProxy derives from others: the version of
 * the PROXY header, and the time for a check. */
static void
complete_check(struct server_state *server)
{
	const char *header = option_of(server, "send_proxy");
	const char *interval = option_of(server, "check_interval");

	if (option_of(server, "check_send_proxy") && header &&
	    strncmp(header, "v2", 2) == 0)
		set_option(server, "check_send_proxy", "v2");
	if (interval && !hap_find(server->proxy, "timeout check"))
		set_option(server, "check_timeout", interval);
}

/* Sets and drops options that depend on others. */
static void
complete_options(struct server_state *server)
{
	struct hap_proxy *proxy = server->proxy;
	struct hap_file *file = proxy->file;
	const char *check_tls = option_of(server, "check_tls");

	if (server->tls.on)
		set_option(server, "tls",
		    hap_tls_section(file, &server->tls, false,
		        arena_printf(
		            &file->doc->arena, "%s-servers", proxy->name)));
	report_server_tls(server);
	/* With the weight of HAProxy, not ours, `set weight 1` brings a server
	 * back after `set weight 0`. */
	if (!option_of(server, "weight") && !is_service(server->line))
		set_option(server, "weight", "1");
	if (option_of(server, "on_up") && option_of(server, "backup") &&
	    !*option_of(server, "backup")) {
		lose_words(server, LOSS_OPERATORS, "on-marked-up",
		    "on_up is for servers whose coming up ends the sessions of "
		    "backups");
		set_option(server, "on_up", NULL);
	}
	if (option_of(server, "track"))
		return;
	if (proxy->checks && !server->check)
		set_option(server, "check", "off");
	if (check_tls && !server->tls.on && server->check) {
		if (strcmp(check_tls, "on") == 0 && !proxy->check_tls) {
			lose_words(server, LOSS_CLIENTS, "check-ssl",
			    "not checked: other servers of the backend are "
			    "checked without TLS, or with other settings; "
			    "write check = tls or https in a backend of its "
			    "own");
			set_option(server, "check", "off");
			server->check = false;
		}
		set_option(server, "check_tls", NULL);
	}
	complete_check(server);
	if (server->tls.on && !check_tls && server->check &&
	    (option_of(server, "check_port") ||
	        option_of(server, "check_addr")))
		set_option(server, "check_tls", "off");
	if (server->tls.on && option_of(server, "agent"))
		set_option(server, "agent_tls", "off");
}

/* Returns whether an option of a check has no effect, because the server has no
 * such check. */
static bool
is_useless(const struct server_state *server, const char *key)
{
	bool tracks = option_of(server, "track") != NULL;
	bool agent = strncmp(key, "agent", 5) == 0;

	if (strncmp(key, "check_", 6) == 0)
		return !server->check || tracks;
	if (agent && key[5] == '_')
		return tracks || !option_of(server, "agent");
	return agent && tracks;
}

static const char *
options_text(const struct server_state *server)
{
	struct arena *arena = &server->proxy->file->doc->arena;
	struct arena_text text = {NULL, 0, 0};

	arena_text_add(arena, &text, "", 0);
	for (size_t i = 0; i < server->keys.n; i++) {
		const char *value = server->values.word[i];

		if (!value || is_useless(server, server->keys.word[i]))
			continue;
		arena_text_printf(arena, &text, *value ? " %s=%s" : " %s",
		    server->keys.word[i], value);
	}
	return text.data;
}

/* Reports that a server whose address is a name is asked for by this name. */
static void
report_sni(struct server_state *server, const char *address)
{
	struct arena *arena = &server->proxy->file->doc->arena;
	const char *host, *port, *range;

	hap_split_address(arena, address, &host, &port);
	if (server->tls.on && !server->tls.sni && value_is_host_name(host) &&
	    !value_range(arena, host, &range))
		lose_words(server, LOSS_SERVERS, "ssl",
		    "the server is asked for by its name (SNI); HAProxy before "
		    "3.3 names none without sni");
}

/* Writes the set for `server-template PREFIX NUMBER|FIRST-LAST NAME:PORT`. */
static void
write_template(struct server_state *server, const struct hap_line *line)
{
	struct hap_proxy *proxy = server->proxy;
	struct document *doc = proxy->file->doc;
	const char *number = hap_word(line, 2), *host, *port;
	const char *dash = strchr(number, '-');
	bool srv = is_service(line);
	uint64_t first = 1, last;

	hap_split_address(&doc->arena, hap_word(line, 3), &host, &port);
	if (!value_number(dash ? dash + 1 : number, &last) ||
	    (dash && !value_number(arena_copy(&doc->arena, number,
	                               (size_t)(dash - number)),
	                 &first)) ||
	    first < 1 || last < first || !doc_word(doc, host) ||
	    (!srv && !port)) {
		hap_lost(proxy->file, proxy->be, line, LOSS_CLIENTS,
		    "servers needs a number and a name with a port");
		return;
	}
	last = last - first + 1;
	report_sni(server, host);
	doc_key(doc, proxy->be, "servers",
	    srv ? "%s %u srv=%s%s" : "%s %u dns=%s%s",
	    doc_name(doc, proxy->be->head, hap_word(line, 1)),
	    (unsigned)(last > 10000 ? 10000 : last),
	    srv ? host : arena_printf(&doc->arena, "%s:%s", host, port),
	    options_text(server));
	proxy->n_servers++;
}

/* Returns whether the address has a port, and not an offset to the client's. */
static bool
has_port(struct arena *arena, const char *address)
{
	const char *host, *port;

	hap_split_address(arena, address, &host, &port);
	return port && *port != '+' && *port != '-';
}

static void
haproxy_write_server(
    struct server_state *server, const struct hap_line *line, size_t address)
{
	struct hap_proxy *proxy = server->proxy;
	struct document *doc = proxy->file->doc;
	const char *reason = "an address has no blanks";
	const char *name = address == 2 ? hap_word(line, 1) : "dispatch";
	const char *where =
	    hap_server_address(&doc->arena, hap_word(line, address), &reason);

	if (!where || !doc_word(doc, where)) {
		hap_lost(
		    proxy->file, proxy->be, line, LOSS_CLIENTS, "%s", reason);
		return;
	}
	if (server->check && !option_of(server, "check_port") &&
	    strncmp(where, "unix:", 5) != 0 && !proxy->check_port &&
	    !has_port(&doc->arena, where)) {
		lose_words(server, LOSS_OPERATORS, "check",
		    "a server without a port is checked at check_port=PORT");
		set_option(server, "check", "off");
		server->check = false;
	}
	report_sni(server, where);
	name = doc_name(doc, proxy->be->head, name);
	doc_key(doc, proxy->be, "server", "%s %s%s", name, where,
	    options_text(server));
	proxy->n_servers++;
}

void
hap_server(struct hap_proxy *proxy, const struct hap_line *line)
{
	struct server_state server = {.proxy = proxy};
	const char *word = hap_word(line, 0);

	if (strcmp(word, "default-server") == 0) {
		/* Reports options without a counterpart; the others are read
		 * at each server. */
		read_server_options(&server, line, 1);
		return;
	}
	haproxy_read_defaults(&server, line);
	if (strcmp(word, "dispatch") != 0)
		read_server_options(&server, line, first_option(line));
	if (words_has(&proxy->keepalive, "server"))
		set_option(&server, "keepalive", "on");
	complete_options(&server);
	if (strcmp(word, "server-template") == 0)
		write_template(&server, line);
	else
		haproxy_write_server(&server, line, word[0] == 's' ? 2 : 1);
}
