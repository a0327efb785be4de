/* SPDX-License-Identifier: MIT
 * A fade: a slow start in reverse, which lowers a server's share in steps.
 *
 * The weight itself does not change; the lineup takes a part of it, less with
 * each step.  The last step is a fiftieth, not 0: only the state drain keeps
 * new sessions away.
 *
 * All functions run on the control thread.
 */
#ifndef MODEL_SERVER_FADE_H
#define MODEL_SERVER_FADE_H

#include <stdint.h>

struct server;

/* The least time from one step to the next, as each step is a new lineup. */
#define FADE_PAUSE_MS 1000

/* Starts a fade over that time, from the part that the server has now.  When
 * the time is over the server stays at the last step until server_end_fade. */
void server_fade(struct server *server, uint64_t over_ms);

/* Ends the fade: the lineup takes the whole weight again. */
void server_end_fade(struct server *server);

/* Returns the part of the weight that is left, from RAMP_STEPS (all) to 1.
 * *ret_next_ms is when the next step is due, untouched if there is none. */
unsigned server_fade_step(
    const struct server *server, uint64_t now_ms, uint64_t *ret_next_ms);

/* Returns the step when past_ms of over_ms have passed, starting at step from.
 */
unsigned fade_step_at(unsigned from, uint64_t past_ms, uint64_t over_ms);

/* Returns how long after the start the step after `step` comes; step > 1. */
uint64_t fade_next_ms(unsigned from, unsigned step, uint64_t over_ms);

#endif
