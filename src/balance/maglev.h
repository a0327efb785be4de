/* SPDX-License-Identifier: MIT
 * The table of hashes, Maglev's (Eisenbud et al., "Maglev: a fast and reliable
 * software network load balancer", NSDI 2016, section 3.4).  Each server
 * prefers the table's cells in an order that follows from its name alone, and
 * the servers take turns, by weight, in taking the first free cell of their
 * order.  So every lfproxy with the same names makes the same table, whatever
 * the order in the file, and when a server leaves, few keys besides its own
 * move.
 *
 * A table takes one or two milliseconds of the control thread, a lineup some
 * ten microseconds.  So lineups share a table while it suits them
 * (hash_prepare).  The table remembers its servers by name and id, because it
 * may outlive their model.
 *
 * All functions run on the control thread.  Cells never change; any thread
 * reads them.
 */
#ifndef BALANCE_MAGLEV_H
#define BALANCE_MAGLEV_H

#include <stdbool.h>
#include <stdint.h>

struct lineup;

/* The number of cells: the smaller of the paper's two primes.  With 1 000
 * servers a share is still exact to 2 %. */
#define MAGLEV_CELLS 65537u

/* A server that the table has cells for. */
struct seat {
	unsigned id;
	uint32_t weight;
	uint32_t name; /* the offset among the names */
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

/* Makes the table of a lineup's servers and weights, with one reference.  A
 * seat's number is the server's place in the lineup.  Returns NULL when memory
 * is short. */
struct maglev *maglev_new(const struct lineup *lineup);

/* Adds a reference.  Returns table. */
struct maglev *maglev_ref(struct maglev *table);

/* Drops a reference to a table; the last one frees it.  For
 * balance_ops.release. */
void maglev_unref(void *plan);

/* Returns whether the lineup has the servers of the table, in the same order
 * and with the same weights. */
bool maglev_is_of(const struct maglev *table, const struct lineup *lineup);

/* Writes the place of each seat's server in the lineup, PLACE_NONE if it is not
 * there.  Returns true if at least seven eighths of the table fit the lineup:
 * the sum, over the servers, of the smaller of their shares in the table and in
 * the lineup. */
bool maglev_find_seats(const struct maglev *table, const struct lineup *lineup,
    uint32_t *ret_places);

/* Returns the name of the server that has the cell. */
const char *maglev_name(const struct maglev *table, uint32_t cell);

#endif
