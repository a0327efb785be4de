/* SPDX-License-Identifier: MIT
 * `show servers state` and `show servers conn`, in HAProxy's columns.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "commands/report.h"
#include "model/backend.h"
#include "model/model.h"

/* HAProxy's numbers for the states that lfproxy has as well. */
enum {
	ADMIN_FORCED_MAINT = 0x01,
	ADMIN_FILE_MAINT = 0x04, /* the file says `disabled` */
	ADMIN_INHERITED_MAINT = 0x02,
	ADMIN_FORCED_DRAIN = 0x08,
	ADMIN_INHERITED_DRAIN = 0x10,
	ADMIN_RESOLUTION_MAINT = 0x20,
};
enum { STATE_STOPPED = 0, STATE_RUNNING = 2, STATE_STOPPING = 3 };
enum { RESULT_UNKNOWN = 0, RESULT_FAILED = 2, RESULT_PASSED = 3 };
enum {
	CHECK_CONFIGURED = 0x02,
	CHECK_ENABLED = 0x04,
	CHECK_PAUSED = 0x08,
	CHECK_AGENT = 0x10,
};

static const int status_numbers[] = {
    [CHECK_STATUS_NONE] = 1,
    [CHECK_STATUS_INI] = 1,
    [CHECK_STATUS_HANA] = 4,
    [CHECK_STATUS_SOCKERR] = 5,
    [CHECK_STATUS_L4OK] = 6,
    [CHECK_STATUS_L4TOUT] = 7,
    [CHECK_STATUS_L4CON] = 8,
    [CHECK_STATUS_L6OK] = 9,
    [CHECK_STATUS_L6TOUT] = 10,
    [CHECK_STATUS_L6RSP] = 11,
    [CHECK_STATUS_L7TOUT] = 12,
    [CHECK_STATUS_L7RSP] = 13,
    [CHECK_STATUS_L7OK] = 15,
    [CHECK_STATUS_L7STS] = 17,
    [CHECK_STATUS_PROCERR] = 18,
    [CHECK_STATUS_PROCTOUT] = 19,
    [CHECK_STATUS_PROCOK] = 20,
};
_Static_assert(
    sizeof(status_numbers) / sizeof(status_numbers[0]) == CHECK_STATUSES,
    "a number for each status");

static int
state_of(const struct server *s)
{
	const struct server *ref = s->tracked ? s->tracked : s;

	if (server_admin_of(s) == SERVER_MAINT || !server_is_up(s))
		return STATE_STOPPED;
	return ref->state->stopping ? STATE_STOPPING : STATE_RUNNING;
}

static int
admin_of(const struct server *s)
{
	enum server_admin inherited =
	    s->tracked ? server_admin_of(s->tracked) : SERVER_READY;
	int flags = 0;

	if (s->spec->disabled)
		flags |= ADMIN_FILE_MAINT;
	if (server_own_admin(s) == SERVER_MAINT)
		flags |= ADMIN_FORCED_MAINT;
	if (server_own_admin(s) == SERVER_DRAIN)
		flags |= ADMIN_FORCED_DRAIN;
	if (inherited == SERVER_MAINT)
		flags |= ADMIN_INHERITED_MAINT;
	if (inherited == SERVER_DRAIN)
		flags |= ADMIN_INHERITED_DRAIN;
	if (server_is_unresolved(s))
		flags |= ADMIN_RESOLUTION_MAINT;
	return flags;
}

static int
result_of(const struct server *s)
{
	if (s->state->last.status <= CHECK_STATUS_INI)
		return RESULT_UNKNOWN;
	return s->state->last.passed ? RESULT_PASSED : RESULT_FAILED;
}

/* Returns HAProxy's health: 0 to rise - 1 is down, rise to rise + fall - 1 is
 * up. */
static unsigned
health_of(const struct server *s)
{
	if (server_admin_of(s) == SERVER_MAINT)
		return 0;
	if (!s->check.on)
		return server_is_up(s) ? s->check.rise : 0;
	return s->state->up
	           ? s->check.rise + s->check.fall - 1 - s->state->streak
	           : s->state->streak;
}

static int
check_state_of(const struct server *s)
{
	if (!s->check.on)
		return 0;
	return CHECK_CONFIGURED |
	       (s->state->overrides.check_paused ? 0 : CHECK_ENABLED) |
	       (server_admin_of(s) == SERVER_MAINT ? CHECK_PAUSED : 0);
}

/* Returns the state of the agent, which is never paused by maintenance. */
static int
agent_state_of(const struct server *s)
{
	if (!s->agent.on)
		return 0;
	return CHECK_AGENT | CHECK_CONFIGURED |
	       (s->state->overrides.agent_paused ? 0 : CHECK_ENABLED);
}

/* Returns the IP address, or NULL: HAProxy does not show a unix socket's path.
 */
static const char *
ip_or_null(const struct addr *addr, char out[ADDR_TEXT_SIZE])
{
	if (addr->sa.sa_family == AF_UNIX || addr->sa.sa_family == AF_UNSPEC)
		return NULL;
	return addr_host(addr, out);
}

/* Returns the address of a check or an agent, but NULL for the server's own
 * address unless the file or a command names it. */
static const char *
other_ip(bool on, const struct addr *addr, const struct override *said,
    struct check_place file, char out[ADDR_TEXT_SIZE])
{
	if (!on || (!said->is_set && file.addr->sa.sa_family == AF_UNSPEC))
		return NULL;
	return ip_or_null(addr, out);
}

static unsigned
check_port_of(const struct server *s)
{
	if (!s->check.on ||
	    (!s->state->overrides.check.port.is_set &&
	        check_place_of(s->backend->spec, s->spec).port == 0))
		return 0;
	return addr_port(&s->check.addr);
}

static void
put_state_checks(struct report *r, const struct server *s)
{
	report_put(r, "srv_check_status", " %d",
	    status_numbers[s->state->last.status]);
	report_put(r, "srv_check_result", " %d", result_of(s));
	report_put(r, "srv_check_health", " %u", health_of(s));
	report_put(r, "srv_check_state", " %d", check_state_of(s));
	report_put(r, "srv_agent_state", " %d", agent_state_of(s));
}

static void
put_state_addresses(struct report *r, const struct server *s)
{
	const struct server_overrides *set = &s->state->overrides;
	char text[ADDR_TEXT_SIZE];

	report_put(r, "srv_fqdn", " %s", s->spec->host);
	report_put(r, "srv_port", " %u",
	    server_is_unresolved(s) ? s->spec->port
	                            : addr_port(server_addr(s)));
	report_text(r, " -");
	report_json_null(r, "srvrecord");
	report_put(r, "srv_use_ssl", " %d", 0);
	report_put(r, "srv_check_port", " %u", check_port_of(s));
	report_put(r, "srv_check_addr", " %s",
	    other_ip(s->check.on, &s->check.addr, &set->check.has_addr,
	        check_place_of(s->backend->spec, s->spec), text));
	report_put(r, "srv_agent_addr", " %s",
	    other_ip(s->agent.on, &s->agent.addr, &set->agent.has_addr,
	        agent_place_of(s->backend->spec, s->spec), text));
	report_put(r, "srv_agent_port", " %u",
	    s->agent.on ? addr_port(&s->agent.addr) : 0);
}

static void
put_state_row(struct report *r, const struct server *s)
{
	char ip[ADDR_TEXT_SIZE];

	report_put(r, "be_id", "%u", s->backend->id);
	report_put(r, "be_name", " %s", s->backend->spec->name);
	report_put(r, "srv_id", " %u", s->id);
	report_put(r, "srv_name", " %s", s->spec->name);
	report_put(r, "srv_addr", " %s", ip_or_null(server_addr(s), ip));
	report_put(r, "srv_op_state", " %d", state_of(s));
	report_put(r, "srv_admin_state", " %d", admin_of(s));
	report_put(r, "srv_uweight", " %u", server_weight(s));
	report_put(r, "srv_iweight", " %u", s->spec->weight);
	report_put(r, "srv_time_since_last_change", " %" PRIu64,
	    server_since_change_s(s));
	put_state_checks(r, s);
	report_put(r, "bk_f_forced_id", " %d", 0);
	report_put(r, "srv_f_forced_id", " %d", 0);
	put_state_addresses(r, s);
}

/* Writes the connections of a server.  No idle connections are kept for reuse,
 * so their columns are 0. */
static void
put_conn(struct report *r, const struct server *s)
{
	unsigned used = atomic_load_relaxed(&s->sessions->now);
	char ip[ADDR_TEXT_SIZE];

	report_put(r, "be_name", "%s", s->backend->spec->name);
	report_put(r, "srv_name", "/%s", s->spec->name);
	report_put(r, "be_id", " %u", s->backend->id);
	report_put(r, "srv_id", "/%u", s->id);
	report_put(r, "addr", " %s", ip_or_null(server_addr(s), ip));
	report_put(r, "port", " %u",
	    server_is_unresolved(s) ? s->spec->port
	                            : addr_port(server_addr(s)));
	report_put(r, "purge_delay", " - %d", 0);
	report_put(r, "used_cur", " %u", used);
	report_put(
	    r, "used_max", " %u", atomic_load_relaxed(&s->sessions->peak));
	report_put(r, "need_est", " %u", used);
	report_put(r, "unsafe_nb", " %d", 0);
	report_put(r, "safe_nb", " %d", 0);
	report_put(r, "idle_lim", " %d", 0);
	report_put(r, "idle_cur", " %d", 0);
}

static unsigned
threads_of(const struct command_env *env)
{
	struct pools *pools = env->pools;
	unsigned n = 0;

	for (size_t i = 0; i < pools_count(pools); i++)
		n += pool_threads(pools_at(pools, i));
	return n;
}

/* Writes the servers of all backends, or of the one that is named, with a zero
 * for each thread. */
static bool
put_servers(struct call *call, const char *head, unsigned threads,
    void (*put)(struct report *r, const struct server *s))
{
	const struct model *m = call->env->instance->model;
	/* A single argument that names a backend is that name, as in HAProxy,
	 * even if it is `json`. */
	bool is_name = call->args[0] && !call->args[1] &&
	               model_find_backend(m, call->args[0]);
	const struct backend *only;
	struct report r;

	report_begin(&r, !is_name && call_take_json(call), call->out);
	if (!call_backend(call, call_arg(call, 0), &only))
		return false;
	report_head(&r, head);
	model_for_each_server (s, m) {
		if (only && only != s->backend)
			continue;
		report_row(&r);
		put(&r, s);
		for (unsigned i = 0; i < threads; i++)
			report_text(&r, " 0");
		report_row_end(&r);
	}
	report_end(&r);
	return true;
}

bool
run_show_servers_state(struct call *call)
{
	return put_servers(call,
	    "1\n"
	    "# be_id be_name srv_id srv_name srv_addr srv_op_state "
	    "srv_admin_state srv_uweight srv_iweight "
	    "srv_time_since_last_change srv_check_status srv_check_result "
	    "srv_check_health srv_check_state srv_agent_state bk_f_forced_id "
	    "srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl "
	    "srv_check_port srv_check_addr srv_agent_addr srv_agent_port\n",
	    0, put_state_row);
}

bool
run_show_servers_conn(struct call *call)
{
	unsigned threads = threads_of(call->env);
	char head[200];

	snprintf(head, sizeof(head),
	    "# bkname/svname bkid/svid addr port - purge_delay used_cur "
	    "used_max need_est unsafe_nb safe_nb idle_lim idle_cur "
	    "idle_per_thr[%u]\n",
	    threads);
	return put_servers(call, head, threads, put_conn);
}
