/* SPDX-License-Identifier: MIT
 * A histogram of times: log-linear, so that a value is known to within a fifth
 * from nanoseconds to minutes.
 *
 * Each power of two is split into four.  One thread adds, or all do with
 * histogram_add_shared; any thread reads, word by word: a reading while
 * another thread adds may miss the last few values.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

#include "base/atomics.h"

/* Up to 2^41 ns, 36 minutes; longer times count in the last bucket. */
#define HISTOGRAM_BUCKETS 160

struct histogram {
	uint64_t n[HISTOGRAM_BUCKETS];
	uint64_t max_ns, sum_ns;
};

/* Returns the bucket of a value. */
unsigned histogram_bucket(uint64_t ns);
/* Returns the first value of a bucket. */
uint64_t histogram_bucket_start_ns(unsigned bucket);

/* The thread that owns the histogram. */
void histogram_add(struct histogram *histogram, uint64_t ns);

/* Any thread, of a histogram that several threads add to. */
void histogram_add_shared(struct histogram *histogram, uint64_t ns);

/* Back to empty, word by word; what others add meanwhile may be lost. */
void histogram_clear(struct histogram *histogram);

/* Adds from's counts to into, which belongs to the caller. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* Returns the number of values. Any thread. */
uint64_t histogram_count(const struct histogram *histogram);

/* The value that a share (0 to 1) of all values do not exceed: the end of its
 * bucket, or the greatest value seen if that is less; 0 if there are none. */
uint64_t histogram_quantile_ns(const struct histogram *histogram, double share);

#endif
