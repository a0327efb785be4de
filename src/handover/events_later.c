/* SPDX-License-Identifier: MIT
 * See events_later.h.
 */
#include "handover/events_later.h"

#include <inttypes.h>
#include <string.h>

#include "base/events.h"
#include "handover/later.h"

static void
write_event(const struct event *e, uint64_t number, FILE *out)
{
	fprintf(out,
	    EVENTS_LINE "number=%" PRIu64 "\tat=%" PRIu64
	                "\tkind=%s\tlevel=%s\tabout=%s\ttext=%s\n",
	    number, e->wall_us / 1000, event_name(e->kind),
	    log_level_name(e->level), e->about, e->text);
}

void
events_write(FILE *out)
{
	for (size_t i = 0; i < events_count(); i++)
		write_event(events_at(i), events_at(i)->number, out);
}

void
events_write_after(uint64_t after, FILE *out)
{
	for (size_t i = 0; i < events_count(); i++)
		if (events_at(i)->number > after &&
		    events_at(i)->kind != EVENT_STOP)
			write_event(events_at(i), 0, out);
}

static enum log_level
read_level(const char *line)
{
	char name[16] = "";

	(void)later_text(line, "level", name, sizeof(name));
	for (int level = LOG_LEVEL_ERROR; level < LOG_LEVEL_INFO; level++)
		if (strcmp(log_level_name((enum log_level)level), name) == 0)
			return (enum log_level)level;
	return LOG_LEVEL_INFO;
}

void
events_read(const char *line)
{
	char kind[40], about[EVENT_ABOUT_SIZE] = "", text[EVENT_TEXT_SIZE] = "";
	struct event e = {.number = later_number(line, "number"),
	    .wall_us = later_number(line, "at") * 1000,
	    .level = read_level(line),
	    .about = about,
	    .text = text};

	if (!later_text(line, "kind", kind, sizeof(kind)) ||
	    !event_find(kind, &e.kind))
		return;
	(void)later_text(line, "about", about, sizeof(about));
	(void)later_text(line, "text", text, sizeof(text));
	event_restore(&e);
}
