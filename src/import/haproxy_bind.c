/* SPDX-License-Identifier: MIT
 * HAProxy's bind lines: listen = ADDRESS, with its options.
 */
#include <string.h>

#include "import/haproxy.h"
#include "vocabulary/options.h"

/* The options of one bind line. */
struct bind_state {
	struct hap_proxy *proxy;
	const struct hap_line *line;
	struct hap_tls tls;
	struct arena_text options; /* each with a blank before it */
	bool v4v6, v6only;
};

static void
haproxy_add_option(struct bind_state *bind, const char *name, const char *value)
{
	arena_text_printf(&bind->proxy->file->doc->arena, &bind->options,
	    value ? " %s=%s" : " %s", name, value);
}

static bool
take_bind_flag(struct bind_state *bind, const char *word)
{
	if (strcmp(word, "accept-proxy") == 0)
		haproxy_add_option(bind, "accept_proxy", NULL);
	else if (strcmp(word, "transparent") == 0)
		haproxy_add_option(bind, "transparent", NULL);
	else if (strcmp(word, "tfo") == 0)
		haproxy_add_option(bind, "tfo", "256");
	else if (strcmp(word, "defer-accept") == 0)
		haproxy_add_option(bind, "defer_accept", "1s");
	else if (strcmp(word, "v4v6") == 0)
		bind->v4v6 = true;
	else if (strcmp(word, "v6only") == 0)
		bind->v6only = true;
	else
		return false;
	return true;
}

static bool
take_bind_setting(struct bind_state *bind, const char *word, const char *arg)
{
	static const char *const same[][2] = {{"interface", "interface"},
	    {"backlog", "backlog"}, {"mss", "mss"}, {"user", "user"},
	    {"group", "group"}, {"mode", "mode"}, {"cc", "congestion"}};
	struct arena *arena = &bind->proxy->file->doc->arena;
	uint64_t ms;

	if (strcmp(word, "backlog") == 0 && value_up_to(arena, arg, 65535))
		arg = value_up_to(arena, arg, 65535);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (strcmp(word, same[i][0]) == 0) {
			haproxy_add_option(bind, same[i][1], arg);
			return true;
		}
	if (strcmp(word, "tcp-ut") == 0 && value_haproxy_time(arg, &ms)) {
		haproxy_add_option(bind, "user_timeout",
		    value_duration(arena, ms, 10, 24ULL * 86400 * 1000));
		return true;
	}
	return false;
}

static void
lose_option(struct bind_state *bind, size_t *i)
{
	struct hap_file *file = bind->proxy->file;
	const struct words *words = &bind->line->words;
	const char *word = words_get(words, *i);
	const struct option_words *row = listen_option_find(word);
	bool known = row && row->reason;

	if (known && row->takes != TAKES_NOTHING && *i + 1 < words->n)
		word = arena_printf(&file->doc->arena, "bind ... %s %s", word,
		    words_get(words, ++*i));
	else
		word = arena_printf(&file->doc->arena, "bind ... %s", word);
	if (!known || row->loss != LOSS_NONE)
		hap_lost_words(file, bind->proxy->fe, bind->line,
		    known ? row->loss : LOSS_CLIENTS, word, "%s",
		    known ? row->reason : "listen has no such option");
}

static void
read_options(struct bind_state *bind, size_t first)
{
	const struct words *words = &bind->line->words;

	for (size_t i = first; i < words->n; i++) {
		const char *word = words_get(words, i);

		if (take_bind_flag(bind, word) ||
		    hap_tls_word(
		        bind->proxy->file, &bind->tls, true, words, &i))
			continue;
		if (i + 1 < words->n &&
		    take_bind_setting(bind, word, words_get(words, i + 1)))
			i++;
		else
			lose_option(bind, &i);
	}
}

/* Reports words about TLS that have no counterpart. */
static void
report_tls(struct bind_state *bind)
{
	const struct words *lost = &bind->tls.lost;

	for (size_t i = 0; i + 1 < lost->n; i += 2) {
		const char *reason = lost->word[i + 1];
		bool clients = strncmp(reason, "CLIENTS: ", 9) == 0;

		hap_lost_words(bind->proxy->file, bind->proxy->fe, bind->line,
		    clients ? LOSS_CLIENTS : LOSS_OPERATORS, lost->word[i],
		    "%s", clients ? reason + 9 : reason);
	}
}

static void
add_listen(struct bind_state *bind, const char *word)
{
	struct hap_proxy *proxy = bind->proxy;
	struct document *doc = proxy->file->doc;
	const char *reason = NULL;
	const char *address = hap_listen_address(&doc->arena, word, &reason);
	const char *options = bind->options.data ? bind->options.data : "";
	bool any;

	if (!address || !doc_word(doc, address)) {
		hap_lost_words(proxy->file, proxy->fe, bind->line, LOSS_CLIENTS,
		    arena_printf(&doc->arena, "bind %s", word), "%s",
		    reason ? reason : "an address has no blanks");
		return;
	}
	/* On Linux [::] includes IPv4, unless v6only is set, or another socket
	 * has the IPv4 address. */
	any = strncmp(address, "[::]:", 5) == 0 && !bind->v6only &&
	      !words_has(&proxy->file->listens,
	          arena_printf(&doc->arena, "0.0.0.0:%s", address + 5));
	if (strncmp(address, "0.0.0.0:", 8) == 0 &&
	    words_has(&proxy->file->listens, address + 7)) {
		doc_note(
		    doc, proxy->fe, "%s is a part of %s", address, address + 7);
		return;
	}
	if (any)
		address += strlen("[::]");
	words_add(&doc->arena, &proxy->file->listens, address);
	if (proxy->backlog && !strstr(options, " backlog="))
		options = arena_printf(
		    &doc->arena, "%s backlog=%s", options, proxy->backlog);
	for (size_t i = 0;
	     i < proxy->binds.n && strncmp(address, "unix:", 5) != 0; i++)
		options = arena_printf(
		    &doc->arena, "%s %s", options, proxy->binds.word[i]);
	doc_key(doc, proxy->fe, "listen", "%s%s", address, options);
	proxy->n_binds++;
}

void
hap_bind(struct hap_proxy *proxy, const struct hap_line *line)
{
	struct bind_state bind = {.proxy = proxy, .line = line};
	struct arena *arena = &proxy->file->doc->arena;
	const char *addresses = hap_word(line, 1);
	char *copy = arena_copy(arena, addresses, strlen(addresses));
	char *rest = NULL;

	read_options(&bind, 2);
	if (bind.tls.on && !bind.tls.first_cert) {
		report_tls(&bind);
		hap_lost(proxy->file, proxy->fe, line, LOSS_CLIENTS,
		    "left out: the certificate is missing; write tls=NAME "
		    "behind "
		    "the address and a [tls NAME]");
		return;
	}
	if (bind.tls.on)
		haproxy_add_option(&bind, "tls",
		    hap_tls_section(proxy->file, &bind.tls, true, proxy->name));
	report_tls(&bind);
	for (char *word = strtok_r(copy, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest))
		add_listen(&bind, word);
}
