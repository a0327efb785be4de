/* SPDX-License-Identifier: MIT
 * Borders of random ranges, compared with an array that has a flag for each
 * address.
 */
#include "acl/borders.h"

#include <malloc.h>

#include "base/mix.h"
#include "unit.h"

/* The addresses are numbered, and a number has this many bits. */
#define BITS    18u
#define NUMBERS (1u << BITS)

#define CHANGES UNIT_TIMES(400u)

static uint64_t random_state;

static uint64_t
draw(void)
{
	return random_state = mix64(random_state);
}

struct range {
	uint32_t first;
	unsigned bits;
};

struct world {
	unsigned before; /* bits of an address before those of its number */
	struct range ranges[NUMBERS];
	size_t n;
	bool has[NUMBERS + 1];
};

/* Returns the address with the number.  All bits before it are 1, all bits
 * behind it are 0. */
static struct acl_key
key_of(const struct world *w, uint32_t number)
{
	unsigned behind = 128 - w->before - BITS;
	unsigned __int128 all = w->before > 0 ? ~(unsigned __int128)0 : 0;
	unsigned __int128 key =
	    (behind + BITS < 128 ? all << (behind + BITS) : 0) |
	    (unsigned __int128)number << behind;

	return (struct acl_key){(uint64_t)(key >> 64), (uint64_t)key};
}

static int
compare_ranges(const void *one, const void *other)
{
	const struct range *a = one, *b = other;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return (int)a->bits - (int)b->bits;
}

/* Draws n ranges.  shortest: the least bits of a range. */
static void
draw_ranges(struct world *w, size_t n, unsigned shortest)
{
	memset(w->has, 0, sizeof(w->has));
	for (w->n = 0; w->n < n; w->n++) {
		struct range *r = &w->ranges[w->n];
		unsigned free_bits;

		r->bits = shortest + draw() % (BITS + 1 - shortest);
		free_bits = BITS - r->bits;
		r->first = (uint32_t)(draw() % NUMBERS) >> free_bits
		                                               << free_bits;
		memset(&w->has[r->first], true, (size_t)1 << free_bits);
	}
	qsort(w->ranges, n, sizeof(w->ranges[0]), compare_ranges);
}

static struct acl_borders *
make(const struct world *w)
{
	struct acl_borders *b = acl_borders_new(w->n, w->before + BITS > 64);

	assert_non_null(b);
	for (size_t i = 0; i < w->n; i++)
		acl_borders_add(
		    b, &(struct acl_prefix){key_of(w, w->ranges[i].first),
		           w->before + w->ranges[i].bits});
	b = acl_borders_seal(b);
	assert_non_null(b);
	return b;
}

/* Every address, the one before it, and some behind it. */
static void
check(const struct world *w, const struct acl_borders *b)
{
	uint64_t behind =
	    w->before + BITS < 64 ? UINT64_MAX >> (w->before + BITS) : 0;

	for (uint32_t i = 0; i < NUMBERS; i++) {
		struct acl_key key = key_of(w, i);

		if (acl_borders_have(b, key) != w->has[i])
			fail_msg("address %u, %u bits before", i, w->before);
		key.hi |= draw() & behind;
		if (w->before + BITS <= 64)
			key.lo = draw();
		if (acl_borders_have(b, key) != w->has[i])
			fail_msg("behind %u, %u bits before", i, w->before);
	}
	if (w->before > 0)
		assert_false(acl_borders_have(b, (struct acl_key){0, 0}));
}

static void
borders_have_the_addresses_of_their_ranges(void **state)
{
	/* IPv4 and the front of IPv6, within hi, on both sides of its end, and
	 * within lo. */
	static const unsigned befores[] = {0, 14, 46, 50, 60, 64, 90, 110};
	static const size_t sizes[] = {0, 1, 5, 300, 40000, 200000};
	static struct world w;

	(void)state;
	for (unsigned i = 0; i < UNIT_N(befores); i++)
		for (unsigned j = 0; j < UNIT_N(sizes); j++) {
			struct acl_borders *b;

			w.before = befores[i];
			random_state = i * UNIT_N(sizes) + j;
			draw_ranges(
			    &w, sizes[j], sizes[j] < 1000 ? 0 : BITS - 1);
			b = make(&w);
			check(&w, b);
			acl_borders_unref(b);
		}
}

static void
a_range_of_all_addresses_has_them(void **state)
{
	static struct world w;
	struct acl_borders *b;

	(void)state;
	draw_ranges(&w, 100, 3);
	w.ranges[0] = (struct range){.bits = 0};
	memset(w.has, true, sizeof(w.has));
	b = make(&w);
	check(&w, b);
	assert_true(
	    acl_borders_have(b, (struct acl_key){UINT64_MAX, UINT64_MAX}));
	acl_borders_unref(b);
}

/* Draws up to 5 ranges within the range, in order. */
static size_t
draw_within(const struct range *range, struct range within[5])
{
	size_t n = draw() % 6;

	for (size_t i = 0; i < n; i++) {
		unsigned bits =
		    range->bits + (unsigned)(draw() % (BITS + 1 - range->bits));
		uint32_t number = (uint32_t)(draw() % NUMBERS) &
		                  ((1u << (BITS - range->bits)) - 1);

		within[i] = (struct range){
		    (range->first | number) >> (BITS - bits) << (BITS - bits),
		    bits};
	}
	qsort(within, n, sizeof(within[0]), compare_ranges);
	return n;
}

static void
set_flags(struct world *w, const struct range *range, bool has)
{
	memset(&w->has[range->first], has, (size_t)1 << (BITS - range->bits));
}

/* Gives a random range other addresses.  shortest: the least bits of the range.
 */
static struct acl_borders *
change(struct world *w, struct acl_borders *from, unsigned shortest)
{
	unsigned bits = shortest + (unsigned)(draw() % (BITS + 1 - shortest));
	struct range r = {.bits = bits}, within[5];
	struct acl_prefix range;
	struct acl_borders *b;
	size_t n;

	r.first = (uint32_t)(draw() % NUMBERS) >> (BITS - bits)
	                                              << (BITS - bits);
	n = draw_within(&r, within);
	range = (struct acl_prefix){key_of(w, r.first), w->before + bits};
	b = acl_borders_begin_change(from, &range, n, w->before + BITS > 64);
	assert_non_null(b);
	set_flags(w, &r, false);
	for (size_t i = 0; i < n; i++) {
		set_flags(w, &within[i], true);
		acl_borders_add(
		    b, &(struct acl_prefix){key_of(w, within[i].first),
		           w->before + within[i].bits});
	}
	b = acl_borders_end_change(b, from, &range);
	assert_non_null(b);
	acl_borders_unref(from);
	return b;
}

static void
a_change_replaces_the_addresses_of_one_range(void **state)
{
	static const unsigned befores[] = {0, 14, 50, 60, 110};
	static struct world w;

	(void)state;
	for (unsigned i = 0; i < UNIT_N(befores); i++) {
		struct acl_borders *b;

		w.before = befores[i];
		random_state = i;
		draw_ranges(&w, 40000, BITS - 1);
		b = make(&w);
		for (unsigned j = 0; j < CHANGES; j++) {
			b = change(&w, b, j < CHANGES - 10 ? 8 : 0);
			if (j % 20 == 0)
				check(&w, b);
		}
		acl_borders_unref(b);
	}
}

/* Borders of at most 64 bits have no lower halves until such a range comes. */
static void
the_first_range_of_more_than_64_bits_changes_no_other(void **state)
{
	const struct acl_prefix narrow = {{2, 0}, 64}, wide = {{7, 9}, 128};
	struct acl_borders *from, *to;

	(void)state;
	mallopt(M_PERTURB, 0x5a);
	from = acl_borders_new(1, false);
	assert_non_null(from);
	acl_borders_add(from, &narrow);
	from = acl_borders_seal(from);
	assert_non_null(from);
	to = acl_borders_begin_change(from, &wide, 1, true);
	assert_non_null(to);
	acl_borders_add(to, &wide);
	to = acl_borders_end_change(to, from, &wide);
	assert_non_null(to);
	assert_false(acl_borders_have(to, (struct acl_key){1, UINT64_MAX}));
	assert_true(acl_borders_have(to, (struct acl_key){2, 0}));
	assert_true(acl_borders_have(to, (struct acl_key){2, UINT64_MAX}));
	assert_false(acl_borders_have(to, (struct acl_key){3, 0}));
	assert_false(acl_borders_have(to, (struct acl_key){7, 8}));
	assert_true(acl_borders_have(to, (struct acl_key){7, 9}));
	assert_false(acl_borders_have(to, (struct acl_key){7, 10}));
	acl_borders_unref(from);
	acl_borders_unref(to);
	mallopt(M_PERTURB, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(borders_have_the_addresses_of_their_ranges),
	    cmocka_unit_test(a_range_of_all_addresses_has_them),
	    cmocka_unit_test(a_change_replaces_the_addresses_of_one_range),
	    cmocka_unit_test(
	        the_first_range_of_more_than_64_bits_changes_no_other),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
