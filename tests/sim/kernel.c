/* SPDX-License-Identifier: MIT
 * What the core asks of the C library and the kernel, simulated: hooks.h leads
 * here.
 */
#include "sim/kernel.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "sim/sim.h"

/* One wait in so many ends at once and for no reason, as it may. */
#define SPURIOUS 64

#define THREADS 2048

static int nices[THREADS];
static bool idle[THREADS], may_not_return;

void
sim_forget_nice(void)
{
	memset(nices, 0, sizeof(nices));
	memset(idle, 0, sizeof(idle));
	may_not_return = false;
}

void
sim_let_return(bool may)
{
	may_not_return = !may;
}

static unsigned
thread_of(int tid)
{
	return tid > 0 ? (unsigned)tid : sim_self();
}

int
sim_nice(int tid)
{
	return nices[thread_of(tid)];
}

bool
sim_is_idle(int tid)
{
	return idle[thread_of(tid)];
}

int
sim_set_nice(int tid, int nice, const char *function, int line)
{
	sim_point("nice", function, line);
	if (may_not_return && nice < sim_nice(tid)) {
		errno = EACCES;
		return -1;
	}
	nices[thread_of(tid)] = nice;
	return 0;
}

int
sim_set_class(int tid, int class, const char *function, int line)
{
	sim_point("class", function, line);
	idle[thread_of(tid)] = class == SCHED_IDLE;
	return 0;
}

/* A mutex's memory begins with whether it is held. */
static int *
held(pthread_mutex_t *mutex)
{
	return (int *)(void *)mutex;
}

void
sim_mutex_init(pthread_mutex_t *mutex)
{
	*held(mutex) = 0;
}

void
sim_mutex_lock(pthread_mutex_t *mutex, const char *function, int line)
{
	sim_point("lock", function, line);
	while (*held(mutex))
		(void)sim_block(mutex, SIM_NEVER, function, line);
	*held(mutex) = 1;
}

void
sim_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!*held(mutex))
		sim_fail("a mutex that no thread holds is unlocked");
	*held(mutex) = 0;
	sim_unblock_all(mutex);
}

int
sim_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex,
    const struct timespec *end, const char *function, int line)
{
	uint64_t until_ns = SIM_NEVER;
	bool timed_out = false;

	if (end)
		until_ns = (uint64_t)end->tv_sec * 1000000000u +
		           (uint64_t)end->tv_nsec;
	sim_mutex_unlock(mutex);
	if (!sim_by_chance(SPURIOUS)) {
		timed_out = !sim_block(cond, until_ns, function, line);
	}
	sim_mutex_lock(mutex, function, line);
	return timed_out ? ETIMEDOUT : 0;
}

void
sim_cond_signal(pthread_cond_t *cond)
{
	sim_unblock_one(cond);
}

void
sim_cond_broadcast(pthread_cond_t *cond)
{
	sim_unblock_all(cond);
}

int
sim_thread_create(pthread_t *id, void *(*main)(void *arg), void *arg)
{
	unsigned started = sim_start(main, arg);

	nices[started] = nices[sim_self()];
	idle[started] = false;
	*id = 1 + started;
	return 0;
}

void
sim_thread_join(pthread_t id)
{
	unsigned thread = (unsigned)id - 1;

	while (!sim_forget(thread))
		(void)sim_block(sim_end_of(thread), SIM_NEVER, "join", 0);
}

void
sim_yield(const char *function, int line)
{
	sim_record("yield", function, line);
	sim_step_back();
}

int
sim_cpus(cpu_set_t *cpus)
{
	unsigned n = 1 + sim_random(8);

	CPU_ZERO(cpus);
	while (n-- > 0)
		CPU_SET(n, cpus);
	return 0;
}

int
sim_clock(struct timespec *ts, bool passes)
{
	uint64_t now_ns = passes ? sim_now_ns() : 0;

	ts->tv_sec = (time_t)(now_ns / 1000000000u);
	ts->tv_nsec = (long)(now_ns % 1000000000u);
	return 0;
}

static long
futex(const char *function, int line, const uint32_t *word, int op,
    uint32_t value)
{
	if (op == FUTEX_WAIT_PRIVATE) {
		sim_point("wait", function, line);
		if (*word == value && !sim_by_chance(SPURIOUS))
			(void)sim_block(word, SIM_NEVER, function, line);
		return 0;
	}
	sim_point("wake", function, line);
	sim_unblock_one(word);
	return 0;
}

long
sim_syscall(const char *function, int line, long number, ...)
{
	const uint32_t *word;
	uint32_t value;
	va_list args;
	int op;

	if (number == SYS_gettid)
		return (long)sim_self();
	if (number != SYS_futex)
		sim_fail("system call %ld is not simulated", number);
	va_start(args, number);
	word = va_arg(args, const uint32_t *);
	op = va_arg(args, int);
	value = va_arg(args, uint32_t);
	va_end(args);
	return futex(function, line, word, op, value);
}
