/* SPDX-License-Identifier: MIT
 * How many connections a limit on their rate lets in.
 */
#include "proxy/proxy.h"

#include "model/rate_limit.h"
#include "unit.h"

#define SECOND_NS UINT64_C(1000000000)

/* Those let in when somebody knocks every step_ns. */
static unsigned
let_in(struct proxy_limits *a, uint32_t rate, uint64_t from_ns, uint64_t to_ns,
    uint64_t step_ns)
{
	unsigned n = 0;

	for (uint64_t now = from_ns; now < to_ns; now += step_ns) {
		if (!rate_limit_is_due(&a->due_ns, rate, now))
			continue;
		rate_limit_count(&a->due_ns, rate, now);
		n++;
	}
	return n;
}

static void
rate_is_the_smaller_of_both(void **state)
{
	struct proxy_limits a = {.connect_rate = 0};

	(void)state;
	assert_int_equal(proxy_limits_rate(&a), 0);
	a.session_rate = 7;
	assert_int_equal(proxy_limits_rate(&a), 7);
	a.connect_rate = 9;
	assert_int_equal(proxy_limits_rate(&a), 7);
	a.session_rate = 0;
	assert_int_equal(proxy_limits_rate(&a), 9);
}

static void
any_second_sees_eleven_tenths_at_most(void **state)
{
	static const uint32_t rates[] = {1, 3, 10, 11, 100, 1000, 99999};

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct proxy_limits a = {.connect_rate = rates[i]};
		uint64_t start = 5 * SECOND_NS;
		unsigned first = let_in(
		    &a, rates[i], start, start + SECOND_NS, SECOND_NS / 500000);
		unsigned second = let_in(&a, rates[i], start + SECOND_NS,
		    start + 2 * SECOND_NS, SECOND_NS / 500000);

		assert_in_range(first, rates[i], rates[i] + rates[i] / 10 + 1);
		assert_in_range(
		    second, rates[i] - rates[i] / 100 - 1, rates[i] + 1);
	}
}

static void
a_tenth_of_a_second_may_come_at_once_and_no_more(void **state)
{
	struct proxy_limits a = {.connect_rate = 50};

	(void)state;
	assert_int_equal(let_in(&a, 50, SECOND_NS, SECOND_NS + 1000, 1), 5);
	/* A long rest earns no more than that. */
	assert_int_equal(
	    let_in(&a, 50, 90 * SECOND_NS, 90 * SECOND_NS + 1000, 1), 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rate_is_the_smaller_of_both),
	    cmocka_unit_test(any_second_sees_eleven_tenths_at_most),
	    cmocka_unit_test(a_tenth_of_a_second_may_come_at_once_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
