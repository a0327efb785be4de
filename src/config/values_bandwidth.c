/* SPDX-License-Identifier: MIT
 * Limits on bandwidth: `bandwidth = in=10MiB/s out=50MiB/s per=session` of a
 * section, also for the clients of a list alone, and `bandwidth_in=10MiB/s` of
 * a server.
 *
 * The key's choices are the names of the scopes that the section has.
 */
#include "config/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/source_table.h"

static const char *const directions[] = {
    [BAND_IN] = "in", [BAND_OUT] = "out", NULL};

/* Options of per=client: the bits of a client range, and the size of the table.
 */
enum { PREFIX4, PREFIX6, SIZE, BAND_SOURCE_OPTIONS };

static const struct {
	const char *name;
	uint64_t low, high, otherwise;
} source_options[BAND_SOURCE_OPTIONS] = {[PREFIX4] = {"prefix4", 0, 32, 32},
    [PREFIX6] = {"prefix6", 0, 128, 64},
    [SIZE] = {"size", 1, SOURCE_TABLE_MAX, 1u << 20}};

/* A value as it is read. */
struct reading {
	const struct value *value;
	uint64_t rate[BAND_DIRECTIONS];
	enum band_scope scope;
	bool has_scope;
	uint64_t source[BAND_SOURCE_OPTIONS]; /* as written */
	bool has_source[BAND_SOURCE_OPTIONS];
	struct band_lists lists; /* owned */
};

/* Returns the index of the name among the words, which end with NULL, or their
 * number if it is not one of them. */
static unsigned
find_word(const char *const *words, const char *name, size_t len)
{
	unsigned i = 0;

	while (words[i] &&
	       (strlen(words[i]) != len || strncmp(words[i], name, len) != 0))
		i++;
	return i;
}

/* Writes the words as in `session, frontend`. */
static const char *
list_scopes(const struct key *key, char out[KEY_ALLOWED_SIZE])
{
	size_t len = 0;

	for (size_t i = 0; key->choices[i]; i++)
		if (key->choices[i][0])
			len +=
			    (size_t)snprintf(out + len, KEY_ALLOWED_SIZE - len,
			        "%s%s", i > 0 ? ", " : "", key->choices[i]);
	return out;
}

static bool
read_scope(struct reading *r, const char *text)
{
	const struct key *key = r->value->key;
	/* The former name is `source`. */
	const char *word = strcmp(text, "source") == 0 ? "client" : text;
	unsigned scope = find_word(key->choices, word, strlen(word));
	char scopes[KEY_ALLOWED_SIZE];

	if (!*text || !key->choices[scope])
		return value_fail(r->value, "per=%s is unknown; allowed are %s",
		    text, list_scopes(key, scopes));
	if (r->has_scope)
		return value_fail(r->value, "per is given twice");
	r->scope = (enum band_scope)scope;
	r->has_scope = true;
	return true;
}

static bool
read_rate(struct reading *r, enum band_direction direction, const char *text)
{
	const struct key *key = r->value->key;
	struct err err;

	if (r->rate[direction] > 0)
		return value_fail(
		    r->value, "%s is given twice", directions[direction]);
	return text_parse_byte_rate(
	           text, key->min, key->max, &r->rate[direction], &err) ||
	       value_fail(r->value, "%s: %s", directions[direction], err.text);
}

static bool
read_source_option(struct reading *r, unsigned option, const char *text)
{
	const char *name = source_options[option].name;
	uint64_t low = source_options[option].low;
	uint64_t high = source_options[option].high;
	struct err err;

	if (r->has_source[option])
		return value_fail(r->value, "%s is given twice", name);
	r->has_source[option] = true;
	return (option == SIZE ? text_parse_size(
	                             text, low, high, &r->source[option], &err)
	                       : text_parse_number(text, low, high,
	                             &r->source[option], &err)) ||
	       value_fail(r->value, "%s: %s", name, err.text);
}

static unsigned
find_source_option(const char *word, size_t len)
{
	unsigned i = 0;

	while (i < BAND_SOURCE_OPTIONS &&
	       (strlen(source_options[i].name) != len ||
	           strncmp(source_options[i].name, word, len) != 0))
		i++;
	return i;
}

static bool
read_band_list(struct reading *r, struct list_use *list, const char *text)
{
	if (r->lists.only.name || r->lists.except.name)
		return value_fail(r->value,
		    "a limit has one list; keep one of only=list:NAME and "
		    "except=list:NAME");
	return value_read_list(r->value, text, list);
}

static bool
read_word(struct reading *r, const char *word)
{
	size_t len = strcspn(word, "=");
	unsigned direction = find_word(directions, word, len);
	unsigned option = find_source_option(word, len);

	if (word[len] && directions[direction])
		return read_rate(r, direction, word + len + 1);
	if (word[len] && len == 3 && strncmp(word, "per", len) == 0)
		return read_scope(r, word + len + 1);
	if (word[len] && option < BAND_SOURCE_OPTIONS)
		return read_source_option(r, option, word + len + 1);
	if (strncmp(word, "only=", strlen("only=")) == 0)
		return read_band_list(r, &r->lists.only, word + len + 1);
	if (strncmp(word, "except=", strlen("except=")) == 0)
		return read_band_list(r, &r->lists.except, word + len + 1);
	return value_fail(r->value,
	    "'%s' is not expected; write in=RATE, out=RATE and per=SCOPE, as "
	    "in in=10MiB/s per=session",
	    word);
}

/* Adds the limits to those of the section's other values, none of which may
 * limit the same. */
static bool
put_bandwidth_limits(const struct reading *r)
{
	struct bandwidth_spec *spec = value_target(r->value);
	const char *scope = r->value->key->choices[r->scope];

	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++) {
		if (r->rate[d] == 0)
			continue;
		if (spec->rate[r->scope][d] > 0)
			return value_fail(r->value,
			    "%s per=%s is limited before; write one limit",
			    directions[d], scope);
		spec->rate[r->scope][d] = r->rate[d];
	}
	return true;
}

/* Sets the options of the table that all limits per=client share. */
static bool
put_sources(const struct reading *r)
{
	struct bandwidth_spec *spec = value_target(r->value);
	uint64_t n[BAND_SOURCE_OPTIONS];
	bool had = bandwidth_has_sources(spec);

	for (unsigned i = 0; i < BAND_SOURCE_OPTIONS; i++) {
		if (r->has_source[i] && r->scope != BAND_SOURCE)
			return value_fail(r->value,
			    "%s goes with per=client; leave it out",
			    source_options[i].name);
		n[i] = r->has_source[i] ? r->source[i]
		                        : source_options[i].otherwise;
	}
	if (r->scope != BAND_SOURCE)
		return true;
	if (had && (spec->prefix4 != n[PREFIX4] ||
	               spec->prefix6 != n[PREFIX6] || spec->size != n[SIZE]))
		return value_fail(r->value,
		    "prefix4, prefix6 and size differ from the earlier line "
		    "with per=client; write in= and out= in one line");
	spec->prefix4 = (unsigned)n[PREFIX4];
	spec->prefix6 = (unsigned)n[PREFIX6];
	spec->size = n[SIZE];
	return true;
}

static bool
is_same_list(const struct list_use *a, const struct list_use *b)
{
	return a->name && b->name ? strcmp(a->name, b->name) == 0
	                          : a->name == b->name;
}

/* Moves the list to the limits of the scope, which share one. */
static bool
put_lists(struct reading *r)
{
	struct bandwidth_spec *spec = value_target(r->value);
	struct band_lists *of = &spec->lists[r->scope];

	if ((spec->rate[r->scope][BAND_IN] > 0 ||
	        spec->rate[r->scope][BAND_OUT] > 0) &&
	    !(is_same_list(&of->only, &r->lists.only) &&
	        is_same_list(&of->except, &r->lists.except)))
		return value_fail(r->value,
		    "only= or except= differs from the earlier line with "
		    "per=%s; write in= and out= in one line",
		    r->value->key->choices[r->scope]);
	free(of->only.name);
	free(of->except.name);
	*of = r->lists;
	r->lists = (struct band_lists){.only = {.name = NULL}};
	return true;
}

static bool
read_bandwidth(struct reading *r)
{
	const struct value *v = r->value;
	char scopes[KEY_ALLOWED_SIZE];
	struct words words;
	bool ok = true;

	words_split(&words, v->text);
	for (size_t i = 0; i < words.n; i++)
		ok &= read_word(r, words.word[i]);
	if (!ok)
		return false;
	if (r->rate[BAND_IN] == 0 && r->rate[BAND_OUT] == 0)
		return value_fail(
		    v, "the rate is missing; write in=RATE, out=RATE or both");
	if (!r->has_scope)
		return value_fail(v,
		    "per= is missing, which says what shares the limit; write "
		    "per= with one of %s",
		    list_scopes(v->key, scopes));
	return put_sources(r) && put_lists(r) && put_bandwidth_limits(r);
}

static bool
parse_bandwidth(const struct value *v)
{
	struct reading r = {.value = v};
	bool ok = read_bandwidth(&r);

	free(r.lists.only.name);
	free(r.lists.except.name);
	return ok;
}

/* Writes the limits of the n-th scope that has any. */
static bool
print_bandwidth(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct bandwidth_spec *spec = shown_source(s);
	char rate[TEXT_BYTE_RATE_SIZE], size[TEXT_SIZE_SIZE];
	size_t nth = s->nth, len = 0;
	unsigned scope = 0;

	while (scope < BAND_SCOPES && ((spec->rate[scope][BAND_IN] == 0 &&
	                                   spec->rate[scope][BAND_OUT] == 0) ||
	                                  nth-- > 0))
		scope++;
	if (scope == BAND_SCOPES)
		return false;
	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++)
		if (spec->rate[scope][d] > 0)
			len += (size_t)snprintf(out + len,
			    VALUE_TEXT_SIZE - len, "%s=%s ", directions[d],
			    text_byte_rate(spec->rate[scope][d], rate));
	len += (size_t)snprintf(
	    out + len, VALUE_TEXT_SIZE - len, "per=%s", s->key->choices[scope]);
	if (scope == BAND_SOURCE)
		len += (size_t)snprintf(out + len, VALUE_TEXT_SIZE - len,
		    " prefix4=%u prefix6=%u size=%s", spec->prefix4,
		    spec->prefix6, text_size(spec->size, size));
	if (spec->lists[scope].only.name || spec->lists[scope].except.name)
		snprintf(out + len, VALUE_TEXT_SIZE - len,
		    spec->lists[scope].only.name
		        ? " only=" VALUE_LIST_PREFIX "%s"
		        : " except=" VALUE_LIST_PREFIX "%s",
		    spec->lists[scope].only.name
		        ? spec->lists[scope].only.name
		        : spec->lists[scope].except.name);
	return true;
}

/* Reads a rate, or `off`. */
static bool
parse_byte_rate(const struct value *v)
{
	uint64_t *rate = value_target(v);
	struct err err;

	if (strcmp(v->text, "off") == 0) {
		*rate = BANDWIDTH_OFF;
		return true;
	}
	return text_parse_byte_rate(
	           v->text, v->key->min, v->key->max, rate, &err) ||
	       value_fail(v, "%s; off is allowed as well", err.text);
}

static bool
print_byte_rate(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const uint64_t *rate = shown_source(s);
	char text[TEXT_BYTE_RATE_SIZE];

	return *rate > 0 &&
	       value_write(out, "%s",
	           *rate == BANDWIDTH_OFF ? "off"
	                                  : text_byte_rate(*rate, text));
}

VALUE_TYPE(bandwidth, print_bandwidth, NULL, 0);
PLAIN_TYPE(
    byte_rate, print_byte_rate, "off, or 1KiB/s to 100GiB/s", 0, uint64_t);
