/* SPDX-License-Identifier: MIT
 * Commands that take their time: drains (control/drains.h), rebalancing
 * (control/rebalance.h), and what waits to expire (expiring.h).
 */
#ifndef COMMANDS_COMMANDS_DRAIN_H
#define COMMANDS_COMMANDS_DRAIN_H

#include "commands/command.h"

bool run_drain_server(struct call *call);
bool run_cancel_drain(struct call *call);
bool run_show_drains(struct call *call);

/* commands_rebalance.c */
bool run_rebalance(struct call *call);
bool run_cancel_rebalance(struct call *call);
bool run_show_rebalances(struct call *call);

/* commands_lasting.c */
bool run_cancel_expiring(struct call *call);
bool run_show_expiring(struct call *call);

/* For all of them: `[json]` and nothing else.  False with an error. */
bool call_json(struct call *call, bool *ret_json);

/* The value of an option like `over`, a duration in that range; "" is an error,
 * too. */
bool call_duration(struct call *call, const char *option, const char *text,
    uint64_t min_ms, uint64_t max_ms, uint64_t *ret_ms);

/* Down to seconds where they do not matter: `9m58s`, `1.5s`; returns out. */
#define LEFT_TEXT_SIZE 40
const char *left_text(uint64_t ms, char out[LEFT_TEXT_SIZE]);

#endif
