/* SPDX-License-Identifier: MIT
 * See log.h: the targets of the process.  All functions run on the control
 * thread.
 */
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/atomics.h"
#include "base/log_target.h"

/* Targets that were closed, until their writers have ended. */
static struct log_target *leaving;

int
log_start(void)
{
	struct log_sink_options options = {.kind = LOG_SINK_STDERR};
	struct err err;

	return log_target_start(&log_standard_error, &options, &err) ? 0
	                                                             : -ENOMEM;
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
			*ret_target = t;
			return true;
		}
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_oom(err);
	if (!log_target_start(t, options, err)) {
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
	while (*at != target)
		at = &(*at)->next;
	*at = target->next;
	target->next = leaving;
	leaving = target;
	log_target_stop(target);
}

/* Frees the targets whose writers have ended by then.  Returns whether all
 * have.
 */
static bool
join_leaving(const struct timespec *until)
{
	struct log_target **at = &leaving, *t;

	while ((t = *at)) {
		struct log_target *next = t->next;

		if (log_target_join(t, until)) {
			*at = next;
			free(t);
		} else {
			at = &t->next;
		}
	}
	return !leaving;
}

struct memory_use
log_memory(void)
{
	struct memory_use use = {.count = 0};

	for (const struct log_target *t = &log_standard_error; t; t = t->next) {
		if (!t->ring)
			continue;
		use.count++;
		use.heap += ring_memory(t->ring);
		if (t != &log_standard_error)
			memory_add_block(&use, t);
	}
	return use;
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
	for (struct log_target *t = &log_standard_error; t; t = t->next)
		log_target_reopen(t);
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
		log_target_stop(t);
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
	log_target_stop(&log_standard_error);
	return log_target_join(&log_standard_error, &until) && ended;
}
