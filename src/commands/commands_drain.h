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

#endif
