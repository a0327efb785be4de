/* SPDX-License-Identifier: MIT
 * See capacity.h: the rows of servers, and the ports of connections to them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mix.h"
#include "control/capacity_internal.h"
#include "control/control_internal.h"
#include "model/for_each.h"
#include "model/source_ports.h"

/* Connections to one address from one source, whichever server they are to: the
 * system needs a port for each.  Slopes add up as the numbers do. */
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
hash_of(const struct server *s)
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
destination_of(const struct destinations *d, uint64_t hash)
{
	size_t i = hash & (d->n - 1);

	while (d->at[i].hash != 0 && d->at[i].hash != hash)
		i = (i + 1) & (d->n - 1);
	return (struct destination *)(uintptr_t)&d->at[i];
}

/* A range of the operator's is each server's own, and the client's address has
 * ports of its own. */
static bool
shares_ports(const struct server *s)
{
	return !s->ports && server_source(s)->kind != SOURCE_CLIENT &&
	       server_addr(s)->sa.sa_family != AF_UNIX;
}

static void
add_destination(const struct destinations *d, const struct server *s)
{
	uint64_t hash = hash_of(s);
	struct destination *to = destination_of(d, hash);
	double per_s = 0;

	to->hash = hash;
	to->used += atomic_load_relaxed(&s->sessions->now);
	to->has_trend |= trend_slope(&s->state->trend, &per_s);
	to->per_s += per_s;
}

/* NULL when memory is short. */
static struct destinations *
list_destinations(const struct model *m)
{
	struct destinations *d;
	size_t servers = 1, n = 2;

	for (size_t i = 0; i < m->spec->backends_n; i++)
		servers += m->spec->backends[i].servers_n;
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
server_at(const struct control *c, struct capacity_scan *scan)
{
	const struct spec *spec = c->model->spec;

	while (scan->backend < spec->backends_n) {
		const struct backend *b = c->model->backends[scan->backend];

		if (scan->server < b->spec->servers_n)
			return b->servers[scan->server];
		scan->backend++;
		scan->server = 0;
	}
	return NULL;
}

static void
name_server(struct capacity_row *row, const struct server *s, const char *what)
{
	snprintf(row->of, sizeof(row->of), "server %.100s/%.100s%s%.40s",
	    s->backend->spec->name, s->spec->name, *what ? " to " : "", what);
}

static enum found
row_server(const struct server *s, struct capacity_row *row)
{
	capacity_row_set(row, "sessions",
	    atomic_load_relaxed(&s->sessions->now), server_maxconn(s),
	    &s->state->trend);
	name_server(row, s, "");
	return FOUND_ROW;
}

static void
set_shared_ports(const struct capacity_scan *scan, const struct server *s,
    struct capacity_row *row)
{
	uint64_t hash = hash_of(s);
	const struct destination *to = destination_of(scan->destinations, hash);

	/* A server that was added after the destinations were listed is not
	 * among them. */
	row->known = to->hash == hash;
	row->used = to->used;
	row->limited = scan->ports > 0;
	row->limit = (double)scan->ports;
	row->has_trend = to->has_trend;
	row->per_s = to->per_s;
	row->note = "connections; those in TIME_WAIT are not counted";
}

static enum found
row_ports(const struct capacity_scan *scan, const struct server *s,
    struct capacity_row *row)
{
	char text[ADDR_TEXT_SIZE];
	unsigned size, out;

	if (s->ports) {
		source_ports_count(s->ports, &size, &out);
		capacity_row_set(
		    row, "source ports", out, size, &s->state->trend);
		row->note = "of the range in source";
	} else if (shares_ports(s) && scan->destinations) {
		row->resource = "source ports";
		set_shared_ports(scan, s, row);
	} else {
		return FOUND_NONE;
	}
	name_server(row, s, addr_text(server_addr(s), text));
	return FOUND_ROW;
}

/* Two rows for each. */
enum found
capacity_find_server(struct control *c, struct capacity_scan *scan, size_t i,
    struct capacity_row *row)
{
	const struct server *s = server_at(c, scan);

	if (!s)
		return FOUND_END;
	if (i == 0) {
		scan->destinations = list_destinations(c->model);
		(void)system_ports(&scan->ports);
	}
	if (i % 2 == 0)
		return row_server(s, row);
	scan->server++;
	return row_ports(scan, s, row);
}

void
capacity_scan_fini(struct capacity_scan *scan)
{
	free(scan->destinations);
}
