/* SPDX-License-Identifier: MIT
 * `show events [NUMBER] [ABOUT] [json]`: what has happened, the oldest first.
 */
#ifndef ADMIN_SHOW_EVENTS_H
#define ADMIN_SHOW_EVENTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/* Control thread.  args end with NULL: the last NUMBER events, those about a
 * backend with its servers, a server (`app/a`) or a pool.  False with err set
 * when the arguments are wrong or memory is short. */
bool show_events(const char *const *args, FILE *out, struct err *err);

#endif
