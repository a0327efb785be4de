/* SPDX-License-Identifier: MIT
 * See list_diff.h.
 */
#include "watch/list_diff.h"

#include "base/text.h"

/* Adds to changes why a list that existed before keeps its contents. */
static void
tell_failed(
    const char *name, const struct err_list *why, struct changes *changes)
{
	const struct err_entry *e = why->entries;

	if (!e || !e->file || !e->text)
		changes_add(changes, true,
		    "list %s: out of memory; the former contents stay in force",
		    name);
	else if (e->line > 0)
		changes_add(changes, true,
		    "list %s: %s:%u: %s; the former contents stay in force",
		    name, e->file, e->line, e->text);
	else
		changes_add(changes, true,
		    "list %s: %s: %s; the former contents stay in force", name,
		    e->file, e->text);
}

static void
add_errors(const struct err_list *from, struct err_list *errors)
{
	for (size_t i = 0; i < from->n; i++)
		if (from->entries && from->entries[i].text)
			err_list_add(errors, from->entries[i].file,
			    from->entries[i].line, "%s", from->entries[i].text);
		else
			err_list_add(errors, NULL, 0, "out of memory");
}

/* Adds to changes how the number of entries changes, and how many that commands
 * have deleted are back. */
static void
tell_new(const struct acl_list *had, const struct acl_content *content,
    struct changes *changes)
{
	struct acl_changes by = acl_list_changes(had);
	size_t before = acl_list_entries(had) - by.added + by.deleted;
	size_t now = acl_content_entries(content);
	const char *name = acl_list_name(had);

	if (before != now)
		changes_add(changes, false, "list %s: %zu -> %zu entries", name,
		    before, now);
	if (by.cleared > 0)
		changes_add(changes, false,
		    "list %s: %zu entr%s that clear acl or commit acl had "
		    "deleted %s back",
		    name, by.cleared, by.cleared == 1 ? "y" : "ies",
		    text_are(by.cleared));
}

void
list_diff(struct list_load *load, const struct model *model, struct spec *spec,
    struct err_list *errors, struct changes *changes)
{
	for (size_t i = 0; spec && i < load->n; i++) {
		struct list_job *job = &load->jobs[i];
		const char *name = spec->lists[i].name;
		const struct acl_list *had = model_find_list(model, name);

		if (!job->content && had)
			tell_failed(name, &job->errors, changes);
		else if (!job->content)
			add_errors(&job->errors, errors);
		else if (had && acl_list_holds(had, job->content))
			continue;
		else if (had)
			tell_new(had, job->content, changes);
		spec->lists[i].content = job->content;
		job->content = NULL;
	}
}
