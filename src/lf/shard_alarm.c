/* SPDX-License-Identifier: MIT
 * The alarm of a shard, which wakes the guard.  See shard_internal.h.
 */
#include <sys/timerfd.h>
#include <unistd.h>

#include "lf/shard_internal.h"

#define NS_PER_S 1000000000u

/* Sleeps that take this part of an alarm on average seldom outlast it.  An
 * alarm that goes off while the leader sleeps costs some six calls. */
#define SHORT_SLEEP 3

static uint64_t
alarm_length_ns(const struct shard *shard, uint64_t now_ns)
{
	return now_ns < atomic_load_relaxed(&shard->calm_from_ns)
	           ? SHARD_ALARM_NS
	           : SHARD_CALM_ALARM_NS;
}

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
	uint64_t length_ns = alarm_length_ns(shard, now_ns);

	if (!atomic_load_relaxed(&shard->watched) || sleep == 0)
		return 0;
	if (sleep == b->alarm_sleep &&
	    now_ns + length_ns / 4 * 3 < b->alarm_ns &&
	    b->alarm_ns <= now_ns + length_ns)
		return sleep;
	b->alarm_sleep = sleep;
	b->alarm_ns = now_ns + length_ns;
	return arm(shard, length_ns) ? sleep : 0;
}

void
shard_stop_alarm(struct shard *shard, uint64_t now_ns)
{
	struct batch *b = &shard->batch;

	if (now_ns >= b->alarm_ns ||
	    b->sleep_ns[b->slept_long] <
	        alarm_length_ns(shard, now_ns) / SHORT_SLEEP)
		return;
	(void)arm(shard, 0);
	b->alarm_ns = 0;
}
