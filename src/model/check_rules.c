/* SPDX-License-Identifier: MIT
 * See check_rules.h.
 */
#include "model/check_rules.h"

#include <string.h>

struct check_place
check_place_of(
    const struct backend_spec *backend, const struct server_spec *server)
{
	const struct check_spec *common = &backend->check;
	const struct check_own *own = &server->check;

	return (struct check_place){
	    own->addr.sa.sa_family != AF_UNSPEC ? &own->addr : &common->addr,
	    own->port ? own->port : common->port};
}

struct check_place
agent_place_of(
    const struct backend_spec *backend, const struct server_spec *server)
{
	const struct agent_spec *common = &backend->agent;
	const struct agent_own *own = &server->agent;

	return (struct check_place){
	    own->addr.sa.sa_family != AF_UNSPEC ? &own->addr : &common->addr,
	    own->port ? own->port : common->port};
}

/* Returns the address at the place, or that of sessions. */
static struct addr
place_addr(const struct addr *sessions, struct check_place place)
{
	struct addr addr =
	    place.addr->sa.sa_family != AF_UNSPEC ? *place.addr : *sessions;
	unsigned port = place.port;
	struct endpoint e;

	if (port == 0 && addr.sa.sa_family != AF_UNIX) {
		endpoint_set(&e, &sessions->sa, sessions->len);
		port = e.port;
	}
	addr_set_port(&addr, port);
	return addr;
}

/* Returns whether the check goes to another address than sessions do.  The
 * program there may expect something else, so the check then does only what its
 * options say, as in HAProxy. */
static bool
is_elsewhere(
    const struct backend_spec *backend, const struct server_spec *server)
{
	struct check_place place = check_place_of(backend, server);

	return place.port || place.addr->sa.sa_family != AF_UNSPEC;
}

/* Returns the PROXY header of the check: without an option, the header that
 * sessions send. */
static enum proxy_version
proxy_of(const struct backend_spec *backend, const struct server_spec *server)
{
	const struct check_spec *common = &backend->check;
	const struct check_own *own = &server->check;

	if (own->proxy.is_set)
		return (enum proxy_version)own->proxy.value;
	if (common->proxy.is_set)
		return (enum proxy_version)common->proxy.value;
	return is_elsewhere(backend, server)
	           ? PROXY_OFF
	           : server_spec_send_proxy(backend, server);
}

/* Returns how the check speaks TLS: without an option, it does so if sessions
 * do.  It uses their settings unless it has TLS options of its own. */
static enum check_tls
tls_of(const struct backend_spec *backend, const struct server_spec *server)
{
	const struct check_spec *common = &backend->check;
	enum sock_switch said =
	    server->check.tls ? server->check.tls : common->tls;
	bool has_tls = server_spec_has_tls(backend, server);
	bool wants_tls = check_is_tls(common) || said == SWITCH_ON;

	if (said == SWITCH_OFF || common->kind == CHECK_SCRIPT)
		return CHECK_TLS_NONE;
	if (wants_tls)
		return has_tls && !check_has_tls_options(common)
		           ? CHECK_TLS_AS_SESSIONS
		           : CHECK_TLS_OWN;
	return has_tls && !is_elsewhere(backend, server) ? CHECK_TLS_AS_SESSIONS
	                                                 : CHECK_TLS_NONE;
}

bool
check_rules_on(
    const struct backend_spec *backend, const struct server_spec *server)
{
	return backend->check.kind != CHECK_OFF &&
	       server->check.on != SWITCH_OFF && !server->track;
}

bool
agent_rules_on(
    const struct backend_spec *backend, const struct server_spec *server)
{
	enum sock_switch own = server->agent.on;

	return (own == SWITCH_DEFAULT ? backend->agent.on : own == SWITCH_ON) &&
	       !server->track;
}

struct check_rules
check_rules_at(const struct backend_spec *backend,
    const struct server_spec *server, const struct addr *addr)
{
	const struct check_spec *common = &backend->check;
	const struct check_own *own = &server->check;

#define EITHER(name) (own->name ? own->name : common->name)
	return (struct check_rules){
	    .on = check_rules_on(backend, server),
	    .addr = place_addr(addr, check_place_of(backend, server)),
	    .interval_ms = EITHER(interval_ms),
	    .fast_interval_ms = EITHER(fast_interval_ms),
	    .down_interval_ms = EITHER(down_interval_ms),
	    .timeout_ms = EITHER(timeout_ms),
	    .fall = EITHER(fall),
	    .rise = EITHER(rise),
	    .jitter = optional_or(own->jitter, common->jitter),
	    .init = (enum check_init)optional_or(own->init, common->init),
	    .proxy = proxy_of(backend, server),
	    .tls = tls_of(backend, server),
	};
}

struct agent_rules
agent_rules_at(const struct backend_spec *backend,
    const struct server_spec *server, const struct addr *addr)
{
	const struct agent_spec *common = &backend->agent;
	const struct agent_own *own = &server->agent;
	enum sock_switch tls = own->tls ? own->tls : common->tls;

	return (struct agent_rules){
	    .on = agent_rules_on(backend, server),
	    .addr = place_addr(addr, agent_place_of(backend, server)),
	    .interval_ms = EITHER(interval_ms),
	    .timeout_ms = EITHER(timeout_ms),
	    .send = own->send.n > 0 ? &own->send : &common->send,
	    .tls = tls == SWITCH_DEFAULT ? server_spec_has_tls(backend, server)
	                                 : tls == SWITCH_ON,
	};
#undef EITHER
}

bool
check_rules_ask_same(const struct check_rules *a, const struct check_rules *b)
{
	return addr_equal(&a->addr, &b->addr) && a->proxy == b->proxy &&
	       a->tls == b->tls;
}

bool
agent_rules_ask_same(const struct agent_rules *a, const struct agent_rules *b)
{
	size_t n = a->send->n;

	/* With n == 0 the bytes may be NULL, which memcmp must not get. */
	return addr_equal(&a->addr, &b->addr) && a->tls == b->tls &&
	       n == b->send->n &&
	       (n == 0 || memcmp(a->send->bytes, b->send->bytes, n) == 0);
}
