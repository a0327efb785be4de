/* SPDX-License-Identifier: MIT
 * See log.h and log_target.h: the side of the threads that log.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/log_target.h"
#include "base/printable.h"

struct log_target log_standard_error;

static uint64_t dropped_in_all;

uint64_t
log_dropped(void)
{
	return atomic_load_relaxed(&dropped_in_all);
}

void
log_target_count_dropped(struct log_target *t, uint64_t lines)
{
	atomic_add_relaxed(&t->dropped, lines);
	atomic_add_relaxed(&dropped_in_all, lines);
}

void
log_target_wake(struct log_target *t)
{
	if (atomic_load_seq(&t->asleep) == 1 && /* [P7] */
	    atomic_swap_seq(&t->asleep, 0u) == 1)
		sem_post(&t->wake);
}

/* Writes the line on the calling thread: before log_start and after log_stop no
 * writer thread runs. */
static void
write_directly(log_render render, const void *record)
{
	char line[LOG_LINE_MAX];
	const char *p = line;
	size_t len = render(record, line, sizeof(line));

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

bool
log_target_record(struct log_target *target, log_render render,
    const void *record, size_t size)
{
	struct log_target_entry r;

	if (!atomic_load_acquire(&target->running)) {
		write_directly(render, record);
		return true;
	}
	r.render = render;
	memcpy(r.bytes, record, size);
	memset(r.bytes + size, 0, sizeof(r.bytes) - size);
	if (!ring_put(target->ring, &r)) {
		log_target_count_dropped(target, 1);
		return false;
	}
	log_target_wake(target);
	return true;
}

/* -- messages -- */

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

static uint64_t warnings; /* relaxed */

uint64_t
log_warnings(void)
{
	return atomic_load_relaxed(&warnings);
}

static bool to_journal;

static void
find_journal(void)
{
	const char *journal = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	to_journal = journal &&
	             sscanf(journal, "%llu:%llu", &device, &inode) == 2 &&
	             fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device &&
	             st.st_ino == inode;
}

const char *
log_severity(enum log_level level)
{
	static const char *const severities[] = {[LOG_LEVEL_ERROR] = "<3>",
	    [LOG_LEVEL_WARNING] = "<4>",
	    [LOG_LEVEL_INFO] = "<6>"};
	static pthread_once_t found = PTHREAD_ONCE_INIT;

	(void)pthread_once(&found, find_journal);
	return to_journal ? severities[level] : "";
}

void
log_message(enum log_level level, const char *fmt, ...)
{
	static const char *const prefixes[] = {
	    [LOG_LEVEL_ERROR] = "lfproxy: error: ",
	    [LOG_LEVEL_WARNING] = "lfproxy: warning: ",
	    [LOG_LEVEL_INFO] = "lfproxy: "};
	_Static_assert(
	    LOG_LEVEL_INFO + 1 == sizeof(prefixes) / sizeof(prefixes[0]),
	    "a prefix each");
	char text[LOG_RECORD_SIZE];
	size_t len;
	va_list ap;

	if (level == LOG_LEVEL_WARNING)
		atomic_add_relaxed(&warnings, 1);
	len = (size_t)snprintf(
	    text, sizeof(text), "%s%s", log_severity(level), prefixes[level]);
	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - len, fmt, ap);
	va_end(ap);
	printable_clean(text + len, '?');
	(void)log_target_record(
	    &log_standard_error, render_text, text, strlen(text) + 1);
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
	log_message(level, "%s", text);
}
