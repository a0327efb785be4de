/* SPDX-License-Identifier: MIT
 * The spec: the configuration as plain values, after defaults were filled in
 * and references were checked.
 *
 * src/config builds it on the control thread, from a file or from the command
 * line.  It never changes afterwards, so any thread may read it.  All durations
 * are milliseconds and finite.
 */
#ifndef MODEL_SPEC_H
#define MODEL_SPEC_H

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log_sink.h"
#include "base/memory_use.h"
#include "base/optional.h"
#include "base/pattern.h"
#include "lf/policy.h"
#include "lf/pool_class.h"
#include "lf/promotion.h"
#include "model/access.h"
#include "model/bandwidth.h"
#include "net/addr.h"
#include "net/cidr.h"
#include "net/proxy_protocol.h"
#include "net/sock_options.h"
#include "net/starttls.h"
#include "net/trust.h"
#include "resolve/discovery.h"
#include "tls/settings.h"

struct balance_ops;
struct acl_content;
struct acl_recipe;
struct tls_context;

/* A place in the configuration, for messages; file is NULL for the command
 * line. */
struct spec_place {
	const char *file; /* borrowed from the spec */
	unsigned line;
};

enum log_format { LOG_TCPLOG, LOG_JSON, LOG_LOGFMT };
enum log_rfc { LOG_RFC3164, LOG_RFC5424 };

/* `log = file=/var/log/x format=json`: one target of the access log. */
struct log_spec {
	struct spec_place place;
	enum log_sink_kind kind;
	char *where;      /* as written: the path, the address, or NULL */
	struct addr addr; /* of the syslog daemon */
	char *host;    /* the daemon's name, and addr is AF_UNSPEC; or NULL */
	unsigned port; /* with host */
	enum log_format format;
	unsigned sample;   /* one session in `sample` is logged */
	uint32_t mode;     /* of a file that is made */
	unsigned facility; /* syslog: 0 to 23 */
	enum log_rfc rfc;  /* syslog */
	char *tag;         /* syslog */
};

/* The value off is a list of one LOG_SINK_OFF; an empty list of a frontend
 * means [global]'s. */
struct log_list {
	struct log_spec *logs;
	size_t n;
};

struct listen_spec {
	char *text; /* as written */
	struct spec_place place;
	/* `0.0.0.0:8000-8099` makes a listen for each port, one after another;
	 * text is the range at the first and HOST:PORT at the others. */
	unsigned range; /* ports of the range that begins here; 0: none does */
	bool in_range;  /* the range begins at a listen before this one */
	struct addr addr;
	bool both_families;  /* `:80` and `*:80`: IPv4 as well as IPv6 */
	uint32_t mode;       /* of a unix socket's file */
	char *user, *group;  /* its owner; NULL: the process's */
	bool accept_proxy;   /* clients send a PROXY header: proxy_from */
	struct optional tls; /* index into spec.tls; unset: plain TCP */
	/* enum starttls: clients ask for TLS in their protocol; unset: off. */
	struct optional starttls;
	struct sock_options sock;
};

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
	char *hosts;            /* names it answers to, see http/host.h */
	enum admin_level level; /* of those who have not signed in */
	char *users;            /* who may sign in, see http/users.h */
	/* A header with the name of a user, from these addresses; NULL: none.
	 * The addresses are CIDR ranges with commas between. */
	char *user_header, *header_from;
	bool plain_sign_in; /* without TLS also from other hosts */
};

/* For which ended sessions TCP_INFO is read: for those that end badly or have
 * lasted CLOSED_LONG_MS (auto), for none, for all. */
enum closed_tcp_info { TCP_INFO_AUTO, TCP_INFO_OFF, TCP_INFO_ALL };
#define CLOSED_LONG_MS      1000
#define CLOSED_SESSIONS_MAX 65536

struct global_spec {
	struct admin_list admin;
	struct http_spec http;
	struct log_list log;        /* the access log; messages go to stderr */
	char *user, *group;         /* become these after binding, NULL: stay */
	char *node;                 /* this host's name in `show info` */
	char *info_name;            /* the product's name there */
	char *state_file;           /* see commands/state_file.h; NULL: none */
	uint64_t shutdown_delay_ms; /* from SIGTERM until listeners close */
	uint64_t drain_timeout_ms;
	uint64_t drain_idle_timeout_ms;
	unsigned maxconn; /* sessions at a time, 0: as the system allows */
	/* Per second, 0: no limit.  A connection is a session here; there are
	 * two limits because HAProxy's commands know both. */
	unsigned rate_connections, rate_sessions;
	unsigned closed_sessions; /* ended sessions that are remembered */
	enum closed_tcp_info closed_tcp_info;
};

/* More would need more than 400 MB for sessions alone, and the table of event
 * handlers ends at four times that. */
#define MAXCONN_MAX (1u << 20)

struct pool_spec {
	char *name;
	struct spec_place place;
	/* Already resolved when the file says auto; one class at least. */
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned classes_n;
	bool threads_auto;
	/* `2..8`: the pool grows and shrinks between these; it starts with the
	 * first, in one class.  Both 0: it does not. */
	unsigned threads_min, threads_max;
	unsigned shards; /* resolved; at most as many as threads */
	bool shards_auto;
	enum policy_kind promotion; /* when a leader promotes */
	enum promotion_order order; /* and whom */
	bool cpus_given;
	cpu_set_t cpus; /* where its threads run, if given */
	/* TLS handshakes that compute at once; 0: one less than the threads. */
	unsigned handshake_threads;
	unsigned handshake_nice; /* how much nicer the threads are meanwhile */
};

#define HANDSHAKE_NICE_MAX 20

/* Whether bulk data goes through pipes in the kernel. */
enum splice_mode { SPLICE_AUTO, SPLICE_OFF };

/* A backend of a frontend, and its share of the sessions. */
struct route_spec {
	struct spec_place place;
	size_t backend; /* index into spec.backends */
	unsigned weight;
	/* Likewise: the backend for its sessions while it has no usable server;
	 * unset: none. */
	struct optional fallback;
};

#define ROUTES_MAX 64

/* A [list NAME] that a rule or a limit asks about addresses: an index of
 * spec.lists, and the name, which is NULL if there is no list. */
struct list_use {
	size_t list;
	char *name;
};

/* Addresses in a rule: one of these ranges or lists has the endpoint. */
struct rule_ranges {
	struct cidr *all;
	size_t n;
	struct list_use *lists;
	size_t lists_n;
};

/* Returns whether there is such a condition. */
static inline bool
rule_ranges_any(const struct rule_ranges *ranges)
{
	return ranges->n > 0 || ranges->lists_n > 0;
}

/* Ports in a rule, each range with both ends. */
struct rule_ports {
	struct port_range {
		uint16_t low, high;
	} * all;
	size_t n; /* 0: no condition */
};

/* A rule: sessions for which all of its conditions hold get this backend.  It
 * has one condition at least. */
struct rule_spec {
	struct spec_place place;
	bool is_short;  /* written as `sni = NAMES`, which has names alone */
	size_t backend; /* index into spec.backends */
	/* The name that a TLS client asks for.  Normalized by
	 * tls_name_normalize, wildcards with `*.` before, separated by blanks;
	 * NULL: no condition. */
	char *names;
	char *alpn; /* protocols, separated by blanks; NULL: no condition */
	enum sock_switch tls; /* whether the client speaks TLS */
	/* The client, and the address and the port that it has connected to.
	 * Behind a PROXY header these are the ones that it names. */
	struct rule_ranges src, dst;
	struct rule_ports ports;
};

/* Different protocols in the rules of a frontend. */
#define RULE_PROTOCOLS_MAX 64

/* Different backends of a frontend, those of its rules included. */
#define FRONTEND_BACKENDS_MAX 65000

/* A word of `allow =` or `deny =`. */
struct access_spec {
	struct spec_place place;
	bool allow;
	enum access_kind kind;
	struct cidr range; /* ACCESS_RANGE */
	size_t list;       /* ACCESS_LIST: index into spec.lists */
	char *list_name;   /* likewise: its name */
};

#define ACCESS_TEXT_SIZE (CIDR_TEXT_SIZE + 64)

/* Writes it as `allow 10.0.0.0/8`.  Returns out. */
const char *access_spec_text(
    const struct access_spec *rule, char out[ACCESS_TEXT_SIZE]);

/* A limit counts each source for itself, all clients together, or the clients
 * of a list together. */
enum limit_per { LIMIT_PER_SOURCE, LIMIT_PER_FRONTEND, LIMIT_PER_LIST };

/* The clients that a limit is for. */
enum limit_for { LIMIT_FOR_ALL, LIMIT_FOR_LIST, LIMIT_FOR_OTHERS };

/* Connections in a time. */
struct limit_rate {
	unsigned count; /* 0: any number */
	char unit;      /* s, m or h */
};

/* Bytes in a time, in both directions. */
struct limit_bytes {
	uint64_t count; /* 0: any number */
	char unit;      /* s, m or h */
};

/* `limit = sessions=20 rate=10/s`: see model/limit.h. */
struct limit_spec {
	struct spec_place place;
	unsigned sessions; /* at a time, 0: any number */
	struct limit_rate rate;
	unsigned burst; /* as written, 0: see limit_spec_burst */
	struct limit_bytes bytes;
	enum limit_per per;
	/* per=list:NAME, only=list:NAME and except=list:NAME; at most one of
	 * them is there. */
	struct list_use together, only, except;
	unsigned prefix4, prefix6; /* bits of an address that make a source */
	/* To clients beyond the limit.  GATE_DELAY: hold_ms is the longest
	 * delay; a client that would have to wait longer, or that has too many
	 * sessions, is reset. */
	struct gate_reply action;
	uint64_t size; /* entries of the table */
};

/* A session notes in 16 bits in which of them it counts; the bandwidth of
 * sources takes a bit as well. */
#define LIMITS_MAX 8

/* Returns how many connections may come at once: by default as many as the rate
 * allows in its time. */
static inline unsigned
limit_spec_burst(const struct limit_spec *limit)
{
	return limit->burst > 0        ? limit->burst
	       : limit->rate.count > 0 ? limit->rate.count
	                               : 1;
}

/* Returns the list that the limit asks, or NULL. */
const struct list_use *limit_spec_list(
    const struct limit_spec *limit, enum limit_for *ret_for);

#define LIMIT_TEXT_SIZE 192

/* Writes the bounds as `sessions=20 rate=10/s burst=30 per=source`.  Returns
 * out. */
const char *limit_spec_text(
    const struct limit_spec *limit, char out[LIMIT_TEXT_SIZE]);

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
	struct gate_reply on_deny; /* to clients that a rule denies */
	struct limit_spec *limits; /* in the order of the file */
	size_t limits_n;
	/* Each has another backend; at least one, unless there are rules. */
	struct route_spec *routes;
	size_t routes_n;
	struct rule_spec *rules; /* in the order of the file */
	size_t rules_n;
	unsigned maxconn; /* sessions at a time, 0: no limit of its own */
	unsigned rate;    /* new sessions per second, 0: no limit */
	struct bandwidth_spec bandwidth;
	bool disabled; /* refuses connections until an operator enables it */
	uint64_t timeout_hello_ms;     /* until the inspection is complete */
	uint64_t timeout_handshake_ms; /* until the TLS handshake is complete */
	unsigned handshakes_max; /* TLS handshakes at a time, 0: no limit */
	uint64_t timeout_first_byte_ms; /* 0: no limit of its own */
	size_t pool;                    /* index into spec.pools */
	enum splice_mode splice;
	uint64_t timeout_client_ms;
	uint64_t timeout_client_fin_ms;
	/* The longest life of a session, 0: no limit; the jitter takes up to
	 * that many percent off. */
	uint64_t max_age_ms;
	unsigned max_age_jitter;
	struct log_list log;
	bool log_on_connect;   /* a line when a server is connected */
	bool log_empty;        /* also sessions whose client sent nothing */
	uint64_t log_every_ms; /* interval of further lines; 0: none */
};

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
/* Whether the set has the status.  Any number is allowed. */
bool status_set_has(const struct status_set *set, long status);

/* A step of a send-expect check.  STEP_SEND starts a new answer; STEP_EXPECT
 * waits until the answer has the pattern; STEP_REFUSE, before an expect, fails
 * the check as soon as the answer has it. */
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
	X509_STORE *trust; /* TLS: what ca says; NULL: verify is off */
	char *user;        /* postgresql */
	struct check_steps preset_steps; /* of redis, postgresql and so on */
};

/* The agent: a program on the server's host that is asked beside the check. */
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

/* The property of a session that `balance = hash` hashes. */
enum hash_key {
	HASH_KEY_SOURCE,      /* the client's address */
	HASH_KEY_SOURCE_PORT, /* and its port */
	HASH_KEY_DESTINATION, /* the address and port the client connected to */
	HASH_KEY_SNI,         /* the TLS server name, else as source */
};

/* The failures of sessions that count as failed checks. */
enum observe { OBSERVE_OFF, OBSERVE_CONNECT };

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

/* The fate of a server's sessions when it goes down, and of the backups'
 * sessions when another server comes up. */
enum on_down { ON_DOWN_KEEP, ON_DOWN_CLOSE };
enum on_up { ON_UP_KEEP, ON_UP_CLOSE_BACKUP };

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

/* tls = off of a server whose backend has TLS, or of a backend. */
#define TLS_OFF UINT_MAX

/* When the name of a server is looked up, beside until it is resolved. */
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
	/* `track = B/S`: the server has the health of that server, which itself
	 * tracks none; NULL: it has its own. */
	char *track;
	size_t track_backend, track_server; /* indices */
	struct optional
	    send_proxy; /* enum proxy_version; unset: the backend's */
	struct source_spec source;
	struct sock_options sock;
	/* Index into spec.tls, or TLS_OFF; unset: the backend's. */
	struct optional tls;
	struct optional starttls; /* enum starttls; unset: the backend's */
	bool added; /* through the admin socket, and not by the file */
	/* A member of a set (struct set_spec): the index of the set in the
	 * backend.  The texts are NULL for a server that is none. */
	struct optional set;
	char *key;  /* the member's in its source */
	char *note; /* of the source, for people; may be empty */
	/* Stands for the name where servers are placed by hashes, so that
	 * several lfproxies agree: the address. */
	char *hash_name;
	uint64_t since_ms; /* clock_now_ms: when it became a member */
	bool joined; /* ... while lfproxy ran: no sessions before a check */
};

/* Changes that a set makes only if a second report confirms them: those that
 * would remove more than half of its members, none, or all that remove one. */
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
	uint64_t timeout_ms;
	/* The options that each member has, unless its own say otherwise.  Its
	 * name is the prefix, and its address a name that is never looked up.
	 */
	struct server_spec member;
};

/* Returns what a source over HTTP is read with; texts are borrowed. */
static inline struct discovery_settings
set_spec_settings(const struct set_spec *set)
{
	return (struct discovery_settings){.url = set->source,
	    .token = set->token,
	    .ca = set->ca,
	    .cert = set->cert,
	    .key = set->key,
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
	struct check_spec check;
	char **check_headers; /* http: `Name: value` */
	size_t check_headers_n;
	struct pattern *check_bodies; /* http: the answer has each of them */
	size_t check_bodies_n;
	struct check_steps check_steps; /* send-expect */
	struct agent_spec agent;
	char *check_command; /* script: with arguments, blanks between */
	/* Options for each server line that does not say otherwise, as
	 * written; NULL: none. */
	char *server_defaults;
	struct server_spec *servers;
	size_t servers_n, servers_room;
	/* The first of them, which the file or a command gives one by one; the
	 * others are members of sets, by the order of the sets and their
	 * numbers. */
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
	unsigned retry_budget;     /* percent of the sessions there are */
	unsigned retry_budget_min; /* retries under way that always may be */
	enum observe observe;
	unsigned error_limit;
	enum on_error on_error;
	unsigned eject_after; /* failures in a row, 0: never */
	uint64_t eject_time_ms, eject_time_max_ms;
	unsigned eject_max_percent; /* of the servers */
	unsigned maxqueue;          /* sessions that wait, 0: no limit */
	uint64_t timeout_connect_ms;
	uint64_t timeout_queue_ms; /* 0: timeout_connect; or QUEUE_NEVER */
	uint64_t timeout_server_ms;
	uint64_t timeout_server_fin_ms;
	/* Instead of client and server while both directions are open; 0: they
	 * hold. */
	uint64_t timeout_tunnel_ms;
	uint64_t timeout_drain_ms; /* sessions of a server that was removed */
};

/* `[tls NAME]`. */
struct tls_spec {
	char *name;
	struct spec_place place;
	struct tls_settings settings;
	/* By enum tls_role; NULL: nothing uses the section in that role.
	 * Shared and counted. */
	struct tls_context *context[TLS_ROLES];
};

/* A word of `entry =` of a list. */
struct list_entry_spec {
	struct spec_place place;
	struct cidr range;
};

/* `file =` of a list. */
struct list_file_spec {
	struct spec_place place;
	char *path;
	char *countries; /* of a MaxMind database, as `DE,FR`; NULL: lines */
};

/* `[list NAME]`. */
struct list_spec {
	char *name;
	struct spec_place place;
	struct list_entry_spec *entries;
	size_t entries_n;
	struct list_file_spec *files;
	size_t files_n;
	struct acl_recipe *recipe; /* of both; shared and counted */
	/* The contents that were read, until a model takes them; NULL: not read
	 * yet, or the list in force stays as it is. */
	struct acl_content *content;
};

/* hold = forever. */
#define HOLD_FOREVER UINT64_MAX

/* `[resolver]`. */
struct resolver_spec {
	struct addr *nameservers; /* with ports */
	size_t nameservers_n;     /* 0: the system's */
	uint64_t timeout_ms;
	unsigned retries;
	uint64_t ttl_min_ms, ttl_max_ms;
	uint64_t hold_ms; /* or HOLD_FOREVER */
};

struct spec {
	char **files; /* every file that was read; places point here */
	size_t files_n;
	struct global_spec global;
	struct pool_spec *pools; /* at least one */
	size_t pools_n;
	struct frontend_spec *frontends; /* at least one */
	size_t frontends_n;
	/* At least one; a backend may be without servers. */
	struct backend_spec *backends;
	size_t backends_n;
	struct tls_spec *tls;
	size_t tls_n;
	struct list_spec *lists;
	size_t lists_n;
	struct resolver_spec resolver;
};

/* Whether the check is http or https. */
bool check_kind_is_http(enum check_kind kind);
/* Whether the check speaks TLS, whatever the server does. */
bool check_is_tls(const struct check_spec *check);
/* Whether options of the check say how it speaks TLS. */
bool check_has_tls_options(const struct check_spec *check);

/* Returns the steps of the check: the preset's, or the backend's own. */
const struct check_step *check_steps(
    const struct backend_spec *backend, size_t *ret_n);

/* Whether the rule has no condition but names. */
bool rule_spec_has_names_alone(const struct rule_spec *rule);

/* Returns the i-th reference of the frontend to a backend, an index into
 * spec.backends, or SIZE_MAX behind the last one.  A backend may be there more
 * than once. */
size_t frontend_spec_backend(const struct frontend_spec *frontend, size_t i);

/* Whether that peer sends a PROXY header, at a listen that says accept_proxy.
 */
bool frontend_spec_expects_proxy(
    const struct frontend_spec *frontend, const struct endpoint *peer);

/* Whether the server has no port of its own: sessions get that which the client
 * has connected to. */
bool server_spec_maps_port(const struct server_spec *server);

/* Whether both servers have the same address, or the same name and port. */
bool server_spec_same_place(
    const struct server_spec *a, const struct server_spec *b);

/* Returns the name by which hashes place the server. */
static inline const char *
server_spec_hash_name(const struct server_spec *server)
{
	return server->hash_name ? server->hash_name : server->name;
}

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

/* Whether the checks of both backends ask the same and expect the same answer;
 * for addresses and intervals see model/check_rules.h. */
bool check_asks_same(
    const struct backend_spec *a, const struct backend_spec *b);

/* Whether connections to the server are made over TLS. */
bool server_spec_has_tls(
    const struct backend_spec *backend, const struct server_spec *server);

/* Returns the context for connections to the server, or NULL: plain TCP.
 * Borrowed from the spec. */
struct tls_context *server_spec_tls(const struct spec *spec,
    const struct backend_spec *backend, const struct server_spec *server);

/* Returns the [tls] section of that name, or NULL. */
const struct tls_spec *spec_tls_named(
    const struct spec *spec, const char *name);

/* Makes the contexts go on with the counters and the ticket keys of those that
 * they replace: of the section with the same name in old, in the same role.
 * Before the first connection of the new ones. */
void spec_adopt_tls(struct spec *spec, const struct spec *old);

/* Makes a deep copy, whose place refers to the same file.  Returns false when
 * memory is short; *ret_copy is untouched then. */
bool server_spec_copy(
    const struct server_spec *server, struct server_spec *ret_copy) MUST_CHECK;

/* Returns a deep copy, or NULL when memory is short.  Certificates and TLS
 * contexts are shared and counted; the contents of lists are not copied. */
struct spec *spec_copy(const struct spec *spec);

/* Frees the spec and all that it owns.  NULL is allowed. */
void spec_free(struct spec *spec);

/* Adds the memory of the spec, without that of regular expressions and
 * certificates. */
void spec_memory(const struct spec *spec, struct memory_use *use);

/* Makes a deep copy, whose places refer to the same files.  Returns false when
 * memory is short; *ret_copy is untouched then. */
bool admin_list_copy(
    const struct admin_list *list, struct admin_list *ret_copy) MUST_CHECK;

/* Frees the elements; the list is empty then. */
void admin_list_clear(struct admin_list *list);

/* Frees the elements; the list is empty then. */
void log_list_clear(struct log_list *list);

/* Frees the members, not the struct. */
void check_spec_fini(struct check_spec *check);
/* Frees the members, not the struct. */
void listen_spec_clear(struct listen_spec *listen);
/* Frees the members, not the struct. */
void rule_spec_clear(struct rule_spec *rule);
/* Frees the members, not the struct. */
void server_spec_clear(struct server_spec *server);
/* Frees the members, not the struct. */
void set_spec_clear(struct set_spec *set);

#endif
