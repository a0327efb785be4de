/* SPDX-License-Identifier: MIT
 * See tls_sections.h.
 */
#include "import/tls_sections.h"

#include <stdbool.h>
#include <string.h>

struct tls_entry {
	struct tls_entry *next;
	const char *lines, *name;
};

const char *
tls_section(struct tls_sections *sections, struct document *doc,
    const char *lines, const char *want)
{
	struct tls_entry **end = &sections->first, *entry;
	struct ini_section *section;

	lines = lines ? lines : "; with all defaults\n";
	for (; *end; end = &(*end)->next)
		if (strcmp((*end)->lines, lines) == 0)
			return (*end)->name;
	entry = arena_alloc(&doc->arena, sizeof(*entry));
	entry->lines = lines;
	entry->name = doc_name(doc, "tls", want);
	*end = entry;
	section = doc_find_section(
	    doc, arena_printf(&doc->arena, "tls %s", entry->name));
	arena_text_add(&doc->arena, &section->lines, lines, strlen(lines));
	section->n_keys++;
	return entry->name;
}

static bool
imported_is_gone(const char *word, size_t n)
{
	static const char *const gone[] = {"RC4", "DES", "IDEA", "SEED", "EXP",
	    "RC2", "MD5", "SSLv2", "KRB5", "FZA", "kDHr", "kDHd", "aDH",
	    "aECDH", "kECDHr", "kECDHe", "kEDH", "PROFILE="};

	if (n > 0 && (*word == '!' || *word == '@'))
		return false;
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		if (memmem(word, n, gone[i], strlen(gone[i])))
			return true;
	return false;
}

const char *
tls_ciphers(struct document *doc, const char *list, const char **ret_dropped)
{
	struct arena_text kept = {NULL, 0, 0}, dropped = {NULL, 0, 0};

	while (*list) {
		size_t n = strcspn(list, ": ,");
		struct arena_text *to =
		    imported_is_gone(list, n) ? &dropped : &kept;

		if (n > 0) {
			arena_text_add(&doc->arena, to, ":", to->n > 0);
			arena_text_add(&doc->arena, to, list, n);
		}
		list += n + (list[n] != '\0');
	}
	*ret_dropped = dropped.data;
	return kept.data;
}

const char *
tls_curves(struct document *doc, const char *list)
{
	return strcmp(list, "auto") == 0
	           ? NULL
	           : arena_printf(&doc->arena, "%s", list);
}
