/* SPDX-License-Identifier: MIT
 * What the laboratory changes in the core, by --wrap of the linker.
 */
#include <time.h>
#include <unistd.h>

#include "lab.h"
#include "lf/event_handler.h"
#include "lf/promotion_mutex.h"

struct lab_faults lab_faults;

enum turn __real_event_handler_run(
    struct event_handler *handler, struct pool_thread *self);
enum turn __wrap_event_handler_run(
    struct event_handler *handler, struct pool_thread *self);
uint64_t __real_policy_calibrate(void);
uint64_t __wrap_policy_calibrate(void);
int __real_pool_new(const struct pool_options *options, struct pool **ret_pool);
int __wrap_pool_new(const struct pool_options *options, struct pool **ret_pool);

static bool
unlucky(unsigned permille)
{
	static __thread uint32_t seed;

	if (seed == 0)
		seed = (uint32_t)gettid() * 2654435761u | 1u;
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % 1000 < permille;
}

/* Slots are given out one after the other, so of a hundred sessions that are
 * open at a time about slow_percent are slow ones. */
static bool
slow(const struct event_handler *handler)
{
	if (handler->first_side == HANDLE_LISTENER)
		return false;
	return handler->slot % 100 < lab_faults.slow_percent ||
	       (lab_faults.slow_permille > 0 &&
	           unlucky(lab_faults.slow_permille));
}

static bool
busy(const struct event_handler *handler)
{
	return handler->first_side != HANDLE_LISTENER &&
	       lab_faults.busy_permille > 0 &&
	       unlucky(lab_faults.busy_permille);
}

static uint64_t
thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Computes for so much of the thread's CPU time: preemption does not shorten
 * the work. */
static void
compute(unsigned us)
{
	uint64_t until_ns = thread_cpu_ns() + us * 1000ull;

	while (thread_cpu_ns() < until_ns)
		for (volatile unsigned i = 0; i < 500; i++)
			;
}

/* A handler that blocks, as one does that reads a file or asks a resolver, or
 * that computes, as a TLS handshake does. */
enum turn
__wrap_event_handler_run(
    struct event_handler *handler, struct pool_thread *self)
{
	if (slow(handler)) {
		struct timespec ts = {
		    .tv_sec = lab_faults.slow_ms / 1000,
		    .tv_nsec = lab_faults.slow_ms % 1000 * 1000000L,
		};

		nanosleep(&ts, NULL);
	}
	if (busy(handler))
		compute(lab_faults.busy_us);
	return __real_event_handler_run(handler, self);
}

uint64_t
__wrap_policy_calibrate(void)
{
	return lab_faults.wake_ns > 0 ? lab_faults.wake_ns
	                              : __real_policy_calibrate();
}

int
__wrap_pool_new(const struct pool_options *options, struct pool **ret_pool)
{
	struct pool_options mine = *options;

	if (lab_faults.mutex)
		mine.promotion = &promotion_mutex;
	if (lab_faults.awake_ns > 0)
		mine.awake_ns = lab_faults.awake_ns;
	return __real_pool_new(&mine, ret_pool);
}
