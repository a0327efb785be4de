/* SPDX-License-Identifier: MIT
 * See sets.h.
 */
#include "control/sets.h"

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
#include "control/edit.h"
#include "control/sets_internal.h"
#include "resolve/file_members.h"

/* The most changes of one report that become events, so that other events are
 * not displaced. */
#define EVENTS_OF_SET 20

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
set_new(struct control *c, const struct backend_spec *b,
    const struct set_spec *spec)
{
	struct server_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	list_init(&set->node);
	set->backend = strdup(b->name);
	set->prefix = strdup(spec->prefix);
	set->source = set_source_take(c, spec);
	set->waits_for = UINT64_MAX;
	if (set->backend && set->prefix && set->source)
		return set;
	set_free(set);
	return NULL;
}

static struct server_set *
set_find(struct list *sets, const struct backend_spec *b,
    const struct set_spec *spec)
{
	for_each_set(set, sets)
	{
		if (strcmp(set->backend, b->name) == 0 &&
		    strcmp(set->prefix, spec->prefix) == 0)
			return set;
	}
	return NULL;
}

/* The set of the spec, as it is or as it is to be. */
static struct server_set *
set_of(struct control *c, const struct backend_spec *b,
    const struct set_spec *spec)
{
	struct server_set *set = set_find(&c->sets.coming, b, spec);

	return set ? set : set_find(&c->sets.sets, b, spec);
}

static void
drop_next(struct server_set *set)
{
	if (set->has_next)
		set_members_fini(&set->next);
	set->has_next = false;
}

static void
adopt_next(struct server_set *set)
{
	if (!set->has_next)
		return;
	set_members_fini(&set->members);
	set->members = set->next;
	set->next = (struct set_members){.n = 0};
	set->has_next = false;
	set->updates++;
}

/* -- from members to servers of a spec -- */

struct filling {
	struct spec *spec;
	struct backend_spec *backend;
	struct server_spec *servers;
	size_t n, room;
	size_t old; /* the next of the backend's present members */
};

static void
note_left_out(const struct filling *f, struct set_member *m,
    const struct err_list *errors, bool is_used)
{
	const struct err_entry *e = errors->entries;
	const char *why = errors->n > 0 && e ? e->text : NULL;

	if (!why)
		why = "out of memory";
	if (m->why && strcmp(m->why, why) == 0)
		return;
	free(m->why);
	m->why = strdup(why);
	event_add(EVENT_SET_MEMBER, LOG_LEVEL_ERROR, f->backend->name, m->key,
	    is_used ? "%s: member %s%s%s%s keeps its former options: %s"
	            : "%s: member %s%s%s%s is left out: %s",
	    f->backend->name, m->key, *m->note ? " (" : "", m->note,
	    *m->note ? ")" : "", why);
}

/* Reads the member with these options. */
static bool
read_with(const struct filling *f, size_t set, const struct set_member *m,
    const char *options, struct server_spec *ret, struct err_list *errors)
{
	char name[NAME_MAX_LEN + 12];
	const struct config_member member = {.name = name,
	    .key = m->key,
	    .address = m->address,
	    .options = options,
	    .note = m->note,
	    .since_ms = m->since_ms,
	    .joined = m->joined};

	snprintf(name, sizeof(name), "%s%u", f->backend->sets[set].prefix,
	    m->number);
	return config_member_read(
	    f->spec, f->backend, set, &member, ret, errors);
}

/* The number in the name of a member of the set. */
static unsigned
number_of(const struct filling *f, const struct server_spec *server, size_t set)
{
	size_t len = strlen(f->backend->sets[set].prefix);

	return (unsigned)strtoul(server->name + len, NULL, 10);
}

/* Whether the present member of the backend is of an earlier set, or has a
 * lower number. */
static bool
is_before(const struct filling *f, const struct server_spec *s, size_t set,
    unsigned number)
{
	return s->set.value < set ||
	       (s->set.value == set && number_of(f, s, set) < number);
}

/* Moves the present server of a member that has not changed, as reading its
 * options again takes most of the time of an update.  Both are sorted alike.
 * Returns false if there is none. */
static bool
take_present(struct filling *f, size_t set, const struct set_member *m)
{
	struct backend_spec *b = f->backend;
	struct server_spec *s;

	while (f->old < b->servers_n &&
	       is_before(f, &b->servers[f->old], set, m->number))
		f->old++;
	s = &b->servers[f->old];
	if (f->old == b->servers_n || s->set.value != set || !m->same ||
	    m->why || number_of(f, s, set) != m->number ||
	    strcmp(s->address, m->address) != 0 || strcmp(s->key, m->key) != 0)
		return false;
	f->servers[f->n++] = *s;
	/* The set owns nothing of it any more. */
	*s = (struct server_spec){.set = s->set};
	f->old++;
	return true;
}

static void
fill_member(struct filling *f, size_t set, struct set_member *m)
{
	struct server_spec *to = &f->servers[f->n];
	struct err_list errors, ignored;
	bool ok;

	if (take_present(f, set, m))
		return;
	err_list_init(&errors);
	ok = read_with(f, set, m, m->options, to, &errors);
	if (ok) {
		free(m->why);
		free(m->former_options);
		m->why = m->former_options = NULL;
	} else {
		err_list_init(&ignored);
		ok = m->former_options &&
		     read_with(f, set, m, m->former_options, to, &ignored);
		err_list_fini(&ignored);
		note_left_out(f, m, &errors, ok);
	}
	err_list_fini(&errors);
	f->n += ok;
}

static struct set_members *
members_to_be(struct server_set *set)
{
	return set->has_next ? &set->next : &set->members;
}

/* Gives the backend the servers of its sets.  Returns false when memory is
 * short. */
static bool
fill_backend(struct control *c, struct spec *spec, struct backend_spec *b)
{
	struct filling f = {.spec = spec, .backend = b, .old = b->singles_n};
	struct server_set *set;
	bool ok;

	for (size_t i = 0; i < b->sets_n; i++) {
		set = set_of(c, b, &b->sets[i]);
		f.room += set ? members_to_be(set)->live : 0;
	}
	f.servers = calloc(f.room + 1, sizeof(*f.servers));
	if (!f.servers)
		return false;
	for (size_t i = 0; i < b->sets_n; i++) {
		struct set_members *m;

		set = set_of(c, b, &b->sets[i]);
		m = set ? members_to_be(set) : NULL;
		for (size_t j = 0; m && j < m->n; j++)
			if (!m->all[j].gone)
				fill_member(&f, i, &m->all[j]);
	}
	ok = config_set_members(b, f.servers, f.n);
	free(f.servers);
	return ok;
}

/* Fills the backends with a set that has next members, or all. */
static bool
fill_spec(struct control *c, struct spec *spec, bool all)
{
	for (size_t i = 0; i < spec->backends_n; i++) {
		struct backend_spec *b = &spec->backends[i];
		bool due = all && b->sets_n > 0;

		for (size_t j = 0; j < b->sets_n && !due; j++) {
			struct server_set *set = set_of(c, b, &b->sets[j]);

			due = set && set->has_next;
		}
		if (due && !fill_backend(c, spec, b))
			return false;
	}
	return true;
}

/* -- comparing -- */

/* Compares the set with the report of its source, if there is one.  joined: the
 * new members come while sessions run.  Returns false when memory is short. */
static bool
compare_set(struct server_set *set, const struct set_spec *spec, bool joined)
{
	const struct set_source *source = set->source;

	drop_next(set);
	if (!source->report)
		return true;
	set->has_next = set_reconcile(&set->members, source->report, source->n,
	    spec->max, clock_now_ms(), joined, &set->next, &set->change);
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

/* Returns whether the change may be made, or has to be confirmed first. */
static bool
is_confirmed(struct server_set *set, const struct set_spec *spec)
{
	const struct set_change *change = &set->change;
	struct set_source *source = set->source;

	if (!set_needs_confirmation(spec->confirm, change, set->members.live)) {
		set->waits_for = UINT64_MAX;
		return true;
	}
	if (set->waits_for != UINT64_MAX && source->reports > set->waits_for) {
		set->waits_for = UINT64_MAX;
		return true;
	}
	if (set->waits_for == UINT64_MAX) {
		set->waits_for = source->reports;
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
		set->waits_for = UINT64_MAX;
	drop_next(set);
	return false;
}

static bool
plan_sets(struct control *c)
{
	const struct spec *spec = c->model->spec;
	bool any = false;

	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		for (size_t j = 0; j < b->sets_n; j++) {
			struct server_set *set =
			    set_find(&c->sets.sets, b, &b->sets[j]);

			if (set && set->due)
				any |= plan_set(set, &b->sets[j]);
		}
	}
	return any;
}

/* -- a model -- */

/* Adds an event, unless the report has had enough of them. */
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

/* Reports who has come and gone; both lists are by number. */
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

static void
drop_all_next(struct control *c)
{
	for_each_set(set, &c->sets.sets) drop_next(set);
}

static void
log_refusal(const struct err_list *errors)
{
	static struct log_limit limit;
	const struct err_entry *e = errors->entries;

	log_limited(&limit, LOG_LEVEL_ERROR,
	    "servers that have come or gone are not taken over: %s",
	    errors->n > 0 && e && e->text ? e->text : "out of memory");
}

static void
adopt_all(struct control *c)
{
	for_each_set(set, &c->sets.sets)
	{
		if (!set->has_next)
			continue;
		report_difference(set);
		adopt_next(set);
		report_update(set);
	}
}

static void
warn_of_descriptors(struct control *c)
{
	static struct log_limit limit;
	struct err err;

	/* Sessions have had their descriptors since the start. */
	if (!limits_suffice(
	        &c->budget, c->model->spec, "the servers of its sets", &err))
		log_limited(&limit, LOG_LEVEL_WARNING, "%s", err.text);
}

/* Makes one model for all sets with next members. */
static void
apply_sets(struct control *c)
{
	struct spec *spec = spec_copy(c->model->spec);
	struct model *before = c->model, *model = NULL;
	struct err_list errors;

	err_list_init(&errors);
	if (spec && fill_spec(c, spec, false) &&
	    config_members_track(spec, &errors))
		model = control_prepare_model(c, spec, &errors);
	else
		spec_free(spec);
	if (model) {
		control_publish_edit(c, model);
		adopt_all(c);
		control_retire_edit(c, before);
		warn_of_descriptors(c);
	} else {
		log_refusal(&errors);
		drop_all_next(c);
	}
	err_list_fini(&errors);
}

static void
on_sets_work(struct timed_task *task, uint64_t now_ms)
{
	struct control *c = container_of(task, struct control, sets.work);

	(void)now_ms;
	if (c->phase == RUNNING && plan_sets(c))
		apply_sets(c);
}

void
sets_note_report(struct control *control, struct set_source *source)
{
	struct sets *sets = &control->sets;

	for_each_set(set, &sets->sets)
	{
		if (set->source == source)
			set->due = true;
	}
	/* Reports that follow do not put it off. */
	if (sets->started && list_empty(&sets->work.node))
		timed_task_schedule(
		    &sets->work, clock_now_ms() + SETS_PAUSE_MS);
}

/* -- start, reload, end -- */

/* A set that stays has its members; a new one, those of the last report or of
 * its file. */
static bool
prepare_set(struct control *c, const struct backend_spec *b,
    const struct set_spec *spec, bool joined)
{
	struct server_set *set = set_find(&c->sets.sets, b, spec);

	if (set && !set_source_is_of(set->source, spec))
		set = NULL;
	if (set) {
		set->keep = true;
		/* A change that waits to be confirmed still does. */
		return set->members.n <= spec->max ||
		       compare_set(set, spec, joined);
	}
	set = set_new(c, b, spec);
	if (!set)
		return false;
	list_append(&c->sets.coming, &set->node);
	set_source_read(set->source);
	return compare_set(set, spec, joined);
}

static bool
prepare_sets(struct control *c, struct spec *spec, bool joined)
{
	for_each_set(set, &c->sets.sets)
	{
		set->keep = false;
		drop_next(set);
	}
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].sets_n; j++)
			if (!prepare_set(c, &spec->backends[i],
			        &spec->backends[i].sets[j], joined))
				return false;
	return fill_spec(c, spec, true);
}

bool
sets_prepare(struct control *control, struct spec *spec,
    struct changes *changes, struct err_list *errors)
{
	if (prepare_sets(control, spec, true) &&
	    config_members_track(spec, errors)) {
		for_each_set(set, &control->sets.coming)
		{
			if (set->source->error)
				changes_add(changes, true,
				    "backend %s: servers %s: %s", set->backend,
				    set->prefix, set->source->error);
		}
		return true;
	}
	if (errors->n == 0)
		control_refuse(errors, "out of memory");
	sets_cancel(control);
	return false;
}

void
sets_cancel(struct control *control)
{
	for_each_set(set, &control->sets.coming) set_free(set);
	drop_all_next(control);
}

void
sets_commit(struct control *control)
{
	struct sets *sets = &control->sets;

	for_each_set(gone, &sets->sets)
	{
		if (!gone->keep)
			set_free(gone);
	}
	list_splice(&sets->coming, &sets->sets);
	for_each_set(set, &sets->sets)
	{
		adopt_next(set);
		/* The set may have room for more than before. */
		set->due = set->source->report != NULL;
		if (sets->started)
			set_source_open(set->source);
	}
	if (sets->started && list_empty(&sets->work.node))
		timed_task_schedule(
		    &sets->work, clock_now_ms() + SETS_PAUSE_MS);
}

bool
sets_begin(struct control *control, struct spec *spec, struct err *err)
{
	struct sets *sets = &control->sets;

	list_init(&sets->sources);
	list_init(&sets->sets);
	list_init(&sets->coming);
	timed_task_init(&sets->work, &control->task_timer, on_sets_work);
	if (!prepare_sets(control, spec, false)) {
		sets_cancel(control);
		return err_oom(err);
	}
	sets_commit(control);
	return true;
}

void
sets_start(struct control *control)
{
	control->sets.started = true;
	for_each_set(set, &control->sets.sets) set_source_open(set->source);
}

void
sets_fini(struct control *control)
{
	struct sets *sets = &control->sets;

	if (!sets->sets.next)
		return;
	sets_cancel(control);
	for_each_set(set, &sets->sets) set_free(set);
	curl_loop_free(sets->curl);
	sets->curl = NULL;
}

size_t
sets_refresh(struct control *control, const struct backend *backend)
{
	size_t n = 0;

	for_each_set(set, &control->sets.sets)
	{
		if (!set->source->discovery ||
		    (backend && strcmp(backend->spec->name, set->backend) != 0))
			continue;
		discovery_refresh(set->source->discovery);
		n++;
	}
	return n;
}
