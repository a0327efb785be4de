/* SPDX-License-Identifier: MIT
 * See drains.h.
 */
#include "orders/drains.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "handover/later.h"
#include "model/server.h"
#include "model/server_operator.h"
#include "orders/drains_internal.h"
#include "proxy/instance.h"
#include "proxy/session_facts.h"

/* In KILLING: the interval between two scans, and the slots per scan. */
#define KILL_TICK_MS 10
#define KILL_SLOTS   2048

const char *
drain_phase_name(enum drain_phase phase)
{
	static const char *const names[] = {
	    [DRAIN_FADING] = "fading",
	    [DRAIN_WAITING] = "waiting",
	    [DRAIN_KILLING] = "killing",
	};
	_Static_assert(
	    sizeof(names) / sizeof(names[0]) == DRAIN_KILLING + 1, "names");

	return names[phase];
}

const char *
drain_then_name(enum drain_then then)
{
	static const char *const names[] = {
	    [DRAIN_THEN_NOTHING] = "",
	    [DRAIN_THEN_KILL] = "kill",
	    [DRAIN_THEN_MAINT] = "maint",
	};
	_Static_assert(
	    sizeof(names) / sizeof(names[0]) == DRAIN_THEN_MAINT + 1, "names");

	return names[then];
}

const char *
drain_order_text(const struct drain_order *order, char out[DRAIN_TEXT_SIZE])
{
	char over[TEXT_DURATION_SIZE];

	snprintf(out, DRAIN_TEXT_SIZE, "drain%s%s%s%s",
	    order->over_ms > 0 ? " over " : "",
	    order->over_ms > 0 ? text_duration(order->over_ms, over) : "",
	    order->then != DRAIN_THEN_NOTHING ? " then " : "",
	    drain_then_name(order->then));
	return out;
}

uint32_t
drain_share(uint32_t n, uint64_t past_ms, uint64_t whole_ms)
{
	if (past_ms >= whole_ms)
		return n;
	return (uint32_t)((n * past_ms + whole_ms - 1) / whole_ms);
}

void
drains_init(struct drains *drains, struct instance *instance)
{
	drains->instance = instance;
	list_init(&drains->all);
}

struct drain *
drain_at_node(struct list *node)
{
	return container_of(node, struct drain, node);
}

struct drain *
drain_find(const struct drains *drains, const struct server_state *state)
{
	list_for_each (node, &drains->all)
		if (drain_at_node(node)->state == state)
			return drain_at_node(node);
	return NULL;
}

struct server *
drain_server(const struct drain *d)
{
	struct backend *b = model_find_backend(d->instance->model, d->backend);
	struct server *s = b ? backend_find_server(b, d->server) : NULL;

	return s && s->state == d->state ? s : NULL;
}

static uint32_t
sessions_left(const struct drain *d)
{
	return atomic_load_relaxed(&d->state->sessions.now);
}

static void
free_drain(struct drain *d)
{
	list_remove(&d->node);
	timed_task_cancel(&d->task);
	server_state_unref(d->state);
	free(d->backend);
	free(d->server);
	free(d);
}

static void
end_drain(struct drain *d, const char *why)
{
	struct server *server = drain_server(d);

	if (server)
		server_end_fade(server);
	d->state->fade_ms = 0;
	event_add(EVENT_DRAIN, LOG_LEVEL_INFO, d->backend, d->server,
	    "the drain of server %s/%s has ended with %u of %u session%s left: "
	    "%s",
	    d->backend, d->server, sessions_left(d), d->sessions_began,
	    text_s(d->sessions_began), why);
	free_drain(d);
}

/* Enters the phase.  now_ms is the task's time, as in the later steps: the
 * clock may be ahead of it, and no step may come before its phase. */
static void
enter_drain_phase(struct drain *d, enum drain_phase phase, uint64_t now_ms)
{
	d->phase = phase;
	d->phase_from_ms = now_ms;
}

static void
wait_for_sessions(struct drain *d, struct server *server, uint64_t now_ms)
{
	enter_drain_phase(d, DRAIN_WAITING, now_ms);
	server_end_fade(server);
	/* The server leaves the lineup before its sessions are ended. */
	model_update(d->instance->model);
}

static void
start_killing(struct drain *d, uint64_t now_ms)
{
	enter_drain_phase(d, DRAIN_KILLING, now_ms);
	d->kill_n = sessions_left(d);
	if (d->kill_n > 0)
		event_add(EVENT_DRAIN, LOG_LEVEL_INFO, d->backend, d->server,
		    "server %s/%s: the time to drain is over, %u session%s %s "
		    "ended",
		    d->backend, d->server, d->kill_n, text_s(d->kill_n),
		    text_are(d->kill_n));
}

/* Ends the sessions that are due.  When the time is over, ends all sessions
 * that are left: some may have come after the drain began. */
static void
kill_some(struct drain *d, uint64_t now_ms)
{
	struct proxy *proxy = &d->instance->proxy;
	uint32_t made = slab_made(&proxy->sessions);
	uint64_t past_ms = now_ms - d->phase_from_ms;
	uint32_t due = drain_share(d->kill_n, past_ms, DRAIN_KILL_MS);
	uint32_t quota = due > d->notes_n ? due - d->notes_n : 0;

	if (past_ms >= DRAIN_KILL_MS)
		quota = KILL_SLOTS;
	for (uint32_t i = 0; i < KILL_SLOTS && i < made && quota > 0; i++) {
		struct session_facts f;

		d->next = d->next < made ? d->next : 0;
		if (session_facts_read(proxy, d->next++, &f) && f.server &&
		    f.server->state == d->state &&
		    session_facts_tell(proxy, &f, NOTE_DRAIN)) {
			d->notes_n++;
			quota--;
		}
	}
}

static void
finish_drain(struct drain *d, struct server *server)
{
	if (d->order.then == DRAIN_THEN_MAINT)
		operator_set_admin(server, SERVER_MAINT);
	event_add(EVENT_SERVER_DRAINED, LOG_LEVEL_INFO, d->backend, d->server,
	    "server %s/%s is drained: it has no session left%s", d->backend,
	    d->server,
	    d->order.then == DRAIN_THEN_MAINT ? ", and is in maintenance" : "");
	free_drain(d);
}

/* Returns when the next step is due.  In WAITING the pause is half of the time
 * that has passed, so steps are frequent at first and less so later. */
static uint64_t
next_step_ms(const struct drain *d, uint64_t now_ms)
{
	uint64_t pause_ms =
	    (now_ms - d->phase_from_ms) / 2 + TASK_TIMER_ROUND_MS;

	if (d->phase == DRAIN_KILLING)
		return now_ms + KILL_TICK_MS;
	return now_ms + (pause_ms < DRAIN_LOOK_MS ? pause_ms : DRAIN_LOOK_MS);
}

static void
run_drain_step(struct drain *d, uint64_t now_ms)
{
	struct server *server = drain_server(d);

	if (!server) {
		end_drain(d, DRAIN_REMOVED);
		return;
	}
	if (d->phase == DRAIN_FADING) {
		/* A server that its agent has put into maintenance stays
		 * there. */
		if (server_admin_of(server) != SERVER_MAINT)
			operator_set_admin(server, SERVER_DRAIN);
		wait_for_sessions(d, server, now_ms);
	}
	if (server_admin_of(server) == SERVER_READY) {
		end_drain(d, "its agent has it take new sessions again");
		return;
	}
	if (d->phase == DRAIN_WAITING && d->order.then == DRAIN_THEN_KILL)
		start_killing(d, now_ms);
	if (sessions_left(d) == 0) {
		finish_drain(d, server);
		return;
	}
	if (d->phase == DRAIN_KILLING)
		kill_some(d, now_ms);
	timed_task_schedule(&d->task, next_step_ms(d, now_ms));
}

static void
on_drain_task(struct timed_task *task, uint64_t now_ms)
{
	struct drain *d = container_of(task, struct drain, task);
	struct model *const *model = &d->instance->model;

	run_drain_step(d, now_ms);
	model_update(*model);
}

struct drain *
drain_new(struct drains *drains, const struct server *server,
    const struct drain_order *order)
{
	struct drain *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->backend = strdup(server->backend->spec->name);
	d->server = strdup(server->spec->name);
	if (!d->backend || !d->server) {
		free(d->backend);
		free(d->server);
		free(d);
		return NULL;
	}
	d->instance = drains->instance;
	d->state = server_state_ref(server->state);
	d->order = *order;
	d->admin_was = server_ordered_admin(server);
	d->from_ms = clock_now_ms();
	d->from_wall_ms = later_wall_ms();
	d->sessions_began = sessions_left(d);
	timed_task_init(&d->task, &d->instance->timer, on_drain_task);
	list_append(&drains->all, &d->node);
	return d;
}

static void
begin_drain(struct drain *d, struct server *server)
{
	char text[DRAIN_TEXT_SIZE];

	event_add(EVENT_DRAIN, LOG_LEVEL_INFO, d->backend, d->server,
	    "server %s/%s: %s, %u session%s: by operator", d->backend,
	    d->server, drain_order_text(&d->order, text), d->sessions_began,
	    text_s(d->sessions_began));
	if (d->order.over_ms > 0) {
		enter_drain_phase(d, DRAIN_FADING, d->from_ms);
		server_fade(server, d->order.over_ms);
	} else {
		operator_set_admin(server, SERVER_DRAIN);
		wait_for_sessions(d, server, d->from_ms);
	}
	timed_task_schedule(&d->task, d->from_ms + d->order.over_ms);
}

bool
drains_begin(struct drains *drains, struct server *server,
    const struct drain_order *order, struct err *err)
{
	struct drain *before = drain_find(drains, server->state), *d;
	bool plain = order->over_ms == 0 && order->then == DRAIN_THEN_NOTHING;

	if (!plain && server_admin_of(server) == SERVER_MAINT)
		return err_set(err,
		    "Server is in maintenance: it takes no sessions, so there "
		    "is nothing to be done over time.");
	d = drain_new(drains, server, order);
	if (!d)
		return err_oom(err);
	if (before) {
		d->admin_was = before->admin_was;
		/* The new drain begins at the weight that the old one has
		 * reached. */
		free_drain(before);
	}
	begin_drain(d, server);
	return true;
}

bool
drains_cancel(struct drains *drains, struct server *server)
{
	struct drain *d = drain_find(drains, server->state);

	if (!d)
		return false;
	if (d->phase != DRAIN_FADING)
		operator_set_admin(server, d->admin_was);
	end_drain(d, "the operator has cancelled it");
	return true;
}

void
drains_overrule(struct drains *drains, struct server *server, const char *what)
{
	struct drain *d = drain_find(drains, server->state);
	char why[64];

	if (!d)
		return;
	snprintf(why, sizeof(why), "the operator has set its %s", what);
	end_drain(d, why);
}

static uint64_t
drain_left_ms(const struct drain *d)
{
	uint64_t now_ms = clock_now_ms(), end_ms = 0;

	if (d->phase == DRAIN_FADING)
		end_ms = d->from_ms + d->order.over_ms;
	else if (d->phase == DRAIN_KILLING)
		end_ms = d->phase_from_ms + DRAIN_KILL_MS;
	return end_ms > now_ms ? end_ms - now_ms : 0;
}

static void
describe_drain(const struct drain *d, struct drain_status *ret)
{
	const struct server *server = drain_server(d);

	*ret = (struct drain_status){
	    .backend = d->backend,
	    .server = d->server,
	    .phase = d->phase,
	    .order = d->order,
	    .weight_now = server && server_admin_of(server) == SERVER_READY
	                      ? server_effective_weight(server)
	                      : 0,
	    .weight_was = server ? server_weight(server) : 0,
	    .sessions_now = sessions_left(d),
	    .sessions_began = d->sessions_began,
	    .left_ms = drain_left_ms(d),
	};
}

static void
end_drains_of_removed(struct drains *drains)
{
	list_for_each_safe (node, &drains->all)
		if (!drain_server(drain_at_node(node)))
			end_drain(drain_at_node(node), DRAIN_REMOVED);
}

bool
drains_at(struct drains *drains, size_t i, struct drain_status *ret_status)
{
	if (i == 0)
		end_drains_of_removed(drains);
	list_for_each (node, &drains->all)
		if (i-- == 0) {
			describe_drain(drain_at_node(node), ret_status);
			return true;
		}
	return false;
}

bool
drains_of(const struct drains *drains, const struct server *server,
    struct drain_status *ret_status)
{
	const struct drain *d = drain_find(drains, server->state);

	if (d)
		describe_drain(d, ret_status);
	return d;
}

void
drains_fini(struct drains *drains)
{
	list_for_each_safe (node, &drains->all)
		free_drain(drain_at_node(node));
}
