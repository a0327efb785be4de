/* SPDX-License-Identifier: MIT
 * See keeper.h.
 */
#include "proxy/keeper.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/lock.h"
#include "base/thread.h"
#include "proxy/accept_limits.h"
#include "proxy/reaper.h"

/* How long acceptors that have paused wait before they try again.  With a
 * limited rate a tenth of a second's worth may come at once; looking ten times
 * as often keeps the acceptors from falling behind the rate. */
#define PAUSED_NS      (250 * NS_PER_MS)
#define PAUSED_RATE_NS (10 * NS_PER_MS)

/* A look at the deadlines takes some 50 us for 100 000 sessions; a pause of a
 * hundred times its CPU time, and of this much, limits the cost to a hundredth
 * of a CPU. */
#define REAP_PAUSE_NS    (2 * NS_PER_MS)
#define REAP_PAUSE_TIMES 100

#define NEVER UINT64_MAX

#define KEEPER_END 0x80000000u

struct keeper {
	struct proxy *proxy;
	struct grace *grace;
	pthread_t thread;
	int event;  /* an eventfd: there are calls */
	int alarms; /* an epoll set of the shards' alarms */
	uint32_t guarding;
	/* The pools that are guarded. */
	struct lock lock;
	struct pool **pools;
	size_t pools_n;
	/* The reasons given since the last round, and KEEPER_END.  [P43] */
	uint32_t calls CACHE_LINE_ALIGNED;

	/* The thread's own: clock_now_ns, or NEVER. */
	struct grace_reader reader;
	uint64_t reap_ns;      /* the next look at the deadlines */
	uint64_t reap_from_ns; /* not before, whoever calls */
	uint64_t pace_ns;      /* the pacer's next look */
	uint64_t resume_ns;    /* when paused acceptors try again */
	uint64_t guard_ns;     /* the guard's next look */
	bool alarm;            /* an alarm has gone off since the last round */
} CACHE_LINE_ALIGNED;

static void
reap(struct keeper *k, uint64_t now_ns)
{
	uint64_t from_ns = clock_thread_ns();
	uint64_t next_ms = proxy_reap(k->proxy, now_ns / NS_PER_MS);
	uint64_t used_ns = clock_thread_ns() - from_ns;
	uint64_t end_ns = clock_now_ns();

	k->reap_from_ns = end_ns + REAP_PAUSE_NS + used_ns * REAP_PAUSE_TIMES;
	if (next_ms == UINT64_MAX) {
		k->reap_ns = NEVER;
		return;
	}
	/* Looks that are not urgent come with the timers of the control thread,
	 * so that an idle process leaves its CPU alone in between. */
	if (next_ms >= end_ns / NS_PER_MS + 1000)
		next_ms -= next_ms % 1000;
	k->reap_ns = next_ms * NS_PER_MS;
	if (k->reap_ns < k->reap_from_ns)
		k->reap_ns = k->reap_from_ns;
}

static void
resume_acceptors(struct keeper *k, uint64_t now_ns)
{
	if (!atomic_load_relaxed(&k->proxy->paused)) {
		k->resume_ns = NEVER;
	} else if (k->resume_ns == NEVER) {
		k->resume_ns =
		    now_ns + (proxy_limits_have_rate(&k->proxy->limits)
		                     ? PAUSED_RATE_NS
		                     : PAUSED_NS);
	} else if (now_ns >= k->resume_ns) {
		k->resume_ns = NEVER;
		acceptors_resume(k->proxy);
	}
}

/* Looks at all pools.  Returns false if the guard may sleep. */
static bool
look_at_pools(struct keeper *k, uint64_t now_ns)
{
	bool working = false;

	lock_acquire(&k->lock);
	for (size_t i = 0; i < k->pools_n; i++) {
		if (k->alarm)
			pool_alarm_gone_off(k->pools[i]);
		working |= pool_guard(k->pools[i], now_ns, KEEPER_GAP_NS);
	}
	lock_release(&k->lock);
	return working;
}

static void
guard(struct keeper *k, bool called, uint64_t now_ns)
{
	if (k->alarm)
		k->guard_ns = now_ns;
	else if (called && k->guard_ns == NEVER)
		k->guard_ns = now_ns + KEEPER_GUARD_NS;
	if (!atomic_load_relaxed(&k->guarding))
		k->guard_ns = NEVER;
	if (now_ns < k->guard_ns)
		return;
	k->guard_ns =
	    look_at_pools(k, now_ns) ? now_ns + KEEPER_GUARD_NS : NEVER;
	k->alarm = false;
}

static void
run_round(struct keeper *k, uint32_t calls)
{
	struct pacer *pacer = &k->proxy->pacer;
	uint64_t now_ns = clock_now_ns();

	guard(k, calls & KEEPER_GUARD, now_ns);
	while (calls & KEEPER_DEADLINE && fault_is_on(FAULT_STOP_KEEPER))
		pause();
	if (calls & KEEPER_DEADLINE)
		k->reap_ns = k->reap_from_ns;
	if (now_ns >= k->reap_ns)
		reap(k, now_ns);
	if (calls & KEEPER_LIMITS)
		pacer_wake_all(pacer);
	if (calls & KEEPER_BANDWIDTH || now_ns >= k->pace_ns)
		k->pace_ns = pacer_look(pacer, now_ns);
	resume_acceptors(k, now_ns);
}

static uint64_t
next_round_ns(const struct keeper *k)
{
	const uint64_t due_ns[] = {
	    k->reap_ns, k->pace_ns, k->resume_ns, k->guard_ns};
	uint64_t next_ns = NEVER;

	for (size_t i = 0; i < sizeof(due_ns) / sizeof(due_ns[0]); i++)
		if (due_ns[i] < next_ns)
			next_ns = due_ns[i];
	return next_ns;
}

/* Sleeps until the next round is due, the keeper is called, or an alarm goes
 * off.  The alarms are edge-triggered, so none is read. */
static void
rest(struct keeper *k)
{
	struct pollfd fds[] = {{.fd = k->event, .events = POLLIN},
	    {.fd = k->alarms, .events = POLLIN}};
	struct epoll_event gone_off[16];
	uint64_t next_ns = next_round_ns(k), now_ns = clock_now_ns(), calls;
	uint64_t rest_ns = next_ns > now_ns ? next_ns - now_ns : 0;
	struct timespec limit = {.tv_sec = (time_t)(rest_ns / NS_PER_S),
	    .tv_nsec = (long)(rest_ns % NS_PER_S)};

	if (ppoll(fds, 2, next_ns == NEVER ? NULL : &limit, NULL) <= 0)
		return;
	if (fds[0].revents)
		(void)!read(k->event, &calls, sizeof(calls));
	if (fds[1].revents)
		k->alarm = epoll_wait(k->alarms, gone_off, 16, 0) > 0;
}

static void *
keeper_main(void *arg)
{
	struct keeper *k = arg;
	uint32_t calls;

	(void)pthread_setname_np(pthread_self(), "lf-keeper");
	lock_mark_data_thread();
	grace_register(k->grace, &k->reader);
	while (!((calls = atomic_swap_seq(&k->calls, 0u)) & /* [P43] */
	         KEEPER_END)) {
		grace_enter(k->grace, &k->reader);
		run_round(k, calls);
		grace_leave(&k->reader);
		rest(k);
	}
	grace_unregister(k->grace, &k->reader);
	return NULL;
}

/* Note: calls.
 *
 * The first caller since the last round writes to the eventfd.  Others leave
 * their reasons with it.  The keeper takes all reasons at once, after it has
 * read the eventfd, so none stays behind while the keeper sleeps. */
static uint32_t
give_reasons(struct keeper *k, uint32_t reasons)
{
	const uint64_t one = 1;
	uint32_t before = atomic_or_acq_rel(&k->calls, reasons); /* [P43] */

	if (before == 0)
		(void)!write(k->event, &one, sizeof(one));
	return before;
}

void
keeper_call(struct keeper *keeper, uint32_t reasons)
{
	if (keeper)
		(void)give_reasons(keeper, reasons);
}

/* The keeper takes KEEPER_PROOF at the beginning of each round. */
bool
keeper_moves(struct keeper *keeper)
{
	return !keeper || !(give_reasons(keeper, KEEPER_PROOF) & KEEPER_PROOF);
}

static void
call_for_bandwidth(void *arg)
{
	keeper_call(arg, KEEPER_BANDWIDTH);
}

int
keeper_start(struct proxy *proxy, struct grace *grace)
{
	struct keeper *k = aligned_alloc(CACHE_LINE, sizeof(*k));
	int rc;

	if (!k)
		return -ENOMEM;
	*k = (struct keeper){.proxy = proxy,
	    .grace = grace,
	    .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	    .alarms = epoll_create1(EPOLL_CLOEXEC),
	    .guarding = 1,
	    .pace_ns = NEVER,
	    .resume_ns = NEVER,
	    .guard_ns = NEVER};
	lock_init(&k->lock);
	rc = k->event < 0 || k->alarms < 0
	         ? errno
	         : thread_start(&k->thread, NULL, keeper_main, k);
	if (rc != 0) {
		keeper_free(k);
		return -rc;
	}
	proxy->keeper = k;
	proxy->pacer.call = call_for_bandwidth;
	proxy->pacer.call_arg = k;
	return 0;
}

void
keeper_stop(struct keeper *keeper)
{
	if (!keeper)
		return;
	keeper_call(keeper, KEEPER_END);
	(void)pthread_join(keeper->thread, NULL);
}

void
keeper_free(struct keeper *keeper)
{
	if (!keeper)
		return;
	if (keeper->event >= 0)
		close(keeper->event);
	if (keeper->alarms >= 0)
		close(keeper->alarms);
	lock_fini(&keeper->lock);
	free(keeper->pools);
	free(keeper);
}

bool
keeper_guard(struct keeper *keeper, struct pool *pool)
{
	struct pool **before, **pools;

	if (!keeper)
		return true;
	before = keeper->pools;
	pools = calloc(keeper->pools_n + 1, sizeof(struct pool *));
	if (!pools)
		return false;
	for (size_t i = 0; i < keeper->pools_n; i++)
		pools[i] = before[i];
	pools[keeper->pools_n] = pool;
	lock_acquire(&keeper->lock);
	keeper->pools = pools;
	keeper->pools_n++;
	lock_release(&keeper->lock);
	free(before);
	keeper_call(keeper, KEEPER_GUARD);
	return true;
}

void
keeper_unguard(struct keeper *keeper, struct pool *pool)
{
	size_t i = 0;

	if (!keeper)
		return;
	lock_acquire(&keeper->lock);
	while (i < keeper->pools_n && keeper->pools[i] != pool)
		i++;
	if (i < keeper->pools_n)
		keeper->pools[i] = keeper->pools[--keeper->pools_n];
	lock_release(&keeper->lock);
}

void
keeper_watch_alarms(struct keeper *keeper, struct pool *pool)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	unsigned n = keeper ? pool_shards(pool) : 0;

	for (unsigned i = 0; i < n; i++)
		if (epoll_ctl(keeper->alarms, EPOLL_CTL_ADD,
		        pool_alarm(pool, i), &event) == 0)
			pool_alarm_watched(pool, i);
}

void
keeper_set_guarding(struct keeper *keeper, bool on)
{
	if (!keeper)
		return;
	atomic_store_relaxed(&keeper->guarding, on);
	keeper_call(keeper, KEEPER_GUARD);
}
