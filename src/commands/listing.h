/* SPDX-License-Identifier: MIT
 * Listings: long reports, written in parts as the client reads them (see
 * struct answer_rest).  A command puts a struct listing at the head of its own
 * struct:
 *
 *	struct thing_listing *l = listing_new(call, &things_kind, json);
 *
 *	return l && listing_answer(call, &l->listing, take_filters(call, l));
 *
 * Answers that have to wait are listings, too: their step writes nothing and
 * sets rest.pause_ms until it answers.
 */
#ifndef COMMANDS_LISTING_H
#define COMMANDS_LISTING_H

#include "commands/call.h"
#include "commands/report.h"

struct listing_kind {
	size_t size;      /* of the command's struct */
	const char *head; /* for report_head; NULL: not called */
	/* Writes the next row, or nothing: some rows are filtered out.
	 * Returns false after the last one; the report is ended then. */
	bool (*step)(void *listing, const struct command_env *env);
	/* Frees what the command's struct owns; may be NULL. */
	void (*fini)(void *listing);
};

struct listing {
	struct answer_rest rest;
	const struct listing_kind *kind;
	struct report report;
};

/* Returns a command's struct, zeroed but for the listing, or NULL with
 * call->err set.  The report writes to call->out at first. */
void *listing_new(
    struct call *call, const struct listing_kind *kind, bool json) MUST_CHECK;

/* Ends an answer that cannot go on for want of memory, for a step: returns
 * false. */
bool listing_oom(struct listing *listing);

/* Begins the answer with the listing if ok, else frees it.  Returns ok. */
bool listing_answer(
    struct call *call, struct listing *listing, bool ok) MUST_CHECK;

#endif
