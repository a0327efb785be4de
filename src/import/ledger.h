/* SPDX-License-Identifier: MIT
 * The ledger of a conversion: a row for each line of the original, and for each
 * of its defaults that has no exact counterpart.
 *
 * A line is exact unless its row says for whom it differs.  A word of a line
 * that nothing has looked at has no part in the result, and is reported, so
 * that nothing of the original can vanish.
 */
#ifndef IMPORT_LEDGER_H
#define IMPORT_LEDGER_H

#include <stdio.h>

#include "import/value.h"
#include "vocabulary/loss.h"

/* The place in the source that a line or a word comes from. */
struct origin {
	const char *file; /* base name */
	unsigned line;
	struct ledger_row *row; /* or NULL */
	bool inherited;         /* by several sections, and told once */
};

struct ledger_row {
	struct ledger_row *next;
	struct origin at;
	const char *text;
	struct words words; /* shares its marks with the line; or empty */
	struct words said;  /* what was written about it already */
	const char *reason; /* why it differs, the worst */
	bool differs;
	bool whole; /* the line as a whole was reported, or has no effect */
	enum loss loss;
};

/* All zero is empty. */
struct ledger {
	struct ledger_row *first, *last;
};

/* Adds a row.  words may be NULL. */
struct ledger_row *ledger_add(struct arena *arena, struct ledger *ledger,
    struct origin at, const char *text, const struct words *words);

/* Returns whether the text was written about the row before, and notes that it
 * was. */
bool ledger_said(struct arena *arena, struct ledger_row *row, const char *text);

/* Notes that the row, or words of it, differ.  row may be NULL, and so may the
 * reason if another row has it. */
void ledger_differs(struct ledger_row *row, enum loss loss, const char *words,
    const char *reason);

/* Returns the words of the row that nothing has looked at, or NULL. */
const char *ledger_unread(struct arena *arena, const struct ledger_row *row);

/* Returns the ledger's sum: `37 lines exact, 2 differ for operators, 1 for
 * clients`. */
const char *ledger_sum(struct arena *arena, const struct ledger *ledger);

/* Writes the lines that clients notice, up to twenty, with their reasons. */
void ledger_print_lost(const struct ledger *ledger, FILE *out);

/* Returns whether clients or servers may notice a row. */
bool ledger_is_noticed(const struct ledger *ledger);

#endif
