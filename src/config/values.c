/* SPDX-License-Identifier: MIT
 * See values.h: what the types share, and the options of compound values.
 */
#include "config/values.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "config/expand.h"

bool
value_set_default(const struct key *key, void *object, struct spec *spec)
{
	struct value v = {.key = key,
	    .text = key->default_text,
	    .object = object,
	    .spec = spec};

	return !key->default_text || value_parse(&v);
}

bool
value_read_boolean(const char *word, bool *ret_on)
{
	bool on = strcmp(word, "on") == 0 || strcmp(word, "yes") == 0;

	if (!on && strcmp(word, "off") != 0 && strcmp(word, "no") != 0)
		return false;
	*ret_on = on;
	return true;
}

bool
value_read_range(const char *text, unsigned min, unsigned max,
    unsigned *ret_from, unsigned *ret_to)
{
	const char *dash = strchrnul(text, '-');
	int len = (int)(dash - text);
	char low[8];
	uint64_t from, to;

	if (snprintf(low, sizeof(low), "%.*s", len, text) >= (int)sizeof(low) ||
	    !text_parse_number(low, min, max, &from, NULL) ||
	    !text_parse_number(*dash ? dash + 1 : low, from, max, &to, NULL))
		return false;
	*ret_from = (unsigned)from;
	*ret_to = (unsigned)to;
	return true;
}

bool
value_is_zero(const char *text)
{
	uint64_t ms;

	return text_parse_duration(text, 0, 0, &ms, NULL);
}

bool
value_is_unset(const struct value *value, const char *word)
{
	const struct key *key = value->key;

	return !key->default_text && (key->flags & KEY_IN_DEFAULTS) &&
	       (value_is_zero(word) || strcmp(word, "off") == 0);
}

bool
value_fail(const struct value *value, const char *fmt, ...)
{
	const struct key *key = value->key;
	const struct key *within = value->within;
	/* On the command line, the label in front of the error names the
	 * option. */
	const char *outer = within ? within->name : key->name;
	bool bare = value->entry && value->entry->label;
	char *text;
	va_list ap;

	if (!value->errors)
		return false;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	ENTRY_ERROR(value->entry, value->errors, "%s%s%s%s%s",
	    bare ? "" : outer, bare ? "" : ": ", within ? key->name : "",
	    within ? ": " : "", text ? text : "out of memory");
	free(text);
	return false;
}

static bool
check_quotes(const struct value *v)
{
	/* The multi-byte ones are the quotes of word processors. */
	static const char *const quotes[] = {"\"", "'", "\xe2\x80\x98",
	    "\xe2\x80\x99", "\xe2\x80\x9c", "\xe2\x80\x9d", "`"};

	if ((v->key->type->traits & VALUE_QUOTED) ||
	    !strchr("\"'`\xe2", v->text[0]))
		return true;
	for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++)
		if (strncmp(v->text, quotes[i], strlen(quotes[i])) == 0)
			return value_fail(v, "the value takes no quotes; write "
			                     "it without quotes");
	return true;
}

bool
value_parse(const struct value *value)
{
	const struct value_type *type = value->key->type;
	struct optional *optional = value_target(value);

	if (!check_quotes(value) || !type->parse(value))
		return false;
	if (type->traits & VALUE_OPTIONAL)
		optional->is_set = true;
	return true;
}

bool
value_print(const struct shown *shown, char out[VALUE_TEXT_SIZE])
{
	const struct value_type *type = shown->key->type;
	const struct optional *optional = shown_source(shown);

	if ((type->traits & VALUE_OPTIONAL) && !optional->is_set)
		return false;
	return (shown->nth == 0 || (shown->key->flags & KEY_REPEATABLE)) &&
	       type->print(shown, out);
}

bool
value_write(char out[VALUE_TEXT_SIZE], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out, VALUE_TEXT_SIZE, fmt, ap);
	va_end(ap);
	return true;
}

bool
value_print_string(const struct shown *shown, char out[VALUE_TEXT_SIZE])
{
	char *const *string = shown_source(shown);

	return *string && value_write(out, "%s", *string);
}

bool
value_set_string(const struct value *value, char **string, const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		return value_fail(value, "out of memory");
	free(*string);
	*string = copy;
	return true;
}

bool
value_keep_text(const struct value *value)
{
	return value_set_string(value, value_target(value), value->text);
}

bool
value_choose(const struct value *value, const char *word,
    const struct name_table *names, size_t *ret_index)
{
	const char *advice;
	struct hint hint;

	if (name_table_find(names, word, ret_index))
		return true;
	advice = hint_words_value(value->key->name, word);
	return value_fail(value, "'%s' is unknown; %s", word,
	    advice ? advice : hint_table(&hint, word, names, "allowed"));
}

bool
value_append(const struct value *value, void *array, size_t *n,
    const void *element, size_t size)
{
	void **all = array, *grown = *all;

	/* The room is the next power of two. */
	if ((*n & (*n - 1)) == 0)
		grown = reallocarray(*all, *n > 0 ? 2 * *n : 1, size);
	if (!grown)
		return value_fail(value, "out of memory");
	memcpy((char *)grown + *n * size, element, size);
	*all = grown;
	++*n;
	return true;
}

void
words_split(struct words *words, const char *text)
{
	char *rest, *word;

	ENSURE(strlen(text) <= DRAFT_VALUE_MAX);
	rest = strcpy(words->copy, text);
	words->n = 0;
	while ((word = strsep(&rest, " \t")))
		if (*word)
			words->word[words->n++] = word;
}

/* Returns the key's option of that name, or NULL. */
static const struct key *
option_named(const struct key *key, const char *name)
{
	const struct key *o = key->options;

	while (o->name && strcmp(o->name, name) != 0)
		o++;
	return o->name ? o : NULL;
}

/* Reports the word, which is not an option: an unknown one, or, as its first
 * character says, a value. */
static void
report_unknown_option(
    const struct value *v, const char *word, bool is_value, struct hint *hint)
{
	const char *advice = hint_words_option(v->key->name, word);

	if (advice || !is_value)
		value_fail(v, "unknown option '%s'; %s", word,
		    advice ? advice : hint_text(hint, "allowed"));
	else
		value_fail(v,
		    "'%s' is a value without an option; write OPTION=%s; %s",
		    word, word, hint_text(hint, "options"));
}

/* Returns the option that the word sets, or NULL after an error. */
static const struct key *
find_option(const struct value *v, const char *name, bool is_value,
    unsigned allowed, const char *why)
{
	const struct key *found = option_named(v->key, name);
	const struct key *path = option_named(v->key, "path");
	struct hint hint;

	if (found && !(found->flags & ~allowed))
		return found;
	if (name[0] == '/' && path && !(path->flags & ~allowed)) {
		value_fail(v,
		    "'%s' is a path without its option; write "
		    "path=%s",
		    name, name);
		return NULL;
	}
	if (found) {
		value_fail(v, "the option '%s' is for %s", name,
		    found->only ? found->only : why);
		return NULL;
	}
	hint_init(&hint, name);
	for (const struct key *o = v->key->options; o->name; o++)
		if (!(o->flags & ~allowed))
			hint_offer(&hint, o->name);
	report_unknown_option(v, name, is_value, &hint);
	return NULL;
}

/* Returns whether the word is an option of the key, or one of HAProxy's or
 * nginx's. */
static bool
is_option_word(const struct value *v, const char *word)
{
	return option_named(v->key, word) || strchr(word, '=') ||
	       hint_words_option(v->key->name, word);
}

/* Returns whether the option's value is the next word, as in HAProxy's `weight
 * 5` and `inter 2s`: that word gets no error then. */
static bool
takes_next_word(const struct value *v, const struct words *words, size_t i)
{
	const char *word = words->word[i];
	const struct key *option = option_named(v->key, word);

	return !strchr(word, '=') && is_option_word(v, word) &&
	       i + 1 < words->n && !is_option_word(v, words->word[i + 1]) &&
	       !(option && (option->type->traits & VALUE_BOOLEAN));
}

/* The options of a value while they are read. */
struct options {
	const struct value *value;
	void *object;     /* gets the options */
	unsigned allowed; /* options with other flags are refused */
	const char *why;  /* the reason for that */
	uint64_t seen;    /* bit n: the value has option n */
};

/* Reads `NAME=VALUE`, or `NAME` alone; next: the word that follows. */
static bool
read_option(struct options *o, char *word, const char *next)
{
	const struct value *v = o->value;
	char *text = strchr(word, '=');
	const struct key *option;
	struct value inner = *v;
	uint64_t bit;

	if (text)
		*text++ = '\0';
	option = find_option(
	    v, word, !text && *word >= '0' && *word <= '9', o->allowed, o->why);
	if (!option)
		return false;
	inner.key = option;
	inner.within = v->key;
	inner.text = text;
	inner.object = o->object;
	if (!text && (option->type->traits & VALUE_BOOLEAN))
		inner.text = "on";
	else if (!text || !*text)
		return value_fail(&inner, "the value is missing; write %s=%s",
		    option->name, next ? next : "...");
	bit = UINT64_C(1) << (option - v->key->options);
	if (o->seen & bit)
		return value_fail(&inner, "given twice; keep one");
	o->seen |= bit;
	return value_parse(&inner);
}

bool
options_read(const struct value *value, const struct words *words, size_t from,
    void *object, unsigned allowed, const char *why)
{
	bool ok = true;

	for (const struct key *o = value->key->options; o->name; o++)
		if (!(o->flags & ~allowed) &&
		    !value_set_default(o, object, value->spec))
			ok = value_fail(value, "out of memory");
	return options_read_over(value, words, from, object, allowed, why) &&
	       ok;
}

bool
options_read_over(const struct value *value, const struct words *words,
    size_t from, void *object, unsigned allowed, const char *why)
{
	struct options options = {
	    .value = value, .object = object, .allowed = allowed, .why = why};
	bool ok = true, skip;

	for (size_t i = from; i < words->n; i++) {
		if (words->word[i][0] == '#')
			return value_fail(value,
			    "'#' begins a comment at the start of a "
			    "line only; write ';' behind a value");
		skip = takes_next_word(value, words, i);
		ok &= read_option(
		    &options, words->word[i], skip ? words->word[i + 1] : NULL);
		i += skip;
	}
	return ok;
}

/* Returns the value that an option has if it is not written; NULL: none. */
static const char *
text_of_default(const struct key *option, const void *base,
    const struct spec *spec, char out[VALUE_TEXT_SIZE])
{
	struct shown s = {.key = option, .object = base, .spec = spec};

	if (!base)
		return option->default_text;
	return value_print(&s, out) ? out : NULL;
}

/* Prints the options; all: also those with their default. */
static void
print_options(const struct shown *shown, const void *object, const void *base,
    unsigned allowed, bool all, char out[VALUE_TEXT_SIZE])
{
	size_t len = strlen(out);

	for (const struct key *o = shown->key->options; o->name; o++) {
		struct shown s = {
		    .key = o, .object = object, .spec = shown->spec};
		char text[VALUE_TEXT_SIZE], other[VALUE_TEXT_SIZE];
		const char *without =
		    text_of_default(o, base, shown->spec, other);
		bool is_bare = o->type->traits & VALUE_BARE;

		if (o->flags & ~allowed)
			continue;
		if (!value_print(&s, text)) {
			/* An unset option is skipped, except for a flag that
			 * its default sets: that is printed as off. */
			if (!is_bare || !without)
				continue;
			strcpy(text, "off");
			is_bare = false;
		} else if (!all && without && strcmp(text, without) == 0) {
			continue;
		}
		len += (size_t)snprintf(out + len, VALUE_TEXT_SIZE - len,
		    is_bare ? " %s" : " %s=%s", o->name, text);
		ENSURE(len < VALUE_TEXT_SIZE);
	}
}

void
options_print_set(const struct shown *shown, const void *object,
    const void *base, unsigned allowed, char out[VALUE_TEXT_SIZE])
{
	print_options(shown, object, base, allowed, false, out);
}

bool
options_print(const struct shown *shown, const void *object, const void *base,
    unsigned allowed, char out[VALUE_TEXT_SIZE])
{
	size_t len = strlen(out);

	print_options(shown, object, base, allowed, true, out);
	if (expand_length(out) > DRAFT_VALUE_MAX) {
		/* Without defaults it fits: the text that was read had all of
		 * these options. */
		out[len] = '\0';
		print_options(shown, object, base, allowed, false, out);
	}
	return true;
}
