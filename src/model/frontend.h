/* SPDX-License-Identifier: MIT
 * A frontend: the limits and counters of its sessions, and the choice of a
 * backend for each session.
 */
#ifndef MODEL_FRONTEND_H
#define MODEL_FRONTEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/trend.h"
#include "model/access.h"
#include "model/counters.h"
#include "model/override.h"
#include "model/spec.h"

struct backend;
struct cycle;
struct limits;
struct log_target;
struct model;
struct rules;
struct rule_facts;

/* A target of a frontend's access log. */
struct frontend_log {
	struct log_target *target; /* borrowed from the log */
	enum log_format format;
	unsigned sample; /* one session in `sample` is logged */
};

/* The administrative state of a frontend, set by the operator. */
enum frontend_admin {
	FRONTEND_OPEN,
	FRONTEND_PAUSED, /* refuses connections; a reload leaves it paused */
	FRONTEND_SHUT,   /* its sockets are closed until a reload */
};

#define FRONTEND_NO_LIMIT UINT32_MAX

#define ROUTE_NONE UINT16_MAX

/* An address that the frontend listens on, for its acceptor. */
struct frontend_listen {
	struct frontend *frontend;
	unsigned number;         /* from 1, in the order of the file */
	bool accept_proxy;       /* see frontend_spec_expects_proxy */
	enum starttls starttls;  /* how the TLS of its clients begins */
	struct tls_context *tls; /* borrowed from the spec; NULL: plain TCP */
};

struct frontend_state {
	/* Shared. */
	struct counters *counters;
	uint32_t maxconn;    /* sessions at a time; relaxed */
	uint32_t rate_limit; /* new sessions per second, 0: none; relaxed */
	uint32_t held;       /* clients that the gate holds; relaxed */
	struct gauge sessions CACHE_LINE_ALIGNED;
	struct gauge handshakes; /* TLS with clients, from the accept on */
	uint64_t rate_due_ns;    /* see model/rate_limit.h */
	struct bandwidth bandwidth;
	/* Sessions that wait for their clients: proxy/newcomers.h.  Any thread,
	 * under the lock. */
	struct lock newcomers_lock CACHE_LINE_ALIGNED;
	struct list newcomers;

	/* Control thread only. */
	unsigned refs CACHE_LINE_ALIGNED;
	unsigned id;
	enum frontend_admin admin;
	/* The operator's maxconn, in place of the file's, and admin, in place
	 * of its `disabled`. */
	struct override maxconn_set, admin_set;
	struct rate rate;
	struct trend trend; /* of its sessions */
};

struct frontend {
	const struct frontend_spec *spec; /* borrowed from the model's spec */
	unsigned id;                      /* HAProxy's iid */
	struct model *model;
	struct frontend_state *state;
	struct counters *counters; /* the state's */
	struct gauge *sessions;    /* likewise */
	struct frontend_log *logs; /* set before sessions come; NULL: none */
	size_t logs_n;
	struct cycle *split; /* over the routes; NULL: fewer than two */
	struct rules *rules; /* NULL: none */
	/* By route: the route of the fallback, or ROUTE_NONE.  NULL: no route
	 * has a fallback. */
	uint16_t *fallbacks;
	uint16_t
	    *told_routes; /* control thread: what events said serves each */
	struct access *access;           /* NULL: no rules */
	struct limits *limits;           /* by source; NULL: none */
	struct frontend_listen *listens; /* as many as the spec has */
	bool inspects;     /* may read TLS hellos, see frontend_needs_hello */
	bool split_hashes; /* so for the hash_key of a backend of the split */
	/* The backends of spec->routes in this order, then those that only
	 * rules and fallbacks name, then NULL for a session without a backend.
	 */
	uint16_t backends_n;
	struct backend *backends[];
};

/* Takes a step of the split, and returns the index of its backend for the next
 * session, exactly by weight.  A backend without servers loses its steps to the
 * others, unless no backend has servers.  Data threads, in a grace section. */
unsigned frontend_route(const struct frontend *frontend);

/* Returns whether the backend of a client, or the server there, depends on the
 * client's TLS hello.  The facts are those known without it.  Any thread, in a
 * grace section. */
bool frontend_needs_hello(
    const struct frontend *frontend, const struct rule_facts *facts);

/* Returns the index of the backend for a session of a client with these facts.
 * All facts are known, or frontend_needs_hello has returned false for them.
 * Returns backends_n if no rule matches and no other backend is configured.
 * Data threads, in a grace section. */
unsigned frontend_route_by(
    const struct frontend *frontend, const struct rule_facts *facts);

/* Returns the first of this route, its fallback, the fallback's fallback and so
 * on whose backend has a usable server; the route itself if none has one.  Data
 * threads, in a grace section; the control thread. */
unsigned frontend_usable_route(const struct frontend *frontend, unsigned route);

/* Returns the route for a session that the servers of this route have failed:
 * frontend_usable_route of its fallback, or the route itself if no fallback has
 * a usable server.  Threads as above. */
unsigned frontend_next_route(const struct frontend *frontend, unsigned route);

/* Returns what frontend_route would return, without taking a step.  Runs on
 * data threads in a grace section, or on the control thread. */
unsigned frontend_peek_route(const struct frontend *frontend);

/* Makes a frontend of the model.  The frontend keeps the state of `before`,
 * which may be NULL. Runs on the control thread.  Returns NULL when memory is
 * short. */
struct frontend *frontend_new(const struct frontend_spec *spec,
    struct model *model, const struct frontend *before);

/* Returns the administrative state that the frontend has once its model is
 * committed: that of the operator, unless the override has ended or the
 * frontend was shut down.  Runs on the control thread. */
enum frontend_admin frontend_admin_next(const struct frontend *frontend);

/* Sets the state in place of the file's. */
void frontend_set_admin(struct frontend *frontend, enum frontend_admin admin);

/* Enters the state that frontend_admin_next returns.  Called when the model is
 * committed, on the control thread. */
void frontend_follow_disabled(struct frontend *frontend);

/* Adds an event for each route that is served by another backend than the last
 * event said.  Runs on the control thread. */
void frontend_report_fallbacks(struct frontend *frontend);

/* NULL is allowed. */
void frontend_free(struct frontend *frontend);

/* Gives the frontend its backends and their shares, once the model has all of
 * them.  before: the frontend that it replaces in the former model; both may be
 * NULL.  Returns false when memory is short. */
bool frontend_connect(struct frontend *frontend, const struct frontend *before,
    const struct model *former) MUST_CHECK;

#endif
