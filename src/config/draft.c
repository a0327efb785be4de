/* SPDX-License-Identifier: MIT
 * See draft.h.
 */
#include "config/draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/grow.h"

void
draft_init(struct draft *draft)
{
	*draft = (struct draft){.files = NULL};
}

static void
entry_fini(struct draft_entry *e)
{
	free(e->label);
	free(e->name);
	free(e->value);
	free(e->line);
}

void
draft_fini(struct draft *draft)
{
	for (size_t i = 0; i < draft->sections_n; i++) {
		struct draft_section *s = &draft->sections[i];

		for (size_t j = 0; j < s->entries_n; j++)
			entry_fini(&s->entries[j]);
		free(s->entries);
		free(s->head);
	}
	free(draft->sections);
	for (size_t i = 0; i < draft->files_n; i++)
		free(draft->files[i]);
	free(draft->files);
	for (size_t i = 0; i < draft->includes_n; i++)
		free(draft->includes[i].path);
	free(draft->includes);
	draft_init(draft);
}

const char *
draft_add_file(struct draft *draft, const char *path)
{
	char **grown =
	    reallocarray(draft->files, draft->files_n + 1, sizeof(*grown));
	char *copy;

	if (!grown)
		return NULL;
	draft->files = grown;
	copy = strdup(path);
	if (copy)
		draft->files[draft->files_n++] = copy;
	return copy;
}

bool
draft_add_include(
    struct draft *draft, struct spec_place place, const char *path)
{
	struct draft_include *grown = reallocarray(
	    draft->includes, draft->includes_n + 1, sizeof(*grown));
	char *copy;

	if (!grown)
		return false;
	draft->includes = grown;
	copy = strdup(path);
	if (copy)
		grown[draft->includes_n++] =
		    (struct draft_include){.place = place, .path = copy};
	return copy != NULL;
}

bool
draft_add_section(
    struct draft *draft, struct spec_place place, const char *head)
{
	struct draft_section s = {.place = place, .kind = SECTION_KINDS};
	struct draft_section *grown = grow(draft->sections, draft->sections_n,
	    &draft->sections_room, sizeof(*grown));

	if (!grown)
		return false;
	draft->sections = grown;
	s.head = strdup(head);
	if (!s.head)
		return false;
	draft->sections[draft->sections_n++] = s;
	return true;
}

static bool
copy_text(char **ret_copy, const char *text)
{
	*ret_copy = text ? strdup(text) : NULL;
	return !text || *ret_copy;
}

bool
draft_add_entry(struct draft *draft, struct spec_place place, const char *label,
    const char *name, const char *value, const char *line)
{
	struct draft_entry e = {.place = place}, *grown;
	struct draft_section *s;

	ENSURE(draft->sections_n > 0);
	s = &draft->sections[draft->sections_n - 1];
	grown =
	    grow(s->entries, s->entries_n, &s->entries_room, sizeof(*grown));
	if (!grown)
		return false;
	s->entries = grown;
	if (copy_text(&e.label, label) && copy_text(&e.name, name) &&
	    copy_text(&e.value, value) && copy_text(&e.line, line)) {
		s->entries[s->entries_n++] = e;
		return true;
	}
	entry_fini(&e);
	return false;
}

const char *
draft_first(
    struct spec_place first, struct spec_place here, char out[DRAFT_FIRST_SIZE])
{
	if (!first.file)
		out[0] = '\0';
	else if (here.file && strcmp(first.file, here.file) == 0)
		snprintf(
		    out, DRAFT_FIRST_SIZE, ", first in line %u", first.line);
	else
		snprintf(out, DRAFT_FIRST_SIZE, ", first in %s:%u", first.file,
		    first.line);
	return out;
}
