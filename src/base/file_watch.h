/* SPDX-License-Identifier: MIT
 * Watches files, and waits until changes have settled.
 *
 *   inotify --changed--> of interest --settle_ms without another--> settled
 *
 * The owner knows which files they are (interests.h) and reads them, mostly on
 * a thread, which adds the watches to the descriptor `inotify`.
 *
 * All functions run on the control thread and never block.
 */
#ifndef BASE_FILE_WATCH_H
#define BASE_FILE_WATCH_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/inotify.h>

struct interests;

struct file_watch_owner {
	/* `certificates`: what is not followed when watches fail. */
	const char *what;
	/* A program may write several files, or one file in several steps. */
	uint64_t settle_ms;
	/* Files that change all the time are read all the same. */
	uint64_t settle_max_ms;
	/* Returns whether the event is of interest, and notes for what. */
	bool (*changed)(void *arg, const struct inotify_event *event);
	/* Whether a watch is in use, or a reading under way may be using it. */
	bool (*uses)(void *arg, int wd);
	void (*settled)(void *arg);
	void *arg;
};

/* Embedded in the owner. */
struct file_watch {
	struct ev_loop *loop; /* NULL: not started */
	int inotify;          /* -1: not opened */
	ev_io io;
	ev_timer settle;
	uint64_t first_ms; /* of the events that settle; 0: none */
	bool warned;       /* that changes are not noticed */
	struct file_watch_owner owner;
};

/* Starts without a descriptor; copies the owner. */
void file_watch_start(struct file_watch *watch, struct ev_loop *loop,
    const struct file_watch_owner *owner);

/* Opens the descriptor, if it is not open: most configurations have no files to
 * watch.  Returns false if the system refuses, which is logged once. */
bool file_watch_open(struct file_watch *watch);

/* Calls settled that much later, unless further events follow. */
void file_watch_settle_in(struct file_watch *watch, uint64_t settle_ms);

/* The owner reads now what has changed so far. */
void file_watch_read(struct file_watch *watch);

/* Leaves events to the kernel while a thread reads: changed cannot tell yet
 * which of them concern the files that the thread finds. */
void file_watch_hold(struct file_watch *watch);

/* The owner knows these files now. */
void file_watch_go_on(struct file_watch *watch);

/* Whether changes are settling: settled will be called. */
bool file_watch_is_settling(const struct file_watch *watch);

/* Ends the watches of former interests that are not used any more. */
void file_watch_drop(
    const struct file_watch *watch, const struct interests *former);

/* Logs once that directories of these interests cannot be watched, if so. */
void file_watch_warn(
    struct file_watch *watch, const struct interests *interests);

/* Does nothing if it was not started. */
void file_watch_stop(struct file_watch *watch);

#endif
