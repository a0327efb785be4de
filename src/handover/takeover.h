/* SPDX-License-Identifier: MIT
 * The side of an upgrade that takes over: a process that was started by the one
 * that runs (upgrade.h), or by someone else and names it.  It gets the
 * listening sockets before it reads its configuration, so that nothing has to
 * be bound again.
 *
 *   takeover_begin --> control_new, endpoints, control_start --> takeover_ready
 *        |                                |
 *        +------------ takeover_failed <--+
 *
 * All functions are for the main thread.  Without a process to take over from
 * they do nothing.
 */
#ifndef HANDOVER_TAKEOVER_H
#define HANDOVER_TAKEOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct instance;

#define TAKEOVER_WAIT_MS 10000
/* The time for which a process that takes over waits for names of servers and
 * for sets: the predecessor serves its clients meanwhile. */
#define TAKEOVER_SERVERS_MS 2000

/* First of all: receives the listening sockets of the process that has started
 * this one, and takes its variable out of the environment; or those of the
 * process with that admin socket, if it is not NULL.  Blocks for
 * TAKEOVER_WAIT_MS at most at a time.  Returns false with err set if the
 * predecessor cannot be understood, or refuses. */
bool takeover_begin(const char *admin, struct err *err) MUST_CHECK;

/* Returns whether there is a process to take over from, which has not left yet.
 */
bool takeover_under_way(void);

/* Returns the commands by which operators have changed the predecessor, a
 * line each; "" without any.  Valid until takeover_ready. */
const char *takeover_commands(void);

/* Returns the first number for sessions of this process (proxy_number_from), 0:
 * the predecessor has not told it. */
uint32_t takeover_first_number(void);

/* Returns how many sessions the predecessor had, 0: it has not told it. */
uint32_t takeover_sessions(void);

/* Tells the predecessor why this one does not serve; it goes on as before. */
void takeover_failed(const char *why);

/* Returns the time (clock_now_ms) up to which this process waits for names and
 * sets of servers.  The first call starts the wait. */
uint64_t takeover_wait_by_ms(void);

/* The parts of a takeover that the layers above have. */
struct takeover_hooks {
	/* Returns whether the servers of all sets are known. */
	bool (*is_known)(void *arg);
	/* The servers are known now, or not within the time: makes the changes
	 * that had to wait for them. */
	void (*take_rest)(void *arg);
	/* The predecessor has left.  Takes ownership of the channel, on which
	 * its sessions come; -1: none come. */
	void (*left)(void *arg, int channel);
	void *arg;
};

/* Tells the predecessor that this one serves, as soon as its servers are known,
 * and at takeover_wait_by_ms at the latest.  Copies the hooks.  The loop runs
 * meanwhile.  The service manager is told that lfproxy is ready when the
 * predecessor has left; then its sessions come (session_receiver.h). */
void takeover_ready(
    struct instance *instance, const struct takeover_hooks *hooks);

#endif
