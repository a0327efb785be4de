/* SPDX-License-Identifier: MIT
 * Round robin: weighted, smooth, and exact across threads.
 *
 * The order of one cycle is worked out in advance: a server of weight w has its
 * k-th turn at the virtual time (k + 1/2) / w, and the cycle is all turns in
 * the order of time (earliest deadline first), which spreads every server's
 * turns evenly.  The weights are divided by their greatest common divisor.  A
 * choice is then one atomic addition, whatever the number of servers or
 * threads, and any cycle_n choices in a row hit every server exactly by weight.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/atomics.h"
#include "model/backend.h"
#include "model/lineup.h"
#include "model/server.h"

struct turn_at {
	uint32_t server;
	uint32_t numerator;   /* 2k + 1 */
	uint32_t denominator; /* the weight */
};

static unsigned
gcd(unsigned a, unsigned b)
{
	while (b != 0) {
		unsigned rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* By time; equal times in the order of configuration. */
static int
compare_turns(const void *a, const void *b)
{
	const struct turn_at *x = a, *y = b;
	uint64_t left = (uint64_t)x->numerator * y->denominator;
	uint64_t right = (uint64_t)y->numerator * x->denominator;

	if (left != right)
		return left < right ? -1 : 1;
	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	return 0;
}

static void
list_turns(const struct lineup *lineup, unsigned divisor, struct turn_at *turns)
{
	size_t n = 0;

	for (unsigned i = 0; i < lineup->servers_n; i++) {
		unsigned weight = lineup->servers[i]->spec->weight / divisor;

		for (unsigned k = 0; k < weight; k++)
			turns[n++] = (struct turn_at){i, 2 * k + 1, weight};
	}
}

static int
prepare(struct lineup *lineup)
{
	unsigned divisor = 0;
	struct turn_at *turns;

	for (unsigned i = 0; i < lineup->servers_n; i++)
		divisor = gcd(lineup->servers[i]->spec->weight, divisor);
	lineup->cycle_n = 0;
	for (unsigned i = 0; i < lineup->servers_n; i++)
		lineup->cycle_n += lineup->servers[i]->spec->weight / divisor;
	turns = calloc(lineup->cycle_n, sizeof(*turns));
	lineup->cycle = calloc(lineup->cycle_n, sizeof(*lineup->cycle));
	if (!turns || !lineup->cycle) {
		free(turns);
		return -ENOMEM;
	}
	list_turns(lineup, divisor, turns);
	qsort(turns, lineup->cycle_n, sizeof(*turns), compare_turns);
	for (size_t i = 0; i < lineup->cycle_n; i++)
		lineup->cycle[i] = turns[i].server;
	free(turns);
	return 0;
}

static bool
was_tried(
    const struct server *server, struct server *const *tried, unsigned tried_n)
{
	for (unsigned i = 0; i < tried_n; i++)
		if (tried[i] == server)
			return true;
	return false;
}

static struct server *
choose(struct backend *backend, const struct lineup *lineup,
    struct server *const *tried, unsigned tried_n)
{
	uint64_t place = atomic_add_relaxed(&backend->cursor, 1u);
	struct server *first =
	    lineup->servers[lineup->cycle[place % lineup->cycle_n]];

	if (!was_tried(first, tried, tried_n))
		return first;
	for (size_t i = 1; i < lineup->cycle_n; i++) {
		struct server *s =
		    lineup
		        ->servers[lineup->cycle[(place + i) % lineup->cycle_n]];

		if (!was_tried(s, tried, tried_n))
			return s;
	}
	return first;
}

const struct balance_ops balance_roundrobin = {
    .name = "roundrobin", .prepare = prepare, .choose = choose};
