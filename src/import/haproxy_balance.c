/* SPDX-License-Identifier: MIT
 * HAProxy's balance, stick and stick-table lines.
 */
#include <string.h>

#include "import/haproxy.h"

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

/* Returns the line that says what a client sticks to, or NULL. */
static const struct hap_line *
stick_line(const struct hap_proxy *proxy)
{
	static const char *const words[] = {
	    "stick on", "stick match", "stick store-request"};
	const struct hap_line *line = NULL;

	for (size_t i = 0; i < 3 && !line; i++)
		line = hap_find(proxy, words[i]);
	return line;
}

static void
write_stick(struct hap_proxy *proxy, const struct hap_line *line)
{
	const char *key;

	if (stick_line(proxy) != line) {
		hap_lost(proxy->file, proxy->be, line, LOSS_OPERATORS,
		    "the backend hashes one thing");
		return;
	}
	key = hash_key_of(hap_word(line, 2));
	if (!key)
		hap_lost_words(proxy->file, proxy->be, line, LOSS_CLIENTS,
		    line->text,
		    "this cannot be hashed; the client's address is instead");
	else
		hap_lost(proxy->file, proxy->be, line, LOSS_CLIENTS,
		    "by a hash, without a table: when a server comes back, its "
		    "clients return to it at once; in HAProxy they stay where "
		    "they are");
	write_hash(proxy, key ? key : "source");
}

static void
write_balance(struct hap_proxy *proxy, const struct hap_line *line)
{
	const char *word = hap_word(line, 1), *key;
	size_t n = strcspn(word, "(");

	if (hap_find(proxy, "balance") != line)
		return;
	if (stick_line(proxy)) {
		doc_note(proxy->file->doc, proxy->be,
		    "%s:%u: %s: the stick line decides", proxy->file->name,
		    line->line, line->text);
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
	if (key) {
		write_hash(proxy, key);
		return;
	}
	hap_lost_words(proxy->file, proxy->be, line, LOSS_CLIENTS, line->text,
	    "HTTP and RDP are not looked into; the client's address is hashed "
	    "instead");
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

/* Reads `stick-table type T [size N] [expire T] [store DATA] [peers NAME] ...`.
 * Limits and hashes are as large as they have to be, and forget by
 * themselves. */
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
			(void)hap_word(line, i);
		} else if (strcmp(word, "nopurge") == 0) {
			(void)hap_word(line, i);
		} else if (strcmp(word, "peers") == 0) {
			(void)hap_word(line, i++);
			hap_lost_words(file, proxy->be ? proxy->be : proxy->fe,
			    line,
			    counts_connections(&line->words) ? LOSS_CLIENTS
			                                     : LOSS_OPERATORS,
			    arena_printf(&file->doc->arena,
			        "stick-table ... peers %s", hap_word(line, i)),
			    "every lfproxy counts alone; source hashes agree "
			    "without peers");
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
