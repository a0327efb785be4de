/* SPDX-License-Identifier: MIT
 * Lists as threads see them: what is published, added and deleted, and that a
 * table is not freed while a thread may read it.
 */
#include "acl/acl.h"

#include <string.h>

#include "base/grace.h"
#include "base/mix.h"
#include "unit.h"

static struct grace *grace;

static struct cidr
range_of(const char *text)
{
	struct cidr r;

	assert_true(cidr_parse(text, &r, NULL));
	return r;
}

/* Returns a content of these ranges, with a blank between two. */
static struct acl_content *
content_of(const char *text)
{
	struct acl_content *c = acl_content_new();
	char *copy = strdup(text), *rest = copy, *word;
	struct acl_entry e = {.line = 0};

	assert_non_null(c);
	assert_non_null(copy);
	assert_int_equal(acl_content_add_source(c, "a.list"), 0);
	while ((word = strsep(&rest, " "))) {
		e = (struct acl_entry){
		    .range = range_of(word), .line = e.line + 1};
		assert_true(acl_content_add(c, &e));
	}
	free(copy);
	assert_true(acl_content_seal(c));
	return c;
}

static struct acl_list *
list_of(const char *text)
{
	struct acl_list *l = acl_list_new("office");

	assert_non_null(l);
	acl_list_publish(l, content_of(text), grace);
	return l;
}

static bool
has(const struct acl_list *list, const char *client)
{
	struct endpoint e;
	struct addr addr;

	assert_true(addr_parse_ip(client, &addr));
	endpoint_set(&e, &addr.sa, addr.len);
	return acl_list_has(list, &e);
}

static void
add(struct acl_list *list, const char *text)
{
	struct cidr range = range_of(text);

	assert_int_equal(acl_list_add(list, &range, grace), ACL_DONE);
}

static enum acl_outcome delete (struct acl_list *list, const char *text) {
	struct cidr range = range_of(text);

	return acl_list_delete(list, &range, grace);
}

static void
a_new_list_is_empty(void **state)
{
	struct acl_list *l = acl_list_new("office");

	assert_non_null(l);
	assert_string_equal(acl_list_name(l), "office");
	assert_false(has(l, "10.0.0.1"));
	assert_int_equal(acl_list_entries(l), 0);
	assert_int_equal(delete (l, "10.0.0.1"), ACL_NO_ENTRY);
	acl_list_unref(l);
}

static void
entries_are_added_beside_those_that_were_read(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8");
	struct acl_listed e;
	struct endpoint client = {.family = AF_INET, .ip = {10, 1, 0, 1}};

	add(l, "192.0.2.1");
	add(l, "192.0.2.1");
	add(l, "10.1.0.0/16");
	assert_true(has(l, "192.0.2.1"));
	assert_true(has(l, "10.2.0.0"));
	assert_int_equal(acl_list_entries(l), 3);
	assert_int_equal(acl_list_changes(l).added, 2);
	assert_true(acl_list_find(l, &client, &e));
	assert_int_equal(e.range.bits, 16);
	assert_null(e.source);
	assert_int_equal(delete (l, "10.1.0.0/16"), ACL_DONE);
	assert_true(acl_list_find(l, &client, &e));
	assert_string_equal(e.source, "a.list");
	assert_true(acl_list_at(l, 0, &e));
	assert_null(e.source);
	assert_true(acl_list_at(l, 1, &e));
	assert_int_equal(e.line, 1);
	assert_false(acl_list_at(l, 2, &e));
	acl_list_unref(l);
}

static void
an_entry_that_was_both_read_and_added_is_deleted_as_a_whole(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8");

	add(l, "10.0.0.0/8");
	assert_int_equal(delete (l, "10.0.0.0/8"), ACL_DONE);
	assert_false(has(l, "10.0.0.1"));
	assert_int_equal(acl_list_entries(l), 0);
	assert_int_equal(delete (l, "10.0.0.0/8"), ACL_NO_ENTRY);
	acl_list_unref(l);
}

static void
another_content_keeps_what_was_added(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8");
	struct acl_listed gone;

	add(l, "192.0.2.1");
	add(l, "192.0.2.2");
	assert_int_equal(delete (l, "10.0.0.0/8"), ACL_DONE);
	assert_int_equal(acl_list_changes(l).deleted, 1);
	assert_true(acl_list_deleted_at(l, 0, &gone));
	assert_int_equal(gone.range.bits, 8);
	assert_false(acl_list_deleted_at(l, 1, &gone));
	acl_list_publish(l, content_of("192.0.2.1"), grace);
	assert_false(acl_list_deleted_at(l, 0, &gone));
	assert_true(has(l, "192.0.2.1"));
	assert_true(has(l, "192.0.2.2"));
	assert_int_equal(acl_list_changes(l).deleted, 0);
	assert_int_equal(acl_list_changes(l).added, 1);
	/* An added entry that is read as well belongs to the content. */
	acl_list_publish(l, content_of("11.0.0.0/8 10.0.0.0/8"), grace);
	assert_false(has(l, "192.0.2.1"));
	assert_true(has(l, "192.0.2.2"));
	assert_true(has(l, "11.0.0.1"));
	/* The former content lacked the entry that was deleted. */
	assert_true(has(l, "10.0.0.1"));
	acl_list_unref(l);
}

static void
an_entry_that_is_deleted_and_added_again_is_as_it_was_read(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8 unix 2001:db8::/32");
	static const char *const all[] = {
	    "10.0.0.0/8", "unix", "2001:db8::/32"};
	struct acl_changes by;
	struct acl_listed e;

	for (int changing = 0; changing < 2; changing++) {
		for (size_t i = 0; i < 3; i++) {
			if (changing)
				acl_list_begin_changes(l);
			assert_int_equal(delete (l, all[i]), ACL_DONE);
			add(l, all[i]);
			add(l, all[i]);
			if (changing)
				assert_true(acl_list_end_changes(l, grace));
		}
		by = acl_list_changes(l);
		assert_int_equal(by.added + by.deleted, 0);
		assert_false(acl_list_deleted_at(l, 0, &e));
		assert_true(has(l, "10.0.0.1"));
		assert_int_equal(acl_list_entries(l), 3);
		assert_true(acl_list_at(l, 1, &e));
		assert_string_equal(e.source, "a.list");
		assert_int_equal(e.line, 1);
	}
	/* The other order cancels out as well. */
	add(l, "192.0.2.1");
	assert_int_equal(delete (l, "192.0.2.1"), ACL_DONE);
	by = acl_list_changes(l);
	assert_int_equal(by.added + by.deleted, 0);
	acl_list_unref(l);
}

static void
changes_hold_over_a_content_with_the_same_entries(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8 11.0.0.0/8");
	struct acl_content *same = content_of("11.0.0.0/8 10.0.0.0/8"),
	                   *other = content_of("10.0.0.0/8");

	assert_false(acl_list_holds(l, same));
	assert_int_equal(delete (l, "10.0.0.0/8"), ACL_DONE);
	assert_true(acl_list_holds(l, same));
	assert_false(acl_list_holds(l, other));
	assert_true(acl_list_clear(l, grace));
	assert_true(acl_list_holds(l, same));
	acl_content_free(same);
	acl_content_free(other);
	acl_list_unref(l);
}

static void
a_deletion_holds_as_long_as_the_entry_is_read(void **state)
{
	struct acl_list *l =
	    list_of("10.0.0.0/8 unix 10.0.0.0/16 2001:db8::/32 11.0.0.0/8");
	struct acl_listed gone;

	assert_int_equal(delete (l, "10.0.0.0/8"), ACL_DONE);
	assert_int_equal(delete (l, "unix"), ACL_DONE);
	assert_int_equal(delete (l, "2001:db8::/32"), ACL_DONE);
	acl_list_publish(l,
	    content_of("10.0.0.0/16 192.0.2.1 10.0.0.0/8 unix 2001:db8::1"),
	    grace);
	assert_true(has(l, "10.0.0.1"));
	assert_false(has(l, "10.1.0.1"));
	assert_false(has(l, "11.0.0.1"));
	assert_true(has(l, "192.0.2.1"));
	assert_true(has(l, "2001:db8::1"));
	assert_int_equal(acl_list_entries(l), 3);
	assert_int_equal(acl_list_changes(l).deleted, 2);
	assert_true(acl_list_deleted_at(l, 1, &gone));
	assert_int_equal(gone.range.bits, 8);
	assert_int_equal(gone.line, 3);
	/* The entry that is put back has the place of the new content. */
	add(l, "10.0.0.0/8");
	assert_true(has(l, "10.1.0.1"));
	assert_int_equal(acl_list_changes(l).added, 0);
	assert_int_equal(acl_list_changes(l).deleted, 1);
	acl_list_unref(l);
}

/* Returns a content of n ranges. */
static struct acl_content *
content_of_many(unsigned n)
{
	struct acl_content *c = acl_content_new();

	assert_non_null(c);
	for (unsigned i = 0; i < n; i++) {
		struct acl_entry e = {
		    .range = {.family = AF_INET,
		        .bits = 32,
		        .ip = {10, 1, (uint8_t)(i >> 8), (uint8_t)i}}};

		assert_true(acl_content_add(c, &e));
	}
	assert_true(acl_content_seal(c));
	return c;
}

static void
entries_that_were_cleared_stay_so_unless_they_are_many(void **state)
{
	struct acl_list *l = list_of("10.1.0.1 10.1.0.2");

	add(l, "192.0.2.1");
	assert_true(acl_list_clear(l, grace));
	assert_int_equal(acl_list_entries(l), 0);
	assert_false(has(l, "192.0.2.1"));
	assert_int_equal(acl_list_changes(l).cleared, 0);
	acl_list_publish(l, content_of_many(3), grace);
	assert_true(has(l, "10.1.0.0"));
	assert_false(has(l, "10.1.0.1"));
	assert_int_equal(acl_list_changes(l).deleted, 2);
	acl_list_publish(l, content_of_many(ACL_SINGLE_MAX + 1), grace);
	assert_true(acl_list_clear(l, grace));
	assert_int_equal(acl_list_changes(l).cleared, ACL_SINGLE_MAX + 1);
	acl_list_publish(l, content_of_many(3), grace);
	assert_true(has(l, "10.1.0.1"));
	assert_int_equal(acl_list_changes(l).deleted, 0);
	acl_list_unref(l);
}

static void
a_cleared_list_has_no_entry(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8");

	add(l, "192.0.2.1");
	assert_true(acl_list_clear(l, grace));
	assert_false(has(l, "192.0.2.1"));
	assert_false(has(l, "10.0.0.1"));
	assert_int_equal(acl_list_changes(l).deleted, 1);
	add(l, "192.0.2.1");
	assert_true(has(l, "192.0.2.1"));
	acl_list_unref(l);
}

static void
matches_are_counted_where_a_list_decides(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8");

	(void)has(l, "10.0.0.1");
	assert_int_equal(acl_list_matches(l), 0);
	acl_list_count(l);
	assert_int_equal(acl_list_matches(l), 1);
	acl_list_clear_matches(l);
	assert_int_equal(acl_list_matches(l), 0);
	acl_list_unref(l);
}

/* -- with a reader -- */

struct reader {
	struct acl_list *list;
	bool stop;
	unsigned wrong;
};

/* Replaces all entries by commands. */
static void
commit(struct acl_list *list, const char *text)
{
	unsigned version;
	struct cidr range;

	assert_true(cidr_parse(text, &range, NULL));
	assert_int_equal(acl_list_prepare(list), ACL_DONE);
	version = acl_list_versions(list).next;
	assert_int_equal(
	    acl_list_prepare_entry(list, version, &range), ACL_DONE);
	assert_int_equal(acl_list_commit(list, version, grace), ACL_DONE);
}

static void
versions_replace_all_entries(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8");
	struct cidr range;

	(void)state;
	add(l, "11.0.0.0/8");
	assert_int_equal(acl_list_commit(l, 1, grace), ACL_NO_VERSION);
	commit(l, "12.0.0.0/8");
	assert_false(has(l, "10.0.0.1"));
	assert_false(has(l, "11.0.0.1"));
	assert_true(has(l, "12.0.0.1"));
	assert_int_equal(acl_list_changes(l).added, 1);
	assert_int_equal(acl_list_changes(l).deleted, 1);
	assert_int_equal(acl_list_prepare(l), ACL_DONE);
	assert_int_equal(acl_list_prepare(l), ACL_DONE);
	assert_int_equal(acl_list_commit(l, 3, grace), ACL_DONE);
	assert_int_equal(acl_list_entries(l), 0);
	assert_false(acl_list_prepared_at(l, 2, 0, &range));
	assert_int_equal(acl_list_versions(l).current, 3);
	acl_list_unref(l);
}

static struct acl_content *
begin_commit(struct acl_list *list, const char *text)
{
	struct acl_content *entries;
	struct cidr range;
	unsigned version;

	assert_true(cidr_parse(text, &range, NULL));
	assert_int_equal(acl_list_prepare(list), ACL_DONE);
	version = acl_list_versions(list).next;
	assert_int_equal(
	    acl_list_prepare_entry(list, version, &range), ACL_DONE);
	assert_int_equal(
	    acl_list_begin_commit(list, version, &entries), ACL_DONE);
	assert_true(acl_list_is_committing(list));
	return entries;
}

static void
a_commit_that_lasts_is_in_force_at_its_end(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8");
	struct acl_content *entries = begin_commit(l, "12.0.0.0/8");
	struct cidr range;

	(void)state;
	assert_true(has(l, "10.0.0.1"));
	assert_false(acl_list_prepared_at(l, 1, 0, &range));
	assert_int_equal(acl_list_prepare_entry(l, 1, &range), ACL_NO_VERSION);
	/* Entries that the file gets meanwhile are replaced as well. */
	acl_list_publish(l, content_of("11.0.0.0/8"), grace);
	assert_true(acl_content_seal(entries));
	assert_int_equal(
	    acl_list_end_commit(l, 1, entries, true, grace), ACL_DONE);
	assert_false(acl_list_is_committing(l));
	assert_false(has(l, "10.0.0.1"));
	assert_false(has(l, "11.0.0.1"));
	assert_true(has(l, "12.0.0.1"));
	assert_int_equal(acl_list_versions(l).current, 1);
	acl_list_unref(l);
}

static void
a_commit_without_memory_leaves_its_version_prepared(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8");
	struct acl_content *entries = begin_commit(l, "12.0.0.0/8");

	(void)state;
	assert_int_equal(
	    acl_list_end_commit(l, 1, entries, false, grace), ACL_SHORT);
	assert_true(has(l, "10.0.0.1"));
	assert_int_equal(acl_list_prepared_entries(l, 1), 1);
	assert_int_equal(acl_list_commit(l, 1, grace), ACL_DONE);
	assert_true(has(l, "12.0.0.1"));
	acl_list_unref(l);
}

static void
a_commit_goes_on_over_another_content(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8");
	struct acl_content *entries = begin_commit(l, "12.0.0.0/8");

	(void)state;
	acl_list_publish(l, content_of("11.0.0.0/8"), grace);
	assert_true(acl_content_seal(entries));
	assert_int_equal(
	    acl_list_end_commit(l, 1, entries, true, grace), ACL_DONE);
	assert_false(has(l, "11.0.0.1"));
	assert_true(has(l, "12.0.0.1"));
	assert_false(acl_list_is_committing(l));
	acl_list_unref(l);
}

/* Ranges of all lengths from /10 on, many of them within others. */
static struct cidr
some_range(uint64_t seed, bool v6)
{
	struct cidr r = {.family = v6 ? AF_INET6 : AF_INET};
	uint64_t bits = mix64(seed);

	r.bits = (uint8_t)(10 + bits % (v6 ? 119 : 23));
	r.ip[0] = 10;
	for (unsigned i = 1; i < (v6 ? 16u : 4u); i++)
		r.ip[i] = (uint8_t)(mix64(bits) >> 8 * (i % 8) & 0xc7);
	for (unsigned i = r.bits; i < 8 * sizeof(r.ip); i++)
		r.ip[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
	return r;
}

/* The list has the first and the last address of the range, and those beside
 * it, exactly if an entry has them. */
static void
check_around(const struct acl_list *list, const struct cidr *range)
{
	struct endpoint e = {.family = range->family};
	unsigned size = range->family == AF_INET ? 4 : 16;
	struct acl_listed found;

	memcpy(e.ip, range->ip, sizeof(e.ip));
	assert_int_equal(
	    acl_list_has(list, &e), acl_list_find(list, &e, &found));
	for (unsigned i = size; i-- > 0 && e.ip[i]-- == 0;)
		;
	assert_int_equal(
	    acl_list_has(list, &e), acl_list_find(list, &e, &found));
	memcpy(e.ip, range->ip, sizeof(e.ip));
	for (unsigned i = range->bits; i < 8 * size; i++)
		e.ip[i / 8] |= (uint8_t)(0x80u >> i % 8);
	assert_int_equal(
	    acl_list_has(list, &e), acl_list_find(list, &e, &found));
	for (unsigned i = size; i-- > 0 && ++e.ip[i] == 0;)
		;
	assert_int_equal(
	    acl_list_has(list, &e), acl_list_find(list, &e, &found));
}

/* Changes one of 60000 ranges. */
static void
change_some_range(struct acl_list *l, uint64_t seed, bool v6)
{
	struct cidr r = some_range(mix64(seed) % 60000, v6);
	struct cidr other = some_range(mix64(~seed) % 60000, v6);
	enum acl_outcome outcome = seed % 3 == 0
	                               ? acl_list_add(l, &r, grace)
	                               : acl_list_delete(l, &r, grace);

	assert_int_not_equal(outcome, ACL_SHORT);
	check_around(l, &r);
	check_around(l, &other);
}

/* A list whose borders have an index, before and after the changes. */
static void
change_large_list(bool v6)
{
	struct acl_list *l = acl_list_new("office");
	struct acl_content *c = acl_content_new();

	assert_non_null(l);
	assert_int_equal(acl_content_add_source(c, "a.list"), 0);
	for (unsigned i = 0; i < 40000; i++) {
		struct acl_entry e = {.range = some_range(i, v6)};

		assert_true(acl_content_add(c, &e));
	}
	assert_true(acl_content_seal(c));
	assert_true(acl_content_entries(c) > 9000);
	acl_list_publish(l, c, grace);
	for (unsigned i = 0; i < UNIT_TIMES(5000u); i++) {
		change_some_range(l, i, v6);
		grace_poll(grace);
	}
	for (unsigned i = 0; i < 60000; i += 7) {
		struct cidr r = some_range(i, v6);

		check_around(l, &r);
	}
	acl_list_unref(l);
}

static void
changes_of_a_large_list_are_in_force_at_once(void **state)
{
	(void)state;
	change_large_list(false);
	change_large_list(true);
}

static void
changes_in_a_row_are_in_force_at_their_end(void **state)
{
	struct acl_list *l = list_of("10.0.0.0/8 192.0.2.1 2001:db8::/32");

	(void)state;
	add(l, "203.0.113.1");
	acl_list_begin_changes(l);
	add(l, "198.51.100.0/24");
	add(l, "198.51.100.0/24");
	add(l, "::/64");
	add(l, "unix");
	assert_int_equal(delete (l, "192.0.2.1"), ACL_DONE);
	assert_int_equal(delete (l, "192.0.2.1"), ACL_NO_ENTRY);
	assert_int_equal(delete (l, "203.0.113.1"), ACL_DONE);
	assert_false(has(l, "198.51.100.7"));
	assert_true(has(l, "192.0.2.1"));
	assert_true(acl_list_end_changes(l, grace));
	assert_true(has(l, "198.51.100.7"));
	assert_true(has(l, "::1"));
	assert_true(has(l, "10.1.1.1"));
	assert_true(has(l, "2001:db8::1"));
	assert_false(has(l, "192.0.2.1"));
	assert_false(has(l, "203.0.113.1"));
	assert_int_equal(acl_list_entries(l), 5);
	assert_int_equal(acl_list_changes(l).deleted, 1);
	/* And so are changes behind them, and after a clear among them. */
	add(l, "198.51.100.0/25");
	assert_int_equal(delete (l, "198.51.100.0/24"), ACL_DONE);
	assert_true(has(l, "198.51.100.7"));
	assert_false(has(l, "198.51.100.200"));
	acl_list_begin_changes(l);
	assert_true(acl_list_clear(l, grace));
	add(l, "192.0.2.9");
	assert_true(acl_list_end_changes(l, grace));
	assert_true(has(l, "192.0.2.9"));
	assert_false(has(l, "198.51.100.7"));
	acl_list_unref(l);
}

/* 127.0.0.1 is in every content, 192.0.2.1 in none. */
static void *
look_up(void *arg)
{
	struct reader *r = arg;
	struct grace_reader self = {.epoch = 0};
	const struct endpoint in = {.family = AF_INET, .ip = {127, 0, 0, 1}};
	const struct endpoint out = {.family = AF_INET, .ip = {192, 0, 2, 1}};

	grace_register(grace, &self);
	while (!atomic_load_acquire(&r->stop)) {
		grace_enter(grace, &self);
		r->wrong += !acl_list_has(r->list, &in);
		r->wrong += acl_list_has(r->list, &out);
		grace_leave(&self);
	}
	grace_unregister(grace, &self);
	return NULL;
}

static void
a_reader_sees_whole_contents_while_they_change(void **state)
{
	struct reader r = {.list = list_of("127.0.0.1")};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, look_up, &r), 0);
	for (unsigned i = 0; i < 3000; i++) {
		acl_list_publish(r.list,
		    content_of(i % 2 ? "127.0.0.0/8" : "127.0.0.1"), grace);
		add(r.list, "10.0.0.0/8");
		assert_int_equal(delete (r.list, "10.0.0.0/8"), ACL_DONE);
		commit(r.list, "127.0.0.0/9");
		commit(r.list, "127.0.0.0/10");
		grace_poll(grace);
	}
	atomic_store_release(&r.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(r.wrong, 0);
	acl_list_unref(r.list);
}

static int
make_grace(void **state)
{
	grace = grace_new();
	return grace ? 0 : -1;
}

static int
free_grace(void **state)
{
	grace_free(grace);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_new_list_is_empty),
	    cmocka_unit_test(entries_are_added_beside_those_that_were_read),
	    cmocka_unit_test(
	        an_entry_that_was_both_read_and_added_is_deleted_as_a_whole),
	    cmocka_unit_test(another_content_keeps_what_was_added),
	    cmocka_unit_test(
	        an_entry_that_is_deleted_and_added_again_is_as_it_was_read),
	    cmocka_unit_test(changes_hold_over_a_content_with_the_same_entries),
	    cmocka_unit_test(a_deletion_holds_as_long_as_the_entry_is_read),
	    cmocka_unit_test(
	        entries_that_were_cleared_stay_so_unless_they_are_many),
	    cmocka_unit_test(a_cleared_list_has_no_entry),
	    cmocka_unit_test(matches_are_counted_where_a_list_decides),
	    cmocka_unit_test(versions_replace_all_entries),
	    cmocka_unit_test(changes_of_a_large_list_are_in_force_at_once),
	    cmocka_unit_test(changes_in_a_row_are_in_force_at_their_end),
	    cmocka_unit_test(a_commit_that_lasts_is_in_force_at_its_end),
	    cmocka_unit_test(
	        a_commit_without_memory_leaves_its_version_prepared),
	    cmocka_unit_test(a_commit_goes_on_over_another_content),
	    cmocka_unit_test(a_reader_sees_whole_contents_while_they_change),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, make_grace, free_grace);
}
