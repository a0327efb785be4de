/* SPDX-License-Identifier: MIT
 * Carries out the changes of servers that reports of sets ask for, see
 * sets.h.
 */
#include <stdlib.h>

#include "live/control.h"
#include "live/transition.h"

static bool
may_change(void *arg)
{
	const struct control *c = arg;

	return c->stop.phase == RUNNING;
}

static bool
make_changes(struct transition *t)
{
	if (sets_make_changes(&t->control->sets, t->servers, &t->servers_n))
		return true;
	transition_cancel_servers(t);
	return control_refuse(t->errors, "out of memory");
}

static bool
change_servers(void *arg, struct err_list *errors)
{
	struct control *c = arg;
	struct transition t = {.parts = &transition_of_servers,
	    .control = c,
	    .errors = errors,
	    .make_changes = make_changes,
	    .servers = calloc(
	        c->instance.model->spec->backends_n, sizeof(*t.servers))};
	bool ok = t.servers && transition_prepare(&t);

	if (ok)
		transition_commit(&t);
	free(t.servers);
	return ok;
}

static void
warn_of_descriptors(void *arg)
{
	static struct log_limit limit;
	const struct control *c = arg;
	struct err err;

	/* Sessions got their descriptors at the start. */
	if (!limits_suffice(&c->orders.limits.budget, c->instance.model->spec,
	        "the servers of its sets", &err))
		log_limited(&limit, LOG_LEVEL_WARNING, "%s", err.text);
}

void
set_changes_init(struct control *control)
{
	control->sets.instance = &control->instance;
	control->sets.names = control->server_names.names;
	control->sets.hooks = (struct sets_hooks){.may_change = may_change,
	    .change_servers = change_servers,
	    .changed = warn_of_descriptors,
	    .arg = control};
}
