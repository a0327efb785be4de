/* SPDX-License-Identifier: MIT
 * See capacity.h.
 */
#include "orders/capacity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mix.h"
#include "listeners/listener.h"
#include "listeners/listeners.h"
#include "model/model.h"
#include "model/source_ports.h"
#include "net/sock_options.h"
#include "orders/session_limits.h"
#include "pools/pools.h"
#include "proxy/acceptor.h"
#include "proxy/instance.h"

/* The common part of the names of the connection tracking files. */
#define CONNTRACK "/proc/sys/net/netfilter/nf_conntrack_"

/* -- samples -- */

/* Before Linux 6.2 this is the number that lfproxy knows of: those open at the
 * first sample, two for each pipe, one for each session, and one more if it has
 * a server. */
uint64_t
capacity_descriptors(const struct capacity *c)
{
	uint64_t n = c->own;

	if (system_descriptors(&n) || n == 0)
		return n;
	n += proxy_sessions(&c->instance->proxy) +
	     2ull * splice_pool_status(&c->instance->proxy.pipes).open;
	model_for_each_server (s, c->instance->model)
		n += atomic_load_relaxed(&s->sessions->now);
	return n;
}

static void
add_file_sample(struct trend *trend, const char *path, uint64_t unit)
{
	uint64_t n;

	if (path[0] && system_number(path, &n))
		trend_add(trend, n / unit);
}

static void
sample_system(struct capacity *c)
{
	uint64_t n, drops;

	if (c->cost.samples == 0)
		system_own_cgroup(&c->cgroup);
	if (system_resident(&n))
		trend_add(&c->resident, n / 1024);
	add_file_sample(&c->group, c->cgroup.used, 1024);
	add_file_sample(&c->tracked, CONNTRACK "count", 1);
	if (system_listen_drops(&n, &drops)) {
		trend_add(&c->overflows, n);
		trend_add(&c->drops, drops);
	}
}

static void
sample_all(struct capacity *c)
{
	struct splice_status pipes =
	    splice_pool_status(&c->instance->proxy.pipes);

	trend_add(&c->descriptors, capacity_descriptors(c));
	trend_add(&c->sessions, proxy_sessions(&c->instance->proxy));
	trend_add(&c->pipes, pipes.open);
	trend_add(&c->pages, pipes.pages);
	sample_system(c);
	pools_sample(c->pools);
	listeners_sample(c->listeners);
	model_sample(c->instance->model);
}

void
capacity_second(struct capacity *capacity)
{
	struct capacity *c = capacity;
	uint64_t from_ns, ignored;

	_Static_assert(TREND_STEP_S == 2, "every other second");
	c->odd = !c->odd;
	if (!c->odd)
		return;
	if (c->own == 0 && !system_descriptors(&ignored))
		c->own = limits_count_open();
	from_ns = clock_now_ns();
	sample_all(c);
	c->cost.last_ns = clock_now_ns() - from_ns;
	if (c->cost.last_ns > c->cost.longest_ns)
		c->cost.longest_ns = c->cost.last_ns;
	c->cost.samples++;
}

struct capacity_cost
capacity_cost(const struct capacity *capacity)
{
	return capacity->cost;
}

/* -- rows -- */

enum found {
	FOUND_END,  /* no such row, and none after it */
	FOUND_NONE, /* nothing to show for this index */
	FOUND_ROW,
};

/* Fills the row and returns FOUND_ROW.  A limit of 0 or UINT64_MAX means no
 * limit.  unit is the size of one of the trend's units. */
static enum found
set_row(struct capacity_row *row, const char *resource, double used,
    double limit, const struct trend *trend, double unit)
{
	row->resource = resource;
	row->known = true;
	row->used = used;
	row->limited = limit > 0 && limit < (double)UINT64_MAX;
	row->limit = limit;
	row->has_trend = trend_slope(trend, &row->per_s);
	row->per_s *= unit;
	return FOUND_ROW;
}

/* -- the process -- */

static enum found
row_descriptors(struct capacity *c, struct capacity_row *row)
{
	uint64_t ignored;

	if (!system_descriptors(&ignored))
		row->note =
		    "sessions, pipes, and descriptors open at the start";
	return set_row(row, "descriptors", (double)capacity_descriptors(c),
	    (double)c->limits->budget.descriptors, &c->descriptors, 1);
}

static enum found
row_sessions(struct capacity *c, struct capacity_row *row)
{
	return set_row(row, "sessions", proxy_sessions(&c->instance->proxy),
	    (double)session_limits_maxconn(c->limits), &c->sessions, 1);
}

static enum found
row_memory(struct capacity *c, struct capacity_row *row)
{
	uint64_t bytes;

	if (!system_resident(&bytes))
		return FOUND_NONE;
	row->unit = CAPACITY_BYTES;
	row->note = "the limit is the machine's memory";
	return set_row(row, "memory", (double)bytes,
	    (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
	    &c->resident, 1024);
}

static enum found
row_group(struct capacity *c, struct capacity_row *row)
{
	const struct cgroup_memory *g = &c->cgroup;
	uint64_t bytes, limit = 0;

	if (!g->used[0] || !system_number(g->used, &bytes))
		return FOUND_NONE;
	/* Without a limit, version 1 reports a number near 2^63. */
	if (!g->limit[0] || !system_number(g->limit, &limit) ||
	    limit > (uint64_t)INT64_MAX / 2)
		limit = 0;
	snprintf(row->of, sizeof(row->of), "control group");
	row->unit = CAPACITY_BYTES;
	row->note = "of all in the group, the page cache included";
	return set_row(
	    row, "memory", (double)bytes, (double)limit, &c->group, 1024);
}

static enum found
row_pipes(struct capacity *c, struct capacity_row *row)
{
	struct splice_status s = splice_pool_status(&c->instance->proxy.pipes);

	return set_row(row, "pipes", s.open, s.max, &c->pipes, 1);
}

static enum found
row_pages(struct capacity *c, struct capacity_row *row)
{
	uint64_t limit = 0;

	(void)system_number("/proc/sys/fs/pipe-user-pages-soft", &limit);
	row->note = geteuid() == 0
	                ? "root may have more"
	                : "the limit holds for all programs of this user";
	return set_row(row, "pipe pages",
	    (double)splice_pool_status(&c->instance->proxy.pipes).pages,
	    (double)limit, &c->pages, 1);
}

static enum found
row_tracked(struct capacity *c, struct capacity_row *row)
{
	uint64_t n, max = 0;

	if (!system_number(CONNTRACK "count", &n))
		return FOUND_NONE;
	(void)system_number(CONNTRACK "max", &max);
	row->note = "of the network namespace, all programs";
	return set_row(
	    row, "tracked connections", (double)n, (double)max, &c->tracked, 1);
}

static enum found
row_overflows(struct capacity *c, struct capacity_row *row)
{
	uint64_t n, ignored;

	if (!system_listen_drops(&n, &ignored))
		return FOUND_NONE;
	row->note = "in total, of all listeners of all programs of the network "
	            "namespace";
	return set_row(
	    row, "backlog overflows", (double)n, 0, &c->overflows, 1);
}

static enum found
row_drops(struct capacity *c, struct capacity_row *row)
{
	uint64_t n, ignored;

	if (!system_listen_drops(&ignored, &n))
		return FOUND_NONE;
	row->note = "in total, of all listeners of all programs of the network "
	            "namespace, overflows included";
	return set_row(row, "backlog drops", (double)n, 0, &c->drops, 1);
}

static enum found
find_process(
    struct capacity *c, struct capacity_scan *scan, struct capacity_row *row)
{
	static enum found (*const rows[])(
	    struct capacity *, struct capacity_row *) = {row_descriptors,
	    row_sessions, row_memory, row_group, row_pipes, row_pages,
	    row_tracked, row_overflows, row_drops};

	return scan->i < sizeof(rows) / sizeof(rows[0]) ? rows[scan->i](c, row)
	                                                : FOUND_END;
}

/* -- pools, listeners, frontends, backends -- */

static enum found
find_pool(
    struct capacity *c, struct capacity_scan *scan, struct capacity_row *row)
{
	const struct pool_load *load;
	struct pool *pool;

	if (scan->i >= pools_count(c->pools))
		return FOUND_END;
	load = pools_load_at(c->pools, scan->i);
	if (load->trend.n == 0)
		return FOUND_NONE;
	pool = pools_at(c->pools, scan->i);
	snprintf(row->of, sizeof(row->of), "pool %.200s", pool_name(pool));
	row->unit = CAPACITY_THREADS;
	row->note = "busy on average, in the last two seconds";
	return set_row(row, "threads", load->milli * 1e-3,
	    pools_own_threads(c->pools, pool), &load->trend, 1e-3);
}

static enum found
find_listener(
    struct capacity *c, struct capacity_scan *scan, struct capacity_row *row)
{
	const struct listener *l = listeners_at(c->listeners, scan->i);
	char text[ADDR_TEXT_SIZE];
	uint32_t waiting, max;
	struct addr addr;

	if (!l)
		return FOUND_END;
	addr = listener_bound_addr(l);
	if (sock_backlog(acceptor_fd(l->acceptor), &waiting, &max))
		set_row(row, "backlog", waiting, max, &l->trend, 1);
	else
		row->note =
		    l->held ? "disabled: no client can connect"
		            : "the kernel does not report it for unix sockets";
	row->resource = "backlog";
	snprintf(row->of, sizeof(row->of), "frontend %.120s %s", l->frontend,
	    addr_text(&addr, text));
	return FOUND_ROW;
}

static enum found
find_frontend(
    struct capacity *c, struct capacity_scan *scan, struct capacity_row *row)
{
	const struct frontend *f;
	uint32_t max;

	if (scan->i >= c->instance->model->spec->frontends_n)
		return FOUND_END;
	f = c->instance->model->frontends[scan->i];
	max = atomic_load_relaxed(&f->state->maxconn);
	snprintf(row->of, sizeof(row->of), "frontend %.200s", f->spec->name);
	set_row(row, "sessions", atomic_load_relaxed(&f->sessions->now),
	    max == FRONTEND_NO_LIMIT ? 0 : max, &f->state->trend, 1);
	/* A maxconn of 0 is a limit, too. */
	row->limited = max != FRONTEND_NO_LIMIT;
	return FOUND_ROW;
}

static enum found
find_queue(
    struct capacity *c, struct capacity_scan *scan, struct capacity_row *row)
{
	const struct backend *b;

	if (scan->i >= c->instance->model->spec->backends_n)
		return FOUND_END;
	b = c->instance->model->backends[scan->i];
	snprintf(row->of, sizeof(row->of), "backend %.200s", b->spec->name);
	return set_row(row, "queue",
	    atomic_load_relaxed(&b->state->queue.waiting.now),
	    b->spec->maxqueue, &b->state->trend, 1);
}

/* -- servers, and the ports of connections to them -- */

/* Connections to one address from one source, of all servers together: the
 * system needs a port for each of them.  The slopes add up as the numbers
 * do. */
struct destination {
	uint64_t hash; /* 0: free */
	double used, per_s;
	bool has_trend;
};

struct destinations {
	size_t n; /* a power of two */
	struct destination at[];
};

static uint64_t
destination_hash(const struct server *s)
{
	const struct source_spec *source = server_source(s);
	const struct addr *to = server_addr(s);
	struct endpoint e;
	uint64_t hash;

	endpoint_set(&e, &to->sa, to->len);
	hash = endpoint_hash(&e, true);
	if (source->kind == SOURCE_ADDRESS &&
	    source->addr.sa.sa_family != AF_UNSPEC) {
		endpoint_set(&e, &source->addr.sa, source->addr.len);
		hash = mix64(hash) ^ endpoint_hash(&e, false);
	}
	return hash > 0 ? hash : 1;
}

static struct destination *
destination_of(struct destinations *d, uint64_t hash)
{
	size_t i = hash & (d->n - 1);

	while (d->at[i].hash != 0 && d->at[i].hash != hash)
		i = (i + 1) & (d->n - 1);
	return &d->at[i];
}

/* Returns whether the server takes its ports from those of the system.  A range
 * that the operator has set belongs to one server, and a client's address has
 * its own ports. */
static bool
shares_ports(const struct server *s)
{
	return !s->ports && server_source(s)->kind != SOURCE_CLIENT &&
	       server_addr(s)->sa.sa_family != AF_UNIX;
}

static void
add_destination(struct destinations *d, const struct server *s)
{
	uint64_t hash = destination_hash(s);
	struct destination *to = destination_of(d, hash);
	double per_s = 0;

	to->hash = hash;
	to->used += atomic_load_relaxed(&s->sessions->now);
	to->has_trend |= trend_slope(&s->state->trend, &per_s);
	to->per_s += per_s;
}

/* Returns the destinations of all servers that share ports, or NULL when memory
 * is short. */
static struct destinations *
list_destinations(const struct model *m)
{
	struct destinations *d;
	size_t servers = 1, n = 2;

	model_for_each_backend (b, m)
		servers += b->spec->servers_n;
	while (n < 2 * servers)
		n *= 2;
	d = calloc(1, sizeof(*d) + n * sizeof(d->at[0]));
	if (!d)
		return NULL;
	d->n = n;
	model_for_each_server (s, m)
		if (shares_ports(s))
			add_destination(d, s);
	return d;
}

static const struct server *
scan_server(const struct capacity *c, struct capacity_scan *scan)
{
	const struct spec *spec = c->instance->model->spec;

	while (scan->backend < spec->backends_n) {
		const struct server *s = server_cursor_get(
		    &scan->server, c->instance->model->backends[scan->backend]);

		if (s)
			return s;
		scan->backend++;
		scan->server = (struct server_cursor){.at = 0};
	}
	return NULL;
}

static void
row_name_server(
    struct capacity_row *row, const struct server *s, const char *what)
{
	snprintf(row->of, sizeof(row->of), "server %.100s/%.100s%s%.40s",
	    s->backend->spec->name, s->spec->name, *what ? " to " : "", what);
}

static enum found
row_server(const struct server *s, struct capacity_row *row)
{
	row_name_server(row, s, "");
	return set_row(row, "sessions", atomic_load_relaxed(&s->sessions->now),
	    server_maxconn(s), &s->state->trend, 1);
}

static void
set_shared_ports(const struct capacity_scan *scan, const struct server *s,
    struct capacity_row *row)
{
	uint64_t hash = destination_hash(s);
	const struct destination *to = destination_of(scan->destinations, hash);

	/* A server that was added after the destinations were listed is not
	 * among them. */
	row->known = to->hash == hash;
	row->used = to->used;
	row->limited = scan->ports > 0;
	row->limit = (double)scan->ports;
	row->has_trend = to->has_trend;
	row->per_s = to->per_s;
	row->note = "connections; connections in TIME_WAIT are not counted";
}

static enum found
row_ports(const struct capacity_scan *scan, const struct server *s,
    struct capacity_row *row)
{
	char text[ADDR_TEXT_SIZE];
	unsigned size, out;

	if (s->ports) {
		source_ports_count(s->ports, &size, &out);
		set_row(row, "source ports", out, size, &s->state->trend, 1);
		row->note = "of the range in source";
	} else if (shares_ports(s) && scan->destinations) {
		row->resource = "source ports";
		set_shared_ports(scan, s, row);
	} else {
		return FOUND_NONE;
	}
	row_name_server(row, s, addr_text(server_addr(s), text));
	return FOUND_ROW;
}

/* Fills the next row of the servers, which have two rows each. */
static enum found
find_server(
    struct capacity *c, struct capacity_scan *scan, struct capacity_row *row)
{
	const struct server *s = scan_server(c, scan);

	if (!s)
		return FOUND_END;
	if (scan->i == 0) {
		scan->destinations = list_destinations(c->instance->model);
		(void)system_ports(&scan->ports);
	}
	if (scan->i % 2 == 0)
		return row_server(s, row);
	server_cursor_pass(&scan->server, s);
	return row_ports(scan, s, row);
}

/* -- all rows -- */

bool
capacity_next(struct capacity *capacity, struct capacity_scan *scan,
    struct capacity_row *ret_row)
{
	static enum found (*const kinds[])(struct capacity *,
	    struct capacity_scan *, struct capacity_row *) = {find_process,
	    find_pool, find_listener, find_frontend, find_queue, find_server};

	for (; scan->section < sizeof(kinds) / sizeof(kinds[0]);
	     scan->section++, scan->i = 0) {
		enum found found;

		do {
			*ret_row = (struct capacity_row){.resource = NULL};
			found = kinds[scan->section](capacity, scan, ret_row);
			scan->i++;
		} while (found == FOUND_NONE);
		if (found == FOUND_ROW)
			return true;
	}
	return false;
}

void
capacity_scan_fini(struct capacity_scan *scan)
{
	free(scan->destinations);
}

double
capacity_full_in_s(const struct capacity_row *row)
{
	if (!row->known || !row->limited || !row->has_trend)
		return INFINITY;
	return trend_reaches_s(row->used, row->limit, row->per_s);
}
