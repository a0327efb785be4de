/* SPDX-License-Identifier: MIT
 * See cache.h.
 */
#include "sim/cost/cache.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "sim/cost/cpus.h"
#include "sim/sim.h"

#define LINES (1u << 20) /* a hash table, open addressing */

struct line {
	uintptr_t number; /* address / CACHE_LINE; 0: empty */
	uint64_t in;      /* a bit for each CPU whose cache has it */
	bool owned;       /* by the one CPU that has it */
	uint64_t busy_ns; /* when its present transfer ends */
};

static struct line lines[LINES];
static unsigned lines_n;

static struct line *
line_of(const volatile void *p)
{
	uintptr_t number = (uintptr_t)p / CACHE_LINE;
	uint32_t i = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 32) % LINES;

	while (lines[i].number != number) {
		if (lines[i].number == 0) {
			if (++lines_n > LINES / 2)
				sim_fail("too many cache lines are used");
			lines[i].number = number;
			break;
		}
		i = (i + 1) % LINES;
	}
	return &lines[i];
}

/* Brings the line here, behind the transfers that are under way.  Returns the
 * time that it takes. */
static uint64_t
transfer_ns(struct line *line)
{
	uint64_t now_ns = cpus_now_ns();
	uint64_t from_ns = line->busy_ns > now_ns ? line->busy_ns : now_ns;

	line->busy_ns = from_ns + cpus_costs()->line_transfer_ns;
	return line->busy_ns - now_ns;
}

void
cache_read(const volatile void *p)
{
	struct line *line = line_of(p);
	uint64_t here = 1ull << cpus_here(), ns = cpus_costs()->load_ns;

	if (!(line->in & here)) {
		ns += transfer_ns(line);
		line->in |= here;
		line->owned = false;
	}
	cpus_spend(ns);
}

void
cache_write(const volatile void *p)
{
	struct line *line = line_of(p);
	uint64_t here = 1ull << cpus_here(), ns = cpus_costs()->write_ns;

	if (line->in != here || !line->owned) {
		ns += transfer_ns(line);
		line->in = here;
		line->owned = true;
	}
	cpus_spend(ns);
}
