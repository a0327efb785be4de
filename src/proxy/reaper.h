/* SPDX-License-Identifier: MIT
 * The deadlines of sessions, and notes to all sessions.
 *
 * Each session has one deadline, in proxy->deadlines.  The control thread looks
 * at all of them now and then and leaves NOTE_TIMEOUT with each session whose
 * deadline has passed; the session's owner then finds out what has timed out.
 * Only the owner acts on a session, so the other functions of the control
 * thread leave notes as well and return at once.
 */
#ifndef PROXY_REAPER_H
#define PROXY_REAPER_H

#include "proxy/proxy.h"

/* The longest and the shortest time between two calls of proxy_reap. */
#define REAP_MAX_MS 1500
#define REAP_MIN_MS 250

/* Control thread: leaves NOTE_TIMEOUT with every session whose deadline has
 * passed.  Reads 8 bytes for each session slot ever used.  Returns when to call
 * it next, clock_now_ms, unless call_reaper asks for an earlier call: within
 * REAP_MAX_MS, and within REAP_MIN_MS while sessions have to ask. */
uint64_t proxy_reap(struct proxy *proxy, uint64_t now_ms);

/* The owner of the session with that index: sets its deadline, clock_now_ms; 0:
 * none. */
void proxy_set_deadline(
    struct proxy *proxy, uint32_t index, uint64_t deadline_ms);

/* Control thread: leaves the note with every session.  A session accepted
 * during the call may be missed: to end all of them, stop the acceptors first,
 * and leave NOTE_KILL until proxy_sessions is 0. */
void proxy_note_all(struct proxy *proxy, uint32_t note);

/* Control thread: leaves the note with up to *n sessions from that slot on, and
 * takes their number off *n.  Returns the slot to go on with. */
uint32_t proxy_note_some(
    struct proxy *proxy, uint32_t from, uint32_t *n, uint32_t note);

/* Control thread: leaves the note with the session of that slot, if there is
 * one. */
void proxy_note_one(struct proxy *proxy, uint32_t index, uint32_t note);

/* Control thread: returns the slots of all sessions that wait in a queue, in
 * the order in which they were accepted, for free(3); NULL, and no slots, when
 * memory is short. */
uint32_t *proxy_list_queued(struct proxy *proxy, size_t *ret_n) MUST_CHECK;

/* Control thread, once, when lfproxy begins to drain: from now on sessions that
 * are idle for idle_ms end, or for busy_ms when they wait for an answer. */
void proxy_end_idle(struct proxy *proxy, uint64_t idle_ms, uint64_t busy_ms);

/* Control thread: the shards of the pool have changed.  Has up to *n of its
 * sessions move to the right shard, from that slot on, and takes their number
 * off *n.  Returns the slot to go on with. */
uint32_t proxy_move_some(
    struct proxy *proxy, struct pool *pool, uint32_t from, uint32_t *n);

#endif
