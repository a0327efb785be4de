/* SPDX-License-Identifier: MIT
 * See env.h.
 */
#include "stats/env.h"

void
command_env_set_parts(struct command_env *env, struct control *control)
{
	env->instance = &control->instance;
	env->pools = control->pools;
	env->listeners = control->listeners;
	env->orders = &control->orders;
	env->names = &control->server_names;
	env->followup = &control->followup;
	env->sets = &control->sets;
	env->lineage = &control->lineage;
	env->tls_watch = &control->tls_watch;
	env->list_watch = &control->list_watch;
	env->tls_status = &control->tls_upkeep.status;
	env->control = control;
}
