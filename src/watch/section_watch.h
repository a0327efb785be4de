/* SPDX-License-Identifier: MIT
 * Sections that follow their files without a reload: lists and certificates.
 *
 *   inotify --> settle --> read by the worker --> put in force, if all is good
 *
 * A section changes as a whole or not at all.  If its files cannot be used, the
 * section stays as it is, which is logged once, and the files are read again
 * every minute.
 *
 * All functions run on the control thread and do not block.
 */
#ifndef WATCH_SECTION_WATCH_H
#define WATCH_SECTION_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/events.h"
#include "base/file_watch.h"
#include "base/interests.h"
#include "base/list.h"
#include "base/worker.h"
#include "loop/task_timer.h"

struct section_load;

/* A section, at the head of a struct of its kind. */
struct watched_section {
	struct list node;
	const char *name;
	const void *source; /* what reads the files: a context or a recipe */
	struct interests interests;
	bool due;       /* has to be read */
	bool was_read;  /* since the source was made */
	bool failed;    /* at its last reading */
	struct err err; /* if failed */
};

/* Reading the files of a section, at the head of a struct of its kind. */
struct section_reading {
	const void *source;
	struct interests interests;
	bool ok;
	struct err err; /* unless ok */
};

/* A kind of sections. */
struct watched_kind {
	const char *section; /* as `tls` */
	const char *files;   /* in words, as `certificates` */
	enum event_kind changed, refused;
	/* The time without changes after which files are read: programs write
	 * several files one after the other.  Files that change all the time
	 * are read after ten times as long. */
	uint64_t settle_ms;
	struct work_queue *queue;
	bool drops_in_job; /* drop may run in a job, and takes long */

	size_t reading_size; /* of its struct */
	/* Takes the references that the reading needs. */
	void (*begin)(
	    struct watched_section *section, struct section_reading *reading);
	/* Adds the files to the search.  Runs in a job. */
	void (*find)(
	    struct section_reading *reading, struct interests_search *search);
	/* Reads the files, once more if need be, and sets ok.  Runs in a job.
	 */
	void (*read)(struct section_reading *reading);
	/* Puts what was read in force.  Returns false if that is in force
	 * already.  Sets due if the files have to be read again. */
	bool (*apply)(
	    struct watched_section *section, struct section_reading *reading);
	/* Frees what the reading still owns. */
	void (*drop)(struct section_reading *reading);
	/* Frees the section. */
	void (*free)(struct watched_section *section);
};

struct section_watch {
	const struct watched_kind *kind;
	struct file_watch files;
	struct timed_task retry;
	struct list sections, former;
	struct section_load *load; /* the worker's; NULL: none */
	/* Called when what was read is in force; NULL: no function. */
	void (*changed)(void *arg);
	void *arg;
};

/* Starts the watch, without sections. */
void section_watch_start(struct section_watch *watch,
    const struct watched_kind *kind, struct ev_loop *loop,
    struct task_timer *timer);

/* Begins to replace the sections. */
void section_watch_begin(struct section_watch *watch);

/* Returns whether the section has to be added: without inotify, which is
 * logged, only reloads read changed files, and a section with the same source
 * stays. */
bool section_watch_misses(struct section_watch *watch, const void *source);

/* Adds a section, which is read soon: its files may have changed since its
 * source was made.  Takes ownership.  NULL is allowed. */
void section_watch_add(
    struct section_watch *watch, struct watched_section *section);

/* Frees the sections that have not stayed, and begins to read new ones. */
void section_watch_end(struct section_watch *watch);

/* Ends the watch. */
void section_watch_fini(struct section_watch *watch);

/* Returns why the files of the section cannot be used, so that what it had
 * before stays in force; NULL if they can be used. */
const char *section_watch_failure(
    const struct section_watch *watch, const char *name);

#endif
