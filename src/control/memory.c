/* SPDX-License-Identifier: MIT
 * See memory.h.
 */
#include "control/memory.h"

#include <malloc.h>

#include "base/ensure.h"
#include "base/events.h"
#include "check/library_memory.h"
#include "control/control_internal.h"
#include "control/system_facts.h"
#include "lf/event_handler.h"
#include "model/model_memory.h"

void
memory_rows_add(struct memory_rows *rows, const char *what,
    const struct memory_use *use, uint64_t kernel, const char *note)
{
	ENSURE(rows->n < MEMORY_ROWS_MAX);
	rows->rows[rows->n++] = (struct memory_row){
	    .what = what, .use = *use, .kernel = kernel, .note = note};
}

static void
add(struct memory_rows *rows, const char *what, struct memory_use use)
{
	memory_rows_add(rows, what, &use, 0, NULL);
}

static void
add_proxy(struct memory_rows *rows, const struct proxy *proxy)
{
	struct proxy_memory m;

	proxy_memory(proxy, &m);
	memory_rows_add(rows, "sessions", &m.sessions, 0,
	    "the slab keeps those that have ended for later");
	memory_rows_add(rows, "inspections", &m.inspections, 0,
	    "what was read before a server was chosen");
	memory_rows_add(rows, "session deadlines", &m.deadlines, 0, NULL);
	memory_rows_add(rows, "pending buffers", &m.pending_pool, 0,
	    "at most: touched as far as they were filled");
	memory_rows_add(rows, "closed sessions", &m.closed, 0,
	    "a ring for each thread, touched as far as it was filled");
	add(rows, "event handlers", event_handler_memory());
}

static void
add_pipes(struct memory_rows *rows, struct control *c)
{
	struct memory_use use = {.count = splice_pool_status(&c->proxy.pipes).open};

	memory_add_block(&use, c->proxy.pipes.pipes);
	memory_rows_add(rows, "splice pipes", &use,
	    splice_pool_bytes(&c->proxy.pipes), "in the kernel when full");
}

static void
add_pools(struct memory_rows *rows, const struct control *c)
{
	struct memory_use threads = {.count = 0}, shards = threads;
	struct memory_use buffers = threads, more;

	for (size_t i = 0; i < pools_count(c->pools); i++) {
		const struct pool *pool = pools_at(c->pools, i);
		struct memory_use other;

		pool_memory(pool, &more, &other);
		memory_add(&threads, &more);
		memory_add(&shards, &other);
		pool_memory_local(pool, &more);
		memory_add(&buffers, &more);
	}
	memory_rows_add(
	    rows, "threads", &threads, 0, "with histograms; without stacks");
	add(rows, "relay buffers", buffers);
	add(rows, "pools and shards", shards);
}

static void
add_model(struct memory_rows *rows, const struct model *model)
{
	struct model_memory m;

	model_memory(model, &m);
	add(rows, "configuration", m.spec);
	add(rows, "frontends", m.frontends);
	add(rows, "backends", m.backends);
	add(rows, "servers", m.servers);
	add(rows, "counters", m.counters);
	add(rows, "histograms", m.histograms);
	memory_rows_add(
	    rows, "lineups", &m.lineups, 0, "with cycles and hash tables");
	add(rows, "source port rings", m.ports);
	memory_rows_add(rows, "former models", &m.retired, 0,
	    "until their sessions have ended");
	add(rows, "removed servers", m.removed);
}

void
memory_rows_fill(struct memory_rows *rows, struct control *control)
{
	struct memory_use self = {.count = 1};

	add_proxy(rows, &control->proxy);
	add_pipes(rows, control);
	add_pools(rows, control);
	add_model(rows, control->model);
	add(rows, "listeners", listeners_memory(control->listeners));
	add(rows, "checks", checker_memory(control->checker));
	memory_rows_add(rows, "curl", &(struct memory_use){0}, 0, NULL);
	rows->rows[rows->n - 1].use = library_memory_curl();
	memory_rows_add(rows, "OpenSSL", &(struct memory_use){0}, 0,
	    "certificates that are trusted, and checks");
	rows->rows[rows->n - 1].use = library_memory_openssl();
	add(rows, "log", log_memory());
	add(rows, "events", events_memory());
	memory_add_block(&self, control);
	memory_add_block(&self, control->files);
	for (size_t i = 0; i < control->files_n; i++)
		memory_add_block(&self, control->files[i]);
	memory_add_block(&self, control->capacity.pools);
	add(rows, "control", self);
}

void
memory_totals_read(struct memory_totals *ret_totals)
{
	struct mallinfo2 info = mallinfo2();
	struct memory_totals *t = ret_totals;

	*t = (struct memory_totals){
	    .heap = info.uordblks + info.hblkhd, .heap_idle = info.fordblks};
	(void)system_resident(&t->resident);
}
