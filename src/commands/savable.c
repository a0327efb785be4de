/* SPDX-License-Identifier: MIT
 * See savable.h.
 */
#include "commands/savable.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "commands/expiring.h"
#include "config/fit.h"

/* The changes of a section, or of the line of a server. */
struct group {
	struct spec *file;
	struct savable *savable;
	char *section, *server;
	struct config_change *changes;
	size_t *at; /* of each change in savable->why */
	size_t n, room, at_room;
};

static char *
copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

static bool
is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Tries the changes that are not tried yet one by one, beside those that fit.
 * Returns whether one of them fits. */
static bool
add_one_by_one(struct group *g)
{
	bool any = false;
	struct err err;

	for (size_t i = 0; i < g->n; i++) {
		struct config_change *c = &g->changes[i];
		char **why = &g->savable->why[g->at[i]];

		if (c->tried)
			continue;
		c->tried = true;
		free(*why);
		*why = NULL;
		if (config_fits(g->file, g->section, g->server, g->changes,
		        g->n, &err)) {
			any = true;
			continue;
		}
		c->tried = false;
		*why = strdup(err.text);
	}
	return any;
}

/* Finds the changes of the group that do not fit, and empties it. */
static void
try_group(struct group *g)
{
	struct err err;

	for (size_t i = 0; i < g->n; i++)
		g->changes[i].tried = true;
	if (g->n > 0 && !config_fits(g->file, g->section, g->server, g->changes,
	                    g->n, &err)) {
		for (size_t i = 0; i < g->n; i++)
			g->changes[i].tried = false;
		/* A change may fit only after a later one. */
		while (add_one_by_one(g))
			;
	}
	for (size_t i = 0; i < g->n; i++) {
		free((char *)(uintptr_t)g->changes[i].key);
		free((char *)(uintptr_t)g->changes[i].text);
	}
	free(g->section);
	free(g->server);
	g->section = g->server = NULL;
	g->n = 0;
}

static bool
group_grow(struct group *g)
{
	struct config_change *changes =
	    grow(g->changes, g->n, &g->room, sizeof(*changes));
	size_t *at = grow(g->at, g->n, &g->at_room, sizeof(*at));

	if (changes)
		g->changes = changes;
	if (at)
		g->at = at;
	return changes && at;
}

/* Returns whether the change belongs to the group. */
static bool
is_of_group(const struct group *g, const struct running_change *c)
{
	return is_same(g->section, c->section) && is_same(g->server, c->server);
}

/* Returns whether the change need not be tried, as thousands of servers may
 * have one: the file can have any such value that a command takes, unless the
 * server itself is a change that it refuses. */
static bool
always_fits(const struct group *g, const struct running_change *c)
{
	if (g->n > 0 && is_of_group(g, c) &&
	    strcmp(g->changes[0].key, "server") == 0)
		return false;
	return c->server && (strcmp(c->key, "weight") == 0 ||
	                        strcmp(c->key, "maxconn") == 0 ||
	                        strcmp(c->key, "disabled") == 0);
}

/* Adds the change to its group; without memory it is not tried. */
static void
add_change(struct group *g, const struct running_change *c)
{
	struct config_change copy = {
	    .key = copy_of(c->key), .text = copy_of(c->text)};

	if (g->n == 0) {
		free(g->section);
		free(g->server);
		g->section = copy_of(c->section);
		g->server = copy_of(c->server);
	}
	if (!copy.key || !copy.text != !c->text || !g->section ||
	    !g->server != !c->server) {
		free((char *)(uintptr_t)copy.key);
		free((char *)(uintptr_t)copy.text);
		return;
	}
	g->changes[g->n] = copy;
	g->at[g->n++] = g->savable->n - 1;
}

static void
collect(void *arg, const struct running_change *c)
{
	struct group *g = arg;
	struct savable *s = g->savable;
	char **grown;

	if (c->ends)
		return;
	grown = s->short_of_memory
	            ? NULL
	            : grow(s->why, s->n, &s->room, sizeof(*grown));
	/* The reasons belong to the changes by their order. */
	s->short_of_memory = !grown;
	if (!grown)
		return;
	s->why = grown;
	s->why[s->n++] = NULL;
	if (!c->key || strcmp(c->key, "entry") == 0 || always_fits(g, c) ||
	    !group_grow(g))
		return;
	if (!is_of_group(g, c))
		try_group(g);
	add_change(g, c);
}

void
savable_find(
    struct savable *savable, const struct command_env *env, struct spec *file)
{
	struct group g = {.file = file, .savable = savable};

	*savable = (struct savable){.n = 0};
	if (!file)
		return;
	running_changes(env, collect, &g);
	try_group(&g);
	free(g.section);
	free(g.server);
	free(g.changes);
	free(g.at);
}

void
savable_fini(struct savable *savable)
{
	for (size_t i = 0; i < savable->n; i++)
		free(savable->why[i]);
	free(savable->why);
}
