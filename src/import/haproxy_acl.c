/* SPDX-License-Identifier: MIT
 * HAProxy's ACLs: one criterion with its flags and values.
 *
 * Source: HAProxy 2.6 Configuration Manual, 7 "Using ACLs and fetching
 * samples".
 */
#include <ctype.h>
#include <string.h>

#include "import/haproxy_rules.h"

/* A criterion that is being read. */
struct criterion {
	struct hap_proxy *proxy;
	const struct hap_line *line;
	const char *name; /* without converters and arguments */
	size_t name_len;
	const char *match;    /* -m, or what the name's ending means; or NULL */
	const char *operator; /* gt, ge, eq, lt, le; or NULL */
	struct words values;
	const char *lost_file; /* of -f, that was not read; or NULL */
	bool has_file;         /* -f named a file, which may be empty */
};

/* The kinds of test, by the criterion's name without its ending. */
static const struct {
	const char *name;
	enum test_kind kind;
} criteria[] = {
    {"src", TEST_SRC},
    {"src_ip", TEST_SRC},
    {"dst", TEST_DST},
    {"dst_port", TEST_PORT},
    {"req_ssl_sni", TEST_SNI},
    {"req.ssl_sni", TEST_SNI},
    {"ssl_fc_sni", TEST_SNI},
    {"ssl_fc_sni_end", TEST_SNI},
    {"ssl_fc_sni_reg", TEST_SNI},
    {"req.ssl_alpn", TEST_ALPN},
    {"req_ssl_alpn", TEST_ALPN},
    {"ssl_fc_alpn", TEST_ALPN},
    {"req.ssl_hello_type", TEST_TLS},
    {"req_ssl_hello_type", TEST_TLS},
    {"req.ssl_ver", TEST_TLS},
    {"req_ssl_ver", TEST_TLS},
    {"ssl_fc", TEST_TLS},
    {"src_conn_cur", TEST_SESSIONS},
    {"sc_conn_cur", TEST_SESSIONS},
    {"src_conn_rate", TEST_RATE},
    {"sc_conn_rate", TEST_RATE},
    {"src_sess_rate", TEST_RATE},
    {"sc_sess_rate", TEST_RATE},
    {"nbsrv", TEST_NBSRV},
    {"always_true", TEST_TRUE},
    {"always_false", TEST_FALSE},
    {"TRUE", TEST_TRUE},
    {"FALSE", TEST_FALSE},
    {"WAIT_END", TEST_TRUE},
    {"wait_end", TEST_TRUE},
    {"REQ_CONTENT", TEST_TRUE},
    {"req.len", TEST_TRUE},
    {"req_len", TEST_TRUE},
    {"LOCALHOST", TEST_SRC},
};

static enum test_kind
kind_of_name(const char *name, size_t n)
{
	char plain[32];
	size_t m = 0;

	/* Treat sc0_conn_rate as sc_conn_rate. */
	for (size_t i = 0; i < n && m + 1 < sizeof(plain); i++)
		if (!(isdigit((unsigned char)name[i]) && i == 2 &&
		        strncmp(name, "sc", 2) == 0))
			plain[m++] = name[i];
	plain[m] = '\0';
	for (size_t i = 0; i < sizeof(criteria) / sizeof(criteria[0]); i++)
		if (strcmp(criteria[i].name, plain) == 0)
			return criteria[i].kind;
	return TEST_OTHER;
}

bool
hap_is_list(const char *value)
{
	return strncmp(value, "list:", 5) == 0;
}

/* Returns whether HAProxy compares clients of IPv4 with the range of IPv6, as
 * the addresses ::ffff:0:0/96. */
static bool
has_mapped(struct arena *arena, const char *range)
{
	return strchr(range, ':') &&
	       value_range_covers(arena, range, "::ffff:0.0.0.0/96");
}

/* Returns whether every line of the file is a range as a [list] writes it, and
 * as HAProxy understands it. */
static bool
is_list_file(struct arena *arena, const char *text)
{
	char *rest = arena_printf(arena, "%s", text), *line;
	const char *range, *slash;

	while ((line = strtok_r(rest, "\r\n", &rest))) {
		line += strspn(line, " \t");
		line[strcspn(line, " \t#")] = '\0';
		slash = strchr(line, '/');
		if (*line && (!value_range(arena, line, &range) ||
		                 (strchr(line, ':') && !strchr(range, ':')) ||
		                 has_mapped(arena, range) ||
		                 (slash && strchr(slash, '.'))))
			return false;
	}
	return true;
}

/* Returns the name of the [list] that follows the file, as HAProxy's commands
 * know it: by its path. */
static const char *
list_of_file(struct hap_file *file, const char *path)
{
	struct document *doc = file->doc;
	const char *slash = strrchr(path, '/'), *name;
	struct ini_section *list;

	for (size_t i = 0; i + 1 < file->lists.n; i += 2)
		if (strcmp(file->lists.word[i], path) == 0)
			return file->lists.word[i + 1];
	name = doc_name(doc, "list",
	    arena_printf(&doc->arena, "%.30s", slash ? slash + 1 : path));
	list =
	    doc_find_section(doc, arena_printf(&doc->arena, "list %s", name));
	doc_key(doc, list, "file", "%s", path);
	words_add(&doc->arena, &file->lists, path);
	words_add(&doc->arena, &file->lists, name);
	return name;
}

static void
add_file_values(struct criterion *c, const char *path)
{
	struct arena *arena = &c->proxy->file->doc->arena;
	char *text = NULL, *rest = NULL;
	enum test_kind kind;

	if (c->proxy->file->source->may_read)
		text = value_read_file(arena, path, NULL);
	if (!text) {
		c->lost_file = path;
		return;
	}
	c->has_file = true;
	kind = kind_of_name(c->name, c->name_len);
	if ((kind == TEST_SRC || kind == TEST_DST) &&
	    doc_word(c->proxy->file->doc, path) && is_list_file(arena, text)) {
		words_add(arena, &c->values,
		    arena_printf(
		        arena, "list:%s", list_of_file(c->proxy->file, path)));
		return;
	}
	hap_lost_words(c->proxy->file, c->proxy->fe, c->line, LOSS_OPERATORS,
	    arena_printf(arena, "-f %s", path),
	    "read into the result, so that `add acl` and a new file change "
	    "nothing");
	for (char *line = strtok_r(text, "\r\n", &rest); line;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		line += strspn(line, " \t");
		line[strcspn(line, " \t#")] = '\0';
		if (*line)
			words_add(arena, &c->values, line);
	}
}

static bool
is_operator(const char *word)
{
	return strlen(word) == 2 && strstr("gt ge eq lt le", word);
}

/* Reads the criterion's name, flags, operator and values. */
static void
read_criterion(
    struct criterion *c, const struct words *words, size_t i, size_t end)
{
	bool flags = true;

	c->name = words_get(words, i++);
	c->name_len = strcspn(c->name, ",(");
	if (c->name_len > 4) {
		const char *ending = c->name + c->name_len - 4;

		if (strncmp(ending, "_end", 4) == 0 ||
		    strncmp(ending, "_reg", 4) == 0)
			c->match = ending[1] == 'e' ? "end" : "reg";
	}
	for (; i < end; i++) {
		const char *word = words_get(words, i);
		const char *arg = i + 1 < end ? words_get(words, i + 1) : "";

		if (flags && strcmp(word, "--") == 0) {
			flags = false;
		} else if (flags && strcmp(word, "-f") == 0) {
			add_file_values(c, arg);
			i++;
		} else if (flags && strcmp(word, "-m") == 0) {
			c->match = arg;
			i++;
		} else if (flags && word[0] == '-' && word[1] && !word[2] &&
		           isalpha((unsigned char)word[1])) {
			i += word[1] == 'M' || word[1] == 'u';
		} else {
			if (!c->operator&& c->values.n == 0 &&
			     is_operator(word))
				c->operator= word;
			else
				words_add(&c->proxy->file->doc->arena,
				    &c->values, word);
			flags = false;
		}
	}
}

static struct hap_test
other(const char *why)
{
	return (struct hap_test){.kind = TEST_OTHER, .why = why};
}

static struct hap_test
read_ranges(struct criterion *c, enum test_kind kind)
{
	struct arena *arena = &c->proxy->file->doc->arena;
	struct hap_test test = {.kind = kind};

	if (strncmp(c->name, "LOCALHOST", 9) == 0)
		words_add(arena, &c->values, "127.0.0.0/8");
	if (c->name[c->name_len])
		return other("converters have no counterpart");
	for (size_t i = 0; i < c->values.n; i++) {
		const char *range = c->values.word[i];

		if (!hap_is_list(range) && !value_range(arena, range, &range))
			return other("write the address instead of a name");
		if (!words_has(&test.values, range))
			words_add(arena, &test.values, range);
		if (has_mapped(arena, range) &&
		    !words_has(&test.values, "0.0.0.0/0"))
			words_add(arena, &test.values, "0.0.0.0/0");
	}
	return test.values.n > 0 ? test : other("an address is missing");
}

static struct hap_test
read_ports(struct criterion *c)
{
	struct arena *arena = &c->proxy->file->doc->arena;
	struct hap_test test = {.kind = TEST_PORT};
	const char *op = c->operator? c->operator: "eq";
	uint64_t from, to, n;

	for (size_t i = 0; i < c->values.n; i++) {
		const char *word = c->values.word[i];
		const char *colon = strpbrk(word, ":-");
		const char *text =
		    colon ? arena_copy(arena, word, (size_t)(colon - word))
		          : word;

		if (!value_number(text, &n) || n < 1 || n > 65535)
			return other("a port is a number");
		from = to = n;
		if (colon &&
		    (!value_number(colon + 1, &to) || to < from || to > 65535))
			return other("a port is a number");
		from = op[0] == 'l' ? 1 : from + (strcmp(op, "gt") == 0);
		to = op[0] == 'g' ? 65535 : to - (strcmp(op, "lt") == 0);
		if (from > to)
			return other("no port is in this range");
		words_add(arena, &test.values,
		    from == to ? arena_printf(arena, "%u", (unsigned)from)
		               : arena_printf(arena, "%u-%u", (unsigned)from,
		                     (unsigned)to));
	}
	return test.values.n > 0 ? test : other("a port is missing");
}

static bool
haproxy_add_name(struct criterion *c, struct hap_test *test, const char *value)
{
	struct arena *arena = &c->proxy->file->doc->arena;
	const char *match = c->match ? c->match : "str";
	const char *name = NULL;

	if (strcmp(match, "str") == 0) {
		name = value;
	} else if (strcmp(match, "end") == 0 || strcmp(match, "dom") == 0) {
		bool dom = match[0] == 'd';

		if (dom)
			value += value[0] == '.';
		if (value[0] != '.' && value_is_host_name(value)) {
			words_add(arena, &test->values, value);
			hap_lost(c->proxy->file, c->proxy->fe, c->line,
			    LOSS_CLIENTS,
			    dom ? "%s in the middle of a name does not match"
			        : "%s at the end of a longer label does not "
			          "match",
			    value);
		}
		name =
		    value_is_host_name(value + (value[0] == '.'))
		        ? arena_printf(arena, "*.%s", value + (value[0] == '.'))
		        : NULL;
	} else if (strcmp(match, "reg") == 0) {
		return value_regex_names(arena, value, &test->values);
	}
	if (!name ||
	    !value_is_host_name(name + 2 * (strncmp(name, "*.", 2) == 0)))
		return false;
	if (!words_has(&test->values, name))
		words_add(arena, &test->values, name);
	return true;
}

static struct hap_test
haproxy_read_names(struct criterion *c)
{
	struct hap_test test = {.kind = TEST_SNI};

	if (c->match && strcmp(c->match, "found") == 0)
		return other("whether there is a name has no counterpart; "
		             "nearest: route = tls=yes");
	for (size_t i = 0; i < c->values.n; i++)
		if (!haproxy_add_name(c, &test, c->values.word[i]))
			return other("names are whole, or *.NAME for all below "
			             "one; write sni = NAME ... backend=NAME");
	return test.values.n > 0 ? test : other("a name is missing");
}

static struct hap_test
read_protocols(struct criterion *c)
{
	struct hap_test test = {.kind = TEST_ALPN};

	for (size_t i = 0; i < c->values.n; i++)
		if (c->values.word[i][strspn(c->values.word[i],
		        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		        "0123456789-_./")])
			return other("a protocol is a name such as http/1.1");
	test.values = c->values;
	return test.values.n > 0 ? test : other("a protocol is missing");
}

/* Reads `gt N` or `ge N` behind the sessions or the rate of a source. */
static struct hap_test
haproxy_read_limit(struct criterion *c, enum test_kind kind)
{
	struct hap_test test = {.kind = kind};
	bool ge = c->operator&& strcmp(c->operator, "ge") == 0;

	if (!c->operator|| c->operator[0] != 'g' ||
	     c->values.n != 1 || !value_number(c->values.word[0], &test.number))
		return other("write limit = sessions=NUMBER, or rate=NUMBER/s");
	test.number -= ge && test.number > 0;
	return test.number > 0 ? test
	                       : other("a limit is at least one; write deny");
}

static struct hap_test
read_nbsrv(struct criterion *c)
{
	struct hap_test test = {.kind = TEST_NBSRV};
	const char *open = strchr(c->name, '(');
	const char *op = c->operator? c->operator: "eq";
	const char *value = c->values.n > 0 ? c->values.word[0] : "";
	bool none =
	    (strcmp(op, "lt") == 0 && strcmp(value, "1") == 0) ||
	    (strcmp(op, "lt") != 0 && strcmp(value, "0") == 0 && op[0] != 'g');

	if (!open || !none)
		return other("the number of usable servers has no counterpart; "
		             "nearest: backend = NAME fallback=OTHER");
	words_add(&c->proxy->file->doc->arena, &test.values,
	    arena_copy(
	        &c->proxy->file->doc->arena, open + 1, strcspn(open + 1, ")")));
	return test;
}

static struct hap_test
haproxy_read_tls(struct criterion *c)
{
	struct hap_test test = {.kind = TEST_TLS};
	const char *value = c->values.n > 0 ? c->values.word[0] : "1";

	words_add(&c->proxy->file->doc->arena, &test.values,
	    strcmp(value, "0") == 0 && !c->operator? "no" : "yes");
	return test;
}

static struct hap_test
read_kind(struct criterion *c, enum test_kind kind)
{
	switch (kind) {
	case TEST_SRC:
	case TEST_DST:
		return read_ranges(c, kind);
	case TEST_PORT:
		return read_ports(c);
	case TEST_SNI:
		return haproxy_read_names(c);
	case TEST_ALPN:
		return read_protocols(c);
	case TEST_TLS:
		return haproxy_read_tls(c);
	case TEST_SESSIONS:
	case TEST_RATE:
		return haproxy_read_limit(c, kind);
	case TEST_NBSRV:
		return read_nbsrv(c);
	case TEST_TRUE:
	case TEST_FALSE:
		return (struct hap_test){.kind = kind};
	case TEST_OTHER:
		break;
	}
	if (strcmp(c->name, "HTTP") == 0)
		return other(
		    "HTTP is not looked into; nearest: route = tls=no");
	return other(c->proxy->http
	                 ? "HTTP is not looked into; nearest: route = sni=NAME"
	                 : "routes know sni, alpn, tls, src, dst and port");
}

struct hap_test
hap_read_test(struct hap_proxy *proxy, const struct hap_line *line,
    const struct words *words, size_t first, size_t end)
{
	struct criterion c = {.proxy = proxy, .line = line};
	struct hap_test test;
	enum test_kind kind;

	if (first >= end)
		return other("the criterion is missing");
	read_criterion(&c, words, first, end);
	if (c.lost_file)
		return other(arena_printf(
		    &proxy->file->doc->arena, "%s was not read", c.lost_file));
	/* Nothing is in an empty file. */
	if (c.has_file && c.values.n == 0)
		return (struct hap_test){.kind = TEST_FALSE};
	kind = kind_of_name(c.name, c.name_len);
	test = read_kind(&c, kind);
	test.of_hello = strncmp(c.name, "req", 3) == 0 &&
	                (test.kind == TEST_SNI || test.kind == TEST_ALPN ||
	                    test.kind == TEST_TLS);
	return test;
}

void
hap_acl(struct hap_proxy *proxy, const struct hap_line *line)
{
	struct hap_acl **end = &proxy->acls;

	if (line->words.n < 3)
		return;
	while (*end)
		end = &(*end)->next;
	*end = arena_alloc(&proxy->file->doc->arena, sizeof(**end));
	(*end)->name = hap_word(line, 1);
	(*end)->line = line;
	(*end)->test =
	    hap_read_test(proxy, line, &line->words, 2, line->words.n);
}
