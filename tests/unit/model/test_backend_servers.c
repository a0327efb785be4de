/* SPDX-License-Identifier: MIT
 * Servers that come to a backend of the present model, and go.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grace.h"
#include "model/backend_servers.h"
#include "model/removed.h"
#include "rig.h"
#include "servers.h"
#include "unit.h"

#define SERVERS 6u

static struct rig rig;
static struct grace_reader reader;

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig, &balance_roundrobin, SERVERS, NULL, false);
	for (size_t i = 0; i < SERVERS; i++)
		assert_true(addr_parse("10.0.0.1:80", ADDR_CONNECT,
		    &rig.spec->servers[i]->addr, NULL));
	INDEX_POINTERS(rig.spec, servers);
	reader.epoch = 0;
	grace_register(rig.grace, &reader);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	grace_unregister(rig.grace, &reader);
	rig_fini(&rig);
	return 0;
}

static struct server_spec *
new_spec(const char *name, const char *address)
{
	struct server_spec *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->name = strdup(name);
	s->address = strdup(address);
	s->weight = 1;
	assert_true(addr_parse(address, ADDR_CONNECT, &s->addr, NULL));
	return s;
}

/* Replaces `less` servers from index at on by the n of more. */
static void
prepare(struct backend_change *change, size_t at, size_t less,
    struct server_spec *const *more, size_t n)
{
	const struct backend_spec *b = rig.spec;
	size_t rest = b->servers_n - at - less;
	struct server_spec **list = calloc(at + n + rest + 1, sizeof(*list));

	assert_non_null(list);
	memcpy(list, b->servers, at * sizeof(*list));
	if (n > 0)
		memcpy(list + at, more, n * sizeof(*list));
	memcpy(list + at + n, b->servers + at + less, rest * sizeof(*list));
	assert_true(backend_change_prepare(
	    change, rig.backend, list, at + n + rest, at + n + rest));
}

static void
change(size_t at, size_t less, struct server_spec *const *more, size_t n)
{
	struct backend_change c;

	prepare(&c, at, less, more, n);
	backend_change_commit(&c);
	backend_change_fini(&c);
	model_update(rig.model);
}

/* The names of the servers; checks that each is found by its name. */
static const char *
names(void)
{
	static char text[256];
	size_t len = 0;

	text[0] = '\0';
	backend_for_each_server (s, rig.backend) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
		    len > 0 ? " " : "", s->spec->name);
		assert_ptr_equal(
		    backend_find_server(rig.backend, s->spec->name), s);
	}
	return text;
}

static unsigned
gone_n(void)
{
	unsigned n = 0;

	(void)model_reclaim(rig.model);
	(void)model_reclaim(rig.model);
	for (struct server *s = rig.model->gone; s; s = s->next_gone)
		n++;
	return n;
}

static void
a_server_comes_and_the_others_are_the_same_objects(void **state)
{
	struct server *had[SERVERS];
	struct server_spec *x = new_spec("x", "10.0.0.9:80");
	const struct server *came;

	(void)state;
	memcpy(had, rig.backend->servers, sizeof(had));
	change(2, 0, &x, 1);
	assert_string_equal(names(), "s0 s1 x s2 s3 s4 s5");
	came = rig.backend->servers[2];
	assert_ptr_equal(came->spec, x);
	assert_int_equal(came->id, SERVERS + 1);
	for (size_t i = 0; i < SERVERS; i++)
		assert_ptr_equal(rig.backend->servers[i + (i >= 2)], had[i]);
	/* The lineup has it. */
	assert_int_equal(backend_lineup(rig.backend)->servers_n, SERVERS + 1);
	assert_int_equal(gone_n(), 0);
}

static void
a_server_goes_and_is_freed_after_a_grace_period(void **state)
{
	(void)state;
	grace_enter(rig.grace, &reader);
	change(3, 2, NULL, 0);
	assert_string_equal(names(), "s0 s1 s2 s5");
	assert_null(backend_find_server(rig.backend, "s3"));
	assert_int_equal(backend_lineup(rig.backend)->servers_n, 4);
	assert_int_equal(gone_n(), 2);
	grace_leave(&reader);
	assert_int_equal(gone_n(), 0);
}

static void
a_pinned_server_stays_in_memory(void **state)
{
	struct server *s = rig.backend->servers[0];

	(void)state;
	server_pin(s);
	change(0, 1, NULL, 0);
	assert_int_equal(gone_n(), 1);
	assert_string_equal(s->spec->name, "s0");
	server_unpin(s);
	assert_int_equal(gone_n(), 0);
}

static void
the_model_frees_servers_that_have_gone(void **state)
{
	(void)state;
	server_pin(rig.backend->servers[0]);
	change(0, 1, NULL, 0);
	assert_int_equal(gone_n(), 1);
	/* The sanitizer tells if not. */
}

static void
other_options_are_a_server_with_the_same_state(void **state)
{
	struct server_spec *s1 = new_spec("s1", "10.0.0.1:80");
	struct server_state *had = rig.backend->servers[1]->state;

	(void)state;
	s1->weight = 7;
	atomic_store_relaxed(&had->sessions.now, 1u);
	change(1, 1, &s1, 1);
	assert_string_equal(names(), "s0 s1 s2 s3 s4 s5");
	assert_ptr_equal(rig.backend->servers[1]->state, had);
	assert_int_equal(rig.backend->servers[1]->id, 2);
	assert_int_equal(server_weight(rig.backend->servers[1]), 7);
	/* So it was not removed. */
	assert_int_equal(rig.model->state->removed.n, 0);
	atomic_store_relaxed(&had->sessions.now, 0u);
	assert_int_equal(gone_n(), 0);
}

static void
another_address_is_another_server_with_the_same_id(void **state)
{
	struct server_spec *s1 = new_spec("s1", "10.0.0.7:80");
	struct server_state *had = rig.backend->servers[1]->state;

	(void)state;
	change(1, 1, &s1, 1);
	assert_ptr_not_equal(rig.backend->servers[1]->state, had);
	assert_int_equal(rig.backend->servers[1]->id, 2);
	assert_int_equal(rig.model->state->removed.n, 1);
}

static void
a_server_that_returns_gets_its_state_back(void **state)
{
	struct server_state *had = rig.backend->servers[5]->state;
	struct server_spec *s5 = new_spec("s5", "10.0.0.1:80");

	(void)state;
	atomic_store_relaxed(&had->sessions.now, 1u);
	change(5, 1, NULL, 0);
	assert_int_equal(rig.model->state->removed.n, 1);
	change(0, 0, &s5, 1);
	assert_string_equal(names(), "s5 s0 s1 s2 s3 s4");
	assert_ptr_equal(rig.backend->servers[0]->state, had);
	assert_int_equal(rig.model->state->removed.n, 0);
	atomic_store_relaxed(&had->sessions.now, 0u);
}

static void
a_change_can_be_cancelled(void **state)
{
	struct server_spec *x = new_spec("x", "10.0.0.9:80");
	struct backend_change c;

	(void)state;
	prepare(&c, 1, 2, &x, 1);
	backend_change_cancel(&c);
	assert_string_equal(names(), "s0 s1 s2 s3 s4 s5");
	assert_int_equal(gone_n(), 0);
}

static void
a_server_in_maintenance_makes_no_lineup(void **state)
{
	struct server_spec *x = new_spec("x", "10.0.0.9:80");
	uint64_t number = backend_lineup(rig.backend)->number;

	(void)state;
	x->disabled = true;
	change(SERVERS, 0, &x, 1);
	assert_int_equal(backend_lineup(rig.backend)->number, number);
	change(SERVERS, 1, NULL, 0);
	assert_int_equal(backend_lineup(rig.backend)->number, number);
	assert_int_equal(gone_n(), 0);
}

static void
trackers_come_and_go(void **state)
{
	struct server_spec *x = new_spec("x", "10.0.0.9:80");
	const struct server *s2 = rig.backend->servers[2];

	(void)state;
	x->track = strdup("s2");
	change(0, 0, &x, 1);
	assert_ptr_equal(rig.backend->servers[0]->tracked, s2);
	assert_ptr_equal(s2->trackers, rig.backend->servers[0]);
	change(0, 1, NULL, 0);
	assert_null(s2->trackers);
}

static void
any_sequence_of_changes_finds_each_server_by_its_name(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		size_t n = rig.spec->servers_n, at, less;
		char name[16];
		struct server_spec *x;

		random = random * 1664525 + 1013904223;
		at = random / 65536 % (n + 1);
		less = n > 12 || random / 256 % 2 ? 1 : 0;
		less = at + less > n ? 0 : less;
		snprintf(name, sizeof(name), "x%u", i);
		x = n < 12 ? new_spec(name, "10.0.0.9:80") : NULL;
		change(at, less, &x, x != NULL);
		(void)names();
		assert_int_equal(rig.spec->servers_n, n - less + (x != NULL));
	}
	assert_int_equal(gone_n(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_server_comes_and_the_others_are_the_same_objects),
	    TEST(a_server_goes_and_is_freed_after_a_grace_period),
	    TEST(a_pinned_server_stays_in_memory),
	    TEST(the_model_frees_servers_that_have_gone),
	    TEST(other_options_are_a_server_with_the_same_state),
	    TEST(another_address_is_another_server_with_the_same_id),
	    TEST(a_server_that_returns_gets_its_state_back),
	    TEST(a_change_can_be_cancelled),
	    TEST(a_server_in_maintenance_makes_no_lineup),
	    TEST(trackers_come_and_go),
	    TEST(any_sequence_of_changes_finds_each_server_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
