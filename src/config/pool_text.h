/* SPDX-License-Identifier: MIT
 * Parses and formats a pool's threads, shards and CPUs, for the file and the
 * admin socket.
 *
 * Functions run on the control thread.  On failure the output is untouched, and
 * err says what was found and what is allowed.
 */
#ifndef CONFIG_POOL_TEXT_H
#define CONFIG_POOL_TEXT_H

#include <sched.h>
#include <stdbool.h>

#include "base/err.h"
#include "model/spec.h"

#define THREADS_ALLOWED                                                        \
	"auto, 1 to 1024, a range as in 2..8, or classes as in 4 nice=0, "     \
	"2 nice=5 (at most 4)"

/* `auto`, `4`, `2..8`, or classes, the best first: `4 nice=0, 2 nice=5`. */
struct threads_wish {
	bool is_auto; /* see threads_auto */
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned classes_n;
	unsigned min,
	    max; /* of a range, whose one class has min; else both 0 */
};

/* Parses one of these forms.  Returns false with err set. */
bool threads_parse(
    const char *s, struct threads_wish *ret_wish, struct err *err) MUST_CHECK;

/* Returns the number of CPUs that the process may use, among `cpus` unless it
 * is NULL. */
unsigned threads_auto(const cpu_set_t *cpus);

/* Returns the number of threads for that many CPUs: one for each.  Where TLS
 * handshakes are made there is a spare thread for each CPU as well: handshakes
 * may then compute on all of them, and threads are left for other turns. */
unsigned threads_for_cpus(unsigned cpus, bool has_tls);
/* Returns how many of these are spare ones. */
unsigned spare_threads(unsigned cpus, bool has_tls);

#define THREADS_TEXT_SIZE 80

/* Writes the shortest equivalent text: `4`, not `4 nice=0`.  Returns out. */
const char *threads_text(const struct pool_class *classes, unsigned classes_n,
    char out[THREADS_TEXT_SIZE]);

/* Parses `auto`, which gives 0, or a number.  Returns false with err set. */
bool shards_parse(
    const char *s, unsigned *ret_shards, struct err *err) MUST_CHECK;

#define HANDSHAKE_THREADS_ALLOWED "auto, or 1 to 1024"

/* Parses `auto`, which gives 0, or a number.  Returns false with err set. */
bool handshake_threads_parse(
    const char *s, unsigned *ret_n, struct err *err) MUST_CHECK;

/* Writes the number; 0 is written as `auto`.  Returns out. */
const char *handshake_threads_text(unsigned n, char out[THREADS_TEXT_SIZE]);

/* Returns the number of shards for that many threads, without spare ones: one
 * for every two, or a single one.  A shard's second thread costs little and
 * covers for a leader in a long turn; a third and fourth wake each other more
 * than they do (tests/lab/README.md). */
unsigned shards_auto(unsigned threads);

/* Returns whether that number of threads, the fewest there will be, can serve
 * the shards; otherwise sets err.  autoscaled: threads is the lower end of a
 * range. */
bool shards_fit(unsigned shards, unsigned threads, bool autoscaled,
    struct err *err) MUST_CHECK;

/* Parses CPU numbers and ranges, as in `0-3,5`, all of which must be in
 * `usable`.  `all` stands for all of `usable`.  Returns false with err set. */
bool cpu_list_parse(const char *s, const cpu_set_t *usable, cpu_set_t *ret_cpus,
    struct err *err) MUST_CHECK;

/* Writes the CPUs in ascending order, neighbours as a range.  Returns out. */
#define CPU_LIST_TEXT_SIZE 2600 /* every other one of 1024 */
const char *cpu_list_text(const cpu_set_t *cpus, char out[CPU_LIST_TEXT_SIZE]);

#endif
