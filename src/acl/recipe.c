/* SPDX-License-Identifier: MIT
 * See recipe.h.
 */
#include "acl/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "acl/file.h"
#include "base/grow.h"

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

/* Entries that follow each other are mostly from the same file. */
static bool
add_inline_entries(const struct acl_recipe *r, struct acl_content *content)
{
	const char *file = NULL;
	int source = -1;

	for (size_t i = 0; i < r->entries_n; i++) {
		const struct recipe_entry *e = &r->entries[i];
		const char *name = e->file ? e->file : "-";
		struct acl_entry entry = {.range = e->range, .line = e->line};

		if (!file || strcmp(file, name) != 0) {
			source = acl_content_add_source(content, name);
			file = name;
		}
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
