/* SPDX-License-Identifier: MIT
 * See transition.h.
 */
#include "live/transition.h"

#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "live/control.h"
#include "process/limits.h"
#include "process/server_sockets.h"
#include "process/syscall_filter.h"
#include "proxy/accept_limits.h"
#include "proxy/accesslog.h"

static bool
try_server_sockets(struct transition *t)
{
	struct err err;

	return server_sockets_try(t->spec, false, &err) ||
	       control_refuse(t->errors, err.text);
}

/* -- sets of servers: they give the spec their servers -- */

static bool
prepare_sets(struct transition *t)
{
	return sets_prepare(&t->control->sets, t->spec, t->changes, t->errors);
}

static void
cancel_sets(struct transition *t)
{
	sets_cancel(&t->control->sets);
}

static void
commit_sets(struct transition *t)
{
	sets_commit(&t->control->sets);
}

/* -- the model, with names and checks of servers -- */

static bool
prepare_model(struct transition *t)
{
	struct control *c = t->control;
	struct spec *spec = t->spec;
	struct err err;

	/* Reclaim old models now, so that a thousand changes in a row do not
	 * keep a thousand models. */
	(void)model_reclaim(c->instance.model);
	t->spec = NULL;
	t->model = model_new(spec, c->instance.grace, c->instance.model);
	err_oom(&err);
	if (t->model)
		server_names_prepare(&c->server_names, t->model);
	if (t->model && accesslog_open(t->model, &err) &&
	    checker_prepare(c->checker, t->model))
		return true;
	model_free(t->model);
	return control_refuse(t->errors, err.text);
}

static void
cancel_model(struct transition *t)
{
	checker_cancel(t->control->checker);
	model_free(t->model);
}

static void
publish_model(struct transition *t)
{
	struct control *c = t->control;

	model_publish(t->model, c->instance.model);
	checker_commit(c->checker);
	c->instance.model = t->model;
	log_messages_to(&c->instance.model->messages);
	server_names_commit(&c->server_names);
}

static void
retire_model(struct transition *t)
{
	model_retire(t->before);
	server_followup_review(&t->control->followup);
}

/* -- pools -- */

static bool
prepare_pools(struct transition *t)
{
	struct err err;

	return pools_prepare(t->control->pools, t->model->spec, &err) ||
	       control_refuse(t->errors, err.text);
}

static void
cancel_pools(struct transition *t)
{
	pools_cancel(t->control->pools);
}

static void
apply_pools(struct transition *t)
{
	pools_apply(t->control->pools, t->model->spec, t->changes);
}

/* -- listeners -- */

static bool
prepare_listeners(struct transition *t)
{
	struct err err;

	return (listeners_prepare(t->control->listeners, t->model, &err) &&
	           listeners_register(
	               t->control->listeners, t->control->pools, &err)) ||
	       control_refuse(t->errors, err.text);
}

static void
cancel_listeners(struct transition *t)
{
	listeners_cancel(t->control->listeners);
}

static void
commit_listeners(struct transition *t)
{
	struct control *c = t->control;

	listeners_commit(c->listeners, c->pools, t->changes);
	/* Some wait because of the limits of the former frontend. */
	acceptors_resume(&c->instance.proxy);
}

/* -- admin sockets and the HTTP port -- */

static bool
prepare_follower(struct transition *t)
{
	const struct control_follower *f = &t->control->follower;

	return !f->prepare || f->prepare(f->arg, t->model->spec, t->errors);
}

static void
cancel_follower(struct transition *t)
{
	const struct control_follower *f = &t->control->follower;

	if (f->cancel)
		f->cancel(f->arg);
}

static void
commit_follower(struct transition *t)
{
	const struct control_follower *f = &t->control->follower;

	if (f->commit)
		f->commit(f->arg, t->model->spec, t->changes);
}

/* -- parts that only commit -- */

static void
follow_limits(struct transition *t)
{
	session_limits_follow(&t->control->orders.limits);
}

static void
remember_closed(struct transition *t)
{
	struct control *c = t->control;
	uint32_t n = t->model->spec->global.closed_sessions;

	if (n != t->before->spec->global.closed_sessions &&
	    !closed_rings_resize(
	        &c->instance.proxy.closed, n, c->instance.grace))
		changes_add(t->changes, true,
		    "out of memory: fewer than %u closed sessions are "
		    "remembered",
		    n);
}

/* Sets the filter of system calls of the spec, which can become stricter, not
 * weaker. */
static void
filter_syscalls(struct transition *t)
{
	struct err err;

	if (!syscall_filter_set(t->model->spec->global.seccomp, &err))
		changes_add(t->changes, true, "global: %s", err.text);
}

static void
follow_files(struct transition *t)
{
	struct control *c = t->control;

	tls_watch_follow(&c->tls_watch, t->model->spec);
	list_watch_follow(&c->list_watch, t->model);
	c->tls_upkeep.looked_ms = 0;
}

/* -- all parts -- */

static const struct participant participants[] = {
    {"options of servers' sockets", try_server_sockets, NULL, NULL},
    {"sets of servers", prepare_sets, NULL, cancel_sets},
    {"model", prepare_model, publish_model, cancel_model},
    {"pools", prepare_pools, apply_pools, cancel_pools},
    {"limits", NULL, follow_limits, NULL},
    {"listeners", prepare_listeners, commit_listeners, cancel_listeners},
    {"ended sessions", NULL, remember_closed, NULL},
    {"system calls", NULL, filter_syscalls, NULL},
    {"admin and http sockets", prepare_follower, commit_follower,
        cancel_follower},
    {"former model", NULL, retire_model, NULL},
    {"files", NULL, follow_files, NULL},
    {"sources of sets", NULL, commit_sets, NULL},
};

const struct participants transition_of_model = {
    participants, sizeof(participants) / sizeof(participants[0])};

/* Prepares the part.  A fault comes after that, so that the part cancels as
 * well. */
static bool
prepare_one(struct transition *t, const struct participant *p)
{
	if (!p->prepare)
		return true;
	if (!p->prepare(t))
		return false;
	if (!fault_fails(FAULT_PREPARE))
		return true;
	err_list_add(t->errors, NULL, 0, "%s: %s", p->name, strerror(errno));
	if (p->cancel)
		p->cancel(t);
	return false;
}

bool
transition_prepare(struct transition *t)
{
	const struct participants *parts = t->parts;
	size_t i = 0;

	while (i < parts->n && prepare_one(t, &parts->all[i]))
		i++;
	if (i == parts->n)
		return true;
	while (i-- > 0)
		if (parts->all[i].cancel)
			parts->all[i].cancel(t);
	spec_free(t->spec);
	return false;
}

void
transition_commit(struct transition *t)
{
	for (size_t i = 0; i < t->parts->n; i++)
		if (t->parts->all[i].commit)
			t->parts->all[i].commit(t);
}
