/* SPDX-License-Identifier: MIT
 * The table of settings: see settings.h.
 */
#include "settings/settings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "model/model.h"
#include "proxy/instance.h"

#define PUT(field, ...) SETTING_PRINT((ret)->field, __VA_ARGS__)

/* -- servers -- */

/* Prints a number that an agent may have set as well. */
static void
read_override(unsigned now, const struct override *own, unsigned file,
    struct setting *ret)
{
	PUT(value, "%u", now);
	PUT(ordered, "%u", override_or(own, file));
	PUT(configured, "%u", file);
	ret->is_changed = override_or(own, file) != file;
}

static void
read_weight(const struct setting_object *of, struct setting *ret)
{
	struct server *s = of->server;

	read_override(server_weight(s), &s->state->overrides.set.weight,
	    s->spec->weight, ret);
	ret->server = s;
	ret->of_server = "weight";
}

static void
read_server_maxconn(const struct setting_object *of, struct setting *ret)
{
	const struct server *s = of->server;

	read_override(server_maxconn(s), &s->state->overrides.set.maxconn,
	    s->spec->maxconn, ret);
}

static void
read_state(const struct setting_object *of, struct setting *ret)
{
	struct server *s = of->server;
	enum server_admin own = server_ordered_admin(s),
	                  file = server_file_admin(s);

	PUT(value, "%s", server_admin_name(server_own_admin(s)));
	PUT(ordered, "%s", server_admin_name(own));
	PUT(configured, "%s", server_admin_name(file));
	ret->is_changed = own != file;
	ret->server = s;
	ret->of_server = "state";
}

/* Returns `disabled` in the file; it has no option for a drain. */
static const char *
state_in_file(const char *value, char out[SETTING_VALUE_SIZE])
{
	(void)out;
	return strcmp(value, "maint") == 0   ? "on"
	       : strcmp(value, "ready") == 0 ? "off"
	                                     : NULL;
}

static void
put_host_and_port(
    const struct server *s, const struct addr *addr, char *out, size_t size)
{
	char host[ADDR_TEXT_SIZE];
	unsigned port = addr_port(addr);

	setting_print(out, size, port > 0 ? "%s port %u" : "%s port %+d",
	    addr_host(addr, host), port > 0 ? (int)port : s->spec->port_offset);
}

static void
read_addr(const struct setting_object *of, struct setting *ret)
{
	const struct server *s = of->server;

	PUT(base, "%s", s->spec->address);
	PUT(configured, "%s", s->spec->host ? SETTING_FILE : s->spec->address);
	if (server_addr(s)->sa.sa_family == AF_UNIX)
		return;
	ret->is_changed = s->state->overrides.addr.is_set;
	ret->may_refuse = true;
	if (s->spec->host && !ret->is_changed)
		PUT(value, "%s", SETTING_FILE);
	else
		put_host_and_port(
		    s, server_addr(s), ret->value, sizeof(ret->value));
	if (s->spec->host)
		ret->unsaved = "the file has a name, which would be lost";
	else
		put_host_and_port(s, &s->spec->addr, ret->configured,
		    sizeof(ret->configured));
}

/* Returns `10.0.0.1:80` for `10.0.0.1 port 80`. */
static const char *
addr_in_file(const char *value, char out[SETTING_VALUE_SIZE])
{
	int host = (int)strcspn(value, " ");
	bool is_ipv6 = memchr(value, ':', (size_t)host);
	const char *port;

	if (strcmp(value, SETTING_FILE) == 0)
		return NULL;
	port = value + host + strlen(" port ");
	snprintf(out, SETTING_VALUE_SIZE, is_ipv6 ? "[%.*s]%s%s" : "%.*s%s%s",
	    host, value, strcmp(port, "+0") == 0 ? "" : ":",
	    strcmp(port, "+0") ? port : "");
	return out;
}

static bool
is_mapped(const char *value)
{
	const char *port = strstr(value, " port ");

	return port && strspn(port + strlen(" port "), "+-") > 0;
}

static const char *
addr_blocked(const char *value, const char *for_a_time)
{
	return is_mapped(for_a_time) && !is_mapped(value)
	           ? "the port that is set for a time needs an address without "
	             "a port in the file"
	           : NULL;
}

static void
read_pause(bool is_on, bool paused, struct setting *ret)
{
	PUT(value, "%s", paused ? "disable" : "enable");
	PUT(configured, "enable");
	ret->is_changed = is_on && paused;
}

static void
read_checks(const struct setting_object *of, struct setting *ret)
{
	const struct server *s = of->server;

	read_pause(s->check.on, s->state->overrides.check_paused, ret);
}

static void
read_agent(const struct setting_object *of, struct setting *ret)
{
	const struct server *s = of->server;

	read_pause(s->agent.on, s->state->overrides.agent_paused, ret);
}

/* Port 0 stands for the port in the file, and there for that of sessions. */
static void
read_place_port(
    bool is_on, const struct override *own, unsigned file, struct setting *ret)
{
	PUT(value, "%u", override_or(own, file));
	PUT(configured, "%u", file);
	ret->is_changed = is_on && own->is_set;
}

static void
read_check_port(const struct setting_object *of, struct setting *ret)
{
	const struct server *s = of->server;

	read_place_port(s->check.on, &s->state->overrides.check.port,
	    check_place_of(s->backend->spec, s->spec).port, ret);
}

static void
read_agent_port(const struct setting_object *of, struct setting *ret)
{
	const struct server *s = of->server;

	read_place_port(s->agent.on, &s->state->overrides.agent.port,
	    agent_place_of(s->backend->spec, s->spec).port, ret);
}

static const char *
place_text(const struct addr *addr, char out[ADDR_TEXT_SIZE])
{
	return addr->sa.sa_family != AF_UNSPEC ? addr_host(addr, out)
	                                       : SETTING_FILE;
}

static void
read_place_addr(bool is_on, const struct place_override *own,
    const struct addr *file, struct setting *ret)
{
	char host[ADDR_TEXT_SIZE];

	PUT(configured, "%s", place_text(file, host));
	PUT(value, "%s",
	    place_text(own->has_addr.is_set ? &own->addr : file, host));
	ret->is_changed = is_on && own->has_addr.is_set;
}

static void
read_check_addr(const struct setting_object *of, struct setting *ret)
{
	const struct server *s = of->server;

	read_place_addr(s->check.on, &s->state->overrides.check,
	    check_place_of(s->backend->spec, s->spec).addr, ret);
}

static void
read_agent_addr(const struct setting_object *of, struct setting *ret)
{
	const struct server *s = of->server;

	read_place_addr(s->agent.on, &s->state->overrides.agent,
	    agent_place_of(s->backend->spec, s->spec).addr, ret);
}

/* Writes bytes as the words of the command that sends them: a word if all can
 * be typed, else `hex 001f`.  Cut to fit. */
static void
put_bytes(const struct pattern *p, char *out, size_t size)
{
	size_t len = 0;
	bool is_word = p->n > 0;

	for (size_t i = 0; i < p->n; i++)
		is_word &= p->bytes[i] == ' ' || isgraph(p->bytes[i]);
	out[0] = '\0';
	if (!is_word && p->n > 0)
		len = (size_t)snprintf(out, size, SETTING_HEX " ");
	for (size_t i = 0; i < p->n && len < size; i++)
		len += (size_t)snprintf(out + len, size - len,
		    !is_word               ? "%02x"
		    : isalnum(p->bytes[i]) ? "%c"
		                           : "\\%c",
		    p->bytes[i]);
}

/* The text may be a password, and so is told by its digest where a value is
 * only compared. */
static void
read_agent_send(const struct setting_object *of, struct setting *ret)
{
	const struct server *s = of->server;
	const struct pattern *file =
	    agent_rules_of(s->backend->spec, s->spec).send;

	put_bytes(s->agent.send, ret->value, sizeof(ret->value));
	put_bytes(file, ret->configured, sizeof(ret->configured));
	PUT(base, "%016" PRIx64, override_digest(file->bytes, file->n));
	ret->is_secret = true;
	ret->is_changed =
	    s->agent.on && s->state->overrides.has_agent_send.is_set;
}

/* -- frontends -- */

static void
read_frontend(const struct setting_object *of, struct setting *ret)
{
	enum frontend_admin admin = of->frontend->state->admin;
	bool disabled = of->frontend->spec->disabled;

	PUT(value, "%s",
	    admin == FRONTEND_SHUT     ? "shutdown"
	    : admin == FRONTEND_PAUSED ? "disable"
	                               : "enable");
	PUT(configured, "%s", disabled ? "disable" : "enable");
	ret->is_changed = (admin == FRONTEND_OPEN) == disabled;
}

static const char *
frontend_in_file(const char *value, char out[SETTING_VALUE_SIZE])
{
	(void)out;
	return strcmp(value, "enable") == 0 ? "off" : "on";
}

/* Prints a limit.  0 in the file stands for as many as there is room for, as
 * does any number that is not below that. */
static void
read_limit(const struct setting_object *of, size_t now, unsigned file,
    struct setting *ret)
{
	size_t most = of->limits->budget.sessions;
	size_t configured = file > 0 && file < most ? file : most;

	now = now < most ? now : most;
	PUT(base, "%u", file);
	PUT(value, "%zu", now);
	PUT(configured, "%zu", configured);
	ret->is_changed = now != configured;
}

static void
read_frontend_maxconn(const struct setting_object *of, struct setting *ret)
{
	read_limit(of, atomic_load_relaxed(&of->frontend->state->maxconn),
	    of->frontend->spec->maxconn, ret);
}

/* -- the process -- */

static const struct global_spec *
global_of(const struct setting_object *of)
{
	return &of->limits->instance->model->spec->global;
}

static void
read_global_maxconn(const struct setting_object *of, struct setting *ret)
{
	read_limit(of, session_limits_maxconn(of->limits),
	    global_of(of)->maxconn, ret);
}

static void
read_rate(uint32_t now, unsigned file, struct setting *ret)
{
	PUT(value, "%u", now);
	PUT(configured, "%u", file);
	ret->is_changed = now != file;
}

static void
read_connections(const struct setting_object *of, struct setting *ret)
{
	read_rate(atomic_load_relaxed(
	              &of->limits->instance->proxy.limits.connect_rate),
	    global_of(of)->rate_connections, ret);
}

static void
read_sessions(const struct setting_object *of, struct setting *ret)
{
	read_rate(atomic_load_relaxed(
	              &of->limits->instance->proxy.limits.session_rate),
	    global_of(of)->rate_sessions, ret);
}

/* -- pools -- */

static void
read_pool(const struct setting_object *of, struct setting *ret)
{
	struct pools_setting s;

	pools_setting_read(of->pools, of->pool, of->row->key, &s);
	PUT(value, "%s", s.now);
	PUT(configured, "%s", s.file);
	ret->is_changed = s.is_set;
}

/* -- the table -- */

#define POOL_ROW(key)                                                          \
	{                                                                      \
		OF_POOL, key, key, "set pool @ " key " =", read_pool           \
	}

/* clang-format off: a row each. */
const struct setting_row setting_rows[SETTINGS] = {
    [SETTING_ADDR] = {OF_SERVER, "addr", "address",
        "set server @ addr =", read_addr, addr_in_file, addr_blocked},
    [SETTING_STATE] = {OF_SERVER, "state", "disabled",
        "set server @ state =", read_state, state_in_file},
    [SETTING_WEIGHT] = {OF_SERVER, "weight", "weight",
        "set weight @ =", read_weight},
    [SETTING_SERVER_MAXCONN] = {OF_SERVER, "maxconn", "maxconn",
        "set maxconn server @ =", read_server_maxconn},
    [SETTING_CHECKS] = {OF_SERVER, "health checks", NULL, "= health @",
        read_checks},
    [SETTING_AGENT] = {OF_SERVER, "agent", NULL, "= agent @", read_agent},
    [SETTING_CHECK_ADDR] = {OF_SERVER, "check-addr", "check_addr",
        "set server @ check-addr =", read_check_addr},
    [SETTING_CHECK_PORT] = {OF_SERVER, "check-port", "check_port",
        "set server @ check-port =", read_check_port},
    [SETTING_AGENT_ADDR] = {OF_SERVER, "agent-addr", "agent_addr",
        "set server @ agent-addr =", read_agent_addr},
    [SETTING_AGENT_PORT] = {OF_SERVER, "agent-port", "agent_port",
        "set server @ agent-port =", read_agent_port},
    [SETTING_AGENT_SEND] = {OF_SERVER, "agent-send", NULL,
        "set server @ agent-send =", read_agent_send},
    [SETTING_FRONTEND] = {OF_FRONTEND, NULL, "disabled", "= frontend @",
        read_frontend, frontend_in_file},
    [SETTING_FRONTEND_MAXCONN] = {OF_FRONTEND, "maxconn", "maxconn",
        "set maxconn frontend @ =", read_frontend_maxconn},
    [SETTING_GLOBAL_MAXCONN] = {OF_PROCESS, "global maxconn", "maxconn",
        "set maxconn global =", read_global_maxconn},
    [SETTING_CONNECTIONS] = {OF_PROCESS, "connections per second",
        "rate_connections",
        "set rate-limit connections global =", read_connections},
    [SETTING_SESSIONS] = {OF_PROCESS, "sessions per second", "rate_sessions",
        "set rate-limit sessions global =", read_sessions},
    [SETTING_THREADS] = POOL_ROW("threads"),
    [SETTING_SHARDS] = POOL_ROW("shards"),
    [SETTING_CPUS] = POOL_ROW("cpus"),
    [SETTING_PROMOTION] = POOL_ROW("promotion"),
    [SETTING_ORDER] = POOL_ROW("order"),
    [SETTING_HANDSHAKE_THREADS] = POOL_ROW("handshake_threads"),
    [SETTING_HANDSHAKE_NICE] = POOL_ROW("handshake_nice"),
};
/* clang-format on */

void
setting_read(
    enum setting_id id, const struct setting_object *of, struct setting *ret)
{
	const struct setting_row *row = &setting_rows[id];
	struct setting_object object = *of;
	const struct server *s = of->server;

	/* The texts are large, and read for each server that was changed. */
	memset(ret, 0, offsetof(struct setting, value));
	ret->value[0] = ret->configured[0] = ret->base[0] = '\0';
	object.row = row;
	if (row->scope == OF_SERVER) {
		PUT(proxy, "%s", s->backend->spec->name);
		PUT(part, "%s", s->spec->name);
		PUT(subject, "server %s/%s %s", ret->proxy, ret->part,
		    row->what);
	} else if (row->scope == OF_FRONTEND) {
		PUT(proxy, "%s", of->frontend->spec->name);
		PUT(subject, "frontend %s%s%s", ret->proxy,
		    row->what ? " " : "", row->what ? row->what : "");
	} else if (row->scope == OF_POOL) {
		PUT(proxy, "%s", of->pool);
		PUT(subject, "pool %s %s", of->pool, row->what);
	} else {
		PUT(subject, "%s", row->what);
	}
	row->read(&object, ret);
	if (!ret->base[0])
		PUT(base, "%s", ret->configured);
}

void
setting_command(enum setting_id id, const struct setting *setting,
    const char *value, char *out, size_t size)
{
	size_t len = 0;

	for (const char *p = setting_rows[id].command; *p; p++) {
		const char *slash = setting->part[0] ? "/" : "";

		if (len >= size)
			return;
		if (*p == '@')
			len += (size_t)snprintf(out + len, size - len, "%s%s%s",
			    setting->proxy, slash, setting->part);
		else if (*p == '=')
			len += (size_t)snprintf(
			    out + len, size - len, "%s", value);
		else
			len +=
			    (size_t)snprintf(out + len, size - len, "%c", *p);
	}
}
