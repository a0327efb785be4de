/* SPDX-License-Identifier: MIT
 * State that the files of the sets share.  Included by them only.
 */
#ifndef SETS_SETS_INTERNAL_H
#define SETS_SETS_INTERNAL_H

#include "sets/set_members.h"
#include "sets/sets.h"

/* The source of one or several sets. */
struct set_source {
	struct list node;
	struct sets *sets;
	struct set_spec what;        /* the source, with its options; owned */
	struct discovery *discovery; /* NULL: not started, or it failed */
	struct timed_task confirm;
	/* The last report, in one block; NULL: none yet.  n members, and behind
	 * them what is wrong. */
	struct discovered *report;
	size_t n, wrong_n;
	uint64_t reported_ms;
	uint64_t reports, errors;
	char *error; /* the last one; NULL: none since the report */
	unsigned users;
};

/* Whether a set makes its next change at once.
 *
 *   SETTLED --the change has to be confirmed--> UNCONFIRMED
 *      ^                                            |
 *      +-- a later report confirms it, or has none -+
 */
enum set_state {
	SET_SETTLED,
	SET_UNCONFIRMED, /* a later report than `unconfirmed` is awaited */
};

struct server_set {
	struct list node;
	char *backend, *prefix;
	struct set_source *source;
	struct set_members members, next;
	bool has_next;
	struct set_change change; /* what next changes */
	bool due;                 /* has to be compared with the report */
	bool keep;                /* in sets_prepare: the spec has this set */
	enum set_state state;
	uint64_t unconfirmed; /* UNCONFIRMED: the number of the report that has
	                       * brought the change */
	uint64_t updates;
	bool told_excess, told_twice; /* logged; reset when there are none */
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

/* Returns the set in that list that the spec describes, or NULL. */
struct server_set *set_find(struct list *sets, const struct backend_spec *b,
    const struct set_spec *spec);
/* Returns the set that sets_prepare has made for the spec, or else the present
 * one, or NULL. */
struct server_set *set_of(struct sets *sets, const struct backend_spec *b,
    const struct set_spec *spec);

/* Gives the backends of a spec that was just read the servers of their sets:
 * the next members of a set that has some, else its present ones.  Returns
 * false when memory is short. */
bool sets_fill_spec(struct sets *sets, struct spec *spec);

/* Makes the list of the backend's servers, one of the present spec, for
 * backend_change_prepare.  Returns false when memory is short. */
bool sets_list_servers(struct sets *sets, struct spec *spec,
    struct backend_spec *backend, struct server_spec ***ret_list,
    size_t *ret_n) MUST_CHECK;

/* -- changes: sets_update.c -- */

/* Drops the next members. */
void set_drop_next(struct server_set *set);
/* Makes the next members the present ones. */
void set_adopt_next(struct server_set *set);
/* Drops the next members of all sets. */
void sets_drop_all_next(struct sets *sets);

/* Changes the servers of the model as all sets with next members say. */
void sets_apply_next(struct sets *sets);

/* -- sources: set_source.c -- */

/* Returns a reference to the source of the set, which may be another set's as
 * well, or NULL when memory is short. */
struct set_source *set_source_take(
    struct sets *sets, const struct set_spec *set);

/* Drops a reference; the last one frees the source. */
void set_source_drop(struct set_source *source);

/* Returns whether the set is read from that source. */
bool set_source_is_of(
    const struct set_source *source, const struct set_spec *set);

/* Begins to follow the source, if it is not followed yet.  A failure is logged;
 * the next reload tries again. */
void set_source_open(struct set_source *source);

/* Reads the file of a source that has not been read yet.  Does nothing for
 * other sources.  Blocks on the disk.  Failures are noted as errors of the
 * source. */
void set_source_read(struct set_source *source);

/* -- sets: sets.c -- */

/* Notes that the source has another report, and schedules the comparison of its
 * sets. */
void sets_note_report(struct sets *sets, struct set_source *source);

#endif
