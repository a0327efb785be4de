/* SPDX-License-Identifier: MIT
 * The spec of [global], with the admin sockets and the HTTP port. See spec.h.
 */
#ifndef MODEL_SPEC_GLOBAL_H
#define MODEL_SPEC_GLOBAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/spec_listen.h"
#include "model/spec_log.h"
#include "model/spec_place.h"
#include "net/addr.h"

/* The rights of a client of an admin socket, as in HAProxy: users see
 * statistics; operators also see confidential data and reset counters; admins
 * change settings. */
enum admin_level { LEVEL_USER, LEVEL_OPERATOR, LEVEL_ADMIN };

#define ADMIN_CLIENTS_MAX 1000

/* `admin = /run/x.sock level=operator`: one admin socket. */
struct admin_spec {
	struct spec_place place;
	char *text; /* the address as written */
	struct addr addr;
	enum admin_level level;
	uint64_t timeout_ms; /* of an idle client */
	unsigned maxconn;    /* clients at a time */
	/* For a unix socket: the mode and owner of its file (NULL: the
	 * process's), and the clients with more rights than level: names of
	 * users, and of groups with an @ before, separated by commas. */
	uint32_t mode;
	char *user, *group;
	char *operators, *admins;
};

struct admin_list {
	struct admin_spec *all;
	size_t n;
};

/* `http = :8404 level=user users=/etc/lfproxy/http.users`: the HTTP port. */
struct http_spec {
	struct listen_spec at;  /* text NULL: there is none */
	char *hosts;            /* names that it answers to, see http/host.h */
	enum admin_level level; /* of clients that have not signed in */
	char *users;            /* who may sign in, see http/users.h */
	/* A header with the name of a user, from these addresses; NULL: none.
	 * The addresses are CIDR ranges with commas between. */
	char *user_header, *header_from;
	bool plain_sign_in; /* sign in without TLS also from other hosts */
};

/* The ended sessions for which TCP_INFO is read: those that end badly or have
 * lasted CLOSED_LONG_MS (AUTO), none (OFF), or all. */
enum closed_tcp_info { TCP_INFO_AUTO, TCP_INFO_OFF, TCP_INFO_ALL };
#define CLOSED_LONG_MS      1000
#define CLOSED_SESSIONS_MAX 65536

/* The filter of system calls (process/syscall_filter.h).  LOG: the kernel logs
 * the calls that ON would refuse.  AUTO: like ON where the kernel and the
 * container permit it, else like OFF. */
enum seccomp_mode { SECCOMP_OFF, SECCOMP_LOG, SECCOMP_ON, SECCOMP_AUTO };

struct global_spec {
	struct admin_list admin;
	struct http_spec http;
	struct log_list log;        /* the access log */
	struct log_list messages;   /* none: as the manual says */
	char *user, *group;         /* to become after binding; NULL: stay */
	char *chroot;               /* see process/root.h; NULL: none */
	char *node;                 /* this host's name in `show info` */
	char *info_name;            /* the product's name there */
	char *state_file;           /* see commands/state_file.h; NULL: none */
	uint64_t shutdown_delay_ms; /* from SIGTERM until listeners close */
	uint64_t drain_timeout_ms;
	uint64_t drain_idle_timeout_ms;
	unsigned maxconn;   /* sessions at a time, 0: as the system allows */
	bool strict_limits; /* maxconn needs two descriptors for each */
	/* Per second; 0: no limit.  Each connection is a session in lfproxy;
	 * there are two limits because HAProxy has commands for both. */
	unsigned rate_connections, rate_sessions;
	unsigned closed_sessions; /* ended sessions that are remembered */
	enum closed_tcp_info closed_tcp_info;
	enum seccomp_mode seccomp;
};

/* The most sessions at a time.  A higher limit would need more than 400 MB for
 * sessions alone, and the table of event handlers ends at four times this
 * number. */
#define MAXCONN_MAX (1u << 20)

/* Makes a deep copy, whose places refer to the same files.  Returns false when
 * memory is short; *ret_copy is untouched then. */
bool admin_list_copy(
    const struct admin_list *list, struct admin_list *ret_copy) MUST_CHECK;

/* Frees the elements; the list is empty then. */
void admin_list_clear(struct admin_list *list);

#endif
