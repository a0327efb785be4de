/* SPDX-License-Identifier: MIT
 * Listings: long reports, written in parts as the client reads them (see
 * struct answer_rest).  A command puts a struct listing at the head of its own
 * struct:
 *
 *	struct listing *l = listing_new(call, &things_kind, json);
 *
 *	if (!l)
 *		return false;
 *	return listing_answer(call, l, take_filters(call, l));
 */
#ifndef COMMANDS_LISTING_H
#define COMMANDS_LISTING_H

#include "commands/call.h"
#include "commands/report.h"

struct listing;

struct listing_kind {
	size_t size;      /* of the command's struct */
	const char *head; /* for report_head; NULL: the command begins */
	/* Writes the next row, or nothing: some rows are filtered out.
	 * Returns false after the last one; the report is ended then. */
	bool (*step)(struct listing *listing, const struct command_env *env);
	/* Frees what the command's struct owns; may be NULL. */
	void (*fini)(struct listing *listing);
	/* The most steps in one part, which may be empty: some 200 us. */
	unsigned steps_max;
};

struct listing {
	struct answer_rest rest;
	const struct listing_kind *kind;
	struct report report;
};

/* Returns a command's struct, zeroed but for the listing, or NULL with
 * call->err set.  The report writes to call->out at first. */
struct listing *listing_new(
    struct call *call, const struct listing_kind *kind, bool json) MUST_CHECK;

/* Begins the answer with the listing if ok, else frees it.  Returns ok. */
bool listing_answer(
    struct call *call, struct listing *listing, bool ok) MUST_CHECK;

#endif
