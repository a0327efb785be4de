/* SPDX-License-Identifier: MIT
 * Makes the next model when members of sets change, see sets.h.
 */
#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "config/keys.h"
#include "config/member.h"
#include "control/edit.h"
#include "control/sets_internal.h"

#include <stdio.h>
#include <string.h>

/* The most changes of one report that become events, so that other events are
 * not displaced. */
#define EVENTS_OF_SET 20

void
set_drop_next(struct server_set *set)
{
	if (set->has_next)
		set_members_fini(&set->next);
	set->has_next = false;
}

void
set_adopt_next(struct server_set *set)
{
	if (!set->has_next)
		return;
	set_members_fini(&set->members);
	set->members = set->next;
	set->next = (struct set_members){.n = 0};
	set->has_next = false;
	set->updates++;
}

/* Adds an event for the server, unless the report has had EVENTS_OF_SET of
 * them. */
static void
report_server(const struct server_set *set, const struct set_member *m,
    bool comes, unsigned *told)
{
	char name[NAME_MAX_LEN + 12];

	if (++*told > EVENTS_OF_SET)
		return;
	snprintf(name, sizeof(name), "%s%u", set->prefix, m->number);
	event_add(comes ? EVENT_SERVER_ADDED : EVENT_SERVER_REMOVED,
	    LOG_LEVEL_INFO, set->backend, name, "server %s/%s %s: %s",
	    set->backend, name,
	    comes ? "has come into its set" : "has left its set", m->address);
}

static const struct set_member *
next_used(const struct set_members *members, size_t *at)
{
	while (*at < members->n && !set_member_is_used(&members->all[*at]))
		++*at;
	return *at < members->n ? &members->all[*at] : NULL;
}

/* Reports the servers that have come and gone.  Both lists are sorted by
 * number. */
static void
report_difference(const struct server_set *set)
{
	const struct set_member *old, *new;
	unsigned told = 0;
	size_t i = 0, j = 0;

	for (;;) {
		old = next_used(&set->members, &i);
		new = next_used(&set->next, &j);
		if (!old && !new)
			return;
		if (old && new && old->number == new->number &&
		    strcmp(old->address, new->address) == 0) {
			i++;
			j++;
		} else if (old && (!new || old->number <= new->number)) {
			report_server(set, old, false, &told);
			i++;
		} else {
			report_server(set, new, true, &told);
			j++;
		}
	}
}

static void
report_update(const struct server_set *set)
{
	const struct set_change *d = &set->change;
	size_t used = set_members_used(&set->members);
	char text[SET_TEXT_SIZE];

	event_add(EVENT_SET, LOG_LEVEL_INFO, set->backend, set->prefix,
	    "%s: the set %s has %zu server%s by %s: %zu new, %zu gone, %zu at "
	    "another address, %zu with other options",
	    set->backend, set->prefix, used, text_s(used),
	    set_source_text(&set->source->what, text), d->added, d->removed,
	    d->moved, d->changed);
}

void
sets_drop_all_next(struct control *c)
{
	for_each_set(set, &c->sets.sets) set_drop_next(set);
}

/* Members that are wrong are left out one by one, so only lack of memory or of
 * descriptors keeps all of them from being taken over. */
static void
log_set_refused(const struct err_list *errors)
{
	static struct log_limit limit;
	const struct err_entry *e = errors ? errors->entries : NULL;

	log_limited(&limit, LOG_LEVEL_ERROR,
	    "servers that have come or gone are not taken over: %s",
	    e && errors->n > 0 && e->text ? e->text : "out of memory");
}

static void
adopt_all(struct control *c)
{
	for_each_set(set, &c->sets.sets)
	{
		if (!set->has_next)
			continue;
		report_difference(set);
		set_adopt_next(set);
		report_update(set);
	}
}

static void
warn_of_descriptors(struct control *c)
{
	static struct log_limit limit;
	struct err err;

	/* Sessions got their descriptors at the start. */
	if (!limits_suffice(
	        &c->budget, c->model->spec, "the servers of its sets", &err))
		log_limited(&limit, LOG_LEVEL_WARNING, "%s", err.text);
}

void
sets_apply_next(struct control *c)
{
	struct spec *spec = spec_copy(c->model->spec);
	struct model *before = c->model, *model = NULL;
	struct err_list errors;

	err_list_init(&errors);
	if (spec && sets_fill_spec(c, spec, false))
		model = control_prepare_model(c, spec, &errors);
	else
		spec_free(spec);
	if (model) {
		control_publish_edit(c, model);
		adopt_all(c);
		control_retire_edit(c, before);
		warn_of_descriptors(c);
	} else {
		log_set_refused(&errors);
		sets_drop_all_next(c);
	}
	err_list_fini(&errors);
}
