/* SPDX-License-Identifier: MIT
 * `show events [NUMBER] [ABOUT] [json]`: what has happened, the oldest first.
 */
#ifndef COMMANDS_SHOW_EVENTS_H
#define COMMANDS_SHOW_EVENTS_H

#include "commands/command.h"

/* Control thread.  args end with NULL: the last NUMBER events, those about a
 * backend with its servers, a server (`app/a`) or a pool, a frontend. */
bool run_show_events(struct call *call);

#endif
