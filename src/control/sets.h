/* SPDX-License-Identifier: MIT
 * Sets of servers, which come and go as a source says: `servers =`.
 *
 *   source --report--> compare --> a copy of the spec | model --> publish
 *                         |                           |    (edit.h)
 *                         +--> confirm: ask the source once more
 *
 * Equal sources of several sets are read once.  Reports that come within
 * SETS_PAUSE_MS make one model, in two turns of the loop; a model that comes in
 * between, by a reload or a command, has the sets compared again.  A source
 * that cannot be read changes nothing: its sets keep what they have.
 *
 * All functions run on the control thread.  Only sets_begin, sets_prepare and
 * sets_check block, for files that are not followed yet.
 */
#ifndef CONTROL_SETS_H
#define CONTROL_SETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/list.h"
#include "base/memory_use.h"
#include "config/diff.h"
#include "control/task_timer.h"
#include "model/model.h"
#include "net/curl_loop.h"

/* The time from a report to the model that is made of it. */
#define SETS_PAUSE_MS 50
/* The time after which a source is asked to confirm its report. */
#define SETS_CONFIRM_MS 500

struct control;

struct sets {
	struct list sources, sets;
	struct list coming; /* between sets_prepare and its end */
	struct timed_task work;
	/* From one turn to the next: the spec with the members to come, and the
	 * model that it was copied from, pinned; NULL: none. */
	struct spec *made;
	struct model *made_from;
	struct curl_loop *curl; /* of sources over HTTP; NULL: none so far */
	bool started;
};

/* Reads the files of the spec's sets, and gives it their servers, before the
 * first model is made of it; what cannot be read is logged.  Returns false with
 * err set when memory is short. */
bool sets_begin(
    struct control *control, struct spec *spec, struct err *err) MUST_CHECK;

/* Begins to follow the sources. */
void sets_start(struct control *control);

/* Whether each set has had a report, or an error instead, and its servers are
 * in the model. */
bool sets_are_known(const struct control *control);

/* Accepts sets that have not begun. */
void sets_fini(struct control *control);

/* For a reload: gives a spec that was just read the servers of its sets, those
 * in use where the set stays.  Says in changes what does not follow from the
 * file.  sets_commit or sets_cancel follows.  Returns false after an error;
 * then nothing follows. */
bool sets_prepare(struct control *control, struct spec *spec,
    struct changes *changes, struct err_list *errors) MUST_CHECK;
/* The spec is in force. */
void sets_commit(struct control *control);
/* The spec is not used. */
void sets_cancel(struct control *control);

/* Asks all sources of the backend (NULL: of every backend) again.  Returns how
 * many there are. */
size_t sets_refresh(struct control *control, const struct backend *backend);

/* A set, for people and metrics.  Texts are borrowed until the next report. */
struct set_facts {
	const char *backend, *prefix;
	const char *kind, *source; /* `file`, and the path */
	unsigned max;
	size_t members;  /* servers */
	size_t left_out; /* members with wrong options; beyond max; twice */
	uint64_t reports, errors; /* of the source */
	uint64_t updates;         /* models that were made for the set */
	bool is_known;            /* there was a report */
	uint64_t reported_ms;     /* clock_now_ms: the last one; if is_known */
	const char *error; /* the last one; NULL: none since the report */
	bool waits;        /* a change waits to be confirmed */
};

/* Fills the facts about the i-th set, in the order in which they came.  Returns
 * false behind the last one. */
bool sets_facts(
    const struct control *control, size_t i, struct set_facts *ret_facts);

/* Adds the memory of the sets and of what was reported. */
void sets_memory(const struct control *control, struct memory_use *use);

/* For `lfproxy -t`: reads the files of the spec's sets, and writes a warning
 * for each that cannot be read and each member that could not be used. */
void sets_check(struct spec *spec, FILE *out);

#endif
