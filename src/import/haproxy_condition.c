/* SPDX-License-Identifier: MIT
 * Conditions of HAProxy's rules: `if A B or !C`, as terms of tests.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "import/haproxy_rules.h"

#define TERMS_MAX 64

struct hap_term
hap_term_copy(struct arena *arena, const struct hap_term *term)
{
	struct hap_term copy = {.n = term->n};

	/* arena_grow expects room up to the next power of two. */
	copy.tests =
	    arena_alloc(arena, (2 * term->n + 1) * sizeof(copy.tests[0]));
	if (term->n > 0)
		memcpy(
		    copy.tests, term->tests, term->n * sizeof(copy.tests[0]));
	return copy;
}

bool
hap_name_covers(const char *name, const char *other)
{
	size_t n = strlen(name), m = strlen(other);

	if (strcasecmp(name, other) == 0)
		return true;
	return strncmp(name, "*.", 2) == 0 && m > n - 1 &&
	       strcasecmp(other + m - (n - 1), name + 1) == 0;
}

/* Returns whether the value covers the other one. */
static bool
covers(struct arena *arena, enum test_kind kind, const char *value,
    const char *other)
{
	if (kind == TEST_SNI)
		return hap_name_covers(value, other);
	if (kind == TEST_SRC || kind == TEST_DST)
		return value_range_covers(arena, value, other);
	return strcmp(value, other) == 0;
}

/* Returns the ports that two ranges have in common, or NULL. */
static const char *
common_ports(struct arena *arena, const char *x, const char *y)
{
	const char *x_dash = strchr(x, '-'), *y_dash = strchr(y, '-');
	int from = atoi(x), to = atoi(x_dash ? x_dash + 1 : x);
	int y_from = atoi(y), y_to = atoi(y_dash ? y_dash + 1 : y);

	from = y_from > from ? y_from : from;
	to = y_to < to ? y_to : to;
	return from > to    ? NULL
	       : from == to ? arena_printf(arena, "%d", from)
	                    : arena_printf(arena, "%d-%d", from, to);
}

/* Returns the values that both lists have. */
static struct words
common(struct arena *arena, enum test_kind kind, const struct words *a,
    const struct words *b)
{
	struct words both = {.n = 0};

	for (size_t i = 0; i < a->n; i++)
		for (size_t j = 0; j < b->n; j++) {
			const char *x = a->word[i], *y = b->word[j];
			const char *less = kind == TEST_PORT
			                       ? common_ports(arena, x, y)
			                   : covers(arena, kind, x, y) ? y
			                   : covers(arena, kind, y, x) ? x
			                                               : NULL;

			if (less && !words_has(&both, less))
				words_add(arena, &both, less);
		}
	return both;
}

static bool
is_about_hello(enum test_kind kind)
{
	return kind == TEST_SNI || kind == TEST_ALPN;
}

static void
haproxy_push(
    struct arena *arena, struct hap_term *term, const struct hap_test *test)
{
	struct hap_term copy = hap_term_copy(arena, term);

	copy.tests[copy.n++] = *test;
	*term = copy;
}

/* Returns whether the test has the addresses of a file, which may change. */
static bool
has_list(const struct hap_test *test)
{
	for (size_t i = 0; i < test->values.n; i++)
		if (hap_is_list(test->values.word[i]))
			return true;
	return false;
}

bool
hap_term_add(
    struct arena *arena, struct hap_term *term, const struct hap_test *test)
{
	bool tls = test->kind == TEST_TLS && !test->negated;
	struct hap_term copy;

	if (test->kind == TEST_TRUE || test->kind == TEST_FALSE)
		return (test->kind == TEST_TRUE) != test->negated;
	for (size_t i = 0; i < term->n; i++) {
		struct hap_test *t = &term->tests[i];
		struct words both;

		if (t->negated || test->negated)
			continue;
		if (tls && is_about_hello(t->kind))
			return strcmp(test->values.word[0], "yes") == 0;
		if (t->kind == TEST_TLS && is_about_hello(test->kind)) {
			if (strcmp(t->values.word[0], "yes") != 0)
				return false;
			copy = hap_term_copy(arena, term);
			copy.tests[i] = *test;
			*term = copy;
			return true;
		}
		if (t->kind != test->kind || t->kind >= TEST_SESSIONS ||
		    has_list(t) || has_list(test))
			continue;
		both = common(arena, t->kind, &t->values, &test->values);
		if (both.n == 0)
			return false;
		copy = hap_term_copy(arena, term);
		copy.tests[i].values = both;
		*term = copy;
		return true;
	}
	haproxy_push(arena, term, test);
	return true;
}

const char *
hap_term_reason(const struct hap_term *term)
{
	for (size_t i = 0; i < term->n; i++) {
		const struct hap_test *test = &term->tests[i];

		if (test->kind == TEST_OTHER)
			return test->why;
		if (test->kind == TEST_SESSIONS || test->kind == TEST_RATE)
			return "routes do not count; nearest: limit = "
			       "sessions=NUMBER rate=NUMBER/s";
		if (test->kind == TEST_NBSRV)
			return "nearest: backend = NAME fallback=OTHER";
		for (size_t j = 0; j < i; j++)
			if (term->tests[j].kind == test->kind &&
			    !term->tests[j].negated && !test->negated)
				return "the same cannot be tested twice; write "
				       "what both have in common";
	}
	return NULL;
}

/* The alternatives that a literal stands for. */
struct literal {
	struct hap_test all[TERMS_MAX];
	size_t n;
	bool negated;
};

/* Adds a test.  Tests of one kind become a single one with all values.  Returns
 * false if there are too many. */
static bool
add_alternative(
    struct arena *arena, struct literal *literal, const struct hap_test *test)
{
	for (size_t i = 0; i < literal->n; i++) {
		struct words *values = &literal->all[i].values, all = {.n = 0};

		if (literal->all[i].kind != test->kind ||
		    test->kind >= TEST_SESSIONS || test->kind == TEST_TLS)
			continue;
		for (size_t j = 0; j < values->n + test->values.n; j++)
			words_add(arena, &all,
			    j < values->n ? values->word[j]
			                  : test->values.word[j - values->n]);
		*values = all;
		return true;
	}
	if (literal->n == TERMS_MAX)
		return false;
	literal->all[literal->n++] = *test;
	return true;
}

/* Finds the end of an anonymous ACL, `{ ... }`. */
static size_t
brace_end(const struct words *words, size_t i)
{
	while (i < words->n && strcmp(words->word[i], "}") != 0)
		i++;
	return i;
}

static bool
add_named_acl(struct hap_proxy *proxy, const struct hap_line *line,
    struct literal *literal, const char *name)
{
	static const char *const predefined[] = {"TRUE", "FALSE", "WAIT_END",
	    "REQ_CONTENT", "LOCALHOST", "HTTP", "HTTP_1.0", "HTTP_1.1",
	    "METH_GET", "METH_POST", "METH_HEAD", "METH_CONNECT",
	    "METH_OPTIONS", "METH_TRACE", "RDP_COOKIE", "HTTP_CONTENT",
	    "HTTP_URL_ABS", "HTTP_URL_SLASH", "HTTP_URL_STAR"};
	struct arena *arena = &proxy->file->doc->arena;
	bool found = false;

	for (struct hap_acl *acl = proxy->acls; acl; acl = acl->next)
		if (strcmp(acl->name, name) == 0) {
			acl->used = true;
			found = true;
			if (!add_alternative(arena, literal, &acl->test))
				return false;
		}
	for (size_t i = 0;
	     !found && i < sizeof(predefined) / sizeof(predefined[0]); i++)
		if (strcmp(predefined[i], name) == 0) {
			struct words words = {.word = &name, .n = 1};
			struct hap_test test =
			    hap_read_test(proxy, line, &words, 0, 1);

			return add_alternative(arena, literal, &test);
		}
	return found;
}

/* Reads a literal at words[*i], and moves *i behind it. */
static bool
read_literal(struct hap_proxy *proxy, const struct hap_line *line, size_t *i,
    struct literal *literal)
{
	const struct words *words = &line->words;
	const char *word = words_get(words, *i);
	struct hap_test test;
	size_t end;

	literal->n = 0;
	literal->negated = false;
	for (; *word == '!'; word++)
		literal->negated = !literal->negated;
	if (!*word && *i + 1 < words->n)
		word = words_get(words, ++*i);
	if (strcmp(word, "{") != 0) {
		++*i;
		return add_named_acl(proxy, line, literal, word);
	}
	end = brace_end(words, *i);
	if (end == words->n)
		return false;
	(void)words_get(words, end);
	test = hap_read_test(proxy, line, words, *i + 1, end);
	*i = end + 1;
	return add_alternative(&proxy->file->doc->arena, literal, &test);
}

static bool
add_term(struct arena *arena, struct hap_condition *condition,
    const struct hap_term *term)
{
	void *larger =
	    arena_grow(arena, condition->terms, condition->n, sizeof(*term));

	condition->terms = larger;
	condition->terms[condition->n++] = *term;
	return condition->n <= TERMS_MAX;
}

/* Multiplies the terms by the literal: combines each of its alternatives with
 * each term, or, if the literal is negated, all of them, negated, with each
 * term.  Returns false if there are too many terms. */
static bool
haproxy_multiply(struct arena *arena, struct hap_condition *terms,
    const struct literal *literal)
{
	struct hap_condition product = {NULL, 0};

	for (size_t i = 0; i < terms->n; i++) {
		struct hap_term all = hap_term_copy(arena, &terms->terms[i]);
		bool possible = true;

		for (size_t j = 0; j < literal->n; j++) {
			struct hap_term one =
			    hap_term_copy(arena, &terms->terms[i]);
			struct hap_test test = literal->all[j];

			test.negated = literal->negated;
			if (literal->negated)
				possible &= hap_term_add(arena, &all, &test);
			else if (hap_term_add(arena, &one, &test) &&
			         !add_term(arena, &product, &one))
				return false;
		}
		if (literal->negated && possible &&
		    !add_term(arena, &product, &all))
			return false;
	}
	*terms = product;
	return true;
}

/* Replaces a negated test by its opposite, if lfproxy can express that. */
static void
simplify(struct arena *arena, struct literal *literal)
{
	struct hap_test *test = &literal->all[0];
	struct words other = {.n = 0};

	if (!literal->negated || literal->n != 1 || test->kind != TEST_TLS)
		return;
	words_add(arena, &other,
	    strcmp(test->values.word[0], "yes") == 0 ? "no" : "yes");
	test->values = other;
	literal->negated = false;
}

/* Reads terms joined by `or`.  Returns false if they cannot be converted. */
static bool
read_terms(struct hap_proxy *proxy, const struct hap_line *line, size_t i,
    struct hap_condition *condition)
{
	const struct words *words = &line->words;
	struct arena *arena = &proxy->file->doc->arena;
	const struct hap_term always = {NULL, 0};
	struct hap_condition part = {NULL, 0};
	struct literal *literal = arena_alloc(arena, sizeof(*literal));

	(void)add_term(arena, &part, &always);
	for (; i <= words->n;) {
		bool end = i == words->n ||
		           strcmp(words_get(words, i), "or") == 0 ||
		           strcmp(words_get(words, i), "||") == 0;

		if (!end) {
			if (!read_literal(proxy, line, &i, literal))
				return false;
			simplify(arena, literal);
			if (!haproxy_multiply(arena, &part, literal))
				return false;
			continue;
		}
		for (size_t j = 0; j < part.n; j++)
			if (!add_term(arena, condition, &part.terms[j]))
				return false;
		part = (struct hap_condition){NULL, 0};
		(void)add_term(arena, &part, &always);
		i++;
	}
	return true;
}

/* Negates the condition, for `unless`.  Returns false if it does not consist of
 * single tests. */
static bool
turn_around(struct arena *arena, struct hap_condition *condition)
{
	struct hap_term all = {NULL, 0};

	for (size_t i = 0; i < condition->n; i++) {
		struct hap_test test;

		if (condition->terms[i].n != 1)
			return false;
		test = condition->terms[i].tests[0];
		if (test.kind == TEST_TLS) {
			struct words other = {.n = 0};

			words_add(arena, &other,
			    strcmp(test.values.word[0], "yes") == 0 ? "no"
			                                            : "yes");
			test.values = other;
		} else {
			test.negated = !test.negated;
		}
		if (!hap_term_add(arena, &all, &test)) {
			condition->n = 0;
			return true;
		}
	}
	condition->n = 0;
	return add_term(arena, condition, &all);
}

bool
hap_read_condition(struct hap_proxy *proxy, const struct hap_line *line,
    size_t first, struct hap_condition *ret_condition)
{
	struct arena *arena = &proxy->file->doc->arena;
	const char *word = hap_word(line, first);
	const struct hap_term always = {NULL, 0};

	*ret_condition = (struct hap_condition){NULL, 0};
	if (!*word)
		return add_term(arena, ret_condition, &always);
	if (strcmp(word, "if") != 0 && strcmp(word, "unless") != 0)
		return false;
	if (!read_terms(proxy, line, first + 1, ret_condition))
		return false;
	return word[0] == 'i' || turn_around(arena, ret_condition);
}
