/* SPDX-License-Identifier: MIT
 * A server's weight on its way to nothing: a slow start the other way round.
 *
 * The weight itself stays what it is, whoever sets it; the lineup only takes a
 * part of it, less with each step.  The last step is a fiftieth, not 0: that
 * the server gets no more sessions is for the state drain to say.
 *
 * Control thread, as all of these.
 */
#ifndef MODEL_SERVER_FADE_H
#define MODEL_SERVER_FADE_H

#include <stdint.h>

struct server;

/* From one step to the next, at least: each is a new lineup. */
#define FADE_PAUSE_MS 1000

/* From the part that it has now on, for so long.  Lasts, at the last step when
 * the time is over, until it is ended. */
void server_fade(struct server *server, uint64_t over_ms);

/* Its weight is whole again. */
void server_end_fade(struct server *server);

/* How much is left of its weight, from RAMP_STEPS, which is all, to 1.  Where a
 * further step is to come, when that is due. */
unsigned server_fade_step(
    const struct server *server, uint64_t now_ms, uint64_t *ret_next_ms);

/* The arithmetic of it: the step when past_ms of over_ms are over, beginning at
 * the step `from`. */
unsigned fade_step_at(unsigned from, uint64_t past_ms, uint64_t over_ms);

/* And how long after the begin the step before `step` comes, which is > 1. */
uint64_t fade_next_ms(unsigned from, unsigned step, uint64_t over_ms);

#endif
