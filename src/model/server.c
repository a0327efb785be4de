/* SPDX-License-Identifier: MIT
 * See server.h.
 */
#include "model/server.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "model/backend.h"

const char *
check_status_name(enum check_status status)
{
	static const char *const names[] = {
	    [CHECK_STATUS_NONE] = "",
	    [CHECK_STATUS_INI] = "INI",
	    [CHECK_STATUS_SOCKERR] = "SOCKERR",
	    [CHECK_STATUS_L4OK] = "L4OK",
	    [CHECK_STATUS_L4TOUT] = "L4TOUT",
	    [CHECK_STATUS_L4CON] = "L4CON",
	    [CHECK_STATUS_L6RSP] = "L6RSP",
	    [CHECK_STATUS_L6TOUT] = "L6TOUT",
	    [CHECK_STATUS_L7OK] = "L7OK",
	    [CHECK_STATUS_L7TOUT] = "L7TOUT",
	    [CHECK_STATUS_L7RSP] = "L7RSP",
	    [CHECK_STATUS_L7STS] = "L7STS",
	};

	return names[status];
}

struct server *
server_new(const struct server_spec *spec, struct backend *backend, unsigned id)
{
	struct server *s = aligned_alloc(CACHE_LINE, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct server){
	    .spec = spec,
	    .backend = backend,
	    .id = id,
	    .up = true,
	    .changed_ms = clock_now_ms(),
	    .counters = counters_new(),
	};
	if (backend->spec->check.kind != CHECK_OFF)
		s->last.status = CHECK_STATUS_INI;
	if (!s->counters) {
		free(s);
		return NULL;
	}
	return s;
}

void
server_free(struct server *server)
{
	if (!server)
		return;
	counters_free(server->counters);
	free(server);
}

static void
log_change(const struct server *server, bool up)
{
	const struct check_result *r = &server->last;
	const struct backend *b = server->backend;

	if (up)
		log_info("server %s/%s is up: %s%s%s in %llu ms; "
		         "%u of %zu servers are usable",
		    b->spec->name, server->spec->name,
		    check_status_name(r->status), r->text[0] ? ", " : "",
		    r->text, (unsigned long long)r->duration_ms, b->usable,
		    b->spec->servers_n);
	else
		log_warning("server %s/%s is down: %s%s%s after %llu ms; "
		            "%u of %zu servers are usable",
		    b->spec->name, server->spec->name,
		    check_status_name(r->status), r->text[0] ? ", " : "",
		    r->text, (unsigned long long)r->duration_ms, b->usable,
		    b->spec->servers_n);
}

static void
set_up(struct server *server, bool up)
{
	uint64_t now = clock_now_ms();

	if (up)
		server->down_ms += now - server->changed_ms;
	else
		server->times_down++;
	server->changed_ms = now;
	server->streak = 0;
	atomic_store_relaxed(&server->up, up);
	if (backend_rebuild(server->backend) < 0)
		log_error("out of memory: backend %s keeps choosing from its "
		          "former servers",
		    server->backend->spec->name);
	log_change(server, up);
}

bool
server_report_check(struct server *server, const struct check_result *result)
{
	const struct check_spec *spec = &server->backend->spec->check;

	server->last = *result;
	if (server->up && !result->passed)
		server->checks_failed++;
	if (server->up == result->passed) {
		server->streak = 0;
		return false;
	}
	server->streak++;
	if (server->streak < (server->up ? spec->fall : spec->rise))
		return false;
	set_up(server, result->passed);
	return true;
}

uint64_t
server_since_change_s(const struct server *server)
{
	return (clock_now_ms() - server->changed_ms) / 1000;
}

uint64_t
server_downtime_s(const struct server *server)
{
	uint64_t ms = server->down_ms;

	if (!server->up)
		ms += clock_now_ms() - server->changed_ms;
	return ms / 1000;
}
