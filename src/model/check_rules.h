/* SPDX-License-Identifier: MIT
 * How one server is checked, and how its agent is asked: by the server's own
 * options, and else by its backend's.
 *
 * The rules are made with the server, and again when an operator or a look-up
 * changes what they depend on (server_set_rules).  What is asked, such as the
 * path and the steps, is the backend's: model/spec_check.h.
 */
#ifndef MODEL_CHECK_RULES_H
#define MODEL_CHECK_RULES_H

#include <stdbool.h>

#include "model/spec.h"

enum check_tls {
	CHECK_TLS_NONE,
	CHECK_TLS_AS_SESSIONS, /* with the settings of its server's sessions */
	CHECK_TLS_OWN,         /* with the options of the check */
};

struct check_rules {
	bool on; /* not switched off, and the server tracks no other one */
	struct addr addr;
	uint64_t interval_ms;
	uint64_t fast_interval_ms; /* while results add up; 0: interval */
	uint64_t down_interval_ms; /* while the server is down; 0: interval */
	uint64_t timeout_ms;
	unsigned jitter; /* percent of the interval, either way */
	unsigned fall, rise;
	enum check_init init;
	enum proxy_version proxy;
	enum check_tls tls;
};

struct agent_rules {
	bool on;
	struct addr addr;
	uint64_t interval_ms, timeout_ms;
	const struct pattern *send; /* the spec's; n is 0: nothing */
	bool tls; /* with the settings of its server's sessions */
};

/* Returns the rules of a server's check: its own options, else its backend's.
 * addr: the present address of the server. */
struct check_rules check_rules_at(const struct backend_spec *backend,
    const struct server_spec *server, const struct addr *addr);

/* Does the same for the server's agent. */
struct agent_rules agent_rules_at(const struct backend_spec *backend,
    const struct server_spec *server, const struct addr *addr);

/* Return whether the server has a check, and an agent: the member on of the
 * rules. */
bool check_rules_on(
    const struct backend_spec *backend, const struct server_spec *server);
bool agent_rules_on(
    const struct backend_spec *backend, const struct server_spec *server);

/* Returns both for the address of the spec. */
static inline struct check_rules
check_rules_of(
    const struct backend_spec *backend, const struct server_spec *server)
{
	return check_rules_at(backend, server, &server->addr);
}

static inline struct agent_rules
agent_rules_of(
    const struct backend_spec *backend, const struct server_spec *server)
{
	return agent_rules_at(backend, server, &server->addr);
}

/* The address and port of a check or agent by its options: the server's own,
 * else its backend's; AF_UNSPEC and 0: those of sessions. */
struct check_place {
	const struct addr *addr; /* borrowed from the specs */
	unsigned port;
};
struct check_place check_place_of(
    const struct backend_spec *backend, const struct server_spec *server);
struct check_place agent_place_of(
    const struct backend_spec *backend, const struct server_spec *server);

/* Returns whether both ask at the same address in the same way, however often
 * they do. */
bool check_rules_ask_same(
    const struct check_rules *a, const struct check_rules *b);

/* Does what check_rules_ask_same does, for agents; the text that is sent
 * counts. */
bool agent_rules_ask_same(
    const struct agent_rules *a, const struct agent_rules *b);

/* The rise and fall of agents, as HAProxy calls them: one answer is enough
 * either way. */
#define AGENT_RISE 1u
#define AGENT_FALL 1u

#endif
