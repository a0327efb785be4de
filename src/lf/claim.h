/* SPDX-License-Identifier: MIT
 * The claim: which thread may touch an event handler.
 *
 * The paper serializes a handle by taking it out of the handle set while its
 * event is processed.  A session has two handles, so suspending one does not
 * keep a second thread out of the session.  Here the handler itself is claimed,
 * in one atomic word and without a system call:
 *
 *     63            32 31                    1  0
 *    +----------------+-----------------------+---+
 *    |   generation   |     pending bits      | o |   o: owned
 *    +----------------+-----------------------+---+
 *
 *               post (free)                        take (pending -> owner)
 *    free  ------------------------>  owned  ------------------------> owned
 *      ^                               |  ^
 *      |        drop (no bits)         |  | post (owned): bits stay for the
 *      +-------------------------------+  | owner, who finds them when it drops
 *      |        retire                 |  |   renew: generation + 1, owned
 *      +-- generation + 1, no bits ----+--+
 *
 * The thread whose post returns CLAIM_TAKEN owns the handler and must make sure
 * that its turn is run.  The owner loops take, work, drop until drop succeeds.
 * Only the owner touches the handler's plain fields and only the owner closes
 * it; it retires the claim before it closes a descriptor, so that an event of
 * the old descriptor that is still in a batch somewhere finds another
 * generation and is refused in the same atomic step.  Slots are type-stable, so
 * the word can be read at any time.
 *
 * Invariants (checked by tests/unit/lf and shown by the ledger): one owner at a
 * time; a bit posted with the present generation is taken by an owner or
 * dropped by a retire; a post with another generation changes nothing.
 *
 * The generation wraps after 2^32 uses of one slot.  A stale event would have
 * to stay in a batch of at most 64 for as long to be taken for a valid one.
 */
#ifndef LF_CLAIM_H
#define LF_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/ensure.h"

struct claim {
	uint64_t word;
};

enum claim_answer {
	CLAIM_STALE, /* another generation: the handle is gone */
	CLAIM_LEFT,  /* owned: the owner will see the bits */
	CLAIM_TAKEN, /* was free: the caller owns it now */
};

#define CLAIM_BITS    31
#define CLAIM_OWNED   1ull
#define CLAIM_PENDING 0xfffffffeull

static inline uint64_t
claim_word(uint32_t generation, uint32_t pending, bool owned)
{
	return (uint64_t)generation << 32 | (uint64_t)pending << 1 | owned;
}

/* Initializes a new slot: free, generation 1. */
static inline void
claim_init(struct claim *claim)
{
	atomic_store_release(&claim->word, claim_word(1, 0, false));
}

/* Returns the present generation.  Any thread; the generation of a slot in use
 * may have changed when the function returns. */
static inline uint32_t
claim_generation(const struct claim *claim)
{
	return (uint32_t)(atomic_load_relaxed(&claim->word) >> 32);
}

/* Returns the generation for a later post by a thread that is not the owner.
 * Fields read after this call belong to this generation or to a later one, and
 * a post to a later one is refused. */
static inline uint32_t
claim_generation_acquire(const struct claim *claim)
{
	return (uint32_t)(atomic_load_acquire(&claim->word) >> 32);
}

static inline bool
claim_owned(const struct claim *claim)
{
	return atomic_load_relaxed(&claim->word) & CLAIM_OWNED;
}

/* Makes the caller the owner.  For the thread that has just taken the slot from
 * its allocator. */
static inline void
claim_open(struct claim *claim)
{
	uint32_t generation = claim_generation(claim);

	ENSURE(!claim_owned(claim));
	atomic_store_release(&claim->word, claim_word(generation, 0, true));
}

/* Leaves bits with the handler of that generation.  Any thread. */
static inline enum claim_answer
claim_post(struct claim *claim, uint32_t generation, uint32_t bits)
{
	uint64_t word = atomic_load_relaxed(&claim->word);

	for (;;) {
		if ((uint32_t)(word >> 32) != generation)
			return CLAIM_STALE;
		if (atomic_cas_acq_rel(&claim->word, &word,
		        word | (uint64_t)bits << 1 | CLAIM_OWNED)) /* [P1] */
			return word & CLAIM_OWNED ? CLAIM_LEFT : CLAIM_TAKEN;
	}
}

/* Returns the pending bits and clears them.  Caller owns the handler. */
static inline uint32_t
claim_take(struct claim *claim)
{
	uint64_t word = atomic_and_acq_rel(&claim->word, ~CLAIM_PENDING);

	return (uint32_t)(word & CLAIM_PENDING) >> 1;
}

/* Gives the handler up.  Returns false if bits have arrived meanwhile: the
 * caller still owns the handler and must take them.  Caller owns the handler.
 */
static inline bool
claim_drop(struct claim *claim)
{
	uint64_t owned = claim_word(claim_generation(claim), 0, true);

	return atomic_cas_acq_rel(
	    &claim->word, &owned, owned & ~CLAIM_OWNED); /* [P1] */
}

/* Starts a new generation of a handler that exchanges one of its descriptors.
 * Events of the old generation are refused from now on; only the pending bits
 * in keep remain.  The caller registers the handler's other descriptors again.
 * Caller owns the handler. */
static inline void
claim_renew(struct claim *claim, uint32_t keep)
{
	uint64_t word = atomic_load_relaxed(&claim->word), renewed;

	do
		renewed = claim_word((uint32_t)(word >> 32) + 1,
		    ((uint32_t)(word & CLAIM_PENDING) >> 1) & keep, true);
	while (!atomic_cas_acq_rel(&claim->word, &word, renewed));
}

/* Ends the handler: the slot is free, in a new generation.  Call this before a
 * descriptor is closed.  Caller owns the handler. */
static inline void
claim_retire(struct claim *claim)
{
	uint32_t generation = claim_generation(claim) + 1;

	atomic_store_release(&claim->word, claim_word(generation, 0, false));
}

#endif
