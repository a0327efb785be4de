/* SPDX-License-Identifier: MIT
 * Resources of the system that run out: a row for each kind.
 *
 * Exhaustion is counted for each kind, and logged at most once a second for
 * each kind.  It never ends the process and never makes it spin.
 */
#ifndef PROXY_EXHAUSTION_H
#define PROXY_EXHAUSTION_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

/* X(identifier, errno, name, advice): the name is that in `show info`, after
 * `Exhausted_`; the advice ends the log message. */
#define RESOURCES_TABLE(X)                                                     \
	X(RESOURCE_DESCRIPTORS, EMFILE, "descriptors",                         \
	    "raise the limit of descriptors (LimitNOFILE, ulimit -n), or "     \
	    "lower maxconn")                                                   \
	X(RESOURCE_FILES, ENFILE, "files", "raise fs.file-max")                \
	X(RESOURCE_BUFFERS, ENOBUFS, "buffers", "raise net.ipv4.tcp_mem")      \
	X(RESOURCE_MEMORY, ENOMEM, "memory", "add memory, or lower maxconn")   \
	X(RESOURCE_PORTS, EADDRNOTAVAIL, "ports",                              \
	    "use more servers or source addresses, or raise the range of "     \
	    "the source or net.ipv4.ip_local_port_range")                      \
	X(RESOURCE_WATCHES, ENOSPC, "watches",                                 \
	    "raise fs.epoll.max_user_watches")

enum resource {
#define X(id, error, name, advice) id,
	RESOURCES_TABLE(X)
#undef X
	    RESOURCES /* their number; as an answer: none of them */
};

/* Written by any thread, relaxed. */
struct exhaustion {
	uint64_t count[RESOURCES];
	uint64_t maxconn_reached; /* pauses of acceptors at maxconn */
};

/* Returns the resource that this errno reports, or RESOURCES. */
enum resource resource_of(int error);

/* Returns the name of the table. */
const char *resource_name(enum resource resource);

/* Counts and logs the error, as `WHERE: text of the errno; advice`, if it
 * reports that a resource has run out.  Returns whether it does. */
bool exhaustion_note(
    struct exhaustion *exhaustion, int error, const char *where);

#endif
