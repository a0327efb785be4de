/* SPDX-License-Identifier: MIT
 * See later.h.
 */
#include "handover/later.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "config/keys.h"

bool
later_is(const char *line, const char *kind)
{
	size_t word = sizeof(LATER) - 1, n = strlen(kind);

	return strncmp(line, LATER, word) == 0 &&
	       strncmp(line + word, kind, n) == 0 && line[word + n] == '\t';
}

/* Returns the value with that name, which ends at the next tab, or NULL. */
static const char *
find_value(const char *line, const char *name)
{
	size_t n = strlen(name);

	while ((line = strchr(line, '\t'))) {
		line++;
		if (strncmp(line, name, n) == 0 && line[n] == '=')
			return line + n + 1;
	}
	return NULL;
}

bool
later_text(const char *line, const char *name, char *out, size_t size)
{
	const char *value = find_value(line, name);
	size_t n = value ? strcspn(value, "\t\n") : 0;

	if (!value || n >= size)
		return false;
	memcpy(out, value, n);
	out[n] = '\0';
	return true;
}

uint64_t
later_number(const char *line, const char *name)
{
	const char *value = find_value(line, name);

	return value ? strtoull(value, NULL, 10) : 0;
}

struct server *
later_find_server(const struct model *model, const char *name)
{
	char backend[NAME_MAX_LEN + 1];
	const char *slash = strchr(name, '/');
	struct backend *b;

	if (!slash || slash - name > NAME_MAX_LEN)
		return NULL;
	snprintf(backend, sizeof(backend), "%.*s", (int)(slash - name), name);
	b = model_find_backend(model, backend);
	return b ? backend_find_server(b, slash + 1) : NULL;
}

struct server *
later_server(const char *line, const struct model *model)
{
	char name[2 * NAME_MAX_LEN + 16];

	return later_text(line, "server", name, sizeof(name))
	           ? later_find_server(model, name)
	           : NULL;
}

uint64_t
later_wall_ms(void)
{
	return clock_wall_us() / 1000;
}

uint64_t
later_from_wall_ms(uint64_t wall_ms)
{
	uint64_t now_ms = clock_now_ms(), wall_now_ms = later_wall_ms();

	if (wall_ms >= wall_now_ms)
		return now_ms + (wall_ms - wall_now_ms);
	return now_ms > wall_now_ms - wall_ms ? now_ms - (wall_now_ms - wall_ms)
	                                      : 0;
}

uint64_t
later_to_wall_ms(uint64_t at_ms)
{
	return later_wall_ms() + at_ms - clock_now_ms();
}
