/* SPDX-License-Identifier: MIT
 * See capacity.h: the rows.
 */
#include <stdio.h>
#include <unistd.h>

#include "control/capacity.h"
#include "control/capacity_internal.h"
#include "control/control_internal.h"
#include "net/sock.h"

/* -- of the process -- */

static enum found
row_descriptors(struct control *c, struct capacity_row *row)
{
	uint64_t ignored;

	if (!system_descriptors(&ignored))
		row->note = "sessions, pipes, and what was open at the start";
	return capacity_row_set(row, "descriptors",
	    (double)capacity_descriptors(c), (double)c->budget.descriptors,
	    &c->capacity.descriptors);
}

static enum found
row_sessions(struct control *c, struct capacity_row *row)
{
	return capacity_row_set(row, "sessions", proxy_sessions(&c->proxy),
	    (double)control_maxconn(c), &c->capacity.sessions);
}

static enum found
row_memory(struct control *c, struct capacity_row *row)
{
	uint64_t bytes;

	if (!system_resident(&bytes))
		return FOUND_NONE;
	capacity_row_set(row, "memory", (double)bytes,
	    (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
	    &c->capacity.resident);
	row->unit = CAPACITY_BYTES;
	row->note = "the limit is the machine's memory";
	capacity_row_set_trend(row, &c->capacity.resident, 1024);
	return FOUND_ROW;
}

static enum found
row_group(struct control *c, struct capacity_row *row)
{
	const struct cgroup_memory *g = &c->capacity.cgroup;
	uint64_t bytes, limit = 0;

	if (!g->used[0] || !system_number(g->used, &bytes))
		return FOUND_NONE;
	/* Without a limit, version 1 reports a number near 2^63. */
	if (!g->limit[0] || !system_number(g->limit, &limit) ||
	    limit > (uint64_t)INT64_MAX / 2)
		limit = 0;
	capacity_row_set(
	    row, "memory", (double)bytes, (double)limit, &c->capacity.group);
	snprintf(row->of, sizeof(row->of), "control group");
	row->unit = CAPACITY_BYTES;
	row->note = "of all in the group, the page cache included";
	capacity_row_set_trend(row, &c->capacity.group, 1024);
	return FOUND_ROW;
}

static enum found
row_pipes(struct control *c, struct capacity_row *row)
{
	struct splice_status s = splice_pool_status(&c->proxy.pipes);

	return capacity_row_set(
	    row, "pipes", s.open, s.max, &c->capacity.pipes);
}

static enum found
row_pages(struct control *c, struct capacity_row *row)
{
	uint64_t limit = 0;

	(void)system_number("/proc/sys/fs/pipe-user-pages-soft", &limit);
	row->note = geteuid() == 0
	                ? "root may have more"
	                : "the limit holds for all programs of this user";
	return capacity_row_set(row, "pipe pages",
	    (double)capacity_pipe_pages(c), (double)limit, &c->capacity.pages);
}

static enum found
row_tracked(struct control *c, struct capacity_row *row)
{
	uint64_t n, max = 0;

	if (!system_number(CAPACITY_CONNTRACK "count", &n))
		return FOUND_NONE;
	(void)system_number(CAPACITY_CONNTRACK "max", &max);
	row->note = "of the network namespace, all programs";
	return capacity_row_set(row, "tracked connections", (double)n,
	    (double)max, &c->capacity.tracked);
}

static enum found
row_overflows(struct control *c, struct capacity_row *row)
{
	uint64_t n, ignored;

	if (!system_listen_drops(&n, &ignored))
		return FOUND_NONE;
	row->note = "in total, of all listeners of all programs of the network "
	            "namespace";
	return capacity_row_set(
	    row, "backlog overflows", (double)n, 0, &c->capacity.overflows);
}

static enum found
row_drops(struct control *c, struct capacity_row *row)
{
	uint64_t n, ignored;

	if (!system_listen_drops(&ignored, &n))
		return FOUND_NONE;
	row->note = "in total, of all listeners of all programs of the network "
	            "namespace, overflows included";
	return capacity_row_set(
	    row, "backlog drops", (double)n, 0, &c->capacity.drops);
}

static enum found
find_process(struct control *c, struct capacity_scan *scan, size_t i,
    struct capacity_row *row)
{
	static enum found (*const rows[])(
	    struct control *, struct capacity_row *) = {row_descriptors,
	    row_sessions, row_memory, row_group, row_pipes, row_pages,
	    row_tracked, row_overflows, row_drops};

	(void)scan;
	return i < sizeof(rows) / sizeof(rows[0]) ? rows[i](c, row) : FOUND_END;
}

/* -- of what there are several -- */

static enum found
find_pool(struct control *c, struct capacity_scan *scan, size_t i,
    struct capacity_row *row)
{
	const struct capacity *k = &c->capacity;
	struct pool *pool;

	(void)scan;
	if (i >= pools_count(c->pools))
		return FOUND_END;
	if (i >= k->pools_n || k->pools[i].trend.n == 0)
		return FOUND_NONE;
	pool = pools_at(c->pools, i);
	capacity_row_set(row, "threads", k->pools[i].milli / 1000.0,
	    pool_threads(pool), &k->pools[i].trend);
	capacity_row_set_trend(row, &k->pools[i].trend, 1e-3);
	snprintf(row->of, sizeof(row->of), "pool %.200s", pool_name(pool));
	row->unit = CAPACITY_THREADS;
	row->note = "busy on average, in the last two seconds";
	return FOUND_ROW;
}

static enum found
find_listener(struct control *c, struct capacity_scan *scan, size_t i,
    struct capacity_row *row)
{
	char text[ADDR_TEXT_SIZE];
	struct listener_view view;
	uint32_t waiting, max;
	struct addr addr;

	(void)scan;
	if (!listeners_at(c->listeners, i, &view))
		return FOUND_END;
	addr = *view.addr;
	if (sock_backlog(view.fd, &waiting, &max))
		capacity_row_set(row, "backlog", waiting, max, view.trend);
	else
		row->note = view.held ? "disabled: nobody can connect"
		                      : "the kernel does not tell it of unix "
		                        "sockets";
	row->resource = "backlog";
	if (addr.sa.sa_family != AF_UNIX)
		(void)sock_local_addr(view.fd, &addr);
	snprintf(row->of, sizeof(row->of), "frontend %.120s %s", view.frontend,
	    addr_text(view.held ? view.addr : &addr, text));
	return FOUND_ROW;
}

static enum found
find_frontend(struct control *c, struct capacity_scan *scan, size_t i,
    struct capacity_row *row)
{
	const struct frontend *f;
	uint32_t max;

	(void)scan;
	if (i >= c->model->spec->frontends_n)
		return FOUND_END;
	f = c->model->frontends[i];
	max = atomic_load_relaxed(&f->state->maxconn);
	snprintf(row->of, sizeof(row->of), "frontend %.200s", f->spec->name);
	capacity_row_set(row, "sessions",
	    atomic_load_relaxed(&f->sessions->now),
	    max == FRONTEND_NO_LIMIT ? 0 : max, &f->state->trend);
	/* 0 is a limit, too. */
	row->limited = max != FRONTEND_NO_LIMIT;
	return FOUND_ROW;
}

static enum found
find_queue(struct control *c, struct capacity_scan *scan, size_t i,
    struct capacity_row *row)
{
	const struct backend *b;

	(void)scan;
	if (i >= c->model->spec->backends_n)
		return FOUND_END;
	b = c->model->backends[i];
	snprintf(row->of, sizeof(row->of), "backend %.200s", b->spec->name);
	return capacity_row_set(row, "queue",
	    atomic_load_relaxed(&b->state->queue.waiting.now),
	    b->spec->maxqueue, &b->state->trend);
}

/* -- all -- */

bool
capacity_next(struct control *control, struct capacity_scan *scan,
    struct capacity_row *ret_row)
{
	static enum found (*const kinds[])(struct control *,
	    struct capacity_scan *, size_t,
	    struct capacity_row *) = {find_process, find_pool, find_listener,
	    find_frontend, find_queue, capacity_find_server};

	while (scan->section < sizeof(kinds) / sizeof(kinds[0])) {
		struct capacity_row row = {.resource = NULL};

		switch (kinds[scan->section](control, scan, scan->i++, &row)) {
		case FOUND_ROW:
			*ret_row = row;
			return true;
		case FOUND_NONE:
			break;
		case FOUND_END:
			scan->section++;
			scan->i = 0;
			break;
		}
	}
	return false;
}
