/* SPDX-License-Identifier: MIT
 * See log.h and log_target.h: the writer thread of a target, and what the
 * control thread does with the targets of the process.
 */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/log_target.h"
#include "base/thread.h"

#define RING_CELLS 4096
/* When the ring has run dry, the writer naps this long before it goes to sleep,
 * so that a steady trickle of lines costs the threads no wake-ups.  A nap
 * delays a line by this much at most. */
#define NAP_NS (2 * NS_PER_MS)
/* The pause before a sink that failed is tried again.  A sink that is full is
 * tried when it has room, but the writer looks for orders this often. */
#define RETRY_MS 100
/* When the log stops, a sink that takes nothing gets this much time. */
#define GIVE_UP_MS 300
/* Losses are reported at most this often, but on standard error at once. */
#define REPORT_MS 1000

static bool
is_stderr(const struct log_target *t)
{
	return t->sink.options.kind == LOG_SINK_STDERR;
}

static uint64_t
count_lines(const char *p, size_t len)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += p[i] == '\n';
	return lines;
}

static void
reopen(struct log_target *t)
{
	char name[LOG_SINK_NAME_SIZE];
	int rc = log_sink_reopen(&t->sink);

	log_sink_name(&t->sink.options, name);
	if (rc < 0)
		log_about_log(LOG_LEVEL_WARNING,
		    "%s cannot be reopened: %s; lines still go to the one that "
		    "was open",
		    name, strerror(-rc));
	else if (t->sink.options.kind == LOG_SINK_FILE)
		log_info("reopened %s", name);
}

/* Waits until it makes sense to try the sink again.  Returns false if it never
 * will. */
static bool
wait_for_sink(struct log_target *t, int error)
{
	struct pollfd room = {.fd = t->sink.fd, .events = POLLOUT};
	struct timespec pause = {.tv_nsec = RETRY_MS * NS_PER_MS};
	static struct log_limit limit;
	char name[LOG_SINK_NAME_SIZE];
	uint64_t left_out;

	if (atomic_load_acquire(&t->stopping)) {
		uint64_t now_ms = clock_now_ms();

		if (t->give_up_ms == 0)
			t->give_up_ms = now_ms + GIVE_UP_MS;
		else if (now_ms >= t->give_up_ms)
			return false;
		pause.tv_nsec /= 10;
	}
	if (error == EAGAIN) {
		(void)poll(&room, 1, (int)(pause.tv_nsec / NS_PER_MS));
		return true;
	}
	/* A terminal or pipe that is gone does not come back. */
	if (log_sink_is_stream(&t->sink))
		return false;
	if (log_may(&limit, &left_out))
		log_about_log(LOG_LEVEL_WARNING,
		    "%s takes no lines: %s; they wait, and are dropped once "
		    "%u do",
		    log_sink_name(&t->sink.options, name),
		    log_sink_error(&t->sink, error), RING_CELLS);
	nanosleep(&pause, NULL);
	return true;
}

/* Writes all lines, or as many as the sink takes before the writer gives it up.
 */
static void
write_lines(struct log_target *t, const char *lines, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = log_sink_write(&t->sink, lines + done, len - done);

		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		if (n == -EINTR)
			continue;
		if (!wait_for_sink(t, (int)-n)) {
			log_target_count_dropped(
			    t, count_lines(lines + done, len - done));
			return;
		}
		if (atomic_load_acquire(&t->reopening) &&
		    atomic_swap_acq_rel(&t->reopening, 0u)) {
			reopen(t);
			/* A line that was begun is written to the new file from
			 * its start. */
			while (done > 0 && lines[done - 1] != '\n')
				done--;
		}
	}
}

static void
report_dropped(struct log_target *t)
{
	uint64_t dropped = atomic_load_relaxed(&t->dropped), n;
	char line[LOG_LINE_MAX], name[LOG_SINK_NAME_SIZE];
	size_t len;

	if (t->sink.lost > 0) {
		log_target_count_dropped(t, t->sink.lost);
		dropped += t->sink.lost;
		t->sink.lost = 0;
	}
	n = dropped - t->reported;
	if (n == 0)
		return;
	if (is_stderr(t)) {
		len = log_line(line, sizeof(line),
		    "%llu log lines were dropped, the log's reader is too slow",
		    (unsigned long long)n);
		t->reported = dropped;
		write_lines(t, line, len);
		return;
	}
	if (clock_now_ms() < t->report_after_ms &&
	    !atomic_load_acquire(&t->stopping))
		return;
	t->report_after_ms = clock_now_ms() + REPORT_MS;
	t->reported = dropped;
	log_about_log(LOG_LEVEL_WARNING,
	    "%llu log lines were dropped, %s did not take them in time",
	    (unsigned long long)n, log_sink_name(&t->sink.options, name));
}

/* Writes the lines in the ring, several at a time, and reports how many were
 * dropped.  Returns whether the ring had any. */
static bool
drain(struct log_target *t)
{
	char out[16384];
	size_t len = 0;
	struct log_target_entry r;
	bool any = false;

	while (ring_take(t->ring, &r)) {
		any = true;
		len += r.render(r.bytes, out + len, sizeof(out) - len);
		if (sizeof(out) - len < LOG_LINE_MAX) {
			write_lines(t, out, len);
			/* Under overload the ring may never run dry. */
			report_dropped(t);
			len = 0;
		}
	}
	write_lines(t, out, len);
	report_dropped(t);
	return any;
}

/* Sleeps until the writer is woken, or until a report that had to wait is due.
 */
static void
sleep_until_woken(struct log_target *t)
{
	struct timespec until;

	if (atomic_load_relaxed(&t->dropped) == t->reported) {
		while (sem_wait(&t->wake) != 0)
			;
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 1;
	if (sem_clockwait(&t->wake, CLOCK_MONOTONIC, &until) == 0)
		return;
	/* A thread that has found the word set may still post.  Its post ends
	 * the next sleep early, which is harmless. */
	(void)atomic_swap_seq(&t->asleep, 0u);
}

static void *
writer_main(void *arg)
{
	struct timespec nap = {.tv_nsec = NAP_NS};
	struct log_target *t = arg;

	for (;;) {
		/* Read this before the ring, so that lines that were put before
		 * the stop are seen. */
		bool last = atomic_load_acquire(&t->stopping);

		if (atomic_load_acquire(&t->reopening) &&
		    atomic_swap_acq_rel(&t->reopening, 0u))
			reopen(t);
		if (drain(t)) {
			nanosleep(&nap, NULL);
			continue;
		}
		if (last)
			break;
		/* Set asleep, then look once more.  Lines and orders from
		 * before that are seen now, and a thread with later ones finds
		 * the word set. [P7] */
		(void)atomic_swap_seq(&t->asleep, 1u);
		if (drain(t) || atomic_load_seq(&t->stopping) ||
		    atomic_load_seq(&t->reopening)) {
			(void)atomic_swap_seq(&t->asleep, 0u);
			continue;
		}
		sleep_until_woken(t);
	}
	log_sink_close(&t->sink);
	return NULL;
}

/* -- the control thread -- */

/* Targets that were closed, until their writers have ended. */
static struct log_target *leaving;

/* Opens the sink and starts the writer.  Returns false with err set. */
static bool
start_target(struct log_target *t, const struct log_sink_options *options,
    struct err *err)
{
	int rc;

	*t = (struct log_target){.next = t->next};
	if (!log_sink_open(&t->sink, options, err))
		return false;
	t->ring = ring_new(RING_CELLS, sizeof(struct log_target_entry));
	if (!t->ring) {
		log_sink_close(&t->sink);
		return err_oom(err);
	}
	sem_init(&t->wake, 0, 0);
	rc = thread_start(&t->writer, NULL, writer_main, t);
	if (rc != 0) {
		log_sink_close(&t->sink);
		ring_free(t->ring);
		sem_destroy(&t->wake);
		return err_set(err, "the log cannot be started: %s%s",
		    strerror(rc), thread_start_hint(rc));
	}
	pthread_setname_np(t->writer, "lfproxy-log");
	atomic_store_release(&t->running, 1u);
	return true;
}

/* Asks the writer to write what is queued and to end.  Returns at once. */
static void
stop_target(struct log_target *target)
{
	atomic_store_release(&target->running, 0u);
	(void)atomic_swap_seq(&target->stopping, 1u);
	log_target_wake(target);
}

/* Waits until the writer has ended, or until that time (CLOCK_REALTIME).
 * Returns false if it has not ended: a writer that is stuck in write(2) is left
 * behind with its ring. */
static bool
join_target(struct log_target *target, const struct timespec *until)
{
	if (pthread_timedjoin_np(target->writer, NULL, until) != 0)
		return false;
	ring_free(target->ring);
	sem_destroy(&target->wake);
	return true;
}

bool
log_start(struct err *err)
{
	struct log_sink_options options = {.kind = LOG_SINK_STDERR};

	return start_target(&log_standard_error, &options, err);
}

bool
log_target_open(const struct log_sink_options *options,
    struct log_target **ret_target, struct err *err)
{
	struct log_target **last = &log_standard_error.next, *t;

	if (options->kind == LOG_SINK_STDERR) {
		*ret_target = &log_standard_error;
		return true;
	}
	for (; (t = *last); last = &t->next)
		if (log_sink_same(&t->sink.options, options)) {
			t->users++;
			log_sink_set_mode(&t->sink, options->mode);
			*ret_target = t;
			return true;
		}
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_oom(err);
	if (!start_target(t, options, err)) {
		free(t);
		return false;
	}
	t->users = 1;
	*ret_target = *last = t;
	return true;
}

void
log_target_close(struct log_target *target)
{
	struct log_target **at = &log_standard_error.next;

	if (!atomic_load_acquire(&log_standard_error.running) ||
	    target == &log_standard_error || --target->users > 0)
		return;
	log_messages_forget(target);
	while (*at != target)
		at = &(*at)->next;
	*at = target->next;
	target->next = leaving;
	leaving = target;
	stop_target(target);
}

/* Frees the targets whose writers end until then.  Returns whether all have
 * ended. */
static bool
join_leaving(const struct timespec *until)
{
	struct log_target **at = &leaving, *t;

	while ((t = *at)) {
		struct log_target *next = t->next;

		if (join_target(t, until)) {
			*at = next;
			free(t);
		} else {
			at = &t->next;
		}
	}
	return !leaving;
}

void
log_collect(void)
{
	static const struct timespec now;

	(void)join_leaving(&now);
}

void
log_reopen(void)
{
	for (struct log_target *t = &log_standard_error; t; t = t->next) {
		(void)atomic_swap_seq(&t->reopening, 1u);
		log_target_wake(t);
	}
}

static struct timespec
in_a_second(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	return until;
}

bool
log_stop(void)
{
	struct timespec until;
	struct log_target **last = &leaving, *t;
	bool ended;

	if (!atomic_load_acquire(&log_standard_error.running))
		return true;
	for (t = log_standard_error.next; t; t = t->next)
		log_messages_forget(t);
	for (t = log_standard_error.next; t; t = t->next)
		stop_target(t);
	until = in_a_second();
	/* Standard error is stopped last: warnings about the other targets go
	 * there. */
	while (*last)
		last = &(*last)->next;
	*last = log_standard_error.next;
	log_standard_error.next = NULL;
	ended = join_leaving(&until);
	if (!ended)
		log_warning("a log could not be written to its end in time");
	leaving = NULL;
	until = in_a_second();
	stop_target(&log_standard_error);
	return join_target(&log_standard_error, &until) && ended;
}
