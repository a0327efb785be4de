/* SPDX-License-Identifier: MIT
 * See build.h: the heads of sections, and the indexes of their names.
 */
#include <string.h>

#include "config/build.h"
#include "config/keys.h"
#include "config/values.h"

static void
check_head(const struct draft_section *s, struct err_list *errors)
{
	const struct section *kind = &sections[s->kind];
	struct err err;

	if (!kind->named && *s->name)
		ERROR_AT(s, errors,
		    "[%s] has a name; write %s, of which there is one", s->head,
		    kind->head);
	else if (kind->named && !*s->name)
		ERROR_AT(s, errors, "[%s] has no name; write %s", s->head,
		    kind->head);
	else if (kind->named && !name_check(s->name, NAME_MAX_LEN, &err))
		ERROR_AT(s, errors, "[%s]: %s", s->head, err.text);
	else if (s->kind == SECTION_TLS && strcmp(s->name, "off") == 0)
		ERROR_AT(s, errors,
		    "[%s]: tls=off means no TLS; give the section another name",
		    s->head);
}

/* Returns the names of the sections of that kind, which has names. */
static struct name_table
names_of(const struct spec *spec, enum section_kind kind)
{
	return kind == SECTION_POOL       ? *INDEXED_TABLE(spec, pools)
	       : kind == SECTION_TLS      ? *INDEXED_TABLE(spec, tls)
	       : kind == SECTION_LIST     ? *INDEXED_TABLE(spec, lists)
	       : kind == SECTION_FRONTEND ? *INDEXED_TABLE(spec, frontends)
	                                  : *INDEXED_TABLE(spec, backends);
}

static void
check_duplicate(const struct spec *spec, const struct draft *draft,
    const struct draft_section *s, struct err_list *errors)
{
	const struct name_table names = names_of(spec, s->kind);
	bool named = sections[s->kind].named;
	char first[DRAFT_FIRST_SIZE];
	size_t index = 0;

	if (named && (!*s->name || !name_table_find(&names, s->name, &index) ||
	                 index == s->index))
		return;
	for (const struct draft_section *o = draft->sections; o < s; o++) {
		if (o->kind != s->kind || o->corrected ||
		    (named && o->index != index))
			continue;
		ERROR_AT(s, errors, "there is a second [%s]%s; merge the two",
		    s->head, draft_first(o->place, s->place, first));
		return;
	}
}

void
build_heads(
    struct spec *spec, const struct draft *draft, struct err_list *errors)
{
	INDEX_NAMES(spec, pools);
	INDEX_NAMES(spec, tls);
	INDEX_NAMES(spec, lists);
	INDEX_NAMES(spec, frontends);
	INDEX_NAMES(spec, backends);
	for (size_t i = 0; i < draft->sections_n; i++) {
		const struct draft_section *s = &draft->sections[i];

		if (s->kind == SECTION_KINDS || s->corrected)
			continue;
		check_head(s, errors);
		check_duplicate(spec, draft, s, errors);
	}
}
