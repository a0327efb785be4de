/* SPDX-License-Identifier: MIT
 * See memory.h.
 */
#include "live/memory.h"

#include <malloc.h>

#include "base/ensure.h"
#include "base/events.h"
#include "lf/event_handler.h"
#include "live/control_internal.h"
#include "loop/library_memory.h"
#include "model/model_memory.h"
#include "process/system_facts.h"
#include "tls/memory.h"

void
memory_rows_add(struct memory_rows *rows, const char *what,
    struct memory_use use, uint64_t kernel, const char *note)
{
	ENSURE(rows->n < MEMORY_ROWS_MAX);
	rows->rows[rows->n++] = (struct memory_row){
	    .what = what, .use = use, .kernel = kernel, .note = note};
}

static void
add_proxy(struct memory_rows *rows, const struct proxy *proxy)
{
	struct proxy_memory m;

	proxy_memory(proxy, &m);
	memory_rows_add(rows, "sessions", m.sessions, 0,
	    "the slab keeps ended sessions for reuse");
	memory_rows_add(rows, "inspections", m.inspections, 0,
	    "bytes that were read before a server was chosen");
	memory_rows_add(rows, "session deadlines", m.deadlines, 0, NULL);
	memory_rows_add(rows, "bandwidth records", m.bandwidth, 0,
	    "of sessions under a limit on their bandwidth");
	memory_rows_add(rows, "pending buffers", m.pending_pool, 0,
	    "at most: touched as far as they were filled");
	memory_rows_add(rows, "top clients", m.talkers, 0,
	    "counts of the clients with the most bytes, sessions and errors");
	memory_rows_add(rows, "closed sessions", m.closed, 0,
	    "a ring for each thread, touched as far as it was filled");
	memory_rows_add(rows, "failures", m.failures, 0,
	    "by cause and server; touched as far as they were used");
	memory_rows_add(
	    rows, "event handlers", event_handler_memory(), 0, NULL);
}

static void
add_pipes(struct memory_rows *rows, struct control *c)
{
	struct splice_status pipes =
	    splice_pool_status(&c->instance.proxy.pipes);
	struct memory_use use = {.count = pipes.open};

	memory_add_block(&use, c->instance.proxy.pipes.pipes);
	memory_rows_add(
	    rows, "splice pipes", use, pipes.bytes, "in the kernel when full");
}

static void
add_pools(struct memory_rows *rows, const struct control *c)
{
	struct memory_use threads = {.count = 0}, shards = threads;
	struct memory_use buffers = threads;

	for (size_t i = 0; i < pools_count(c->pools); i++) {
		const struct pool *pool = pools_at(c->pools, i);
		struct memory_use more, shards_more, local;

		pool_memory(pool, &more, &shards_more);
		pool_memory_local(pool, &local);
		memory_add(&threads, &more);
		memory_add(&shards, &shards_more);
		memory_add(&buffers, &local);
	}
	memory_rows_add(
	    rows, "threads", threads, 0, "with histograms; without stacks");
	memory_rows_add(rows, "relay buffers", buffers, 0, NULL);
	memory_rows_add(rows, "pools and shards", shards, 0, NULL);
}

static void
add_model(struct memory_rows *rows, const struct model *model)
{
	struct model_memory m;

	model_memory(model, &m);
	memory_rows_add(rows, "configuration", m.spec, 0, NULL);
	memory_rows_add(rows, "frontends", m.frontends, 0, NULL);
	memory_rows_add(rows, "backends", m.backends, 0, NULL);
	memory_rows_add(rows, "servers", m.servers, 0, NULL);
	memory_rows_add(rows, "counters", m.counters, 0, NULL);
	memory_rows_add(rows, "histograms", m.histograms, 0, NULL);
	memory_rows_add(
	    rows, "lineups", m.lineups, 0, "with cycles and hash tables");
	memory_rows_add(rows, "source port rings", m.ports, 0, NULL);
	memory_rows_add(rows, "tables of limits", m.tables, 0, NULL);
	memory_rows_add(rows, "address lists", m.lists, 0, NULL);
	memory_rows_add(rows, "former models", m.retired, 0,
	    "until their sessions have ended");
	memory_rows_add(rows, "removed servers", m.removed, 0, NULL);
}

void
memory_rows_fill(struct memory_rows *rows, struct control *control)
{
	struct memory_use self = {.count = 1}, sets = {.count = 0};

	add_proxy(rows, &control->instance.proxy);
	add_pipes(rows, control);
	add_pools(rows, control);
	add_model(rows, control->instance.model);
	memory_rows_add(
	    rows, "listeners", listeners_memory(control->listeners), 0, NULL);
	sets_memory(control, &sets);
	memory_rows_add(rows, "sets of servers", sets, 0, NULL);
	memory_rows_add(
	    rows, "checks", checker_memory(control->checker), 0, NULL);
	memory_rows_add(rows, "curl", library_memory_curl(), 0, NULL);
	memory_rows_add(rows, "OpenSSL", tls_memory_use(), 0,
	    "TLS connections, certificates, and checks");
	memory_rows_add(rows, "log", log_memory(), 0, NULL);
	memory_rows_add(rows, "events", events_memory(), 0, NULL);
	memory_add_block(&self, control);
	memory_add_block(&self, control->files);
	for (size_t i = 0; i < control->files_n; i++)
		memory_add_block(&self, control->files[i]);
	memory_rows_add(rows, "control", self, 0, NULL);
}

void
memory_totals_read(struct memory_totals *ret_totals)
{
	struct mallinfo2 info = mallinfo2();

	*ret_totals = (struct memory_totals){
	    .heap = info.uordblks + info.hblkhd, .heap_idle = info.fordblks};
	(void)system_resident(&ret_totals->resident);
}
