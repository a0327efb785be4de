/* SPDX-License-Identifier: MIT
 * The spec of checks and of agents. See spec.h.
 */
#ifndef MODEL_SPEC_CHECK_H
#define MODEL_SPEC_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/optional.h"
#include "base/pattern.h"
#include "net/addr.h"
#include "net/proxy_protocol.h"
#include "net/sock_options.h"
#include "tls/trust.h"

enum check_kind {
	CHECK_OFF,
	CHECK_CONNECT,
	CHECK_HTTP,
	CHECK_HTTPS,
	CHECK_TLS,
	CHECK_SCRIPT,
	CHECK_SEND_EXPECT,
	CHECK_REDIS,
	CHECK_POSTGRESQL,
	CHECK_MYSQL,
	CHECK_SMTP,
	CHECK_KINDS, /* how many */
};
enum check_init { CHECK_INIT_UP, CHECK_INIT_DOWN };
enum http_version { HTTP_VERSION_1_1, HTTP_VERSION_2 };

/* HTTP statuses: bit n stands for STATUS_MIN + n. */
#define STATUS_MIN 100u
#define STATUS_MAX 599u
struct status_set {
	uint64_t bits[(STATUS_MAX - STATUS_MIN) / 64 + 1];
};

/* Adds the statuses from..to. */
void status_set_add(struct status_set *set, unsigned from, unsigned to);
/* Returns whether the set has the status.  Any number is allowed. */
bool status_set_has(const struct status_set *set, long status);

/* A step of a send-expect check.  STEP_SEND sends the pattern and starts a new
 * answer; STEP_EXPECT waits until the answer has the pattern; STEP_REFUSE,
 * before a STEP_EXPECT, fails the check as soon as the answer has its pattern.
 */
enum step_kind { STEP_SEND, STEP_EXPECT, STEP_REFUSE };
struct check_step {
	enum step_kind kind;
	struct pattern pattern;
};
struct check_steps {
	struct check_step *steps;
	size_t n;
};

struct check_spec {
	enum check_kind kind;
	uint64_t interval_ms;
	uint64_t fast_interval_ms; /* while results add up; 0: interval */
	uint64_t down_interval_ms; /* while the server is down; 0: interval */
	unsigned jitter;           /* percent of the interval, either way */
	uint64_t timeout_ms;
	unsigned fall, rise;
	enum check_init init; /* until the first check has ended */
	unsigned port;        /* 0: the server's */
	struct addr addr;     /* its port is 0; AF_UNSPEC: the server's */
	/* The header that a check begins with, enum proxy_version; unset: see
	 * check_rules_of. */
	struct optional proxy;
	char *path;   /* http; `/healthz` */
	char *host;   /* http: the Host header, NULL: the server's address */
	char *method; /* http: GET, HEAD or OPTIONS */
	struct status_set status; /* http: what counts as healthy */
	enum http_version version;
	/* Whether it is made over TLS; unset: see check_rules_of. */
	enum sock_switch tls;
	bool verify;       /* TLS: the server's certificate */
	char *ca;          /* TLS: as written, NULL: the system's */
	char *sni;         /* TLS: the server's name, or NULL */
	bool common_name;  /* TLS: the CN may have the name */
	X509_STORE *trust; /* TLS: what ca says; NULL: verify is off */
	char *user;        /* postgresql */
	char *hello;       /* smtp: the name for EHLO */
	bool helo;         /* smtp: HELO in place of EHLO */
	struct check_steps preset_steps; /* of redis, postgresql and so on */
};

/* The agent: a program on the server's host that is asked in addition to the
 * check. */
struct agent_spec {
	bool on;
	uint64_t interval_ms;
	uint64_t timeout_ms;
	unsigned port;       /* 0: servers have their own */
	struct addr addr;    /* its port is 0; AF_UNSPEC: the server's */
	struct pattern send; /* sent first; n is 0: nothing */
	/* Whether it is asked over TLS; unset: see agent_rules_of. */
	enum sock_switch tls;
};

/* A server's own options of its check, which precede its backend's.  A number
 * of 0 is unset. */
struct check_own {
	enum sock_switch on;
	uint64_t interval_ms, fast_interval_ms, down_interval_ms, timeout_ms;
	struct optional jitter;
	unsigned fall, rise, port;
	struct addr addr;      /* its port is 0 */
	struct optional init;  /* enum check_init */
	struct optional proxy; /* enum proxy_version */
	enum sock_switch tls;
};
struct agent_own {
	enum sock_switch on;
	uint64_t interval_ms, timeout_ms;
	unsigned port;
	struct addr addr; /* its port is 0 */
	struct pattern send;
	enum sock_switch tls;
};

struct backend_spec;

/* Returns whether the check is http or https. */
bool check_kind_is_http(enum check_kind kind);
/* Returns whether the check speaks TLS, whatever the server does. */
bool check_is_tls(const struct check_spec *check);
/* Returns whether options of the check say how it speaks TLS. */
bool check_has_tls_options(const struct check_spec *check);

/* Returns the steps of the check: the preset's, or the backend's own. */
const struct check_step *check_steps(
    const struct backend_spec *backend, size_t *ret_n);

/* Returns whether the checks of both backends ask the same and expect the same
 * answer; for addresses and intervals see model/check_rules.h. */
bool check_asks_same(
    const struct backend_spec *a, const struct backend_spec *b);

/* Frees the members, not the struct. */
void check_spec_fini(struct check_spec *check);

#endif
