/* SPDX-License-Identifier: MIT
 * See build.h.
 */
#include "config/build.h"

#include <stdio.h>
#include <string.h>

#include "config/hint.h"
#include "config/keys.h"
#include "config/values.h"

#define BLANKS      " \t"
#define PLACES_SIZE 100
#define LONGER_SIZE 200
#define OPTION_SIZE 200

/* Finds the key that the first words of the line name, joined as in
 * `timeout client`; tries the most words first.  *ret_rest is what follows
 * them, *ret_words their number.  Returns NULL if there is none. */
static const struct key *
key_of_words(enum section_kind kind, const char *line, const char **ret_rest,
    unsigned *ret_words)
{
	const struct key *found = NULL;
	char joined[64];
	size_t len = 0;

	for (unsigned words = 1; words <= 4; words++) {
		const struct key *k;
		size_t n = strcspn(line, BLANKS ":=");

		if (n == 0 || len + n + 2 > sizeof(joined))
			break;
		if (len > 0)
			joined[len++] = '_';
		for (; n > 0; n--, line++)
			joined[len++] = *line == '-' ? '_' : *line;
		joined[len] = '\0';
		k = key_find(kind, joined);
		if (k) {
			found = k;
			*ret_rest = line;
			*ret_words = words;
		}
		line += strspn(line, BLANKS);
	}
	return found;
}

/* Returns what is behind the key and its separator. */
static const char *
value_of_line(const char *rest, bool *ret_colon)
{
	const char *value = rest + strspn(rest, BLANKS);
	bool equals = *value == '=';

	/* True for `listen: 80` and `listen : 80`, but not for `listen :80`. */
	*ret_colon = *value == ':' && (value == rest || value[1] == '\0' ||
	                                  strchr(BLANKS, value[1]));
	if (*ret_colon || equals)
		value += 1 + strspn(value + 1, BLANKS);
	return value;
}

/* Reports a line that begins with a key of the section, and has no '=' behind
 * it. */
static void
report_separator(const struct draft_entry *e, const struct key *key,
    const char *rest, unsigned words, struct err_list *errors)
{
	bool colon;
	const char *value = value_of_line(rest, &colon);
	/* `balance least_conn` has two mistakes. */
	const char *advice = hint_words_value(key->name, value);
	size_t len;

	if (advice && strncmp(advice, "write ", 6) == 0)
		value = advice + 6;
	if (!*value)
		value = "VALUE";
	/* nginx ends its lines with a ';'. */
	len = strlen(value);
	len -= value[len - 1] == ';';
	ENTRY_ERROR(e, errors, "%s%.*s%s; write %s = %.*s",
	    words > 1 ? "unknown key '"
	    : colon   ? "':' does not separate key and value"
	              : "the '=' between key and value is missing",
	    words > 1 ? (int)(rest - e->line) : 0, e->line,
	    words > 1 ? "'" : "", key->name, (int)(len < 200 ? len : 200),
	    value);
}

static const struct key *
report_line(const struct draft_section *s, const struct draft_entry *e,
    struct err_list *errors)
{
	const struct key *key;
	const char *rest;
	unsigned words;

	key = key_of_words(s->kind, e->line, &rest, &words);
	if (key)
		report_separator(e, key, rest, words, errors);
	else
		ENTRY_ERROR(e, errors,
		    "the line is neither [section] nor 'key = value' nor a "
		    "comment (; ...)");
	return key;
}

/* Writes the other sections in which there is such a key: `[global] or
 * [frontend NAME]`.  Returns whether there are any. */
static bool
write_places(const char *name, char places[PLACES_SIZE])
{
	size_t len = 0;

	places[0] = '\0';
	for (enum section_kind k = 0; k < SECTION_KINDS; k++)
		if (k != SECTION_DEFAULTS && key_find(k, name))
			len += (size_t)snprintf(places + len, PLACES_SIZE - len,
			    "%s%s", len > 0 ? " or " : "", sections[k].head);
	return len > 0;
}

/* Writes the keys of the section that begin with the name, as timeout_connect
 * does with timeout, as a part of a sentence; or "". */
static void
write_longer(
    const struct draft_section *s, const char *name, char longer[LONGER_SIZE])
{
	size_t name_len = strlen(name), len = 0;

	longer[0] = '\0';
	for (const struct key *k = NULL; (k = key_next(s->kind, k));)
		if (strncmp(k->name, name, name_len) == 0 &&
		    k->name[name_len] == '_' && len < LONGER_SIZE)
			len += (size_t)snprintf(longer + len, LONGER_SIZE - len,
			    "%s%s", len > 0 ? ", " : "; here there are ",
			    k->name);
}

/* Returns whether the key belongs in another section, and adds an error
 * then. */
static bool
report_misplaced(const struct draft_section *s, const struct draft_entry *e,
    struct err_list *errors)
{
	char places[PLACES_SIZE], longer[LONGER_SIZE];

	if (!write_places(e->name, places))
		return false;
	write_longer(s, e->name, longer);
	ENTRY_ERROR(e, errors,
	    "the key '%s' does not belong in [%s] but in %s%s", e->name,
	    s->head, places, longer);
	return true;
}

/* -- options of values -- */

/* Values that have options which others of the same key do not have, and
 * examples of what comes before the options. */
static const struct option_sample {
	unsigned flag;
	const char *key, *text;
} option_samples[] = {
    {KEY_HTTP_ONLY, "check", "http"},
    {KEY_HTTP_ONLY, "servers", "app 20 consul=URL"},
    {KEY_TLS_ONLY, "check", "https"},
    {KEY_USER_ONLY, "check", "postgresql"},
    {KEY_HELLO_ONLY, "check", "smtp"},
    {KEY_UNIX_ONLY, "listen", "unix:/PATH"},
    {KEY_FILE_ONLY, "log", "file=/PATH"},
    {KEY_SYSLOG_ONLY, "log", "syslog"},
    {0, "admin", "/PATH"},
    {0, "agent", "on"},
    {0, "backend", "NAME"},
    {0, "listen", "HOST:PORT"},
    {0, "http", "HOST:PORT"},
    {0, "server", "NAME HOST:PORT"},
    {0, "servers", "PREFIX NUMBER SOURCE"},
};
#define RESTRICTIONS                                                           \
	(KEY_HTTP_ONLY | KEY_TLS_ONLY | KEY_USER_ONLY | KEY_HELLO_ONLY |       \
	    KEY_UNIX_ONLY | KEY_FILE_ONLY | KEY_SYSLOG_ONLY)

static const struct key *
option_in(const struct key *options, const char *name)
{
	for (; options && options->name; options++)
		if (strcmp(options->name, name) == 0)
			return options;
	return NULL;
}

/* Finds the first key of the section whose values have the option; one that
 * borrows it from another key comes last. */
static const struct key *
key_with_option(
    enum section_kind kind, const char *name, const struct key **ret_option)
{
	for (const struct key *k = NULL; (k = key_next(kind, k));)
		if ((*ret_option = option_in(k->options, name)))
			return k;
	for (const struct key *k = NULL; (k = key_next(kind, k));)
		if ((*ret_option = option_in(k->borrowed_options, name)))
			return k;
	return NULL;
}

/* Returns what the option goes behind: the section's first value of the key,
 * unless that has the option or cannot have it, or an example. */
static const char *
text_before_option(const struct draft_section *s, const struct key *key,
    const struct key *option)
{
	unsigned restricted = option->flags & RESTRICTIONS;

	for (size_t i = 0; i < s->entries_n && !restricted; i++) {
		const struct draft_entry *e = &s->entries[i];

		if (strcmp(e->name, key->name) == 0 && e->value &&
		    strlen(e->value) <= 80 && !strstr(e->value, option->name))
			return e->value;
	}
	for (size_t i = 0;
	     i < sizeof(option_samples) / sizeof(option_samples[0]); i++)
		if (strcmp(option_samples[i].key, key->name) == 0 &&
		    (option_samples[i].flag
		            ? option_samples[i].flag & restricted
		            : !restricted))
			return option_samples[i].text;
	return key->default_text ? key->default_text : "";
}

/* Writes the option as the entry has it: `weight=3`, `backup`. */
static void
write_option(const struct draft_entry *e, const struct key *option,
    char out[OPTION_SIZE])
{
	const char *value = e->value;
	bool colon, on = true;

	if (e->line)
		value = value_of_line(e->line + strlen(e->name), &colon);
	if (!value || !*value)
		value = NULL;
	if ((option->type->traits & VALUE_BARE) &&
	    (!value || (value_read_boolean(value, &on) && on)))
		snprintf(out, OPTION_SIZE, "%s", option->name);
	else
		snprintf(out, OPTION_SIZE, "%s=%.100s", option->name,
		    value ? value : "VALUE");
}

/* Returns whether the word is an option of values of the section, and adds an
 * error then.  A word that is rather a key elsewhere, or one of HAProxy's, is
 * left to others. */
static bool
report_option_as_key(const struct draft_section *s, const struct draft_entry *e,
    struct err_list *errors)
{
	const struct key *option, *key;
	char places[PLACES_SIZE], text[OPTION_SIZE];
	const char *before;
	bool elsewhere, server;

	key = key_with_option(s->kind, e->name, &option);
	elsewhere = write_places(e->name, places);
	if (!key || ((option->flags & RESTRICTIONS) &&
	                (elsewhere || hint_words_key(e->name))))
		return false;
	server = strcmp(key->name, "server") == 0;
	before = text_before_option(s, key, option);
	write_option(e, option, text);
	ENTRY_ERROR(e, errors,
	    "unknown key '%s' in [%s]; it is an option of %s: write %s = "
	    "%s%s%s%s%s%s%s",
	    e->name, s->head, key->name, key->name, before, *before ? " " : "",
	    text, server ? ", or for all servers server_defaults = " : "",
	    server ? text : "", elsewhere ? "; the key belongs in " : "",
	    places);
	return true;
}

/* -- other words -- */

/* Returns advice for an option of HAProxy's or nginx's servers or addresses,
 * with the key that it is for. */
static const char *
advice_for_option(
    enum section_kind kind, const char *name, const char **ret_key)
{
	*ret_key = kind == SECTION_FRONTEND  ? "listen"
	           : kind == SECTION_BACKEND ? "server"
	                                     : NULL;
	return *ret_key ? hint_words_option(*ret_key, name) : NULL;
}

static const struct key *
report_name(const struct draft_section *s, const struct draft_entry *e,
    struct err_list *errors)
{
	const struct key *k = NULL;
	const char *advice, *of, *text;
	struct hint hint;

	hint_init(&hint, e->name);
	while ((k = key_next(s->kind, k)))
		hint_offer(&hint, k->name);
	text = hint_text(&hint, "allowed");
	advice = hint.near ? NULL : advice_for_option(s->kind, e->name, &of);
	if (advice)
		ENTRY_ERROR(e, errors, "unknown key '%s' in [%s]; for %s: %s",
		    e->name, s->head, of, advice);
	else
		ENTRY_ERROR(e, errors, "unknown key '%s' in [%s]; %s", e->name,
		    s->head, text);
	return hint.near ? key_find(s->kind, hint.near) : NULL;
}

/* Returns whether the line begins with the words of a key of the section, as
 * `timeout client` does. */
static bool
names_own_key(const struct draft_section *s, const struct draft_entry *e)
{
	const char *rest;
	unsigned words;

	return e->line && key_of_words(s->kind, e->line, &rest, &words);
}

/* Returns the key of the section that the advice names, as in `write listen =
 * ADDRESS`, or NULL. */
static const struct key *
key_of_advice(enum section_kind kind, const char *advice)
{
	const char *end;
	char name[40];

	if (strncmp(advice, "write ", 6) != 0 ||
	    !(end = strstr(advice += 6, " = ")))
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)(end - advice), advice);
	return key_find(kind, name);
}

const struct key *
build_unknown(const struct draft_section *section,
    const struct draft_entry *entry, struct err_list *errors)
{
	bool known = key_find(section->kind, entry->name) != NULL;
	const char *advice =
	    hint_words_key(entry->line ? entry->line : entry->name);

	if (!known && !names_own_key(section, entry) &&
	    (report_option_as_key(section, entry, errors) ||
	        report_misplaced(section, entry, errors)))
		return NULL;
	if (!advice)
		return entry->line ? report_line(section, entry, errors)
		                   : report_name(section, entry, errors);
	ENTRY_ERROR(entry, errors, "unknown key '%s' in [%s]; %s", entry->name,
	    section->head, advice);
	return key_of_advice(section->kind, advice);
}
