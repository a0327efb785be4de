/* SPDX-License-Identifier: MIT
 * See list_watch.h.
 */
#include "watch/list_watch.h"

#include <stdlib.h>

#include "acl/acl.h"
#include "acl/recipe.h"
#include "model/model.h"

static struct work_queue readings = {.at_once = 1};

/* A [list] section with files. */
struct watched_list {
	struct watched_section section;
	struct acl_list *list;     /* a reference */
	struct acl_recipe *recipe; /* a reference */
	struct grace *grace;
};

struct list_reading {
	struct section_reading reading;
	struct acl_recipe *recipe;   /* a reference */
	struct acl_content *content; /* NULL after an error */
};

static struct watched_list *
list_of(struct watched_section *section)
{
	return container_of(section, struct watched_list, section);
}

static struct list_reading *
list_reading_of(struct section_reading *reading)
{
	return container_of(reading, struct list_reading, reading);
}

static void
begin_list(struct watched_section *section, struct section_reading *reading)
{
	list_reading_of(reading)->recipe =
	    acl_recipe_ref(list_of(section)->recipe);
}

static void
find_list_files(
    struct section_reading *reading, struct interests_search *search)
{
	const char *path;

	for (size_t i = 0; (path = acl_recipe_file(reading->source, i)); i++)
		interests_add_file(search, path);
}

static void
tell_first(const struct err_list *errors, struct err *ret_err)
{
	const struct err_entry *e = errors->entries;

	if (!e || !e->file || !e->text)
		err_oom(ret_err);
	else if (e->line > 0)
		err_set(ret_err, "%s:%u: %s", e->file, e->line, e->text);
	else
		err_set(ret_err, "%s: %s", e->file, e->text);
}

static void
read_list(struct section_reading *reading)
{
	struct list_reading *r = list_reading_of(reading);
	struct err_list errors;

	err_list_init(&errors);
	acl_content_free(r->content);
	r->content = acl_recipe_read(r->recipe, &errors);
	reading->ok = r->content;
	if (!r->content)
		tell_first(&errors, &reading->err);
	err_list_fini(&errors);
}

/* Publishes the content, unless its entries are as before: then what commands
 * have changed stays so. */
static bool
apply_list(struct watched_section *section, struct section_reading *reading)
{
	struct watched_list *w = list_of(section);
	struct acl_content *content = list_reading_of(reading)->content;
	const struct acl_content *had = acl_list_content(w->list);
	size_t before = had ? acl_content_entries(had) : 0;
	size_t cleared = acl_list_changes(w->list).cleared, now;

	if ((had && acl_content_digest(had) == acl_content_digest(content)) ||
	    acl_list_holds(w->list, content))
		return false;
	list_reading_of(reading)->content = NULL;
	acl_list_publish(w->list, content, w->grace);
	now = acl_content_entries(content);
	event_add(EVENT_LIST, LOG_LEVEL_INFO, "list", section->name,
	    "list %s: its files have changed: %zu -> %zu entr%s%s",
	    section->name, before, now, now == 1 ? "y" : "ies",
	    cleared > 0 ? "; entries that commands had deleted are back" : "");
	return true;
}

static void
drop_list_reading(struct section_reading *reading)
{
	acl_content_free(list_reading_of(reading)->content);
	acl_recipe_unref(list_reading_of(reading)->recipe);
}

static void
free_list(struct watched_section *section)
{
	struct watched_list *w = list_of(section);

	acl_recipe_unref(w->recipe);
	acl_list_unref(w->list);
	free(w);
}

static const struct watched_kind lists = {
    .section = "list",
    .files = "lists",
    .changed = EVENT_LIST,
    .refused = EVENT_LIST_REFUSED,
    .settle_ms = 500,
    .queue = &readings,
    .reading_size = sizeof(struct list_reading),
    .begin = begin_list,
    .find = find_list_files,
    .read = read_list,
    .apply = apply_list,
    .drop = drop_list_reading,
    .free = free_list,
};

static struct watched_section *
list_new(struct acl_list *list, struct acl_recipe *recipe, struct grace *grace)
{
	struct watched_list *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->section.name = acl_list_name(list);
	w->section.source = w->recipe = acl_recipe_ref(recipe);
	w->list = acl_list_ref(list);
	w->grace = grace;
	return &w->section;
}

void
list_watch_follow(struct section_watch *watch, const struct model *model)
{
	if (!watch->files.loop)
		return;
	section_watch_begin(watch);
	for (size_t i = 0; i < model->spec->lists_n; i++) {
		struct acl_recipe *recipe = model->spec->lists[i].recipe;

		if (acl_recipe_file(recipe, 0) &&
		    section_watch_misses(watch, recipe))
			section_watch_add(watch,
			    list_new(model->lists[i], recipe, model->grace));
	}
	section_watch_end(watch);
}

void
list_watch_start(struct section_watch *watch, struct ev_loop *loop,
    struct task_timer *timer, const struct model *model)
{
	section_watch_start(watch, &lists, loop, timer);
	list_watch_follow(watch, model);
}
