/* SPDX-License-Identifier: MIT
 * Rows of the key tables for socket options, which addresses to listen on and
 * servers have in common.  OBJECT is LISTEN or SERVER of keys_internal.h: the
 * struct has the options as its member sock.
 */
#ifndef CONFIG_KEYS_SOCK_H
#define CONFIG_KEYS_SOCK_H

#include "config/keys_internal.h"

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
 * listening socket, and connections in its backlog would be lost with it.  An
 * address with another v6only is another address, which a reload opens. */
#define SOCK_KEYS_LISTEN                                                       \
    {"backlog", "connections that may wait to be accepted",                    \
        NUMBER(1, 65535), LISTEN(sock.backlog), WITHOUT("net.core.somaxconn")},\
    SOCK_KEYS_COMMON(LISTEN),                                                  \
    {"defer_accept", "accept when the client has sent something",              \
        VALUE(seconds), LIMITS(1, 300), LISTEN(sock.defer_accept_s),           \
        WITHOUT("none"), TCP_ONLY},                                            \
    {"tfo", "TCP Fast Open, and the length of its queue",                            \
        NUMBER(1, 65535), LISTEN(sock.fast_open), WITHOUT("none"), TCP_ONLY},  \
    {"v6only", "whether an IPv6 address leaves IPv4 alone",                    \
        VALUE(sock_switch), LISTEN(sock.v6only),                                    \
        WITHOUT("on for [::]:PORT, off for :PORT"), TCP_ONLY},                 \
    {"reuseport", "whether other processes may listen there, too",             \
        VALUE(sock_switch), LISTEN(sock.reuseport), WITHOUT("off"), TCP_ONLY,       \
        RESTART},                                                              \
    {"transparent", "whether the address need not be this host's",             \
        VALUE(sock_switch), LISTEN(sock.transparent), WITHOUT("off"), TCP_ONLY,     \
        RESTART}

#define SOCK_KEYS_SERVER                                                       \
    {"source", "where connections to the server come from",                    \
        VALUE(source), SERVER(source), WITHOUT("the backend's source"),        \
        TCP_ONLY},                                                             \
    SOCK_KEYS_COMMON(SERVER),                                                  \
    {"tfo", "TCP Fast Open, when the client has sent something",               \
        VALUE(tfo), SERVER(sock.fast_open), WITHOUT("off"), TCP_ONLY}
/* clang-format on */

#endif
