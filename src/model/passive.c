/* SPDX-License-Identifier: MIT
 * See passive.h.
 */
#include "model/passive.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "model/ejection.h"
#include "model/model.h"

/* The least time between two events about failures of a server. */
#define TELL_EVERY_MS 1000

#define FAILURE_TEXT_SIZE 96

/* Counts a failure of a kind that counts.  Returns how many there were in a
 * row, or 0. */
static uint32_t
count_failure(uint32_t *in_row, bool with_resets, enum failure how)
{
	if (how == FAILURE_RESET && !with_resets)
		return 0;
	return atomic_add_relaxed(in_row, 1u) + 1;
}

bool
server_note_failure(struct server *server, enum failure how, int error)
{
	struct passive *p = &server->state->passive;
	const struct backend_spec *spec = server->backend->spec;
	uint32_t in_row =
	    count_failure(&p->in_row, spec->eject_on == EJECT_ON_RESET, how);
	uint32_t errors =
	    count_failure(&p->errors, spec->observe == OBSERVE_RESET, how);
	bool ejects = in_row > 0 && spec->eject_after > 0 &&
	              in_row % spec->eject_after == 0;

	atomic_store_relaxed(&p->last, (uint32_t)how << 16 | (uint32_t)error);
	if (!ejects && !(spec->observe != OBSERVE_OFF && errors > 0 &&
	                   errors >= spec->error_limit))
		return false;
	/* The counts are written before the notice. [P20] */
	if (!atomic_swap_acq_rel(&p->noticed, 1u))
		model_notify(server->backend->model);
	return ejects;
}

static const char *
failure_text(uint32_t last, char out[FAILURE_TEXT_SIZE])
{
	int error = (int)(last & 0xffff);

	if (last >> 16 == FAILURE_RESET)
		snprintf(out, FAILURE_TEXT_SIZE, "broken off before an answer");
	else
		snprintf(out, FAILURE_TEXT_SIZE, "%s", strerror(error));
	return out;
}

static bool
may_report(struct passive *p, uint64_t now_ms)
{
	if (p->told_ms > 0 && now_ms < p->told_ms + TELL_EVERY_MS)
		return false;
	p->told_ms = now_ms;
	return true;
}

static void
report_errors(struct server *server, unsigned limit, uint64_t now_ms)
{
	static const char *const outcomes[] = {
	    [ON_ERROR_FAST_CHECK] = "it is checked soon",
	    [ON_ERROR_FAIL_CHECK] = "counted as a failed check",
	    [ON_ERROR_SUDDEN_DEATH] = "one more failed check and it is down",
	    [ON_ERROR_MARK_DOWN] = "marked down",
	};
	_Static_assert(
	    ON_ERROR_MARK_DOWN + 1 == sizeof(outcomes) / sizeof(outcomes[0]),
	    "an outcome each");
	struct passive *p = &server->state->passive;
	const struct backend_spec *b = server->backend->spec;
	char last[FAILURE_TEXT_SIZE];

	if (may_report(p, now_ms))
		event_add(EVENT_SERVER_ERRORS, LOG_LEVEL_WARNING, b->name,
		    server->spec->name,
		    "server %s/%s: %u error%s in a row, the last: %s; %s",
		    b->name, server->spec->name, limit, text_s(limit),
		    failure_text(atomic_load_relaxed(&p->last), last),
		    outcomes[b->on_error]);
}

/* Counts as a failed check.  After sudden_death one more failure takes the
 * server down; mark_down takes it down at once. */
static void
fail_check(struct server *server, unsigned limit)
{
	struct server_state *s = server->state;
	const struct backend_spec *b = server->backend->spec;
	struct check_result result = {.status = CHECK_STATUS_HANA};
	char last[FAILURE_TEXT_SIZE];
	unsigned fall = server->check.fall;

	if (b->on_error == ON_ERROR_MARK_DOWN)
		s->streak = fall - 1;
	else if (b->on_error == ON_ERROR_SUDDEN_DEATH && s->streak + 1 < fall)
		s->streak = fall - 2;
	snprintf(result.text, sizeof(result.text), "%u error%s in a row: %s",
	    limit, text_s(limit),
	    failure_text(atomic_load_relaxed(&s->passive.last), last));
	(void)server_report_check(server, &result);
}

static bool
observe_errors(struct server *server, uint64_t now_ms)
{
	struct passive *p = &server->state->passive;
	const struct backend_spec *b = server->backend->spec;

	if (b->observe == OBSERVE_OFF || !server->check.on ||
	    atomic_load_relaxed(&p->errors) < b->error_limit)
		return false;
	atomic_store_relaxed(&p->errors, 0u);
	if (!server->state->up || server_own_admin(server) == SERVER_MAINT)
		return false;
	p->times_observed++;
	report_errors(server, b->error_limit, now_ms);
	if (b->on_error != ON_ERROR_FAST_CHECK)
		fail_check(server, b->error_limit);
	return true;
}

static void
consider_ejection(struct server *server, uint64_t now_ms)
{
	struct passive *p = &server->state->passive;
	const struct backend_spec *b = server->backend->spec;
	uint32_t in_row = atomic_load_relaxed(&p->in_row);
	char last[FAILURE_TEXT_SIZE];
	const char *why_not;

	if (b->eject_after == 0 || in_row < b->eject_after ||
	    !server_is_usable(server))
		return;
	failure_text(atomic_load_relaxed(&p->last), last);
	why_not = ejection_refusal(server->backend);
	if (!why_not)
		server_eject(server, in_row, last, now_ms);
	else if (may_report(p, now_ms))
		event_add(EVENT_SERVER_ERRORS, LOG_LEVEL_WARNING, b->name,
		    server->spec->name,
		    "server %s/%s: %u failure%s in a row; it is not ejected, "
		    "as %s",
		    b->name, server->spec->name, in_row, text_s(in_row),
		    why_not);
}

bool
server_review(struct server *server, uint64_t now_ms)
{
	bool soon;

	if (!atomic_swap_acq_rel(&server->state->passive.noticed, 0u))
		return false; /* [P20] */
	soon = observe_errors(server, now_ms);
	consider_ejection(server, now_ms);
	return soon;
}
