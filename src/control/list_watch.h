/* SPDX-License-Identifier: MIT
 * Address lists follow their files without a reload.
 *
 *   inotify --> settle --> read by the worker --> publish, if all is good
 *
 * A list changes as a whole or not at all.  If a file is missing or has a wrong
 * line, the list stays as it is, which is logged once.
 *
 * All functions run on the control thread and do not block.
 */
#ifndef CONTROL_LIST_WATCH_H
#define CONTROL_LIST_WATCH_H

#include <ev.h>
#include <stdbool.h>

#include "base/file_watch.h"
#include "base/list.h"
#include "control/list_load.h"
#include "control/task_timer.h"

struct grace;
struct model;

/* The time without changes after which files are read: a program may write
 * several files, or one file in several steps. */
#define LIST_WATCH_SETTLE_MS 500
/* The time after which files are read that change all the time. */
#define LIST_WATCH_SETTLE_MAX_MS 5000
/* The interval at which a list that could not be read is read again. */
#define LIST_WATCH_RETRY_MS 60000

struct list_watch {
	struct file_watch files;
	struct grace *grace;
	struct timed_task retry;
	struct list lists;
	struct list_load *load; /* the worker's; NULL: none */
};

/* Begins to watch the files of the model's lists, and reads those once that may
 * have changed since the model was made.  Without inotify, which is logged,
 * only reloads read changed files. */
void list_watch_start(struct list_watch *watch, struct ev_loop *loop,
    struct task_timer *timer, struct grace *grace, const struct model *model);

/* Follows a change of the model in force. */
void list_watch_follow(struct list_watch *watch, const struct model *model);

/* Ends the watch. */
void list_watch_fini(struct list_watch *watch);

/* Returns why the files of the list cannot be used, so that their former
 * contents stay in force; NULL if they can be used. */
const char *list_watch_failure(
    const struct list_watch *watch, const char *list);

#endif
