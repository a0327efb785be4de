/* SPDX-License-Identifier: MIT
 * The gate: decides whether a client may come in, and what happens to a client
 * that may not.
 *
 * A client is judged when its connection is accepted, before it gets a session.
 * A client whose connection begins with a PROXY header is judged when the
 * header is read, by the address that the header names.  The rules of allow and
 * deny come first, then the limits by source (model/limit.h).
 */
#ifndef PROXY_GATE_H
#define PROXY_GATE_H

#include "model/access.h"
#include "model/frontend.h"
#include "proxy/close_reasons.h"

struct proxy;

struct gate_answer {
	enum gate_action action;
	uint32_t hold_ms;       /* GATE_TARPIT, GATE_DELAY */
	enum close_cause cause; /* unless GATE_ADMIT or GATE_DELAY */
	/* Bit n: the client counts in the frontend's limit n until gate_leave;
	 * 0 if it is refused. */
	uint16_t limits;
	bool by_limit; /* a limit refuses the client, and no rule */
};

/* Returns whether the action turns the client away, at once or after a time. */
static inline bool
gate_refuses(enum gate_action action)
{
	return action != GATE_ADMIT && action != GATE_DELAY;
}

/* Returns whether clients of the frontend are judged at all. */
static inline bool
gate_is_used(const struct frontend *frontend)
{
	return frontend->access != NULL || frontend->limits != NULL;
}

/* Judges a client of the frontend by allow and deny, then by the limits; a
 * client that is not refused counts in the limits from now on.  A client with a
 * hold_ms has room until held_room_give; without room for it, it is refused
 * with a reset.  Runs on data threads, in a grace section.  Never blocks. */
struct gate_answer gate_client(struct proxy *proxy,
    const struct frontend *frontend, const struct endpoint *client,
    uint64_t now_ns);

/* Takes a client whose connection or session ends out of the limits that
 * gate_client has returned.  frontend and client are the same as there.  Runs
 * on data threads. */
void gate_leave(const struct frontend *frontend, uint16_t limits,
    const struct endpoint *client);

/* Undoes gate_client for a client that will be judged again, or was not served.
 * The arguments are those of gate_leave.  Runs on data threads. */
void gate_cancel(const struct frontend *frontend, uint16_t limits,
    const struct endpoint *client);

/* Counts the answer of gate_client.  denied: the counter of clients that are
 * refused.  thread: the index of the calling thread. */
void gate_count(const struct frontend *frontend,
    const struct gate_answer *answer, enum counter denied, unsigned thread);

/* Ends the connection of a client that was turned away, as the action says, and
 * closes fd.  GATE_TARPIT: the client was held before, or cannot be held
 * because there is no session for it.  tcp: false for a unix socket, which is
 * just closed whatever the action is. */
void gate_end(int fd, bool tcp, enum gate_action action);

#endif
