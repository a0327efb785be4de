/* SPDX-License-Identifier: MIT
 * Insertions and removals of entries in random order, compared with an array of
 * flags.
 */
#include "acl/entries.h"

#include <sys/socket.h>

#include "base/mix.h"
#include "unit.h"

/* Entry number i is a single address. */
#define NUMBERS UNIT_TIMES(40000u)

struct model {
	struct acl_entries entries;
	bool has[NUMBERS];
	size_t n;
};

static struct acl_entry
entry_of(const struct model *m, unsigned i)
{
	unsigned at = m->entries.family == AF_INET6 ? 14 : 2;
	struct acl_entry e = {.line = i,
	    .range = {
	        .family = (m->entries.family == AF_INET6) ? AF_INET6 : AF_INET,
	        .bits = (m->entries.family == AF_INET6) ? 128 : 32}};

	e.range.ip[0] = 10;
	e.range.ip[at] = (uint8_t)(i >> 8);
	e.range.ip[at + 1] = (uint8_t)i;
	return e;
}

static void
check_model(const struct model *m)
{
	size_t index = 0, found;

	assert_int_equal(m->entries.n, m->n);
	for (unsigned i = 0; i < NUMBERS; i++) {
		struct acl_entry e = entry_of(m, i), same;

		assert_int_equal(
		    acl_entries_find(&m->entries, &e.range, &found), m->has[i]);
		assert_int_equal(found, index);
		if (!m->has[i])
			continue;
		acl_entries_at(&m->entries, index++, &same);
		assert_int_equal(same.line, i);
		assert_memory_equal(&same.range, &e.range, sizeof(e.range));
	}
	assert_int_equal(index, m->n);
}

/* Inserts an entry that is not there, and removes one that is. */
static void
change(struct model *m, unsigned i)
{
	struct acl_entry e = entry_of(m, i);

	size_t at;

	assert_int_equal(
	    acl_entries_find(&m->entries, &e.range, &at), m->has[i]);
	if (m->has[i]) {
		acl_entries_remove(&m->entries, at);
	} else {
		assert_true(acl_entries_reserve(&m->entries));
		acl_entries_insert(&m->entries, &e);
	}
	m->has[i] = !m->has[i];
	m->n += m->has[i] ? 1 : (size_t)-1;
}

static void
change_many(struct model *m)
{
	for (unsigned i = 0; i < 2 * NUMBERS; i++)
		change(m, (unsigned)(mix64(i) % NUMBERS));
	check_model(m);
	/* All that is left, in order. */
	for (unsigned i = 0; i < NUMBERS; i++)
		if (m->has[i])
			change(m, i);
	check_model(m);
	for (unsigned i = NUMBERS; i-- > 0;)
		change(m, i);
	check_model(m);
	free(m->entries.all);
}

static void
insertions_and_removals_are_those_of_a_model(void **state)
{
	static struct model m;

	(void)state;
	for (unsigned v6 = 0; v6 < 2; v6++) {
		m = (struct model){.n = 0};
		m.entries.family = v6 ? AF_INET6 : AF_INET;
		change_many(&m);
	}
}

static void
ignore_covered(
    void *arg, const struct acl_entry *entry, const struct acl_entry *cover)
{
	(void)arg;
	(void)entry;
	(void)cover;
}

static void
sealed_entries_change_as_those_of_a_model(void **state)
{
	static struct model m;

	(void)state;
	for (unsigned v6 = 0; v6 < 2; v6++) {
		m = (struct model){.n = 0};
		m.entries.family = v6 ? AF_INET6 : AF_INET;
		for (unsigned i = 0; i < NUMBERS; i++) {
			unsigned number = (unsigned)(mix64(i) % (NUMBERS / 2));
			struct acl_entry e = entry_of(&m, number);

			assert_true(acl_entries_append(&m.entries, &e));
			m.n += !m.has[number];
			m.has[number] = true;
		}
		acl_entries_seal(&m.entries, ignore_covered, NULL);
		check_model(&m);
		change_many(&m);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(insertions_and_removals_are_those_of_a_model),
	    cmocka_unit_test(sealed_entries_change_as_those_of_a_model),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
