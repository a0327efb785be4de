/* SPDX-License-Identifier: MIT
 * `show closed`: the sessions that have ended, the latest first.
 */
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "commands/closed_row.h"
#include "commands/listing.h"
#include "commands/session_filter.h"
#include "commands/session_sort.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/time_text.h"
#include "proxy/proxy.h"

struct closed_listing {
	struct listing listing;
	struct session_filter names;
	uint64_t id;       /* 0: any */
	uint64_t since_ns; /* clock_now_ns */
	uint64_t last;     /* show at most this many */
	struct session_sort sort;
	struct closed_walk *walk;
};

static bool
closed_has_names(
    const struct session_filter *names, const struct closed_session *c)
{
	return session_filter_matches(names, closed_name(c, CLOSED_FRONTEND),
	    closed_name(c, CLOSED_BACKEND), closed_name(c, CLOSED_SERVER));
}

static bool
closed_is_wanted(const struct closed_listing *l, const struct closed_session *c)
{
	const struct session_record *s = &c->session;

	return (l->id == 0 || l->id == c->id) &&
	       session_filter_has_traffic(
	           &l->names, &s->client, s->bytes_in + s->bytes_out) &&
	       session_filter_has_cause(&l->names, s->reason) &&
	       closed_has_names(&l->names, c);
}

/* Returns the next session that is wanted, or NULL; *ret_end tells whether
 * there is none. */
static const struct closed_session *
next_wanted(struct closed_listing *l, bool *ret_end)
{
	const struct closed_session *c = closed_walk_next(l->walk);

	*ret_end = !c || c->ended_ns < l->since_ns;
	return *ret_end || !closed_is_wanted(l, c) ? NULL : c;
}

/* Keeps a session that is wanted until all have been found. */
static bool
collect_closed(struct closed_listing *l, const struct closed_session *c)
{
	const struct session_record *s = &c->session;
	struct closed_session *copy = malloc(sizeof(*copy));
	struct session_ranked row = {.id = c->id, .record = copy};

	if (!copy)
		return false;
	*copy = *c;
	row.key = session_sort_key(
	    &l->sort, s->bytes_in, s->bytes_out, (uint64_t)s->total_ms);
	return session_sort_add(&l->sort, &row, l->last);
}

/* Tells since when the answer is complete, if sessions of its time are not kept
 * any more. */
static void
put_closed_loss(struct closed_listing *l)
{
	uint64_t lost_ns = closed_walk_lost_ns(l->walk);
	uint64_t ago_us = (clock_now_ns() - lost_ns) / NS_PER_US;
	char time[TIME_TEXT_SIZE];

	if (lost_ns > l->since_ns && l->id == 0)
		report_text(&l->listing.report,
		    "# complete since %s: earlier sessions are not kept; see "
		    "show failures, or raise closed_sessions\n",
		    time_text(TIME_RFC3339, clock_wall_us() - ago_us, 3, time));
}

/* Writes the next session of those that were collected. */
static bool
put_collected(struct closed_listing *l)
{
	const struct session_ranked *row = session_sort_next(&l->sort);

	if (!row || l->sort.next > l->last)
		return false;
	closed_row_put(&l->listing.report, row->record);
	return true;
}

static bool
closed_step(void *listing, const struct command_env *env)
{
	struct closed_listing *l = listing;
	const struct closed_session *c;
	bool end;

	(void)env;
	if (l->sort.collected)
		return put_collected(l);
	if (l->last == 0)
		return false;
	c = next_wanted(l, &end);
	if (end) {
		put_closed_loss(l);
		return l->sort.key != SESSION_UNSORTED && put_collected(l);
	}
	if (c && l->sort.key != SESSION_UNSORTED)
		return collect_closed(l, c) || listing_oom(&l->listing);
	if (c) {
		closed_row_put(&l->listing.report, c);
		l->last--;
	}
	return true;
}

static void
closed_fini(void *listing)
{
	struct closed_listing *l = listing;

	closed_walk_free(l->walk);
	session_sort_fini(&l->sort);
}

static bool
take_closed_age(struct call *call, struct closed_listing *l, const char *age)
{
	uint64_t now_ns = clock_now_ns(), ms;

	if (!session_filter_once(call, &l->names, "last") ||
	    !call_age(call, "last", age, &ms))
		return false;
	if (ms < now_ns / 1000000)
		l->since_ns = now_ns - ms * 1000000;
	return true;
}

/* Takes the number of sessions to show, or the id of one. */
static bool
take_closed_number(
    struct call *call, struct closed_listing *l, const char *word)
{
	if (strncmp(word, "0x", 2) == 0 &&
	    strspn(word + 2, "0123456789abcdefABCDEF") == strlen(word + 2)) {
		l->id = strtoull(word, NULL, 16);
		return l->id > 0 || err_set(call->err, "Session not found.");
	}
	if (l->last == CLOSED_SESSIONS_MAX &&
	    text_parse_number(word, 1, CLOSED_SESSIONS_MAX, &l->last, NULL))
		return true;
	return err_set(call->err,
	    "Unexpected argument '%s'; this command takes how many, 1 to %d, "
	    "or the pointer of a session, cause <cause>, client <range>, "
	    "min-bytes <size>, last <age>, frontend "
	    "<name>, backend <name>, server <backend>/<server>, sort <key>, "
	    "and json.",
	    word, CLOSED_SESSIONS_MAX);
}

/* Takes a word.  *ret_taken: the value belongs to the word. */
static bool
take_closed_word(struct call *call, struct closed_listing *l, const char *word,
    const char *value, bool *ret_taken)
{
	*ret_taken = true;
	if (strcmp(word, "last") == 0)
		return take_closed_age(call, l, value);
	if (!session_filter_take(call, &l->names, word, value, ret_taken))
		return false;
	if (*ret_taken)
		return true;
	if (!session_sort_take(call, &l->sort, word, value, ret_taken))
		return false;
	return *ret_taken ? session_filter_once(call, &l->names, word)
	                  : take_closed_number(call, l, word);
}

static bool
take_closed_words(struct call *call, struct closed_listing *l)
{
	bool taken;

	l->last = CLOSED_SESSIONS_MAX;
	l->names.has_causes = l->names.has_traffic = true;
	for (unsigned i = 0; *call_arg(call, i); i += 1 + taken)
		if (!take_closed_word(call, l, call_arg(call, i),
		        call_arg(call, i + 1), &taken))
			return false;
	return true;
}

/* Returns whether a kept session had these names, which may have been removed
 * from the configuration since then. */
static bool
are_closed_names(
    const struct closed_rings *rings, const struct session_filter *names)
{
	struct closed_walk *walk = closed_walk_new(rings);
	const struct closed_session *c;
	bool found = false;

	while (walk && !found && (c = closed_walk_next(walk)))
		found = closed_has_names(names, c);
	closed_walk_free(walk);
	return found;
}

static bool
closed_begin(struct call *call, struct closed_listing *l)
{
	const struct closed_rings *rings = &call->env->instance->proxy.closed;

	l->walk = closed_walk_new(rings);
	if (!l->walk)
		return err_oom(call->err);
	if (!take_closed_words(call, l) ||
	    (!session_filter_check(call, &l->names) &&
	        !are_closed_names(rings, &l->names)))
		return false;
	return rings->keep > 0 ||
	       err_set(call->err,
	           "No sessions are remembered: closed_sessions is 0.");
}

bool
run_show_closed(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct closed_listing),
	    .head = "",
	    .step = closed_step,
	    .fini = closed_fini,
	};
	struct closed_listing *l =
	    listing_new(call, &kind, call_take_json(call));

	if (!l)
		return false;
	l->listing.report.none = "<none>";
	return listing_answer(call, &l->listing, closed_begin(call, l));
}
