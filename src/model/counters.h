/* SPDX-License-Identifier: MIT
 * Counters of frontends, backends and servers.
 *
 * Each object has one block of words per stripe; a thread adds to the stripe of
 * its index, so that two threads rarely meet on a cache line, and readers sum
 * the stripes.  Any thread may add and read; a sum that is read while other
 * threads add has, of each word, a value that the word had during the call.
 */
#ifndef MODEL_COUNTERS_H
#define MODEL_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/err.h"

/* X(identifier, what it counts) -- the one list of them. */
#define COUNTERS_TABLE(X)                                                      \
	X(COUNTER_SESSIONS, "sessions opened")                                 \
	X(COUNTER_BYTES_IN, "bytes from the client side")                      \
	X(COUNTER_BYTES_OUT, "bytes towards the client side")                  \
	X(COUNTER_CONNECT_ERRORS, "sessions that could not be connected")      \
	X(COUNTER_RESPONSE_ERRORS, "sessions the server side broke off")       \
	X(COUNTER_RETRIES, "connects tried again on the same server")          \
	X(COUNTER_REDISPATCHES, "connects tried again on another server")      \
	X(COUNTER_REQUEST_ERRORS, "sessions the client broke off early")       \
	X(COUNTER_CLIENT_ABORTS, "sessions the client side broke off")         \
	X(COUNTER_SERVER_ABORTS, "sessions the server side broke off")         \
	X(COUNTER_INTERNAL_ERRORS, "sessions ended by exhausted resources")    \
	X(COUNTER_SELECTED, "times chosen by the balancing")                   \
	X(COUNTER_CONNECTS, "connect attempts")                                \
	X(COUNTER_SPLICED, "bytes that went through pipes")                    \
	X(COUNTER_QUEUE_FULL, "sessions that could not be queued")             \
	X(COUNTER_RETRIES_REFUSED, "retries beyond the budget")                \
	X(COUNTER_DENIED, "sessions that no rule gives a backend")             \
	X(COUNTER_DENIED_CONNECTIONS, "connections refused when accepted")     \
	X(COUNTER_DENIED_SESSIONS, "sessions refused by address")              \
	X(COUNTER_LIMITED, "of both, those refused by a limit")                \
	X(COUNTER_DELAYED, "connections and sessions delayed by a limit")      \
	X(COUNTER_EVICTED, "sessions whose place was needed")                  \
	X(COUNTER_HELLOS, "TLS hellos that were read")                         \
	X(COUNTER_NOT_TLS, "sessions that began with something else")          \
	X(COUNTER_HELLO_TIMEOUTS, "sessions without a hello in time")          \
	X(COUNTER_PROXY_HEADERS, "PROXY headers that were taken")              \
	X(COUNTER_PROXY_ERRORS, "sessions without the PROXY header they owe")  \
	X(COUNTER_HANDSHAKES, "TLS handshakes that were completed")            \
	X(COUNTER_HANDSHAKES_RESUMED, "of these, those of resumed sessions")   \
	X(COUNTER_HANDSHAKE_ERRORS, "TLS handshakes that have failed")         \
	X(COUNTER_BANDWIDTH_WAITS, "waits of a direction for bandwidth")

enum counter {
#define X(id, text) id,
	COUNTERS_TABLE(X)
#undef X
	    COUNTERS
};

struct counters;

/* Sets the number of stripes, rounded up to a power of two and at most 16.
 * Called once, on the control thread, before the first counters_new. */
void counters_set_stripes(unsigned stripes);

/* Returns the number of stripes. */
unsigned counters_stripes(void);

/* Makes a block of counters, all 0.  Returns NULL when memory is short.  Freed
 * by free(3). */
struct counters *counters_new(void);

/* Adds n to the counter, in relaxed order.  thread: the index of the calling
 * thread.  Never blocks. */
void counters_add(
    struct counters *counters, unsigned thread, enum counter which, uint64_t n);

/* Returns the sum over all stripes.  Any thread. */
uint64_t counters_sum(const struct counters *counters, enum counter which);

/* Returns the name of a counter, as `BYTES_IN`; it never changes. */
const char *counter_name(enum counter which);

/* Finds a counter by its name.  Returns false if there is none. */
bool counter_find(const char *name, enum counter *ret_which) MUST_CHECK;

/* Sets all counters to 0.  Counts that other threads add meanwhile may be lost
 * or kept. */
void counters_clear(struct counters *counters);

/* A number of things that exist now, and the peak of that number.  Any thread
 * may change a gauge.  Changes are in one total order with the publication of
 * lineups [P16]. */
struct gauge {
	uint32_t now, peak;
};

static inline void
gauge_note_peak(struct gauge *g, uint32_t now)
{
	uint32_t peak = atomic_load_relaxed(&g->peak);

	while (now > peak && !atomic_cas_relaxed(&g->peak, &peak, now))
		;
}

/* Sets the peak to the present value.  Any thread. */
static inline void
gauge_clear_peak(struct gauge *g)
{
	atomic_store_relaxed(&g->peak, 0u);
	gauge_note_peak(g, atomic_load_relaxed(&g->now));
}

static inline uint32_t
gauge_up(struct gauge *g)
{
	uint32_t now = atomic_add_seq(&g->now, 1u) + 1;

	gauge_note_peak(g, now);
	return now;
}

/* Increments the gauge, unless it is at the limit, and leaves the peak alone:
 * the caller may give the place back unused.  Returns whether it has
 * incremented the gauge. */
static inline bool
gauge_reserve(struct gauge *g, uint32_t limit)
{
	uint32_t now = atomic_load_seq(&g->now); /* [P19] */

	do
		if (now >= limit)
			return false;
	while (!atomic_cas_seq(&g->now, &now, now + 1));
	return true;
}

/* Increments the gauge, unless it is at the limit; 0: there is no limit.
 * Returns whether it has incremented the gauge. */
static inline bool
gauge_up_within(struct gauge *g, uint32_t limit)
{
	if (limit == 0) {
		gauge_up(g);
		return true;
	}
	if (!gauge_reserve(g, limit))
		return false;
	gauge_note_peak(g, atomic_load_relaxed(&g->now));
	return true;
}

static inline uint32_t
gauge_down(struct gauge *g)
{
	return atomic_sub_seq(&g->now, 1u) - 1;
}

/* Events per second: the control thread feeds it the running total. */
struct rate {
	uint64_t total_before;
	uint32_t per_second, peak;
	uint64_t last_ms; /* last tick with new events (clock_now_ms), or 0 */
};

/* Updates the rate.  Called once a second, on the control thread, with the
 * running total. */
void rate_tick(struct rate *rate, uint64_t total);

#endif
