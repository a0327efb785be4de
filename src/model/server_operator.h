/* SPDX-License-Identifier: MIT
 * What an operator says of a server while it runs, through the admin socket.
 *
 * Control thread.  Everything holds at once, for new sessions, and across
 * reloads as long as the file says the same of that very thing as it did then:
 * another weight in the file undoes a weight, and nothing else.  Another
 * address in the file is another server, of which nothing was said.  Where an
 * agent speaks of the same thing the last word holds; once it is no longer
 * asked, the operator's does.
 */
#ifndef MODEL_SERVER_OPERATOR_H
#define MODEL_SERVER_OPERATOR_H

#include "model/server.h"

enum operator_health { OPERATOR_UP, OPERATOR_STOPPING, OPERATOR_DOWN };

void operator_set_weight(struct server *server, unsigned weight);

/* READY ends a drain or maintenance, whoever began it.  After maintenance the
 * server is taken for well until a check says otherwise, or sessions do: it is
 * no longer ejected. */
void operator_set_admin(struct server *server, enum server_admin admin);

/* What the checks have found, as it were: the next ones may find otherwise.
 * UP ends an ejection as well, and what is remembered of former ones.
 * STOPPING: up, but takes no new sessions until a check has passed.  Nothing in
 * maintenance. */
void operator_set_health(struct server *server, enum operator_health health);

/* The same for what its agent says. */
void operator_set_agent(struct server *server, bool up);

/* Sessions at a time, 0: no limit.  Those over a new limit go on. */
void operator_set_maxconn(struct server *server, unsigned maxconn);

/* Where new sessions are sent, and checks with them.  What sessions have found
 * of the former address, an ejection, does not hold.  False when memory is
 * short. */
bool operator_set_addr(struct server *server, const struct addr *addr);

/* The two parts of that, for server_resolve: the address alone, false when
 * memory is short; and what sessions have found. */
bool server_put_addr(struct server *server, const struct addr *addr);
void server_forget_failures(struct server *server);

/* No further checks, or questions to the agent; what is known stays. */
void operator_pause_check(struct server *server, bool paused);
void operator_pause_agent(struct server *server, bool paused);

/* Where it is checked and where its agent is, from the next time on.  addr
 * NULL, port -1: as before; port 0: as the file says. */
void operator_set_check_at(
    struct server *server, const struct addr *addr, int port);
void operator_set_agent_at(
    struct server *server, const struct addr *addr, int port);

/* What the agent is sent, "" for nothing.  False when memory is short. */
bool operator_set_agent_send(struct server *server, const char *text);

#endif
