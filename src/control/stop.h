/* SPDX-License-Identifier: MIT
 * From the first SIGTERM to the end: the phases that control.h describes.
 */
#ifndef CONTROL_STOP_H
#define CONTROL_STOP_H

#include <ev.h>

/* How often the timer fires while lfproxy stops. */
#define STOP_TICK_MS 20

/* Watchers' callbacks on the control thread; their data is the control. */
void stop_on_signal(struct ev_loop *loop, ev_signal *signal, int events);
void stop_on_timer(struct ev_loop *loop, ev_timer *timer, int events);

#endif
