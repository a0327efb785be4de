/* SPDX-License-Identifier: MIT
 * Reports to the service manager while lfproxy runs (base/notify.h): signs of
 * life for its watchdog, and figures for `systemctl status`.  All functions run
 * on the control thread and do not block.
 */
#ifndef CONTROL_MANAGER_H
#define CONTROL_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/task_timer.h"

struct manager_reports {
	struct timed_task alive;
	bool stuck;         /* a pool was, at the last sign of life */
	uint64_t status_ms; /* when the figures are due */
	char status[160];   /* that was sent last */
};

/* Begins the signs of life, if the manager wants any.  They come as long as the
 * control loop runs and no pool is stuck (pools_stuck). */
void manager_reports_start(struct manager_reports *reports);

/* Called every second: sends the figures that have changed now and then, and
 * new listening sockets for the manager to keep. */
void manager_reports_second(struct manager_reports *reports, uint64_t now_ms);

#endif
