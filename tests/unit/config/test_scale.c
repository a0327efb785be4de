/* SPDX-License-Identifier: MIT
 * Configurations of thousands of servers and frontends: sixteen times as many
 * take some sixteen times as long.  Where each is compared with each, that is
 * 256 times.
 */
#include <stdio.h>

#include "base/text_out.h"
#include "config/config.h"
#include "config/diff.h"
#include "config/edit.h"
#include "config/support.h"
#include "unit.h"

#define MANY UNIT_TIMES(40000u)
#define FEW  (MANY / 16)

/* More memory than the caches hold takes longer, and so does a busy machine now
 * and then: four times what is due, which is a quarter of what is feared. */
#define TRIES     10
#define RATIO_MAX 64

static uint64_t
cpu_ns(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct spec *
load_text(struct text_out *out)
{
	struct spec *spec;
	char *errors;

	assert_true(text_out_close(out));
	spec = load_bytes(out->text, out->size, &errors);
	if (!spec)
		fail_msg("%s", errors);
	free(errors);
	free(out->text);
	return spec;
}

/* Loads a backend with the servers s1 to sN; backwards: from sN to s1. */
static struct spec *
load_servers(unsigned n, bool backwards)
{
	struct text_out out;

	assert_true(text_out_open(&out));
	fprintf(out.stream, FRONTEND "[backend b]\n");
	for (unsigned i = 1; i <= n; i++)
		fprintf(out.stream, "server = s%u 10.0.0.1:80\n",
		    backwards ? n + 1 - i : i);
	return load_text(&out);
}

/* -- what is measured; each returns the CPU time that it took -- */

static uint64_t
load_of_servers(unsigned n)
{
	uint64_t from = cpu_ns();
	struct spec *spec = load_servers(n, false);

	from = cpu_ns() - from;
	spec_free(spec);
	return from;
}

static uint64_t
load_of_frontends(unsigned n)
{
	uint64_t from = cpu_ns();
	struct text_out out;
	struct spec *spec;

	assert_true(text_out_open(&out));
	for (unsigned i = 1; i <= n; i++)
		fprintf(out.stream,
		    "[frontend f%u]\nlisten = 10.0.%u.%u:80\nbackend = b%u\n"
		    "[backend b%u]\nserver = s 10.0.0.1:80\n",
		    i, i / 250, i % 250, n + 1 - i, i);
	spec = load_text(&out);
	from = cpu_ns() - from;
	spec_free(spec);
	return from;
}

/* The difference between two orders of the same servers: none. */
static uint64_t
diff_of_orders(unsigned n)
{
	struct spec *old = load_servers(n, false);
	struct spec *new = load_servers(n, true);
	struct changes changes;
	uint64_t from;

	changes_init(&changes);
	from = cpu_ns();
	assert_true(config_diff(old, new, &changes));
	from = cpu_ns() - from;
	assert_int_equal(changes.n, 0);
	changes_fini(&changes);
	spec_free(old);
	spec_free(new);
	return from;
}

/* Loads a frontend with the ports 1 to n, and perhaps another one first. */
static struct spec *
load_listens(unsigned n, bool one_more)
{
	struct text_out out;

	assert_true(text_out_open(&out));
	fprintf(out.stream,
	    "[frontend f]\n%slisten = 10.0.0.1:1-%u\n"
	    "backend = b\n" BACKEND,
	    one_more ? "listen = 10.0.0.1:50000\n" : "", n);
	return load_text(&out);
}

/* The difference that a port before all others makes, both ways. */
static uint64_t
diff_of_listens(unsigned n)
{
	struct spec *old = load_listens(n, false);
	struct spec *new = load_listens(n, true);
	struct changes changes;
	uint64_t from;

	changes_init(&changes);
	from = cpu_ns();
	assert_true(config_diff(old, new, &changes));
	assert_int_equal(changes.n, 1);
	assert_string_equal(
	    changes.all[0].text, "frontend f: listen: 10.0.0.1:50000 is new");
	assert_true(config_diff(new, old, &changes));
	from = cpu_ns() - from;
	assert_int_equal(changes.n, 2);
	changes_fini(&changes);
	spec_free(old);
	spec_free(new);
	return from;
}

/* A reload names the servers that were all added and are in the file. */
static uint64_t
edits_that_are_in_the_file(unsigned n)
{
	struct spec *running = load_servers(n, false);
	struct spec *file = load_servers(n, true);
	struct changes changes;
	uint64_t from;

	for (unsigned i = 0; i < n; i++)
		running->backends[0].servers[i]->added = true;
	changes_init(&changes);
	from = cpu_ns();
	config_tell_edits(running, file, &changes);
	from = cpu_ns() - from;
	assert_int_equal(changes.n, 1);
	changes_fini(&changes);
	spec_free(running);
	spec_free(file);
	return from;
}

/* Commands have deleted all servers of the file and added as many others.  The
 * drift is these servers, and no change of the file. */
static uint64_t
drift_beside_edits(unsigned n)
{
	struct spec *running = load_servers(n, false);
	struct spec *file = load_servers(n, false);
	struct backend_spec *b = &running->backends[0];
	struct changes changes;
	uint64_t from;

	b->deleted = calloc(n, sizeof(*b->deleted));
	assert_non_null(b->deleted);
	for (unsigned i = 0; i < n; i++) {
		b->deleted[b->deleted_n++] = b->servers[i]->name;
		assert_true(asprintf(&b->servers[i]->name, "x%u", i) > 0);
		b->servers[i]->added = true;
	}
	INDEX_POINTERS(b, servers);
	changes_init(&changes);
	from = cpu_ns();
	assert_true(config_diff_files(running, file, &changes));
	from = cpu_ns() - from;
	assert_int_equal(changes.n, 0);
	changes_fini(&changes);
	spec_free(running);
	spec_free(file);
	return from;
}

static void
assert_linear(uint64_t (*work)(unsigned n), unsigned few, unsigned many)
{
	uint64_t least_few = UINT64_MAX, least_many = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t ns = work(few);

		least_few = ns < least_few ? ns : least_few;
		ns = work(many);
		least_many = ns < least_many ? ns : least_many;
		if (least_many <= RATIO_MAX * least_few)
			return;
	}
	fail_msg("%u take %lu us, %u take %lu us", few,
	    (unsigned long)(least_few / 1000), many,
	    (unsigned long)(least_many / 1000));
}

static void
loading_servers_takes_linear_time(void **state)
{
	assert_linear(load_of_servers, FEW, MANY);
}

static void
loading_frontends_takes_linear_time(void **state)
{
	assert_linear(load_of_frontends, FEW / 4, MANY / 4);
}

static void
comparing_servers_in_another_order_takes_linear_time(void **state)
{
	assert_linear(diff_of_orders, FEW, MANY);
}

static void
comparing_listens_in_other_places_takes_linear_time(void **state)
{
	assert_linear(diff_of_listens, FEW, MANY);
}

static void
naming_added_servers_takes_linear_time(void **state)
{
	assert_linear(edits_that_are_in_the_file, FEW, MANY);
}

static void
drift_beside_edits_takes_linear_time(void **state)
{
	assert_linear(drift_beside_edits, FEW, MANY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(loading_servers_takes_linear_time),
	    cmocka_unit_test(loading_frontends_takes_linear_time),
	    cmocka_unit_test(
	        comparing_servers_in_another_order_takes_linear_time),
	    cmocka_unit_test(
	        comparing_listens_in_other_places_takes_linear_time),
	    cmocka_unit_test(naming_added_servers_takes_linear_time),
	    cmocka_unit_test(drift_beside_edits_takes_linear_time),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
