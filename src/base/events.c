/* SPDX-License-Identifier: MIT
 * See events.h.
 */
#include "base/events.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/printable.h"

struct kept {
	struct event event;
	char *texts; /* its about and its text, in one block; NULL: lost */
};

/* Pages of the ring that were never written to take no memory. */
static struct kept ring[EVENTS_MAX];
static uint64_t added;
static bool skip_next;

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
	_Static_assert(LOG_LEVEL_INFO + 1 == sizeof(names) / sizeof(names[0]),
	    "a name each");

	return names[level];
}

static void
keep_texts(struct kept *kept, const char *about, const char *text)
{
	size_t about_size = strlen(about) + 1, text_size = strlen(text) + 1;

	free(kept->texts);
	kept->event.about = kept->event.text = "";
	kept->texts = malloc(about_size + text_size);
	if (!kept->texts)
		return;
	kept->event.about = memcpy(kept->texts, about, about_size);
	kept->event.text = memcpy(kept->texts + about_size, text, text_size);
}

void
event_add_unlogged(enum event_kind kind, enum log_level level,
    const char *proxy, const char *part, const char *text)
{
	struct kept *kept = &ring[added++ % EVENTS_MAX];
	char about[EVENT_ABOUT_SIZE], clean[EVENT_TEXT_SIZE];

	printable_copy(clean, sizeof(clean), text, '?');
	snprintf(about, sizeof(about), "%s%s%s", proxy ? proxy : "",
	    part ? "/" : "", part ? part : "");
	kept->event.number = added;
	kept->event.wall_us = clock_wall_us();
	kept->event.kind = kind;
	kept->event.level = level;
	keep_texts(kept, about, clean);
}

void
event_add(enum event_kind kind, enum log_level level, const char *proxy,
    const char *part, const char *fmt, ...)
{
	char text[EVENT_TEXT_SIZE];
	va_list ap;

	if (skip_next) {
		skip_next = false;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_message(level, "%s", text);
	event_add_unlogged(kind, level, proxy, part, text);
}

void
events_skip_next(bool skip)
{
	skip_next = skip;
}

void
events_forget(void)
{
	for (size_t i = 0; i < EVENTS_MAX && i < added; i++)
		free(ring[i].texts);
	memset(ring, 0, sizeof(ring));
	added = 0;
}

struct memory_use
events_memory(void)
{
	struct memory_use use = {.count = events_count(),
	    .mapped = events_count() * sizeof(ring[0])};

	for (size_t i = 0; i < events_count(); i++)
		memory_add_block(&use, ring[i].texts);
	return use;
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
	return &ring[(added - events_count() + i) % EVENTS_MAX].event;
}
