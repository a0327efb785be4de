/* SPDX-License-Identifier: MIT
 * See histogram.h.
 */
#include "base/histogram.h"

/* Values 0 to 3 have buckets of their own.  From 4 on, the two bits below the
 * highest one choose among the four buckets of a power of two. */
unsigned
histogram_bucket(uint64_t ns)
{
	unsigned high, bucket;

	if (ns < 4)
		return (unsigned)ns;
	high = 63u - (unsigned)__builtin_clzll(ns);
	bucket = (high - 1) * 4 + (unsigned)(ns >> (high - 2) & 3);
	return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

uint64_t
histogram_bucket_start_ns(unsigned bucket)
{
	if (bucket < 4)
		return bucket;
	return (4ull + bucket % 4) << (bucket / 4 - 1);
}

void
histogram_add(struct histogram *histogram, uint64_t ns)
{
	atomic_bump_own(&histogram->n[histogram_bucket(ns)], 1u);
	atomic_bump_own(&histogram->sum_ns, ns);
	if (ns > atomic_load_relaxed(&histogram->max_ns))
		atomic_store_relaxed(&histogram->max_ns, ns);
}

void
histogram_add_shared(struct histogram *histogram, uint64_t ns)
{
	uint64_t max_ns = atomic_load_relaxed(&histogram->max_ns);

	atomic_add_relaxed(&histogram->n[histogram_bucket(ns)], 1u);
	atomic_add_relaxed(&histogram->sum_ns, ns);
	while (
	    ns > max_ns && !atomic_cas_relaxed(&histogram->max_ns, &max_ns, ns))
		;
}

void
histogram_clear(struct histogram *histogram)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		atomic_store_relaxed(&histogram->n[i], 0);
	atomic_store_relaxed(&histogram->max_ns, 0);
	atomic_store_relaxed(&histogram->sum_ns, 0);
}

void
histogram_merge(struct histogram *into, const struct histogram *from)
{
	uint64_t max_ns = atomic_load_relaxed(&from->max_ns);

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->n[i] += atomic_load_relaxed(&from->n[i]);
	into->sum_ns += atomic_load_relaxed(&from->sum_ns);
	if (max_ns > into->max_ns)
		into->max_ns = max_ns;
}

uint64_t
histogram_count(const struct histogram *histogram)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		n += atomic_load_relaxed(&histogram->n[i]);
	return n;
}

uint64_t
histogram_quantile_ns(const struct histogram *histogram, double share)
{
	uint64_t total = histogram_count(histogram), seen = 0;
	uint64_t wanted = (uint64_t)(share * (double)total + 0.5);
	uint64_t max_ns = atomic_load_relaxed(&histogram->max_ns);

	if (total == 0)
		return 0;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t end_ns = histogram_bucket_start_ns(i + 1) - 1;

		seen += atomic_load_relaxed(&histogram->n[i]);
		if (seen >= wanted && seen > 0)
			return end_ns < max_ns ? end_ns : max_ns;
	}
	return max_ns;
}
