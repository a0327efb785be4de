/* SPDX-License-Identifier: MIT
 * The worker: order, bounds, cancellation in each state, threads that cannot be
 * made, and the stop.
 */
#include "base/worker.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "unit.h"

#define JOBS 40

struct job {
	struct work work;
	unsigned number;
	bool hold; /* run does not return before let_go */
	/* Written by run, read after done. */
	bool ran;
	int nice;
	char name[16];
	sigset_t blocked;
	pthread_t thread;
	/* Written by done. */
	unsigned ends;
	int error;
};

static struct work_queue one = {.at_once = 1}, three = {.at_once = 3},
                         other = {.at_once = 1};

static struct ev_loop *loop;
static struct job jobs[JOBS];
static bool let_go;
/* Jobs that are in run, and the most at a time.  Any thread. */
static unsigned present, most, begun;
static unsigned order[JOBS], order_n; /* numbers, as done was called */
static unsigned run_order[JOBS];

static void
run_job(struct work *work)
{
	struct job *job = container_of(work, struct job, work);
	unsigned n = atomic_add_acq_rel(&present, 1u) + 1;
	unsigned before = atomic_load_relaxed(&most);

	while (n > before && !atomic_cas_relaxed(&most, &before, n))
		;
	run_order[atomic_add_acq_rel(&begun, 1u)] = job->number;
	job->ran = true;
	job->thread = pthread_self();
	pthread_getname_np(pthread_self(), job->name, sizeof(job->name));
	pthread_sigmask(SIG_SETMASK, NULL, &job->blocked);
	job->nice = getpriority(PRIO_PROCESS, 0);
	while (job->hold && !atomic_load_acquire(&let_go))
		unit_nap();
	(void)atomic_sub_acq_rel(&present, 1u);
}

static void
end_job(struct work *work, int error)
{
	struct job *job = container_of(work, struct job, work);

	job->ends++;
	job->error = error;
	order[order_n++] = job->number;
}

static struct job *
submit(struct work_queue *queue, bool hold)
{
	struct job *job = jobs;

	while (job->work.run)
		job++;
	assert_true(job < jobs + JOBS);
	*job = (struct job){
	    .work = {.queue = queue, .run = run_job, .done = end_job},
	    .number = (unsigned)(job - jobs),
	    .hold = hold};
	worker_submit(&job->work);
	return job;
}

/* Runs the loop until done was called n times. */
static bool
await_ends(unsigned n)
{
	return unit_wait((ev_run(loop, EVRUN_NOWAIT), order_n >= n));
}

/* Counts the threads that have the name of a worker's.  Tools have threads of
 * their own. */
static unsigned
worker_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char path[300], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
		    entry->d_name);
		f = fopen(path, "r");
		if (f && fgets(name, sizeof(name), f))
			n += strcmp(name, "lf-worker\n") == 0;
		if (f)
			fclose(f);
	}
	closedir(dir);
	return n;
}

static int
begin(void **state)
{
	(void)state;
	memset(jobs, 0, sizeof(jobs));
	let_go = false;
	present = most = begun = order_n = 0;
	loop = ev_loop_new(EVFLAG_AUTO);
	worker_start(loop);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	atomic_store_release(&let_go, true);
	assert_true(worker_stop(UNIT_DEADLINE_S * 1000));
	assert_int_equal(one.running + three.running + other.running, 0);
	ev_loop_destroy(loop);
	return 0;
}

static void
jobs_run_on_another_thread_and_end_in_the_loop(void **state)
{
	struct job *job = submit(&one, false);

	(void)state;
	assert_true(unit_wait(atomic_load_acquire(&job->work.ended)));
	assert_int_equal(job->ends, 0);
	assert_true(await_ends(1));
	assert_int_equal(job->ends, 1);
	assert_int_equal(job->error, 0);
	assert_true(job->ran);
	assert_false(pthread_equal(job->thread, pthread_self()));
	assert_string_equal(job->name, "lf-worker");
}

static void
threads_block_signals_and_have_the_nice_value_of_their_queue(void **state)
{
	static struct work_queue nice = {.at_once = 1, .nice = 19};
	int mine = getpriority(PRIO_PROCESS, 0);
	struct job *plain = submit(&one, false), *nicer = submit(&nice, false);

	(void)state;
	assert_true(await_ends(2));
	assert_int_equal(sigismember(&plain->blocked, SIGTERM), 1);
	assert_int_equal(sigismember(&plain->blocked, SIGHUP), 1);
	assert_int_equal(plain->nice, mine);
	assert_int_equal(nicer->nice, 19);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), mine);
}

static void
jobs_of_a_queue_run_in_order(void **state)
{
	(void)state;
	for (unsigned i = 0; i < JOBS; i++)
		(void)submit(&one, false);
	assert_true(await_ends(JOBS));
	assert_int_equal(most, 1);
	for (unsigned i = 0; i < JOBS; i++) {
		assert_int_equal(run_order[i], i);
		assert_int_equal(order[i], i);
	}
}

static void
a_queue_runs_as_many_jobs_at_once_as_it_may(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++)
		(void)submit(&three, true);
	assert_true(unit_wait(atomic_load_acquire(&present) == 3));
	ev_run(loop, EVRUN_NOWAIT);
	assert_int_equal(three.running, 3);
	atomic_store_release(&let_go, true);
	assert_true(await_ends(8));
	assert_int_equal(most, 3);
}

static void
a_job_that_hangs_holds_up_its_own_queue_only(void **state)
{
	struct job *hanging = submit(&one, true), *behind = submit(&one, false);
	struct job *beside = submit(&other, false);

	(void)state;
	assert_true(await_ends(1));
	assert_int_equal(beside->ends, 1);
	assert_int_equal(hanging->ends + behind->ends, 0);
	assert_false(behind->work.begun);
	atomic_store_release(&let_go, true);
	assert_true(await_ends(3));
	assert_int_equal(order[1], hanging->number);
	assert_int_equal(order[2], behind->number);
}

static void
an_idle_worker_has_no_thread(void **state)
{
	(void)state;
	/* The kernel may list a thread for a moment after its join. */
	assert_true(unit_wait(worker_threads() == 0));
	(void)submit(&one, true);
	assert_true(unit_wait(worker_threads() == 1));
	atomic_store_release(&let_go, true);
	assert_true(await_ends(1));
	assert_true(unit_wait(worker_threads() == 0));
}

static void
a_cancelled_job_that_waits_never_runs(void **state)
{
	struct job *first = submit(&one, true), *second = submit(&one, false);
	struct job *third = submit(&one, false);

	(void)state;
	worker_cancel(&second->work);
	assert_int_equal(second->ends, 1);
	assert_int_equal(second->error, ECANCELED);
	atomic_store_release(&let_go, true);
	assert_true(await_ends(3));
	assert_false(second->ran);
	assert_int_equal(second->ends, 1);
	assert_int_equal(first->error, 0);
	assert_int_equal(third->error, 0);
	assert_true(third->ran);
}

static void
a_cancelled_job_that_runs_ends_when_it_has_run(void **state)
{
	struct job *job = submit(&one, true);

	(void)state;
	assert_true(unit_wait(atomic_load_acquire(&present) == 1));
	worker_cancel(&job->work);
	ev_run(loop, EVRUN_NOWAIT);
	assert_int_equal(job->ends, 0);
	atomic_store_release(&let_go, true);
	assert_true(await_ends(1));
	assert_true(job->ran);
	assert_int_equal(job->ends, 1);
	assert_int_equal(job->error, ECANCELED);
}

static void
a_job_cancelled_between_run_and_done_is_cancelled(void **state)
{
	struct job *job = submit(&one, false);

	(void)state;
	assert_true(unit_wait(atomic_load_acquire(&job->work.ended)));
	worker_cancel(&job->work);
	assert_int_equal(job->ends, 0);
	assert_true(await_ends(1));
	assert_int_equal(job->error, ECANCELED);
}

/* Lets no thread be made: none has room for such a stack. */
static void
forbid_threads(pthread_attr_t *before)
{
	pthread_attr_t huge;

	assert_int_equal(pthread_getattr_default_np(before), 0);
	assert_int_equal(pthread_getattr_default_np(&huge), 0);
	assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 50), 0);
	assert_int_equal(pthread_setattr_default_np(&huge), 0);
	pthread_attr_destroy(&huge);
}

static void
allow_threads(pthread_attr_t *before)
{
	assert_int_equal(pthread_setattr_default_np(before), 0);
	pthread_attr_destroy(before);
}

static void
a_job_without_a_thread_ends_with_an_error_in_the_loop(void **state)
{
	pthread_attr_t before;
	struct job *failed, *behind, *cancelled, *fine;

	(void)state;
	forbid_threads(&before);
	failed = submit(&one, false);
	cancelled = submit(&other, false);
	worker_cancel(&cancelled->work);
	behind = submit(&one, true);
	assert_int_equal(failed->ends + cancelled->ends, 0);
	ev_run(loop, EVRUN_NOWAIT);
	assert_int_equal(failed->ends, 1);
	assert_int_equal(failed->error, EAGAIN);
	assert_int_equal(cancelled->error, ECANCELED);
	assert_true(await_ends(3));
	assert_int_equal(behind->error, EAGAIN);
	allow_threads(&before);
	assert_int_equal(begun, 0);
	fine = submit(&one, false);
	assert_true(await_ends(4));
	assert_int_equal(fine->error, 0);
}

static void
submit_next(struct work *work, int error)
{
	end_job(work, error);
	if (order_n < 3)
		(void)submit(work->queue, false);
}

static void
done_may_submit_jobs_which_come_behind_those_that_wait(void **state)
{
	struct job *first = submit(&one, true);
	struct job *second = submit(&one, false);

	(void)state;
	first->work.done = submit_next;
	atomic_store_release(&let_go, true);
	assert_true(await_ends(3));
	assert_int_equal(order[1], second->number);
	assert_int_equal(order[2], second->number + 1);
}

static struct job *victims[3];

static void
cancel_victims(struct work *work, int error)
{
	end_job(work, error);
	for (size_t i = 0; i < UNIT_N(victims); i++)
		worker_cancel(&victims[i]->work);
}

/* The victims have ended, run and wait. */
static void
done_may_cancel_jobs_in_each_state(void **state)
{
	struct job *first = submit(&three, false);

	(void)state;
	first->work.done = cancel_victims;
	victims[0] = submit(&three, false);
	victims[1] = submit(&other, true);
	victims[2] = submit(&other, false);
	assert_true(unit_wait(atomic_load_acquire(&first->work.ended) &&
	                      atomic_load_acquire(&victims[0]->work.ended)));
	assert_true(await_ends(3));
	assert_int_equal(victims[1]->ends, 0);
	atomic_store_release(&let_go, true);
	assert_true(await_ends(4));
	for (size_t i = 0; i < UNIT_N(victims); i++) {
		assert_int_equal(victims[i]->ends, 1);
		assert_int_equal(victims[i]->error, ECANCELED);
	}
	assert_false(victims[2]->ran);
}

static void
note_call(void *object)
{
	(void)atomic_add_acq_rel((unsigned *)object, 1u);
}

static void
calls_are_made_on_a_thread_or_at_once_without_one(void **state)
{
	unsigned on_thread = 0, without = 0, stopped = 0;
	pthread_attr_t before;

	(void)state;
	worker_call(&one, note_call, &on_thread);
	assert_true(unit_wait((ev_run(loop, EVRUN_NOWAIT),
	    atomic_load_acquire(&on_thread) == 1 && one.running == 0)));
	forbid_threads(&before);
	worker_call(&one, note_call, &without);
	ev_run(loop, EVRUN_NOWAIT);
	allow_threads(&before);
	assert_int_equal(without, 1);
	assert_true(worker_stop(0));
	worker_call(&one, note_call, &stopped);
	assert_int_equal(stopped, 1);
	worker_start(loop);
	worker_call(&other, note_call, &stopped);
	assert_true(worker_stop(UNIT_DEADLINE_S * 1000));
	assert_int_equal(stopped, 2);
}

static void
stop_cancels_jobs_in_each_state_and_leaves_those_that_hang(void **state)
{
	struct job *runs = submit(&three, false), *held = submit(&one, true);
	struct job *waits = submit(&one, false);
	unsigned called = 0;

	(void)state;
	worker_call(&one, note_call, &called);
	/* The job `runs` has ended; the loop does not know. */
	assert_true(unit_wait(atomic_load_acquire(&runs->work.ended)));
	assert_false(worker_stop(10));
	assert_int_equal(waits->error, ECANCELED);
	assert_false(waits->ran);
	assert_int_equal(waits->ends, 1);
	assert_int_equal(called, 1);
	assert_int_equal(runs->ends, 1);
	assert_int_equal(runs->error, ECANCELED);
	/* The held job was left behind. */
	assert_int_equal(held->ends, 0);
	atomic_store_release(&let_go, true);
	assert_int_equal(pthread_join(held->work.thread, NULL), 0);
	one.running = 0;
}

static void
stop_waits_for_a_slow_job(void **state)
{
	struct job *slow = submit(&one, true), *gone = submit(&other, true);

	(void)state;
	worker_cancel(&gone->work);
	assert_int_equal(slow->ends, 0);
	atomic_store_release(&let_go, true);
	assert_true(worker_stop(UNIT_DEADLINE_S * 1000));
	assert_int_equal(slow->ends, 1);
	assert_int_equal(slow->error, ECANCELED);
	assert_true(slow->ran);
	assert_int_equal(gone->error, ECANCELED);
}

static void
without_a_loop_jobs_run_at_once(void **state)
{
	struct job *job;

	(void)state;
	assert_true(worker_stop(0));
	job = submit(&one, false);
	assert_int_equal(job->ends, 1);
	assert_int_equal(job->error, 0);
	assert_true(job->ran);
	assert_true(pthread_equal(job->thread, pthread_self()));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	    TEST(jobs_run_on_another_thread_and_end_in_the_loop),
	    TEST(threads_block_signals_and_have_the_nice_value_of_their_queue),
	    TEST(jobs_of_a_queue_run_in_order),
	    TEST(a_queue_runs_as_many_jobs_at_once_as_it_may),
	    TEST(a_job_that_hangs_holds_up_its_own_queue_only),
	    TEST(an_idle_worker_has_no_thread),
	    TEST(a_cancelled_job_that_waits_never_runs),
	    TEST(a_cancelled_job_that_runs_ends_when_it_has_run),
	    TEST(a_job_cancelled_between_run_and_done_is_cancelled),
	    TEST(a_job_without_a_thread_ends_with_an_error_in_the_loop),
	    TEST(done_may_submit_jobs_which_come_behind_those_that_wait),
	    TEST(done_may_cancel_jobs_in_each_state),
	    TEST(calls_are_made_on_a_thread_or_at_once_without_one),
	    TEST(stop_cancels_jobs_in_each_state_and_leaves_those_that_hang),
	    TEST(stop_waits_for_a_slow_job),
	    TEST(without_a_loop_jobs_run_at_once),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
