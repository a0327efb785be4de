/* SPDX-License-Identifier: MIT
 * The clock of a fuzz target, in the place of libc's: what waits in lfproxy, in
 * libev, or in libcurl for a time to come need not be waited for.
 */
#include <dlfcn.h>
#include <time.h>

#include "base/atomics.h"
#include "fuzz/fuzz.h"

#define NS_IN_S 1000000000

static uint64_t ahead_ns; /* relaxed: the threads of pools look at it, too */

void
fuzz_pass_ms(uint64_t ms)
{
	atomic_add_relaxed(&ahead_ns, ms * 1000000);
}

typedef int (*clock_call)(clockid_t id, struct timespec *ret_time);

static clock_call
find_real(void)
{
	static clock_call real; /* relaxed */
	clock_call call = atomic_load_relaxed(&real);

	if (!call) {
		call = (clock_call)dlsym(RTLD_NEXT, "clock_gettime");
		ENSURE(call);
		atomic_store_relaxed(&real, call);
	}
	return call;
}

int
clock_gettime(clockid_t id, struct timespec *ret_time)
{
	uint64_t ns;

	if (find_real()(id, ret_time) < 0)
		return -1;
	if (id == CLOCK_MONOTONIC) {
		ns = (uint64_t)ret_time->tv_nsec +
		     atomic_load_relaxed(&ahead_ns);
		ret_time->tv_sec += (time_t)(ns / NS_IN_S);
		ret_time->tv_nsec = (long)(ns % NS_IN_S);
	}
	return 0;
}
