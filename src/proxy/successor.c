/* SPDX-License-Identifier: MIT
 * See successor.h.
 */
#include "proxy/successor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct known_name {
	char *line;      /* NULL: the place is empty */
	uint32_t number; /* from 1 */
};

const char *
successor_frontend_line(
    const struct frontend *frontend, char out[SUCCESSOR_LINE_MAX])
{
	snprintf(out, SUCCESSOR_LINE_MAX, "frontend %s", frontend->spec->name);
	return out;
}

const char *
successor_route_line(const struct frontend *frontend, unsigned route,
    char out[SUCCESSOR_LINE_MAX])
{
	snprintf(out, SUCCESSOR_LINE_MAX, "route %s %s", frontend->spec->name,
	    frontend->backends[route]->spec->name);
	return out;
}

const char *
successor_backend_line(
    const struct backend *backend, char out[SUCCESSOR_LINE_MAX])
{
	snprintf(out, SUCCESSOR_LINE_MAX, "backend %s", backend->spec->name);
	return out;
}

const char *
successor_server_line(const struct server *server, char out[SUCCESSOR_LINE_MAX])
{
	char address[ADDR_TEXT_SIZE];

	snprintf(out, SUCCESSOR_LINE_MAX, "server %s %s %s",
	    server->backend->spec->name, server->spec->name,
	    addr_text(server_addr(server), address));
	return out;
}

struct successor *
successor_new(int channel)
{
	struct successor *s = calloc(1, sizeof(*s));

	if (s)
		s->channel = channel;
	return s;
}

void
successor_free(struct successor *successor)
{
	if (!successor)
		return;
	for (size_t i = 0; i < successor->room; i++)
		free(successor->names[i].line);
	free(successor->names);
	free(successor);
}

/* Returns the place of the line, or the empty place where it belongs. */
static struct known_name *
find_place(struct known_name *names, size_t room, const char *line, size_t size)
{
	size_t at = XXH64(line, size, 0) % room;

	while (names[at].line && (strncmp(names[at].line, line, size) != 0 ||
	                             names[at].line[size] != '\0'))
		at = (at + 1) % room;
	return &names[at];
}

/* Makes room for one more line: half of the places stay empty.  Returns false
 * when memory is short. */
static bool
make_room_for_line(struct successor *s)
{
	size_t room = s->room > 0 ? 2 * s->room : 64;
	struct known_name *names;

	if (2 * (s->n + 1) <= s->room)
		return true;
	names = calloc(room, sizeof(*names));
	if (!names)
		return false;
	for (size_t i = 0; i < s->room; i++) {
		const struct known_name *old = &s->names[i];

		if (old->line)
			*find_place(names, room, old->line, strlen(old->line)) =
			    *old;
	}
	free(s->names);
	s->names = names;
	s->room = room;
	return true;
}

static bool
add_line(struct successor *s, const char *line, size_t size)
{
	struct known_name *place;

	if (!make_room_for_line(s))
		return false;
	s->n++;
	place = find_place(s->names, s->room, line, size);
	/* Servers with the same name and address are the same to a session. */
	if (place->line)
		return true;
	place->line = strndup(line, size);
	place->number = (uint32_t)s->n;
	return place->line;
}

bool
successor_add_lines(struct successor *successor, const char *lines)
{
	while (*lines) {
		size_t size = strcspn(lines, "\n");

		if (!add_line(successor, lines, size))
			return false;
		lines += size + (lines[size] == '\n');
	}
	return true;
}

uint32_t
successor_find(const struct successor *successor, const char *line)
{
	if (successor->n == 0)
		return 0;
	/* An empty place has the number 0. */
	return find_place(successor->names, successor->room, line, strlen(line))
	    ->number;
}
