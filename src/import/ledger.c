/* SPDX-License-Identifier: MIT
 * See ledger.h.
 */
#include "import/ledger.h"

#include <string.h>

struct ledger_row *
ledger_add(struct arena *arena, struct ledger *ledger, struct origin at,
    const char *text, const struct words *words)
{
	struct ledger_row *row = arena_alloc(arena, sizeof(*row));

	row->at = at;
	row->at.row = row;
	row->text = text;
	if (words)
		row->words = *words;
	if (ledger->last)
		ledger->last->next = row;
	else
		ledger->first = row;
	ledger->last = row;
	return row;
}

bool
ledger_said(struct arena *arena, struct ledger_row *row, const char *text)
{
	if (words_has(&row->said, text))
		return true;
	words_add(arena, &row->said, text);
	return false;
}

void
ledger_differs(struct ledger_row *row, enum loss loss, const char *words,
    const char *reason)
{
	if (!row)
		return;
	if (!row->differs || row->loss < loss) {
		row->loss = loss;
		row->reason = reason;
	}
	row->differs = true;
	row->whole |= strcmp(words, row->text) == 0;
}

const char *
ledger_unread(struct arena *arena, const struct ledger_row *row)
{
	return row->whole ? NULL : words_unread(arena, &row->words);
}

const char *
ledger_sum(struct arena *arena, const struct ledger *ledger)
{
	static const char *const whom[] = {
	    [LOSS_OPERATORS] = "operators",
	    [LOSS_SERVERS] = "servers",
	    [LOSS_CLIENTS] = "clients",
	};
	struct arena_text text = {NULL, 0, 0};
	size_t exact = 0, n[LOSS_CLIENTS + 1] = {0};
	bool first = true;

	for (const struct ledger_row *r = ledger->first; r; r = r->next) {
		exact += !r->differs;
		n[r->loss] += r->differs;
	}
	arena_text_printf(
	    arena, &text, "%zu line%s exact", exact, exact == 1 ? "" : "s");
	for (size_t i = 0; i <= LOSS_CLIENTS; i++) {
		if (n[i] == 0)
			continue;
		arena_text_printf(arena, &text, ", %zu %sfor %s", n[i],
		    !first      ? ""
		    : n[i] == 1 ? "differs "
		                : "differ ",
		    whom[i]);
		first = false;
	}
	return text.data;
}

void
ledger_print_lost(const struct ledger *ledger, FILE *out)
{
	size_t n = 0;

	for (const struct ledger_row *r = ledger->first; r && n < 20;
	     r = r->next)
		if (r->differs && r->loss == LOSS_CLIENTS && r->reason) {
			fprintf(out, "%s:%u: %.200s: %s\n", r->at.file,
			    r->at.line, r->text, r->reason);
			n++;
		}
}

bool
ledger_is_noticed(const struct ledger *ledger)
{
	for (const struct ledger_row *r = ledger->first; r; r = r->next)
		if (r->differs && r->loss >= LOSS_SERVERS)
			return true;
	return false;
}
