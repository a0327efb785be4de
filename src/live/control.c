/* SPDX-License-Identifier: MIT
 * See control.h.
 */
#include "live/control.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/aligned_timer.h"
#include "base/clock.h"
#include "base/events.h"
#include "base/fault.h"
#include "base/grace.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/worker.h"
#include "handover/session_receiver.h"
#include "handover/session_sender.h"
#include "handover/takeover.h"
#include "handover/upgrade_program.h"
#include "live/reload.h"
#include "handover/upgrade.h"
#include "live/verdict.h"
#include "model/removed.h"
#include "process/limits.h"
#include "process/server_sockets.h"
#include "process/signals.h"
#include "process/syscall_filter.h"
#include "proxy/accept_limits.h"
#include "proxy/accesslog.h"
#include "proxy/keeper.h"
#include "proxy/reaper.h"

#define SECOND_MS 1000

/* How often clean_up runs while a reload has left something behind. */
#define TIDY_MS 250
/* How long the end of the process waits for jobs of the worker that run, such
 * as one that reads a file. */
#define WORKER_STOP_MS 5000

/* Frees what a reload has left behind and nothing uses any more. */
static void
clean_up(struct control *c, uint64_t now_ms)
{
	listeners_tick(c->listeners);
	pools_reap(c->pools, listeners_use, c->listeners);
	if (removed_watch(c->instance.model, now_ms))
		proxy_note_all(&c->instance.proxy, NOTE_EXPIRE);
	(void)model_reclaim(c->instance.model);
	log_collect();
}

static void
look_after(struct control *c)
{
	const struct model_state *state;

	clean_up(c, clock_now_ms());
	grace_poll(c->instance.grace);
	state = c->instance.model->state;
	if (state->removed.n == 0 && !state->retired)
		ev_timer_stop(c->instance.loop, &c->tidy);
	else if (!ev_is_active(&c->tidy))
		ev_timer_again(c->instance.loop, &c->tidy);
}

static void
on_tidy(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	look_after(timer->data);
}

static void
on_second(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct control *c = timer->data;

	(void)loop;
	(void)events;
	notify_retry();
	manager_reports_second(&c->reports, clock_now_ms());
	model_tick(c->instance.model);
	proxy_trim(&c->instance.proxy);
	capacity_second(&c->orders.capacity);
	tls_upkeep_second(&c->tls_upkeep, c->instance.model->spec);
	pools_second(c->pools);
	pools_shift_sessions(c->pools);
	/* Look now, while the loop is awake, so that an idle process need not
	 * wake for this alone. */
	look_after(c);
}

static void
tell_upgrade(const struct upgrade_result *result)
{
	verdict_send_text(result->ok ? NULL : result->text);
}

/* Reloads by letting the newer program read the files. */
static void
upgrade_for_reload(struct control *c)
{
	struct err err;
	struct upgrade *u = upgrade_begin(&c->lineage, NULL, &err);

	if (u)
		upgrade_when_done(u, tell_upgrade);
	else
		verdict_send_text(err.text);
	upgrade_unref(u);
}

static void
on_hangup(struct ev_loop *loop, ev_signal *signal, int events)
{
	bool wanted = verdict_wanted();

	(void)loop;
	(void)events;
	if (wanted && upgrade_is_due())
		upgrade_for_reload(signal->data);
	else
		reload_unref(
		    control_reload(signal->data, wanted ? verdict_send : NULL));
}

static void
on_reopen(struct ev_loop *loop, ev_signal *signal, int events)
{
	struct control *c = signal->data;

	(void)loop;
	(void)events;
	log_reopen();
	c->lineage.reopened = c->lineage.upgrade;
	session_receiver_reopen(c->lineage.predecessor);
}

/* Ignores signals on which other proxies stop gracefully: operators who send
 * one do not want every session to be cut. */
static void
on_unused(struct ev_loop *loop, ev_signal *signal, int events)
{
	(void)loop;
	(void)events;
	while (fault_is_on(FAULT_STOP_LOOP))
		pause();
	log_warning("SIG%s has no meaning here and was ignored; SIGTERM drains",
	    sigabbrev_np(signal->signum));
}

static void
watch_signal(struct control *c, ev_signal *watcher, int number,
    void (*callback)(struct ev_loop *, ev_signal *, int))
{
	ev_signal_init(watcher, callback, number);
	watcher->data = c;
	ev_signal_start(c->instance.loop, watcher);
}

static void
watch_timer(struct control *c, ev_timer *watcher, uint64_t every_ms,
    void (*callback)(struct ev_loop *, ev_timer *, int))
{
	ev_init(watcher, callback);
	watcher->data = c;
	aligned_timer_start(c->instance.loop, watcher, every_ms);
}

static void
watch_loop(struct control *c)
{
	watch_signal(c, &c->term, SIGTERM, stop_on_signal);
	watch_signal(c, &c->interrupt, SIGINT, stop_on_signal);
	watch_signal(c, &c->hangup, SIGHUP, on_hangup);
	watch_signal(c, &c->user1, SIGUSR1, on_reopen);
	watch_signal(c, &c->user2, SIGUSR2, on_unused);
	signals_release();
	loop_stats_watch(c->instance.loop, &c->loop_stats);
	ev_timer_init(&c->tidy, on_tidy, 0, TIDY_MS / 1000.0);
	c->tidy.data = c;
	watch_timer(c, &c->second, SECOND_MS, on_second);
}

static unsigned
count_all_threads(const struct spec *spec)
{
	unsigned n = 0;

	for (size_t i = 0; i < spec->pools_n; i++)
		for (unsigned j = 0; j < spec->pools[i].classes_n; j++)
			n += spec->pools[i].classes[j].threads;
	return n;
}

static bool
copy_files(struct control *c, const char *const *files, size_t n)
{
	c->files = calloc(n + 1, sizeof(*c->files));
	while (c->files && c->files_n < n) {
		c->files[c->files_n] = strdup(files[c->files_n]);
		if (!c->files[c->files_n++])
			return false;
	}
	return c->files != NULL;
}

struct control *
control_new(
    struct spec *spec, const char *const *files, size_t n, struct err *err)
{
	struct control *c = calloc(1, sizeof(*c));
	uint32_t pipes;

	err_oom(err);
	if (!c)
		goto fail;
	succession_init(c);
	drains_init(&c->orders.drains, &c->instance);
	rebalances_init(&c->orders.rebalances, &c->instance);
	c->orders.limits.instance = &c->instance;
	c->orders.capacity.instance = &c->instance;
	c->orders.capacity.limits = &c->orders.limits;
	/* A write to a peer that has gone away fails with EPIPE. */
	signal(SIGPIPE, SIG_IGN);
	/* A write to a log file at the limit of its size fails with EFBIG. */
	signal(SIGXFSZ, SIG_IGN);
	if (!copy_files(c, files, n) ||
	    !limits_budget(
	        spec, takeover_sessions(), &c->orders.limits.budget, err))
		goto fail;
	pipes = limits_pipes(spec, &c->orders.limits.budget);
	counters_set_stripes(count_all_threads(spec));
	c->instance.loop = ev_default_loop(EVFLAG_AUTO);
	if (c->instance.loop)
		task_timer_init(&c->instance.timer, c->instance.loop);
	c->instance.grace = grace_new();
	if (!c->instance.loop || !c->instance.grace ||
	    !server_names_init(&c->server_names, &c->instance)) {
		err_set(err, "the event loop could not be made");
		goto fail;
	}
	set_changes_init(c);
	if (!sets_begin(&c->sets, spec, err))
		goto fail;
	err_oom(err);
	c->instance.model = model_new(spec, c->instance.grace, NULL);
	spec = NULL;
	if (!c->instance.model ||
	    proxy_init(&c->instance.proxy, c->orders.limits.budget.sessions,
	        pipes, c->instance.model->spec->global.closed_sessions) < 0)
		goto fail;
	/* Commands that a former process has left come before the start. */
	session_limits_apply(&c->orders.limits);
	model_for_each_frontend (f, c->instance.model)
		frontend_follow_disabled(f);
	proxy_number_from(&c->instance.proxy, takeover_first_number());
	signals_hold_stops();
	c->listeners =
	    listeners_bind(c->instance.model, &c->instance.proxy, err);
	if (!c->listeners)
		goto fail;
	return c;
fail:
	spec_free(spec);
	control_free(c);
	return NULL;
}

/* Returns false with err set if connections to an address could not be
 * noticed. */
static bool
open_listeners(struct control *c, struct err *err)
{
	struct changes none;

	if (!listeners_register(c->listeners, c->pools, err))
		return false;
	/* The sockets are as the model asks: nothing is refused. */
	changes_init(&none);
	listeners_commit(c->listeners, c->pools, &none);
	changes_fini(&none);
	return true;
}

static bool
start_checks(struct control *c, struct err *err)
{
	int rc = checker_new(c->instance.loop, c->instance.model, &c->checker);

	c->followup.checker = c->checker;
	return rc == 0 || err_set(err, "health checks cannot be started: %s",
	                      strerror(-rc));
}

static void
follow_lists(void *arg)
{
	const struct control_follower *f = &((struct control *)arg)->follower;

	if (f->follow_lists)
		f->follow_lists(f->arg);
}

static void
watch_files(struct control *c)
{
	list_watch_start(&c->list_watch, c->instance.loop, &c->instance.timer,
	    c->instance.model);
	c->list_watch.changed = follow_lists;
	c->list_watch.arg = c;
	tls_watch_start(&c->tls_watch, c->instance.loop, &c->instance.timer,
	    c->instance.model->spec);
}

bool
control_start(struct control *control, struct err *err)
{
	struct control *c = control;
	int rc;

	if (!limits_become_user(c->instance.model->spec, err) ||
	    !server_sockets_try(c->instance.model->spec, true, err) ||
	    !syscall_filter_set(c->instance.model->spec->global.seccomp, err))
		return false;
	if (!log_start(err))
		return false;
	/* From here on threads run, with the rights of the user. */
	worker_start(c->instance.loop);
	server_names_start(&c->server_names);
	/* Open the access logs with the user's rights: the user must be able to
	 * open them again. */
	if (!accesslog_open(c->instance.model, err))
		return false;
	log_messages_to(&c->instance.model->messages);
	server_followup_start(&c->followup, &c->instance);
	rc = keeper_start(&c->instance.proxy, c->instance.grace);
	if (rc < 0)
		return err_set(err, "the keeper cannot be started: %s%s",
		    strerror(-rc), thread_start_hint(-rc));
	c->pools = pools_start(c->instance.loop, c->instance.model->spec,
	    &c->instance.proxy, c->instance.grace, err);
	if (!c->pools)
		return false;
	c->orders.capacity.listeners = c->listeners;
	c->orders.capacity.pools = c->pools;
	session_limits_follow(&c->orders.limits);
	/* The predecessor accepts until it sends LEFT. */
	if (takeover_under_way())
		acceptors_wait(&c->instance.proxy);
	if (!open_listeners(c, err) || !start_checks(c, err))
		return false;
	watch_loop(c);
	watch_files(c);
	sets_start(&c->sets);
	log_info("up to %u session%s%s: %d of %zu descriptors each, %zu for "
	         "listeners, checks and threads, %zu in reserve",
	    c->orders.limits.budget.sessions,
	    text_s(c->orders.limits.budget.sessions),
	    c->instance.model->spec->global.maxconn > 0 ? " (maxconn)" : "",
	    LIMITS_PER_SESSION, c->orders.limits.budget.descriptors,
	    c->orders.limits.budget.own, c->orders.limits.budget.reserve);
	event_add(EVENT_START, LOG_LEVEL_INFO, NULL, NULL, "ready");
	/* In a takeover, the manager is told when the predecessor has
	 * left. */
	if (!takeover_under_way())
		notify_ready("Ready");
	manager_reports_start(&c->reports);
	return true;
}

void
control_run(struct control *control)
{
	uint32_t left;

	ev_run(control->instance.loop, 0);
	left = proxy_sessions(&control->instance.proxy);
	log_info("stopped with %u session%s left", left, text_s(left));
}

bool
control_free(struct control *control)
{
	struct control *c = control;
	bool stopped;

	if (!c)
		return true;
	upgrade_fini(&c->lineage);
	session_sender_stop(c->lineage.successor);
	session_receiver_free(c->lineage.predecessor);
	control_reload_fini(c);
	drains_fini(&c->orders.drains);
	rebalances_fini(&c->orders.rebalances);
	section_watch_fini(&c->tls_watch);
	section_watch_fini(&c->list_watch);
	tls_upkeep_fini(&c->tls_upkeep);
	sets_fini(&c->sets);
	stopped = worker_stop(WORKER_STOP_MS);
	if (!stopped)
		log_warning("threads that read files, or compute, have not "
		            "ended in %d s: they are left behind",
		    WORKER_STOP_MS / 1000);
	if (c->instance.loop)
		task_timer_fini(&c->instance.timer);
	server_names_fini(&c->server_names);
	checker_free(c->checker);
	keeper_stop(c->instance.proxy.keeper);
	pools_free(c->pools);
	keeper_free(c->instance.proxy.keeper);
	session_sender_free(c->lineage.successor);
	listeners_free(c->listeners);
	/* A writer that is stuck is left behind; the records that it has
	 * written are whole. */
	(void)log_stop();
	proxy_fini(&c->instance.proxy);
	model_free(c->instance.model);
	grace_free(c->instance.grace);
	if (c->instance.loop && stopped)
		ev_loop_destroy(c->instance.loop);
	for (size_t i = 0; i < c->files_n; i++)
		free(c->files[i]);
	free(c->files);
	free(c);
	return stopped;
}

bool
control_hands_over(const struct control *control)
{
	/* Sessions that a former process still has do not count: they may take
	 * hours. */
	return control->lineage.upgrade || control->stop.has_left;
}

bool
control_stopping(const struct control *control)
{
	return control->stop.phase != RUNNING;
}

bool
control_draining(const struct control *control)
{
	return control->stop.phase >= DRAINING;
}

void
control_follow(struct control *control, const struct control_follower *follower)
{
	control->follower =
	    follower ? *follower : (struct control_follower){.prepare = NULL};
}

void
control_loop_status(
    const struct control *control, struct loop_status *ret_status)
{
	*ret_status = (struct loop_status){
	    .iterations = control->loop_stats.iterations,
	    .longest_ns = control->loop_stats.longest_ns,
	    .longest_cpu_ns = control->loop_stats.longest_cpu_ns,
	    .checks = checker_delays(control->checker),
	};
}

void
control_loop_clear(struct control *control)
{
	loop_stats_clear(&control->loop_stats);
	checker_clear_delays(control->checker);
}
