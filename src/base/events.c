/* SPDX-License-Identifier: MIT
 * See events.h.
 */
#include "base/events.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/numbered.h"
#include "base/printable.h"

struct kept {
	struct event event;
	char *texts; /* its about and its text, in one block; NULL: lost */
};

/* Pages of the ring that were never written to take no memory. */
static struct kept ring[EVENTS_MAX];
static struct numbered events = {
    .items = ring, .item_size = sizeof(ring[0]), .room = EVENTS_MAX};
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

bool
event_find(const char *name, enum event_kind *ret_kind)
{
	for (int i = 0; i < EVENT_KINDS; i++) {
		if (strcmp(event_name((enum event_kind)i), name) != 0)
			continue;
		*ret_kind = (enum event_kind)i;
		return true;
	}
	return false;
}

/* Puts the event into a place that has its number. */
static void
keep_event(struct kept *kept, const struct event *event)
{
	char about[EVENT_ABOUT_SIZE], text[EVENT_TEXT_SIZE];
	uint64_t number = kept->event.number;
	size_t about_size, text_size;

	printable_copy(about, sizeof(about), event->about, '?');
	printable_copy(text, sizeof(text), event->text, '?');
	about_size = strlen(about) + 1;
	text_size = strlen(text) + 1;
	kept->event = *event;
	kept->event.number = number;
	kept->event.about = kept->event.text = "";
	free(kept->texts);
	kept->texts = malloc(about_size + text_size);
	if (!kept->texts)
		return;
	kept->event.about = memcpy(kept->texts, about, about_size);
	kept->event.text = memcpy(kept->texts + about_size, text, text_size);
}

static void
event_about(const char *proxy, const char *part, char out[EVENT_ABOUT_SIZE])
{
	snprintf(out, EVENT_ABOUT_SIZE, "%s%s%s", proxy ? proxy : "",
	    part ? "/" : "", part ? part : "");
}

void
event_add_unlogged(enum event_kind kind, enum log_level level,
    const char *proxy, const char *part, const char *text)
{
	char about[EVENT_ABOUT_SIZE];

	event_about(proxy, part, about);
	keep_event(
	    numbered_add(&events), &(struct event){.wall_us = clock_wall_us(),
	                               .kind = kind,
	                               .level = level,
	                               .about = about,
	                               .text = text});
}

void
event_restore(const struct event *event)
{
	struct kept *kept = event->number > 0
	                        ? numbered_restore(&events, event->number)
	                        : numbered_add(&events);

	if (kept)
		keep_event(kept, event);
}

void
event_add(enum event_kind kind, enum log_level level, const char *proxy,
    const char *part, const char *fmt, ...)
{
	char about[EVENT_ABOUT_SIZE], text[EVENT_TEXT_SIZE];
	const struct log_subject subject = {.event = event_name(kind),
	    .about = about,
	    .is_alert = kind == EVENT_BACKEND_DOWN};
	va_list ap;

	if (skip_next) {
		skip_next = false;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	event_about(proxy, part, about);
	log_event(level, &subject, "%s", text);
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
	for (size_t i = 0; i < events_count(); i++)
		free(((struct kept *)numbered_at(&events, i))->texts);
	memset(ring, 0, sizeof(ring));
	events.added = events.own = events.last = 0;
}

size_t
events_count(void)
{
	return numbered_count(&events);
}

const struct event *
events_at(size_t i)
{
	return &((struct kept *)numbered_at(&events, i))->event;
}

uint64_t
events_last(void)
{
	return events.last;
}
