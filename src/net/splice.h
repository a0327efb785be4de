/* SPDX-License-Identifier: MIT
 * A pool of pipes for splice(2).
 *
 * The kernel moves pages into and out of a pipe without copying them.  The
 * caller that takes a pipe owns it until it is given back.  A pipe that is
 * given back with bytes in it is closed, so that no connection gets the bytes
 * of another one.
 *
 * There are never more than `max` pipes.  The kernel has limits too (pipe(7):
 * fs.pipe-max-size, and for users without CAP_SYS_RESOURCE
 * fs.pipe-user-pages-soft); pipes are then smaller, or none is available for a
 * while.  Such refusals are counted; they are not errors.
 */
#ifndef NET_SPLICE_H
#define NET_SPLICE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/atomics.h"
#include "base/lock.h"

/* The size that is requested for a pipe, and the fewest pages that are worth
 * splicing: a packet takes a page, however large pages are. */
#define SPLICE_PIPE_MAX   (1024u * 1024)
#define SPLICE_PIPE_PAGES 16u

struct splice_pipe {
	int read_fd, write_fd;
	uint32_t size; /* the most bytes; fewer if pages are half empty */
	uint32_t held; /* bytes in it */
	struct splice_pipe *next; /* while it is idle, or closed */
};

struct splice_pool {
	struct lock lock;
	struct splice_pipe *pipes;  /* all `max` pipes, but not extra ones */
	struct splice_pipe *closed; /* pipes without descriptors */
	struct splice_pipe *idle;   /* last used first */
	uint64_t retry_ns;          /* no pipe is made before this time */
	uint32_t idle_least;        /* the least idle_n since the last trim */
	/* Written under the lock, read by any thread, relaxed. */
	uint32_t max;     /* pipes that may exist; 0: never splice */
	uint32_t open;    /* pipes that exist */
	uint32_t idle_n;  /* open pipes that are not taken */
	uint64_t made;    /* ever */
	uint64_t small;   /* made smaller than SPLICE_PIPE_MAX */
	uint64_t refused; /* asked for and not given */
	uint64_t bytes;   /* sizes of the open pipes */
} CACHE_LINE_ALIGNED;

struct splice_status {
	uint32_t max, open, idle;
	uint64_t made, small, refused, bytes;
	uint64_t pages; /* of the machine, in which the kernel counts bytes */
};

/* Returns the numbers for `show info`.  Any thread. */
struct splice_status splice_pool_status(const struct splice_pool *pool);

/* Initializes the pool.  When memory is short the pool is empty: its max is 0.
 */
void splice_pool_init(struct splice_pool *pool, uint32_t max);

/* Closes all pipes, which must have been given back. */
void splice_pool_fini(struct splice_pool *pool);

/* Returns an empty pipe that the caller owns, or NULL when `max` pipes are
 * taken or the system refuses another one.  now_ns: clock_now_ns; after a
 * refusal the system is not asked again for a while. */
struct splice_pipe *splice_pool_take(struct splice_pool *pool, uint64_t now_ns);

/* Makes a pipe from the two ends of a pipe that another process has filled with
 * held bytes.  The caller owns the pipe.  There may be more than `max` pipes
 * then.  Takes ownership of the descriptors, also on failure.  Returns NULL
 * when memory is short.  Any thread. */
struct splice_pipe *splice_pool_adopt(
    struct splice_pool *pool, int read_fd, int write_fd, uint32_t held);

/* Gives a pipe back.  A pipe that holds bytes is closed.  Any thread. */
void splice_pool_give(struct splice_pool *pool, struct splice_pipe *pipe);

/* Closes the pipes that were idle all the time since the last call.  To be
 * called now and then. */
void splice_pool_trim(struct splice_pool *pool);

/* Moves bytes from the socket into the pipe, which must be empty: -EAGAIN then
 * means that the socket has no bytes now.  Returns the number of bytes or
 * -errno.  Fewer bytes than asked for do not mean that the socket is empty: a
 * pipe has a number of slots, and each piece takes one.  0 means the end or
 * urgent data: only a recv can tell which. */
ssize_t splice_in(struct splice_pipe *pipe, int fd, size_t size);

/* Moves bytes from the pipe, which must hold some, into the socket: -EAGAIN
 * then means that the socket has no room, and that an event will follow.
 * Returns as splice_in. */
ssize_t splice_out(struct splice_pipe *pipe, int fd);

#endif
