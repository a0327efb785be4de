/* SPDX-License-Identifier: MIT
 * How a side ends: SIDE_ENDS_TABLE.
 */
#include "proxy/side.h"
#include "unit.h"

static const struct {
	enum side_end from;
	enum side_event event;
	enum side_end to;
} rows[] = {
#define X(from, event, to, why) {SIDE_##from, EVENT_##event, SIDE_##to},
    SIDE_ENDS_TABLE(X)
#undef X
};

static void
no_event_undoes_an_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_N(rows); i++) {
		unsigned lost = rows[i].from & ~(unsigned)rows[i].to;

		/* A broken side takes no FIN, whether we have sent one. */
		assert_int_equal(lost & ~END_SHUT, 0);
		assert_true(!(lost & END_SHUT) || rows[i].to & END_BROKEN);
	}
}

static void
each_event_has_its_effect(void **state)
{
	static const unsigned effects[] = {[EVENT_READ_FIN] = END_EOF,
	    [EVENT_READ_FAILED] = END_EOF | END_BROKEN,
	    [EVENT_WRITE_FAILED] = END_BROKEN,
	    [EVENT_SENT_FIN] = END_SHUT};

	(void)state;
	for (size_t i = 0; i < UNIT_N(rows); i++) {
		struct side side = {.end = (uint8_t)rows[i].from};
		unsigned effect = effects[rows[i].event];

		side_note(&side, rows[i].event);
		assert_int_equal(side.end, rows[i].to);
		assert_int_equal(side.end & effect, effect);
	}
}

static void
a_fresh_side_is_open(void **state)
{
	struct side side = {.end = SIDE_GONE, .received = 7};

	(void)state;
	side_reset(&side, 5, 1000);
	assert_int_equal(side.fd, 5);
	assert_int_equal(side.end, SIDE_OPEN);
	assert_false(side_has_ended(&side));
	assert_int_equal(side.received, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_event_undoes_an_end),
	    cmocka_unit_test(each_event_has_its_effect),
	    cmocka_unit_test(a_fresh_side_is_open),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
