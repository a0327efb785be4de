/* SPDX-License-Identifier: MIT
 * See names.h.
 */
#include "resolve/names.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"

struct names {
	names_look_up *look_up;
	void *resolver;
	struct name *first; /* of all */
	void *tree;         /* tsearch(3) of all, by family and host */
	size_t n;
	uint64_t random;
};

static int
name_compare(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return x->family != y->family ? x->family - y->family
	                              : strcmp(x->host, y->host);
}

struct names *
names_new(names_look_up *look_up, void *resolver)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	/* Seeds the pauses of this process; another one differs. */
	*names = (struct names){.look_up = look_up,
	    .resolver = resolver,
	    .random = (uintptr_t)names};
	return names;
}

void
names_free(struct names *names)
{
	if (!names)
		return;
	tdestroy(names->tree, free);
	free(names);
}

struct name *
names_find(const struct names *names, const char *host, int family)
{
	const struct name key = {.host = host, .family = family};
	struct name *const *found = tfind(&key, &names->tree, name_compare);

	return found ? *found : NULL;
}

static struct name *
names_add(struct names *names, const char *host, int family)
{
	struct name *n = calloc(1, sizeof(*n) + strlen(host) + 1);

	if (!n)
		return NULL;
	n->host = strcpy((char *)(n + 1), host);
	n->family = family;
	if (!tsearch(n, &names->tree, name_compare)) {
		free(n);
		return NULL;
	}
	n->next = names->first;
	names->first = n;
	names->n++;
	return n;
}

/* Sets the time of the next try, after a pause that doubles with each failure.
 */
static void
names_pause(struct names *names, struct name *name, uint64_t now_ms)
{
	double factor = 0.8 + 0.4 * mix64_share(&names->random);

	if (name->dropped)
		return;
	name->pause_ms =
	    name->pause_ms == 0 ? NAMES_PAUSE_MIN_MS : 2 * name->pause_ms;
	if (name->pause_ms > NAMES_PAUSE_MAX_MS)
		name->pause_ms = NAMES_PAUSE_MAX_MS;
	name->ask_at_ms = now_ms + (uint64_t)((double)name->pause_ms * factor);
}

static void
names_ask(struct names *names, struct name *name, uint64_t now_ms)
{
	name->ask_at_ms = 0;
	name->asked =
	    names->look_up(names->resolver, name->host, name->family, name);
	if (name->asked)
		return;
	name->error = ENOMEM;
	names_pause(names, name, now_ms);
}

struct name *
names_want(struct names *names, const char *host, int family, bool afresh,
    uint64_t now_ms)
{
	struct name *n = names_find(names, host, family);
	bool new = !n;

	if (new)
		n = names_add(names, host, family);
	if (n)
		n->dropped = false;
	if (!n || n->asked || !(new || afresh))
		return n;
	n->pause_ms = 0;
	names_ask(names, n, now_ms);
	return n;
}

bool
names_answer(struct names *names, struct name *name, int error,
    const struct addr *addr, uint64_t now_ms)
{
	bool changed;

	name->asked = false;
	if (error != 0) {
		changed = name->error != error;
		name->error = error;
		names_pause(names, name, now_ms);
		return changed;
	}
	changed = !name->known || !addr_equal(&name->addr, addr);
	name->known = true;
	name->addr = *addr;
	name->error = name->logged_error = 0;
	name->pause_ms = name->ask_at_ms = 0;
	return changed;
}

uint64_t
names_tick(struct names *names, uint64_t now_ms)
{
	uint64_t next_ms = 0;

	for (struct name *n = names->first; n; n = n->next) {
		if (n->ask_at_ms == 0)
			continue;
		if (n->ask_at_ms <= now_ms)
			names_ask(names, n, now_ms);
		if (n->ask_at_ms != 0 &&
		    (next_ms == 0 || n->ask_at_ms < next_ms))
			next_ms = n->ask_at_ms;
	}
	return next_ms;
}

void
names_keep(struct name *name)
{
	name->kept = true;
}

void
names_sweep(struct names *names)
{
	struct name **link = &names->first, *n;

	while ((n = *link)) {
		if (!n->kept && !n->asked) {
			*link = n->next;
			(void)tdelete(n, &names->tree, name_compare);
			names->n--;
			free(n);
			continue;
		}
		n->dropped = !n->kept;
		n->kept = false;
		link = &n->next;
	}
}

void
names_each(struct names *names, void (*call)(struct name *name))
{
	for (struct name *n = names->first; n; n = n->next)
		call(n);
}

size_t
names_count(const struct names *names)
{
	return names->n;
}
