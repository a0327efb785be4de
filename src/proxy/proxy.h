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
#include "proxy/closed.h"
#include "proxy/pacer.h"
#include "proxy/pending.h"
#include "proxy/exhaustion.h"

struct successor;

/* A longer pause of a session in an upgrade is counted. */
#define PAUSE_LONG_NS (50 * 1000 * 1000u)

/* The data of one pool thread (pool_thread.local). */
struct proxy_thread {
	struct proxy *proxy;
	struct closed_ring *closed;
	uint8_t buffer[RELAY_BUFFER];
	uint8_t records[PENDING_SIZE]; /* of TLS, before they are sent */
};

/* Limits on the sessions of the whole process, from the configuration or the
 * admin socket; see model/rate_limit.h.  Written by the control thread, but for
 * due_ns; all relaxed. */
struct proxy_limits {
	uint32_t sessions;     /* at a time; 0: as many as there is room for */
	uint32_t connect_rate; /* connections per second, 0: no limit */
	uint32_t session_rate; /* the same, as HAProxy has both */
	uint64_t due_ns;       /* of the next connection; any thread */
};

/* Returns the smaller of both rates, 0: no limit. */
static inline uint32_t
proxy_limits_rate(const struct proxy_limits *limits)
{
	uint32_t a = atomic_load_relaxed(&limits->connect_rate);
	uint32_t b = atomic_load_relaxed(&limits->session_rate);

	return a == 0 || (b > 0 && b < a) ? b : a;
}

/* The acceptors that wait for the process that lfproxy takes over from. */
enum takeover {
	TAKEOVER_DONE,
	/* Frontends with limits by source: its sessions have not all
	 * come, and count there. */
	TAKEOVER_OF_SESSIONS,
	/* All: it has the listening sockets as well, or has not told yet which
	 * places its sessions have. */
	TAKEOVER_OF_SOCKETS,
};

struct proxy {
	struct slab sessions;
	struct slab inspections; /* proxy/inspection.h */
	struct pending_pool pending_pool;
	struct splice_pool pipes;
	struct closed_rings closed;
	struct pacer pacer;
	struct acceptor *paused; /* a stack of those that have paused */
	/* enum takeover: which acceptors wait.  Written by control; see
	 * acceptors_begin. */
	uint32_t takes_over;
	/* The deadline of each session, clock_now_ms, 0: none.  An
	 * array of its own, by the session's index: the reaper reads it from
	 * end to end, and 100 000 sessions are then 800 KB and not 100 000
	 * cache misses.  The owner writes, released; it is 0 whenever the slot
	 * is free.  [P13] */
	uint64_t *deadlines;
	/* When the reaper will look at them next, clock_now_ms.  An owner that
	 * sets an earlier deadline calls it.  [P17] */
	uint64_t next_reap_ms CACHE_LINE_ALIGNED;
	uint32_t called; /* for such a deadline since the last look; relaxed */
	void (*call_reaper)(void *arg); /* any thread; NULL: none */
	void *call_reaper_arg;
	/* While lfproxy drains: how long sessions may be idle, and how long if
	 * they wait for an answer; 0: it does not drain.  Sessions read these,
	 * the control thread writes them once, idle_ms last.  [P27] */
	uint64_t idle_ms, idle_busy_ms;
	uint64_t reap_max_ms; /* control thread only: see proxy_reap */
	/* The number of the session in the first slot, see session_id.  The
	 * process that lfproxy takes over from tells it; constant. */
	uint32_t first_number;
	uint32_t adopted; /* sessions that were adopted; control thread */
	/* How many of them have begun their first turn here.  Any thread,
	 * relaxed. */
	uint32_t adopted_turns;
	/* The process that sessions are handed over to, or NULL.  The control
	 * thread sets it once, released.  [P41] */
	struct successor *successor;
	/* How long sessions of the former process (session_adopt.h) have
	 * paused, from their last turn there to their first one here.  Any
	 * thread, relaxed. */
	struct histogram pauses;
	uint32_t long_pauses; /* of more than PAUSE_LONG_NS; relaxed */
	/* Sessions that are to come from there: they count towards the limit on
	 * sessions.  The control thread writes, relaxed. */
	uint32_t expected;
	struct proxy_limits limits CACHE_LINE_ALIGNED;
	struct exhaustion exhaustion CACHE_LINE_ALIGNED;
};

/* Initializes the proxy.  sessions: the most that may exist at a time.  pipes:
 * how many may be used for splicing, with two descriptors each.  closed: how
 * many ended sessions each thread remembers.  Returns 0 or -errno. */
int proxy_init(struct proxy *proxy, uint32_t sessions, uint32_t pipes,
    uint32_t closed) MUST_CHECK;

/* After the pools have ended. */
void proxy_fini(struct proxy *proxy);

/* For pool_options, with the proxy as thread_arg: allocates the thread's struct
 * proxy_thread.  Returns false when out of memory. */
bool proxy_thread_init(struct pool_thread *self, void *proxy);
/* For pool_options: frees the thread's struct proxy_thread. */
void proxy_thread_fini(struct pool_thread *self);

static inline struct proxy_thread *
proxy_thread_of(const struct pool_thread *self)
{
	return self->local;
}

/* The memory of each kind of object. */
struct proxy_memory {
	struct memory_use sessions, inspections, deadlines, pending_pool,
	    closed, bandwidth;
};
/* Fills the memory in use.  Runs on the control thread. */
void proxy_memory(const struct proxy *proxy, struct proxy_memory *ret_memory);

/* Returns how many sessions exist now.  Any thread. */
static inline uint32_t
proxy_sessions(const struct proxy *proxy)
{
	return slab_used(&proxy->sessions);
}

/* Returns the number of a session of this process in that slot. */
static inline uint32_t
proxy_number(const struct proxy *proxy, uint32_t index)
{
	return proxy->first_number + index;
}

/* Before there are sessions: they get numbers from there on, or from 1 on if
 * there are too few behind it. */
void proxy_number_from(struct proxy *proxy, uint32_t first);

/* Returns the first number behind those of this process's own sessions. */
uint32_t proxy_numbers_end(const struct proxy *proxy);

/* Control thread, about once a second: gives back idle memory and pipes. */
void proxy_trim(struct proxy *proxy);

#endif
