/* SPDX-License-Identifier: MIT
 * How one server is checked, and how its agent is asked: what the server has of
 * its own, and else what its backend has.
 *
 * Made with the server (model/server.h) and never changed; what is asked of it,
 * the path and the steps, is its backend's: model/spec_check.h.
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
	uint64_t down_interval_ms; /* of one that is down; 0: interval */
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
 */
struct check_rules check_rules_of(
    const struct backend_spec *backend, const struct server_spec *server);

/* Returns the rules of a server's agent: its own options, else its backend's.
 */
struct agent_rules agent_rules_of(
    const struct backend_spec *backend, const struct server_spec *server);

/* Returns whether both ask at the same address in the same way, however often
 * they do. */
bool check_rules_ask_same(
    const struct check_rules *a, const struct check_rules *b);

/* The same for agents. */
bool agent_rules_ask_same(
    const struct agent_rules *a, const struct agent_rules *b);

/* HAProxy's words: one answer of the agent's is enough, either way. */
#define AGENT_RISE 1u
#define AGENT_FALL 1u

#endif
