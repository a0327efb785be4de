/* SPDX-License-Identifier: MIT
 * Drains: servers that the operator takes out of service little by little.
 *
 *            over          then kill           all sessions have ended
 *   FADING ------> WAITING ---------> KILLING -------------------------> gone
 *      |              |                  |      (then maint: in maintenance)
 *      |              +---- no session left: gone
 *      +---- cancelled, overruled, removed: gone, from each of them
 *
 * FADING   The server's share of new sessions decreases, see model/server.h.
 *          Without `over` this phase is left out.
 * WAITING  The server is in the state drain: it gets no new sessions, and those
 *          that it has end by themselves.
 * KILLING  Its sessions are ended, spread over DRAIN_KILL_MS.
 *
 * A drain belongs to a server's name and state, so it goes on over a reload,
 * unless the reload removes the server or changes its address.  An upgrade and
 * the state file pass drains on (handover/later.h).
 *
 * All functions run on the control thread.
 */
#ifndef ORDERS_DRAINS_H
#define ORDERS_DRAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/list.h"
#include "handover/later.h"

struct instance;
struct server;

#define DRAIN_KILL_MS     5000
#define DRAIN_OVER_MIN_MS 1000
#define DRAIN_OVER_MAX_MS (30ull * 86400 * 1000)

/* The beginning of each line. */
#define DRAINS_LINE LATER "drains\t"

enum drain_phase { DRAIN_FADING, DRAIN_WAITING, DRAIN_KILLING };
enum drain_then { DRAIN_THEN_NOTHING, DRAIN_THEN_KILL, DRAIN_THEN_MAINT };

struct drain_order {
	uint64_t over_ms; /* 0: at once */
	enum drain_then then;
};

struct drain_status {
	const char *backend, *server; /* valid until the next call */
	enum drain_phase phase;
	struct drain_order order;
	unsigned weight_now, weight_was; /* with and without the fading */
	uint32_t sessions_now, sessions_began;
	uint64_t left_ms; /* in FADING and KILLING */
};

/* All drains of an instance. */
struct drains {
	struct instance *instance; /* borrowed */
	struct list all;
};

/* Begins without a drain. */
void drains_init(struct drains *drains, struct instance *instance);

/* Begins a drain of the server, in place of one that is under way.  Returns
 * false with err set if the order makes no sense, or when out of memory. */
bool drains_begin(struct drains *drains, struct server *server,
    const struct drain_order *order, struct err *err) MUST_CHECK;

/* Ends the drain and restores the server's previous state.  Returns false if
 * the server is not being drained. */
bool drains_cancel(struct drains *drains, struct server *server);

/* Ends a drain of the server because the operator has set its `what`.  The
 * server gets its whole weight back; its administrative state is not
 * touched. */
void drains_overrule(
    struct drains *drains, struct server *server, const char *what);

/* Fills the i-th drain, from 0.  Returns false after the last one.  A call with
 * i = 0 first ends the drains of servers that a reload has removed. */
bool drains_at(
    struct drains *drains, size_t i, struct drain_status *ret_status);

/* Fills the drain of the server.  Returns false if the server is not being
 * drained. */
bool drains_of(const struct drains *drains, const struct server *server,
    struct drain_status *ret_status);

/* Writes a line for each drain (later.h). */
void drains_write(const struct drains *drains, FILE *out);

/* Reads a line of drains_write, and goes on with that drain where it was.
 * Returns false with err set if the drain does not go on. */
bool drains_read(
    struct drains *drains, const char *line, struct err *err) MUST_CHECK;

/* Returns `fading`, `waiting` or `killing`. */
const char *drain_phase_name(enum drain_phase phase);

/* Returns ``, `kill` or `maint`. */
const char *drain_then_name(enum drain_then then);

/* The size of an order's text with its NUL, at most. */
#define DRAIN_TEXT_SIZE 64
/* Writes the order, for example `drain over 10m then kill`.  Returns out. */
const char *drain_order_text(
    const struct drain_order *order, char out[DRAIN_TEXT_SIZE]);

/* Returns how many of n sessions are due after past_ms, so that the last one is
 * due after whole_ms. */
uint32_t drain_share(uint32_t n, uint64_t past_ms, uint64_t whole_ms);

/* Frees all drains.  Called after the loop has ended. */
void drains_fini(struct drains *drains);

#endif
