/* SPDX-License-Identifier: MIT
 * The control plane: one thread with one libev loop, which owns everything that
 * is not a session.
 *
 * spec -> model -> listeners, pools, checks -> admin.  All functions run on
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
 * see drain_idle_timeout; those of a former process (upgrade.h) count as well.
 * KILLING ends all sessions.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "check/checker.h"
#include "config/diff.h"
#include "control/limits.h"
#include "control/pools.h"
#include "model/model.h"

struct control;
struct list_tasks;
struct list_watch;
struct listeners;
struct proxy;
struct task_timer;
struct tls_status;
struct tls_watch;

/* Makes the model and binds the listeners, without accepting connections.  A
 * reload reads the n files again; n is 0 if the spec is not from files.  Copies
 * the names of the files, and takes ownership of spec, also on failure. Returns
 * NULL with err set if an address cannot be bound or the system refuses. */
struct control *control_new(
    struct spec *spec, const char *const *files, size_t n, struct err *err);

/* Becomes the configured user, starts the log's writer, pools, acceptors and
 * checks, and reports to the service manager that lfproxy is ready: the admin
 * endpoints must be open before.  Returns false with err set if the system
 * refuses; the caller calls control_free. */
bool control_start(struct control *control, struct err *err) MUST_CHECK;

/* The part of a reload (reload.h) that the layers above carry out: the admin
 * sockets and the HTTP port. */
struct control_follower {
	/* Does everything that can fail.  Returns false with errors: then the
	 * reload is refused.  Else commit follows at once. */
	bool (*prepare)(
	    void *arg, const struct spec *spec, struct err_list *errors);
	/* The spec is in force.  Adds the changes that it does not contain. */
	void (*commit)(
	    void *arg, const struct spec *spec, struct changes *changes);
	/* Passes each listening socket to `add`, with the address that was
	 * asked for. */
	void (*report)(void *arg,
	    void (*add)(void *to, const struct addr *asked, int fd), void *to);
	/* Writes what operators have changed, as commands, a line each. */
	void (*describe)(void *arg, FILE *out);
	/* Writes what is to happen to that later, see later.h. */
	void (*describe_later)(void *arg, FILE *out);
	/* Before this process takes over: makes the changes that had to wait
	 * for the servers of sets. */
	void (*take_rest)(void *arg);
	/* Goes on with lines that the former process has written so. */
	void (*take_later)(void *arg, const char *lines);
	/* The former process has left: lets clients in.  Has no effect later.
	 */
	void (*enter)(void *arg);
	/* Another process has these sockets: closes them, without removing
	 * files. */
	void (*leave)(void *arg);
	void *arg;
};

/* Sets the one follower, which is copied; NULL removes it. */
void control_follow(
    struct control *control, const struct control_follower *follower);

/* Runs the loop until lfproxy has stopped. */
void control_run(struct control *control);

/* Accepts NULL. */
void control_free(struct control *control);

/* Accessors; borrowed. */
struct ev_loop *control_loop(struct control *control);
/* The model in force.  A reload replaces it. */
struct model *control_model(struct control *control);
/* NULL before control_start. */
struct pools *control_pools(struct control *control);
/* Whether another process takes over or has done so: it would not have changes
 * that are made here. */
bool control_hands_over(const struct control *control);
/* Whether a signal has asked lfproxy to stop. */
bool control_stopping(const struct control *control);
/* Whether lfproxy is stopping and has closed the listeners. */
bool control_draining(const struct control *control);

/* Returns the data plane, which the control owns. */
struct proxy *control_proxy(struct control *control);
/* Returns the listening sockets, which the control owns. */
const struct listeners *control_listeners(const struct control *control);

/* The operator's limits.  A limit stays in force until a reload finds another
 * value for it in the file than before.  Present sessions continue. */

/* Limits the sessions.  0, or a limit that the descriptors do not suffice for,
 * allows as many sessions as they suffice for. */
void control_set_maxconn(struct control *control, size_t maxconn);
/* Returns the limit in force: as set, or what the system allows. */
size_t control_maxconn(const struct control *control);
/* Limits the connections accepted per second.  0: no limit. */
void control_set_rate(struct control *control, uint32_t connects_per_second);
/* Limits the sessions started per second.  0: no limit. */
void control_set_session_rate(
    struct control *control, uint32_t sessions_per_second);
/* Limits the frontend's sessions.  0: accepts none.  FRONTEND_NO_LIMIT: no
 * limit. */
void control_set_frontend_maxconn(
    struct control *control, struct frontend *frontend, uint32_t maxconn);

/* Closes the frontend to new connections, also over reloads. */
void control_pause_frontend(struct control *control, struct frontend *frontend);
/* Opens a paused frontend.  Returns false with err set if the system refuses.
 */
bool control_resume_frontend(struct control *control, struct frontend *frontend,
    struct err *err) MUST_CHECK;
/* Closes the frontend's sockets until the next reload. */
void control_shut_frontend(struct control *control, struct frontend *frontend);

/* Returns the division of the descriptors, and so the most sessions. */
const struct budget *control_budget(const struct control *control);

/* Statistics of the control loop, since the start or control_loop_clear. */
struct loop_status {
	uint64_t iterations, longest_ns, longest_cpu_ns; /* loop_stats.c */
	struct check_delays checks;
};
/* Fills the statistics. */
void control_loop_status(
    const struct control *control, struct loop_status *ret_status);
/* Resets the statistics. */
void control_loop_clear(struct control *control);

/* Returns the timer for tasks of the control loop. */
struct task_timer *control_timer(struct control *control);

struct dns;
/* Returns the resolver, for sources of servers; see resolve/dns.h. */
struct dns *control_dns(struct control *control);
/* Returns the state of the servers' names (server_names.h). */
struct server_names *control_names(struct control *control);

/* Returns the watch over the files of the [tls] sections. */
const struct tls_watch *control_tls_watch(const struct control *control);

/* Returns the watch over the files of the [list] sections. */
const struct list_watch *control_list_watch(const struct control *control);

/* Returns the work on lists that is under way. */
struct list_tasks *control_list_tasks(struct control *control);

/* Returns the state of TLS as of the last second. */
const struct tls_status *control_tls_status(const struct control *control);

struct receiver_status;
/* Returns what has come of the sessions of the process before this one. */
struct receiver_status control_former(const struct control *control);

/* The number of reloads that were not refused. */
uint64_t control_reloads(const struct control *control);

#endif
