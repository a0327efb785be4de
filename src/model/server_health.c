/* SPDX-License-Identifier: MIT
 * The health of a server, as its checks and the server that it tracks have it:
 * see server.h.
 */
#include "base/clock.h"
#include "base/log.h"
#include "model/backend.h"
#include "model/ejection.h"
#include "model/server_change.h"
#include "tls/peer.h"

void
server_settle(struct server *server)
{
	struct server_state *s = server->state;
	bool up;
	bool checked = server->check.on;

	atomic_store_relaxed(&s->expired, false);
	server_follow_file(server);
	ejection_settle(server);
	if (!server->tls)
		tls_resume_drop(s->resume);
	if (!server->agent.on)
		server_forget_agent(server);
	else if (s->agent_last.status == CHECK_STATUS_NONE)
		s->agent_last.status = CHECK_STATUS_INI;
	if (checked && s->last.status == CHECK_STATUS_NONE)
		s->last.status = CHECK_STATUS_INI;
	if (checked) {
		s->forced_down = false;
		return;
	}
	if (s->last.status != CHECK_STATUS_NONE)
		s->stopping = false;
	s->last = (struct check_result){.status = CHECK_STATUS_NONE};
	s->streak = 0;
	up = !server->tracked || server_is_up(server->tracked);
	if (s->up == up)
		return;
	server_note_change(server, up);
	atomic_store_relaxed(&s->up, up);
}

/* Reports that the server went up or down, with its last check as the reason.
 */
static void
report_up_or_down(struct server *server, bool up)
{
	char result[CHECK_RESULT_TEXT_SIZE];

	server_report_change(server, up ? EVENT_SERVER_UP : EVENT_SERVER_DOWN,
	    up ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "is %s: %s",
	    up ? "up" : "down",
	    check_result_text(&server->state->last, result));
}

/* Logs a change of the checks that the agent overrules. */
static void
log_unheeded(const struct server *server, bool up)
{
	char result[CHECK_RESULT_TEXT_SIZE];

	log_info("server %s/%s stays down, as its agent says: its checks %s: "
	         "%s",
	    server->backend->spec->name, server->spec->name,
	    up ? "pass" : "fail",
	    check_result_text(&server->state->last, result));
}

static void
set_up(struct server *server, bool up)
{
	bool was_up = server_is_up(server);

	server->state->streak = 0;
	server->state->stopping = false;
	atomic_store_relaxed(&server->state->up, up);
	if (server_is_up(server) == was_up) {
		log_unheeded(server, up);
		return;
	}
	server_note_change(server, up);
	report_up_or_down(server, up);
}

void
server_track(struct server *server, struct server *tracked)
{
	server->tracked = tracked;
	server->next_tracker = tracked->trackers;
	tracked->trackers = server;
}

void
server_untrack(struct server *server)
{
	struct server **link;

	if (!server->tracked)
		return;
	link = &server->tracked->trackers;
	while (*link != server)
		link = &(*link)->next_tracker;
	*link = server->next_tracker;
	server->tracked = NULL;
}

/* Ends the operator's `stopping`, as a check has passed.  Returns whether it
 * was set. */
static bool
end_stopping(struct server *server)
{
	if (!server->state->stopping)
		return false;
	server->state->stopping = false;
	report_up_or_down(server, true);
	return true;
}

bool
server_report_check(struct server *server, const struct check_result *result)
{
	const struct check_rules *spec = &server->check;

	/* The check began before checks were paused or maintenance began. */
	if (server->state->overrides.check_paused ||
	    server_admin_of(server) == SERVER_MAINT)
		return false;
	server->state->last = *result;
	/* A result that sessions have found has no duration. */
	if (result->status != CHECK_STATUS_HANA)
		timings_add(server->backend->state->timings, 0, TIMING_CHECK,
		    result->duration_ms * 1000000u);
	if (server->state->up && !result->passed)
		server->state->checks_failed++;
	if (result->passed)
		ejection_check_passed(
		    server, clock_now_ms() - result->duration_ms);
	if (server->state->up == result->passed) {
		server->state->streak = 0;
		return result->passed && end_stopping(server);
	}
	server->state->streak++;
	if (server->state->streak <
	    (server->state->up ? spec->fall : spec->rise))
		return false;
	set_up(server, result->passed);
	return true;
}

void
server_follow_tracked(struct server *server)
{
	const struct server *tracked = server->tracked;
	bool up = server_is_up(tracked);
	bool changed = server->state->up != up;

	if (changed)
		server_note_change(server, up);
	atomic_store_relaxed(&server->state->up, up);
	if (changed)
		server_report_change(server,
		    up ? EVENT_SERVER_UP : EVENT_SERVER_DOWN,
		    up ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
		    "is %s: it tracks %s/%s", up ? "up" : "down",
		    tracked->backend->spec->name, tracked->spec->name);
	else
		server_mark_changed(server);
}
