/* SPDX-License-Identifier: MIT
 * See build.h: [list] sections.
 */
#include "config/build.h"

#include "acl/content.h"
#include "acl/recipe.h"
#include "config/config.h"

static bool
fill_recipe(struct acl_recipe *recipe, const struct list_spec *list)
{
	for (size_t i = 0; i < list->entries_n; i++) {
		const struct list_entry_spec *e = &list->entries[i];

		if (!acl_recipe_add_entry(
		        recipe, &e->range, e->place.file, e->place.line))
			return false;
	}
	for (size_t i = 0; i < list->files_n; i++)
		if (!acl_recipe_add_file(
		        recipe, list->files[i].path, list->files[i].countries))
			return false;
	return true;
}

void
build_lists(struct spec *spec, struct err_list *errors)
{
	for (size_t i = 0; i < spec->lists_n; i++) {
		struct list_spec *l = &spec->lists[i];

		l->recipe = acl_recipe_new();
		if (!l->recipe || !fill_recipe(l->recipe, l))
			ERROR_AT(
			    l, errors, "[list %s]: out of memory", l->name);
	}
}

bool
config_read_lists(struct spec *spec, struct err_list *errors)
{
	bool ok = true;

	for (size_t i = 0; i < spec->lists_n; i++) {
		struct list_spec *l = &spec->lists[i];

		l->content = acl_recipe_read(l->recipe, errors);
		ok &= l->content != NULL;
	}
	return ok;
}
