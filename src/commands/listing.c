/* SPDX-License-Identifier: MIT
 * See listing.h.
 */
#include "commands/listing.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/list.h"

static bool
listing_continue(
    struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct listing *l = container_of(rest, struct listing, rest);
	uint64_t end_ns = clock_now_ns() + ANSWER_PART_NS;

	l->report.out = out;
	do
		if (!l->kind->step(l, env)) {
			report_end(&l->report);
			return false;
		}
	while (rest->pause_ms == 0 && ftell(out) < ANSWER_PART_SIZE &&
	       clock_now_ns() < end_ns);
	return true;
}

static void
listing_free(struct answer_rest *rest)
{
	struct listing *l = container_of(rest, struct listing, rest);

	if (l->kind->fini)
		l->kind->fini(l);
	free(l);
}

void *
listing_new(struct call *call, const struct listing_kind *kind, bool json)
{
	struct listing *l = calloc(1, kind->size);

	if (!l) {
		err_oom(call->err);
		return NULL;
	}
	l->rest = (struct answer_rest){
	    .more = listing_continue, .free = listing_free};
	l->kind = kind;
	report_begin(&l->report, json, call->out);
	return l;
}

bool
listing_oom(struct listing *listing)
{
	listing->rest.failed = true;
	report_text(&listing->report, "Out of memory.\n");
	return false;
}

bool
listing_answer(struct call *call, struct listing *listing, bool ok)
{
	if (!ok) {
		listing_free(&listing->rest);
		return false;
	}
	if (listing->kind->head)
		report_head(&listing->report, listing->kind->head);
	call->rest = &listing->rest;
	return true;
}
