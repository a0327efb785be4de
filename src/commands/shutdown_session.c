/* SPDX-License-Identifier: MIT
 * `shutdown session` and `shutdown sessions server`.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "model/backend.h"
#include "proxy/session_facts.h"

bool
run_shutdown_session(struct call *call)
{
	struct proxy *proxy = &call->env->instance->proxy;
	uint64_t id = strtoull(call_arg(call, 0), NULL, 0);
	struct session_facts facts;

	if (id == 0)
		return err_set(
		    call->err, "Session pointer expected (use 'show sess').");
	if (!session_facts_find(proxy, id, &facts) ||
	    !session_facts_kill(proxy, &facts))
		return err_set(call->err, "No such session (use 'show sess').");
	call_audit(call, NULL, NULL,
	    "session 0x%" PRIx64 " of frontend %s shut down", id,
	    facts.frontend->spec->name);
	return true;
}

/* Closes the sessions of a server.  Servers are compared by their state, so
 * that sessions from before a reload are closed as well. */
bool
run_shutdown_sessions_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));
	struct proxy *proxy = &call->env->instance->proxy;
	uint32_t made = slab_made(&proxy->sessions);
	unsigned killed = 0;

	if (!s)
		return false;
	for (uint32_t i = 0; i < made; i++) {
		struct session_facts facts;

		if (session_facts_read(proxy, i, &facts) && facts.server &&
		    facts.server->state == s->state)
			killed += session_facts_kill(proxy, &facts);
	}
	call_audit(call, NULL, NULL, "server %s/%s: %u session%s shut down",
	    s->backend->spec->name, s->spec->name, killed, text_s(killed));
	return true;
}
