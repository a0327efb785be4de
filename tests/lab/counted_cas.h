/* SPDX-License-Identifier: MIT
 * Compare-and-swap that counts its failures, for a source file that is compiled
 * once more for the laboratory: force-included before it.
 */
#ifndef LAB_COUNTED_CAS_H
#define LAB_COUNTED_CAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

/* Books a failure on the calling thread's own line; returns done. */
bool lab_cas(bool done);
/* Failures of all threads so far. */
uint64_t lab_cas_failures(void);

#undef atomic_cas_acq_rel
#undef atomic_cas_seq
#define atomic_cas_acq_rel(p, expected, v)                                     \
	lab_cas(__atomic_compare_exchange_n(                                   \
	    (p), (expected), (v), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
#define atomic_cas_seq(p, expected, v)                                         \
	lab_cas(__atomic_compare_exchange_n(                                   \
	    (p), (expected), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))

#endif
