/* SPDX-License-Identifier: MIT
 * Tables of sources: what may pass, what is counted, what goes when it is full.
 */
#include "model/source_facts.h"

#include <sys/socket.h>

#include "base/clock.h"
#include "base/mix.h"
#include "unit.h"

static const struct source_bounds one_a_second = {
    .share_ns = NS_PER_S, .burst = 3};

static struct source_key
key_of(const char *client, unsigned prefix4, unsigned prefix6)
{
	struct endpoint e = {.family = AF_UNIX, .port = 7, .ip = {9}};
	struct addr addr;

	if (strcmp(client, "unix") != 0) {
		assert_true(addr_parse_ip(client, &addr));
		endpoint_set(&e, &addr.sa, addr.len);
	}
	return source_key_of(&e, prefix4, prefix6);
}

static struct source_key
number_key(uint64_t n)
{
	return (struct source_key){.ip = {0x20010db8, n + 1}};
}

static bool
same(const char *a, const char *b, unsigned prefix4, unsigned prefix6)
{
	struct source_key x = key_of(a, prefix4, prefix6);
	struct source_key y = key_of(b, prefix4, prefix6);

	return memcmp(&x, &y, sizeof(x)) == 0;
}

static void
addresses_of_a_range_share_a_key(void **state)
{
	(void)state;
	assert_true(same("10.1.2.3", "10.1.2.3", 32, 64));
	assert_false(same("10.1.2.3", "10.1.2.2", 32, 64));
	assert_true(same("10.1.2.3", "10.1.2.200", 24, 64));
	assert_false(same("10.1.2.3", "10.1.3.3", 24, 64));
	assert_true(same("10.1.2.3", "10.1.3.3", 23, 64));
	assert_true(same("1.2.3.4", "200.1.1.1", 0, 64));
	assert_true(same("2001:db8::1", "2001:db8::ffff:1", 32, 64));
	assert_false(same("2001:db8::1", "2001:db8:0:1::1", 32, 64));
	assert_true(same("2001:db8::1", "2001:db8:0:1::1", 32, 63));
	assert_false(same("2001:db8::1", "2001:db8::2", 32, 128));
	assert_true(same("::ffff:10.1.2.3", "10.1.2.3", 32, 128));
	assert_true(same("unix", "unix", 32, 128));
	assert_false(same("unix", "0.0.0.0", 0, 128));
}

static void
a_key_tells_its_address(void **state)
{
	static const char *const clients[] = {"10.1.2.0", "2001:db8::"};
	struct endpoint e;
	char host[INET6_ADDRSTRLEN];
	struct source_key key;

	(void)state;
	for (size_t i = 0; i < UNIT_N(clients); i++) {
		key = key_of(clients[i], 24, 64);
		source_key_endpoint(&key, &e);
		assert_string_equal(endpoint_host(&e, host), clients[i]);
	}
	key = key_of("unix", 32, 128);
	source_key_endpoint(&key, &e);
	assert_int_equal(e.family, AF_UNIX);
}

static void
sessions_are_bounded_for_each_source(void **state)
{
	struct source_bounds two = {.sessions = 2, .burst = 1};
	struct source_table *t = source_table_new(100, SOURCE_PLAIN);
	struct source_key a = number_key(1), b = number_key(2);
	uint64_t wait;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(
		    source_table_enter(t, &a, &two, 5, &wait), SOURCE_COUNTED);
	assert_int_equal(
	    source_table_peek(t, &a, &two, 5, &wait), SOURCE_SESSIONS);
	assert_int_equal(
	    source_table_enter(t, &a, &two, 5, &wait), SOURCE_SESSIONS);
	assert_int_equal(
	    source_table_enter(t, &b, &two, 5, &wait), SOURCE_COUNTED);
	source_table_leave(t, &a);
	assert_int_equal(
	    source_table_enter(t, &a, &two, 5, &wait), SOURCE_COUNTED);
	assert_int_equal(
	    source_table_enter(t, &a, &two, 5, &wait), SOURCE_SESSIONS);
	source_table_unref(t);
}

static void
a_raised_rate_does_not_wait_for_the_former_one(void **state)
{
	const struct source_bounds few = {
	    .share_ns = 3600 * NS_PER_S, .burst = 5};
	struct source_table *t = source_table_new(100, SOURCE_PLAIN);
	struct source_key a = number_key(1);
	uint64_t now = 1000 * NS_PER_S, wait;

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(source_table_enter(t, &a, &few, now, &wait),
		    SOURCE_COUNTED);
	assert_int_equal(
	    source_table_enter(t, &a, &one_a_second, now, &wait), SOURCE_RATE);
	now += 3 * NS_PER_S;
	assert_int_equal(
	    source_table_enter(t, &a, &one_a_second, now, &wait), SOURCE_RATE);
	now += NS_PER_S;
	assert_int_equal(source_table_enter(t, &a, &one_a_second, now, &wait),
	    SOURCE_COUNTED);
	source_table_unref(t);
}

static void
raised_bytes_do_not_wait_for_the_former_ones(void **state)
{
	const struct source_bounds few = {
	    .burst = 1, .bytes = 10, .bytes_ns = 3600 * NS_PER_S};
	const struct source_bounds more = {
	    .burst = 1, .bytes = 10, .bytes_ns = NS_PER_S};
	struct source_table *t = source_table_new(100, SOURCE_WITH_BYTES);
	const uint64_t used[BAND_DIRECTIONS] = {10, 10};
	struct source_key a = number_key(1);
	uint64_t now = 1000 * NS_PER_S, wait;

	(void)state;
	assert_int_equal(
	    source_table_enter(t, &a, &few, now, &wait), SOURCE_COUNTED);
	source_table_charge(t, &a, &few, used, now);
	assert_int_equal(
	    source_table_enter(t, &a, &more, now, &wait), SOURCE_BYTES);
	now += 2 * NS_PER_S;
	assert_int_equal(
	    source_table_enter(t, &a, &more, now, &wait), SOURCE_COUNTED);
	source_table_unref(t);
}

static void
a_burst_passes_and_then_the_rate(void **state)
{
	struct source_table *t = source_table_new(100, SOURCE_PLAIN);
	struct source_key a = number_key(1);
	uint64_t now = 1000 * NS_PER_S, wait;
	struct source_facts facts;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(
		    source_table_enter(t, &a, &one_a_second, now, &wait),
		    SOURCE_COUNTED);
	assert_int_equal(
	    source_table_enter(t, &a, &one_a_second, now, &wait), SOURCE_RATE);
	/* What is refused does not put the next one off. */
	now += NS_PER_S;
	assert_int_equal(
	    source_table_enter(t, &a, &one_a_second, now - 1, &wait),
	    SOURCE_RATE);
	assert_true(source_table_find(t, &a, &facts));
	assert_int_equal(source_tokens(&facts, &one_a_second, now), 1);
	assert_int_equal(source_table_enter(t, &a, &one_a_second, now, &wait),
	    SOURCE_COUNTED);
	assert_int_equal(
	    source_table_enter(t, &a, &one_a_second, now, &wait), SOURCE_RATE);
	/* No more than a burst is saved up. */
	assert_true(source_table_find(t, &a, &facts));
	assert_int_equal(
	    source_tokens(&facts, &one_a_second, now + 100 * NS_PER_S), 3);
	assert_int_equal(facts.accepted, 4);
	assert_int_equal(facts.refused, 3);
	source_table_unref(t);
}

static void
a_delay_is_the_time_until_it_is_due(void **state)
{
	struct source_bounds delayed = {
	    .share_ns = NS_PER_S, .burst = 1, .wait_max_ns = 2 * NS_PER_S};
	struct source_table *t = source_table_new(100, SOURCE_PLAIN);
	struct source_key a = number_key(1);
	uint64_t now = 1000 * NS_PER_S, wait;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(
		    source_table_enter(t, &a, &delayed, now, &wait),
		    SOURCE_COUNTED);
		assert_int_equal(wait, i * NS_PER_S);
	}
	assert_int_equal(
	    source_table_enter(t, &a, &delayed, now, &wait), SOURCE_RATE);
	source_table_unref(t);
}

static void
what_is_taken_back_leaves_no_trace(void **state)
{
	struct source_table *t = source_table_new(100, SOURCE_PLAIN);
	struct source_key a = number_key(1);
	uint64_t now = 1000 * NS_PER_S, wait;
	struct source_facts facts;

	(void)state;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(
		    source_table_enter(t, &a, &one_a_second, now, &wait),
		    SOURCE_COUNTED);
		source_table_cancel(t, &a, &one_a_second);
	}
	assert_true(source_table_find(t, &a, &facts));
	assert_int_equal(facts.sessions, 0);
	assert_int_equal(facts.accepted, 0);
	assert_int_equal(source_tokens(&facts, &one_a_second, now), 3);
	source_table_unref(t);
}

static void
the_oldest_idle_entry_makes_way(void **state)
{
	struct source_bounds any = {.burst = 1};
	struct source_table *t = source_table_new(8, SOURCE_PLAIN);
	struct source_key key;
	struct source_totals totals;
	struct source_facts facts;
	uint64_t wait;

	(void)state;
	/* Entry 3 has been idle the longest, but for 0 to 2 with sessions. */
	for (uint64_t i = 0; i < 8; i++) {
		key = number_key(i);
		assert_int_equal(source_table_enter(t, &key, &any,
		                     i == 3 ? 50 : 100 + i, &wait),
		    SOURCE_COUNTED);
		if (i > 2)
			source_table_leave(t, &key);
	}
	key = number_key(100);
	assert_int_equal(
	    source_table_enter(t, &key, &any, 200, &wait), SOURCE_COUNTED);
	for (uint64_t i = 0; i < 8; i++) {
		key = number_key(i);
		assert_int_equal(source_table_find(t, &key, &facts), i != 3);
	}
	source_table_totals(t, &totals);
	assert_int_equal(totals.used, 8);
	assert_int_equal(totals.evicted, 1);
	source_table_unref(t);
}

static void
a_full_table_refuses_nothing(void **state)
{
	struct source_bounds one = {.sessions = 1, .burst = 1};
	struct source_table *t = source_table_new(4, SOURCE_PLAIN);
	struct source_totals totals;
	struct source_key key;
	uint64_t wait;

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		key = number_key(i);
		assert_int_equal(source_table_enter(t, &key, &one, 1, &wait),
		    SOURCE_COUNTED);
	}
	key = number_key(4);
	assert_int_equal(
	    source_table_enter(t, &key, &one, 1, &wait), SOURCE_UNCOUNTED);
	source_table_totals(t, &totals);
	assert_int_equal(totals.uncounted, 1);
	assert_int_equal(totals.used, totals.size);
	/* The place of a session that ends is found. */
	key = number_key(2);
	source_table_leave(t, &key);
	key = number_key(4);
	assert_int_equal(
	    source_table_enter(t, &key, &one, 1, &wait), SOURCE_COUNTED);
	source_table_unref(t);
}

static void
entries_with_sessions_are_not_removed(void **state)
{
	struct source_bounds any = {.burst = 1};
	struct source_table *t = source_table_new(4, SOURCE_PLAIN);
	struct source_key key = number_key(1);
	struct source_facts facts;
	uint64_t wait;

	(void)state;
	assert_true(source_table_remove(t, &key));
	assert_int_equal(
	    source_table_enter(t, &key, &any, 1, &wait), SOURCE_COUNTED);
	assert_false(source_table_remove(t, &key));
	source_table_leave(t, &key);
	assert_true(source_table_remove(t, &key));
	assert_false(source_table_find(t, &key, &facts));
	source_table_unref(t);
}

static size_t
count_entries(struct source_table *t, uint64_t *ret_sessions)
{
	struct source_facts facts;
	uint64_t at = 0;
	size_t n = 0;
	bool found;

	*ret_sessions = 0;
	while (source_table_next(t, &at, &facts, &found))
		if (found) {
			n++;
			*ret_sessions += facts.sessions;
		}
	return n;
}

static void
a_walk_finds_every_entry_once(void **state)
{
	struct source_bounds any = {.burst = 1};
	struct source_table *t = source_table_new(20000, SOURCE_PLAIN);
	uint64_t wait, sessions;
	struct source_key key;

	(void)state;
	assert_int_equal(count_entries(t, &sessions), 0);
	for (uint64_t i = 0; i < 15000; i++) {
		key = number_key(i);
		assert_int_equal(source_table_enter(t, &key, &any, 1, &wait),
		    SOURCE_COUNTED);
		if (i % 3 == 0) {
			source_table_leave(t, &key);
			assert_true(source_table_remove(t, &key));
		}
	}
	assert_int_equal(count_entries(t, &sessions), 10000);
	assert_int_equal(sessions, 10000);
	source_table_unref(t);
}

/* -- against a list that is looked through -- */

#define SOURCES 40

struct naive {
	bool exists;
	uint32_t sessions, accepted;
	/* The bucket, in nanoseconds of its schedule. */
	uint64_t level_ns, at_ns;
};

static void
naive_drain(struct naive *n, uint64_t now_ns)
{
	uint64_t gone = now_ns - n->at_ns;

	n->level_ns -= gone < n->level_ns ? gone : n->level_ns;
	n->at_ns = now_ns;
}

static enum source_answer
naive_enter(struct naive *n, const struct source_bounds *b, uint64_t now_ns)
{
	naive_drain(n, now_ns);
	n->exists = true;
	if (b->sessions > 0 && n->sessions >= b->sessions)
		return SOURCE_SESSIONS;
	if (b->share_ns > 0 &&
	    n->level_ns + b->share_ns > b->burst * b->share_ns)
		return SOURCE_RATE;
	n->level_ns += b->share_ns;
	n->sessions++;
	n->accepted++;
	return SOURCE_COUNTED;
}

static void
check_entry(
    struct source_table *t, const struct source_key *key, const struct naive *n)
{
	struct source_facts facts;

	assert_int_equal(source_table_find(t, key, &facts), n->exists);
	if (!n->exists)
		return;
	assert_int_equal(facts.sessions, n->sessions);
	assert_int_equal(facts.accepted, n->accepted);
}

static void
do_what_a_naive_map_does(uint64_t seed)
{
	struct naive naive[SOURCES] = {{.exists = false}};
	uint64_t r = seed, now = NS_PER_S, wait;
	struct source_bounds b = {.sessions = (uint32_t)(mix64(seed) % 5),
	    .share_ns = mix64(seed + 1) % 4 * NS_PER_MS,
	    .burst = 1 + mix64(seed + 2) % 6};
	struct source_table *t = source_table_new(SOURCES, SOURCE_PLAIN);

	assert_non_null(t);
	for (int i = 0; i < 2000; i++) {
		size_t which = (r = mix64(r)) % SOURCES;
		struct source_key key = number_key(which);
		struct naive *n = &naive[which];

		now += mix64(r + 1) % NS_PER_MS;
		if (mix64(r + 2) % 3 > 0) {
			assert_int_equal(
			    source_table_enter(t, &key, &b, now, &wait),
			    naive_enter(n, &b, now));
		} else if (n->sessions > 0) {
			source_table_leave(t, &key);
			n->sessions--;
		} else if (mix64(r + 3) % 2) {
			assert_true(source_table_remove(t, &key));
			*n = (struct naive){.exists = false};
		}
		check_entry(t, &key, n);
	}
	source_table_unref(t);
}

static void
a_table_does_what_a_naive_map_does(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= UNIT_TIMES(200); seed++)
		do_what_a_naive_map_does(seed);
}

/* -- threads -- */

#define THREADS 4
#define ROUNDS  20000

struct worker {
	struct source_table *table;
	uint64_t seed;
	uint32_t *present; /* sessions of each source, over all threads */
	unsigned too_many;
	pthread_t thread;
};

static const struct source_bounds few = {.sessions = 3, .burst = 1};

static void *
work(void *arg)
{
	struct worker *w = arg;
	uint64_t r = w->seed, wait;

	for (int i = 0; i < ROUNDS; i++) {
		size_t which = (r = mix64(r)) % 16;
		struct source_key key = number_key(which);
		enum source_answer a = source_table_enter(
		    w->table, &key, &few, clock_now_ns(), &wait);

		if (a == SOURCE_COUNTED) {
			if (atomic_add_seq(&w->present[which], 1u) >= 3)
				w->too_many++;
			atomic_sub_seq(&w->present[which], 1u);
			source_table_leave(w->table, &key);
		} else if (a != SOURCE_SESSIONS) {
			w->too_many++;
		}
		/* Sources that come once keep the table full. */
		key = number_key(100 + r % 1000);
		if (source_table_enter(w->table, &key, &few, clock_now_ns(),
		        &wait) == SOURCE_COUNTED)
			source_table_leave(w->table, &key);
	}
	return NULL;
}

static void
threads_never_exceed_a_bound_and_give_all_back(void **state)
{
	struct worker workers[THREADS];
	uint32_t present[16] = {0};
	struct source_table *t = source_table_new(64, SOURCE_PLAIN);
	struct source_totals totals;
	uint64_t sessions;

	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){
		    .table = t, .seed = i + 1, .present = present};
		assert_int_equal(
		    pthread_create(&workers[i].thread, NULL, work, &workers[i]),
		    0);
	}
	for (unsigned i = 0; i < 100; i++)
		(void)count_entries(t, &sessions);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		assert_int_equal(workers[i].too_many, 0);
	}
	assert_int_equal(count_entries(t, &sessions), 64);
	assert_int_equal(sessions, 0);
	source_table_totals(t, &totals);
	assert_int_equal(totals.used, 64);
	assert_true(totals.evicted > 0);
	source_table_unref(t);
}

/* -- bytes and buckets -- */

static const struct source_bounds per_minute = {
    .burst = 1, .bytes = 6000, .bytes_ns = 60 * NS_PER_S};

static void
use_bytes(struct source_table *t, uint64_t in, uint64_t out, uint64_t now_ns)
{
	struct source_key k = number_key(1);
	const uint64_t bytes[] = {[BAND_IN] = in, [BAND_OUT] = out};

	source_table_charge(t, &k, &per_minute, bytes, now_ns);
}

static uint64_t
bytes_left(struct source_table *t, uint64_t now_ns)
{
	struct source_key k = number_key(1);
	struct source_facts facts;

	assert_true(source_table_find(t, &k, &facts));
	return source_bytes_left(&facts, &per_minute, now_ns);
}

static void
bytes_are_used_up_and_grow_back(void **state)
{
	struct source_table *t = source_table_new(8, SOURCE_WITH_BYTES);
	struct source_bounds delayed = per_minute;
	struct source_key k = number_key(1), other = number_key(2);
	uint64_t now = 1000 * NS_PER_S, wait;

	(void)state;
	delayed.wait_max_ns = 10 * NS_PER_S;
	assert_int_equal(
	    source_table_enter(t, &k, &per_minute, now, &wait), SOURCE_COUNTED);
	use_bytes(t, 1000, 4999, now);
	assert_int_equal(bytes_left(t, now), 1);
	assert_int_equal(
	    source_table_enter(t, &k, &per_minute, now, &wait), SOURCE_COUNTED);
	use_bytes(t, 1, 0, now);
	assert_int_equal(bytes_left(t, now), 0);
	assert_int_equal(
	    source_table_enter(t, &k, &per_minute, now, &wait), SOURCE_BYTES);
	assert_int_equal(
	    source_table_peek(t, &k, &per_minute, now, &wait), SOURCE_BYTES);
	assert_int_equal(source_table_enter(t, &other, &per_minute, now, &wait),
	    SOURCE_COUNTED);
	/* A byte grows back in 10 ms. */
	now += 10 * NS_PER_MS;
	assert_int_equal(bytes_left(t, now), 1);
	assert_int_equal(
	    source_table_peek(t, &k, &per_minute, now, &wait), SOURCE_COUNTED);
	use_bytes(t, 0, 500, now);
	assert_int_equal(
	    source_table_peek(t, &k, &per_minute, now, &wait), SOURCE_BYTES);
	assert_int_equal(
	    source_table_peek(t, &k, &delayed, now, &wait), SOURCE_COUNTED);
	assert_in_range(wait, 4990 * NS_PER_MS, 5000 * NS_PER_MS);
	source_table_unref(t);
}

static void
bytes_that_were_overdrawn_block_for_a_time_at_most(void **state)
{
	struct source_table *t = source_table_new(8, SOURCE_WITH_BYTES);
	struct source_key k = number_key(1);
	uint64_t now = 1000 * NS_PER_S, wait;

	(void)state;
	(void)source_table_enter(t, &k, &per_minute, now, &wait);
	use_bytes(t, 0, UINT64_MAX / 2, now);
	now += 59 * NS_PER_S;
	assert_int_equal(
	    source_table_peek(t, &k, &per_minute, now, &wait), SOURCE_BYTES);
	now += NS_PER_S + 10 * NS_PER_MS;
	assert_int_equal(
	    source_table_peek(t, &k, &per_minute, now, &wait), SOURCE_COUNTED);
	source_table_unref(t);
}

static void
buckets_stay_while_a_session_counts_and_are_empty_in_a_new_entry(void **state)
{
	struct source_table *t = source_table_new(1, SOURCE_WITH_BUCKETS);
	struct source_table *plain = source_table_new(1, SOURCE_PLAIN);
	static const struct source_bounds none = {.burst = 1};
	struct source_key k = number_key(1), other = number_key(2);
	struct bucket *b;
	uint64_t wait;

	(void)state;
	(void)source_table_enter(plain, &k, &none, 1, &wait);
	assert_null(source_table_buckets(plain, &k));
	(void)source_table_enter(t, &k, &none, 1, &wait);
	b = source_table_buckets(t, &k);
	assert_non_null(b);
	b[BAND_OUT].due_ns = 77;
	/* The only place is taken. */
	assert_int_equal(
	    source_table_enter(t, &other, &none, 2, &wait), SOURCE_UNCOUNTED);
	assert_int_equal(b[BAND_OUT].due_ns, 77);
	source_table_leave(t, &k);
	assert_int_equal(
	    source_table_enter(t, &k, &none, 3, &wait), SOURCE_COUNTED);
	assert_int_equal(source_table_buckets(t, &k)[BAND_OUT].due_ns, 77);
	source_table_leave(t, &k);
	assert_int_equal(
	    source_table_enter(t, &other, &none, 4, &wait), SOURCE_COUNTED);
	assert_int_equal(source_table_buckets(t, &other)[BAND_OUT].due_ns, 0);
	source_table_unref(t);
	source_table_unref(plain);
}

/* -- speed -- */

#define MANY UNIT_TIMES(200000u)

static void
enter_and_leave_take_150_ns(void **state)
{
	static const struct source_bounds bounds = {
	    .sessions = 20, .share_ns = NS_PER_MS * 100, .burst = 30};
	struct source_table *t = source_table_new(1u << 20, SOURCE_PLAIN);
	uint64_t enter_ns = UINT64_MAX, leave_ns = UINT64_MAX, wait;

	(void)state;
	for (int turn = 0; turn < 4; turn++) {
		uint64_t begin = clock_now_ns(), middle, end, r = 1;

		for (uint32_t i = 0; i < MANY; i++) {
			struct source_key k = number_key((r = mix64(r)) % MANY);

			(void)source_table_enter(
			    t, &k, &bounds, begin + i * 5 * NS_PER_US, &wait);
		}
		middle = clock_now_ns();
		r = 1;
		for (uint32_t i = 0; i < MANY; i++) {
			struct source_key k = number_key((r = mix64(r)) % MANY);

			source_table_leave(t, &k);
		}
		end = clock_now_ns();
		if (turn > 0 && middle - begin < enter_ns)
			enter_ns = middle - begin;
		if (turn > 0 && end - middle < leave_ns)
			leave_ns = end - middle;
	}
	print_message("%u sources: enter %.0f ns, leave %.0f ns\n", MANY,
	    (double)enter_ns / MANY, (double)leave_ns / MANY);
	if (unit_judges_time())
		assert_true(enter_ns / MANY <= 150);
	source_table_unref(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(addresses_of_a_range_share_a_key),
	    cmocka_unit_test(a_key_tells_its_address),
	    cmocka_unit_test(sessions_are_bounded_for_each_source),
	    cmocka_unit_test(a_raised_rate_does_not_wait_for_the_former_one),
	    cmocka_unit_test(raised_bytes_do_not_wait_for_the_former_ones),
	    cmocka_unit_test(a_burst_passes_and_then_the_rate),
	    cmocka_unit_test(a_delay_is_the_time_until_it_is_due),
	    cmocka_unit_test(what_is_taken_back_leaves_no_trace),
	    cmocka_unit_test(the_oldest_idle_entry_makes_way),
	    cmocka_unit_test(a_full_table_refuses_nothing),
	    cmocka_unit_test(entries_with_sessions_are_not_removed),
	    cmocka_unit_test(a_walk_finds_every_entry_once),
	    cmocka_unit_test(a_table_does_what_a_naive_map_does),
	    cmocka_unit_test(threads_never_exceed_a_bound_and_give_all_back),
	    cmocka_unit_test(bytes_are_used_up_and_grow_back),
	    cmocka_unit_test(
	        bytes_that_were_overdrawn_block_for_a_time_at_most),
	    cmocka_unit_test(
	        buckets_stay_while_a_session_counts_and_are_empty_in_a_new_entry),
	    cmocka_unit_test(enter_and_leave_take_150_ns),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
