/* SPDX-License-Identifier: MIT
 * The state that the files of the control thread share.  Included by them only.
 */
#ifndef LIVE_CONTROL_INTERNAL_H
#define LIVE_CONTROL_INTERNAL_H

#include "check/checker.h"
#include "handover/lineage.h"
#include "listeners/listeners.h"
#include "live/control.h"
#include "live/manager.h"
#include "sets/sets.h"
#include "model/backend_servers.h"
#include "orders/orders.h"
#include "pools/pools.h"
#include "process/limits.h"
#include "proxy/instance.h"
#include "servers/server_followup.h"
#include "servers/server_names.h"
#include "watch/list_watch.h"
#include "watch/tls_upkeep.h"
#include "watch/tls_watch.h"

struct reload;

/* See control.h; in this order. */
enum phase { RUNNING, LEAVING, DRAINING, KILLING };

/* See loop_stats.c. */
struct loop_stats {
	ev_check begin; /* runs before the handlers of an iteration */
	ev_prepare end; /* runs after them */
	uint64_t began_ns, began_cpu_ns;
	uint64_t iterations;
	uint64_t longest_ns;     /* of wall time */
	uint64_t longest_cpu_ns; /* of this thread's CPU time */
};

struct control {
	struct instance instance;
	struct listeners *listeners;
	struct pools *pools;
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
	enum phase phase;
	uint64_t phase_ends_ms; /* in all phases but RUNNING */
	uint64_t status_ms;     /* when to report the progress of stopping */
	uint64_t linger_ms;     /* while draining: do not stop before this */
	bool has_left;          /* another process has the listening sockets */
	struct server_followup followup;
	struct timed_task stopping;
	struct manager_reports reports;
	ev_timer second;
	ev_timer tidy; /* while a reload has left servers or models behind */
	ev_signal term, interrupt, hangup, user1, user2;
};

/* Measures the loop until it ends, without keeping it alive.  Defined in
 * loop_stats.c. */
void loop_stats_watch(struct ev_loop *loop, struct loop_stats *stats);

/* Enters the next phase on SIGTERM or SIGINT.  This is a watcher's callback
 * whose data is the control.  Defined in stop.c. */
void stop_on_signal(struct ev_loop *loop, ev_signal *signal, int events);
/* Closes the listening sockets, which another process has now, and stops when
 * no session is left.  Ends no session before stop_when_settled, which follows.
 * Defined in stop.c. */
void stop_for_successor(struct control *control);
/* Drains the sessions that the successor has not taken over.  Defined in
 * stop.c. */
void stop_when_settled(struct control *control);

/* Sets what an upgrade uses.  Defined in succession.c. */
void succession_init(struct control *control);

/* Sets what the sets use, before sets_begin.  The servers' names are
 * initialized.  Defined in set_changes.c. */
void set_changes_init(struct control *control);

/* -- whether a change is possible: refuse.c -- */

/* Adds to errors why a change is refused.  Always returns false. */
bool control_refuse(struct err_list *errors, const char *why);
/* Returns true if a change is allowed now.  Returns false with errors while
 * lfproxy stops or an upgrade is under way. */
bool control_may_change(
    const struct control *control, struct err_list *errors) MUST_CHECK;

#endif
