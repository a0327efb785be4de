/* SPDX-License-Identifier: MIT
 * Handles: what is packed comes out again.
 */
#include "lf/handle.h"

#include "lf/event_handler.h"
#include "unit.h"

static void
a_handle_gives_back_its_parts(void **state)
{
	static const uint32_t generations[] = {0, 1, 0x80000000u, UINT32_MAX};
	static const uint32_t slots[] = {0, 1, 4096, (1u << 22) - 1, 1u << 29};

	(void)state;
	for (size_t g = 0; g < UNIT_N(generations); g++) {
		for (size_t s = 0; s < UNIT_N(slots); s++) {
			for (int side = HANDLE_CLIENT; side <= HANDLE_LISTENER;
			     side++) {
				handle_t h = handle_make(generations[g],
				    slots[s], (enum handle_side)side);

				assert_int_equal(
				    handle_generation(h), generations[g]);
				assert_int_equal(handle_slot(h), slots[s]);
				assert_int_equal(handle_side(h), side);
			}
		}
	}
}

static void
the_three_sides_have_different_handles(void **state)
{
	(void)state;
	assert_int_not_equal(
	    handle_make(1, 7, HANDLE_CLIENT), handle_make(1, 7, HANDLE_SERVER));
	assert_int_not_equal(handle_make(1, 7, HANDLE_CLIENT),
	    handle_make(1, 7, HANDLE_LISTENER));
	assert_int_not_equal(
	    handle_make(1, 7, HANDLE_CLIENT), handle_make(2, 7, HANDLE_CLIENT));
	assert_int_not_equal(
	    handle_make(1, 7, HANDLE_CLIENT), handle_make(1, 8, HANDLE_CLIENT));
}

static void
only_the_server_side_is_shifted(void **state)
{
	handle_t client = handle_make(1, 2, HANDLE_CLIENT);
	handle_t server = handle_make(1, 2, HANDLE_SERVER);
	handle_t listener = handle_make(1, 2, HANDLE_LISTENER);

	(void)state;
	assert_int_equal(handle_pending(client, HANDLE_ALL), HANDLE_ALL);
	assert_int_equal(handle_pending(listener, HANDLE_READABLE), 1);
	assert_int_equal(handle_pending(server, HANDLE_ALL), HANDLE_ALL << 8);
}

static void
sides_and_notes_share_the_claim_without_overlap(void **state)
{
	handle_t client = handle_make(1, 2, HANDLE_CLIENT);
	handle_t server = handle_make(1, 2, HANDLE_SERVER);
	uint32_t notes = NOTE_TIMEOUT | NOTE_KILL | NOTE_RESUME;
	uint32_t c = handle_pending(client, HANDLE_ALL);
	uint32_t s = handle_pending(server, HANDLE_ALL);

	(void)state;
	assert_int_equal(c & s, 0);
	assert_int_equal((c | s) & notes, 0);
	assert_int_equal((c | s | notes) >> CLAIM_BITS, 0);
	assert_int_equal(NOTE_TIMEOUT & NOTE_KILL, 0);
	assert_int_equal((NOTE_TIMEOUT | NOTE_KILL) & NOTE_RESUME, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_handle_gives_back_its_parts),
	    cmocka_unit_test(the_three_sides_have_different_handles),
	    cmocka_unit_test(only_the_server_side_is_shifted),
	    cmocka_unit_test(sides_and_notes_share_the_claim_without_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
