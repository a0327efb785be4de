/* SPDX-License-Identifier: MIT
 * The alarms of the pools' shards, which wake the guard (lf/shard_internal.h).
 */
#include <stdlib.h>

#include "control/pools_internal.h"

struct pools_alarm {
	ev_io io;
	struct pools_alarm *next;
	struct pools *pools;
	struct pool *pool;
	unsigned shard;
};

static void
on_alarm(struct ev_loop *loop, ev_io *io, int events)
{
	struct pools_alarm *a = io->data;

	(void)loop;
	(void)events;
	pool_alarm_gone_off(a->pool, a->shard);
	pools_wake_guard(a->pools);
}

static bool
watch_alarm(struct pools *p, struct pools_entry *e, unsigned shard, int fd)
{
	struct pools_alarm *a = malloc(sizeof(*a));

	if (!a)
		return false;
	*a = (struct pools_alarm){
	    .next = e->alarms, .pools = p, .pool = e->pool, .shard = shard};
	ev_io_init(&a->io, on_alarm, fd, EV_READ);
	a->io.data = a;
	ev_io_start(p->loop, &a->io);
	e->alarms = a;
	return true;
}

void
pools_watch_alarms(struct pools *p, struct pools_entry *e)
{
	int fd;

	while ((fd = pool_alarm(e->pool, e->alarms_n)) >= 0 &&
	       watch_alarm(p, e, e->alarms_n, fd))
		e->alarms_n++;
}

void
pools_leave_alarms(struct pools *p, struct pools_entry *e)
{
	while (e->alarms) {
		struct pools_alarm *a = e->alarms;

		e->alarms = a->next;
		ev_io_stop(p->loop, &a->io);
		free(a);
	}
}
