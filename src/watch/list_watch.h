/* SPDX-License-Identifier: MIT
 * Address lists follow their files without a reload, see section_watch.h.
 */
#ifndef WATCH_LIST_WATCH_H
#define WATCH_LIST_WATCH_H

#include "watch/section_watch.h"

struct model;

/* Begins to watch the files of the model's lists. */
void list_watch_start(struct section_watch *watch, struct ev_loop *loop,
    struct task_timer *timer, const struct model *model);

/* Follows a change of the model in force. */
void list_watch_follow(struct section_watch *watch, const struct model *model);

#endif
