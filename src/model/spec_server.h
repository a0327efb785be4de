/* SPDX-License-Identifier: MIT
 * The spec of a server. See spec.h.
 */
#ifndef MODEL_SPEC_SERVER_H
#define MODEL_SPEC_SERVER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/optional.h"
#include "model/bandwidth.h"
#include "model/spec_check.h"
#include "model/spec_place.h"
#include "net/addr.h"
#include "net/proxy_protocol.h"
#include "net/sock_options.h"
#include "net/starttls.h"

#define WEIGHT_MAX     256
#define WEIGHT_DEFAULT 100

enum source_kind {
	SOURCE_NONE,    /* server: the backend's; backend: the kernel chooses */
	SOURCE_ADDRESS, /* addr */
	SOURCE_CLIENT,  /* the client's own, with any port: IP_TRANSPARENT */
};

/* The source of connections to a server. */
struct source_spec {
	enum source_kind kind;
	struct addr addr; /* its port is 0; AF_UNSPEC: any, only ports count */
	uint16_t port_low, port_high; /* 0: any port */
};

/* slow_start = off of a server whose backend has one. */
#define SLOW_START_OFF UINT64_MAX

/* Actions on a server's sessions when it goes down, and on the sessions of
 * backups when another server comes up. */
enum on_down { ON_DOWN_KEEP, ON_DOWN_CLOSE };
enum on_up { ON_UP_KEEP, ON_UP_CLOSE_BACKUP };

/* tls = off of a server whose backend has TLS, or of a backend. */
#define TLS_OFF UINT_MAX

/* When a server's name that is resolved is looked up again, unless an operator
 * asks for it: never (START), with each reload (RELOAD), or also when its TTL
 * has passed (TTL). */
enum resolve_mode { RESOLVE_START, RESOLVE_RELOAD, RESOLVE_TTL };
enum resolve_prefer { RESOLVE_IPV4, RESOLVE_IPV6 };

struct server_spec {
	char *name;
	struct spec_place place;
	char *address; /* as written */
	/* host: the server is given by name, addr is AF_UNSPEC, and a look-up
	 * gives the address (server_resolve).  NULL: the address is addr. */
	char *host;
	unsigned port;                  /* with host */
	struct optional resolve;        /* enum resolve_mode; unset: reload */
	struct optional resolve_prefer; /* enum resolve_prefer; unset: IPv4 */
	/* Port 0: a session gets the port that its client has connected to,
	 * plus port_offset. */
	struct addr addr;
	int port_offset;
	unsigned weight;  /* 0: no new sessions */
	unsigned maxconn; /* sessions at a time, 0: no limit */
	/* 0: the backend's per=server; or BANDWIDTH_OFF. */
	uint64_t bandwidth[BAND_DIRECTIONS];
	bool backup;             /* serves when no other server is usable */
	bool disabled;           /* in maintenance unless an operator or an
	                          * agent says otherwise */
	uint64_t slow_start_ms;  /* 0: the backend's; or SLOW_START_OFF */
	struct optional on_down; /* enum on_down; unset: the backend's */
	struct optional on_up;   /* enum on_up; unset: the backend's */
	struct check_own check;
	struct agent_own agent;
	/* `track = B/S`: the server has the health of server S of backend B,
	 * which itself tracks none.  NULL: the server has its own health. */
	char *track;
	size_t track_backend; /* index of B */
	struct optional
	    send_proxy; /* enum proxy_version; unset: the backend's */
	struct source_spec source;
	struct sock_options sock;
	/* Index into spec.tls, or TLS_OFF; unset: the backend's. */
	struct optional tls;
	struct optional starttls; /* enum starttls; unset: the backend's */
	bool added; /* through the admin socket, and not by the file */
	/* For a member of a set (struct set_spec): the index of the set in the
	 * backend.  The texts below are NULL for all other servers. */
	struct optional set;
	char *key;  /* the key of the member in its source */
	char *note; /* the source's remark, for people; may be empty */
	/* The address, which replaces the name where servers are placed by
	 * hashes, so that several lfproxies choose alike. */
	char *hash_name;
	uint64_t since_ms; /* clock_now_ms: when it became a member */
	bool joined; /* ... while lfproxy ran: no sessions before a check */
};

/* Returns whether the server has no port of its own: each session gets the port
 * that its client has connected to, plus port_offset. */
bool server_spec_maps_port(const struct server_spec *server);

/* Returns whether both servers have the same address, or the same name and
 * port. */
bool server_spec_same_place(
    const struct server_spec *a, const struct server_spec *b);

/* Returns a number that is not 0 and the same for servers with the same address
 * or name.  addr: in place of the server's own address or name; NULL: none. */
uint64_t server_spec_place(
    const struct server_spec *server, const struct addr *addr);

/* Returns whether both servers have the same values, except for their places in
 * files. */
bool server_spec_equal(
    const struct server_spec *a, const struct server_spec *b);

/* Returns the name of the server that this one tracks. */
static inline const char *
server_spec_tracked(const struct server_spec *server)
{
	const char *slash = strchr(server->track, '/');

	return slash ? slash + 1 : server->track;
}

/* Returns the name by which hashes place the server. */
static inline const char *
server_spec_hash_name(const struct server_spec *server)
{
	return server->hash_name ? server->hash_name : server->name;
}

/* Makes a deep copy, whose place refers to the same file name.  Returns false,
 * with *ret_copy untouched, when memory is short. */
bool server_spec_copy(
    const struct server_spec *server, struct server_spec *ret_copy) MUST_CHECK;

/* Frees the members, not the struct. */
void server_spec_clear(struct server_spec *server);

/* Frees a server of a backend_spec.  NULL is allowed. */
void server_spec_free(struct server_spec *server);

#endif
