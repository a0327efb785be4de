/* SPDX-License-Identifier: MIT
 * Upgrade: another process, of the same program or a newer one, takes over.
 *
 *   spawn --> hand over the     --> it serves: --> the service     --> leave
 *             listening sockets     READY           manager knows it
 *     |              |                 |                 |
 *     +---- any failure: it is ended, this process goes on as before
 *
 * Both processes accept from the same sockets between READY and leave, so no
 * client is refused.  Then this process closes its listening sockets, whose
 * files stay, and drains as after SIGTERM.  The successor is the main one
 * of the service by then.
 */
#ifndef HANDOVER_UPGRADE_H
#define HANDOVER_UPGRADE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "net/addr.h"

struct lineage;

/* How long the successor may take to serve. */
#define UPGRADE_WAIT_MS 30000

/* The parts of what an upgrade passes on (commands/records.h), in order. */
enum handed_part {
	HANDED_COMMANDS, /* commands, before the successor serves */
	HANDED_LATER,    /* lines of later.h about these; written with them */
	HANDED_PAST, /* lines of later.h, written when this process leaves */
	HANDED_MESSAGES, /* what session_sender.h sends as it changes */
};

/* The parts of an upgrade that the layers above have. */
struct upgrade_hooks {
	/* Returns whether a reload is under way. */
	bool (*is_reloading)(void *arg);
	/* Returns whether a signal has asked lfproxy to stop. */
	bool (*is_stopping)(void *arg);
	/* Passes each listening socket to `add`, with the address as it is
	 * configured. */
	void (*report)(void *arg,
	    void (*add)(void *to, const struct addr *asked, int fd), void *to);
	/* Writes a part of what the successor gets, but for HANDED_MESSAGES. */
	void (*describe)(void *arg, enum handed_part part, FILE *out);
	/* Closes the listening sockets, which the successor has now, without
	 * removing files.  Ends no session before `settled`, which follows. */
	void (*leave)(void *arg);
	/* The sessions that could leave have left: drains the rest. */
	void (*settled)(void *arg);
	void *arg;
};

/* An upgrade that was begun. */
struct upgrade;

struct upgrade_result {
	bool ok;
	char text[720]; /* what has happened, or why it has failed */
};

/* Begins an upgrade to the program at that path; NULL: to the one at the path
 * that this process was started from; `@NAME`: to a process of root's or this
 * user's that waits for it at that abstract address (takeover.h).  Returns NULL
 * with err set if it cannot begin.  Caller calls upgrade_unref, at any time.
 * Control thread. */
struct upgrade *upgrade_begin(
    struct lineage *lineage, const char *path, struct err *err);

/* Calls done once with the result, on the control thread. */
void upgrade_when_done(
    struct upgrade *upgrade, void (*done)(const struct upgrade_result *result));

/* Returns the result, or NULL while the upgrade is under way. */
const struct upgrade_result *upgrade_result(const struct upgrade *upgrade);

/* Gives up the caller's reference.  Accepts NULL. */
void upgrade_unref(struct upgrade *upgrade);

/* Gives up an upgrade that is under way, unless the successor serves
 * already: a signal has asked lfproxy to stop. */
void upgrade_stop(struct lineage *lineage);

/* Gives up an upgrade that is under way: at the end of the process. */
void upgrade_fini(struct lineage *lineage);

#endif
