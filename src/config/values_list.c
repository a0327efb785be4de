/* SPDX-License-Identifier: MIT
 * Values of [list] sections.
 */
#include "config/values.h"

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
