/* SPDX-License-Identifier: MIT
 * The alarm of a shard, which wakes the guard.  See shard_internal.h.
 */
#include <sys/timerfd.h>
#include <unistd.h>

#include "lf/shard_internal.h"

#define NS_PER_S 1000000000u

/* Sleeps that are this long on average seldom outlast an alarm. */
#define SHORT_SLEEP_NS (SHARD_ALARM_NS / 8)

void
shard_alarm_open(struct shard *shard)
{
	shard->alarm =
	    timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	shard->batch.alarm_ns = 0;
}

void
shard_alarm_close(struct shard *shard)
{
	if (shard->alarm >= 0)
		close(shard->alarm);
	shard->alarm = -1;
	atomic_store_relaxed(&shard->watched, 0u);
}

/* ns: 0 stops it. */
static bool
arm(const struct shard *shard, uint64_t ns)
{
	const struct itimerspec in = {
	    .it_value = {.tv_sec = (time_t)(ns / NS_PER_S),
	        .tv_nsec = (long)(ns % NS_PER_S)}};

	return timerfd_settime(shard->alarm, 0, &in, NULL) == 0;
}

uint32_t
shard_set_alarm(struct shard *shard, uint64_t now_ns)
{
	struct batch *b = &shard->batch;
	uint32_t sleep = atomic_load_relaxed(&shard->unguarded);

	if (!atomic_load_relaxed(&shard->watched) || sleep == 0)
		return 0;
	if (sleep == b->alarm_sleep &&
	    now_ns + SHARD_ALARM_NS / 2 < b->alarm_ns)
		return sleep;
	b->alarm_sleep = sleep;
	b->alarm_ns = now_ns + SHARD_ALARM_NS;
	return arm(shard, SHARD_ALARM_NS) ? sleep : 0;
}

void
shard_stop_alarm(struct shard *shard, uint64_t now_ns)
{
	struct batch *b = &shard->batch;

	if (now_ns >= b->alarm_ns || b->sleep_ns < SHORT_SLEEP_NS)
		return;
	(void)arm(shard, 0);
	b->alarm_ns = 0;
}
