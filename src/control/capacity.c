/* SPDX-License-Identifier: MIT
 * See capacity.h: the samples.
 */
#include "control/capacity.h"

#include "base/clock.h"
#include "control/control_internal.h"
#include "model/model.h"

/* Without the kernel's word (before Linux 6.2) it is what lfproxy knows of: its
 * own of the first sample, two for each pipe, one for each session, and one
 * more if it has a server. */
uint64_t
capacity_descriptors(const struct control *c)
{
	uint64_t n = c->capacity.own;

	if (system_descriptors(&n))
		return n;
	n += proxy_sessions(&c->proxy) +
	     2ull * splice_pool_status(&c->proxy.pipes).open;
	model_for_each_server (s, c->model)
		n += atomic_load_relaxed(&s->sessions->now);
	return n;
}

uint64_t
capacity_pipe_pages(struct control *c)
{
	return splice_pool_status(&c->proxy.pipes).bytes / 4096;
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
	add_file_sample(&c->tracked, CAPACITY_CONNTRACK "count", 1);
	if (system_listen_drops(&n, &drops)) {
		trend_add(&c->overflows, n);
		trend_add(&c->drops, drops);
	}
}

static void
sample_all(struct control *control)
{
	struct capacity *c = &control->capacity;

	trend_add(&c->descriptors, capacity_descriptors(control));
	trend_add(&c->sessions, proxy_sessions(&control->proxy));
	trend_add(&c->pipes, splice_pool_status(&control->proxy.pipes).open);
	trend_add(&c->pages, capacity_pipe_pages(control));
	sample_system(c);
	pools_sample(control->pools);
	listeners_sample(control->listeners);
	model_sample(control->model);
}

void
capacity_second(struct control *control)
{
	struct capacity *c = &control->capacity;
	uint64_t from_ns, ignored;

	_Static_assert(TREND_STEP_S == 2, "every other second");
	c->odd = !c->odd;
	if (!c->odd)
		return;
	if (c->own == 0 && !system_descriptors(&ignored))
		c->own = limits_count_open();
	from_ns = clock_now_ns();
	sample_all(control);
	c->cost.last_ns = clock_now_ns() - from_ns;
	if (c->cost.last_ns > c->cost.longest_ns)
		c->cost.longest_ns = c->cost.last_ns;
	c->cost.samples++;
}

struct capacity_cost
capacity_cost(const struct control *control)
{
	return control->capacity.cost;
}
