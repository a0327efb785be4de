/* SPDX-License-Identifier: MIT
 * Conditions of HAProxy's conditional blocks, `.if` and `.elif`.
 *
 * Source: HAProxy 2.6 Configuration Manual, 2.4 "Conditional blocks".
 */
#include "import/haproxy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NEST_MAX 16

/* The version whose language the import reads. */
#define VERSION         206u
#define OPENSSL_VERSION 300u

struct condition {
	struct hap_file *file;
	const char *at;
	unsigned depth;
};

static enum truth read_any(struct condition *c);

static enum truth
truth_of(bool holds)
{
	return holds ? TRUTH_YES : TRUTH_NO;
}

static enum truth
negate(enum truth truth)
{
	return truth == TRUTH_UNKNOWN ? truth : truth_of(truth == TRUTH_NO);
}

static void
skip_condition_blanks(struct condition *c)
{
	while (isspace((unsigned char)*c->at))
		c->at++;
}

/* Returns a variable that setenv or presetenv of the file sets, or else that of
 * the import's environment; NULL: not set. */
static const char *
variable(const struct hap_file *file, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = file->set.n; i-- > 0;)
		if (strncmp(file->set.word[i], name, n) == 0 &&
		    file->set.word[i][n] == '=')
			return file->set.word[i] + n + 1;
	return getenv(name);
}

/* Returns the text with the variables `${NAME:-default}` replaced that remained
 * in it. */
static const char *
expanded(struct hap_file *file, const char *text)
{
	struct arena *arena = &file->doc->arena;
	struct arena_text out = {NULL, 0, 0};
	const char *open;

	arena_text_add(arena, &out, "", 0);
	while ((open = strstr(text, "${"))) {
		const char *dash = strstr(open, ":-");
		const char *end = dash ? strchr(dash, '}') : NULL;
		const char *value;

		if (!end)
			break;
		value = getenv(
		    arena_copy(arena, open + 2, (size_t)(dash - open - 2)));
		arena_text_add(arena, &out, text, (size_t)(open - text));
		if (value)
			arena_text_add(arena, &out, value, strlen(value));
		else
			arena_text_add(
			    arena, &out, dash + 2, (size_t)(end - dash - 2));
		text = end + 1;
	}
	arena_text_add(arena, &out, text, strlen(text));
	return out.data;
}

/* Returns whether HAProxy is built with the feature, as Debian's is. */
static enum truth
has_feature(const char *name)
{
	static const char *const present[] = {"ACCEPT4", "BACKTRACE",
	    "CPU_AFFINITY", "CRYPT_H", "DL", "EPOLL", "GETADDRINFO", "LIBCRYPT",
	    "LINUX_SPLICE", "LINUX_TPROXY", "LUA", "NETFILTER", "NS", "OPENSSL",
	    "PCRE2", "PCRE2_JIT", "POLL", "PRCTL", "PROMEX", "RT", "SLZ",
	    "SYSTEMD", "TFO", "THREAD", "THREAD_DUMP", "TPROXY"};
	static const char *const missing[] = {"51DEGREES", "CLOSEFROM",
	    "DEVICEATLAS", "EVPORTS", "KQUEUE", "OBSOLETE_LINKER", "WURFL"};

	for (size_t i = 0; i < sizeof(present) / sizeof(present[0]); i++)
		if (strcmp(present[i], name) == 0)
			return TRUTH_YES;
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (strcmp(missing[i], name) == 0)
			return TRUTH_NO;
	return TRUTH_UNKNOWN;
}

/* Returns whether the program has at least that version.  Unknown for versions
 * later than the import knows: they may be in use. */
static enum truth
is_at_least(unsigned known, const char *version)
{
	char *end;
	unsigned long major = strtoul(version, &end, 10), minor = 0;

	if (end == version)
		return TRUTH_UNKNOWN;
	if (*end == '.')
		minor = strtoul(end + 1, NULL, 10);
	if (major > 99 || minor > 99)
		return TRUTH_UNKNOWN;
	return major * 100 + minor <= known ? TRUTH_YES : TRUTH_UNKNOWN;
}

static enum truth
call_predicate(struct condition *c, const char *name, const char *first,
    const char *second)
{
	if (strcmp(name, "defined") == 0)
		return truth_of(variable(c->file, first));
	if (strcmp(name, "feature") == 0)
		return has_feature(first);
	if (strcmp(name, "streq") == 0 && second)
		return truth_of(strcmp(first, second) == 0);
	if (strcmp(name, "strneq") == 0 && second)
		return truth_of(strcmp(first, second) != 0);
	if (strcmp(name, "version_atleast") == 0)
		return is_at_least(VERSION, first);
	if (strcmp(name, "version_before") == 0)
		return negate(is_at_least(VERSION, first));
	if (strcmp(name, "openssl_version_atleast") == 0)
		return is_at_least(OPENSSL_VERSION, first);
	if (strcmp(name, "openssl_version_before") == 0)
		return negate(is_at_least(OPENSSL_VERSION, first));
	return TRUTH_UNKNOWN;
}

/* Reads an argument of a function, up to a comma or the parenthesis. */
static const char *
read_argument(struct condition *c)
{
	const char *start = c->at, *end = c->at + strcspn(c->at, ",)");
	const char *last = end;

	while (start < last && isspace((unsigned char)*start))
		start++;
	while (start < last && isspace((unsigned char)last[-1]))
		last--;
	c->at = end;
	return arena_copy(&c->file->doc->arena, start, (size_t)(last - start));
}

/* Evaluates a number, a word, or `name(argument, ...)`. */
static enum truth
read_term(struct condition *c)
{
	struct arena *arena = &c->file->doc->arena;
	size_t n = strcspn(c->at, "()!&| \t");
	const char *word = arena_copy(arena, c->at, n), *first, *second = NULL;

	c->at += n;
	if (*c->at != '(') {
		if (word[strspn(word, "0123456789")] == '\0')
			return truth_of(word[strspn(word, "0")] != '\0');
		if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
			return truth_of(word[0] == 't');
		return TRUTH_UNKNOWN;
	}
	c->at++;
	first = read_argument(c);
	if (*c->at == ',') {
		c->at++;
		second = read_argument(c);
	}
	if (*c->at != ')')
		return TRUTH_UNKNOWN;
	c->at++;
	return call_predicate(c, word, first, second);
}

static enum truth
read_one(struct condition *c)
{
	enum truth truth;

	skip_condition_blanks(c);
	if (*c->at == '!') {
		bool odd = false;

		for (; *c->at == '!' || isspace((unsigned char)*c->at); c->at++)
			odd ^= *c->at == '!';
		truth = read_one(c);
		return odd ? negate(truth) : truth;
	}
	if (*c->at != '(')
		return read_term(c);
	if (c->depth == NEST_MAX)
		return TRUTH_UNKNOWN;
	c->at++;
	c->depth++;
	truth = read_any(c);
	c->depth--;
	if (*c->at != ')')
		return TRUTH_UNKNOWN;
	c->at++;
	return truth;
}

static enum truth
read_conjunction(struct condition *c)
{
	enum truth truth = read_one(c), next;

	for (skip_condition_blanks(c); strncmp(c->at, "&&", 2) == 0;
	     skip_condition_blanks(c)) {
		c->at += 2;
		next = read_one(c);
		if (truth == TRUTH_NO || next == TRUTH_NO)
			truth = TRUTH_NO;
		else if (next == TRUTH_UNKNOWN)
			truth = next;
	}
	return truth;
}

static enum truth
read_any(struct condition *c)
{
	enum truth truth = read_conjunction(c), next;

	for (skip_condition_blanks(c); strncmp(c->at, "||", 2) == 0;
	     skip_condition_blanks(c)) {
		c->at += 2;
		next = read_conjunction(c);
		if (truth == TRUTH_YES || next == TRUTH_YES)
			truth = TRUTH_YES;
		else if (next == TRUTH_UNKNOWN)
			truth = next;
	}
	return truth;
}

enum truth
hap_evaluate(struct hap_file *file, const struct hap_line *line)
{
	struct condition c = {.file = file, .depth = 0};
	enum truth truth;

	c.at =
	    expanded(file, words_join(&file->doc->arena, &line->words, 1, " "));
	truth = read_any(&c);
	skip_condition_blanks(&c);
	return *c.at ? TRUTH_UNKNOWN : truth;
}
