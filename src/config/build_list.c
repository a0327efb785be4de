/* SPDX-License-Identifier: MIT
 * See build.h: [list] sections.
 */
#include "config/build.h"

#include <string.h>

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

/* -- warnings -- */

/* The most entries that are compared with each other; long lists belong in
 * files. */
#define COMPARED_MAX 1000u

static const struct list_entry_spec *
find_cover(const struct list_spec *l, size_t entry)
{
	const struct cidr *range = &l->entries[entry].range;
	struct endpoint first = {.family = range->family};

	memcpy(first.ip, range->ip, sizeof(first.ip));
	for (size_t i = 0; i < l->entries_n && i < COMPARED_MAX; i++) {
		const struct cidr *outer = &l->entries[i].range;

		if (i != entry && cidr_has(outer, &first) &&
		    (outer->bits < range->bits ||
		        (outer->bits == range->bits && i < entry)))
			return &l->entries[i];
	}
	return NULL;
}

static void
warn_of_entries(const struct list_spec *l, struct err_list *warnings)
{
	char inner[CIDR_TEXT_SIZE], outer[CIDR_TEXT_SIZE];

	for (size_t i = 0; i < l->entries_n && i < COMPARED_MAX; i++) {
		const struct list_entry_spec *e = &l->entries[i];
		const struct list_entry_spec *cover = find_cover(l, i);

		if (cover)
			ERROR_AT(e, warnings,
			    "warning: [list %s]: %s is without effect: %s on "
			    "line %u has it; remove one",
			    l->name, cidr_text(&e->range, inner),
			    cidr_text(&cover->range, outer), cover->place.line);
	}
}

static bool
limits_use_list(const struct frontend_spec *f, size_t list)
{
	for (size_t i = 0; i < f->limits_n; i++) {
		enum limit_for clients;
		const struct list_use *used =
		    limit_spec_list(&f->limits[i], &clients);

		if (used && used->list == list)
			return true;
	}
	return false;
}

static bool
ranges_use_list(const struct rule_ranges *ranges, size_t list)
{
	for (size_t i = 0; i < ranges->lists_n; i++)
		if (ranges->lists[i].list == list)
			return true;
	return false;
}

static bool
rules_use_list(const struct frontend_spec *f, size_t list)
{
	for (size_t i = 0; i < f->rules_n; i++)
		if (ranges_use_list(&f->rules[i].src, list) ||
		    ranges_use_list(&f->rules[i].dst, list))
			return true;
	return false;
}

static bool
bandwidth_uses_list(const struct bandwidth_spec *b, size_t list)
{
	for (unsigned i = 0; i < BAND_SCOPES; i++) {
		const struct band_lists *l = &b->lists[i];

		if ((l->only.name && l->only.list == list) ||
		    (l->except.name && l->except.list == list))
			return true;
	}
	return false;
}

static bool
is_used(const struct spec *spec, size_t list)
{
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t j = 0; j < f->access_n; j++)
			if (f->access[j].kind == ACCESS_LIST &&
			    f->access[j].list == list)
				return true;
		if (limits_use_list(f, list) || rules_use_list(f, list) ||
		    bandwidth_uses_list(&f->bandwidth, list))
			return true;
	}
	for (size_t i = 0; i < spec->backends_n; i++)
		if (bandwidth_uses_list(&spec->backends[i].bandwidth, list))
			return true;
	return false;
}

void
build_list_warnings(const struct spec *spec, struct err_list *warnings)
{
	for (size_t i = 0; i < spec->lists_n; i++) {
		const struct list_spec *l = &spec->lists[i];

		warn_of_entries(l, warnings);
		if (l->content)
			acl_recipe_warn(
			    l->recipe, l->content, l->name, warnings);
		if (l->entries_n == 0 && l->files_n == 0)
			ERROR_AT(l, warnings,
			    "warning: [list %s] is empty; write entry = or "
			    "file =, unless add acl is to fill it",
			    l->name);
		if (!is_used(spec, i))
			ERROR_AT(l, warnings,
			    "warning: [list %s]: nothing uses it; remove it, "
			    "or write list:%s in a rule or limit",
			    l->name, l->name);
	}
}
