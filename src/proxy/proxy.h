/* SPDX-License-Identifier: MIT
 * The data river's common ground: memory for sessions, and what the control
 * thread may do to them.
 */
#ifndef PROXY_PROXY_H
#define PROXY_PROXY_H

#include <stdint.h>

#include "base/slab.h"
#include "lf/pool.h"
#include "model/model.h"

/* One read at most, and so what one blocked direction may have to keep. */
#define RELAY_BUFFER (64u * 1024)

/* What a pool thread has of its own (pool_thread.local). */
struct proxy_thread {
	struct proxy *proxy;
	uint8_t buffer[RELAY_BUFFER];
};

struct proxy {
	struct model *model; /* borrowed */
	struct slab sessions;
	struct slab spills;
	struct acceptor *paused; /* those that had to stop accepting, a stack */
	/* When each session is to be looked at, clock_now_ms, 0: never.  An
	 * array of its own, by the session's index: the reaper reads it from
	 * end to end, and 100 000 sessions are then 800 KB and not 100 000
	 * cache misses.  The owner writes, released; it is 0 whenever the slot
	 * is free.  [P13] */
	uint64_t *deadlines;
};

/* sessions: the most there may be at a time.  0 or -errno. */
int proxy_init(struct proxy *proxy, struct model *model, uint32_t sessions);

/* After the pools have ended. */
void proxy_fini(struct proxy *proxy);

/* For pool_options, with the proxy as thread_arg: the thread's buffer. */
bool proxy_thread_init(struct pool_thread *self, void *proxy);
void proxy_thread_fini(struct pool_thread *self);

static inline struct proxy_thread *
proxy_thread_of(const struct pool_thread *self)
{
	return self->local;
}

/* Sessions that exist now.  Any thread. */
static inline uint32_t
proxy_sessions(const struct proxy *proxy)
{
	return slab_used(&proxy->sessions);
}

/* Control thread: leaves a note with every session whose deadline has passed.
 * Reads 8 bytes for each session that ever was. */
void proxy_reap(struct proxy *proxy, uint64_t now_ms);

/* Control thread: tells every session to end now.  A session that is accepted
 * meanwhile may be missed: stop the acceptors first, and repeat until
 * proxy_sessions is 0. */
void proxy_kill_all(struct proxy *proxy);

/* Control thread: tells every session of the pool to find its shard, because
 * the pool's shards have changed. */
void proxy_move_all(struct proxy *proxy, struct pool *pool);

#endif
