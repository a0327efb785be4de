/* SPDX-License-Identifier: MIT
 * What can run out: each kind once, with how it shows and what to do.
 *
 * Lacks are weather: counted, the first one logged, then one message a second
 * at most.  None of them ends the process or makes it spin.
 */
#ifndef PROXY_EXHAUSTION_H
#define PROXY_EXHAUSTION_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

/* X(identifier, errno, name, what to do); the name is that in `show info`,
 * after `Exhausted_`. */
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
	    RESOURCES /* how many; also: none of them */
};

/* Any thread, relaxed. */
struct exhaustion {
	uint64_t count[RESOURCES];
	uint64_t maxconn_reached; /* times that accepting stopped for it */
};

/* RESOURCES when the errno is none of them. */
enum resource resource_of(int error);
const char *resource_name(enum resource lack);

/* Counts, and logs `WHERE: the errno's text; what to do`, if the errno is a
 * lack.  True if it is one. */
bool exhaustion_note(
    struct exhaustion *exhaustion, int error, const char *where);

#endif
