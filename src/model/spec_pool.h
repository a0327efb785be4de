/* SPDX-License-Identifier: MIT
 * The spec of a pool. See spec.h.
 */
#ifndef MODEL_SPEC_POOL_H
#define MODEL_SPEC_POOL_H

#include <sched.h>
#include <stdbool.h>

#include "lf/policy.h"
#include "lf/pool_class.h"
#include "lf/promotion.h"
#include "model/spec_place.h"

struct pool_spec {
	char *name;
	struct spec_place place;
	/* The classes of threads, at least one; `auto` is resolved already. */
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned classes_n;
	/* The CPUs of `threads = auto`, for each of which there is a thread, or
	 * two (pool_text.h); 0: not auto. */
	unsigned threads_auto;
	/* The pool's sessions make TLS handshakes, with clients or servers. */
	bool has_tls;
	/* `2..8`: the pool grows and shrinks between these numbers of threads;
	 * it starts with threads_min, in one class.  Both 0: the number is
	 * fixed. */
	unsigned threads_min, threads_max;
	unsigned shards; /* resolved; at most as many as threads */
	bool shards_auto;
	enum policy_kind promotion; /* when a leader promotes */
	enum promotion_order order; /* and whom */
	bool cpus_given;
	cpu_set_t cpus; /* where its threads run, if given */
	/* TLS handshakes that compute at the same time; 0: auto. */
	unsigned handshake_threads;
	unsigned handshake_nice; /* how much nicer the threads are meanwhile */
};

#define HANDSHAKE_NICE_MAX 20

#endif
