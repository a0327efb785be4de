/* SPDX-License-Identifier: MIT
 * Changes the servers of the model when members of sets change, see sets.h.
 */
#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "config/keys.h"
#include "config/member.h"
#include "sets/sets_internal.h"

#include <stdio.h>
#include <stdlib.h>
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
sets_drop_all_next(struct sets *sets)
{
	for_each_set(set, &sets->sets) set_drop_next(set);
}

/* Members that are wrong are left out one by one, so only lack of memory or of
 * descriptors keeps all of them from being taken over. */
static void
log_set_refused(const struct err_list *errors)
{
	static struct log_limit limit;
	const struct err_entry *e = errors->entries;

	log_limited(&limit, LOG_LEVEL_ERROR,
	    "servers that have come or gone are not taken over: %s",
	    e && errors->n > 0 && e->text ? e->text : "out of memory");
}

static void
adopt_all(struct sets *sets)
{
	for_each_set(set, &sets->sets)
	{
		if (!set->has_next)
			continue;
		report_difference(set);
		set_adopt_next(set);
		report_update(set);
	}
}

/* Returns whether a set of the backend has next members. */
static bool
is_due(struct sets *sets, const struct backend_spec *b)
{
	for (size_t i = 0; i < b->sets_n; i++) {
		const struct server_set *set =
		    set_find(&sets->sets, b, &b->sets[i]);

		if (set && set->has_next)
			return true;
	}
	return false;
}

static bool
prepare_backend(struct sets *sets, size_t at, struct backend_change *ret_change)
{
	struct spec *spec = sets->instance->model->spec;
	struct backend_spec *b = &spec->backends[at];
	struct server_spec **list;
	size_t n;

	return sets_list_servers(sets, spec, b, &list, &n) &&
	       backend_change_prepare(ret_change,
	           sets->instance->model->backends[at], list, n, b->singles_n);
}

bool
sets_make_changes(
    struct sets *sets, struct backend_change *changes, size_t *ret_n)
{
	const struct spec *spec = sets->instance->model->spec;

	*ret_n = 0;
	for (size_t i = 0; i < spec->backends_n; i++) {
		if (!is_due(sets, &spec->backends[i]))
			continue;
		if (!prepare_backend(sets, i, &changes[*ret_n]))
			return false;
		++*ret_n;
	}
	return true;
}

void
sets_apply_next(struct sets *sets)
{
	struct err_list errors;

	err_list_init(&errors);
	if (sets->hooks.change_servers(sets->hooks.arg, &errors)) {
		adopt_all(sets);
		sets->hooks.changed(sets->hooks.arg);
	} else {
		log_set_refused(&errors);
		sets_drop_all_next(sets);
	}
	err_list_fini(&errors);
}
