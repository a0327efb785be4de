/* SPDX-License-Identifier: MIT
 * From the first SIGTERM to the end: the phases that control.h describes.
 */
#ifndef CONTROL_STOP_H
#define CONTROL_STOP_H

#include <ev.h>

/* How often the timer fires while lfproxy stops. */
#define STOP_TICK_MS 20

/* SIGTERM or SIGINT: enters the next phase.  A watcher's callback on the
 * control thread; the watcher's data is the control. */
void stop_on_signal(struct ev_loop *loop, ev_signal *signal, int events);
/* Every STOP_TICK_MS while lfproxy stops: enters the next phase when the time
 * of the present one is over.  A watcher's callback like stop_on_signal. */
void stop_on_timer(struct ev_loop *loop, ev_timer *timer, int events);

#endif
