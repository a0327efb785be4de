/* SPDX-License-Identifier: MIT
 * See sets.h.
 */
#include "sets/sets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/events.h"
#include "base/text.h"
#include "config/keys.h"
#include "config/member.h"
#include "sets/sets_internal.h"
#include "resolve/file_members.h"

/* -- the sets -- */

static void
set_free(struct server_set *set)
{
	list_remove(&set->node);
	set_source_drop(set->source);
	set_members_fini(&set->members);
	set_members_fini(&set->next);
	free(set->backend);
	free(set->prefix);
	free(set);
}

static struct server_set *
set_new(struct sets *sets, const struct backend_spec *b,
    const struct set_spec *spec)
{
	struct server_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	list_init(&set->node);
	set->backend = strdup(b->name);
	set->prefix = strdup(spec->prefix);
	set->source = set_source_take(sets, spec);
	if (set->backend && set->prefix && set->source)
		return set;
	set_free(set);
	return NULL;
}

/* -- comparing -- */

/* Compares the set with the report of its source, if there is one.  joined: new
 * members come while sessions run.  Returns false when memory is short. */
static bool
compare_set(struct server_set *set, const struct set_spec *spec, bool joined)
{
	const struct set_source *source = set->source;
	const struct set_report report = {.all = source->report,
	    .n = source->n,
	    .max = spec->max,
	    .now_ms = clock_now_ms(),
	    .joined = joined};

	set_drop_next(set);
	if (!source->report)
		return true;
	set->has_next =
	    set_reconcile(&set->members, &report, &set->next, &set->change);
	return set->has_next;
}

static void
report_left_out(struct server_set *set, const struct set_spec *spec)
{
	const struct set_change *change = &set->change;

	if (change->excess > 0 && !set->told_excess)
		event_add(EVENT_SET_MEMBER, LOG_LEVEL_WARNING, set->backend,
		    set->prefix,
		    "%s: the set %s has %zu member%s more than its %u servers; "
		    "the last in the order of their keys are left out",
		    set->backend, set->prefix, change->excess,
		    text_s(change->excess), spec->max);
	if (change->twice > 0 && !set->told_twice)
		event_add(EVENT_SET_MEMBER, LOG_LEVEL_WARNING, set->backend,
		    set->prefix,
		    "%s: the set %s has an address more than once; member %s "
		    "is left out",
		    set->backend, set->prefix, change->twice_key);
	set->told_excess = change->excess > 0;
	set->told_twice = change->twice > 0;
}

/* Returns whether the change may be made.  If it has to be confirmed first,
 * asks the source again. */
static bool
is_confirmed(struct server_set *set, const struct set_spec *spec)
{
	const struct set_change *change = &set->change;
	struct set_source *source = set->source;

	if (!set_needs_confirmation(spec->confirm, change, set->members.live) ||
	    (set->state == SET_UNCONFIRMED &&
	        source->reports > set->unconfirmed)) {
		set->state = SET_SETTLED;
		return true;
	}
	if (set->state == SET_SETTLED) {
		set->state = SET_UNCONFIRMED;
		set->unconfirmed = source->reports;
		event_add(EVENT_SET, LOG_LEVEL_WARNING, set->backend,
		    set->prefix,
		    "%s: %zu of the %zu servers of the set %s would go; its "
		    "source is asked once more (confirm = %s)",
		    set->backend, change->removed + change->moved,
		    set->members.live, set->prefix,
		    spec->confirm == SET_CONFIRM_ALWAYS ? "always" : "half");
	}
	timed_task_schedule(&source->confirm, clock_now_ms() + SETS_CONFIRM_MS);
	return false;
}

/* Returns whether the set has next members for a model. */
static bool
plan_set(struct server_set *set, const struct set_spec *spec)
{
	static struct log_limit limit;

	set->due = false;
	if (!compare_set(set, spec, true)) {
		log_limited(&limit, LOG_LEVEL_ERROR,
		    "out of memory: the set %s of backend %s stays as it is",
		    set->prefix, set->backend);
		return false;
	}
	if (!set->has_next)
		return false;
	report_left_out(set, spec);
	if (set_change_any(&set->change) && is_confirmed(set, spec))
		return true;
	if (!set_change_any(&set->change))
		set->state = SET_SETTLED;
	set_drop_next(set);
	return false;
}

static bool
plan_sets(struct sets *sets)
{
	const struct spec *spec = sets->instance->model->spec;
	bool any = false;

	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		for (size_t j = 0; j < b->sets_n; j++) {
			struct server_set *set =
			    set_find(&sets->sets, b, &b->sets[j]);

			if (set && set->due)
				any |= plan_set(set, &b->sets[j]);
		}
	}
	return any;
}

static void
on_sets_work(struct timed_task *task, uint64_t now_ms)
{
	struct sets *sets = container_of(task, struct sets, work);

	(void)now_ms;
	if (sets->hooks.may_change(sets->hooks.arg) && plan_sets(sets))
		sets_apply_next(sets);
}

void
sets_note_report(struct sets *sets, struct set_source *source)
{
	for_each_set(set, &sets->sets)
	{
		if (set->source == source)
			set->due = true;
	}
	/* Further reports do not postpone the work. */
	if (sets->started && list_empty(&sets->work.node))
		timed_task_schedule(
		    &sets->work, clock_now_ms() + SETS_PAUSE_MS);
}

/* -- start, reload, end -- */

/* Prepares a set of a new spec.  A set that stays keeps its members; a new one
 * gets those of the last report or of its file.  Returns false when memory is
 * short. */
static bool
prepare_set(struct sets *sets, const struct backend_spec *b,
    const struct set_spec *spec, bool joined)
{
	struct server_set *set = set_find(&sets->sets, b, spec);

	if (set && !set_source_is_of(set->source, spec))
		set = NULL;
	if (set) {
		set->keep = true;
		/* A change that waits to be confirmed still waits. */
		return set->members.n <= spec->max ||
		       compare_set(set, spec, joined);
	}
	set = set_new(sets, b, spec);
	if (!set)
		return false;
	list_append(&sets->coming, &set->node);
	set_source_read(set->source);
	return compare_set(set, spec, joined);
}

static bool
prepare_sets(struct sets *sets, struct spec *spec, bool joined)
{
	for_each_set(set, &sets->sets)
	{
		set->keep = false;
		set_drop_next(set);
	}
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].sets_n; j++)
			if (!prepare_set(sets, &spec->backends[i],
			        &spec->backends[i].sets[j], joined))
				return false;
	return sets_fill_spec(sets, spec);
}

bool
sets_prepare(struct sets *sets, struct spec *spec, struct changes *changes,
    struct err_list *errors)
{
	if (prepare_sets(sets, spec, true)) {
		for_each_set(set, &sets->coming)
		{
			if (set->source->error)
				changes_add(changes, true,
				    "backend %s: servers %s: %s", set->backend,
				    set->prefix, set->source->error);
		}
		return true;
	}
	err_list_add(errors, NULL, 0, "out of memory");
	sets_cancel(sets);
	return false;
}

void
sets_cancel(struct sets *sets)
{
	for_each_set(set, &sets->coming) set_free(set);
	sets_drop_all_next(sets);
}

void
sets_commit(struct sets *sets)
{
	for_each_set(gone, &sets->sets)
	{
		if (!gone->keep)
			set_free(gone);
	}
	list_splice(&sets->coming, &sets->sets);
	for_each_set(set, &sets->sets)
	{
		set_adopt_next(set);
		/* Compare again: the set may have room for more members than
		 * before. */
		set->due = set->source->report != NULL;
		if (sets->started)
			set_source_open(set->source);
	}
	if (sets->started && list_empty(&sets->work.node))
		timed_task_schedule(
		    &sets->work, clock_now_ms() + SETS_PAUSE_MS);
}

bool
sets_begin(struct sets *sets, struct spec *spec, struct err *err)
{
	list_init(&sets->sources);
	list_init(&sets->sets);
	list_init(&sets->coming);
	timed_task_init(&sets->work, &sets->instance->timer, on_sets_work);
	if (!prepare_sets(sets, spec, false)) {
		sets_cancel(sets);
		return err_oom(err);
	}
	sets_commit(sets);
	return true;
}

void
sets_start(struct sets *sets)
{
	sets->started = true;
	for_each_set(set, &sets->sets) set_source_open(set->source);
}

bool
sets_are_known(const struct sets *sets)
{
	if (!list_empty(&sets->work.node))
		return false;
	list_for_each (node, &sets->sources) {
		const struct set_source *source =
		    container_of(node, struct set_source, node);

		if (!source->report && !source->error)
			return false;
	}
	return true;
}

void
sets_fini(struct sets *sets)
{
	if (!sets->sets.next)
		return;
	sets_cancel(sets);
	for_each_set(set, &sets->sets) set_free(set);
	curl_loop_free(sets->curl);
	sets->curl = NULL;
}

size_t
sets_refresh(struct sets *sets, const struct backend *backend)
{
	size_t n = 0;

	for_each_set(set, &sets->sets)
	{
		if (!set->source->discovery ||
		    (backend && strcmp(backend->spec->name, set->backend) != 0))
			continue;
		discovery_refresh(set->source->discovery);
		n++;
	}
	return n;
}
