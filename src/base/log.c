/* SPDX-License-Identifier: MIT
 * See log.h.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/log_target.h"
#include "base/printable.h"

/* Standard error is first in the list and always there; the others are added
 * by the control thread. */
static struct log_target standard_error;

/* Those that nobody logs to any more, until their writers have ended. */
static struct log_target *leaving;

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

bool
log_record(log_render render, const void *record, size_t size)
{
	return log_target_record(&standard_error, render, record, size);
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
	printable_clean(text + len, '?');
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
	struct log_sink_options options = {.kind = LOG_SINK_STDERR};
	struct err err;

	return log_target_start(&standard_error, &options, &err) ? 0 : -ENOMEM;
}

bool
log_target_open(const struct log_sink_options *options,
    struct log_target **ret_target, struct err *err)
{
	struct log_target **last = &standard_error.next, *t;

	if (options->kind == LOG_SINK_STDERR) {
		*ret_target = &standard_error;
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
		return err_set(err, "out of memory");
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
	struct log_target **at = &standard_error.next;

	if (!atomic_load_acquire(&standard_error.running) ||
	    target == &standard_error || --target->users > 0)
		return;
	while (*at != target)
		at = &(*at)->next;
	*at = target->next;
	target->next = leaving;
	leaving = target;
	log_target_stop(target);
}

/* Frees those whose writers have ended by then; true if all have. */
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

	for (const struct log_target *t = &standard_error; t; t = t->next) {
		if (!t->ring)
			continue;
		use.count++;
		use.heap += ring_memory(t->ring);
		if (t != &standard_error)
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
	for (struct log_target *t = &standard_error; t; t = t->next)
		log_target_reopen(t);
}

bool
log_stop(void)
{
	struct timespec until;
	struct log_target **last = &leaving, *t;
	bool ended;

	if (!atomic_load_acquire(&standard_error.running))
		return true;
	for (t = standard_error.next; t; t = t->next)
		log_target_stop(t);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	/* What these have to say goes to standard error, so that is last. */
	while (*last)
		last = &(*last)->next;
	*last = standard_error.next;
	standard_error.next = NULL;
	ended = join_leaving(&until);
	if (!ended)
		log_warning("a log could not be written to its end in time");
	leaving = NULL;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	log_target_stop(&standard_error);
	return log_target_join(&standard_error, &until) && ended;
}
