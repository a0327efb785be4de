/* SPDX-License-Identifier: MIT
 * See passive.h.
 */
#include "model/passive.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "model/model.h"

/* Events that failures alone could make are this far apart. */
#define TELL_EVERY_MS 1000

#define FAILURE_TEXT_SIZE 96

bool
server_note_failure(struct server *server, enum failure how, int error)
{
	struct passive *p = &server->state->passive;
	const struct backend_spec *spec = server->backend->spec;
	uint32_t in_row = atomic_add_relaxed(&p->in_row, 1u) + 1;
	uint32_t errors = atomic_add_relaxed(&p->errors, 1u) + 1;
	bool ejects = spec->eject_after > 0 && in_row % spec->eject_after == 0;

	atomic_store_relaxed(&p->last, (uint32_t)how << 16 | (uint32_t)error);
	if (!ejects &&
	    !(spec->observe == OBSERVE_CONNECT && errors >= spec->error_limit))
		return false;
	/* The counts before the notice. [P20] */
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
may_tell(struct passive *p, uint64_t now_ms)
{
	if (p->told_ms > 0 && now_ms < p->told_ms + TELL_EVERY_MS)
		return false;
	p->told_ms = now_ms;
	return true;
}

static void
tell_errors(struct server *server, unsigned limit, uint64_t now_ms)
{
	static const char *const outcomes[] = {
	    [ON_ERROR_FAST_CHECK] = "it is checked soon",
	    [ON_ERROR_FAIL_CHECK] = "counted as a failed check",
	    [ON_ERROR_SUDDEN_DEATH] = "one more failed check and it is down",
	    [ON_ERROR_MARK_DOWN] = "marked down",
	};
	struct passive *p = &server->state->passive;
	const struct backend_spec *b = server->backend->spec;
	char last[FAILURE_TEXT_SIZE];

	if (may_tell(p, now_ms))
		event_add(EVENT_SERVER_ERRORS, LOG_LEVEL_WARNING, b->name,
		    server->spec->name,
		    "server %s/%s: %u error%s in a row, the last: %s; %s",
		    b->name, server->spec->name, limit, text_s(limit),
		    failure_text(atomic_load_relaxed(&p->last), last),
		    outcomes[b->on_error]);
}

/* As failed checks, of which sudden_death leaves one to go, mark_down none. */
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
observe(struct server *server, uint64_t now_ms)
{
	struct passive *p = &server->state->passive;
	const struct backend_spec *b = server->backend->spec;

	if (b->observe != OBSERVE_CONNECT || !server->check.on ||
	    atomic_load_relaxed(&p->errors) < b->error_limit)
		return false;
	atomic_store_relaxed(&p->errors, 0u);
	if (!server->state->up || server_own_admin(server) == SERVER_MAINT)
		return false;
	p->times_observed++;
	tell_errors(server, b->error_limit, now_ms);
	if (b->on_error != ON_ERROR_FAST_CHECK)
		fail_check(server, b->error_limit);
	return true;
}

bool
server_is_ejected(const struct server *server)
{
	return server->state->passive.ejected &&
	       server->backend->spec->eject_after > 0;
}

/* How many of the backend's servers are ejected, and how many are usable. */
static void
count(const struct backend *b, size_t *ret_ejected, size_t *ret_usable)
{
	size_t ejected = 0, usable = 0;

	for (size_t i = 0; i < b->spec->servers_n; i++) {
		ejected += server_is_ejected(b->servers[i]);
		usable += server_is_usable(b->servers[i]);
	}
	*ret_ejected = ejected;
	*ret_usable = usable;
}

/* NULL: it may. */
static const char *
why_not_eject(const struct backend *b)
{
	size_t ejected, usable, most;

	count(b, &ejected, &usable);
	most = b->spec->servers_n * b->spec->eject_max_percent / 100;
	if (usable < 2)
		return "no other server is usable";
	if (ejected > 0 && ejected + 1 > most)
		return "eject_max_percent of the backend are";
	return NULL;
}

static uint64_t
next_time_ms(struct passive *p, const struct backend_spec *b, uint64_t now_ms)
{
	uint64_t calm = (now_ms - p->back_ms) / b->eject_time_ms;
	uint64_t time_ms = b->eject_time_ms;

	p->level = (calm < p->level ? p->level - (unsigned)calm : 0) + 1;
	for (unsigned i = 1; i < p->level && time_ms < b->eject_time_max_ms;
	     i++)
		time_ms *= 2;
	return time_ms < b->eject_time_max_ms ? time_ms : b->eject_time_max_ms;
}

/* The caller tells why, and then calls backend_tell. */
static void
rebuild(const struct server *server)
{
	if (backend_rebuild_untold(server->backend) < 0)
		log_error("out of memory: backend %s keeps choosing from its "
		          "former servers",
		    server->backend->spec->name);
}

static void
eject(struct server *server, uint32_t in_row, uint64_t now_ms)
{
	struct passive *p = &server->state->passive;
	const struct backend *b = server->backend;
	uint64_t time_ms = next_time_ms(p, b->spec, now_ms);
	char text[FAILURE_TEXT_SIZE], limit[TEXT_DURATION_SIZE];
	char what[EVENT_TEXT_SIZE];

	p->ejected = true;
	p->ejected_ms = now_ms;
	p->until_ms = now_ms + time_ms;
	p->passes = 0;
	p->times_ejected++;
	server->state->changed_ms = now_ms;
	rebuild(server);
	snprintf(what, sizeof(what),
	    "is ejected for %s: %u failure%s in a row, the last: %s",
	    text_duration(time_ms, limit), in_row, text_s(in_row),
	    failure_text(atomic_load_relaxed(&p->last), text));
	server_tell(server, EVENT_SERVER_EJECTED, LOG_LEVEL_WARNING, what);
	backend_tell(server->backend);
}

static void
consider_ejection(struct server *server, uint64_t now_ms)
{
	struct passive *p = &server->state->passive;
	const struct backend_spec *b = server->backend->spec;
	uint32_t in_row = atomic_load_relaxed(&p->in_row);
	const char *why_not;

	if (b->eject_after == 0 || in_row < b->eject_after ||
	    !server_is_usable(server))
		return;
	why_not = why_not_eject(server->backend);
	if (!why_not)
		eject(server, in_row, now_ms);
	else if (may_tell(p, now_ms))
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
	soon = observe(server, now_ms);
	consider_ejection(server, now_ms);
	return soon;
}

/* Back among the usable, but for the lineup. */
static void
clear(struct server *server, uint64_t now_ms)
{
	struct passive *p = &server->state->passive;

	p->ejected = false;
	p->back_ms = now_ms;
	atomic_store_relaxed(&p->in_row, 0u);
	if (server_is_up(server))
		server->state->changed_ms = now_ms;
}

void
passive_tell_back(const struct server *server, const char *why)
{
	char what[EVENT_TEXT_SIZE];

	snprintf(what, sizeof(what), "is no longer ejected: %s", why);
	server_tell(server, EVENT_SERVER_BACK, LOG_LEVEL_INFO, what);
}

void
server_readmit(struct server *server, const char *why)
{
	if (!server->state->passive.ejected)
		return;
	clear(server, clock_now_ms());
	server_ramp_anew(server, clock_now_ms());
	rebuild(server);
	passive_tell_back(server, why);
	backend_tell(server->backend);
}

bool
passive_forget(struct server *server)
{
	bool ejected = server->state->passive.ejected;

	server->state->passive.level = 0;
	if (ejected)
		clear(server, clock_now_ms());
	return ejected;
}

uint64_t
backend_readmit(struct backend *backend, uint64_t now_ms)
{
	uint64_t next_ms = UINT64_MAX;

	for (size_t i = 0; i < backend->spec->servers_n; i++) {
		struct server *s = backend->servers[i];
		struct passive *p = &s->state->passive;

		if (p->ejected && p->until_ms <= now_ms) {
			p->served_time = true;
			server_readmit(s, "its time has passed");
			p->served_time = false;
		} else if (p->ejected && p->until_ms < next_ms) {
			next_ms = p->until_ms;
		}
	}
	return next_ms;
}

void
passive_check_passed(struct server *server, uint64_t began_ms)
{
	struct passive *p = &server->state->passive;

	if (!p->ejected || began_ms < p->ejected_ms)
		return;
	if (++p->passes >= server->check.rise)
		server_readmit(server, "its checks pass");
}

void
passive_settle(struct server *server)
{
	if (server->backend->spec->eject_after == 0 &&
	    server->state->passive.ejected)
		clear(server, clock_now_ms());
}

void
passive_relent(struct backend *backend)
{
	size_t ejected, usable;

	count(backend, &ejected, &usable);
	if (ejected == 0 || usable > 0)
		return;
	for (size_t i = 0; i < backend->spec->servers_n; i++) {
		struct server *s = backend->servers[i];

		if (!s->state->passive.ejected)
			continue;
		clear(s, clock_now_ms());
		s->state->passive.served_time = true;
		s->state->passive.relented = server_is_usable(s);
	}
}

void
passive_tell_relented(const struct backend *backend)
{
	for (size_t i = 0; i < backend->spec->servers_n; i++) {
		const struct server *s = backend->servers[i];

		if (s->state->passive.relented)
			event_add(EVENT_SERVER_BACK, LOG_LEVEL_WARNING,
			    backend->spec->name, s->spec->name,
			    "server %s/%s is no longer ejected: no other "
			    "server is usable",
			    backend->spec->name, s->spec->name);
		s->state->passive.relented = false;
	}
}
