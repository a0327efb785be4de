/* SPDX-License-Identifier: MIT
 * The room of held clients: the parts of the process, of a frontend and of an
 * address, and that all of it comes back.
 */
#include "proxy/held_room.h"

#include "model/frontend.h"
#include "proxy/proxy.h"
#include "unit.h"

static struct frontend_state states[2];
static struct frontend web = {.state = &states[0]};
static struct frontend other = {.state = &states[1]};
static struct proxy proxy;

static int
set_up(void **state)
{
	(void)state;
	memset(states, 0, sizeof(states));
	web.state->maxconn = other.state->maxconn = FRONTEND_NO_LIMIT;
	assert_int_equal(proxy_init(&proxy, 160, 0, 0), 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	proxy_fini(&proxy);
	return 0;
}

static struct endpoint
client_of(const char *text)
{
	struct endpoint e;
	struct addr addr;

	assert_true(addr_parse_ip(text, &addr));
	endpoint_set(&e, &addr.sa, addr.len);
	return e;
}

/* The Nth of many clients, each with an address of its own. */
static struct endpoint
client_number(unsigned n)
{
	char text[32];

	snprintf(text, sizeof(text), "10.%u.%u.1", n / 256, n % 256);
	return client_of(text);
}

/* Takes room until there is none.  Returns how many got it. */
static unsigned
take_all(struct frontend *f, const char *text)
{
	struct endpoint client = client_of(text);
	unsigned n = 0;

	while (held_room_take(&proxy, f, &client))
		n++;
	return n;
}

static unsigned
take_by_many(struct frontend *f, unsigned clients)
{
	unsigned n = 0;

	for (unsigned i = 0; i < clients; i++) {
		struct endpoint client = client_number(i);

		n += held_room_take(&proxy, f, &client);
	}
	return n;
}

static void
no_room_is_taken(void)
{
	assert_int_equal(proxy.held.all, 0);
	assert_int_equal(web.state->held, 0);
	assert_int_equal(other.state->held, 0);
	for (unsigned i = 0; i < HELD_ADDRESSES; i++)
		assert_int_equal(proxy.held.by_address[i], 0);
}

static void
all_frontends_have_a_quarter_of_the_sessions_together(void **state)
{
	(void)state;
	assert_int_equal(take_by_many(&web, 30), 30);
	assert_int_equal(take_by_many(&other, 30), 10);
	assert_int_equal(take_by_many(&web, 30), 0);
	/* The limit of the moment counts. */
	proxy.limits.sessions = 200; /* more than there is room for */
	assert_int_equal(take_by_many(&web, 30), 0);
	proxy.limits.sessions = 100;
	assert_int_equal(take_by_many(&web, 30), 0);
	assert_int_equal(proxy.held.all, 40);
}

static void
a_frontend_has_a_quarter_of_its_maxconn(void **state)
{
	(void)state;
	web.state->maxconn = 80;
	assert_int_equal(take_by_many(&web, 60), 20);
	assert_int_equal(take_by_many(&other, 60), 20);
}

static void
an_address_has_a_quarter_of_that(void **state)
{
	(void)state;
	assert_int_equal(take_all(&web, "192.0.2.1"), 10);
	/* Other frontends do not give it more. */
	assert_int_equal(take_all(&other, "192.0.2.1"), 0);
	assert_int_equal(take_all(&web, "192.0.2.2"), 10);
}

static void
the_part_of_an_address_is_rounded_up(void **state)
{
	static const struct {
		uint32_t maxconn;
		unsigned part;
	} cases[] = {{80, 5}, {72, 5}, {20, 2}, {16, 1}, {7, 1}, {4, 1}, {3, 0},
	    {1, 0}, {UINT32_MAX, 10}};

	(void)state;
	for (size_t i = 0; i < UNIT_N(cases); i++) {
		struct endpoint client = client_of("192.0.2.1");
		unsigned taken;

		web.state->maxconn = cases[i].maxconn;
		taken = take_all(&web, "192.0.2.1");
		assert_int_equal(taken, cases[i].part);
		while (taken-- > 0)
			held_room_give(&proxy, &web, &client);
		no_room_is_taken();
	}
}

static void
a_network_of_64_bits_is_one_address(void **state)
{
	(void)state;
	assert_int_equal(take_all(&web, "2001:db8::1"), 10);
	assert_int_equal(take_all(&web, "2001:db8::ffff:2"), 0);
	assert_int_equal(take_all(&web, "2001:db8:0:1::1"), 10);
}

static void
give_by_many(struct frontend *f, unsigned clients)
{
	for (unsigned i = 0; i < clients; i++) {
		struct endpoint client = client_number(i);

		held_room_give(&proxy, f, &client);
	}
}

static void
a_refused_client_takes_nothing(void **state)
{
	struct endpoint client = client_of("192.0.2.1");

	(void)state;
	/* By the process. */
	assert_int_equal(take_by_many(&web, 40), 40);
	assert_false(held_room_take(&proxy, &web, &client));
	assert_false(held_room_take(&proxy, &other, &client));
	give_by_many(&web, 40);
	no_room_is_taken();
	/* By the frontend. */
	web.state->maxconn = 80;
	assert_int_equal(take_by_many(&web, 20), 20);
	assert_false(held_room_take(&proxy, &web, &client));
	give_by_many(&web, 20);
	no_room_is_taken();
	/* By the address. */
	assert_int_equal(take_all(&web, "192.0.2.1"), 5);
	assert_false(held_room_take(&proxy, &web, &client));
	for (unsigned i = 0; i < 5; i++)
		held_room_give(&proxy, &web, &client);
	no_room_is_taken();
}

#define WORKERS 4
#define ROUNDS  20000

static uint32_t too_many;

static void *
work(void *arg)
{
	struct frontend *f = arg == NULL ? &web : &other;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct endpoint client = client_number(i % 7);

		if (!held_room_take(&proxy, f, &client))
			continue;
		/* A thread that is refused counts for a moment. */
		if (atomic_load_relaxed(&proxy.held.all) > 40 + WORKERS)
			atomic_store_relaxed(&too_many, 1u);
		held_room_give(&proxy, f, &client);
	}
	return NULL;
}

static void
threads_give_back_what_they_have_taken(void **state)
{
	pthread_t threads[WORKERS];
	unsigned present = take_by_many(&web, 39);

	(void)state;
	for (size_t i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work,
		                     i % 2 ? &other : NULL),
		    0);
	for (size_t i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(too_many, 0);
	assert_int_equal(proxy.held.all, present);
	give_by_many(&web, present);
	no_room_is_taken();
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(all_frontends_have_a_quarter_of_the_sessions_together),
	    TEST(a_frontend_has_a_quarter_of_its_maxconn),
	    TEST(an_address_has_a_quarter_of_that),
	    TEST(the_part_of_an_address_is_rounded_up),
	    TEST(a_network_of_64_bits_is_one_address),
	    TEST(a_refused_client_takes_nothing),
	    TEST(threads_give_back_what_they_have_taken),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
