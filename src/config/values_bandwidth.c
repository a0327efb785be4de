/* SPDX-License-Identifier: MIT
 * Limits on bandwidth: `bandwidth = in=10MiB/s out=50MiB/s per=session` of a
 * section, and `bandwidth_in=10MiB/s` of a server.
 *
 * The key's choices are the names of the scopes that the section has.
 */
#include "config/values.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const char *const directions[] = {
    [BAND_IN] = "in", [BAND_OUT] = "out", NULL};

/* A value as it is read. */
struct reading {
	const struct value *value;
	uint64_t rate[BAND_DIRECTIONS];
	enum band_scope scope;
	bool has_scope;
};

/* Returns the index of the name among the words, whose end is NULL, else the
 * number of words. */
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
		len += (size_t)snprintf(out + len, KEY_ALLOWED_SIZE - len,
		    "%s%s", i > 0 ? ", " : "", key->choices[i]);
	return out;
}

static bool
read_scope(struct reading *r, const char *text)
{
	const struct key *key = r->value->key;
	unsigned scope = find_word(key->choices, text, strlen(text));
	char scopes[KEY_ALLOWED_SIZE];

	if (!key->choices[scope])
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
read_word(struct reading *r, const char *word)
{
	size_t len = strcspn(word, "=");
	unsigned direction = find_word(directions, word, len);

	if (word[len] && directions[direction])
		return read_rate(r, direction, word + len + 1);
	if (word[len] && len == 3 && strncmp(word, "per", len) == 0)
		return read_scope(r, word + len + 1);
	return value_fail(r->value,
	    "'%s' is not expected; write in=RATE, out=RATE and per=SCOPE, as "
	    "in in=10MiB/s per=session",
	    word);
}

/* Several values of a section add up, as long as none limits the same. */
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

static bool
parse_bandwidth(const struct value *v)
{
	struct reading r = {.value = v};
	char scopes[KEY_ALLOWED_SIZE];
	struct words words;
	bool ok = true;

	words_split(&words, v->text);
	for (size_t i = 0; i < words.n; i++)
		ok &= read_word(&r, words.word[i]);
	if (!ok)
		return false;
	if (r.rate[BAND_IN] == 0 && r.rate[BAND_OUT] == 0)
		return value_fail(
		    v, "there is no limit; write in=RATE, out=RATE or both");
	if (!r.has_scope)
		return value_fail(v,
		    "what shares the limit is missing; write per= with one of "
		    "%s",
		    list_scopes(v->key, scopes));
	return put_bandwidth_limits(&r);
}

/* Writes the limits of the n-th scope that has any. */
static bool
print_bandwidth(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct bandwidth_spec *spec = shown_source(s);
	char rate[TEXT_BYTE_RATE_SIZE];
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
	snprintf(
	    out + len, VALUE_TEXT_SIZE - len, "per=%s", s->key->choices[scope]);
	return true;
}

/* A rate, or off. */
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
VALUE_TYPE(byte_rate, print_byte_rate, "off, or 1KiB/s to 100GiB/s", 0);
