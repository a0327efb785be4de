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
#ifndef LIVE_UPGRADE_H
#define LIVE_UPGRADE_H

#include "live/control.h"

/* How long the successor may take to serve. */
#define UPGRADE_WAIT_MS 30000

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
    struct control *control, const char *path, struct err *err);

/* Calls done once with the result, on the control thread. */
void upgrade_when_done(
    struct upgrade *upgrade, void (*done)(const struct upgrade_result *result));

/* Returns the result, or NULL while the upgrade is under way. */
const struct upgrade_result *upgrade_result(const struct upgrade *upgrade);

/* Gives up the caller's reference.  Accepts NULL. */
void upgrade_unref(struct upgrade *upgrade);

/* Gives up an upgrade that is under way, unless the successor serves
 * already: a signal has asked lfproxy to stop. */
void upgrade_stop(struct control *control);

/* Gives up an upgrade that is under way: at the end of the process. */
void upgrade_fini(struct control *control);

#endif
