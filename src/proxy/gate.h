/* SPDX-License-Identifier: MIT
 * The gate: whether a client may come in, and what becomes of it if not.
 *
 * A client is judged when its connection is accepted, before it gets a session;
 * one whose connection begins with a PROXY header is judged when the header is
 * read, by the address that the header names.  The rules of allow and deny come
 * first, then the limits by source (model/limit.h).
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
	/* Bit n: the client counts in the frontend's limit n until gate_leave;
	 * 0 if it is refused. */
	uint16_t limits;
	bool by_limit; /* it is refused by a limit, and by no rule */
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
	return frontend->access != NULL || frontend->limits != NULL;
}

/* Judges a client of the frontend: by allow and deny, and then by the limits,
 * in which a client that is not refused counts from now on.  Data threads, in a
 * grace section.  Never blocks. */
struct gate_answer gate_client(const struct frontend *frontend,
    const struct endpoint *client, uint64_t now_ns);

/* The connection or session of a client that gate_client has answered with
 * these limits ends.  The frontend and the client are the same as there.  Data
 * threads. */
void gate_leave(const struct frontend *frontend, uint16_t limits,
    const struct endpoint *client);

/* Takes back the answer of gate_client, in the same way: the client is judged
 * again, or was not served. */
void gate_cancel(const struct frontend *frontend, uint16_t limits,
    const struct endpoint *client);

/* Counts what gate_client has answered.  denied: the counter of clients that
 * are refused.  thread: the index of the calling thread. */
void gate_count(const struct frontend *frontend,
    const struct gate_answer *answer, enum counter denied, unsigned thread);

/* Ends the connection of a client that was turned away, as the action says, and
 * closes fd.  GATE_TARPIT: the client was held before, or is not held because
 * there is no session for it.  tcp: false for a unix socket, which is closed
 * whatever the action is. */
void gate_end(int fd, bool tcp, enum gate_action action);

#endif
