/* SPDX-License-Identifier: MIT
 * The state that all threads of the data plane share: memory for sessions,
 * limits, and the counters of exhaustion.
 */
#ifndef PROXY_PROXY_H
#define PROXY_PROXY_H

#include <stdint.h>

#include "base/err.h"
#include "base/histogram.h"
#include "base/slab.h"
#include "lf/pool.h"
#include "model/model.h"
#include "net/splice.h"
#include "proxy/client_bands.h"
#include "proxy/closed.h"
#include "proxy/failures.h"
#include "proxy/pacer.h"
#include "proxy/pending.h"
#include "proxy/exhaustion.h"
#include "proxy/held_room.h"
#include "proxy/talkers.h"

struct keeper;
struct successor;

/* Longer pauses of sessions during an upgrade are counted (proxy.long_pauses).
 */
#define PAUSE_LONG_NS (50 * 1000 * 1000u)

/* The data of one pool thread (pool_thread.local). */
struct proxy_thread {
	struct proxy *proxy;
	struct closed_ring *closed;
	uint8_t buffer[RELAY_BUFFER];
	uint8_t records[PENDING_SIZE]; /* TLS records before they are sent */
};

/* Limits on the sessions of the whole process, from the configuration or the
 * admin socket; see model/rate_limit.h.  The control thread writes all fields
 * but due_ns; all accesses but those of sessions are relaxed. */
struct proxy_limits {
	uint32_t sessions;     /* at a time; 0: as there is room for.  [P12] */
	uint32_t connect_rate; /* connections per second, 0: no limit */
	uint32_t session_rate; /* the same, as HAProxy has both */
	uint32_t frontend_rates; /* whether a frontend has a rate */
	uint64_t due_ns;         /* when the next may come; any thread */
};

/* Returns the smaller of both rates, 0: no limit. */
static inline uint32_t
proxy_limits_rate(const struct proxy_limits *limits)
{
	uint32_t a = atomic_load_relaxed(&limits->connect_rate);
	uint32_t b = atomic_load_relaxed(&limits->session_rate);

	return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Returns whether there is a limit on the rate of connections, of the process
 * or of a frontend. */
static inline bool
proxy_limits_have_rate(const struct proxy_limits *limits)
{
	return atomic_load_relaxed(&limits->frontend_rates) ||
	       proxy_limits_rate(limits) > 0;
}

/* The acceptors that still wait for the process that lfproxy takes over from.
 */
enum takeover {
	TAKEOVER_DONE,
	/* Acceptors of frontends with limits by source wait until all sessions
	 * of that process, which count in these limits, have come. */
	TAKEOVER_OF_SESSIONS,
	/* All acceptors wait, because that process has the listening sockets as
	 * well, or has not told yet which places its sessions have. */
	TAKEOVER_OF_SOCKETS,
};

struct proxy {
	struct slab sessions;
	struct slab inspections; /* proxy/inspection.h */
	struct pending_pool pending_pool;
	struct splice_pool pipes;
	struct closed_rings closed;
	struct talkers talkers;
	struct failures failures;
	struct pacer pacer;
	struct client_bands client_bands;
	struct acceptor *paused; /* a stack of those that have paused */
	/* enum takeover: which acceptors wait.  Written by control; see
	 * acceptors_begin. */
	uint32_t takes_over;
	/* The deadline of each session, clock_now_ms, 0: none; 0 whenever the
	 * slot is free.  The owner writes it, with release.  This is a separate
	 * array, by the session's index, because the reaper reads it from end
	 * to end: 100 000 sessions are 800 KB, instead of 100 000 cache misses.
	 * [P13] */
	uint64_t *deadlines;
	/* When the reaper will look at the deadlines next, clock_now_ms.  An
	 * owner that sets an earlier deadline calls the reaper.  [P17] */
	uint64_t next_reap_ms CACHE_LINE_ALIGNED;
	uint32_t called;       /* whether since the last look; relaxed */
	struct keeper *keeper; /* NULL: nothing to call */
	/* While lfproxy drains: how long sessions may be idle, and how long if
	 * they wait for an answer; 0: it does not drain.  The control thread
	 * writes these once, idle_ms last; sessions read them.  [P27] */
	uint64_t idle_ms, idle_busy_ms;
	uint64_t reap_max_ms; /* the keeper's: see proxy_reap */
	/* The number of the session in the first slot, see session_id.  The
	 * process that lfproxy takes over from tells it.  Constant once there
	 * are sessions. */
	uint32_t first_number;
	uint32_t adopted; /* sessions that were adopted; control thread */
	/* How many adopted sessions have begun their first turn here.  Any
	 * thread, relaxed. */
	uint32_t adopted_turns;
	/* The process that sessions are handed over to, or NULL.  The control
	 * thread sets it once, released.  [P41] */
	struct successor *successor;
	/* How long sessions of the former process (session_adopt.h) have
	 * paused, from their last turn there to their first one here.  Any
	 * thread, relaxed. */
	struct histogram pauses;
	uint32_t long_pauses; /* above PAUSE_LONG_NS; relaxed */
	/* How many sessions are still to come from the former process.  They
	 * count towards the limit on sessions.  The control thread writes.
	 * [P12] */
	uint32_t expected;
	struct proxy_limits limits CACHE_LINE_ALIGNED;
	struct exhaustion exhaustion CACHE_LINE_ALIGNED;
	struct held_room held CACHE_LINE_ALIGNED;
};

/* Initializes the proxy.  sessions: how many may exist at a time.  pipes: how
 * many may be used for splicing, with two descriptors each.  closed: how many
 * ended sessions each thread remembers.  Returns 0 or -errno. */
int proxy_init(struct proxy *proxy, uint32_t sessions, uint32_t pipes,
    uint32_t closed) MUST_CHECK;

/* Frees what the proxy holds.  To be called after the pools have ended. */
void proxy_fini(struct proxy *proxy);

/* Allocates the thread's struct proxy_thread.  For pool_options.  Returns false
 * when out of memory. */
bool proxy_thread_init(struct pool_thread *self, void *proxy);
/* Frees the thread's struct proxy_thread.  For pool_options. */
void proxy_thread_fini(struct pool_thread *self);

static inline struct proxy_thread *
proxy_thread_of(const struct pool_thread *self)
{
	return self->local;
}

/* Returns how many sessions exist now.  Any thread. */
static inline uint32_t
proxy_sessions(const struct proxy *proxy)
{
	return slab_used(&proxy->sessions);
}

/* Returns how many sessions may exist at a time.  Any thread. */
static inline uint32_t
proxy_sessions_max(const struct proxy *proxy)
{
	uint32_t limit = atomic_load_seq(&proxy->limits.sessions); /* [P12] */
	uint32_t room = proxy->sessions.options.max;

	return limit > 0 && limit < room ? limit : room;
}

/* Returns the number of a session of this process in that slot. */
static inline uint32_t
proxy_number(const struct proxy *proxy, uint32_t index)
{
	return proxy->first_number + index;
}

/* Numbers the sessions from this number on, or from 1 on if too few numbers
 * follow it.  To be called before there are sessions. */
void proxy_number_from(struct proxy *proxy, uint32_t first);

/* Returns the first number after those that this process gives to its own
 * sessions. */
uint32_t proxy_numbers_end(const struct proxy *proxy);

/* Gives back idle memory and pipes.  Runs on the control thread, about once a
 * second. */
void proxy_trim(struct proxy *proxy);

#endif
