/* SPDX-License-Identifier: MIT
 * Watches files, and waits until changes have settled.
 *
 *   inotify --changed--> of interest --settle_ms without another--> settled
 *
 * The owner knows which files are watched (interests.h), and reads them.  Most
 * owners do so in a job of the worker, which adds the watches to the descriptor
 * `inotify`.
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
	/* The files in words, as `certificates`, for messages. */
	const char *what;
	/* How long to wait after a change: a program may write several files,
	 * or one file in several steps. */
	uint64_t settle_ms;
	/* The longest wait after the first change: files that change all the
	 * time are read as well. */
	uint64_t settle_max_ms;
	/* Returns whether the event is of interest, and notes for what. */
	bool (*changed)(void *arg, const struct inotify_event *event);
	/* Returns whether a watch is in use, or may be in use by a reading that
	 * is under way. */
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
	uint64_t first_ms; /* time of the first event that settles; 0: none */
	bool warned;       /* that changes are not noticed */
	struct file_watch_owner owner;
};

/* Initializes the watch, without a descriptor.  Copies the owner. */
void file_watch_start(struct file_watch *watch, struct ev_loop *loop,
    const struct file_watch_owner *owner);

/* Opens the descriptor, if it is not open: most configurations have no files to
 * watch.  Returns false if the system refuses, which is logged once. */
bool file_watch_open(struct file_watch *watch);

/* Calls settled after settle_ms, or later if further events follow. */
void file_watch_settle_in(struct file_watch *watch, uint64_t settle_ms);

/* Notes that the owner reads the files now: changes so far do not lead to
 * settled any more. */
void file_watch_read(struct file_watch *watch);

/* Stops reading events while a job reads the files, and leaves them in the
 * kernel: changed cannot tell yet which events concern files that the job
 * finds. */
void file_watch_hold(struct file_watch *watch);

/* Reads events again: the owner knows now which files the job has found. */
void file_watch_go_on(struct file_watch *watch);

/* Returns whether changes are settling, so that settled will be called. */
bool file_watch_is_settling(const struct file_watch *watch);

/* Ends the watches of former interests that are not used any more. */
void file_watch_drop(
    const struct file_watch *watch, const struct interests *former);

/* Logs, once, if directories of these interests cannot be watched. */
void file_watch_warn(
    struct file_watch *watch, const struct interests *interests);

/* Ends the watch.  close_it: closes its descriptor as well; otherwise the job
 * that reads the files has to do so.  Does nothing if the watch was not
 * started. */
void file_watch_stop(struct file_watch *watch, bool close_it);

#endif
