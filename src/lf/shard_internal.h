/* SPDX-License-Identifier: MIT
 * Internals of shards.  Only files of lf include this file.
 */
#ifndef LF_SHARD_INTERNAL_H
#define LF_SHARD_INTERNAL_H

#include <stdbool.h>

#include "lf/admission.h"
#include "lf/pool.h"
#include "lf/shard.h"

/* Allows the caller to use the handle set until shard_release.  Returns false
 * if the shard has no set: it is closed, and no thread waits there.  May be
 * nested. Any thread. */
bool shard_hold(struct shard *shard);
/* Ends the use of the handle set that shard_hold has allowed. */
void shard_release(struct shard *shard);

enum batch_wait {
	BATCH_LEADING, /* the holder waits, with the shard's batch */
	BATCH_LOOKING, /* the holder takes what is there, with that batch */
	BATCH_BESIDE,  /* beside others, with the thread's own batch */
};

/* Whether the handler's next turn was declared long and has to wait for others:
 * then the caller has given the handler up.  Else its next turn is short or
 * admitted.  Caller owns the handler. */
static inline bool
shard_has_to_wait(struct event_handler *handler, const struct pool_thread *self)
{
	return handler->next_turn == NEXT_LONG &&
	       !admission_ask(
	           pool_admission(self->pool), handler, self->now_ns);
}

/* Runs an admitted turn and, as long as nothing else is wanted of the calling
 * thread, those that are admitted as it ends: to pass each of them to another
 * thread would cost two wake-ups.  Caller owns the handler and does not lead.
 */
void shard_run_long(struct event_handler *handler, struct pool_thread *self);

/* Waits for events and for the mailbox, and fills the batch, which is empty. */
void batch_fetch(struct shard *shard, struct batch *b, enum batch_wait how,
    struct pool_thread *self);

/* Whether the shard has work in its batch, fetched or brought, that the holder
 * has not looked at.  The holder knows; others may ask what the last one has
 * left. */
static inline bool
shard_has_rest(const struct shard *shard)
{
	return atomic_load_relaxed(&shard->batch.left) > 0 ||
	       atomic_load_relaxed(&shard->batch.resumed_n) > 0;
}

/* Waits beside others, once, and runs what there is.  Returns whether there was
 * anything.  The caller holds the shard. */
bool shard_wait_beside(struct shard *shard, struct pool_thread *self);

/* Under adaptive, for a thread that found the token held: waits in the handle
 * set beside the leader and runs what comes, as long as events do.  At most
 * `parallel` threads wait, the leader included.  Returns false if the thread is
 * to park instead: there is no room, no event came for BESIDE_LOOK_MS, or the
 * leader could have taken the last events (POLICY_NEEDLESS). */
bool shard_stand_by(struct shard *shard, struct pool_thread *self);

/* Note: the guard asleep.
 * The guard sets unguarded, then reads the token, and stays awake if the token
 * is not held.  A leader publishes the token or gives it up, then reads
 * unguarded, and calls the guard if it is set.  At least one of the two sees
 * the other's write, so every turn is guarded, also one that begins while the
 * guard goes to sleep.  A declared long turn is run without the token: there
 * the number of admitted turns takes the token's place.  [P18] */
/* Note: the alarm.
 * To wake the guard for each turn would cost more than most turns take.  While
 * the guard is asleep the holder of the token sets an alarm before it publishes
 * the token or gives it up, and stops it before it sleeps as leader.  Both are
 * system calls, so an alarm that has three quarters of its time left is not set
 * again, and one is not stopped where sleeps are much shorter than it: the next
 * turn sets it again before it goes off.  So the guard is woken, on the
 * keeper's thread, when the shard may have been without a leader for three
 * quarters of the alarm's time or longer.  Only the holder sets the alarm or
 * stops it.  An alarm that another holder has left makes the guard look,
 * nothing more.
 *
 * The alarm may go off before the token is published, if the holder loses its
 * CPU meanwhile: then the guard finds the token held, and may go to sleep
 * again.  So sleeps have numbers; the holder compares those from before and
 * after, and an alarm that was set in a former sleep does not count. */
#define SHARD_ALARM_NS 1500000u
/* The same where the guard has met no long turn for POLICY_LONG_SEEN_NS. */
#define SHARD_CALM_ALARM_NS 4000000u

/* Makes the alarm of a shard without a handle set, if the kernel has a
 * descriptor.  The guard is called where there is none, or it is not watched.
 * Runs on the control thread. */
void shard_alarm_open(struct shard *shard);
/* Closes the alarm, if there is one; no thread may use the handle set.  What
 * watches the alarm need not be told.  Runs on the control thread. */
void shard_alarm_close(struct shard *shard);
/* Sets the alarm if the guard is asleep.  Returns the number of that sleep, or
 * 0; after the token was published or given up shard_call_guard_unless has to
 * follow.  The caller holds the token and, since the alarm goes with the handle
 * set, the shard (shard_hold). */
uint32_t shard_set_alarm(struct shard *shard, uint64_t now_ns);
/* Stops the alarm.  Called as shard_set_alarm. */
void shard_stop_alarm(struct shard *shard, uint64_t now_ns);

static inline void
shard_call_guard(struct shard *shard)
{
	if (atomic_load_seq(&shard->unguarded) && /* [P18] */
	    atomic_swap_acq_rel(&shard->unguarded, 0u))
		pool_call_guard(shard->pool);
}

/* Calls the guard if it is asleep, unless an alarm was set in this sleep. */
static inline void
shard_call_guard_unless(struct shard *shard, uint32_t alarm)
{
	if (atomic_load_seq(&shard->unguarded) != alarm) /* [P18] */
		shard_call_guard(shard);
}

/* Returns the next handler to run, which the caller owns then: that of the next
 * event that is not stale, or after all events one from the mailbox.  At most
 * one of the mailbox is returned for each wait.  Returns NULL if none is left.
 */
struct event_handler *batch_next(struct batch *b, struct pool_thread *self);

#endif
