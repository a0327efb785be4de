/* SPDX-License-Identifier: MIT
 * What data threads notice about servers reaches the control thread here, and
 * servers that were ejected for it come back (model/passive.h).
 */
#ifndef CONTROL_NOTICES_H
#define CONTROL_NOTICES_H

struct control;

/* Control thread, before pool threads start. */
void notices_watch(struct control *control);

/* Control thread, when another model is in force: what was noticed of servers
 * that were not in the former one, and those of them whose time has passed. */
void notices_review(struct control *control);

#endif
