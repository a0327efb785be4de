/* SPDX-License-Identifier: MIT
 * See control.h.
 */
#include "control/control.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grace.h"
#include "base/log.h"
#include "base/text.h"
#include "check/check.h"
#include "control/limits.h"
#include "control/listeners.h"
#include "control/pools.h"
#include "proxy/acceptor.h"
#include "proxy/proxy.h"

#define DRAIN_TICK_MS 20
#define KILL_LIMIT_MS 1000

enum phase { RUNNING, DRAINING, KILLING };

struct control {
	struct ev_loop *loop;
	struct grace *grace;
	struct model *model;
	struct proxy proxy;
	struct listeners *listeners;
	struct pools *pools;
	struct checker *checker;
	size_t descriptors;
	uint32_t sessions;
	enum phase phase;
	uint64_t phase_ends_ms; /* of DRAINING and KILLING */
	ev_timer reap, second, drain;
	ev_signal term, interrupt, hangup, user1, user2;
};

/* Ticks often enough that a deadline is met within a quarter of the shortest
 * time-out. */
static double
reap_interval_s(const struct spec *spec)
{
	uint64_t shortest = 1000;

	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		if (f->timeout_client_ms < shortest)
			shortest = f->timeout_client_ms;
		if (f->timeout_client_fin_ms < shortest)
			shortest = f->timeout_client_fin_ms;
	}
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		if (b->timeout_connect_ms < shortest)
			shortest = b->timeout_connect_ms;
		if (b->timeout_server_ms < shortest)
			shortest = b->timeout_server_ms;
		if (b->timeout_server_fin_ms < shortest)
			shortest = b->timeout_server_fin_ms;
	}
	return (double)(shortest / 4 < 10 ? 10 : shortest / 4) / 1000;
}

static void
on_reap(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct control *c = timer->data;

	(void)loop;
	(void)events;
	proxy_reap(&c->proxy, clock_now_ms());
	if (c->phase == RUNNING)
		acceptors_resume(&c->proxy);
	grace_poll(c->grace);
}

static void
on_second(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct control *c = timer->data;

	(void)loop;
	(void)events;
	model_tick(c->model);
}

static void
enter_killing(struct control *c)
{
	uint32_t n = proxy_sessions(&c->proxy);

	c->phase = KILLING;
	c->phase_ends_ms = clock_now_ms() + KILL_LIMIT_MS;
	if (n > 0)
		log_warning("stopping now: %u sessions are closed", n);
	else
		log_info("stopping now");
}

/* DRAINING and KILLING: are we done? */
static void
on_drain(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct control *c = timer->data;
	uint64_t now_ms = clock_now_ms();

	(void)events;
	if (c->phase == DRAINING && now_ms >= c->phase_ends_ms) {
		log_warning("drain_timeout has passed");
		enter_killing(c);
	}
	if (c->phase == KILLING)
		proxy_kill_all(&c->proxy);
	if ((listeners_stopped(c->listeners) &&
	        proxy_sessions(&c->proxy) == 0) ||
	    (c->phase == KILLING && now_ms >= c->phase_ends_ms))
		ev_break(loop, EVBREAK_ALL);
}

static void
on_stop(struct ev_loop *loop, ev_signal *signal, int events)
{
	struct control *c = signal->data;
	char limit[TEXT_DURATION_SIZE];

	(void)events;
	if (c->phase == RUNNING) {
		uint64_t drain_ms = c->model->spec->global.drain_timeout_ms;

		log_info("draining: %u sessions may end within %s; a second "
		         "signal stops at once",
		    proxy_sessions(&c->proxy), text_duration(drain_ms, limit));
		c->phase = DRAINING;
		c->phase_ends_ms = clock_now_ms() + drain_ms;
		listeners_stop(c->listeners);
		ev_timer_again(loop, &c->drain);
	} else if (c->phase == DRAINING) {
		enter_killing(c);
	}
	on_drain(loop, &c->drain, 0);
}

static void
on_hangup(struct ev_loop *loop, ev_signal *signal, int events)
{
	(void)loop;
	(void)signal;
	(void)events;
	log_warning("SIGHUP: this version reads its configuration only at "
	            "start; restart to apply a changed file");
}

/* Other proxies stop softly or reopen their log then; nobody who asks for that
 * wants every session to be cut. */
static void
on_unused(struct ev_loop *loop, ev_signal *signal, int events)
{
	(void)loop;
	(void)events;
	log_warning("SIG%s has no meaning here and was ignored; SIGTERM drains",
	    sigabbrev_np(signal->signum));
}

static void
watch_signal(struct control *c, ev_signal *watcher, int number,
    void (*callback)(struct ev_loop *, ev_signal *, int))
{
	ev_signal_init(watcher, callback, number);
	watcher->data = c;
	ev_signal_start(c->loop, watcher);
}

static void
watch_timer(struct control *c, ev_timer *watcher, double every_s, bool start,
    void (*callback)(struct ev_loop *, ev_timer *, int))
{
	ev_timer_init(watcher, callback, every_s, every_s);
	watcher->data = c;
	if (start)
		ev_timer_start(c->loop, watcher);
}

static void
watch(struct control *c)
{
	watch_signal(c, &c->term, SIGTERM, on_stop);
	watch_signal(c, &c->interrupt, SIGINT, on_stop);
	watch_signal(c, &c->hangup, SIGHUP, on_hangup);
	watch_signal(c, &c->user1, SIGUSR1, on_unused);
	watch_signal(c, &c->user2, SIGUSR2, on_unused);
	watch_timer(
	    c, &c->reap, reap_interval_s(c->model->spec), true, on_reap);
	watch_timer(c, &c->second, 1, true, on_second);
	watch_timer(c, &c->drain, DRAIN_TICK_MS / 1000.0, false, on_drain);
}

static unsigned
count_threads(const struct spec *spec)
{
	unsigned n = 0;

	for (size_t i = 0; i < spec->pools_n; i++)
		for (unsigned j = 0; j < spec->pools[i].classes_n; j++)
			n += spec->pools[i].classes[j].threads;
	return n;
}

struct control *
control_new(struct spec *spec, struct err *err)
{
	struct control *c = calloc(1, sizeof(*c));

	if (!c) {
		spec_free(spec);
		err_set(err, "out of memory");
		return NULL;
	}
	/* Peers that go away while being written to are told by EPIPE. */
	signal(SIGPIPE, SIG_IGN);
	c->descriptors = limits_raise_descriptors();
	c->sessions = limits_sessions(c->descriptors, spec);
	if (c->descriptors < LIMITS_DESCRIPTORS_MIN) {
		spec_free(spec);
		err_set(err,
		    "%zu open descriptors are not enough; allow at least %d, "
		    "two for each session are needed (ulimit -n)",
		    c->descriptors, LIMITS_DESCRIPTORS_MIN);
		goto fail;
	}
	counters_set_stripes(count_threads(spec));
	c->loop = ev_default_loop(EVFLAG_AUTO);
	c->grace = grace_new();
	if (!c->loop || !c->grace) {
		spec_free(spec);
		err_set(err, "the event loop could not be made");
		goto fail;
	}
	c->model = model_new(spec, c->grace);
	if (!c->model || proxy_init(&c->proxy, c->model, c->sessions) < 0) {
		err_set(err, "out of memory");
		goto fail;
	}
	c->listeners = listeners_bind(c->model, &c->proxy, err);
	if (!c->listeners)
		goto fail;
	return c;
fail:
	control_free(c);
	return NULL;
}

bool
control_start(struct control *control, struct err *err)
{
	struct control *c = control;
	int rc;

	if (!limits_become_user(&c->model->spec->global, err))
		return false;
	rc = log_start();
	if (rc < 0)
		return err_set(
		    err, "the log cannot be started: %s", strerror(-rc));
	c->pools =
	    pools_start(c->loop, c->model->spec, &c->proxy, c->grace, err);
	if (!c->pools || !listeners_open(c->listeners, c->pools, err))
		return false;
	rc = checker_new(c->loop, c->model, &c->checker);
	if (rc < 0)
		return err_set(
		    err, "health checks cannot be started: %s", strerror(-rc));
	watch(c);
	log_info(
	    "up to %u sessions (%zu descriptors)", c->sessions, c->descriptors);
	log_info("ready");
	return true;
}

void
control_run(struct control *control)
{
	ev_run(control->loop, 0);
	log_info(
	    "stopped with %u sessions left", proxy_sessions(&control->proxy));
}

/* The log's lines name things of the model, so its writer ends before that. */
void
control_free(struct control *control)
{
	struct control *c = control;
	bool written;

	if (!c)
		return;
	checker_free(c->checker);
	pools_free(c->pools);
	listeners_free(c->listeners);
	written = log_stop();
	proxy_fini(&c->proxy);
	/* A writer that is stuck may still come back to its lines. */
	if (written)
		model_free(c->model);
	grace_free(c->grace);
	if (c->loop)
		ev_loop_destroy(c->loop);
	free(c);
}

struct ev_loop *
control_loop(struct control *control)
{
	return control->loop;
}

struct model *
control_model(struct control *control)
{
	return control->model;
}

struct pools *
control_pools(struct control *control)
{
	return control->pools;
}

bool
control_draining(const struct control *control)
{
	return control->phase != RUNNING;
}

size_t
control_descriptor_limit(const struct control *control)
{
	return control->descriptors;
}

size_t
control_session_limit(const struct control *control)
{
	return control->sessions;
}
