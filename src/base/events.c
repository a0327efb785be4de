/* SPDX-License-Identifier: MIT
 * See events.h.
 */
#include "base/events.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/ensure.h"

/* Pages that were never written to take no memory. */
static struct event ring[EVENTS_MAX];
static uint64_t added;

const char *
event_name(enum event_kind kind)
{
	static const char *const names[] = {
#define X(id, name) [id] = (name),
	    EVENTS_TABLE(X)
#undef X
	};

	return names[kind];
}

const char *
event_level_name(enum log_level level)
{
	static const char *const names[] = {[LOG_LEVEL_ERROR] = "error",
	    [LOG_LEVEL_WARNING] = "warning",
	    [LOG_LEVEL_INFO] = "info"};

	return names[level];
}

static void
tell(const struct event *e)
{
	if (e->level == LOG_LEVEL_ERROR)
		log_error("%s", e->text);
	else if (e->level == LOG_LEVEL_WARNING)
		log_warning("%s", e->text);
	else
		log_info("%s", e->text);
}

void
event_add(enum event_kind kind, enum log_level level, const char *proxy,
    const char *part, const char *fmt, ...)
{
	struct event *e = &ring[added++ % EVENTS_MAX];
	va_list ap;

	e->number = added;
	e->wall_us = clock_wall_us();
	e->kind = kind;
	e->level = level;
	snprintf(e->about, sizeof(e->about), "%s%s%s", proxy ? proxy : "",
	    part ? "/" : "", part ? part : "");
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	tell(e);
}

struct memory_use
events_memory(void)
{
	return (struct memory_use){.count = events_count(),
	    .mapped = events_count() * sizeof(ring[0])};
}

size_t
events_count(void)
{
	return added < EVENTS_MAX ? (size_t)added : EVENTS_MAX;
}

const struct event *
events_at(size_t i)
{
	ENSURE(i < events_count());
	return &ring[(added - events_count() + i) % EVENTS_MAX];
}
