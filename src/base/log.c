/* SPDX-License-Identifier: MIT
 * See log.h and log_target.h: the side of the threads that log.
 */
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/log_target.h"

struct log_target log_standard_error = {.sink.options.kind = LOG_SINK_STDERR};

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
