/* SPDX-License-Identifier: MIT
 * Log lines about listeners.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "listeners/listeners_internal.h"

void
listeners_line_end(struct listeners_line *line)
{
	char text[ADDR_TEXT_SIZE], last[8] = "", from[ADDR_TEXT_SIZE + 2] = "";

	if (!line->first)
		return;
	if (line->last != addr_port(&line->addr))
		snprintf(last, sizeof(last), "-%u", line->last & UINT16_MAX);
	if (addr_is_descriptor(&line->first->addr))
		addr_text(
		    &line->first->addr, from + strlen(strcpy(from, ", ")));
	log_info("%s %s%s (frontend %s%s)", line->what,
	    addr_text(&line->addr, text), last, line->first->frontend, from);
	line->first = NULL;
}

void
listeners_line_add(
    struct listeners_line *line, const struct listener *l, const char *what)
{
	struct addr addr = l->held ? l->at : listener_bound_addr(l);
	struct addr next = line->addr;

	addr_set_port(&next, line->last + 1);
	if (line->first && l->in_range && line->what == what &&
	    addr_equal(&addr, &next) &&
	    strcmp(l->frontend, line->first->frontend) == 0) {
		line->last++;
		return;
	}
	listeners_line_end(line);
	*line = (struct listeners_line){
	    .what = what, .first = l, .addr = addr, .last = addr_port(&addr)};
}

void
listeners_announce(struct listeners *ls)
{
	static const char open[] = "listening on";
	static const char held[] = "disabled, not listening on";
	struct listeners_line line = {.first = NULL};

	for_each_listener (l, ls) {
		if (l->announced)
			continue;
		l->announced = true;
		listeners_line_add(&line, l, l->held ? held : open);
		if (!l->in_range)
			listener_warn_of_cut_options(l);
	}
	listeners_line_end(&line);
}
