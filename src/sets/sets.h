/* SPDX-License-Identifier: MIT
 * Sets of servers (`servers =`), whose members come and go as a source reports.
 *
 *   source --report--> compare --> changes of backends --> change_servers
 *                         |
 *                         +--> confirm: ask the source once more
 *
 * Equal sources of several sets are read once.  Reports that come within
 * SETS_PAUSE_MS make one model.  A source that cannot be read changes nothing:
 * its sets keep their members.
 *
 * All functions run on the control thread.  Only sets_begin, sets_prepare and
 * sets_check block: they read files that are not followed yet.
 */
#ifndef SETS_SETS_H
#define SETS_SETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/list.h"
#include "config/diff.h"
#include "loop/curl_loop.h"
#include "loop/task_timer.h"
#include "model/backend_servers.h"
#include "proxy/instance.h"

/* The time from a report to the change of the servers that follows from it. */
#define SETS_PAUSE_MS 50
/* The time after which a source is asked to confirm its report. */
#define SETS_CONFIRM_MS 500

/* Calls by which the layers above take part in changes of the sets. */
struct sets_hooks {
	/* Returns whether servers may change now. */
	bool (*may_change)(void *arg);
	/* Makes the changes of sets_make_changes, with all that depends on the
	 * servers.  Returns false with errors: then nothing has changed. */
	bool (*change_servers)(void *arg, struct err_list *errors);
	/* The servers have changed, and events have reported it. */
	void (*changed)(void *arg);
	void *arg;
};

struct sets {
	struct instance *instance;
	struct names *names; /* for sources in DNS */
	struct sets_hooks hooks;
	struct list sources, sets;
	struct list coming; /* between sets_prepare and sets_commit */
	struct timed_task work;
	struct curl_loop *curl; /* of sources over HTTP; NULL: none so far */
	bool started;
};

/* Reads the files of the spec's sets, and gives it their servers.  Called
 * before the first model is made of the spec, with instance, names and hooks
 * set.  Files that cannot be read are logged.  Returns false with err set when
 * memory is short. */
bool sets_begin(
    struct sets *sets, struct spec *spec, struct err *err) MUST_CHECK;

/* Begins to follow the sources. */
void sets_start(struct sets *sets);

/* Returns whether each set has had a report, or an error instead, and its
 * servers are in the model. */
bool sets_are_known(const struct sets *sets);

/* Ends all sets and their sources.  Accepts sets that have not begun. */
void sets_fini(struct sets *sets);

/* Gives the spec of a reload the servers of its sets: the present ones where a
 * set stays.  Adds to changes why files of new sets cannot be read.  Returns
 * false with errors: then nothing has changed.  Otherwise sets_commit or
 * sets_cancel follows. */
bool sets_prepare(struct sets *sets, struct spec *spec, struct changes *changes,
    struct err_list *errors) MUST_CHECK;
/* Puts the sets of sets_prepare in force, together with its spec. */
void sets_commit(struct sets *sets);
/* Undoes sets_prepare, whose spec is not used. */
void sets_cancel(struct sets *sets);

/* Prepares a change for each backend whose servers change, one after another in
 * `changes`, which has room for all backends of the present spec.  Called by
 * change_servers.  Returns false when memory is short; the caller cancels the
 * changes that are prepared, *ret_n of them. */
bool sets_make_changes(struct sets *sets, struct backend_change *changes,
    size_t *ret_n) MUST_CHECK;

/* Asks the sources of the backend's sets again; NULL: of all backends.  Returns
 * how many sets there are whose source was asked. */
size_t sets_refresh(struct sets *sets, const struct backend *backend);

/* A set, for people and metrics.  Texts are borrowed until the next report. */
struct set_facts {
	const char *backend, *prefix;
	const char *kind, *source; /* such as `file`, and its path */
	unsigned max;
	size_t members;  /* servers */
	size_t left_out; /* with wrong options, beyond max, reported twice */
	uint64_t reports, errors; /* of the source */
	uint64_t updates;         /* changes of its servers */
	bool is_known;            /* there was a report */
	uint64_t reported_ms;     /* clock_now_ms of the last; if is_known */
	const char *error; /* the last one; NULL: none since the report */
	bool waits;        /* a change waits to be confirmed */
};

/* Fills the facts about the i-th set, from 0, in the order in which the sets
 * came.  Returns false after the last one. */
bool sets_facts(const struct sets *sets, size_t i, struct set_facts *ret_facts);

/* Reads the files of the spec's sets, for `lfproxy -t`, and writes a warning
 * for each file that cannot be read and each member that could not be used. */
void sets_check(struct spec *spec, FILE *out);

#endif
