/* SPDX-License-Identifier: MIT
 * Atomic operations with the memory order in the name.
 *
 * Every word that two threads share is accessed only through these operations,
 * so a grep for `atomic_` finds all accesses.  Bare fences are not used: where
 * a store must be seen before a later load, the store is a swap (swap_seq),
 * which the hardware orders and ThreadSanitizer understands.  Release and
 * acquire sides that belong together carry the same tag, [P1], [P2] ..., in a
 * comment at both ends; src/SHARED_WORDS.md lists them.
 *
 * The operations work on plain integers and pointers of up to eight bytes.
 */
#ifndef BASE_ATOMICS_H
#define BASE_ATOMICS_H

/* Data that different threads write lives on cache lines of its own. */
#define CACHE_LINE         64
#define CACHE_LINE_ALIGNED __attribute__((aligned(CACHE_LINE)))

#define atomic_load_relaxed(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define atomic_load_acquire(p)     __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define atomic_load_seq(p)         __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define atomic_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define atomic_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

#define atomic_add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define atomic_sub_relaxed(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_RELAXED)
#define atomic_add_acq_rel(p, v) __atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL)
#define atomic_sub_acq_rel(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_ACQ_REL)
#define atomic_and_acq_rel(p, v) __atomic_fetch_and((p), (v), __ATOMIC_ACQ_REL)
#define atomic_or_acq_rel(p, v)  __atomic_fetch_or((p), (v), __ATOMIC_ACQ_REL)

#define atomic_swap_acq_rel(p, v)                                              \
	__atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
#define atomic_swap_seq(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)

/* On failure *(expected) holds the value found. */
#define atomic_cas_acq_rel(p, expected, v)                                     \
	__atomic_compare_exchange_n(                                           \
	    (p), (expected), (v), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#define atomic_cas_relaxed(p, expected, v)                                     \
	__atomic_compare_exchange_n(                                           \
	    (p), (expected), (v), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)

#define atomic_add_seq(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define atomic_sub_seq(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_SEQ_CST)
#define atomic_cas_seq(p, expected, v)                                         \
	__atomic_compare_exchange_n(                                           \
	    (p), (expected), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)

/* Tells the CPU that this loop waits for another thread. */
#if defined(__x86_64__) || defined(__i386__)
#define cpu_relax() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define cpu_relax() __asm__ volatile("yield")
#else
#define cpu_relax() ((void)0)
#endif

/* Adds to a statistics word that only the calling thread writes: no lock
 * prefix, yet readers on other threads see whole values. */
#define atomic_bump_own(p, v)                                                  \
	atomic_store_relaxed((p), atomic_load_relaxed(p) + (v))

#endif
