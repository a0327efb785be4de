/* SPDX-License-Identifier: MIT
 * The gate: whether a client may come in, and what becomes of it if not.
 *
 * A client is judged when its connection is accepted, before it gets a session;
 * one whose connection begins with a PROXY header is judged when the header is
 * read, by the address that the header names.
 */
#ifndef PROXY_GATE_H
#define PROXY_GATE_H

#include "model/access.h"
#include "model/frontend.h"
#include "proxy/close_reasons.h"

struct gate_answer {
	enum gate_action action;
	uint32_t hold_ms;       /* GATE_TARPIT, GATE_DELAY */
	enum close_cause cause; /* unless GATE_ADMIT or GATE_DELAY */
};

/* Whether the action turns the client away, be it after a time. */
static inline bool
gate_refuses(enum gate_action action)
{
	return action != GATE_ADMIT && action != GATE_DELAY;
}

/* Whether clients of the frontend are judged at all. */
static inline bool
gate_is_used(const struct frontend *frontend)
{
	return frontend->access != NULL;
}

/* Judges a client of the frontend.  Data threads, in a grace section.  Never
 * blocks. */
struct gate_answer gate_client(
    const struct frontend *frontend, const struct endpoint *client);

/* Ends the connection of a client that was turned away, as the action says, and
 * closes fd.  GATE_TARPIT: the client was held before, or is not held because
 * there is no session for it.  tcp: false for a unix socket, which is closed
 * whatever the action is. */
void gate_end(int fd, bool tcp, enum gate_action action);

#endif
