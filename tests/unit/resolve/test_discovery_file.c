/* SPDX-License-Identifier: MIT
 * A file of servers that changes, or is given up, while the worker reads it.
 */
#include <dirent.h>
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/worker.h"
#include "resolve/discovery_file.h"
#include "unit.h"

/* Files.  The worker parses each for some milliseconds. */
#define FILES 20
#define LINES 20000

struct followed {
	char path[64], next[64];
	struct discovery *discovery;
	ev_timer change;
	size_t members; /* of the last report */
};

static struct ev_loop *loop;
static struct followed all[FILES];

static void
write_members(const char *path, unsigned n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (unsigned i = 0; i < n; i++)
		fprintf(f, "10.%u.%u.%u:80\n", i >> 16, i >> 8 & 255, i & 255);
	assert_int_equal(fclose(f), 0);
}

static void
on_members(void *arg, const struct discovered *members, size_t n)
{
	struct followed *followed = arg;

	(void)members;
	followed->members = n;
}

static void
on_error(void *arg, const char *text)
{
	(void)arg;
	fail_msg("%s", text);
}

static void
on_change(struct ev_loop *of, ev_timer *timer, int events)
{
	struct followed *followed = timer->data;

	(void)of;
	(void)events;
	assert_int_equal(rename(followed->next, followed->path), 0);
}

static void
follow(struct followed *followed, const char *dir, unsigned i)
{
	struct discovery_owner owner = {
	    .on_members = on_members, .on_error = on_error, .arg = followed};
	struct err err;

	snprintf(
	    followed->path, sizeof(followed->path), "%s/servers%u", dir, i);
	snprintf(followed->next, sizeof(followed->next), "%s/next%u", dir, i);
	write_members(followed->path, LINES);
	write_members(followed->next, 1);
	followed->discovery =
	    discovery_file_new(loop, followed->path, &owner, &err);
	assert_non_null(followed->discovery);
	ev_timer_init(&followed->change, on_change, i / 1e3, 0.);
	followed->change.data = followed;
	ev_timer_start(loop, &followed->change);
}

static bool
all_have_changed(void)
{
	for (size_t i = 0; i < FILES; i++)
		if (all[i].members != 1)
			return false;
	return true;
}

/* Each file changes some time later, at one time or another while the worker
 * has read it and is not done. */
static void
a_change_during_the_first_reading_is_noticed(void **state)
{
	uint64_t deadline = clock_now_ms() + UNIT_DEADLINE_S * 1000u;
	char dir[] = "/tmp/lfproxy-discovery-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	loop = ev_loop_new(EVFLAG_AUTO);
	worker_start(loop);
	for (unsigned i = 0; i < FILES; i++)
		follow(&all[i], dir, i);
	while (!all_have_changed() && clock_now_ms() < deadline) {
		ev_run(loop, EVRUN_NOWAIT);
		usleep(100);
	}
	for (size_t i = 0; i < FILES; i++) {
		assert_int_equal(all[i].members, 1);
		discovery_free(all[i].discovery);
		unlink(all[i].path);
	}
	assert_true(worker_stop(UNIT_DEADLINE_S * 1000));
	ev_loop_destroy(loop);
	rmdir(dir);
}

static unsigned
count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Some files are being read when they are given up, some wait, some have been
 * read and are not reported. */
static void
files_can_be_given_up_while_they_are_read(void **state)
{
	char dir[] = "/tmp/lfproxy-discovery-XXXXXX";
	unsigned before;

	(void)state;
	assert_non_null(mkdtemp(dir));
	loop = ev_loop_new(EVFLAG_AUTO);
	worker_start(loop);
	ev_run(loop, EVRUN_NOWAIT);
	before = count_descriptors();
	for (unsigned i = 0; i < FILES; i++) {
		follow(&all[i], dir, i);
		ev_timer_stop(loop, &all[i].change);
	}
	/* The first wait is over: readings begin. */
	assert_true(unit_wait((ev_run(loop, EVRUN_NOWAIT),
	    count_descriptors() >= before + FILES)));
	for (unsigned i = 0; i < FILES; i++)
		discovery_free(all[i].discovery);
	assert_true(worker_stop(UNIT_DEADLINE_S * 1000));
	assert_int_equal(count_descriptors(), before);
	ev_loop_destroy(loop);
	for (unsigned i = 0; i < FILES; i++) {
		unlink(all[i].path);
		unlink(all[i].next);
	}
	rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_change_during_the_first_reading_is_noticed),
	    cmocka_unit_test(files_can_be_given_up_while_they_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
