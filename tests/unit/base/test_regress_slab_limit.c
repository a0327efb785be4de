/* SPDX-License-Identifier: MIT
 * Symptom: memory beyond the slab's table of chunks was written to when more
 * threads than the last chunk had spare objects asked a full slab at once.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/slab.h"

#define THREADS 4
#define MAX     (SLAB_CHUNK - 1) /* one spare object */
#define ROUNDS  100000

static void *
ask_in_vain(void *arg)
{
	struct slab *slab = arg;
	uint32_t index;

	for (int i = 0; i < ROUNDS; i++)
		if (slab_take(slab, &index))
			slab_give(slab, index);
	return NULL;
}

static void
a_full_slab_does_not_grow_past_its_last_chunk(void **state)
{
	struct slab_options options = {.size = 64, .max = MAX};
	pthread_t threads[THREADS];
	struct slab slab;
	uint32_t index;

	(void)state;
	assert_int_equal(slab_init(&slab, &options), 0);
	for (int i = 0; i < MAX; i++)
		assert_non_null(slab_take(&slab, &index));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, ask_in_vain, &slab), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(slab_made(&slab), SLAB_CHUNK);
	slab_fini(&slab);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_full_slab_does_not_grow_past_its_last_chunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
