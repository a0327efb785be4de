/* SPDX-License-Identifier: MIT
 * The spec of a frontend. See spec.h.
 */
#ifndef MODEL_SPEC_FRONTEND_H
#define MODEL_SPEC_FRONTEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/bandwidth.h"
#include "model/spec_access.h"
#include "model/spec_listen.h"
#include "model/spec_log.h"
#include "model/spec_place.h"
#include "model/spec_rule.h"
#include "net/cidr.h"

/* Whether bulk data goes through pipes in the kernel. */
enum splice_mode { SPLICE_AUTO, SPLICE_OFF };

/* The treatment of a client that sends no whole hello in time.  CLOSE: every
 * client has to send a hello, or other bytes. */
enum on_no_hello { ON_NO_HELLO_CONTINUE, ON_NO_HELLO_CLOSE };

struct frontend_spec {
	char *name;
	struct spec_place place;
	struct listen_spec *listens;
	size_t listens_n;
	/* The peers that send a PROXY header where a listen says accept_proxy;
	 * none: all peers. */
	struct cidr *proxy_from;
	size_t proxy_from_n;
	struct access_spec *access; /* in the order of the file */
	size_t access_n;
	struct gate_reply on_deny; /* for clients that a rule denies */
	struct limit_spec *limits; /* in the order of the file */
	size_t limits_n;
	/* Each route has another backend.  There is at least one route, unless
	 * there are rules. */
	struct route_spec *routes;
	size_t routes_n;
	struct rule_spec *rules; /* in the order of the file */
	size_t rules_n;
	unsigned maxconn; /* sessions at a time, 0: no limit of its own */
	unsigned rate;    /* new sessions per second, 0: no limit */
	struct bandwidth_spec bandwidth;
	bool disabled; /* refuses connections until an operator enables it */
	uint64_t timeout_hello_ms; /* until the inspection is complete */
	enum on_no_hello on_no_hello;
	uint64_t timeout_handshake_ms; /* until the TLS handshake is complete */
	unsigned handshakes_max; /* TLS handshakes at a time, 0: no limit */
	uint64_t timeout_first_byte_ms; /* 0: no limit of its own */
	size_t pool;                    /* index into spec.pools */
	enum splice_mode splice;
	uint64_t timeout_client_ms;
	uint64_t timeout_client_fin_ms;
	bool half_close; /* a session goes on after the end of one side */
	/* The longest life of a session; 0: no limit.  The jitter shortens it
	 * by up to that many percent. */
	uint64_t max_age_ms;
	unsigned max_age_jitter;
	struct log_list log;
	bool log_on_connect;   /* logs a line when a server is connected */
	bool log_empty;        /* also sessions whose client sent nothing */
	uint64_t log_every_ms; /* interval of further lines; 0: none */
};

/* Returns the i-th reference of the frontend to a backend, an index into
 * spec.backends, or SIZE_MAX behind the last one.  The same backend may be
 * referred to more than once. */
size_t frontend_spec_backend(const struct frontend_spec *frontend, size_t i);

/* Returns whether that peer sends a PROXY header, at a listen that says
 * accept_proxy. */
bool frontend_spec_expects_proxy(
    const struct frontend_spec *frontend, const struct endpoint *peer);

#endif
