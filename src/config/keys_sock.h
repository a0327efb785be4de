/* SPDX-License-Identifier: MIT
 * The rows of the key tables for options of sockets, which addresses to listen
 * on and servers have in common: `object` is the spec's struct that has them
 * as its member sock.
 */
#ifndef CONFIG_KEYS_SOCK_H
#define CONFIG_KEYS_SOCK_H

#include "config/keys.h"
#include "config/values.h"
#include "model/spec.h"

/* One row: its member, its limits, what is allowed in words (NULL: see the
 * limits), what holds without it, and a line of help. */
#define SOCK_KEY(object, text, kind, member, low, high, words, without, what)  \
	{                                                                      \
		.name = text, .type = &kind,                                   \
		.offset = offsetof(struct object, sock.member),                \
		.flags = KEY_TCP_ONLY, .min = low, .max = high,                \
		.allowed = words, .default_note = without,                     \
		.reload = RELOAD_LIVE, .help = what                            \
	}

/* What bind(2) settles: the socket that listens cannot be changed, and a second
 * one beside it would leave those behind who wait in the first one's backlog.
 * Another v6only is another address, which is new to a reload. */
#define SOCK_BIND_KEY(text, member, reloads, without, what)                    \
	{                                                                      \
		.name = text, .type = &type_switch,                            \
		.offset = offsetof(struct listen_spec, sock.member),           \
		.flags = KEY_TCP_ONLY, .allowed = SOCK_SWITCH,                 \
		.default_note = without, .reload = reloads, .help = what       \
	}

#define SOCK_INT_MS  (24ull * 86400 * 1000) /* an int takes it */
#define SOCK_BUF_MIN 4096
#define SOCK_BUF_MAX (1ull << 29) /* an int takes the double */
#define SOCK_SIZES   "4k to 512m"
#define SOCK_ADAPTS  "the kernel adapts it"
#define SOCK_SWITCH  "on, off"

/* clang-format off */
#define SOCK_KEYS_COMMON(object)                                               \
	SOCK_KEY(object, "keepalive", type_keepalive, keepalive, 0, 0,         \
	    "on, off, or IDLE:INTERVAL:COUNT as in 60s:10s:3", "off",          \
	    "probes of an idle peer, and their times"),                        \
	SOCK_KEY(object, "user_timeout", type_duration, user_timeout_ms, 10,   \
	    SOCK_INT_MS, NULL, "the kernel's, some 15 minutes",                \
	    "how long sent bytes may stay unacknowledged"),                    \
	SOCK_KEY(object, "mss", type_number, mss, 88, 32767, NULL,             \
	    "the route's", "largest TCP segment, in bytes"),                   \
	SOCK_KEY(object, "sndbuf", type_size, sndbuf, SOCK_BUF_MIN,            \
	    SOCK_BUF_MAX, SOCK_SIZES, SOCK_ADAPTS,                             \
	    "size of the kernel's send buffer"),                               \
	SOCK_KEY(object, "rcvbuf", type_size, rcvbuf, SOCK_BUF_MIN,            \
	    SOCK_BUF_MAX, SOCK_SIZES, SOCK_ADAPTS,                             \
	    "size of the kernel's receive buffer"),                            \
	SOCK_KEY(object, "congestion", type_congestion, congestion, 0, 0,      \
	    "an algorithm of the kernel", "net.ipv4.tcp_congestion_control",   \
	    "the congestion control"),                                         \
	SOCK_KEY(object, "interface", type_interface, interface, 0, 0,         \
	    "an interface of this host", "any",                                \
	    "the only interface to be used"),                                  \
	SOCK_KEY(object, "dscp", type_dscp, dscp, 0, 63,                       \
	    "0 to 63, or a name as ef, af41, cs1", "0",                        \
	    "DSCP of the packets"),                                            \
	SOCK_KEY(object, "mark", type_mark, mark, 0, 0,                        \
	    "1 to 4294967295, or 0x1 to 0xffffffff", "none",                   \
	    "mark of the packets, for routing and filters")

#define SOCK_KEYS_LISTEN                                                       \
	{.name = "backlog", /* of unix sockets, too */                         \
	    .type = &type_number,                                              \
	    .offset = offsetof(struct listen_spec, sock.backlog),              \
	    .min = 1,                                                          \
	    .max = 65535,                                                      \
	    .default_note = "net.core.somaxconn",                              \
	    .reload = RELOAD_LIVE,                                             \
	    .help = "connections that may wait to be accepted"},               \
	SOCK_KEYS_COMMON(listen_spec),                                         \
	SOCK_KEY(listen_spec, "defer_accept", type_seconds, defer_accept_s, 1, \
	    300, "1s to 5m, whole seconds", "none",                            \
	    "accept when the client has sent something"),                      \
	SOCK_KEY(listen_spec, "tfo", type_number, fast_open, 1, 65535, NULL,   \
	    "none", "TCP Fast Open, for so many at a time"),                   \
	SOCK_BIND_KEY("v6only", v6only, RELOAD_LIVE,                           \
	    "on for [::]:PORT, off for :PORT",                                 \
	    "whether an IPv6 address leaves IPv4 alone"),                      \
	SOCK_BIND_KEY("reuseport", reuseport, RELOAD_RESTART, "off",           \
	    "whether other processes may listen there, too"),                  \
	SOCK_BIND_KEY("transparent", transparent, RELOAD_RESTART, "off",       \
	    "whether the address need not be this host's")

#define SOURCE_ALLOWED                                                         \
	"client, or an IP address, an IP:PORT, or an IP:LOW-HIGH; * for any "  \
	"address"

#define SOCK_KEYS_SERVER                                                       \
	{.name = "source",                                                     \
	    .type = &type_source,                                              \
	    .offset = offsetof(struct server_spec, source),                    \
	    .flags = KEY_TCP_ONLY,                                             \
	    .allowed = SOURCE_ALLOWED,                                         \
	    .default_note = "the backend's source",                            \
	    .reload = RELOAD_LIVE,                                             \
	    .help = "where connections to the server come from"},              \
	SOCK_KEYS_COMMON(server_spec),                                         \
	SOCK_KEY(server_spec, "tfo", type_tfo, fast_open, 0, 0, SOCK_SWITCH,   \
	    "off", "TCP Fast Open, when the client has sent something")
/* clang-format on */

#endif
