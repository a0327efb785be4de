/* SPDX-License-Identifier: MIT
 * Sticky choices: which server a source keeps, when it gets another one, and
 * that a look changes nothing.
 */
#include "model/sticky.h"

#include "base/clock.h"
#include "model/limit.h"
#include "model/lineup.h"
#include "model/source_facts.h"
#include "rig.h"

static void
make_sticky(struct backend_spec *spec)
{
	spec->sticky = STICKY_STAY;
	spec->sticky_size = 100;
}

static void
make_sticky_backups(struct backend_spec *spec)
{
	make_sticky(spec);
	for (size_t i = 0; i < spec->servers_n; i++)
		spec->servers[i]->backup = true;
}

/* The choice of source `number`, which has tried that server. */
static struct choice
choice_of(uint64_t number, const struct server *tried)
{
	return (struct choice){.sticky = {.ip = {0, number}},
	    .tried = tried ? &tried->serial : NULL,
	    .tried_n = tried != NULL};
}

/* The number of the server that the source gets; its session ends at once. */
static unsigned
gets(const struct rig *rig, uint64_t number, const struct server *tried)
{
	struct choice choice = choice_of(number, tried);
	uint32_t place = backend_peek(rig->backend, &choice);
	struct server *s = rig_pick(rig->backend, &choice);

	assert_non_null(s);
	if (!tried)
		assert_ptr_equal(
		    s, backend_lineup(rig->backend)->servers[place]);
	backend_release(s);
	return rig_number(s);
}

static void
a_source_stays_at_a_backup_once_the_first_is_back(void **state)
{
	struct rig rig;

	(void)state;
	rig_init_edited(&rig, &balance_first, 3, make_sticky_backups);
	assert_int_equal(gets(&rig, 1, NULL), 0);
	rig_set_up(&rig, 0, false);
	assert_int_equal(gets(&rig, 1, NULL), 1);
	rig_set_up(&rig, 0, true);
	assert_int_equal(gets(&rig, 1, NULL), 1);
	/* Another source has no choice yet. */
	assert_int_equal(gets(&rig, 2, NULL), 0);
	rig_set_up(&rig, 1, false);
	assert_int_equal(gets(&rig, 1, NULL), 0);
	rig_set_up(&rig, 1, true);
	assert_int_equal(gets(&rig, 1, NULL), 0);
	rig_fini(&rig);
}

/* Reserves are no part of what the algorithm and others see. */
static void
reserves_are_not_in_the_lineup(void **state)
{
	const struct lineup *l;
	struct rig rig;

	(void)state;
	rig_init_edited(&rig, &balance_leastconn, 3, make_sticky_backups);
	l = backend_lineup(rig.backend);
	assert_int_equal(l->servers_n, 1);
	assert_int_equal(l->reserves_n, 2);
	assert_int_equal(lineup_place_of(l, rig.backend->servers[0]), 0);
	assert_true(lineup_place_of(l, rig.backend->servers[1]) == PLACE_NONE);
	assert_int_equal(lineup_open_n(l), 1);
	rig_fini(&rig);
}

static void
a_retry_moves_the_choice(void **state)
{
	struct rig rig;

	(void)state;
	rig_init_edited(&rig, &balance_first, 3, make_sticky);
	assert_int_equal(gets(&rig, 1, NULL), 0);
	assert_int_equal(gets(&rig, 1, rig.backend->servers[0]), 1);
	assert_int_equal(gets(&rig, 1, NULL), 1);
	rig_fini(&rig);
}

static void
a_full_server_keeps_its_sources(void **state)
{
	struct choice choice = choice_of(1, NULL);
	struct server *held;
	struct rig rig;

	(void)state;
	rig_init_edited(&rig, &balance_first, 2, make_sticky);
	rig.spec->servers[0]->maxconn = 1;
	assert_int_equal(backend_rebuild(rig.backend), 0);
	held = rig_pick(rig.backend, &choice);
	assert_int_equal(rig_number(held), 0);
	assert_int_equal(gets(&rig, 1, NULL), 1);
	backend_release(held);
	assert_int_equal(gets(&rig, 1, NULL), 0);
	rig_fini(&rig);
}

/* Backups serve one at a time, so a session does not go to a second backup. */
static void
a_full_reserve_is_waited_for(void **state)
{
	struct choice choice = choice_of(1, NULL);
	struct server *held;
	struct rig rig;

	(void)state;
	rig_init_edited(&rig, &balance_first, 2, make_sticky_backups);
	rig.spec->servers[1]->maxconn = 1;
	rig_set_up(&rig, 0, false);
	held = rig_pick(rig.backend, &choice);
	assert_int_equal(rig_number(held), 1);
	rig_set_up(&rig, 0, true);
	assert_null(rig_pick(rig.backend, &choice));
	assert_true(backend_peek(rig.backend, &choice) == PLACE_NONE);
	backend_release(held);
	assert_int_equal(gets(&rig, 1, NULL), 1);
	rig_fini(&rig);
}

static void
choices_expire_and_looks_do_not_count(void **state)
{
	struct source_table *t = source_table_new(10, SOURCE_WITH_CHOICE);
	const struct source_key key = {.ip = {0, 7}};
	const struct source_choice choice = {.name = 5, .server = 3};
	struct source_choice got;

	(void)state;
	source_table_choose(t, &key, &choice, 100);
	got = source_table_chosen(t, &key, 50, 149, false);
	assert_int_equal(got.name, 5);
	assert_int_equal(got.server, 3);
	assert_int_equal(source_table_chosen(t, &key, 50, 150, true).name, 0);
	assert_int_equal(source_table_chosen(t, &key, 0, 150, false).name, 5);
	assert_int_equal(source_table_chosen(t, &key, 50, 149, true).name, 5);
	assert_int_equal(source_table_chosen(t, &key, 50, 198, true).name, 5);
	source_table_unref(t);
}

static void
the_later_choice_of_two_processes_holds(void **state)
{
	struct source_table *t = source_table_new(10, SOURCE_WITH_CHOICE);
	struct source_facts f = {
	    .key = {.ip = {0, 7}}, .due_ns = 200, .choice = {.name = 5}};

	(void)state;
	source_table_add(t, &f, 1000);
	f = (struct source_facts){
	    .key = f.key, .due_ns = 100, .choice = {.name = 6}};
	source_table_add(t, &f, 1000);
	assert_int_equal(source_table_chosen(t, &f.key, 0, 0, false).name, 5);
	f.due_ns = 300;
	source_table_add(t, &f, 1000);
	assert_int_equal(source_table_chosen(t, &f.key, 0, 0, false).name, 6);
	source_table_unref(t);
}

/* A server that has another number than when it was chosen is found by its
 * name. */
static void
a_choice_without_a_number_is_found_by_name(void **state)
{
	struct rig rig;
	const struct limit *l;
	struct source_facts f = {.key = {.ip = {0, 1}}};

	(void)state;
	rig_init_edited(&rig, &balance_first, 3, make_sticky);
	l = &rig.backend->sticky->all[0];
	assert_string_equal(l->name, "app/sticky");
	f.choice.name = rig.backend->servers[2]->name_hash;
	for (uint32_t id = 0; id < 5; id++) {
		f.choice.server = id;
		assert_true(source_table_set(l->table, &f));
		assert_int_equal(gets(&rig, 1, NULL), 2);
	}
	assert_ptr_equal(sticky_server(l, &f.choice), rig.backend->servers[2]);
	f.choice.name = 12;
	assert_null(sticky_server(l, &f.choice));
	assert_true(source_table_set(l->table, &f));
	assert_int_equal(gets(&rig, 1, NULL), 0);
	rig_fini(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_source_stays_at_a_backup_once_the_first_is_back),
	    cmocka_unit_test(reserves_are_not_in_the_lineup),
	    cmocka_unit_test(a_retry_moves_the_choice),
	    cmocka_unit_test(a_full_server_keeps_its_sources),
	    cmocka_unit_test(a_full_reserve_is_waited_for),
	    cmocka_unit_test(choices_expire_and_looks_do_not_count),
	    cmocka_unit_test(the_later_choice_of_two_processes_holds),
	    cmocka_unit_test(a_choice_without_a_number_is_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
