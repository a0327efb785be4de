/* SPDX-License-Identifier: MIT
 * See session_sort.h.
 */
#include "commands/session_sort.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 256u

bool
session_sort_take(struct call *call, struct session_sort *sort,
    const char *word, const char *value, bool *ret_taken)
{
	static const char *const keys[] = {[SESSION_BY_BYTES] = "bytes",
	    [SESSION_BY_BYTES_IN] = "bytes-in",
	    [SESSION_BY_BYTES_OUT] = "bytes-out",
	    [SESSION_BY_DURATION] = "duration"};

	*ret_taken = strcmp(word, "sort") == 0;
	if (!*ret_taken)
		return true;
	for (enum session_key k = SESSION_BY_BYTES; k <= SESSION_BY_DURATION;
	     k++)
		if (strcmp(value, keys[k]) == 0) {
			sort->key = k;
			return true;
		}
	return err_set(call->err,
	    "Sessions cannot be sorted by '%s'; the keys are bytes, bytes-in, "
	    "bytes-out and duration.",
	    value);
}

uint64_t
session_sort_key(const struct session_sort *sort, uint64_t bytes_in,
    uint64_t bytes_out, uint64_t duration_ms)
{
	switch (sort->key) {
	case SESSION_BY_BYTES_IN:
		return bytes_in;
	case SESSION_BY_BYTES_OUT:
		return bytes_out;
	case SESSION_BY_DURATION:
		return duration_ms;
	default:
		return bytes_in + bytes_out;
	}
}

static int
by_key(const void *a, const void *b)
{
	const struct session_ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static void
sort_rows(struct session_sort *sort)
{
	if (sort->n > 0)
		qsort(sort->rows, sort->n, sizeof(sort->rows[0]), by_key);
}

/* Makes room for another row: drops rows if there are more than twice as many
 * as are wanted, so that a row is seldom moved. */
static bool
make_room(struct session_sort *sort, size_t max)
{
	size_t room = sort->room > 0 ? 2 * sort->room : ROOM_MIN;
	struct session_ranked *grown;

	if (sort->n < sort->room)
		return true;
	if (sort->n / 2 >= max) {
		sort_rows(sort);
		while (sort->n > max)
			free(sort->rows[--sort->n].record);
		return true;
	}
	grown = realloc(sort->rows, room * sizeof(sort->rows[0]));
	if (!grown)
		return false;
	sort->rows = grown;
	sort->room = room;
	return true;
}

bool
session_sort_add(
    struct session_sort *sort, const struct session_ranked *row, size_t max)
{
	if (!make_room(sort, max)) {
		free(row->record);
		return false;
	}
	sort->rows[sort->n++] = *row;
	return true;
}

const struct session_ranked *
session_sort_next(struct session_sort *sort)
{
	if (!sort->collected)
		sort_rows(sort);
	sort->collected = true;
	return sort->next < sort->n ? &sort->rows[sort->next++] : NULL;
}

void
session_sort_fini(struct session_sort *sort)
{
	for (size_t i = 0; i < sort->n; i++)
		free(sort->rows[i].record);
	free(sort->rows);
}
