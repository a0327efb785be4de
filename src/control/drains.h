/* SPDX-License-Identifier: MIT
 * Drains: servers that the operator takes out of service little by little.
 *
 *            over          then kill           all sessions have ended
 *   FADING ------> WAITING ---------> KILLING -------------------------> gone
 *      |              |                  |      (then maint: in maintenance)
 *      |              +---- no session left: gone
 *      +---- cancelled, overruled, removed: gone, from each of them
 *
 * FADING   Its part of the new sessions gets less, see model/server_fade.h.
 *          Without `over` this is left out.
 * WAITING  It is in the state drain: no new sessions, and those that it has end
 *          by themselves.
 * KILLING  They are ended, spread over DRAIN_KILL_MS.
 *
 * A drain is of a server's name and state, so it goes on over a reload; when
 * the file has the server no more, or at another address, it ends.  Control
 * thread, as all of these.
 */
#ifndef CONTROL_DRAINS_H
#define CONTROL_DRAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct control;
struct server;

#define DRAIN_KILL_MS     5000
#define DRAIN_OVER_MIN_MS 1000
#define DRAIN_OVER_MAX_MS (30ull * 86400 * 1000)

enum drain_phase { DRAIN_FADING, DRAIN_WAITING, DRAIN_KILLING };
enum drain_then { DRAIN_THEN_NOTHING, DRAIN_THEN_KILL, DRAIN_THEN_MAINT };

struct drain_order {
	uint64_t over_ms; /* 0: at once */
	enum drain_then then;
};

struct drain_status {
	const char *backend, *server; /* until the next call */
	enum drain_phase phase;
	struct drain_order order;
	unsigned weight_now, weight_was; /* with its fading, and without */
	uint32_t sessions_now, sessions_began;
	uint64_t left_ms; /* of FADING and KILLING */
};

/* Instead of one of that server that is under way.  False with err set when
 * that makes no sense, or memory is short. */
bool control_drain(struct control *control, struct server *server,
    const struct drain_order *order, struct err *err) MUST_CHECK;

/* The server is as it was before.  False: there is no drain of it. */
bool control_cancel_drain(struct control *control, struct server *server);

/* The operator has set the server's `what`: a drain of it has come to its end,
 * its weight is whole, its state stays as it was set. */
void control_overrule_drain(
    struct control *control, struct server *server, const char *what);

/* The drain of that number, from 0 on; false: there are no more.  With 0 those
 * end whose server a reload has taken away. */
bool control_drain_at(
    struct control *control, size_t i, struct drain_status *ret_status);

/* The same of a server; false: there is none of it. */
bool control_drain_of(struct control *control, const struct server *server,
    struct drain_status *ret_status);

/* `fading`, `waiting`, `killing`. */
const char *drain_phase_name(enum drain_phase phase);

/* ``, `kill`, `maint`. */
const char *drain_then_name(enum drain_then then);

/* `drain`, `drain over 10m then kill`; returns out. */
#define DRAIN_TEXT_SIZE 64
const char *drain_order_text(
    const struct drain_order *order, char out[DRAIN_TEXT_SIZE]);

/* How many sessions have to be told by now, so that the last of n is when
 * whole_ms have passed. */
uint32_t drain_share(uint32_t n, uint64_t past_ms, uint64_t whole_ms);

/* When the loop has ended. */
void drains_free(struct control *control);

#endif
