/* SPDX-License-Identifier: MIT
 * `show servers state` and `show servers conn`, in HAProxy's columns.
 */
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "commands/rows.h"
#include "model/backend.h"

/* HAProxy's numbers for what is the same here. */
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

/* 0 to rise - 1 is down, rise to rise + fall - 1 is up. */
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

/* The agent is asked in maintenance, too. */
static int
agent_state_of(const struct server *s)
{
	if (!s->agent.on)
		return 0;
	return CHECK_AGENT | CHECK_CONFIGURED |
	       (s->state->overrides.agent_paused ? 0 : CHECK_ENABLED);
}

/* A row: a server, and what is the same for all of them. */
struct server_row {
	const struct server *server;
	const char *zeros; /* ` 0` for each thread */
};

/* The server is s, the value v. */
#define READ(name, what)                                                       \
	static void name(const void *row, struct row_value *v)                 \
	{                                                                      \
		const struct server_row *r = row;                              \
		const struct server *s = r->server;                            \
                                                                               \
		what;                                                          \
	}

/* HAProxy does not show a unix socket's path. */
static void
put_ip(struct row_value *v, const struct addr *addr)
{
	char ip[ADDR_TEXT_SIZE];

	if (addr->sa.sa_family != AF_UNIX && addr->sa.sa_family != AF_UNSPEC)
		row_format(v, "%s", addr_host(addr, ip));
}

/* Writes the address of a check, but nothing for the server's own address
 * unless the operator has set it. */
static void
put_other_ip(struct row_value *v, const struct server *s,
    const struct addr *addr, const struct addr *said)
{
	struct addr plain = *addr;

	addr_set_port(&plain, addr_port(server_addr(s)));
	if (said->sa.sa_family != AF_UNSPEC ||
	    !addr_equal(&plain, server_addr(s)))
		put_ip(v, addr);
}

static unsigned
check_port_of(const struct server *s)
{
	unsigned port = addr_port(&s->check.addr);

	if (!s->check.on || (s->state->overrides.check_port == 0 &&
	                        port == addr_port(server_addr(s))))
		return 0;
	return port;
}

static void
read_check_addr(const void *row, struct row_value *v)
{
	const struct server *s = ((const struct server_row *)row)->server;

	if (s->check.on)
		put_other_ip(
		    v, s, &s->check.addr, &s->state->overrides.check_addr);
}

static void
read_agent_addr(const void *row, struct row_value *v)
{
	const struct server *s = ((const struct server_row *)row)->server;

	if (s->agent.on)
		put_other_ip(
		    v, s, &s->agent.addr, &s->state->overrides.agent_addr);
}

/* Things that HAProxy has and a server here has not. */
static void
read_nothing(const void *row, struct row_value *v)
{
	(void)row;
	(void)v;
}

static void
read_zero(const void *row, struct row_value *v)
{
	(void)row;
	row_number(v, 0);
}

static void
read_zeros(const void *row, struct row_value *v)
{
	row_text(v, ((const struct server_row *)row)->zeros);
}

READ(read_backend_id, row_number(v, s->backend->id))
READ(read_backend, row_text(v, s->backend->spec->name))
READ(read_id, row_number(v, s->id))
READ(read_name, row_text(v, s->spec->name))
READ(read_addr, put_ip(v, server_addr(s)))
READ(read_port,
    row_number(
        v, server_is_unresolved(s) ? s->spec->port : addr_port(server_addr(s))))
READ(read_name_of_host, if (s->spec->host) row_text(v, s->spec->host))
READ(read_state, row_number(v, state_of(s)))
READ(read_admin, row_number(v, admin_of(s)))
READ(read_weight, row_number(v, server_weight(s)))
READ(read_first_weight, row_number(v, s->spec->weight))
READ(read_since, row_number(v, (int64_t)server_since_change_s(s)))
READ(read_check_status, row_number(v, status_numbers[s->state->last.status]))
READ(read_check_result, row_number(v, result_of(s)))
READ(read_check_health, row_number(v, health_of(s)))
READ(read_check_state, row_number(v, check_state_of(s)))
READ(read_agent_state, row_number(v, agent_state_of(s)))
READ(read_check_port, row_number(v, check_port_of(s)))
READ(
    read_agent_port, row_number(v, s->agent.on ? addr_port(&s->agent.addr) : 0))
READ(read_used, row_number(v, atomic_load_relaxed(&s->sessions->now)))
READ(read_used_max, row_number(v, atomic_load_relaxed(&s->sessions->peak)))

/* clang-format off: a column each. */
static const struct row_column state_columns[] = {
    {"", "be_id", read_backend_id, NULL},
    {" ", "be_name", read_backend, NULL},
    {" ", "srv_id", read_id, NULL},
    {" ", "srv_name", read_name, NULL},
    {" ", "srv_addr", read_addr, "-"},
    {" ", "srv_op_state", read_state, NULL},
    {" ", "srv_admin_state", read_admin, NULL},
    {" ", "srv_uweight", read_weight, NULL},
    {" ", "srv_iweight", read_first_weight, NULL},
    {" ", "srv_time_since_last_change", read_since, NULL},
    {" ", "srv_check_status", read_check_status, NULL},
    {" ", "srv_check_result", read_check_result, NULL},
    {" ", "srv_check_health", read_check_health, NULL},
    {" ", "srv_check_state", read_check_state, NULL},
    {" ", "srv_agent_state", read_agent_state, NULL},
    {" ", "bk_f_forced_id", read_zero, NULL},
    {" ", "srv_f_forced_id", read_zero, NULL},
    {" ", "srv_fqdn", read_name_of_host, "-"},
    {" ", "srv_port", read_port, NULL},
    {" ", "srvrecord", read_nothing, "-"},
    {" ", "srv_use_ssl", read_zero, NULL},
    {" ", "srv_check_port", read_check_port, NULL},
    {" ", "srv_check_addr", read_check_addr, "-"},
    {" ", "srv_agent_addr", read_agent_addr, "-"},
    {" ", "srv_agent_port", read_agent_port, NULL},
};

/* Nothing idle is kept to be used again: those columns are 0. */
static const struct row_column conn_columns[] = {
    {"", "be_name", read_backend, NULL},
    {"/", "srv_name", read_name, NULL},
    {" ", "be_id", read_backend_id, NULL},
    {"/", "srv_id", read_id, NULL},
    {" ", "addr", read_addr, "-"},
    {" ", "port", read_port, NULL},
    {" - ", "purge_delay", read_zero, NULL},
    {" ", "used_cur", read_used, NULL},
    {" ", "used_max", read_used_max, NULL},
    {" ", "need_est", read_used, NULL},
    {" ", "unsafe_nb", read_zero, NULL},
    {" ", "safe_nb", read_zero, NULL},
    {" ", "idle_lim", read_zero, NULL},
    {" ", "idle_cur", read_zero, NULL},
    {"", NULL, read_zeros, NULL},
};
/* clang-format on */

static const struct row_table state_table =
    ROW_TABLE("1\n"
              "# be_id be_name srv_id srv_name srv_addr srv_op_state "
              "srv_admin_state srv_uweight srv_iweight "
              "srv_time_since_last_change srv_check_status srv_check_result "
              "srv_check_health srv_check_state srv_agent_state "
              "bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord "
              "srv_use_ssl srv_check_port srv_check_addr srv_agent_addr "
              "srv_agent_port\n",
        state_columns);

static unsigned
threads_of(struct control *control)
{
	struct pools *pools = control_pools(control);
	unsigned n = 0;

	for (size_t i = 0; i < pools_count(pools); i++) {
		struct pool_status status;

		pool_status(pools_at(pools, i), &status);
		n += status.threads;
	}
	return n;
}

/* Writes the servers of all backends, or of the one that is named. */
static bool
put_servers(struct call *call, const struct row_table *table, const char *zeros)
{
	const struct model *m = control_model(call->env->control);
	/* A single argument that names a backend is that name, as in HAProxy,
	 * even if it is `json`. */
	bool json = (call->args[0] && !call->args[1] &&
	                model_find_backend(m, call->args[0]))
	                ? false
	                : call_take_json(call);
	const struct backend *only;
	struct rows rows;

	if (!call_backend(call, call_arg(call, 0), &only))
		return false;
	rows_begin(&rows, table, json, call->out);
	for (size_t i = 0; i < m->spec->backends_n; i++) {
		const struct backend *b = m->backends[i];

		for (size_t j = 0; j < b->spec->servers_n; j++) {
			struct server_row row = {b->servers[j], zeros};

			if (!only || only == b)
				rows_put(&rows, &row, call->out);
		}
	}
	rows_end(&rows, call->out);
	return true;
}

bool
run_show_servers_state(struct call *call)
{
	return put_servers(call, &state_table, NULL);
}

bool
run_show_servers_conn(struct call *call)
{
	unsigned threads = threads_of(call->env->control);
	char head[200], *zeros = calloc(threads + 1, 2);
	const struct row_table table = ROW_TABLE(head, conn_columns);
	bool ok;

	if (!zeros)
		return err_oom(call->err);
	for (unsigned i = 0; i < threads; i++)
		memcpy(zeros + 2 * i, " 0", 2);
	snprintf(head, sizeof(head),
	    "# bkname/svname bkid/svid addr port - purge_delay used_cur "
	    "used_max need_est unsafe_nb safe_nb idle_lim idle_cur "
	    "idle_per_thr[%u]\n",
	    threads);
	ok = put_servers(call, &table, zeros);
	free(zeros);
	return ok;
}
