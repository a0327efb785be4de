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
 * DRAINING has closed the listeners.  Sessions may go on; those that are idle
 * for drain_idle_timeout are ended.  "No session left" includes the sessions of
 * a former process (upgrade.h).  KILLING ends all sessions.
 */
#ifndef LIVE_CONTROL_H
#define LIVE_CONTROL_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "check/checker.h"
#include "config/diff.h"
#include "handover/lineage.h"
#include "handover/upgrade.h"
#include "listeners/listeners.h"
#include "live/loop_stats.h"
#include "live/manager.h"
#include "live/stop.h"
#include "model/backend_servers.h"
#include "model/model.h"
#include "orders/orders.h"
#include "pools/pools.h"
#include "process/limits.h"
#include "proxy/instance.h"
#include "servers/server_followup.h"
#include "servers/server_names.h"
#include "sets/sets.h"
#include "watch/list_watch.h"
#include "watch/tls_upkeep.h"
#include "watch/tls_watch.h"

struct control;
struct reload;
struct session_receiver;

/* Makes the model and binds the listeners, without accepting connections.  A
 * reload reads the n files again; n is 0 if the spec does not come from files.
 * Copies the names of the files.  Takes ownership of spec, also on failure.
 * Returns NULL with err set if an address cannot be bound or the system refuses
 * something. */
struct control *control_new(
    struct spec *spec, const char *const *files, size_t n, struct err *err);

/* Becomes the configured user, starts the log's writer, pools, acceptors and
 * checks, and reports to the service manager that lfproxy is ready; in a
 * takeover, that report follows when the predecessor has left.  The caller
 * opens the admin endpoints before.  Returns false with err set if the system
 * refuses something; the caller then calls control_free. */
bool control_start(struct control *control, struct err *err) MUST_CHECK;

/* The part of the layers above in a reload (reload.h) and an upgrade
 * (upgrade.h): these layers own the admin sockets and the HTTP port. */
struct control_follower {
	/* Does everything that can fail.  Returns false with errors set: the
	 * reload is refused.  Otherwise commit or cancel follows at once. */
	bool (*prepare)(
	    void *arg, const struct spec *spec, struct err_list *errors);
	/* Undoes prepare. */
	void (*cancel)(void *arg);
	/* Follows the spec, which is in force now.  Adds to changes what a
	 * comparison of the specs does not show. */
	void (*commit)(
	    void *arg, const struct spec *spec, struct changes *changes);
	/* Follows files of lists that have changed without a reload.  NULL:
	 * not needed. */
	void (*follow_lists)(void *arg);
	/* Passes each listening socket to `add`, with the address as it is
	 * configured. */
	void (*report)(void *arg,
	    void (*add)(void *to, const struct addr *asked, int fd), void *to);
	/* Does what it does in struct upgrade_hooks. */
	void (*describe)(void *arg, enum handed_part part, FILE *out);
	/* Makes the changes that had to wait for the servers of sets, before
	 * this process takes over. */
	void (*take_rest)(void *arg);
	/* Takes over lines of HANDED_LATER and HANDED_PAST. */
	void (*take_later)(void *arg, const char *lines);
	/* Lets clients in: the former process has left.  Further calls have no
	 * effect. */
	void (*enter)(void *arg);
	/* Closes the sockets without removing files: another process has them
	 * now. */
	void (*leave)(void *arg);
	void *arg;
};

/* The reloads since the start.  Times are in microseconds since 1970. */
struct reload_status {
	uint64_t done, refused;
	bool last_refused;
	uint64_t ended_us;    /* the last one; 0: none so far */
	uint64_t in_force_us; /* the last one that was not refused; 0: none */
};

/* The parts.  Each one owns its state; the control makes and ends them. */
struct control {
	struct instance instance;
	struct listeners *listeners;
	struct pools *pools; /* NULL before control_start */
	struct checker *checker;
	char **files; /* the configuration; files_n 0: from the command line */
	size_t files_n;
	struct orders orders;
	struct loop_stats loop_stats;
	struct control_follower follower; /* prepare NULL: none */
	struct reload_status reloads;
	struct reload *reloading; /* under way; NULL: none */
	struct lineage lineage;
	struct server_names server_names;
	struct sets sets;
	struct section_watch tls_watch;
	struct section_watch list_watch;
	struct tls_upkeep tls_upkeep;
	struct server_followup followup;
	struct stop stop;
	struct manager_reports reports;
	ev_timer second;
	ev_timer tidy; /* while a reload has left servers or models behind */
	ev_signal term, interrupt, hangup, user1, user2;
};

/* Sets what an upgrade uses.  Defined in succession.c. */
void succession_init(struct control *control);

/* Sets what the sets use, before sets_begin.  The servers' names are
 * initialized.  Defined in set_changes.c. */
void set_changes_init(struct control *control);

/* Takes over from the predecessor, once the servers of all sets are known.  See
 * handover/takeover.h, also for what happens without a predecessor. */
void control_take_over(struct control *control);

/* Begins to take over the sessions that come on the channel, which it owns,
 * also on failure.  Returns NULL when memory is short. */
struct session_receiver *control_receive(struct control *control, int channel);

/* Sets the one follower, which is copied.  NULL removes it. */
void control_follow(
    struct control *control, const struct control_follower *follower);

/* Runs the loop.  Returns when lfproxy has stopped. */
void control_run(struct control *control);

/* Ends all threads, closes all sockets and frees the control.  Returns false if
 * a job of the worker was left behind (worker_stop): then the process has to
 * end by _exit(2).  Accepts NULL. */
bool control_free(struct control *control);

/* Returns whether another process takes over or has done so.  That process
 * would not get changes that are made here. */
bool control_hands_over(const struct control *control);
/* Returns whether a signal has asked lfproxy to stop. */
bool control_stopping(const struct control *control);
/* Returns whether lfproxy is stopping and has closed the listeners. */
bool control_draining(const struct control *control);

/* Statistics of the control loop, since the start or control_loop_clear. */
struct loop_status {
	uint64_t iterations, longest_ns, longest_cpu_ns; /* loop_stats.h */
	struct check_delays checks;
};
/* Fills the statistics. */
void control_loop_status(
    const struct control *control, struct loop_status *ret_status);
/* Resets the statistics. */
void control_loop_clear(struct control *control);

/* -- whether a change is possible: refuse.c -- */

/* Adds to errors why a change is refused.  Always returns false. */
bool control_refuse(struct err_list *errors, const char *why);
/* Returns true if a change is allowed now.  Returns false with errors while
 * lfproxy stops or an upgrade is under way. */
bool control_may_change(
    const struct control *control, struct err_list *errors) MUST_CHECK;

#endif
