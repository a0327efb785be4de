/* SPDX-License-Identifier: MIT
 * See server_names.h.
 */
#include "control/server_names.h"

#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "control/control_internal.h"
#include "model/server_change.h"

/* A failing name server may affect many servers.  Log the names of at most this
 * many, and count the others. */
#define TOLD_MAX 20

static struct name *
name_of(const struct names *names, const struct backend_spec *b,
    const struct server_spec *s)
{
	return names_find(names, s->host, server_spec_family(b, s));
}

static const char *
why(const struct name *name)
{
	return name && name->error ? addr_lookup_error(name->error)
	                           : "there is no answer so far";
}

static void
notify(void *arg)
{
	struct control *c = arg;

	ev_async_send(c->loop, &c->server_names.answered);
}

static void
collect(struct names *names, struct lookups *lookups, bool *ret_changed)
{
	uint64_t now_ms = clock_now_ms();
	struct lookup_answer a;

	while (lookups_take(lookups, &a))
		*ret_changed |=
		    names_answer(names, a.name, a.error, &a.addr, now_ms);
}

/* -- from names to servers -- */

static void
tell_unknown(const struct server *s, const struct name *n)
{
	const struct backend_spec *b = s->backend->spec;
	char text[ADDR_TEXT_SIZE];

	if (server_lacks_address(s))
		event_add(EVENT_SERVER_UNRESOLVED, LOG_LEVEL_WARNING, b->name,
		    s->spec->name,
		    "server %s/%s is in maintenance: its name '%s' is not "
		    "resolved: %s; it is looked up again until it is",
		    b->name, s->spec->name, s->spec->host, why(n));
	else
		event_add(EVENT_SERVER_UNRESOLVED, LOG_LEVEL_WARNING, b->name,
		    s->spec->name,
		    "server %s/%s stays at %s: its name '%s' cannot be "
		    "looked up now: %s",
		    b->name, s->spec->name, addr_text(server_addr(s), text),
		    s->spec->host, why(n));
}

static void
tell_known(const struct server *s, bool lacked)
{
	const struct backend_spec *b = s->backend->spec;
	char text[ADDR_TEXT_SIZE];

	event_add(EVENT_SERVER_RESOLVED, LOG_LEVEL_INFO, b->name, s->spec->name,
	    "server %s/%s is at %s%s: its name '%s' is resolved; %u of %zu "
	    "servers are usable",
	    b->name, s->spec->name, addr_text(server_addr(s), text),
	    lacked ? "" : " from now on", s->spec->host,
	    backend_usable_n(s->backend), b->servers_n);
}

/* Logs a new error of a name, for each server that has the name. */
static bool
is_news(const struct server *s, const struct name *n)
{
	return n && n->error != 0 && n->error != n->told &&
	       !s->state->overrides.addr_set;
}

static void
apply_one(struct server *s, const struct name *n, unsigned *told)
{
	bool lacked = server_lacks_address(s);

	if (n && n->known && server_resolve(s, &n->addr)) {
		server_mark_changed(s);
		tell_known(s, lacked);
	} else if (is_news(s, n) && (*told)++ < TOLD_MAX) {
		tell_unknown(s, n);
	}
}

static void
note_told(struct name *name)
{
	name->told = name->error;
}

static void
tell_rest(unsigned told)
{
	if (told > TOLD_MAX)
		log_warning("the names of %u more servers are not resolved",
		    told - TOLD_MAX);
}

static void
apply(struct control *c)
{
	struct names *names = c->server_names.names;
	unsigned told = 0;

	for (size_t i = 0; i < c->model->spec->backends_n; i++) {
		struct backend *b = c->model->backends[i];

		for (size_t j = 0; j < b->spec->servers_n; j++) {
			struct server *s = b->servers[j];

			if (s->spec->host)
				apply_one(
				    s, name_of(names, b->spec, s->spec), &told);
		}
	}
	model_update(c->model);
	tell_rest(told);
	names_each(names, note_told);
	c->server_names.changed = false;
}

/* -- on the control loop -- */

static void
on_work(struct timed_task *task, uint64_t now_ms)
{
	struct server_names *sn = container_of(task, struct server_names, work);
	struct control *c = container_of(sn, struct control, server_names);
	uint64_t next_ms;

	if (sn->changed)
		apply(c);
	next_ms = names_tick(sn->names, now_ms);
	if (next_ms != 0)
		task_timer_schedule(&c->task_timer, &sn->work, next_ms);
}

/* Answers that come within a hundredth of a second are applied together. */
static void
on_answered(struct ev_loop *loop, ev_async *answered, int events)
{
	struct control *c = answered->data;
	struct server_names *sn = &c->server_names;

	(void)loop;
	(void)events;
	collect(sn->names, sn->lookups, &sn->changed);
	task_timer_schedule(&c->task_timer, &sn->work, clock_now_ms());
}

bool
server_names_init(struct control *control)
{
	struct server_names *sn = &control->server_names;

	timed_task_init(&sn->work, on_work);
	ev_async_init(&sn->answered, on_answered);
	sn->answered.data = control;
	sn->lookups = lookups_new(addr_lookup, notify, control);
	if (sn->lookups)
		sn->names = names_new(&lookups_resolver, sn->lookups);
	return sn->names != NULL;
}

void
server_names_fini(struct control *control)
{
	struct server_names *sn = &control->server_names;

	lookups_free(sn->lookups);
	names_free(sn->names);
	if (control->loop)
		ev_async_stop(control->loop, &sn->answered);
	*sn = (struct server_names){.names = NULL};
}

/* -- what is asked -- */

static void
ask(struct names *names, const struct spec *spec, bool afresh)
{
	uint64_t now_ms = clock_now_ms();

	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		for (size_t j = 0; j < b->servers_n; j++)
			if (b->servers[j].host)
				(void)names_want(names, b->servers[j].host,
				    server_spec_family(b, &b->servers[j]),
				    afresh, now_ms);
	}
}

static bool
is_pending(const struct names *names, const struct spec *spec)
{
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		for (size_t j = 0; j < b->servers_n; j++) {
			const struct name *n =
			    b->servers[j].host
			        ? name_of(names, b, &b->servers[j])
			        : NULL;

			if (n && n->asked)
				return true;
		}
	}
	return false;
}

void
server_names_ask(struct control *control, const struct spec *spec)
{
	ask(control->server_names.names, spec, true);
}

bool
server_names_pending(const struct control *control, const struct spec *spec)
{
	return is_pending(control->server_names.names, spec);
}

/* Looks everything up that the spec names; waits. */
static void
look_up(struct names *names, struct lookups *lookups, const struct spec *spec,
    unsigned wait_ms)
{
	uint64_t until_ms = clock_now_ms() + wait_ms;
	bool changed = false;

	ask(names, spec, true);
	while (is_pending(names, spec) && lookups_wait(lookups, until_ms))
		collect(names, lookups, &changed);
}

/* -- start and reload -- */

void
server_names_prepare(struct control *control, struct model *model)
{
	for (size_t i = 0; i < model->spec->backends_n; i++) {
		struct backend *b = model->backends[i];

		for (size_t j = 0; j < b->spec->servers_n; j++) {
			struct server *s = b->servers[j];
			struct name *n =
			    s->spec->host && server_lacks_address(s) &&
			            s->state->refs == 1
			        ? name_of(control->server_names.names, b->spec,
			              s->spec)
			        : NULL;

			if (n && n->known)
				(void)server_resolve_first(s, &n->addr);
		}
	}
}

/* The names that are left are those of the present model. */
static void
sweep(struct control *c)
{
	struct names *names = c->server_names.names;
	const struct spec *spec = c->model->spec;

	if (names_count(names) == 0)
		return;
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		for (size_t j = 0; j < b->servers_n; j++) {
			struct name *n = b->servers[j].host
			                     ? name_of(names, b, &b->servers[j])
			                     : NULL;

			if (n)
				names_keep(n);
		}
	}
	names_sweep(names);
}

/* Logs the servers that wait for their first answer, even though no error has
 * occurred yet. */
static void
tell_waiting(const struct control *c)
{
	const struct names *names = c->server_names.names;
	unsigned told = 0;

	for (size_t i = 0; i < c->model->spec->backends_n; i++) {
		const struct backend *b = c->model->backends[i];

		for (size_t j = 0; j < b->spec->servers_n; j++) {
			const struct server *s = b->servers[j];

			if (server_lacks_address(s) && told++ < TOLD_MAX)
				tell_unknown(
				    s, name_of(names, b->spec, s->spec));
		}
	}
	tell_rest(told);
}

void
server_names_commit(struct control *control)
{
	struct server_names *sn = &control->server_names;

	ask(sn->names, control->model->spec, false);
	sweep(control);
	if (names_count(sn->names) == 0)
		return;
	/* The answer of a reload, or server_names_start, names them. */
	names_each(sn->names, note_told);
	apply(control);
	task_timer_schedule(&control->task_timer, &sn->work, clock_now_ms());
}

void
server_names_start(struct control *control)
{
	struct server_names *sn = &control->server_names;
	struct model *m = control->model;

	ev_async_start(control->loop, &sn->answered);
	look_up(sn->names, sn->lookups, m->spec, SERVER_NAMES_WAIT_MS);
	if (names_count(sn->names) == 0)
		return;
	server_names_prepare(control, m);
	for (size_t i = 0; i < m->spec->backends_n; i++)
		backend_mark_changed(m->backends[i]);
	model_update(m);
	tell_waiting(control);
	server_names_commit(control);
}

void
server_names_warn(const struct control *control, struct changes *changes)
{
	const struct names *names = control->server_names.names;

	for (size_t i = 0; i < control->model->spec->backends_n; i++) {
		const struct backend *b = control->model->backends[i];

		for (size_t j = 0; j < b->spec->servers_n; j++) {
			const struct server *s = b->servers[j];

			if (server_lacks_address(s))
				changes_add(changes, true,
				    "server %s/%s is in maintenance: its name "
				    "'%s' is not resolved: %s",
				    b->spec->name, s->spec->name, s->spec->host,
				    why(name_of(names, b->spec, s->spec)));
		}
	}
}

/* -- lfproxy -t -- */

static void
ignore(void *arg)
{
	(void)arg;
}

static void
warn_of(const struct names *names, const struct backend_spec *b,
    const struct server_spec *s, FILE *out)
{
	const struct name *n = name_of(names, b, s);

	if (n && n->known)
		return;
	fprintf(out, "lfproxy: warning: ");
	if (s->place.file && s->place.line > 0)
		fprintf(out, "%s:%u: ", s->place.file, s->place.line);
	fprintf(out,
	    "server %s/%s would be in maintenance: its name '%s' is not "
	    "resolved: %s\n",
	    b->name, s->name, s->host, why(n));
}

void
server_names_check(const struct spec *spec, unsigned wait_ms, FILE *out)
{
	struct lookups *lookups = lookups_new(addr_lookup, ignore, NULL);
	struct names *names =
	    lookups ? names_new(&lookups_resolver, lookups) : NULL;

	if (names) {
		look_up(names, lookups, spec, wait_ms);
		for (size_t i = 0; i < spec->backends_n; i++) {
			const struct backend_spec *b = &spec->backends[i];

			for (size_t j = 0; j < b->servers_n; j++)
				if (b->servers[j].host)
					warn_of(names, b, &b->servers[j], out);
		}
	}
	lookups_free(lookups);
	names_free(names);
}
