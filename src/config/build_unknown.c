/* SPDX-License-Identifier: MIT
 * See build.h.
 */
#include "config/build.h"

#include <stdio.h>
#include <string.h>

#include "config/hint.h"
#include "config/keys.h"

#define BLANKS " \t"

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

/* Reports a line that begins with a key of the section, and has no '=' behind
 * it. */
static void
report_separator(const struct draft_entry *e, const struct key *key,
    const char *rest, unsigned words, struct err_list *errors)
{
	const char *value = rest + strspn(rest, BLANKS);
	const char *advice;
	bool equals = *value == '=';
	/* True for `listen: 80` and `listen : 80`, but not for `listen :80`. */
	bool colon = *value == ':' && (value == rest || value[1] == '\0' ||
	                                  strchr(BLANKS, value[1]));

	if (colon || equals)
		value += 1 + strspn(value + 1, BLANKS);
	/* `balance least_conn` has two mistakes. */
	advice = hint_words_value(key->name, value);
	if (advice && strncmp(advice, "write ", 6) == 0)
		value = advice + 6;
	ENTRY_ERROR(e, errors, "%s%.*s%s; write %s = %.200s",
	    words > 1 ? "unknown key '"
	    : colon   ? "':' does not separate key and value"
	              : "the '=' between key and value is missing",
	    words > 1 ? (int)(rest - e->line) : 0, e->line,
	    words > 1 ? "'" : "", key->name, *value ? value : "VALUE");
}

static void
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
}

/* Returns whether the key belongs in another section, and adds an error
 * then. */
static bool
report_misplaced(const struct draft_section *s, const struct draft_entry *e,
    struct err_list *errors)
{
	char places[100] = "";
	size_t len = 0;

	for (enum section_kind k = 0; k < SECTION_KINDS; k++)
		if (k != SECTION_DEFAULTS && key_find(k, e->name))
			len += (size_t)snprintf(places + len,
			    sizeof(places) - len, "%s%s", len > 0 ? " or " : "",
			    sections[k].head);
	if (len > 0)
		ENTRY_ERROR(e, errors,
		    "the key '%s' does not belong in [%s] but in %s", e->name,
		    s->head, places);
	return len > 0;
}

static void
report_name(const struct draft_section *s, const struct draft_entry *e,
    struct err_list *errors)
{
	const struct key *k = NULL;
	struct hint hint;

	hint_init(&hint, e->name);
	while ((k = key_next(s->kind, k)))
		hint_offer(&hint, k->name);
	ENTRY_ERROR(e, errors, "unknown key '%s' in [%s]; %s", e->name, s->head,
	    hint_text(&hint, "allowed"));
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

void
build_unknown(const struct draft_section *section,
    const struct draft_entry *entry, struct err_list *errors)
{
	bool known = key_find(section->kind, entry->name) != NULL;
	const char *advice =
	    hint_words_key(entry->line ? entry->line : entry->name);

	if (section->kind == SECTION_FRONTEND &&
	    strcmp(entry->name, "tls") == 0)
		advice = "write tls=NAME behind the address of listen";
	else if (!known && !names_own_key(section, entry) &&
	         report_misplaced(section, entry, errors))
		return;
	if (advice)
		ENTRY_ERROR(entry, errors, "unknown key '%s' in [%s]; %s",
		    entry->name, section->head, advice);
	else if (entry->line)
		report_line(section, entry, errors);
	else
		report_name(section, entry, errors);
}
