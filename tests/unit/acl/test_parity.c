/* SPDX-License-Identifier: MIT
 * Parities of many keys agree with counting, for keys of each size in lines,
 * lines that are spilled, and keys for which there are no lines.
 */
#include "acl/parity.h"

#include "acl/keys.h"
#include "base/mix.h"
#include "unit.h"

#define KEYS 400000u

static uint64_t keys[KEYS];
static size_t keys_n;

static bool
is_odd(uint64_t key)
{
	size_t low = 0, high = keys_n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (keys[mid] <= key)
			low = mid + 1;
		else
			high = mid;
	}
	return low % 2;
}

static void
check_parity(const struct acl_parity *p, uint64_t key)
{
	if (acl_parity_of(p, key) != is_odd(key))
		fail_msg("key %#jx of %zu", (uintmax_t)key, keys_n);
}

/* Checks the keys, their neighbours, and some that are anywhere.  key_size: in
 * lines; 0: without lines.  Returns the number of keys that were spilled. */
static size_t
check_keys(bool wide, unsigned key_size)
{
	static uint32_t narrow[KEYS];
	uint64_t last = wide ? UINT64_MAX : UINT32_MAX;
	struct acl_parity p;
	size_t spilled;

	keys_n = keys_sort(keys, keys_n);
	for (size_t i = 0; i < keys_n; i++)
		narrow[i] = (uint32_t)keys[i];
	assert_true(acl_parity_make(
	    &p, wide ? (void *)keys : (void *)narrow, keys_n, wide));
	assert_int_equal(p.lines ? p.key_size : 0, key_size);
	for (size_t i = 0; i < keys_n; i++) {
		check_parity(&p, keys[i]);
		check_parity(&p, (keys[i] - 1) & last);
		check_parity(&p, (keys[i] + 1) & last);
		check_parity(&p, mix64(i) & last);
	}
	check_parity(&p, 0);
	check_parity(&p, last);
	spilled = p.rest.n;
	acl_parity_fini(&p);
	return spilled;
}

static void
keys_of_32_bits_are_counted(void **state)
{
	(void)state;
	for (keys_n = 0; keys_n < KEYS; keys_n++)
		keys[keys_n] = mix64(keys_n) >> 32;
	(void)check_keys(false, 4);
	/* Within 2^28, so that 13 bits are left in a line. */
	for (keys_n = 0; keys_n < KEYS; keys_n++)
		keys[keys_n] = UINT32_C(0xa0000000) | mix64(keys_n) >> 36;
	(void)check_keys(false, 2);
	/* All of them are less than some keys that are looked up. */
	keys_n--;
	(void)check_keys(false, 2);
}

static void
keys_of_64_bits_are_counted(void **state)
{
	(void)state;
	for (keys_n = 0; keys_n < KEYS; keys_n++)
		keys[keys_n] = mix64(keys_n);
	(void)check_keys(true, 6);
	for (keys_n = 0; keys_n < KEYS; keys_n++)
		keys[keys_n] = mix64(keys_n) >> 16 << 16;
	keys[0] = 0;
	keys[1] = UINT64_MAX << 16;
	(void)check_keys(true, 4);
	for (keys_n = 0; keys_n < KEYS; keys_n++)
		keys[keys_n] = mix64(keys_n) >> 34 << 34 | UINT64_C(1) << 33;
	(void)check_keys(true, 2);
}

static void
crowded_lines_are_spilled(void **state)
{
	(void)state;
	for (keys_n = 0; keys_n < KEYS; keys_n++) {
		keys[keys_n] = mix64(keys_n);
		if (keys_n % 10 == 0)
			keys[keys_n] = mix64(keys_n % 7) ^ mix64(keys_n) >> 40;
	}
	assert_true(check_keys(true, 6) >= KEYS / 10);
}

static void
keys_that_are_crowded_or_few_have_no_lines(void **state)
{
	(void)state;
	for (keys_n = 0; keys_n < KEYS; keys_n++)
		keys[keys_n] = mix64(keys_n % 97) ^ mix64(keys_n) >> 40;
	(void)check_keys(true, 0);
	for (keys_n = 0; keys_n < KEYS / 10; keys_n++)
		keys[keys_n] = mix64(keys_n);
	(void)check_keys(true, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keys_of_32_bits_are_counted),
	    cmocka_unit_test(keys_of_64_bits_are_counted),
	    cmocka_unit_test(crowded_lines_are_spilled),
	    cmocka_unit_test(keys_that_are_crowded_or_few_have_no_lines),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
