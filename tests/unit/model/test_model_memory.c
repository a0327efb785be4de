/* SPDX-License-Identifier: MIT
 * What the model says that it takes, beside what malloc says.
 */
#include "model/model_memory.h"

#include "rig.h"

static uint64_t
heap_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Blocks of the sizes that malloc keeps for a thread after they were freed: its
 * statistics count them as in use, and calloc takes them since glibc 2.41. */
#define CACHED_SIZES    65
#define CACHED_PER_SIZE 16

static void
take_cached_blocks(void *blocks[CACHED_SIZES * CACHED_PER_SIZE])
{
	for (size_t i = 0; i < CACHED_SIZES * CACHED_PER_SIZE; i++) {
		blocks[i] = malloc(i / CACHED_PER_SIZE * 16 + 8);
		assert_non_null(blocks[i]);
	}
}

static void
free_cached_blocks(void *blocks[CACHED_SIZES * CACHED_PER_SIZE])
{
	for (size_t i = 0; i < CACHED_SIZES * CACHED_PER_SIZE; i++)
		free(blocks[i]);
}

static uint64_t
heap_named(const struct model *m)
{
	struct model_memory named;

	model_memory(m, &named);
	return named.spec.heap + named.frontends.heap + named.backends.heap +
	       named.servers.heap + named.counters.heap +
	       named.histograms.heap + named.lineups.heap + named.ports.heap +
	       named.retired.heap + named.removed.heap;
}

static void
all_but_a_little_of_the_model_has_a_name(void **state)
{
	static const struct balance_ops *const kinds[] = {&balance_roundrobin,
	    &balance_hash, &balance_leastconn, &balance_random};

	for (unsigned k = 0; k < UNIT_N(kinds); k++) {
		void *cached[CACHED_SIZES * CACHED_PER_SIZE];
		uint64_t before, after, named;
		struct rig rig;

		if (heap_in_use() == 0) {
			print_message("this malloc tells nothing\n");
			skip();
		}
		take_cached_blocks(cached);
		before = heap_in_use();
		rig_init(&rig, kinds[k], 300, NULL, false);
		after = heap_in_use();
		named = heap_named(rig.model);
		/* The grace domain is not the model's. */
		if (named > after - before + 1024 ||
		    named < (after - before) * 95 / 100)
			fail_msg("%llu named, %llu taken",
			    (unsigned long long)named,
			    (unsigned long long)(after - before));
		rig_fini(&rig);
		free_cached_blocks(cached);
	}
}

static void
what_there_are_is_counted(void **state)
{
	struct model_memory m;
	struct rig rig;

	rig_init(&rig, &balance_hash, 7, NULL, false);
	model_memory(rig.model, &m);
	assert_int_equal(m.spec.count, 1);
	assert_int_equal(m.backends.count, 1);
	assert_int_equal(m.servers.count, 7);
	assert_int_equal(m.counters.count, 8);
	assert_int_equal(m.lineups.count, 1);
	/* The table of 65537 cells. */
	assert_true(m.lineups.heap > 4 * 65537);
	assert_int_equal(m.retired.count, 0);
	rig_fini(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_but_a_little_of_the_model_has_a_name),
	    cmocka_unit_test(what_there_are_is_counted),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
