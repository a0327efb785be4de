/* SPDX-License-Identifier: MIT
 * See cell.h.
 */
#include "tools/ends/cell.h"

#include <sys/mman.h>

#include "tools/peers.h"

#define LIMIT_MS 40000

static const char *const side_names[] = {"client", "server"};
static const char *const action_names[] = {
    "FIN", "RST", "FIN-RST", "silence", "cut", "alert", "garbage"};
static const char *const context_names[] = {"idle", "mid", "full", "unread"};
static const char *const mode_names[] = {"copy", "splice"};
const char *const policy_names[2] = {"always", "adaptive"};
/* Instead of a mode: bit 0 for the client's side, bit 1 for the server's. */
static const char *const tls_names[] = {"", "tls-c", "tls-s", "tls-cs"};

struct cell *cells, *me;
unsigned cells_n;
char certificate[96];
unsigned patience = 1;
static uint64_t limit_ms;

static bool
is_played(const struct cell *c)
{
	if (c->tls == 0)
		return c->action < TCP_ACTIONS;
	return c->mode == 0 &&
	       c->policy == (c->x + c->context + c->action) % 2 &&
	       (c->action < TCP_ACTIONS || c->tls & 1u << c->x);
}

/* Adds the cell of that number, if it is to be played. */
static void
make_cell(unsigned i)
{
	struct cell *c = &cells[cells_n];

	c->x = (enum side)(i % 2);
	c->action = (enum action)(i / 2 % ACTIONS);
	c->context = (enum context)(i / 2 / ACTIONS % CONTEXTS);
	c->mode = i / 2 / ACTIONS / CONTEXTS % 2;
	c->policy = i / 2 / ACTIONS / CONTEXTS / 2 % 2;
	c->tls = i / 2 / ACTIONS / CONTEXTS / 2 / 2;
	if (!is_played(c))
		return;
	snprintf(c->name, sizeof(c->name), "%s.%s.%s.%s.%s", side_names[c->x],
	    action_names[c->action], context_names[c->context],
	    c->tls ? tls_names[c->tls] : mode_names[c->mode],
	    policy_names[c->policy]);
	c->listener = peers_listen(&c->port);
	cells_n++;
}

void
cells_make(void)
{
	cells = mmap(NULL, CELLS_MAX * sizeof(*cells), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (cells == MAP_FAILED)
		tool_die(TOOL_SYSTEM, "mmap: %s", strerror(errno));
	for (unsigned i = 0; i < 2 * ACTIONS * CONTEXTS * 2 * 2 * 4; i++)
		make_cell(i);
}

void
cell_begin(struct cell *cell)
{
	me = cell;
	limit_ms = tool_now_ms() + LIMIT_MS * patience;
}

_Noreturn void
cell_wrong(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(me->wrong, sizeof(me->wrong), fmt, args);
	va_end(args);
	_exit(TOOL_FAILED);
}

void
cell_in_time(const char *what)
{
	if (tool_now_ms() > limit_ms)
		cell_wrong("too slow: %s", what);
}
