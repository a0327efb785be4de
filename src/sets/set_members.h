/* SPDX-License-Identifier: MIT
 * The members of a set, and what a report of its source changes.  These
 * functions only compute: they use no clock, no model and no log.
 *
 *   members in use + report --> next members, and what is different
 *
 * A member is recognized by its address, else by its key, in whatever order the
 * members are reported, and keeps its number, from which its server's name is
 * made.  A new member gets the number that it had before, if that is still
 * free, or the lowest free one.
 */
#ifndef SETS_SET_MEMBERS_H
#define SETS_SET_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/spec.h"
#include "resolve/discovery.h"

struct set_member {
	char *key, *address, *options, *note;
	/* The options before these; NULL: no others were in use. */
	char *former_options;
	unsigned number;   /* from 1 */
	uint64_t since_ms; /* as passed to set_reconcile when the member came */
	bool joined;       /* likewise */
	/* The member has left the report.  Only its number is remembered, until
	 * another member gets it. */
	bool gone;
	bool same; /* address and options are as they were before the report */
	/* Why the options or the address cannot be used.  NULL: they can. */
	char *why;
};

/* Returns whether the member has a server. */
static inline bool
set_member_is_used(const struct set_member *member)
{
	return !member->gone && (!member->why || member->former_options);
}

struct set_members {
	struct set_member *all; /* by number */
	size_t n;
	size_t live; /* members that are not gone */
};

/* The differences that a report makes. */
struct set_change {
	size_t added, removed;
	size_t moved;          /* a key has another address: another server */
	size_t changed;        /* other options, at the same address */
	size_t excess;         /* left out: there are more than max */
	size_t twice;          /* left out: another key has the same address */
	const char *twice_key; /* the key of one of these, in the report */
};

/* Returns whether servers change. */
static inline bool
set_change_any(const struct set_change *change)
{
	return change->added + change->removed + change->moved +
	           change->changed >
	       0;
}

/* A report of a set's source. */
struct set_report {
	const struct discovered *all; /* borrowed */
	size_t n;
	unsigned max;    /* members that the set may have */
	uint64_t now_ms; /* since_ms of new members */
	bool joined;     /* likewise */
};

/* Compares the members with the report, in O(n log n).  If there are more than
 * max members, takes the first ones in the order of their keys, where digits
 * count as numbers, so that every lfproxy takes the same ones.  Returns false
 * when memory is short; otherwise the caller calls set_members_fini. */
bool set_reconcile(const struct set_members *now,
    const struct set_report *report, struct set_members *ret_next,
    struct set_change *ret_change) MUST_CHECK;

/* Returns whether the change has to be confirmed by a second report.  live: how
 * many members there are before it. */
bool set_needs_confirmation(
    enum set_confirm confirm, const struct set_change *change, size_t live);

/* Returns how many members have a server. */
size_t set_members_used(const struct set_members *members);

/* Frees the members, and leaves an empty set. */
void set_members_fini(struct set_members *members);

#endif
