/* SPDX-License-Identifier: MIT
 * See ejection.h.
 */
#include "model/ejection.h"

#include "base/clock.h"
#include "base/text.h"
#include "model/backend.h"
#include "model/model.h"
#include "model/server_change.h"

/* Counts the servers that are ejected, and those that are usable. */
static void
count_servers(const struct backend *b, size_t *ret_ejected, size_t *ret_usable)
{
	size_t ejected = 0, usable = 0;

	backend_for_each_server (s, b) {
		ejected += server_is_ejected(s);
		usable += server_is_usable(s);
	}
	*ret_ejected = ejected;
	*ret_usable = usable;
}

const char *
ejection_refusal(const struct backend *b)
{
	size_t ejected, usable, most;

	count_servers(b, &ejected, &usable);
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

void
server_eject(
    struct server *server, uint32_t in_row, const char *last, uint64_t now_ms)
{
	struct passive *p = &server->state->passive;
	uint64_t time_ms = next_time_ms(p, server->backend->spec, now_ms);
	char limit[TEXT_DURATION_SIZE];

	p->ejected = true;
	p->ejected_ms = now_ms;
	p->until_ms = now_ms + time_ms;
	p->passes = 0;
	p->times_ejected++;
	server->state->changed_ms = now_ms;
	server_report_change(server, EVENT_SERVER_EJECTED, LOG_LEVEL_WARNING,
	    "is ejected for %s: %u failure%s in a row, the last: %s",
	    text_duration(time_ms, limit), in_row, text_s(in_row), last);
}

void
ejection_restore(struct server *server, const struct passive *former)
{
	struct passive *p = &server->state->passive;
	const struct backend_spec *b = server->backend->spec;
	uint64_t now_ms = clock_now_ms();
	uint64_t latest_ms = now_ms + b->eject_time_max_ms;
	char left[TEXT_DURATION_SIZE];

	if (b->eject_after == 0 || p->ejected)
		return;
	p->level = former->level;
	p->back_ms = former->ejected ? former->until_ms : former->back_ms;
	if (p->back_ms > now_ms)
		p->back_ms = now_ms;
	if (!former->ejected || former->until_ms <= now_ms)
		return;
	p->ejected = true;
	p->ejected_ms =
	    former->ejected_ms < now_ms ? former->ejected_ms : now_ms;
	p->until_ms =
	    former->until_ms < latest_ms ? former->until_ms : latest_ms;
	p->passes = former->passes;
	server->state->changed_ms = p->ejected_ms;
	server_report_change(server, EVENT_SERVER_EJECTED, LOG_LEVEL_WARNING,
	    "is ejected for another %s: since before the start of this process",
	    text_duration((p->until_ms - now_ms + 999) / 1000 * 1000, left));
}

/* Ends the ejection, without adding an event and without marking the server. */
static void
end_ejection(struct server *server, uint64_t now_ms)
{
	struct passive *p = &server->state->passive;

	p->ejected = false;
	p->back_ms = now_ms;
	atomic_store_relaxed(&p->in_row, 0u);
	if (server_is_up(server))
		server->state->changed_ms = now_ms;
}

void
ejection_report_end(struct server *server, const char *why)
{
	server_report_change(server, EVENT_SERVER_BACK, LOG_LEVEL_INFO,
	    "is not ejected any more: %s", why);
}

/* Ends the ejection of the server, if it is ejected.  why is for the event. */
static void
server_readmit(struct server *server, const char *why)
{
	if (!server->state->passive.ejected)
		return;
	end_ejection(server, clock_now_ms());
	server_ramp_anew(server, clock_now_ms());
	ejection_report_end(server, why);
}

bool
ejection_forget(struct server *server)
{
	bool ejected = server->state->passive.ejected;

	server->state->passive.level = 0;
	if (ejected)
		end_ejection(server, clock_now_ms());
	return ejected;
}

uint64_t
backend_readmit(struct backend *backend, uint64_t now_ms)
{
	uint64_t next_ms = UINT64_MAX;

	backend_for_each_server (s, backend) {
		struct passive *p = &s->state->passive;

		if (p->ejected && p->until_ms <= now_ms) {
			p->served_time = true;
			server_readmit(s, "its time has passed");
		} else if (p->ejected && p->until_ms < next_ms) {
			next_ms = p->until_ms;
		}
	}
	return next_ms;
}

void
ejection_check_passed(struct server *server, uint64_t began_ms)
{
	struct passive *p = &server->state->passive;

	if (!p->ejected || began_ms < p->ejected_ms)
		return;
	if (++p->passes >= server->check.rise)
		server_readmit(server, "its checks pass");
}

void
ejection_settle(struct server *server)
{
	if (server->backend->spec->eject_after == 0 &&
	    server->state->passive.ejected)
		end_ejection(server, clock_now_ms());
}

void
ejection_relent(struct backend *backend)
{
	size_t ejected, usable;

	count_servers(backend, &ejected, &usable);
	if (ejected == 0 || usable > 0)
		return;
	backend_for_each_server (s, backend) {
		if (!s->state->passive.ejected)
			continue;
		end_ejection(s, clock_now_ms());
		s->state->passive.served_time = true;
		s->state->passive.relented = server_is_usable(s);
	}
}

void
ejection_report_relented(const struct backend *backend)
{
	backend_for_each_server (s, backend) {
		if (s->state->passive.relented)
			event_add(EVENT_SERVER_BACK, LOG_LEVEL_WARNING,
			    backend->spec->name, s->spec->name,
			    "server %s/%s is not ejected any more: no other "
			    "server is usable",
			    backend->spec->name, s->spec->name);
		s->state->passive.relented = false;
	}
}
