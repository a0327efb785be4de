/* SPDX-License-Identifier: MIT
 * The claim: every answer, and threads that post to one.
 */
#include "lf/claim.h"

#include <sched.h>

#include "unit.h"

#define POSTERS 4
#define POSTS   60000 /* of each poster */

static const uint32_t all_bits = (1u << CLAIM_BITS) - 1;

static void
a_new_claim_is_free_in_generation_one(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c);
	assert_false(claim_owned(&c));
	assert_int_equal(claim_generation(&c), 1);
	assert_int_equal(c.word, claim_word(1, 0, false));
}

static void
claim_post_on_free_word_takes_it(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c);
	assert_int_equal(claim_post(&c, 1, 0x5), CLAIM_TAKEN);
	assert_true(claim_owned(&c));
	assert_int_equal(claim_take(&c), 0x5);
}

static void
claim_post_without_bits_takes_as_well(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c);
	assert_int_equal(claim_post(&c, 1, 0), CLAIM_TAKEN);
	assert_true(claim_owned(&c));
}

static void
claim_post_on_owned_word_leaves_bits(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c);
	claim_post(&c, 1, 0x1);
	assert_int_equal(claim_post(&c, 1, 0x4), CLAIM_LEFT);
	assert_int_equal(claim_post(&c, 1, 0x8), CLAIM_LEFT);
	assert_int_equal(claim_take(&c), 0xd);
	assert_int_equal(claim_take(&c), 0);
	assert_true(claim_owned(&c));
}

static void
claim_post_of_another_generation_changes_nothing(void **state)
{
	static const uint32_t others[] = {0, 1, 3, UINT32_MAX};
	struct claim c;

	(void)state;
	for (int owned = 0; owned < 2; owned++) {
		c.word = claim_word(2, 0x10, owned);
		for (size_t i = 0; i < UNIT_N(others); i++) {
			assert_int_equal(
			    claim_post(&c, others[i], all_bits), CLAIM_STALE);
			assert_int_equal(c.word, claim_word(2, 0x10, owned));
		}
	}
}

static void
all_31_bits_are_carried(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c);
	for (int bit = 0; bit < CLAIM_BITS; bit++) {
		claim_post(&c, 1, 1u << bit);
		assert_int_equal(claim_generation(&c), 1);
		assert_int_equal(claim_take(&c), 1u << bit);
	}
	claim_post(&c, 1, all_bits);
	assert_int_equal(claim_take(&c), all_bits);
	assert_true(claim_owned(&c));
}

static void
claim_drop_frees_when_nothing_came(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c);
	claim_post(&c, 1, 0x1);
	claim_take(&c);
	assert_true(claim_drop(&c));
	assert_int_equal(c.word, claim_word(1, 0, false));
	assert_int_equal(claim_post(&c, 1, 0x2), CLAIM_TAKEN);
}

static void
claim_drop_fails_while_bits_are_pending(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c);
	claim_post(&c, 1, 0x1);
	assert_false(claim_drop(&c));
	assert_int_equal(claim_take(&c), 0x1);
	claim_post(&c, 1, 0x2);
	assert_false(claim_drop(&c));
	assert_true(claim_owned(&c));
	assert_int_equal(claim_take(&c), 0x2);
	assert_true(claim_drop(&c));
}

static void
claim_open_owns_the_present_generation(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c);
	claim_open(&c);
	assert_int_equal(c.word, claim_word(1, 0, true));
	assert_int_equal(claim_post(&c, 1, 0x1), CLAIM_LEFT);
}

static void
claim_retire_frees_in_a_new_generation_without_bits(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c);
	claim_open(&c);
	claim_post(&c, 1, 0x7);
	claim_retire(&c);
	assert_int_equal(c.word, claim_word(2, 0, false));
	assert_int_equal(claim_post(&c, 1, 0x1), CLAIM_STALE);
	assert_int_equal(claim_post(&c, 2, 0x1), CLAIM_TAKEN);
}

static void
claim_renew_keeps_ownership_and_the_bits_asked_for(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c);
	claim_open(&c);
	claim_post(&c, 1, 0x00f0000f);
	claim_renew(&c, 0x00ff0000);
	assert_int_equal(c.word, claim_word(2, 0x00f00000, true));
	assert_int_equal(claim_post(&c, 1, 0x1), CLAIM_STALE);
	assert_int_equal(claim_post(&c, 2, 0x1), CLAIM_LEFT);
	assert_int_equal(claim_take(&c), 0x00f00001);
}

static void
the_generation_wraps_without_touching_the_rest(void **state)
{
	struct claim c = {.word = claim_word(UINT32_MAX, 0x3, true)};

	(void)state;
	claim_renew(&c, 0x1);
	assert_int_equal(c.word, claim_word(0, 0x1, true));
	c.word = claim_word(UINT32_MAX, 0x3, true);
	claim_retire(&c);
	assert_int_equal(c.word, claim_word(0, 0, false));
}

/* Posters count up what they want before they post, the owner notes how far it
 * has seen: a lost bit is a want that stays unseen in its generation. */
struct arena {
	struct claim claim CACHE_LINE_ALIGNED;
	uint32_t want[POSTERS] CACHE_LINE_ALIGNED;
	uint32_t seen[POSTERS] CACHE_LINE_ALIGNED;
	uint32_t owners, two_owners, lost, stale_accepted, ticket;
	uint64_t turns; /* plain: the owner's */
	bool generations_change;
};

static void
work(struct arena *a, uint32_t bits)
{
	if (atomic_add_relaxed(&a->owners, 1u) != 0)
		atomic_add_relaxed(&a->two_owners, 1u);
	a->turns++;
	for (uint32_t i = 0; i < POSTERS; i++)
		if (bits & 1u << i)
			atomic_store_relaxed(
			    &a->seen[i], atomic_load_relaxed(&a->want[i]));
	atomic_sub_relaxed(&a->owners, 1u);
}

/* As a thread of a pool does; now and then the handler ends or goes on under a
 * new generation. */
static void
own(struct arena *a, uint32_t *random)
{
	do {
		uint32_t what = unit_random(random) % 64;

		work(a, claim_take(&a->claim));
		if (what == 0 && a->generations_change)
			claim_renew(&a->claim, 0);
		if (what == 1 && a->generations_change) {
			claim_retire(&a->claim);
			return;
		}
	} while (!claim_drop(&a->claim));
}

static bool
settled(const struct arena *a, uint32_t me, uint32_t generation, uint32_t want)
{
	return atomic_load_relaxed(&a->seen[me]) >= want ||
	       claim_generation(&a->claim) != generation;
}

static void *
post_and_own(void *arg)
{
	struct arena *a = arg;
	uint32_t me = unit_ticket(&a->ticket), random = me * 104729 + 1;

	for (uint32_t want = 1; want <= POSTS; want++) {
		uint32_t generation = claim_generation(&a->claim);
		enum claim_answer answer;

		if (claim_post(&a->claim, generation - 1, all_bits) !=
		    CLAIM_STALE)
			atomic_add_relaxed(&a->stale_accepted, 1u);
		atomic_store_relaxed(&a->want[me], want);
		answer = claim_post(&a->claim, generation, 1u << me);
		if (answer == CLAIM_TAKEN)
			own(a, &random);
		if (answer == CLAIM_STALE || want % 16 != 0)
			continue;
		if (!unit_wait(settled(a, me, generation, want)))
			atomic_add_relaxed(&a->lost, 1u);
	}
	return NULL;
}

static void
stress(bool generations_change)
{
	struct arena a = {.generations_change = generations_change};
	struct unit_threads threads;

	claim_init(&a.claim);
	unit_threads_start(&threads, POSTERS, post_and_own, &a);
	unit_threads_join(&threads);
	assert_int_equal(a.two_owners, 0);
	assert_int_equal(a.stale_accepted, 0);
	assert_int_equal(a.lost, 0);
	assert_false(claim_owned(&a.claim));
	assert_int_equal(a.claim.word & CLAIM_PENDING, 0);
	assert_true(a.turns > 0);
	if (generations_change)
		assert_true(claim_generation(&a.claim) > 1);
	else
		for (int i = 0; i < POSTERS; i++)
			assert_int_equal(a.seen[i], POSTS);
}

static void
four_posters_have_one_owner_and_lose_no_bit(void **state)
{
	(void)state;
	stress(false);
}

static void
four_posters_and_changing_generations_lose_no_present_bit(void **state)
{
	(void)state;
	stress(true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_new_claim_is_free_in_generation_one),
	    cmocka_unit_test(claim_post_on_free_word_takes_it),
	    cmocka_unit_test(claim_post_without_bits_takes_as_well),
	    cmocka_unit_test(claim_post_on_owned_word_leaves_bits),
	    cmocka_unit_test(claim_post_of_another_generation_changes_nothing),
	    cmocka_unit_test(all_31_bits_are_carried),
	    cmocka_unit_test(claim_drop_frees_when_nothing_came),
	    cmocka_unit_test(claim_drop_fails_while_bits_are_pending),
	    cmocka_unit_test(claim_open_owns_the_present_generation),
	    cmocka_unit_test(
	        claim_retire_frees_in_a_new_generation_without_bits),
	    cmocka_unit_test(
	        claim_renew_keeps_ownership_and_the_bits_asked_for),
	    cmocka_unit_test(the_generation_wraps_without_touching_the_rest),
	    cmocka_unit_test(four_posters_have_one_owner_and_lose_no_bit),
	    cmocka_unit_test(
	        four_posters_and_changing_generations_lose_no_present_bit),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
