/* SPDX-License-Identifier: MIT
 * See maglev.h.
 */
#include "balance/maglev.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "model/lineup.h"
#include "model/server.h"

/* How a server walks over the cells. */
struct walk {
	uint32_t place;
	uint32_t cell, skip;
	double due; /* its next turn, in virtual time */
	const char *name;
};

static const char *
name_at(const struct lineup *lineup, uint32_t place)
{
	return server_spec_hash_name(lineup->servers[place]->spec);
}

static int
compare_walks(const void *a, const void *b)
{
	const struct walk *x = a, *y = b;

	int order = strcmp(x->name, y->name);

	/* Two sets may have the same address. */
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

static struct walk *
list_walks(const struct lineup *lineup)
{
	struct walk *walks = calloc(lineup->servers_n, sizeof(*walks));

	if (!walks)
		return NULL;
	for (uint32_t i = 0; i < lineup->servers_n; i++) {
		const char *name = name_at(lineup, i);
		size_t len = strlen(name);

		walks[i] = (struct walk){.place = i,
		    .cell = (uint32_t)(XXH64(name, len, 1) % MAGLEV_CELLS),
		    .skip =
		        (uint32_t)(XXH64(name, len, 2) % (MAGLEV_CELLS - 1)) +
		        1,
		    .name = name};
	}
	qsort(walks, lineup->servers_n, sizeof(*walks), compare_walks);
	return walks;
}

/* Gives the server the first free cell of its order.  On average it skips a
 * dozen taken cells, which it looks up in a map that fits into the nearest
 * cache. */
static void
take_cell(struct maglev *table, uint8_t *taken, struct walk *walk)
{
	uint32_t cell = walk->cell;

	while (taken[cell / 8] >> cell % 8 & 1) {
		cell += walk->skip;
		if (cell >= MAGLEV_CELLS)
			cell -= MAGLEV_CELLS;
	}
	taken[cell / 8] |= (uint8_t)(1u << cell % 8);
	table->cells[cell] = walk->place;
	walk->cell = cell;
}

static void
fill_cells(
    struct maglev *table, struct walk *walks, const struct lineup *lineup)
{
	uint8_t map[MAGLEV_CELLS / 8 + 1] = {0};
	uint32_t heaviest = 0, taken = 0;

	for (uint32_t i = 0; i < lineup->servers_n; i++)
		if (lineup->weights[i] > heaviest)
			heaviest = lineup->weights[i];
	/* Each round gives a cell to the heaviest server.  A lighter server
	 * gets one in a share of the rounds that follows from its weight. */
	for (double round = 1.0; taken < MAGLEV_CELLS; round += 1.0)
		for (uint32_t i = 0;
		     i < lineup->servers_n && taken < MAGLEV_CELLS; i++) {
			struct walk *w = &walks[i];

			if (w->due >= round)
				continue;
			w->due += (double)heaviest / lineup->weights[w->place];
			take_cell(table, map, w);
			taken++;
		}
}

static struct maglev *
alloc_table(const struct lineup *lineup)
{
	uint32_t n = lineup->servers_n;
	size_t names_size = 0;
	struct maglev *table;

	for (uint32_t i = 0; i < n; i++)
		names_size += strlen(name_at(lineup, i)) + 1;
	table = malloc(sizeof(*table) + n * sizeof(struct seat) + names_size);
	if (!table)
		return NULL;
	table->seats = (struct seat *)(table + 1);
	table->names = (char *)(table->seats + n);
	return table;
}

static void
note_seats(struct maglev *table, const struct lineup *lineup)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < lineup->servers_n; i++) {
		const char *name = name_at(lineup, i);

		table->seats[i] = (struct seat){.id = lineup->servers[i]->id,
		    .weight = lineup->weights[i],
		    .name = end};
		strcpy(table->names + end, name);
		end += (uint32_t)strlen(name) + 1;
	}
	table->seats_n = lineup->servers_n;
	table->weight_sum = lineup->weight_sum;
}

struct maglev *
maglev_new(const struct lineup *lineup)
{
	struct walk *walks = list_walks(lineup);
	struct maglev *table = alloc_table(lineup);

	if (!walks || !table) {
		free(walks);
		free(table);
		return NULL;
	}
	fill_cells(table, walks, lineup);
	note_seats(table, lineup);
	table->made_ms = lineup->made_ms;
	table->refs = 1;
	free(walks);
	return table;
}

struct maglev *
maglev_ref(struct maglev *table)
{
	table->refs++;
	return table;
}

void
maglev_unref(void *plan)
{
	struct maglev *table = plan;

	if (--table->refs == 0)
		free(table);
}

static const char *
seat_name(const struct maglev *table, uint32_t seat)
{
	return table->names + table->seats[seat].name;
}

bool
maglev_is_of(const struct maglev *table, const struct lineup *lineup)
{
	if (table->seats_n != lineup->servers_n)
		return false;
	for (uint32_t i = 0; i < table->seats_n; i++)
		if (table->seats[i].weight != lineup->weights[i] ||
		    strcmp(seat_name(table, i), name_at(lineup, i)) != 0)
			return false;
	return true;
}

/* Returns the place of the seat's server in the lineup, or PLACE_NONE.  By now
 * another server may have its id, so the name is compared as well; a server
 * with the same name and another id counts as absent. */
static uint32_t
find_seat(
    const struct maglev *table, uint32_t seat, const struct lineup *lineup)
{
	unsigned id = table->seats[seat].id;
	uint32_t place =
	    id <= lineup->places_n ? lineup->places[id - 1] : PLACE_NONE;

	if (place == PLACE_NONE ||
	    strcmp(seat_name(table, seat), name_at(lineup, place)) != 0)
		return PLACE_NONE;
	return place;
}

bool
maglev_find_seats(const struct maglev *table, const struct lineup *lineup,
    uint32_t *ret_places)
{
	uint64_t right = 0;

	for (uint32_t i = 0; i < table->seats_n; i++) {
		uint32_t place = find_seat(table, i, lineup);
		uint64_t has, wants;

		ret_places[i] = place;
		if (place == PLACE_NONE)
			continue;
		has = table->seats[i].weight * lineup->weight_sum;
		wants = lineup->weights[place] * table->weight_sum;
		right += has < wants ? has : wants;
	}
	return 8 * right >= 7 * table->weight_sum * lineup->weight_sum;
}

const char *
maglev_name(const struct maglev *table, uint32_t cell)
{
	return seat_name(table, table->cells[cell]);
}
