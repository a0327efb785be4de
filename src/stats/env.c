/* SPDX-License-Identifier: MIT
 * See env.h.
 */
#include "stats/env.h"

void
command_env_set_parts(struct command_env *env, struct control *control)
{
	env->instance = control_instance(control);
	env->pools = control_pools(control);
	env->listeners = control_listeners(control);
	env->orders = control_orders(control);
	env->names = control_names(control);
	env->followup = control_followup(control);
	env->sets = control_sets(control);
	env->lineage = control_lineage(control);
	env->tls_watch = control_tls_watch(control);
	env->list_watch = control_list_watch(control);
	env->tls_status = control_tls_status(control);
	env->control = control;
}
