/* SPDX-License-Identifier: MIT
 * Ports of a range, given out and taken back.
 */
#include "model/source_ports.h"

#include "unit.h"

static void
ports_go_out_once_each_and_come_back_oldest_first(void **state)
{
	struct source_ports *p = source_ports_new(100, 102);

	assert_int_equal(source_ports_take(p), 100);
	assert_int_equal(source_ports_take(p), 101);
	assert_int_equal(source_ports_take(p), 102);
	assert_int_equal(source_ports_take(p), 0);
	source_ports_give(p, 101);
	source_ports_give(p, 100);
	assert_int_equal(source_ports_take(p), 101);
	source_ports_give(p, 102);
	assert_int_equal(source_ports_take(p), 100);
	assert_int_equal(source_ports_take(p), 102);
	assert_int_equal(source_ports_take(p), 0);
	source_ports_free(p);
}

static void
a_port_in_use_elsewhere_is_taken(void **state)
{
	struct source_ports *p = source_ports_new(100, 103);

	(void)state;
	assert_true(source_ports_take_this(p, 102));
	assert_false(source_ports_take_this(p, 102));
	assert_false(source_ports_take_this(p, 99));
	assert_int_equal(source_ports_take(p), 101);
	assert_true(source_ports_take_this(p, 100));
	assert_int_equal(source_ports_take(p), 103);
	assert_int_equal(source_ports_take(p), 0);
	source_ports_give(p, 102);
	assert_int_equal(source_ports_take(p), 102);
	source_ports_free(p);
}

static void
the_whole_range_of_ports_fits(void **state)
{
	struct source_ports *p = source_ports_new(1, 65535);

	for (unsigned i = 1; i <= 65535; i++)
		assert_int_equal(source_ports_take(p), i);
	assert_int_equal(source_ports_take(p), 0);
	source_ports_free(p);
}

#define RANGE  7
#define ROUNDS 20000

struct shared {
	struct source_ports *ports;
	uint32_t out[RANGE], wrong;
};

static void *
take_and_give(void *arg)
{
	struct shared *s = arg;

	for (int i = 0; i < ROUNDS; i++) {
		uint16_t port = source_ports_take(s->ports);

		if (port == 0)
			continue;
		if (atomic_add_relaxed(&s->out[port - 1], 1u) != 0)
			atomic_add_relaxed(&s->wrong, 1u);
		atomic_sub_relaxed(&s->out[port - 1], 1u);
		source_ports_give(s->ports, port);
	}
	return NULL;
}

static void
no_port_is_with_two_threads(void **state)
{
	struct shared s = {.ports = source_ports_new(1, RANGE)};
	struct unit_threads threads;

	unit_threads_start(&threads, 8, take_and_give, &s);
	unit_threads_join(&threads);
	assert_int_equal(s.wrong, 0);
	for (int i = 0; i < RANGE; i++)
		assert_int_not_equal(source_ports_take(s.ports), 0);
	assert_int_equal(source_ports_take(s.ports), 0);
	source_ports_free(s.ports);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ports_go_out_once_each_and_come_back_oldest_first),
	    cmocka_unit_test(a_port_in_use_elsewhere_is_taken),
	    cmocka_unit_test(the_whole_range_of_ports_fits),
	    cmocka_unit_test(no_port_is_with_two_threads),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
