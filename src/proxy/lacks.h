/* SPDX-License-Identifier: MIT
 * What can run out: each kind once, with how it shows and what to do.
 *
 * Lacks are weather: counted, the first one logged, then one message a second
 * at most.  None of them ends the process or makes it spin.
 */
#ifndef PROXY_LACKS_H
#define PROXY_LACKS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

/* X(identifier, errno, name, what to do); the name is that in `show info`,
 * after `Lfproxy_no_`. */
#define LACKS_TABLE(X)                                                         \
	X(LACK_DESCRIPTORS, EMFILE, "descriptors",                             \
	    "raise the limit of descriptors (LimitNOFILE, ulimit -n), or "     \
	    "lower maxconn")                                                   \
	X(LACK_FILES, ENFILE, "files", "raise fs.file-max")                    \
	X(LACK_BUFFERS, ENOBUFS, "buffers", "raise net.ipv4.tcp_mem")          \
	X(LACK_MEMORY, ENOMEM, "memory", "add memory, or lower maxconn")       \
	X(LACK_PORTS, EADDRNOTAVAIL, "ports",                                  \
	    "use more servers or source addresses, or raise the range of "     \
	    "the source or net.ipv4.ip_local_port_range")                      \
	X(LACK_WATCHES, ENOSPC, "watches", "raise fs.epoll.max_user_watches")

enum lack {
#define X(id, error, name, advice) id,
	LACKS_TABLE(X)
#undef X
	    LACKS /* how many; also: none of them */
};

/* Any thread, relaxed. */
struct lacks {
	uint64_t count[LACKS];
	uint64_t maxconn_reached; /* times that accepting stopped for it */
};

/* LACKS when the errno is none of them. */
enum lack lack_of(int error);
const char *lack_name(enum lack lack);

/* Counts, and logs `WHERE: the errno's text; what to do`, if the errno is a
 * lack.  True if it is one. */
bool lacks_note(struct lacks *lacks, int error, const char *where);

#endif
