/* SPDX-License-Identifier: MIT
 * A histogram of times: log-linear, so that a value is known to within a fifth
 * from nanoseconds to minutes.
 *
 * Each power of two is split into four.  One thread adds values, or any thread
 * does with histogram_add_shared.  Any thread reads, word by word; a reading
 * while another thread adds may miss the last few values.
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

/* Adds a time.  Runs on the thread that owns the histogram. */
void histogram_add(struct histogram *histogram, uint64_t ns);

/* Adds a time to a histogram to which several threads add.  Any thread. */
void histogram_add_shared(struct histogram *histogram, uint64_t ns);

/* Empties the histogram, word by word.  Times that other threads add meanwhile
 * may be lost. */
void histogram_clear(struct histogram *histogram);

/* Adds from's counts to into, which belongs to the caller. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* Returns the number of values. Any thread. */
uint64_t histogram_count(const struct histogram *histogram);

/* Returns the time that a share (0 to 1) of all values do not exceed: the end
 * of its bucket, or the greatest value if that is less; 0 if there are no
 * values. */
uint64_t histogram_quantile_ns(const struct histogram *histogram, double share);

#endif
