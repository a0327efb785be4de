/* SPDX-License-Identifier: MIT
 * The control river: one thread, one libev loop, that owns everything that is
 * not a session.
 *
 * spec -> model -> listeners, pools, checks -> admin.  All functions are for
 * the control thread, which is the thread that calls control_new.
 *
 *   control_new --(open what needs rights)--> control_start --> control_run
 *
 *   RUNNING --SIGTERM, SIGINT--> LEAVING --shutdown_delay--> DRAINING
 *
 *   DRAINING --no session left--> stopped
 *   DRAINING --drain_timeout-->   KILLING --no session left, or 1 s--> stopped
 *   LEAVING, DRAINING --a second signal--> KILLING
 *
 * LEAVING accepts sessions as RUNNING does, but /readyz answers 503, so that
 * load balancers in front stop sending clients before they are refused.
 * DRAINING has closed the listeners.  Sessions may go on; idle ones are ended,
 * see drain_idle_timeout.  KILLING ends all sessions.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "check/checker.h"
#include "config/diff.h"
#include "control/pools.h"
#include "model/model.h"
#include "net/splice.h"
#include "proxy/exhaustion.h"

struct control;
struct listeners;
struct proxy;

/* Makes the model and binds the listeners; nothing is accepted so far.  The n
 * files are where the spec is from and what a reload reads again; 0: it is not
 * from files.  Copies their names, and takes the spec over, also on failure;
 * NULL with err set when something could not be bound or the system refused. */
struct control *control_new(
    struct spec *spec, const char *const *files, size_t n, struct err *err);

/* Becomes the configured user, starts the log's writer, pools, acceptors and
 * checks, and tells the service manager that lfproxy is ready: what else it is
 * to serve must be open before.  False with err set when the system refused;
 * call control_free. */
bool control_start(struct control *control, struct err *err);

/* Who is above the control river and changes with a reload, see reload.h: the
 * admin sockets and the HTTP port. */
struct control_follower {
	/* Does all that can fail.  False with errors when nothing has changed,
	 * and then nothing does; else commit follows, at once. */
	bool (*prepare)(
	    void *arg, const struct spec *spec, struct err_list *errors);
	/* That spec is in force.  Adds what it does not say. */
	void (*commit)(
	    void *arg, const struct spec *spec, struct changes *changes);
	void *arg;
};

/* There is one; copied, NULL: none any more. */
void control_follow(
    struct control *control, const struct control_follower *follower);

/* Runs until it was told to stop and every pool has ended. */
void control_run(struct control *control);

/* NULL is fine. */
void control_free(struct control *control);

struct ev_loop *control_loop(struct control *control);
struct model *control_model(struct control *control);
/* NULL before control_start. */
struct pools *control_pools(struct control *control);
/* A signal has told it to stop. */
bool control_stopping(const struct control *control);
/* And the listeners are closed. */
bool control_draining(const struct control *control);

/* The sessions, and the sockets that they come in by. */
struct proxy *control_proxy(struct control *control);
const struct listeners *control_listeners(const struct control *control);

/* The operator's orders.  A limit lasts until the file has another value for it
 * than before, or lfproxy ends.  Sessions that there are go on.  maxconn: 0, or
 * more than there is room for: as many as that. */
void control_set_maxconn(struct control *control, size_t maxconn);
/* As set, or what the system allows. */
size_t control_maxconn(const struct control *control);
void control_set_rate(struct control *control, uint32_t connects_per_second);
void control_set_session_rate(
    struct control *control, uint32_t sessions_per_second);
/* 0: nobody comes in; FRONTEND_NO_LIMIT. */
void control_set_frontend_maxconn(
    struct control *control, struct frontend *frontend, uint32_t maxconn);

/* Nobody can connect to the frontend, or can again; what was paused stays so
 * over a reload.  False with err set when the system refuses to open it. */
void control_pause_frontend(struct control *control, struct frontend *frontend);
bool control_resume_frontend(
    struct control *control, struct frontend *frontend, struct err *err);
/* Closes its sockets; a reload opens them again. */
void control_shut_frontend(struct control *control, struct frontend *frontend);

/* The number of descriptors the process may have (RLIMIT_NOFILE), and of
 * sessions that follows from it. */
size_t control_descriptor_limit(const struct control *control);
size_t control_session_limit(const struct control *control);
struct splice_status control_pipes(const struct control *control);

/* How the control loop keeps up, since the start or control_loop_clear. */
struct loop_status {
	uint64_t turns, longest_ns, longest_cpu_ns; /* see loop_turns.h */
	struct check_delays checks;
};
void control_loop_status(
    const struct control *control, struct loop_status *ret_status);
void control_loop_clear(struct control *control);

/* Asks for the task to be run then, and no longer; see task_timer.h. */
struct timed_task;
void control_schedule(
    struct control *control, struct timed_task *task, uint64_t at_ms);
void control_cancel(struct control *control, struct timed_task *task);

/* Reloads that have changed something, or might have. */
uint64_t control_reloads(const struct control *control);

/* What has run out so far. */
const struct exhaustion *control_exhaustion(const struct control *control);

#endif
