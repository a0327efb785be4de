/* SPDX-License-Identifier: MIT
 * The deadlines of sessions, and notes to all sessions.
 *
 * Each session has one deadline, in proxy->deadlines.  The keeper looks at all
 * deadlines now and then, and leaves NOTE_TIMEOUT with each session whose
 * deadline has passed; the session's owner then finds out what has timed out.
 * Only the owner acts on a session, so the functions of the control thread
 * leave notes as well and return at once.
 */
#ifndef PROXY_REAPER_H
#define PROXY_REAPER_H

#include "proxy/proxy.h"

/* The longest time between two looks of proxy_reap: REAP_MIN_MS after sessions
 * have had to call it, then twice as long each time, up to REAP_MAX_MS.  A look
 * is up to 25 ms later than that.  When the longest time has passed and there
 * is no session, the next look is the one that a session calls for. */
#define REAP_MAX_MS 2000
#define REAP_MIN_MS 250

/* Leaves NOTE_TIMEOUT with every session whose deadline has passed.  Reads 8
 * bytes for each session slot ever used.  Returns when to call it next,
 * clock_now_ms, unless a session calls the keeper before; UINT64_MAX: not
 * before.  See REAP_MAX_MS.  Runs on the keeper's thread. */
uint64_t proxy_reap(struct proxy *proxy, uint64_t now_ms);

/* Sets the deadline of the session with that index, clock_now_ms; 0: none.
 * Calls the keeper if the deadline is before its next look.  Runs on the
 * session's owner. */
void proxy_set_deadline(
    struct proxy *proxy, uint32_t index, uint64_t deadline_ms);

/* Leaves the note with every session.  A session that is accepted during the
 * call may be missed: to end all sessions, stop the acceptors first, and leave
 * NOTE_KILL until proxy_sessions is 0.  Runs on the control thread. */
void proxy_note_all(struct proxy *proxy, uint32_t note);

/* Leaves the note with up to *n sessions from slot `from` on, and subtracts
 * their number from *n.  Returns the slot to go on with.  Runs on the control
 * thread. */
uint32_t proxy_note_some(
    struct proxy *proxy, uint32_t from, uint32_t *n, uint32_t note);

/* Leaves the note with the session of that slot, if there is one.  Runs on the
 * control thread. */
void proxy_note_one(struct proxy *proxy, uint32_t index, uint32_t note);

/* Returns the slots of all sessions that wait in a queue, in the order in which
 * they were accepted, and their number in *ret_n.  The caller frees the array
 * with free(3).  Returns NULL, and *ret_n 0, when memory is short.  Runs on the
 * control thread. */
uint32_t *proxy_list_queued(struct proxy *proxy, size_t *ret_n) MUST_CHECK;

/* Begins to end idle sessions: from now on sessions end that are idle for
 * idle_ms, or for busy_ms when they wait for an answer.  Runs on the control
 * thread, once, when lfproxy begins to drain. */
void proxy_end_idle(struct proxy *proxy, uint64_t idle_ms, uint64_t busy_ms);

/* Makes up to *n sessions of the pool, from slot `from` on, move to the shard
 * where they belong, and subtracts their number from *n.  Returns the slot to
 * go on with.  To be called after the shards of the pool have changed.  Runs on
 * the control thread. */
uint32_t proxy_move_some(
    struct proxy *proxy, struct pool *pool, uint32_t from, uint32_t *n);

#endif
