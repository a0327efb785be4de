/* SPDX-License-Identifier: MIT
 * Things to be done later on the control loop: any number of them on one timer.
 *
 * A task is embedded in what it is about, and runs once each time it was asked
 * for.  The timer goes off at full hundredths of a second, so that what is due
 * at nearly the same time is one wake-up; what is due then gets
 * LATER_BUDGET_NS, and the rest LATER_REST_MS later, because checks and clients
 * wait meanwhile.
 */
#ifndef CONTROL_LATER_H
#define CONTROL_LATER_H

#include <ev.h>
#include <stdint.h>

#include "base/list.h"

#define LATER_ROUND_MS  10
#define LATER_BUDGET_NS (500 * 1000)
#define LATER_REST_MS   2

struct later {
	struct ev_loop *loop;
	ev_timer timer;
	struct list tasks; /* the nearest first */
};

struct later_task {
	struct list node;
	uint64_t at_ms; /* clock_now_ms */
	/* It is no longer waiting then, may ask to be run again, and may free
	 * what it is embedded in. */
	void (*run)(struct later_task *task, uint64_t now_ms);
};

/* Control thread, as all of these. */
void later_init(struct later *later, struct ev_loop *loop);
/* Nobody asks any more. */
void later_fini(struct later *later);

void later_task_init(struct later_task *task,
    void (*run)(struct later_task *task, uint64_t now_ms));

/* Not before that time; instead of the one it was to run at, if it was. */
void later_at(struct later *later, struct later_task *task, uint64_t at_ms);

/* Not any more, if it was to run. */
void later_cancel(struct later *later, struct later_task *task);

#endif
