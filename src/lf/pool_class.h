/* SPDX-License-Identifier: MIT
 * The size of a pool: its threads, by scheduling class.
 */
#ifndef LF_POOL_CLASS_H
#define LF_POOL_CLASS_H

#define POOL_THREADS_MAX 1024
#define POOL_CLASSES_MAX 4

/* The threads of one scheduling class.  The first class of a pool is the best
 * (grade 0). */
struct pool_class {
	unsigned threads;
	int nice; /* -20 to 19: how much nicer than the process, see nice(1) */
};

/* Returns how many threads the n classes have together. */
static inline unsigned
pool_class_threads(const struct pool_class *classes, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += classes[i].threads;
	return sum;
}

#endif
