/* SPDX-License-Identifier: MIT
 * Values of [list] sections.
 */
#include "config/values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The other sources are the files of the configuration. */
#define LIST_FILES_MAX 100

static bool
parse_list_entry(const struct value *v)
{
	struct list_spec *l = v->object;
	struct words words;
	struct err err;
	bool ok = true;

	words_split(&words, v->text);
	for (size_t i = 0; i < words.n; i++) {
		struct list_entry_spec entry = {.place = v->entry->place};

		if (!cidr_parse(words.word[i], &entry.range, &err))
			ok = value_fail(v, "%s", err.text);
		else
			ok &= value_append(v, &l->entries, &l->entries_n,
			    &entry, sizeof(entry));
	}
	return ok;
}

static bool
print_list_entry(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct list_spec *l = s->object;
	char range[CIDR_TEXT_SIZE];

	return s->nth < l->entries_n &&
	       value_write(
	           out, "%s", cidr_text(&l->entries[s->nth].range, range));
}

VALUE_TYPE(list_entry, print_list_entry,
    "IP addresses, ranges of them as 10.0.0.0/8, and unix", 0);

/* -- files -- */

static void
file_fini(struct list_file_spec *file)
{
	free(file->path);
	free(file->countries);
}

static bool
parse_list_file(const struct value *v)
{
	struct list_spec *l = v->object;
	struct list_file_spec file = {.place = v->entry->place};
	struct words words;

	words_split(&words, v->text);
	for (size_t i = 0; i < l->files_n; i++)
		if (strcmp(l->files[i].path, words.word[0]) == 0)
			return value_fail(v,
			    "'%s' is given twice; keep one, which may have "
			    "country=DE,FR",
			    words.word[0]);
	if (l->files_n >= LIST_FILES_MAX)
		return value_fail(v,
		    "a list has at most %d files; put several into one",
		    LIST_FILES_MAX);
	if (options_read(v, &words, 1, &file, 0, "") &&
	    value_set_string(v, &file.path, words.word[0]) &&
	    value_append(v, &l->files, &l->files_n, &file, sizeof(file)))
		return true;
	file_fini(&file);
	return false;
}

static bool
print_list_file(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct list_spec *l = s->object;

	if (s->nth >= l->files_n)
		return false;
	return value_write(out, "%s", l->files[s->nth].path) &&
	       options_print(s, &l->files[s->nth], NULL, 0, out);
}

VALUE_TYPE(list_file, print_list_file, "the path of a file", 0);

/* Reads codes of ISO 3166-1, as MaxMind databases have them. */
static bool
parse_countries(const struct value *v)
{
	const char *at = v->text;
	bool ok;

	do {
		ok = isupper((unsigned char)at[0]) &&
		     isupper((unsigned char)at[1]) &&
		     (at[2] == ',' || at[2] == '\0');
		at += ok ? 2 : 0;
	} while (ok && *at++ == ',');
	if (ok)
		return value_keep_text(v);
	return value_fail(v,
	    "'%s' is not a list of countries; write their codes with commas "
	    "between, as in DE,FR",
	    v->text);
}

VALUE_TYPE(countries, value_print_string, "codes of countries, as DE,FR", 0);
