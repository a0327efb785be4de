/* SPDX-License-Identifier: MIT
 * How this process follows its predecessor, see handover/takeover.h: when its
 * servers are known, and when it lets clients in.  And how it gives way to its
 * successor, see upgrade.h.
 */
#include "handover/session_receiver.h"
#include "handover/takeover.h"
#include "live/control.h"
#include "proxy/accept_limits.h"

static bool
servers_are_known(void *arg)
{
	return sets_are_known(&((struct control *)arg)->sets);
}

static void
take_rest(void *arg)
{
	const struct control_follower *follower =
	    &((struct control *)arg)->follower;

	if (follower->take_rest)
		follower->take_rest(follower->arg);
}

static void
take_later(void *arg, const char *lines)
{
	const struct control_follower *follower =
	    &((struct control *)arg)->follower;

	if (follower->take_later)
		follower->take_later(follower->arg, lines);
}

/* Accepts clients, those of the admin sockets and of the HTTP port as well. */
static void
accept_clients(void *arg, enum takeover then)
{
	struct control *c = arg;

	acceptors_begin(&c->instance.proxy, then);
	if (c->follower.enter)
		c->follower.enter(c->follower.arg);
}

struct session_receiver *
control_receive(struct control *control, int channel)
{
	return session_receiver_new(&control->instance, control->pools,
	    &(struct receiver_hooks){.accept = accept_clients,
	        .take_later = take_later,
	        .arg = control},
	    channel);
}

static void
on_left(void *arg, int channel)
{
	struct control *c = arg;

	if (channel >= 0)
		c->lineage.predecessor = control_receive(c, channel);
	if (!c->lineage.predecessor)
		accept_clients(c, TAKEOVER_DONE);
}

void
control_take_over(struct control *control)
{
	takeover_ready(&control->instance,
	    &(struct takeover_hooks){.is_known = servers_are_known,
	        .take_rest = take_rest,
	        .left = on_left,
	        .arg = control});
}

/* -- the successor -- */

static bool
is_reloading(void *arg)
{
	return ((struct control *)arg)->reloading;
}

static bool
is_stopping(void *arg)
{
	return control_stopping(arg);
}

static void
report_listening(void *arg,
    void (*add)(void *to, const struct addr *asked, int fd), void *to)
{
	struct control *c = arg;

	listeners_report(c->listeners, add, to);
	if (c->follower.report)
		c->follower.report(c->follower.arg, add, to);
}

static void
describe(void *arg, enum handed_part part, FILE *out)
{
	const struct control_follower *follower =
	    &((struct control *)arg)->follower;

	if (follower->describe)
		follower->describe(follower->arg, part, out);
}

static void
leave(void *arg)
{
	struct control *c = arg;

	if (c->follower.leave)
		c->follower.leave(c->follower.arg);
	stop_for_successor(c);
}

static void
settled(void *arg)
{
	stop_when_settled(arg);
}

void
succession_init(struct control *control)
{
	control->lineage.instance = &control->instance;
	control->lineage.hooks =
	    (struct upgrade_hooks){.is_reloading = is_reloading,
	        .is_stopping = is_stopping,
	        .report = report_listening,
	        .describe = describe,
	        .leave = leave,
	        .settled = settled,
	        .arg = control};
}
