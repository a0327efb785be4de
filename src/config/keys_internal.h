/* SPDX-License-Identifier: MIT
 * How a row of a key table is written:
 *
 *   {"retries", "further attempts, on other servers, to connect a session",
 *       NUMBER(0, 10), BACKEND(retries), DEFAULT("3"), IN_DEFAULTS},
 *
 * A row has the key's name and its help; the type of its value with the limits;
 * the member of the spec that holds the value; the default, or what applies
 * without the key; and where the key or option may be given.
 */
#ifndef CONFIG_KEYS_INTERNAL_H
#define CONFIG_KEYS_INTERNAL_H

#include "config/keys.h"
#include "config/values.h"
#include "model/rate_limit.h"
#include "model/spec.h"

#define SECOND_MS   1000u
#define DAY_MS      (86400u * SECOND_MS)
#define TIMEOUT_MIN 10u
#define TIMEOUT_MAX (30ull * DAY_MS)

/* The words of an enum, each at its value; `last` is the highest value. */
#define CHOICES(name, last, ...)                                               \
	static const char *const name[] = {__VA_ARGS__, NULL};                 \
	_Static_assert(                                                        \
	    sizeof(name) / sizeof(name[0]) == (last) + 2, "the last is last")

/* The protocols in which a client can ask for TLS, for listens and servers. */
#define STARTTLS_CHOICES                                                       \
	CHOICES(starttls_words, STARTTLS_POSTGRESQL, [STARTTLS_OFF] = "off",   \
	    [STARTTLS_POSTGRESQL] = "postgresql")

/* clang-format off */

/* Types. */
#define VALUE(name)            .type = &type_##name
#define LIMITS(low, high)      .min = (low), .max = (high)
#define NUMBER(low, high)      VALUE(number), LIMITS(low, high)
#define PERCENT(low, high)     VALUE(percent), LIMITS(low, high)
#define DURATION(low, high)    VALUE(duration), LIMITS(low, high)
#define TIMEOUT                DURATION(TIMEOUT_MIN, TIMEOUT_MAX)
#define INTERVAL               DURATION(TIMEOUT_MIN, DAY_MS)
#define SLOW_START             VALUE(slow_start), LIMITS(SECOND_MS, DAY_MS)
#define MAXCONN                VALUE(auto_number), LIMITS(1, MAXCONN_MAX)
#define RATE                   VALUE(rate), LIMITS(1, RATE_LIMIT_MAX)
#define BYTE_RATE                                                              \
	VALUE(byte_rate), LIMITS(BANDWIDTH_MIN, BANDWIDTH_MAX)
#define BANDWIDTH(scopes, words)                                               \
	VALUE(bandwidth), LIMITS(BANDWIDTH_MIN, BANDWIDTH_MAX),                \
	.choices = (scopes), ALLOWED("in=RATE, out=RATE, per=" words)
#define CHOICE(words)          VALUE(choice), .choices = (words)
#define OWN_CHOICE(words)      VALUE(own_choice), .choices = (words)
#define FLAG                   VALUE(flag), WITHOUT("no")
#define SWITCH(text)           VALUE(switch), DEFAULT(text)

/* Members of the spec's structs. */
#define GLOBAL(member)         .offset = offsetof(struct global_spec, member)
#define ADMIN(member)          .offset = offsetof(struct admin_spec, member)
#define LOG(member)            .offset = offsetof(struct log_spec, member)
#define POOL(member)           .offset = offsetof(struct pool_spec, member)
#define TLS(member)            .offset = offsetof(struct tls_spec, settings.member)
#define PAIR(member)           .offset = offsetof(struct tls_pair, member)
#define LIST_FILE(member)      .offset = offsetof(struct list_file_spec, member)
#define RESOLVER(member)       .offset = offsetof(struct resolver_spec, member)
#define FRONTEND(member)       .offset = offsetof(struct frontend_spec, member)
#define LISTEN(member)         .offset = offsetof(struct listen_spec, member)
#define ROUTE(member)          .offset = offsetof(struct route_spec, member)
#define RULE(member)           .offset = offsetof(struct rule_spec, member)
#define LIMIT(member)          .offset = offsetof(struct limit_spec, member)
#define BACKEND(member)        .offset = offsetof(struct backend_spec, member)
#define SERVER(member)         .offset = offsetof(struct server_spec, member)
#define SET(member)            .offset = offsetof(struct set_spec, member)
#define MEMBER(field)          .offset = offsetof(struct set_spec, member.field)
#define CHECK(member)          .offset = offsetof(struct check_spec, member)
#define AGENT(member)          .offset = offsetof(struct agent_spec, member)

/* The rest of a row. */
#define DEFAULT(text)          .default_text = (text)
#define WITHOUT(note)          .default_note = (note)
#define ALLOWED(words)         .allowed = (words)
#define OPTIONS(keys)          .options = (keys)
#define RESTART                .restart = true
#define REPEATABLE             .flags = KEY_REPEATABLE
#define REQUIRED_REPEATABLE    .flags = KEY_REQUIRED | KEY_REPEATABLE
#define IN_DEFAULTS            .flags = KEY_IN_DEFAULTS
#define UNIX_ONLY              .flags = KEY_UNIX_ONLY
#define TCP_ONLY               .flags = KEY_TCP_ONLY
#define BIND_ONLY              .flags = KEY_TCP_ONLY | KEY_BIND_ONLY
#define FILE_ONLY              .flags = KEY_FILE_ONLY
#define SYSLOG_ONLY            .flags = KEY_SYSLOG_ONLY
#define OVER_HTTP_ONLY                                                         \
	.flags = KEY_HTTP_ONLY,                                                \
	.only = "etcd and consul, as in etcd=http://10.0.0.5:2379/app/"

/* clang-format on */

/* Rows for socket options, which addresses to listen on and servers have in
 * common.  OBJECT is LISTEN or SERVER: the struct has the options as its member
 * sock. */
#define SOCK_INT_MS  (24ull * 86400 * 1000) /* fits into an int */
#define SOCK_BUF_MIN 4096
#define SOCK_BUF_MAX (1ull << 29) /* twice as much fits into an int */
#define SOCK_BUF     VALUE(size), LIMITS(SOCK_BUF_MIN, SOCK_BUF_MAX)
#define SOCK_ADAPTS  "the kernel adapts it"

/* clang-format off */
#define SOCK_KEYS_COMMON(OBJECT)                                               \
    {"keepalive", "probes of an idle peer, and their times",                   \
        VALUE(keepalive), OBJECT(sock.keepalive), WITHOUT("off"), TCP_ONLY},   \
    {"user_timeout", "how long sent bytes may stay unacknowledged",            \
        DURATION(10, SOCK_INT_MS), OBJECT(sock.user_timeout_ms),               \
        WITHOUT("the kernel's, some 15 minutes"), TCP_ONLY},                   \
    {"mss", "largest TCP segment, in bytes",                                   \
        NUMBER(88, 32767), OBJECT(sock.mss), WITHOUT("the route's"), TCP_ONLY},\
    {"sndbuf", "size of the kernel's send buffer",                             \
        SOCK_BUF, OBJECT(sock.sndbuf), WITHOUT(SOCK_ADAPTS), TCP_ONLY},        \
    {"rcvbuf", "size of the kernel's receive buffer",                          \
        SOCK_BUF, OBJECT(sock.rcvbuf), WITHOUT(SOCK_ADAPTS), TCP_ONLY},        \
    {"congestion", "the congestion control",                                   \
        VALUE(congestion), OBJECT(sock.congestion),                            \
        WITHOUT("net.ipv4.tcp_congestion_control"), TCP_ONLY},                 \
    {"interface", "the only interface to be used",                             \
        VALUE(interface), OBJECT(sock.interface), WITHOUT("any"), TCP_ONLY},   \
    {"dscp", "DSCP of the packets",                                            \
        VALUE(dscp), LIMITS(0, 63), OBJECT(sock.dscp), WITHOUT("0"), TCP_ONLY},\
    {"mark", "mark of the packets, for routing and filters",                   \
        VALUE(mark), OBJECT(sock.mark), WITHOUT("none"), TCP_ONLY}

/* bind(2) settles reuseport and transparent: a reload cannot change them on the
 * listening socket, and a new socket would lose the connections in the backlog.
 * An address with another v6only is another address, which a reload opens. */
#define SOCK_KEYS_LISTEN                                                       \
    {"backlog", "connections that may wait to be accepted",                    \
        NUMBER(1, INT32_MAX), LISTEN(sock.backlog), WITHOUT("net.core.somaxconn")},\
    SOCK_KEYS_COMMON(LISTEN),                                                  \
    {"defer_accept", "accept when the client has sent something",              \
        VALUE(seconds), LIMITS(1, 300), LISTEN(sock.defer_accept_s),           \
        WITHOUT("none"), TCP_ONLY},                                            \
    {"tfo", "TCP Fast Open, and the length of its queue",                            \
        NUMBER(1, 65535), LISTEN(sock.fast_open), WITHOUT("none"), TCP_ONLY},  \
    {"v6only", "whether an IPv6 address leaves IPv4 alone",                    \
        VALUE(sock_switch), LISTEN(sock.v6only),                                    \
        WITHOUT("on for [::]:PORT, off for :PORT"), BIND_ONLY},                \
    {"reuseport", "whether other processes may listen there, too",             \
        VALUE(sock_switch), LISTEN(sock.reuseport), WITHOUT("off"), BIND_ONLY,      \
        RESTART},                                                              \
    {"transparent", "whether the address need not be this host's",             \
        VALUE(sock_switch), LISTEN(sock.transparent), WITHOUT("off"), BIND_ONLY,    \
        RESTART}

#define SOCK_KEYS_SERVER(OBJECT)                                               \
    {"source", "where connections to the server come from",                    \
        VALUE(source), OBJECT(source), WITHOUT("the backend's source"),        \
        TCP_ONLY},                                                             \
    SOCK_KEYS_COMMON(OBJECT),                                                  \
    {"tfo", "TCP Fast Open, when the client has sent something",               \
        VALUE(tfo), OBJECT(sock.fast_open), WITHOUT("off"), TCP_ONLY}
/* clang-format on */

extern const struct key backend_keys[], tls_keys[];

#endif
