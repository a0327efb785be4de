/* SPDX-License-Identifier: MIT
 * State that the files of the sets share.  Included by them only.
 */
#ifndef CONTROL_SETS_INTERNAL_H
#define CONTROL_SETS_INTERNAL_H

#include "control/control_internal.h"
#include "control/set_members.h"
#include "control/sets.h"

/* The source of one or several sets. */
struct set_source {
	struct list node;
	struct control *control;
	struct set_spec what;        /* the source, with its options; owned */
	struct discovery *discovery; /* NULL: not started, or it failed */
	struct timed_task confirm;
	/* The last report, in one block; NULL: none yet. */
	struct discovered *report;
	size_t n;
	uint64_t reported_ms;
	uint64_t reports, errors;
	char *error; /* the last one; NULL: none since the report */
	unsigned users;
};

struct server_set {
	struct list node;
	char *backend, *prefix;
	struct set_source *source;
	struct set_members members, next;
	bool has_next;
	struct set_change change; /* that leads to next */
	bool due;                 /* to be compared with the report */
	bool keep;                /* in sets_prepare: the spec has it */
	/* A change has to be confirmed by a report with a higher number than
	 * this, UINT64_MAX: none has to. */
	uint64_t waits_for;
	uint64_t updates;
	bool told_excess, told_twice; /* logged, until there are none */
};

#define for_each_set(s, list)                                                  \
	list_for_each_safe (s##_node, list)                                    \
		for (struct server_set *s =                                    \
		         container_of(s##_node, struct server_set, node);      \
		     s; s = NULL)

/* -- sets_fill.c -- */

#define SET_TEXT_SIZE 256
/* Writes the source as `file=/path`.  Returns out. */
const char *set_source_text(
    const struct set_spec *set, char out[SET_TEXT_SIZE]);

/* Returns the set of that list which the spec describes, or NULL. */
struct server_set *set_find(struct list *sets, const struct backend_spec *b,
    const struct set_spec *spec);
/* Returns the set as it is to be, or as it is; or NULL. */
struct server_set *set_of(struct control *control, const struct backend_spec *b,
    const struct set_spec *spec);

/* Gives backends of the spec the servers of their sets: the members to come
 * where a set has some, else the present ones.  all: all backends, else those
 * with members to come.  Returns false when memory is short. */
bool sets_fill_spec(struct control *control, struct spec *spec, bool all);

/* -- changes, in two turns of the loop: sets_update.c -- */

/* Drops the members to come. */
void set_drop_next(struct server_set *set);
/* Makes the members to come the members. */
void set_adopt_next(struct server_set *set);
/* Drops the members to come of all sets. */
void sets_drop_all_next(struct control *control);

/* The first turn: makes the spec for all sets with members to come. */
void sets_make_spec(struct control *control);
/* The second: makes a model of it, which sessions find from then on. */
void sets_apply_spec(struct control *control);
/* Drops the spec of the first turn, which is out of date: its sets are compared
 * again. */
void sets_forget_made(struct control *control);
/* Ends the step between the two.  Returns the spec, the caller's. */
struct spec *sets_take_made(struct control *control);

/* -- sources: set_source.c -- */

/* Returns the source of the set, which another set may have already; NULL when
 * memory is short. */
struct set_source *set_source_take(
    struct control *control, const struct set_spec *set);

/* Drops a reference; the last one frees the source. */
void set_source_drop(struct set_source *source);

/* Whether the set is read from that source. */
bool set_source_is_of(
    const struct set_source *source, const struct set_spec *set);

/* Begins to follow the source, if it is not followed.  A failure is logged, and
 * tried again at the next reload. */
void set_source_open(struct set_source *source);

/* Reads a file that has not been read yet.  Blocks.  Failures are noted as
 * those of the source. */
void set_source_read(struct set_source *source);

/* -- what is made of them: sets.c -- */

/* The source has another report. */
void sets_note_report(struct control *control, struct set_source *source);

#endif
