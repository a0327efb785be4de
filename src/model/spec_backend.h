/* SPDX-License-Identifier: MIT
 * The spec of a backend, and of its sets of servers. See spec.h.
 */
#ifndef MODEL_SPEC_BACKEND_H
#define MODEL_SPEC_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/name_table.h"
#include "model/bandwidth.h"
#include "model/spec_check.h"
#include "model/spec_place.h"
#include "model/spec_server.h"
#include "resolve/discovery.h"

struct balance_ops;

/* The property of a session that `balance = hash` hashes. */
enum hash_key {
	HASH_KEY_SOURCE,      /* the client's address */
	HASH_KEY_SOURCE_PORT, /* and its port */
	HASH_KEY_DESTINATION, /* the address and port the client connected to */
	HASH_KEY_SNI,         /* the TLS server name, else as source */
};

/* Whether a source stays at the server that it has chosen last. */
enum sticky { STICKY_OFF, STICKY_STAY };

/* The default of sticky_size, as the table of keys has it. */
#define STICKY_SIZE_DEFAULT 100000

/* The failures of sessions that count as failed checks, and those that count
 * for an ejection.  A client can cause resets by what it sends. */
enum observe { OBSERVE_OFF, OBSERVE_CONNECT, OBSERVE_RESET };
enum eject_on { EJECT_ON_CONNECT, EJECT_ON_RESET };

/* The consequence of error_limit failures in a row. */
enum on_error {
	ON_ERROR_FAST_CHECK,
	ON_ERROR_FAIL_CHECK,
	ON_ERROR_SUDDEN_DEATH,
	ON_ERROR_MARK_DOWN,
};

/* The failures after which a session tries another server. */
enum retry_on {
	RETRY_ON_CONNECT, /* connects that fail */
	RETRY_ON_RESET,   /* and connections that are reset */
	RETRY_ON_CLOSE,   /* or closed, before a byte went either way */
};

/* timeout_queue = 0. */
#define QUEUE_NEVER UINT64_MAX

/* The changes that a set makes only if a second report confirms them: those
 * that would remove more than half of its members (HALF), none (OFF), or all
 * that remove a member (ALWAYS). */
enum set_confirm { SET_CONFIRM_HALF, SET_CONFIRM_OFF, SET_CONFIRM_ALWAYS };

#define SET_MEMBERS_MAX 10000

/* `servers = app 20 file=PATH weight=5`: servers app1 to app20, as many as the
 * source has members. */
struct set_spec {
	char *prefix; /* of the names */
	struct spec_place place;
	unsigned max;
	enum discovery_kind kind;
	char *source; /* as written behind `KIND=` */
	enum set_confirm confirm;
	/* Options of sources that are read by HTTP; NULL and 0: not given. */
	char *token, *ca, *cert, *key;
	bool common_name;
	uint64_t timeout_ms;
	/* The options of each member, unless the source gives it options of its
	 * own.  name is the prefix, and the address is a name that is never
	 * looked up. */
	struct server_spec member;
};

/* Returns the settings for reading a source over HTTP.  The texts are borrowed
 * from the set. */
static inline struct discovery_settings
set_spec_settings(const struct set_spec *set)
{
	return (struct discovery_settings){.url = set->source,
	    .token = set->token,
	    .ca = set->ca,
	    .cert = set->cert,
	    .key = set->key,
	    .common_name = set->common_name,
	    .timeout_ms = set->timeout_ms};
}

struct backend_spec {
	char *name;
	struct spec_place place;
	struct bandwidth_spec bandwidth;
	const struct balance_ops *balance; /* one of balance/balance.h */
	enum hash_key hash_key;
	unsigned
	    hash_balance_factor; /* percent of the fair share; 0: no bound */
	enum sticky sticky;
	uint64_t sticky_size;      /* sources in the table */
	uint64_t sticky_expire_ms; /* 0: never */
	struct check_spec check;
	char **check_headers; /* http: `Name: value` */
	size_t check_headers_n;
	struct pattern *check_bodies; /* http: the answer has each of them */
	size_t check_bodies_n;
	struct check_steps check_steps; /* send-expect */
	struct agent_spec agent;
	char *check_command; /* script: with arguments, blanks between */
	/* Options of server lines that have no such option of their own, as
	 * written; NULL: none. */
	char *server_defaults;
	struct server_spec **servers; /* each stays where it is */
	size_t servers_n, servers_room;
	struct name_index servers_index;
	/* How many of servers, the first ones, the file or a command gives one
	 * by one; the others are members of sets, in the order of the sets and
	 * of their numbers. */
	size_t singles_n;
	struct set_spec *sets;
	size_t sets_n;
	/* Names of the file's servers that the admin socket has deleted. */
	char **deleted;
	size_t deleted_n;
	struct source_spec source;
	/* Index into spec.tls, or TLS_OFF; unset: plain TCP. */
	struct optional tls;
	enum starttls starttls;        /* servers are asked for TLS with this */
	enum proxy_version send_proxy; /* the header that servers get first */
	bool all_backups; /* usable ones serve together; else the first alone */
	uint64_t slow_start_ms; /* of a server that comes up, 0: none */
	enum on_down on_down;
	enum on_up on_up;
	unsigned panic_percent; /* with fewer usable, all are tried; 0: never */
	unsigned retries;       /* further connect attempts after the first */
	enum retry_on retry_on;
	unsigned retry_budget;     /* percent of the present sessions */
	unsigned retry_budget_min; /* retries that are always allowed */
	enum observe observe;
	unsigned error_limit;
	enum on_error on_error;
	unsigned eject_after; /* failures in a row, 0: never */
	enum eject_on eject_on;
	uint64_t eject_time_ms, eject_time_max_ms;
	unsigned eject_max_percent; /* of the servers */
	unsigned maxqueue;          /* sessions that wait, 0: no limit */
	uint64_t timeout_connect_ms;
	uint64_t timeout_queue_ms; /* 0: timeout_connect; or QUEUE_NEVER */
	uint64_t timeout_server_ms;
	uint64_t timeout_server_fin_ms;
	bool half_close; /* as in struct frontend_spec; both have to allow it */
	/* Replaces timeout_client and timeout_server while both directions are
	 * open; 0: it does not. */
	uint64_t timeout_tunnel_ms;
	uint64_t timeout_drain_ms; /* sessions of a server that was removed */
};

/* The servers of a backend_spec, by name. */
#define SERVER_TABLE(backend) INDEXED_POINTERS(backend, servers)

/* Returns the address family to look the server's name up for: that of its
 * source's address, or AF_UNSPEC for any. */
int server_spec_family(
    const struct backend_spec *backend, const struct server_spec *server);

/* Returns the version of the PROXY header that the server gets first. */
enum proxy_version server_spec_send_proxy(
    const struct backend_spec *backend, const struct server_spec *server);

/* Returns how TLS with the server begins. */
enum starttls server_spec_starttls(
    const struct backend_spec *backend, const struct server_spec *server);

/* Returns whether connections to the server are made over TLS. */
bool server_spec_has_tls(
    const struct backend_spec *backend, const struct server_spec *server);

/* Frees the members, not the struct. */
void set_spec_clear(struct set_spec *set);

#endif
