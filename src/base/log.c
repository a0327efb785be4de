/* SPDX-License-Identifier: MIT
 * See log.h.
 */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/ring.h"

#define RING_CELLS 4096
/* After the ring ran dry the writer naps this long before it goes to sleep, so
 * that a steady trickle of lines costs the threads no wake-ups.  A line is
 * written that much later at most. */
#define NAP_NS (2 * NS_PER_MS)

struct record {
	log_render render;
	uint8_t bytes[LOG_RECORD_SIZE];
};

static struct {
	struct ring *ring;
	pthread_t writer;
	sem_t wake;
	uint32_t running;  /* lines go through the ring */
	uint32_t asleep;   /* the writer is in sem_wait or about to be */
	uint32_t stopping; /* the writer ends when the ring is empty */
	uint64_t dropped;
	uint64_t reported; /* of these; the writer's */
} logger;

static size_t
render_text(const void *record, char *out, size_t size)
{
	size_t len = strnlen(record, LOG_RECORD_SIZE - 1);

	if (len > size - 1)
		len = size - 1;
	memcpy(out, record, len);
	out[len] = '\n';
	return len + 1;
}

/* A terminal or pipe that is gone must not stop the proxy: errors end the
 * attempt, and what was not written is lost. */
static void
write_all(const char *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDERR_FILENO, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		p += n;
		len -= (size_t)n;
	}
}

static void
report_dropped(void)
{
	uint64_t dropped = atomic_load_relaxed(&logger.dropped);
	char line[128];
	int n;

	if (dropped == logger.reported)
		return;
	n = snprintf(line, sizeof(line),
	    "lfproxy: warning: %llu log lines were dropped, the log's reader "
	    "is too slow\n",
	    (unsigned long long)(dropped - logger.reported));
	logger.reported = dropped;
	write_all(line, (size_t)n);
}

/* Writes out what the ring holds, several lines to a call, and how many lines
 * it could not hold.  True if it held any. */
static bool
drain(void)
{
	char out[16384];
	size_t len = 0;
	struct record r;
	bool any = false;

	while (ring_take(logger.ring, &r)) {
		any = true;
		len += r.render(r.bytes, out + len, sizeof(out) - len);
		if (sizeof(out) - len < 1024) {
			write_all(out, len);
			/* Under overload the ring may never run dry. */
			report_dropped();
			len = 0;
		}
	}
	write_all(out, len);
	report_dropped();
	return any;
}

static void *
writer_main(void *arg)
{
	struct timespec nap = {.tv_nsec = NAP_NS};

	for (;;) {
		/* Before the look at the ring: what was put before the stop is
		 * then seen by it. */
		bool last = atomic_load_acquire(&logger.stopping);

		if (drain()) {
			nanosleep(&nap, NULL);
			continue;
		}
		if (last)
			break;
		/* Say so, then look once more: a line put or a stop asked for
		 * before that is seen now, a later one finds the word set.
		 * [P7] */
		(void)atomic_swap_seq(&logger.asleep, 1u);
		if (drain() || atomic_load_seq(&logger.stopping)) {
			(void)atomic_swap_seq(&logger.asleep, 0u);
			continue;
		}
		while (sem_wait(&logger.wake) != 0)
			;
	}
	return arg;
}

static void
wake_writer(void)
{
	if (atomic_load_seq(&logger.asleep) == 1 && /* [P7] */
	    atomic_swap_seq(&logger.asleep, 0u) == 1)
		sem_post(&logger.wake);
}

bool
log_record(log_render render, const void *record, size_t size)
{
	struct record r;

	if (!atomic_load_acquire(&logger.running)) {
		char line[2048];

		write_all(line, render(record, line, sizeof(line)));
		return true;
	}
	r.render = render;
	memcpy(r.bytes, record, size);
	memset(r.bytes + size, 0, sizeof(r.bytes) - size);
	if (!ring_put(logger.ring, &r)) {
		atomic_add_relaxed(&logger.dropped, 1u);
		return false;
	}
	wake_writer();
	return true;
}

static void
log_text(enum log_level level, const char *fmt, va_list ap)
{
	static const char *const prefix[] = {
	    "lfproxy: error: ", "lfproxy: warning: ", "lfproxy: "};
	char text[LOG_RECORD_SIZE];
	size_t len = strlen(prefix[level]);

	memcpy(text, prefix[level], len);
	vsnprintf(text + len, sizeof(text) - len, fmt, ap);
	log_record(render_text, text, strlen(text) + 1);
}

void
log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_text(LOG_LEVEL_ERROR, fmt, ap);
	va_end(ap);
}

void
log_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_text(LOG_LEVEL_WARNING, fmt, ap);
	va_end(ap);
}

void
log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_text(LOG_LEVEL_INFO, fmt, ap);
	va_end(ap);
}

void
log_limited(struct log_limit *limit, enum log_level level, const char *fmt, ...)
{
	uint64_t now = clock_now_ms(),
	         next = atomic_load_relaxed(&limit->next_ms);
	uint64_t left_out;
	char text[LOG_RECORD_SIZE];
	va_list ap;
	size_t len;

	if (now < next ||
	    !atomic_cas_relaxed(&limit->next_ms, &next, now + 1000)) {
		atomic_add_relaxed(&limit->left_out, 1u);
		return;
	}
	left_out = atomic_swap_acq_rel(&limit->left_out, 0u);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	len = strlen(text);
	if (left_out > 0)
		snprintf(text + len, sizeof(text) - len,
		    " (and %llu times before)", (unsigned long long)left_out);
	if (level == LOG_LEVEL_ERROR)
		log_error("%s", text);
	else if (level == LOG_LEVEL_WARNING)
		log_warning("%s", text);
	else
		log_info("%s", text);
}

int
log_start(void)
{
	sigset_t all, old;
	int rc;

	logger.ring = ring_new(RING_CELLS, sizeof(struct record));
	if (!logger.ring)
		return -ENOMEM;
	sem_init(&logger.wake, 0, 0);
	logger.asleep = logger.stopping = 0;
	logger.reported = logger.dropped;
	/* Signals are for the control thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&logger.writer, NULL, writer_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0) {
		ring_free(logger.ring);
		sem_destroy(&logger.wake);
		return -rc;
	}
	pthread_setname_np(logger.writer, "lfproxy-log");
	atomic_store_release(&logger.running, 1u);
	return 0;
}

bool
log_stop(void)
{
	struct timespec limit;

	if (!atomic_load_acquire(&logger.running))
		return true;
	atomic_store_release(&logger.running, 0u);
	(void)atomic_swap_seq(&logger.stopping, 1u);
	wake_writer();
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 1;
	/* A writer that is stuck in write(2) is left behind with its ring. */
	if (pthread_timedjoin_np(logger.writer, NULL, &limit) != 0)
		return false;
	ring_free(logger.ring);
	sem_destroy(&logger.wake);
	return true;
}

uint64_t
log_dropped(void)
{
	return atomic_load_relaxed(&logger.dropped);
}
