/* SPDX-License-Identifier: MIT
 * See recipe.h.
 */
#include "acl/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/file.h"
#include "base/grow.h"
#include "base/text.h"

struct recipe_entry {
	char *file; /* NULL: the command line */
	unsigned line;
	struct cidr range;
};

struct recipe_file {
	char *path, *countries;
};

struct acl_recipe {
	unsigned refs;
	struct recipe_entry *entries;
	size_t entries_n, entries_room;
	struct recipe_file *files;
	size_t files_n, files_room;
};

struct acl_recipe *
acl_recipe_new(void)
{
	struct acl_recipe *r = calloc(1, sizeof(*r));

	if (r)
		r->refs = 1;
	return r;
}

struct acl_recipe *
acl_recipe_ref(struct acl_recipe *recipe)
{
	recipe->refs++;
	return recipe;
}

void
acl_recipe_unref(struct acl_recipe *recipe)
{
	if (!recipe || --recipe->refs > 0)
		return;
	for (size_t i = 0; i < recipe->entries_n; i++)
		free(recipe->entries[i].file);
	for (size_t i = 0; i < recipe->files_n; i++) {
		free(recipe->files[i].path);
		free(recipe->files[i].countries);
	}
	free(recipe->entries);
	free(recipe->files);
	free(recipe);
}

bool
acl_recipe_add_entry(struct acl_recipe *recipe, const struct cidr *range,
    const char *file, unsigned line)
{
	struct acl_recipe *r = recipe;
	struct recipe_entry entry = {.line = line, .range = *range};
	struct recipe_entry *grown =
	    grow(r->entries, r->entries_n, &r->entries_room, sizeof(*grown));

	if (!grown)
		return false;
	r->entries = grown;
	if (file && !(entry.file = strdup(file)))
		return false;
	r->entries[r->entries_n++] = entry;
	return true;
}

bool
acl_recipe_add_file(
    struct acl_recipe *recipe, const char *path, const char *countries)
{
	struct acl_recipe *r = recipe;
	struct recipe_file *f =
	    grow(r->files, r->files_n, &r->files_room, sizeof(*f));

	if (!f)
		return false;
	r->files = f;
	f += r->files_n;
	f->path = strdup(path);
	f->countries = countries ? strdup(countries) : NULL;
	if (f->path && (f->countries || !countries)) {
		r->files_n++;
		return true;
	}
	free(f->path);
	free(f->countries);
	return false;
}

const char *
acl_recipe_file(const struct acl_recipe *recipe, size_t n)
{
	return n < recipe->files_n ? recipe->files[n].path : NULL;
}

static const char *
inline_source(const struct acl_recipe *r, size_t entry)
{
	return r->entries[entry].file ? r->entries[entry].file : "-";
}

/* Returns whether the entry is the first one, or from another file than the one
 * before it: most neighbouring entries are from the same file. */
static bool
begins_source(const struct acl_recipe *r, size_t entry)
{
	return entry == 0 || strcmp(inline_source(r, entry - 1),
	                         inline_source(r, entry)) != 0;
}

static bool
add_inline_entries(const struct acl_recipe *r, struct acl_content *content)
{
	int source = -1;

	for (size_t i = 0; i < r->entries_n; i++) {
		const struct recipe_entry *e = &r->entries[i];
		struct acl_entry entry = {.range = e->range, .line = e->line};

		if (begins_source(r, i))
			source = acl_content_add_source(
			    content, inline_source(r, i));
		entry.source = (unsigned)source;
		if (source < 0 || !acl_content_add(content, &entry))
			return false;
	}
	return true;
}

struct acl_content *
acl_recipe_read(const struct acl_recipe *recipe, struct err_list *errors)
{
	struct acl_content *c = acl_content_new();
	size_t errors_before = errors->n;
	bool ok = c && add_inline_entries(recipe, c);

	for (size_t i = 0; ok && i < recipe->files_n; i++) {
		const struct recipe_file *f = &recipe->files[i];

		ok = f->countries ? acl_file_read_countries(
		                        f->path, f->countries, c, errors)
		                  : acl_file_read_lines(f->path, c, errors);
	}
	if (!ok || (errors->n == errors_before && !acl_content_seal(c)))
		err_list_add(
		    errors, NULL, 0, "out of memory for address lists");
	if (errors->n == errors_before)
		return c;
	acl_content_free(c);
	return NULL;
}

/* -- warnings -- */

/* Returns how many sources of a content precede those of files. */
static unsigned
count_inline_sources(const struct acl_recipe *r)
{
	unsigned n = 0;

	for (size_t i = 0; i < r->entries_n; i++)
		n += begins_source(r, i);
	return n;
}

/* Adds the warning.  Networks of a database have no line. */
static void
warn_of_covered(const struct acl_content *content, const char *list,
    const struct acl_covered *covered, struct err_list *warnings)
{
	const struct acl_entry *first = &covered->first, *by = &covered->cover;
	const char *file = acl_content_source(content, first->source);
	char inner[CIDR_TEXT_SIZE], outer[CIDR_TEXT_SIZE];
	char line[32] = "", more[80] = "";

	if (by->line > 0)
		snprintf(line, sizeof(line), " on line %u", by->line);
	if (covered->n > 1)
		snprintf(more, sizeof(more),
		    "; %zu more entr%s of this file %s without effect",
		    covered->n - 1, covered->n == 2 ? "y" : "ies",
		    text_are(covered->n - 1));
	err_list_add(warnings, file, first->line,
	    "warning: [list %s]: %s is without effect: %s%s%s%s has it; remove "
	    "one%s",
	    list, cidr_text(&first->range, inner), cidr_text(&by->range, outer),
	    line, by->source == first->source ? "" : " of ",
	    by->source == first->source
	        ? ""
	        : acl_content_source(content, by->source),
	    more);
}

void
acl_recipe_warn(const struct acl_recipe *recipe,
    const struct acl_content *content, const char *name,
    struct err_list *warnings)
{
	unsigned inline_n = count_inline_sources(recipe);
	const struct acl_covered *c;

	for (unsigned source = 0; (c = acl_content_covered(content, source));
	     source++)
		if (c->n > 0 &&
		    (source >= inline_n || c->cover.source >= inline_n))
			warn_of_covered(content, name, c, warnings);
}
