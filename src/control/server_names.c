/* SPDX-License-Identifier: MIT
 * See server_names.h.
 */
#include "control/server_names.h"

#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "control/control_internal.h"
#include "model/model.h"
#include "model/server_change.h"

/* A failing name server may affect many servers.  Log the names of at most this
 * many, and count the others. */
#define LOGGED_MAX 20

/* Returns NULL for a server that is not given by name, or not yet wanted. */
static struct name *
find_spec_name(const struct names *names, const struct backend_spec *b,
    const struct server_spec *s)
{
	return s->host ? names_find(names, s->host, server_spec_family(b, s))
	               : NULL;
}

static struct name *
find_server_name(const struct names *names, const struct server *s)
{
	return find_spec_name(names, s->backend->spec, s->spec);
}

static const char *
unresolved_reason(const struct name *name)
{
	return name && name->error ? addr_lookup_error(name->error)
	                           : "no answer so far";
}

static void
wake_control(void *arg)
{
	struct control *c = arg;

	ev_async_send(c->loop, &c->server_names.answered);
}

static void
take_answers(struct names *names, struct lookups *lookups, bool *ret_changed)
{
	uint64_t now_ms = clock_now_ms();
	struct lookup_answer a;

	while (lookups_take(lookups, &a))
		*ret_changed |=
		    names_answer(names, a.name, a.error, &a.addr, now_ms);
}

/* -- from names to servers -- */

static void
log_unresolved(const struct server *s, const struct name *n)
{
	const char *backend = s->backend->spec->name, *server = s->spec->name;
	char text[ADDR_TEXT_SIZE];

	if (server_is_unresolved(s))
		event_add(EVENT_SERVER_UNRESOLVED, LOG_LEVEL_WARNING, backend,
		    server,
		    "server %s/%s is in maintenance: its name '%s' is not "
		    "resolved: %s; it is looked up again until it is",
		    backend, server, s->spec->host, unresolved_reason(n));
	else
		event_add(EVENT_SERVER_UNRESOLVED, LOG_LEVEL_WARNING, backend,
		    server,
		    "server %s/%s stays at %s: its name '%s' cannot be "
		    "looked up now: %s",
		    backend, server, addr_text(server_addr(s), text),
		    s->spec->host, unresolved_reason(n));
}

static void
log_resolved(const struct server *s, bool unresolved)
{
	const struct backend_spec *b = s->backend->spec;
	char text[ADDR_TEXT_SIZE];

	event_add(EVENT_SERVER_RESOLVED, LOG_LEVEL_INFO, b->name, s->spec->name,
	    "server %s/%s is at %s%s: its name '%s' is resolved; %u of %zu "
	    "servers are usable",
	    b->name, s->spec->name, addr_text(server_addr(s), text),
	    unresolved ? "" : " from now on", s->spec->host,
	    backend_usable_n(s->backend), b->servers_n);
}

static void
log_more_errors(unsigned errors)
{
	if (errors > LOGGED_MAX)
		log_warning("the names of %u more servers are not resolved",
		    errors - LOGGED_MAX);
}

/* Whether to log the name's error for the server: a new one, unless the
 * operator has set the server's address. */
static bool
is_new_error(const struct server *s, const struct name *n)
{
	return n->error != 0 && n->error != n->logged_error &&
	       !s->state->overrides.addr_set;
}

static void
mark_error_logged(struct name *name)
{
	name->logged_error = name->error;
}

static void
apply_answers(struct control *c)
{
	struct names *names = c->server_names.names;
	unsigned errors = 0;

	model_for_each_server (s, c->model) {
		const struct name *n = find_server_name(names, s);
		bool unresolved = server_is_unresolved(s);

		if (n && n->known && server_resolve(s, &n->addr)) {
			server_mark_changed(s);
			log_resolved(s, unresolved);
		} else if (n && is_new_error(s, n) && errors++ < LOGGED_MAX) {
			log_unresolved(s, n);
		}
	}
	model_update(c->model);
	log_more_errors(errors);
	names_each(names, mark_error_logged);
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
		apply_answers(c);
	next_ms = names_tick(sn->names, now_ms);
	if (next_ms != 0)
		timed_task_schedule(&sn->work, next_ms);
}

/* Answers that come within a hundredth of a second are applied together. */
static void
on_answered(struct ev_loop *loop, ev_async *answered, int events)
{
	struct control *c = answered->data;
	struct server_names *sn = &c->server_names;

	(void)loop;
	(void)events;
	take_answers(sn->names, sn->lookups, &sn->changed);
	timed_task_schedule(&sn->work, clock_now_ms());
}

bool
server_names_init(struct control *control)
{
	struct server_names *sn = &control->server_names;

	timed_task_init(&sn->work, &control->task_timer, on_work);
	ev_async_init(&sn->answered, on_answered);
	sn->answered.data = control;
	sn->lookups = lookups_new(addr_lookup, wake_control, control);
	if (sn->lookups)
		sn->names = names_new(lookups_start, sn->lookups);
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

/* -- questions -- */

/* Begins a look-up of each name that is new, or with afresh of each name. */
static void
want_names(struct names *names, const struct spec *spec, bool afresh)
{
	uint64_t now_ms = clock_now_ms();

	spec_for_each_server (b, s, spec)
		if (s->host)
			(void)names_want(names, s->host,
			    server_spec_family(b, s), afresh, now_ms);
}

static bool
any_pending(const struct names *names, const struct spec *spec)
{
	spec_for_each_server (b, s, spec) {
		const struct name *n = find_spec_name(names, b, s);

		if (n && n->asked)
			return true;
	}
	return false;
}

void
server_names_ask(struct control *control, const struct spec *spec)
{
	want_names(control->server_names.names, spec, true);
}

bool
server_names_pending(const struct control *control, const struct spec *spec)
{
	return any_pending(control->server_names.names, spec);
}

/* Looks up all names of the spec.  Blocks for wait_ms at most. */
static void
look_up_names(struct names *names, struct lookups *lookups,
    const struct spec *spec, unsigned wait_ms)
{
	uint64_t until_ms = clock_now_ms() + wait_ms;
	bool changed = false;

	want_names(names, spec, true);
	while (any_pending(names, spec) && lookups_wait(lookups, until_ms))
		take_answers(names, lookups, &changed);
}

/* -- start and reload -- */

void
server_names_prepare(struct control *control, struct model *model)
{
	model_for_each_server (s, model) {
		const struct name *n =
		    find_server_name(control->server_names.names, s);

		if (n && n->known && server_is_unresolved(s) &&
		    s->state->refs == 1)
			(void)server_resolve_first(s, &n->addr);
	}
}

/* Logs the servers that wait for their first answer, even though no error has
 * occurred yet. */
static void
log_waiting(const struct control *c)
{
	unsigned errors = 0;

	model_for_each_server (s, c->model)
		if (server_is_unresolved(s) && errors++ < LOGGED_MAX)
			log_unresolved(
			    s, find_server_name(c->server_names.names, s));
	log_more_errors(errors);
}

void
server_names_commit(struct control *control)
{
	struct server_names *sn = &control->server_names;

	want_names(sn->names, control->model->spec, false);
	model_for_each_server (s, control->model) {
		struct name *n = find_server_name(sn->names, s);

		if (n)
			names_keep(n);
	}
	names_sweep(sn->names);
	if (names_count(sn->names) == 0)
		return;
	/* The answer of a reload, or server_names_start, names them. */
	names_each(sn->names, mark_error_logged);
	apply_answers(control);
	timed_task_schedule(&sn->work, clock_now_ms());
}

void
server_names_start(struct control *control)
{
	struct server_names *sn = &control->server_names;
	struct model *m = control->model;

	ev_async_start(control->loop, &sn->answered);
	look_up_names(sn->names, sn->lookups, m->spec, SERVER_NAMES_WAIT_MS);
	if (names_count(sn->names) == 0)
		return;
	server_names_prepare(control, m);
	model_for_each_backend (b, m)
		backend_mark_changed(b);
	model_update(m);
	log_waiting(control);
	server_names_commit(control);
}

void
server_names_warn(const struct control *control, struct changes *changes)
{
	const struct names *names = control->server_names.names;

	model_for_each_server (s, control->model)
		if (server_is_unresolved(s))
			changes_add(changes, true,
			    "server %s/%s is in maintenance: its name '%s' is "
			    "not resolved: %s",
			    s->backend->spec->name, s->spec->name,
			    s->spec->host,
			    unresolved_reason(find_server_name(names, s)));
}

/* -- lfproxy -t -- */

static void
wake_nothing(void *arg)
{
	(void)arg;
}

static void
write_warning(FILE *out, const struct backend_spec *b,
    const struct server_spec *s, const struct name *n)
{
	fprintf(out, "lfproxy: warning: ");
	if (s->place.file && s->place.line > 0)
		fprintf(out, "%s:%u: ", s->place.file, s->place.line);
	fprintf(out,
	    "server %s/%s would be in maintenance: its name '%s' is not "
	    "resolved: %s\n",
	    b->name, s->name, s->host, unresolved_reason(n));
}

void
server_names_check(const struct spec *spec, unsigned wait_ms, FILE *out)
{
	struct lookups *lookups = lookups_new(addr_lookup, wake_nothing, NULL);
	struct names *names =
	    lookups ? names_new(lookups_start, lookups) : NULL;

	if (names) {
		look_up_names(names, lookups, spec, wait_ms);
		spec_for_each_server (b, s, spec) {
			const struct name *n = find_spec_name(names, b, s);

			if (s->host && !(n && n->known))
				write_warning(out, b, s, n);
		}
	}
	lookups_free(lookups);
	names_free(names);
}
