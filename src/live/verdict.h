/* SPDX-License-Identifier: MIT
 * A reload by signal that reports its result: SIGHUP alone tells its sender
 * nothing.
 *
 *   lfproxy --reload PID                   lfproxy, process PID
 *   binds $RUNTIME_DIRECTORY/reload
 *   SIGHUP              ------------------->
 *                                          the socket is there: reads the file,
 *                                          reloads or refuses
 *                       <------------------- one datagram: the verdict
 *   removes the socket, exits with 0 or with the reason
 *
 * Both processes run as the same user with the same RUNTIME_DIRECTORY, which
 * systemd sets for RuntimeDirectory= of the unit, in ExecReload= as well.  No
 * admin socket is needed.
 */
#ifndef LIVE_VERDICT_H
#define LIVE_VERDICT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "live/reload.h"

/* The time that verdict_ask waits for a verdict, below systemd's own limit. */
#define VERDICT_WAIT_MS 60000

/* Returns whether a process waits for a verdict.  Called before the file is
 * read: a request that comes later is for a later reload.  Runs on the control
 * thread. */
bool verdict_wanted(void);

/* Sends the verdict to the process that waits, if it still does.  Runs on the
 * control thread.  Never blocks. */
void verdict_send(bool ok, const struct reload_result *result);

/* Sends a verdict as verdict_send does.  refusal: why the process has not
 * reloaded, or NULL if it has. */
void verdict_send_text(const char *refusal);

/* Asks lfproxy, which is another process, to reload, and waits for the verdict,
 * for VERDICT_WAIT_MS at most.  Returns false with err set when the reload was
 * refused, and also when no verdict came; *ret_refused tells the two apart. */
bool verdict_ask(pid_t pid, bool *ret_refused, struct err *err) MUST_CHECK;

#endif
