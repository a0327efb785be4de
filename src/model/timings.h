/* SPDX-License-Identifier: MIT
 * How long things take: histograms for a backend, moving averages for a backend
 * and for each of its servers.
 *
 * The histograms have a copy for each stripe of the counters, which any thread
 * adds to and a reader merges.  The averages are HAProxy's, over the last
 * TIMING_WINDOW sessions, together with the longest time so far.
 */
#ifndef MODEL_TIMINGS_H
#define MODEL_TIMINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"

/* X(identifier, name, what it is) -- the one list of them. */
#define TIMINGS_TABLE(X)                                                       \
	X(TIMING_QUEUE, "queue", "from the accept to the connect")             \
	X(TIMING_CONNECT, "connect", "until a server accepted")                \
	X(TIMING_SESSION, "session", "from the accept to the end")             \
	X(TIMING_CHECK, "check", "of an active health check")

enum timing {
#define X(id, name, text) id,
	TIMINGS_TABLE(X)
#undef X
	    TIMINGS
};

extern const char *const timing_names[TIMINGS], *const timing_texts[TIMINGS];

struct timings;

/* Makes empty timings, which take some 5 KiB for each stripe.  Returns NULL
 * when memory is short.  Freed by free(3). */
struct timings *timings_new(void);

/* Adds a time, in relaxed order.  thread: the index of the calling thread.
 * Never blocks. */
void timings_add(
    struct timings *timings, unsigned thread, enum timing which, uint64_t ns);

/* Reads the histogram, summed over all stripes. */
void timings_read(const struct timings *timings, enum timing which,
    struct histogram *ret_histogram);

/* Clears the histograms.  Times that other threads add meanwhile may be lost.
 */
void timings_clear(struct timings *timings);

/* The timings up to TIMING_SESSION are averaged. */
#define TIMINGS_AVERAGED (TIMING_SESSION + 1)

/* Each new time weighs 1/512, as in HAProxy (TIME_STATS_SAMPLES). */
#define TIMING_WINDOW 512

/* The words are shared; all accesses are relaxed. */
struct timing_average {
	uint64_t sum; /* TIMING_WINDOW times the average, ms */
	uint64_t max_ms;
};

/* Adds a time.  Any thread. */
void timing_average_add(struct timing_average *average, uint64_t ms);
/* Returns the average in ms. */
uint64_t timing_average_ms(const struct timing_average *average);

/* Clears the longest times of all TIMINGS_AVERAGED and, with all, the averages.
 */
void timing_averages_clear(struct timing_average *averages, bool all);

#endif
