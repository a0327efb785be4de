/* SPDX-License-Identifier: MIT
 * The keeper: one thread of the data plane, lf-keeper, for the work of sessions
 * that has its time.  It guards the pools (pool_guard), looks at the deadlines
 * (reaper.h), wakes the directions that wait for bandwidth (pacer.h), and
 * resumes acceptors that have paused (accept_limits.h).  The control thread may
 * be busy meanwhile for as long as it likes.
 *
 * The keeper's rounds are short: it allocates nothing, opens no file and takes
 * no lock that another thread holds across a system call.  While nothing is due
 * the keeper sleeps.
 */
#ifndef PROXY_KEEPER_H
#define PROXY_KEEPER_H

#include <stdint.h>

#include "base/grace.h"
#include "proxy/proxy.h"

struct keeper;

/* The reasons for a round before the next one is due. */
#define KEEPER_DEADLINE  1u  /* a deadline comes before the next look */
#define KEEPER_BANDWIDTH 2u  /* a direction is due before the next look */
#define KEEPER_LIMITS    4u  /* the limits on bandwidth have changed */
#define KEEPER_ACCEPTOR  8u  /* an acceptor has paused */
#define KEEPER_GUARD     16u /* a shard may be without a leader */
#define KEEPER_PROOF     32u /* the control thread asks for a sign of life */

/* Starts the keeper of the proxy, and enters it there.  Called before the pools
 * start; the thread is a reader of the grace domain.  Returns 0 or -errno.
 * Runs on the control thread. */
int keeper_start(struct proxy *proxy, struct grace *grace) MUST_CHECK;

/* Ends the thread.  Called before the pools' memory is freed; pool threads may
 * still call the keeper, in vain.  Waits for the present round.  NULL is
 * allowed.  Runs on the control thread. */
void keeper_stop(struct keeper *keeper);

/* Frees the keeper, which was stopped.  Called after the pools have ended.
 * NULL is allowed. */
void keeper_free(struct keeper *keeper);

/* Makes the keeper begin a round soon, for the reasons given.  Any thread;
 * never blocks.  NULL: does nothing. */
void keeper_call(struct keeper *keeper, uint32_t reasons);

/* How often the guard looks, and how long a poll gap has lasted when the guard
 * ends it: so none lasts 2 ms while turns are long. */
#define KEEPER_GUARD_NS NS_PER_MS
#define KEEPER_GAP_NS   (NS_PER_MS / 4 * 3)

/* In all that follows a keeper that is NULL does nothing, and moves. */

/* Guards the pool from now on.  Returns false when memory is short.  Runs on
 * the control thread. */
bool keeper_guard(struct keeper *keeper, struct pool *pool) MUST_CHECK;
/* Guards the pool no longer, which can be freed then.  Waits for a look at the
 * pools that is under way.  Runs on the control thread. */
void keeper_unguard(struct keeper *keeper, struct pool *pool);

/* Watches the alarms of all shards of the pool; turns of a shard that has none,
 * or whose alarm the kernel refuses, call the keeper.  Called after each change
 * of shards.  Runs on the control thread. */
void keeper_watch_alarms(struct keeper *keeper, struct pool *pool);

/* Turns the guard of all pools on or off; off is for fault injection. */
void keeper_set_guarding(struct keeper *keeper, bool on);

/* Asks the keeper for a sign of life.  Returns false if the keeper has begun no
 * round since the call before: the thread is stuck in a round, or was not
 * woken.  Called by one caller, at intervals longer than any round.  Runs on
 * the control thread. */
bool keeper_moves(struct keeper *keeper);

#endif
