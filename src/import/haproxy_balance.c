/* SPDX-License-Identifier: MIT
 * HAProxy's balance, stick and stick-table lines.
 */
#include <stdlib.h>
#include <string.h>

#include "import/haproxy.h"

/* The largest sticky_size. */
#define STICKY_SIZE_MAX (16u << 20)

static const struct {
	const char *word, *balance, *key;
} algorithms[] = {
    {"roundrobin", "roundrobin", NULL},
    {"static-rr", "roundrobin", NULL},
    {"leastconn", "leastconn", NULL},
    {"first", "first", NULL},
    {"source", "source", NULL},
    {"random", "random", NULL},
};

/* Returns what is hashed for a sample, or NULL. */
static const char *
hash_key_of(const char *sample)
{
	size_t n = strcspn(sample, ",");

	if (n == 3 && strncmp(sample, "src", n) == 0)
		return "source";
	if (n == 3 && strncmp(sample, "dst", n) == 0)
		return "destination";
	if ((n == 11 && strncmp(sample + 3, "_ssl_sni", 8) == 0) ||
	    strncmp(sample, "req.ssl_sni", 11) == 0 ||
	    strncmp(sample, "ssl_fc_sni", 10) == 0)
		return "sni";
	return NULL;
}

static void
write_hash(struct hap_proxy *proxy, const char *key)
{
	struct document *doc = proxy->file->doc;

	if (strcmp(key, "source") == 0) {
		doc_key(doc, proxy->be, "balance", "source");
		return;
	}
	doc_key(doc, proxy->be, "balance", "hash");
	doc_key(doc, proxy->be, "hash_key", "%s", key);
}

static bool
looks_up(const struct hap_line *line)
{
	return hap_begins(line, 0, "stick on") ||
	       hap_begins(line, 0, "stick match");
}

static bool
stores(const struct hap_line *line)
{
	return hap_begins(line, 0, "stick on") ||
	       hap_begins(line, 0, "stick store-request") ||
	       hap_begins(line, 0, "stick store-response");
}

/* Returns whether some line stores what this one looks up. */
static bool
is_stored(const struct hap_proxy *proxy, const struct hap_line *line)
{
	for (size_t i = 0; i < proxy->lines.n; i++) {
		const struct hap_line *other = &proxy->lines.all[i];

		if (!other->reason && stores(other) &&
		    strcmp(hap_word(other, 2), hap_word(line, 2)) == 0)
			return true;
	}
	return false;
}

/* Returns the line that says what a client sticks to, or NULL.  A client sticks
 * to what one line stores and the same or another one looks up. */
static const struct hap_line *
stick_line(const struct hap_proxy *proxy)
{
	for (size_t i = proxy->lines.n; i-- > 0;) {
		const struct hap_line *line = &proxy->lines.all[i];

		if (!line->reason && looks_up(line) && is_stored(proxy, line))
			return line;
	}
	return NULL;
}

/* Returns whether some converter behind the sample changes the value: names are
 * compared in lower case here as well. */
static bool
has_converter(const char *sample)
{
	const char *comma = strchr(sample, ',');

	return comma && strcmp(comma, ",lower") != 0;
}

static size_t
count_binds(const struct hap_lines *lines)
{
	size_t n = 0;

	for (size_t i = 0; i < lines->n; i++)
		n += lines->all[i].words.n > 0 &&
		     strcmp(lines->all[i].words.word[0], "bind") == 0;
	return n;
}

/* Returns whether clients of several ports may use the backend. */
static bool
has_ports(const struct hap_proxy *proxy)
{
	const struct hap_file *file = proxy->file;
	size_t n = 0;

	if (proxy->has_frontend)
		return count_binds(&proxy->lines) > 1;
	for (size_t i = 0; i < file->n; i++)
		n += count_binds(&file->sections[i].lines);
	return n > 1;
}

/* Returns whether a server that is no backup has a maxconn: while it is full,
 * its clients go elsewhere, and HAProxy lets them wait. */
static bool
passes_over_full(const struct hap_proxy *proxy)
{
	for (size_t i = 0; i < proxy->lines.n; i++) {
		const struct words *words = &proxy->lines.all[i].words;
		bool full = false, backup = false;

		if (words->n == 0 || !strstr(words->word[0], "server"))
			continue;
		for (size_t j = 1; j < words->n; j++) {
			full |= strcmp(words->word[j], "maxconn") == 0;
			backup |= strcmp(words->word[j], "backup") == 0;
		}
		if (full && !backup)
			return true;
	}
	return false;
}

/* Reports what differs in the value by which clients are told apart. */
static void
report_stick(struct hap_proxy *proxy, const struct hap_line *line,
    const char *sample, const char *key)
{
	struct hap_file *file = proxy->file;

	if (!key)
		hap_lost_words(file, proxy->be, line, LOSS_CLIENTS, line->text,
		    "clients cannot be told apart by this; nearest: by their "
		    "addresses");
	else if (has_converter(sample))
		hap_lost(file, proxy->be, line, LOSS_CLIENTS,
		    "the value is not converted: each %s counts by itself",
		    strcmp(key, "sni") == 0 ? "name" : "address");
	else if (strcmp(key, "destination") == 0 && has_ports(proxy))
		hap_lost(file, proxy->be, line, LOSS_CLIENTS,
		    "by address and port: clients of another port may get "
		    "another server");
}

static void
write_stick(struct hap_proxy *proxy, const struct hap_line *line)
{
	const struct hap_line *first = stick_line(proxy);
	const char *sample = hap_word(line, 2), *key = hash_key_of(sample);

	(void)hap_word(line, 1);
	if (!first) {
		hap_lost(proxy->file, proxy->be, line,
		    hap_find(proxy, "stick store-response") ? LOSS_CLIENTS
		                                            : LOSS_OPERATORS,
		    looks_up(line) ? "no line stores this, so no client sticks"
		                   : "no line looks this up, so no client "
		                     "sticks");
		return;
	}
	if (first != line) {
		if (strcmp(sample, hap_word(first, 2)) != 0)
			hap_lost(proxy->file, proxy->be, line, LOSS_CLIENTS,
			    "clients are told apart by one value");
		return;
	}
	report_stick(proxy, line, sample, key);
	if (passes_over_full(proxy))
		hap_lost(proxy->file, proxy->be, line, LOSS_CLIENTS,
		    "clients of a server at its maxconn go to another one "
		    "meanwhile, and do not wait");
	doc_key(proxy->file->doc, proxy->be, "sticky", "stay");
	if (key && strcmp(key, "source") != 0)
		doc_key(proxy->file->doc, proxy->be, "hash_key", "%s", key);
}

/* Writes the algorithm that makes the first choice of clients that stick.
 * hash_key has what they stick by. */
static void
write_first_choice(struct hap_proxy *proxy, const struct hap_line *line,
    const char *balance, const char *key)
{
	const char *by = hash_key_of(hap_word(stick_line(proxy), 2));

	if (strcmp(key, by ? by : "source") != 0)
		hap_lost(proxy->file, proxy->be, line, LOSS_OPERATORS,
		    "the first choice is by what the stick line names");
	doc_key(proxy->file->doc, proxy->be, "balance", "%s",
	    by && strcmp(by, "source") != 0 ? "hash" : balance);
}

static void
write_balance(struct hap_proxy *proxy, const struct hap_line *line)
{
	const char *word = hap_word(line, 1), *key;
	size_t n = strcspn(word, "(");

	if (hap_find(proxy, "balance") != line)
		return;
	if (strcmp(word, "source") == 0 && stick_line(proxy)) {
		write_first_choice(proxy, line, "source", "source");
		return;
	}
	for (size_t i = 0; i < sizeof(algorithms) / sizeof(algorithms[0]); i++)
		if (strlen(algorithms[i].word) == n &&
		    strncmp(word, algorithms[i].word, n) == 0) {
			doc_key(proxy->file->doc, proxy->be, "balance", "%s",
			    algorithms[i].balance);
			return;
		}
	key = strcmp(word, "hash") == 0 ? hash_key_of(hap_word(line, 2)) : NULL;
	if (key && stick_line(proxy)) {
		write_first_choice(proxy, line, "source", key);
		return;
	}
	if (key) {
		if (has_converter(hap_word(line, 2)))
			hap_lost(proxy->file, proxy->be, line, LOSS_CLIENTS,
			    "the value is not converted before it is hashed");
		write_hash(proxy, key);
		return;
	}
	hap_lost_words(proxy->file, proxy->be, line, LOSS_CLIENTS, line->text,
	    "HTTP and RDP are not looked into; the client's address is hashed "
	    "instead");
	if (stick_line(proxy))
		write_first_choice(proxy, line, "source", "source");
	else
		write_hash(proxy, "source");
}

/* Returns whether the table stores rates or numbers of connections. */
static bool
counts_connections(const struct words *words)
{
	const char *store = "";

	for (size_t i = 1; i + 1 < words->n; i++)
		if (strcmp(words->word[i], "store") == 0)
			store = words->word[i + 1];
	return strstr(store, "conn_") || strstr(store, "sess_");
}

/* Writes how many choices are kept, and for how long: `size 200k`, with k for
 * 1024, and `expire 30m`. */
static void
write_stick_table(struct hap_proxy *proxy, const struct hap_line *line,
    const char *word, const char *value)
{
	struct document *doc = proxy->file->doc;
	char *end = NULL;
	uint64_t n;

	if (!proxy->be || !stick_line(proxy))
		return;
	if (strcmp(word, "size") == 0) {
		n = strtoull(value, &end, 10);
		n = n < STICKY_SIZE_MAX + 1 ? n : STICKY_SIZE_MAX + 1;
		n <<= *end == 'k'   ? 10
		      : *end == 'm' ? 20
		      : *end == 'g' ? 30
		                    : 0;
		if (n > STICKY_SIZE_MAX)
			hap_lost(proxy->file, proxy->be, line, LOSS_CLIENTS,
			    "%u choices are kept", STICKY_SIZE_MAX);
		if (n > 0)
			doc_key(doc, proxy->be, "sticky_size", "%u",
			    n > STICKY_SIZE_MAX ? STICKY_SIZE_MAX
			                        : (unsigned)n);
	} else if (strcmp(word, "expire") == 0 &&
	           value_haproxy_time(value, &n) && n > 0) {
		if (n < 1000)
			hap_lost(proxy->file, proxy->be, line, LOSS_CLIENTS,
			    "choices are kept for 1s");
		doc_key(doc, proxy->be, "sticky_expire", "%s",
		    value_duration(&doc->arena, n, 1000, VALUE_FOREVER_MS));
	}
}

/* Reads `stick-table type T [size N] [expire T] [store DATA] [peers NAME] ...`.
 * Limits are as large as they have to be, and forget by themselves. */
static void
read_table(struct hap_proxy *proxy, const struct hap_line *line)
{
	static const char *const known[] = {
	    "type", "len", "size", "expire", "store"};
	struct hap_file *file = proxy->file;

	for (size_t i = 1; i < line->words.n; i++) {
		const char *word = line->words.word[i];
		size_t j = 0;

		while (j < 5 && strcmp(known[j], word) != 0)
			j++;
		if (j < 5) {
			(void)hap_word(line, i++);
			write_stick_table(proxy, line, word, hap_word(line, i));
		} else if (strcmp(word, "nopurge") == 0) {
			(void)hap_word(line, i);
			if (stick_line(proxy))
				hap_lost(file, proxy->be, line, LOSS_CLIENTS,
				    "a full table forgets the oldest client");
		} else if (strcmp(word, "peers") == 0) {
			(void)hap_word(line, i++);
			hap_lost_words(file, proxy->be ? proxy->be : proxy->fe,
			    line,
			    counts_connections(&line->words) ||
			            stick_line(proxy)
			        ? LOSS_CLIENTS
			        : LOSS_OPERATORS,
			    arena_printf(&file->doc->arena,
			        "stick-table ... peers %s", hap_word(line, i)),
			    "every lfproxy counts alone and keeps its own "
			    "choices");
		}
	}
}

bool
hap_balance(struct hap_proxy *proxy, const struct hap_line *line)
{
	const char *word = hap_word(line, 0);
	struct document *doc = proxy->file->doc;
	uint64_t n;

	if (strcmp(word, "hash-balance-factor") == 0) {
		if (proxy->be && value_number(hap_word(line, 1), &n) && n > 100)
			doc_key(doc, proxy->be, "hash_balance_factor", "%u%%",
			    n > 65535 ? 65535 : (unsigned)n);
		return true;
	}
	if (strcmp(word, "balance") == 0) {
		if (proxy->be)
			write_balance(proxy, line);
		return true;
	}
	if (strcmp(word, "stick-table") == 0) {
		read_table(proxy, line);
		return true;
	}
	if (strcmp(word, "stick") == 0) {
		if (proxy->be)
			write_stick(proxy, line);
		return true;
	}
	return false;
}
