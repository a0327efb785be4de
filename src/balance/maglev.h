/* SPDX-License-Identifier: MIT
 * The table of hashes, Maglev's (Eisenbud et al., "Maglev: a fast and reliable
 * software network load balancer", NSDI 2016, section 3.4): every server
 * prefers the table's cells in an order that follows from its name alone, and
 * the servers take turns, by weight, in taking the first of theirs that is
 * free. So every lfproxy with the same names makes the same table, whatever the
 * order in the file, and a server that goes takes little but its own cells
 * along.
 *
 * A table takes a millisecond or two of the control thread, and a lineup some
 * ten microseconds.  So lineups share one while it suits them (hash_prepare).
 * What it is of is remembered by name and id, as models come and go.
 *
 * Control thread, but for the cells, which never change.
 */
#ifndef BALANCE_MAGLEV_H
#define BALANCE_MAGLEV_H

#include <stdbool.h>
#include <stdint.h>

struct lineup;

/* A prime, as the paper wants it: its smaller one.  With 1 000 servers a share
 * is still exact to 2 %. */
#define MAGLEV_CELLS 65537u

/* A server that the table has cells for. */
struct seat {
	unsigned id;
	uint32_t weight;
	uint32_t name; /* where it begins among the names */
};

struct maglev {
	unsigned refs;
	uint32_t seats_n;
	uint64_t weight_sum;
	uint64_t made_ms;
	struct seat *seats; /* in one block with the table */
	char *names;
	uint32_t cells[MAGLEV_CELLS]; /* each has a seat's number */
};

/* Of the servers and weights of a lineup, in its order: a seat's number is a
 * place.  NULL when memory is short. */
struct maglev *maglev_new(const struct lineup *lineup);
struct maglev *maglev_ref(struct maglev *table);
void maglev_unref(struct maglev *table);

/* Whether the lineup has the same servers, in the same order, and weights. */
bool maglev_is_of(const struct maglev *table, const struct lineup *lineup);

/* The place of each seat's server in the lineup, PLACE_NONE: it has none.  True
 * when seven eighths of the table at least are what the lineup wants: the
 * smaller of both shares of each server, together. */
bool maglev_find_seats(const struct maglev *table, const struct lineup *lineup,
    uint32_t *ret_places);

/* The name of the server that has a cell. */
const char *maglev_name(const struct maglev *table, uint32_t cell);

#endif
