/* SPDX-License-Identifier: MIT
 * Code that the simulator and the cost model share beside the simulated
 * kernel: random numbers from the seed, and what the core calls if something is
 * wrong.
 */
#include "base/ensure.h"
#include "base/log.h"
#include "base/mix.h"
#include "sim/kernel.h"
#include "sim/sim.h"

static uint64_t random_state;

void
sim_seed(uint64_t seed)
{
	random_state = seed * 0x2545f4914f6cdd1du;
}

/* The sequence of splitmix64 from random_state on, see mix64. */
uint32_t
sim_random(uint32_t n)
{
	uint64_t drawn = mix64(random_state);

	random_state += 0x9e3779b97f4a7c15u;
	return (uint32_t)(((drawn >> 32) * n) >> 32);
}

_Noreturn void
ensure_failed(const char *condition, const char *file, int line)
{
	sim_fail(
	    "%s:%d: this must hold and does not: %s", file, line, condition);
}

/* Nothing that the core logs is expected. */
void
log_limited(struct log_limit *limit, enum log_level level, const char *fmt, ...)
{
	(void)limit;
	(void)level;
	sim_fail("the core logs: %s", fmt);
}
