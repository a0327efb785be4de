/* SPDX-License-Identifier: MIT
 * See build.h: the contents of [list] sections.
 */
#include "config/build.h"

#include "acl/content.h"

/* Returns the number of the file that the place is in, or -1 when memory is
 * short. */
static int
source_of(struct acl_content *content, const struct spec_place *place,
    const char **last, int number)
{
	if (number >= 0 && *last == place->file)
		return number;
	*last = place->file;
	return acl_content_add_source(content, place->file ? place->file : "-");
}

static struct acl_content *
read_entries(const struct list_spec *list)
{
	struct acl_content *c = acl_content_new();
	const char *file = NULL;
	int source = -1;
	bool ok = c;

	for (size_t i = 0; ok && i < list->entries_n; i++) {
		const struct list_entry_spec *e = &list->entries[i];
		struct acl_entry entry = {
		    .range = e->range, .line = e->place.line};

		source = source_of(c, &e->place, &file, source);
		entry.source = (unsigned)source;
		ok = source >= 0 && acl_content_add(c, &entry);
	}
	if (ok && acl_content_seal(c))
		return c;
	acl_content_free(c);
	return NULL;
}

void
build_lists(struct spec *spec, struct err_list *errors)
{
	for (size_t i = 0; i < spec->lists_n; i++) {
		struct list_spec *l = &spec->lists[i];

		l->content = read_entries(l);
		if (!l->content)
			ERROR_AT(
			    l, errors, "[list %s]: out of memory", l->name);
	}
}
