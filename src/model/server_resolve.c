/* SPDX-License-Identifier: MIT
 * A server that is given by name gets its address: see server.h.
 */
#include "model/server.h"

#include "model/server_change.h"
#include "model/server_operator.h"

/* True when the server's address has changed. */
static bool
take_address(struct server *server, const struct addr *addr)
{
	struct server_state *s = server->state;
	struct addr now = *addr;

	addr_set_port(&now, server->spec->port);
	if (s->resolved.len > 0 && addr_equal(&now, &s->resolved))
		return false;
	if (!s->overrides.addr_set && !server_put_addr(server, &now))
		return false;
	s->resolved = now;
	return !s->overrides.addr_set;
}

bool
server_resolve(struct server *server, const struct addr *addr)
{
	bool lacked = server_lacks_address(server);

	if (!take_address(server, addr))
		return false;
	if (lacked)
		server_note_time(server, server_is_up(server));
	else
		server_forget_failures(server);
	return true;
}

bool
server_resolve_first(struct server *server, const struct addr *addr)
{
	if (!take_address(server, addr))
		return false;
	server->state->alive =
	    server_is_up(server) && server_admin_of(server) != SERVER_MAINT;
	return true;
}
