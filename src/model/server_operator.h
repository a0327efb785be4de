/* SPDX-License-Identifier: MIT
 * The overrides: settings of a server that an operator changes at run time.
 *
 * An override holds for new sessions after model_update, and across reloads as
 * long as the file's value of that setting is what it was when the override was
 * set.  So another weight in the file ends an override of the weight for good,
 * and no other.  Another address in the file makes another server, without
 * overrides.  Where an agent has changed the same setting, the later change
 * holds; once the agent is not asked any more, the override holds again.
 *
 * All functions run on the control thread and mark the server.
 */
#ifndef MODEL_SERVER_OPERATOR_H
#define MODEL_SERVER_OPERATOR_H

#include "model/server.h"

enum operator_health { OPERATOR_UP, OPERATOR_STOPPING, OPERATOR_DOWN };

/* Sets the weight, 0 for no new sessions. */
void operator_set_weight(struct server *server, unsigned weight);

/* Sets the administrative state.  READY ends a drain or maintenance of whatever
 * origin.  After maintenance the server counts as healthy, and is not ejected,
 * until a check or sessions fail. */
void operator_set_admin(struct server *server, enum server_admin admin);

/* Sets the health as if checks had found it; the next checks may change it.  UP
 * also ends an ejection and forgets former ones.  STOPPING: up, but without new
 * sessions until a check passes.  Has no effect in maintenance. */
void operator_set_health(struct server *server, enum operator_health health);

/* Does the same for another reason than an operator's command, which `by` names
 * in the event. */
void server_set_health(
    struct server *server, enum operator_health health, const char *by);

/* Sets the health as if the agent had reported it. */
void operator_set_agent(struct server *server, bool up);

/* Sets the limit on sessions at a time, 0 for none.  Sessions above a new limit
 * go on. */
void operator_set_maxconn(struct server *server, unsigned maxconn);

/* Forgets what the operator has set, for a server that returns to the file. */
void server_forget_overrides(struct server *server);

/* Sets the address of new sessions and of checks.  Ends an ejection, since the
 * failures were those of the former address.  Returns false when memory is
 * short. */
bool operator_set_addr(
    struct server *server, const struct addr *addr) MUST_CHECK;

/* Makes a server that is given by a name follow the name again: the server is
 * at the address that the name was resolved to last, and unresolved without
 * one.  Returns false when memory is short. */
bool operator_follow_name(struct server *server) MUST_CHECK;

/* Pauses or resumes the checks.  The last result stays in force. */
void operator_pause_check(struct server *server, bool paused);

/* Pauses or resumes the agent.  Its last answer stays in force. */
void operator_pause_agent(struct server *server, bool paused);

/* Sets the address of the next checks.  addr NULL and port -1 keep the former
 * value; AF_UNSPEC and port 0 restore the file's. */
void operator_set_check_at(
    struct server *server, const struct addr *addr, int port);

/* Sets the address of the agent in the same way. */
void operator_set_agent_at(
    struct server *server, const struct addr *addr, int port);

/* Sets the text that the agent is sent, "" for none.  Returns false when memory
 * is short. */
bool operator_set_agent_send(
    struct server *server, const char *text) MUST_CHECK;

/* Sets the bytes that the agent is sent, in hexadecimal digits.  Returns false
 * with err set. */
bool operator_set_agent_send_hex(
    struct server *server, const char *digits, struct err *err) MUST_CHECK;

#endif
