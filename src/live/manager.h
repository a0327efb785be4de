/* SPDX-License-Identifier: MIT
 * Reports to the service manager while lfproxy runs (base/notify.h): signs of
 * life for its watchdog, and figures for `systemctl status`.  All functions run
 * on the control thread and do not block.
 */
#ifndef LIVE_MANAGER_H
#define LIVE_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "loop/task_timer.h"

struct manager_reports {
	struct timed_task alive;
	bool stuck;         /* a pool was stuck when last looked at */
	bool keeper_stuck;  /* likewise the keeper */
	uint64_t status_ms; /* when the figures are due */
	char status[160];   /* the figures that were sent last */
};

/* Begins to send signs of life, if the manager wants any.  They are sent as
 * long as the control loop runs, the keeper answers (keeper_moves) and no pool
 * is stuck (pools_stuck). */
void manager_reports_start(struct manager_reports *reports);

/* Sends the figures now and then, if they have changed, and gives the manager
 * copies of new listening sockets.  Called once a second. */
void manager_reports_second(struct manager_reports *reports, uint64_t now_ms);

#endif
