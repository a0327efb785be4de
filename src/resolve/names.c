/* SPDX-License-Identifier: MIT
 * See names.h.  A hash table by host and family; the buckets double when there
 * are as many names as buckets.
 */
#include "resolve/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define BUCKETS_MIN 64

struct names {
	const struct resolver *resolver;
	void *arg;
	struct name **buckets;
	size_t buckets_n; /* a power of two */
	size_t n;
	uint64_t random;
};

static size_t
bucket_of(const struct names *names, const char *host, int family)
{
	return XXH64(host, strlen(host), (uint64_t)family) &
	       (names->buckets_n - 1);
}

struct names *
names_new(const struct resolver *resolver, void *arg)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	*names = (struct names){.resolver = resolver,
	    .arg = arg,
	    .buckets = calloc(BUCKETS_MIN, sizeof(*names->buckets)),
	    .buckets_n = BUCKETS_MIN,
	    /* Seeds the pauses of this process; another one differs. */
	    .random = (uintptr_t)names | 1};
	if (names->buckets)
		return names;
	free(names);
	return NULL;
}

static void
free_name(struct name *name)
{
	free(name->host);
	free(name);
}

void
names_free(struct names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->buckets_n; i++)
		for (struct name *n = names->buckets[i], *next; n; n = next) {
			next = n->next;
			free_name(n);
		}
	free(names->buckets);
	free(names);
}

/* Without memory the buckets stay as they are, and become longer. */
static void
grow(struct names *names)
{
	struct names bigger = *names;

	bigger.buckets_n = 2 * names->buckets_n;
	bigger.buckets = calloc(bigger.buckets_n, sizeof(*bigger.buckets));
	if (!bigger.buckets)
		return;
	for (size_t i = 0; i < names->buckets_n; i++)
		for (struct name *n = names->buckets[i], *next; n; n = next) {
			size_t to = bucket_of(&bigger, n->host, n->family);

			next = n->next;
			n->next = bigger.buckets[to];
			bigger.buckets[to] = n;
		}
	free(names->buckets);
	*names = bigger;
}

struct name *
names_find(const struct names *names, const char *host, int family)
{
	struct name *n = names->buckets[bucket_of(names, host, family)];

	while (n && (n->family != family || strcmp(n->host, host) != 0))
		n = n->next;
	return n;
}

static struct name *
add(struct names *names, const char *host, int family)
{
	struct name *n = calloc(1, sizeof(*n));
	struct name **bucket;

	if (!n)
		return NULL;
	n->host = strdup(host);
	if (!n->host) {
		free(n);
		return NULL;
	}
	if (names->n >= names->buckets_n)
		grow(names);
	bucket = &names->buckets[bucket_of(names, host, family)];
	n->family = family;
	n->next = *bucket;
	*bucket = n;
	names->n++;
	return n;
}

/* Marsaglia, "Xorshift RNGs", 2003: 0 <= r < 1. */
static double
next_random(struct names *names)
{
	uint64_t x = names->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	names->random = x;
	return (double)(x >> 11) / (double)(1ull << 53);
}

/* Sets the time of the next try, after a pause that doubles. */
static void
fail(struct names *names, struct name *name, uint64_t now_ms)
{
	double factor = 0.8 + 0.4 * next_random(names);

	if (name->dropped)
		return;
	name->pause_ms =
	    name->pause_ms == 0 ? NAMES_PAUSE_MIN_MS : 2 * name->pause_ms;
	if (name->pause_ms > NAMES_PAUSE_MAX_MS)
		name->pause_ms = NAMES_PAUSE_MAX_MS;
	name->ask_at_ms = now_ms + (uint64_t)((double)name->pause_ms * factor);
}

static void
ask(struct names *names, struct name *name, uint64_t now_ms)
{
	name->ask_at_ms = 0;
	name->asked =
	    names->resolver->start(names->arg, name->host, name->family, name);
	if (name->asked)
		return;
	name->error = ENOMEM;
	fail(names, name, now_ms);
}

struct name *
names_want(struct names *names, const char *host, int family, bool afresh,
    uint64_t now_ms)
{
	struct name *n = names_find(names, host, family);
	bool new = !n;

	if (new)
		n = add(names, host, family);
	if (n)
		n->dropped = false;
	if (!n || n->asked || !(new || afresh))
		return n;
	n->pause_ms = 0;
	ask(names, n, now_ms);
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
		fail(names, name, now_ms);
		return changed;
	}
	changed = !name->known || !addr_equal(&name->addr, addr);
	name->known = true;
	name->addr = *addr;
	name->error = name->told = 0;
	name->pause_ms = name->ask_at_ms = 0;
	return changed;
}

uint64_t
names_tick(struct names *names, uint64_t now_ms)
{
	uint64_t next_ms = 0;

	for (size_t i = 0; i < names->buckets_n; i++)
		for (struct name *n = names->buckets[i]; n; n = n->next) {
			if (n->ask_at_ms == 0)
				continue;
			if (n->ask_at_ms <= now_ms)
				ask(names, n, now_ms);
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
	for (size_t i = 0; i < names->buckets_n; i++) {
		struct name **link = &names->buckets[i];

		while (*link) {
			struct name *n = *link;

			if (!n->kept && !n->asked) {
				*link = n->next;
				names->n--;
				free_name(n);
				continue;
			}
			n->dropped = !n->kept;
			n->kept = false;
			link = &n->next;
		}
	}
}

void
names_each(struct names *names, void (*call)(struct name *name))
{
	for (size_t i = 0; i < names->buckets_n; i++)
		for (struct name *n = names->buckets[i]; n; n = n->next)
			call(n);
}

size_t
names_count(const struct names *names)
{
	return names->n;
}
