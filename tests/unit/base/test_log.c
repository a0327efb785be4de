/* SPDX-License-Identifier: MIT
 * The log: lines through the ring, a slow reader, a fast writer.
 *
 * Standard error is a pipe while a test runs, so the tests say what they have
 * to say after it was put back.
 */
#include "base/log.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log_target.h"
#include "unit.h"

#define THREADS 4
#define LINES   3000 /* of each thread */

/* How long a test looks for a moment that is rarely hit. */
#define SEARCH_MS 700

struct note {
	uint32_t thread, number;
};

static size_t
render_note(const void *record, char *out, size_t size)
{
	const struct note *n = record;

	return (size_t)snprintf(out, size, "note %u %u of a long enough line\n",
	    n->thread, n->number);
}

static bool
put_record(log_render render, const void *record, size_t size)
{
	return log_target_record(&log_standard_error, render, record, size);
}

/* Returns 0 or -1. */
static int
begin_log(void)
{
	struct err err;

	return log_start(&err) ? 0 : -1;
}

/* Stops the log, and waits longer than log_stop for a writer that a busy
 * machine has kept from its work: the next test starts another writer on the
 * same target. */
static void
end_log(void)
{
	if (log_stop())
		return;
	/* In case that its wake-up was lost. */
	sem_post(&log_standard_error.wake);
	pthread_join(log_standard_error.writer, NULL);
	ring_free(log_standard_error.ring);
	sem_destroy(&log_standard_error.wake);
}

/* Reads lines from the pipe. */
struct lines {
	FILE *in;
	char line[512];
};

static void
lines_open(struct lines *l, const struct unit_stderr *s)
{
	l->in = fdopen(s->reader, "r");
	assert_non_null(l->in);
}

static bool
lines_next(struct lines *l)
{
	return fgets(l->line, sizeof(l->line), l->in) != NULL;
}

static uint64_t fake_ns;

static uint64_t
fake_now_ns(void)
{
	return fake_ns;
}

static int
put_real_clock_back(void **state)
{
	(void)state;
	clock_replace(NULL);
	return 0;
}

static void
before_start_lines_are_written_directly(void **state)
{
	struct unit_stderr s;
	char text[512];

	(void)state;
	unit_stderr_begin(&s);
	log_error("cannot do %s", "this");
	log_warning("did %d", 7);
	log_info("said so");
	unit_stderr_end(&s, text, sizeof(text));
	assert_string_equal(text, "lfproxy: error: cannot do this\n"
	                          "lfproxy: warning: did 7\n"
	                          "lfproxy: said so\n");
}

static void
a_message_that_is_too_long_is_cut_and_stays_a_line(void **state)
{
	char text[3 * LOG_RECORD_SIZE], words[2 * LOG_RECORD_SIZE];
	struct unit_stderr s;
	size_t len;
	int rc;

	(void)state;
	memset(words, 'x', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	unit_stderr_begin(&s);
	log_error("%s", words);
	rc = begin_log();
	log_error("%s", words);
	end_log();
	unit_stderr_end(&s, text, sizeof(text));
	assert_int_equal(rc, 0);
	len = strcspn(text, "\n") + 1;
	assert_in_range(len, LOG_RECORD_SIZE * 4 / 5, LOG_RECORD_SIZE);
	assert_int_equal(strlen(text), 2 * len);
	assert_memory_equal(text, text + len, len);
}

static void
stop_writes_out_what_is_queued(void **state)
{
	struct unit_stderr s;
	char text[512];
	int rc;

	(void)state;
	unit_stderr_begin(&s);
	rc = begin_log();
	log_info("first");
	log_warning("second");
	end_log();
	log_info("third");
	unit_stderr_end(&s, text, sizeof(text));
	assert_int_equal(rc, 0);
	assert_string_equal(text, "lfproxy: first\n"
	                          "lfproxy: warning: second\n"
	                          "lfproxy: third\n");
}

/* A line put while the writer goes to sleep must wake it. */
static void
every_line_arrives_without_a_further_one(void **state)
{
	struct unit_stderr s;
	struct lines l;
	unsigned wrong = 0;
	char expected[64];
	int rc;

	(void)state;
	unit_stderr_begin(&s);
	lines_open(&l, &s);
	rc = begin_log();
	for (int i = 0; i < 300; i++) {
		log_info("line %d", i);
		snprintf(expected, sizeof(expected), "lfproxy: line %d\n", i);
		wrong += !lines_next(&l) || strcmp(l.line, expected) != 0;
	}
	end_log();
	unit_stderr_restore(&s);
	fclose(l.in);
	assert_int_equal(rc, 0);
	assert_int_equal(wrong, 0);
}

struct crowd {
	uint32_t ticket, stop;
	uint32_t accepted, refused;
};

static void *
write_notes(void *arg)
{
	struct crowd *c = arg;
	struct note n = {.thread = unit_ticket(&c->ticket)};

	while (n.number < LINES) {
		if (put_record(render_note, &n, sizeof(n))) {
			n.number++;
			continue;
		}
		atomic_add_relaxed(&c->refused, 1u);
		sched_yield();
	}
	return NULL;
}

static bool
is_report(const char *line)
{
	return strstr(line, " log lines were dropped") != NULL;
}

static void
lines_of_four_threads_arrive_whole_and_in_order(void **state)
{
	uint32_t expected[THREADS] = {0}, wrong = 0;
	uint64_t before = log_dropped();
	struct crowd c = {0};
	struct unit_threads threads;
	struct unit_stderr s;
	struct lines l;
	int rc;

	(void)state;
	unit_stderr_begin(&s);
	lines_open(&l, &s);
	rc = begin_log();
	unit_threads_start(&threads, THREADS, write_notes, &c);
	for (uint32_t n = 0; n < THREADS * LINES && lines_next(&l);) {
		char should[64];
		struct note note = {0};

		if (is_report(l.line))
			continue;
		n++;
		if (sscanf(l.line, "note %u", &note.thread) != 1 ||
		    note.thread >= THREADS) {
			wrong++;
			continue;
		}
		note.number = expected[note.thread]++;
		render_note(&note, should, sizeof(should));
		wrong += strcmp(l.line, should) != 0;
	}
	unit_threads_join(&threads);
	end_log();
	unit_stderr_restore(&s);
	fclose(l.in);
	assert_int_equal(rc, 0);
	assert_int_equal(wrong, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(expected[i], LINES);
	assert_int_equal(log_dropped() - before, c.refused);
}

/* The pipe takes a page and then nothing, so the writer is stuck. */
static void
a_stalled_reader_never_blocks_and_drops_are_counted(void **state)
{
	uint64_t before = log_dropped(), reported = 0;
	uint32_t accepted = 0, refused = 0, arrived = 0, wrong = 0;
	struct unit_stderr s;
	struct lines l;
	int rc;

	(void)state;
	unit_stderr_begin(&s);
	fcntl(s.reader, F_SETPIPE_SZ, 4096);
	lines_open(&l, &s);
	rc = begin_log();
	while (refused < 1000) {
		struct note n = {.thread = 1, .number = accepted};

		if (put_record(render_note, &n, sizeof(n)))
			accepted++;
		else
			refused++;
	}
	while ((arrived < accepted || reported < refused) && lines_next(&l)) {
		struct note n = {.thread = 1, .number = arrived};
		char should[64];
		unsigned long long dropped;

		if (sscanf(l.line, "lfproxy: warning: %llu log lines",
		        &dropped) == 1) {
			reported += dropped;
			continue;
		}
		render_note(&n, should, sizeof(should));
		wrong += strcmp(l.line, should) != 0;
		arrived++;
	}
	end_log();
	unit_stderr_restore(&s);
	fclose(l.in);
	assert_int_equal(rc, 0);
	assert_int_equal(wrong, 0);
	assert_int_equal(arrived, accepted);
	assert_int_equal(log_dropped() - before, refused);
	assert_int_equal(reported, refused);
}

/* Slower than any producer, so that the ring never runs dry. */
static size_t
render_slowly(const void *record, char *out, size_t size)
{
	uint64_t end = clock_now_ns() + 20 * NS_PER_US;

	while (clock_now_ns() < end)
		;
	return render_note(record, out, size);
}

static void *
flood(void *arg)
{
	struct crowd *c = arg;
	struct note n = {.thread = unit_ticket(&c->ticket)};

	while (!atomic_load_relaxed(&c->stop))
		(void)put_record(render_slowly, &n, sizeof(n));
	return NULL;
}

static void
drops_are_reported_while_the_flood_goes_on(void **state)
{
	uint64_t end = unit_now_ms() + UNIT_DEADLINE_S * 1000u;
	struct unit_threads threads;
	struct crowd c = {0};
	struct unit_stderr s;
	struct lines l;
	bool reported = false;
	int rc;

	(void)state;
	unit_stderr_begin(&s);
	lines_open(&l, &s);
	rc = begin_log();
	unit_threads_start(&threads, THREADS, flood, &c);
	while (!reported && unit_now_ms() < end && lines_next(&l))
		reported = is_report(l.line);
	atomic_store_relaxed(&c.stop, 1u);
	/* What is left must not keep the writer. */
	fclose(l.in);
	unit_threads_join(&threads);
	end_log();
	unit_stderr_restore(&s);
	assert_int_equal(rc, 0);
	assert_true(reported);
}

/* How late the machine was, at most, in waking a thread since late_ms was set
 * to 0. */
struct lateness {
	pthread_t thread;
	uint32_t late_ms, stop;
};

static void *
watch_lateness(void *arg)
{
	struct lateness *l = arg;
	uint64_t before = unit_now_ms();

	while (!atomic_load_relaxed(&l->stop)) {
		uint64_t now;

		unit_nap();
		now = unit_now_ms();
		if (now - before > atomic_load_relaxed(&l->late_ms))
			atomic_store_relaxed(
			    &l->late_ms, (uint32_t)(now - before));
		before = now;
	}
	return NULL;
}

/* Stops the log; returns how many ms that took, 0 if the machine stalled. */
static uint64_t
stop_log(struct lateness *lateness)
{
	uint64_t begin = unit_now_ms(), took;

	atomic_store_relaxed(&lateness->late_ms, 0u);
	end_log();
	took = unit_now_ms() - begin;
	if (took < 100)
		return took;
	/* It notes the stall when it is awake again. */
	unit_nap();
	return atomic_load_relaxed(&lateness->late_ms) < 20 ? took : 0;
}

static void
lateness_begin(struct lateness *lateness)
{
	*lateness = (struct lateness){0};
	assert_int_equal(
	    pthread_create(&lateness->thread, NULL, watch_lateness, lateness),
	    0);
}

static void
lateness_end(struct lateness *lateness)
{
	atomic_store_relaxed(&lateness->stop, 1u);
	pthread_join(lateness->thread, NULL);
}

/* Starts, logs a line after a random moment, and stops; what the stop took. */
static uint64_t
start_and_stop(uint32_t *random, struct lateness *lateness)
{
	if (begin_log() < 0)
		return UINT64_MAX;
	for (uint32_t n = unit_random(random) % 100000; n > 0; n--)
		__asm__ volatile("");
	log_info("bye");
	if (*random & 1)
		unit_nap();
	return stop_log(lateness);
}

/* Any moment of the writer's way to sleep may be the one. */
static void
stop_neither_loses_the_last_line_nor_finds_the_writer_asleep(void **state)
{
	uint32_t random = 4711, arrived = 0, wrong = 0, rounds = 0;
	uint64_t longest = 0, end = unit_now_ms() + SEARCH_MS;
	struct lateness lateness;
	struct unit_stderr s;
	char text[64];

	(void)state;
	lateness_begin(&lateness);
	unit_stderr_begin(&s);
	fcntl(s.reader, F_SETFL, O_NONBLOCK);
	for (; unit_now_ms() < end && longest < 900; rounds++) {
		uint64_t took = start_and_stop(&random, &lateness);
		ssize_t n = read(s.reader, text, sizeof(text));

		if (took > longest)
			longest = took;
		arrived += n > 0;
		wrong += n > 0 && memcmp(text, "lfproxy: bye\n", 13) != 0;
	}
	unit_stderr_restore(&s);
	close(s.reader);
	lateness_end(&lateness);
	assert_true(longest < 900);
	assert_int_equal(wrong, 0);
	assert_int_equal(arrived, rounds);
}

/* A stop that comes while the writer, with nothing to do, goes to sleep. */
static void
stop_of_an_idle_log_is_quick(void **state)
{
	uint64_t longest = 0, end = unit_now_ms() + SEARCH_MS;
	uint32_t random = 815;
	struct lateness lateness;

	(void)state;
	lateness_begin(&lateness);
	while (unit_now_ms() < end && longest < 900) {
		uint64_t took;

		assert_int_equal(begin_log(), 0);
		for (uint32_t n = unit_random(&random) % 100000; n > 0; n--)
			__asm__ volatile("");
		took = stop_log(&lateness);
		if (took > longest)
			longest = took;
	}
	lateness_end(&lateness);
	assert_true(longest < 900);
}

/* In a process of its own: the writer that is stuck is left behind. */
static int
stop_beside_a_stuck_reader(void)
{
	struct note n = {0};
	uint64_t begin;
	int ends[2];

	if (pipe(ends) < 0 || dup2(ends[1], STDERR_FILENO) < 0)
		return 2;
	fcntl(ends[1], F_SETPIPE_SZ, 4096);
	if (begin_log() < 0)
		return 3;
	while (put_record(render_note, &n, sizeof(n)))
		;
	begin = unit_now_ms();
	log_stop();
	return unit_now_ms() - begin < 10000 ? 0 : 4;
}

static void
stop_does_not_wait_for_a_stuck_reader(void **state)
{
	pid_t child = fork();
	int status = -1;

	(void)state;
	if (child == 0) {
		unit_watchdog();
		_exit(stop_beside_a_stuck_reader());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
limited_logs_once_a_second_and_says_how_often(void **state)
{
	struct log_limit limit = {0};
	struct unit_stderr s;
	char text[1024];

	(void)state;
	fake_ns = 100 * NS_PER_S;
	clock_replace(fake_now_ns);
	unit_stderr_begin(&s);
	for (int i = 0; i < 5; i++)
		log_limited(&limit, LOG_LEVEL_WARNING, "no room %d", i);
	fake_ns += 999 * NS_PER_MS;
	log_limited(&limit, LOG_LEVEL_WARNING, "no room 5");
	fake_ns += NS_PER_MS;
	log_limited(&limit, LOG_LEVEL_ERROR, "no room 6");
	fake_ns += NS_PER_S;
	log_limited(&limit, LOG_LEVEL_INFO, "no room 7");
	unit_stderr_end(&s, text, sizeof(text));
	assert_string_equal(text,
	    "lfproxy: warning: no room 0\n"
	    "lfproxy: error: no room 6 (and 5 times before)\n"
	    "lfproxy: no room 7\n");
}

static void
limits_of_different_places_are_their_own(void **state)
{
	struct log_limit one = {0}, other = {0};
	struct unit_stderr s;
	char text[512];

	(void)state;
	fake_ns = 100 * NS_PER_S;
	clock_replace(fake_now_ns);
	unit_stderr_begin(&s);
	log_limited(&one, LOG_LEVEL_INFO, "one");
	log_limited(&other, LOG_LEVEL_INFO, "other");
	log_limited(&one, LOG_LEVEL_INFO, "one");
	unit_stderr_end(&s, text, sizeof(text));
	assert_string_equal(text, "lfproxy: one\nlfproxy: other\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(before_start_lines_are_written_directly),
	    cmocka_unit_test(
	        a_message_that_is_too_long_is_cut_and_stays_a_line),
	    cmocka_unit_test(stop_writes_out_what_is_queued),
	    cmocka_unit_test(every_line_arrives_without_a_further_one),
	    cmocka_unit_test(lines_of_four_threads_arrive_whole_and_in_order),
	    cmocka_unit_test(
	        a_stalled_reader_never_blocks_and_drops_are_counted),
	    cmocka_unit_test(drops_are_reported_while_the_flood_goes_on),
	    cmocka_unit_test(
	        stop_neither_loses_the_last_line_nor_finds_the_writer_asleep),
	    cmocka_unit_test(stop_of_an_idle_log_is_quick),
	    cmocka_unit_test(stop_does_not_wait_for_a_stuck_reader),
	    cmocka_unit_test_teardown(
	        limited_logs_once_a_second_and_says_how_often,
	        put_real_clock_back),
	    cmocka_unit_test_teardown(
	        limits_of_different_places_are_their_own, put_real_clock_back),
	};

	unit_watchdog();
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
