/* SPDX-License-Identifier: MIT
 * What the operator asked for, as plain values: the configuration after
 * defaults were filled in and references were checked.
 *
 * Built by src/config (from a file or from the command line) on the control
 * thread, and never changed afterwards: threads may read it freely.  All
 * durations are milliseconds and finite.
 */
#ifndef MODEL_SPEC_H
#define MODEL_SPEC_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

/* Where it was written, for messages; file is NULL for the command line. */
struct spec_place {
	const char *file; /* borrowed from the spec */
	unsigned line;
};

enum log_target { LOG_TARGET_STDERR, LOG_TARGET_OFF };

struct global_spec {
	char *admin;         /* path of the admin socket, NULL: none */
	uint32_t admin_mode; /* its file mode */
	enum log_target log; /* the access log; messages go to stderr */
	char *user, *group;  /* become these after binding, NULL: stay */
	char *node;          /* this host's name in `show info` */
	uint64_t drain_timeout_ms;
};

/* When the leader passes leadership on, and to whom: see lf/policy.h and
 * lf/promotion.h.  The values are those of enum policy_kind and
 * promotion_order.
 */
enum promotion_policy {
	PROMOTION_ADAPTIVE,
	PROMOTION_ALWAYS,
	PROMOTION_KERNEL,
};
enum follower_order { FOLLOWER_LIFO, FOLLOWER_FIFO, FOLLOWER_PRIORITY };

#define POOL_THREADS_MAX        1024
#define POOL_THREAD_CLASSES_MAX 4

/* `4 nice=0`: so many threads of one scheduling class. */
struct thread_class_spec {
	unsigned threads;
	int nice;
};

struct pool_spec {
	char *name;
	struct spec_place place;
	/* Already resolved when the file says auto; one class at least. */
	struct thread_class_spec classes[POOL_THREAD_CLASSES_MAX];
	unsigned classes_n;
	bool threads_auto;
	/* `2..8`: the pool grows and shrinks between these; it starts with the
	 * first, in one class.  Both 0: it does not. */
	unsigned threads_min, threads_max;
	unsigned shards; /* resolved; at most as many as threads */
	bool shards_auto;
	enum promotion_policy promotion;
	enum follower_order order;
	bool cpus_given;
	cpu_set_t cpus; /* where its threads run, if given */
};

struct listen_spec {
	char *text; /* as written */
	struct spec_place place;
	struct addr addr;
	bool both_families; /* `:80` and `*:80`: IPv4 as well as IPv6 */
	uint32_t mode;      /* of a unix socket's file */
};

struct frontend_spec {
	char *name;
	struct spec_place place;
	struct listen_spec *listens;
	size_t listens_n;
	size_t backend; /* index into spec.backends */
	size_t pool;    /* index into spec.pools */
	bool bound;     /* a session stays with the thread that accepted it */
	uint64_t timeout_client_ms;
	uint64_t timeout_client_fin_ms;
};

enum check_kind { CHECK_OFF, CHECK_CONNECT, CHECK_HTTP };

struct check_spec {
	enum check_kind kind;
	uint64_t interval_ms;
	uint64_t timeout_ms;
	unsigned fall, rise;
	char *path;   /* http; `/healthz` */
	char *host;   /* http: the Host header, NULL: the server's address */
	char *method; /* http: GET, HEAD or OPTIONS */
	unsigned status_min, status_max; /* http: what counts as healthy */
};

enum balance_kind { BALANCE_ROUNDROBIN };

#define WEIGHT_MAX     256
#define WEIGHT_DEFAULT 100

struct server_spec {
	char *name;
	struct spec_place place;
	char *address; /* as written */
	struct addr addr;
	unsigned weight; /* 0: no new sessions */
};

struct backend_spec {
	char *name;
	struct spec_place place;
	enum balance_kind balance;
	struct check_spec check;
	struct server_spec *servers;
	size_t servers_n;
	unsigned retries; /* further connect attempts after the first */
	uint64_t timeout_connect_ms;
	uint64_t timeout_server_ms;
	uint64_t timeout_server_fin_ms;
};

struct spec {
	char **files; /* every file that was read; places point here */
	size_t files_n;
	struct global_spec global;
	struct pool_spec *pools; /* at least one */
	size_t pools_n;
	struct frontend_spec *frontends; /* at least one */
	size_t frontends_n;
	struct backend_spec *backends; /* at least one, each with a server */
	size_t backends_n;
};

/* Frees everything the spec owns and the spec itself; NULL is fine. */
void spec_free(struct spec *spec);

#endif
