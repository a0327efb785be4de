/* SPDX-License-Identifier: MIT
 * A shard: one handle set with its leadership, its batch and its mailbox.
 *
 *   kernel --wait--> batch --claim--> turn           (the leader's way)
 *   owner  --submit--> mailbox --drain--> backlog --> turn
 *
 * The batch holds the events of one wait.  It belongs to the shard and not to
 * the thread that fetched it: a leader that promotes leaves the rest to the
 * next leader.  The mailbox holds handlers that are already owned: after a turn
 * that used up its budget, or a deadline that has passed.  Ownership is passed
 * on with them, so the mailbox needs no memory, has no limit and never holds a
 * stale entry.
 *
 * Shards are freed together with their pool, so the owner of a handler may
 * follow its shard pointer.  A closed shard gives its handle set back as soon
 * as no thread uses the set, and gets another one when it is opened again.
 */
#ifndef LF_SHARD_H
#define LF_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/grace.h"
#include "lf/event_handler.h"
#include "lf/handle_set.h"
#include "lf/policy.h"
#include "lf/promotion.h"

#define SHARD_BATCH 64

struct pool;
struct pool_thread;

/* Fetched events, and owned handlers from the mailbox. */
struct batch {
	struct handle_event events[SHARD_BATCH];
	unsigned next, end;
	uint32_t left; /* end - next, for other threads to read */
	struct event_handler *resumed; /* drained mailbox, oldest first */
	struct event_handler **resumed_end;
	uint32_t resumed_n;       /* their number, for other threads to read */
	bool looked;              /* a wait since the last one was resumed */
	uint64_t resume_until_ns; /* without another wait */
	uint64_t called_ns;       /* when a leader last called a follower */
	uint64_t ranked_ns; /* when a leader last looked for a better class */
	uint64_t alarm_ns;  /* when the alarm goes off; 0: it was stopped */
	/* How long the leader sleeps, on average, after a sleep that was short,
	 * and after a long one; and which the last one was. */
	uint64_t sleep_ns[2];
	bool slept_long;
	uint64_t woke_ns; /* when the leader's last sleep ended */
	bool slept;       /* the last wait was a sleep as leader */
	/* The guard's sleep in which the alarm was set. */
	uint32_t alarm_sleep;

	/* Waits in a row that did not help, while the thread stands by. */
	unsigned needless;

	/* A leader's yields: how many to omit, how many in a row have found
	 * nothing, and how many have lasted long. */
	unsigned yields_to_omit, yields_missed, yields_long;
};

/* Empties the batch. */
void batch_init(struct batch *batch);

/* In the word inside: the shard has no handle set that threads may use. */
#define SHARD_NO_SET 0x80000000u

struct shard {
	/* Written by the control thread while inside has SHARD_NO_SET.  Used
	 * between shard_hold and shard_release, and in turns, which are grace
	 * sections: the set of the shard where the handler is registered, or of
	 * one that was chosen in the same turn.  [P28] */
	struct handle_set *set;
	/* A timerfd, -1: none; see shard_internal.h.  Made and closed together
	 * with the set, and used between shard_hold and shard_release. */
	int alarm;
	struct promotion *promotion;
	struct pool *pool;
	unsigned id;

	/* Written by the control thread, read by all, relaxed. */
	uint32_t policy;   /* enum policy_kind */
	uint32_t closed;   /* takes no handlers and no threads */
	uint32_t homes;    /* threads whose home is this shard */
	uint32_t parallel; /* how many of these have a CPU */
	uint32_t watched;  /* the guard watches the alarm */
	/* From then on no turn is expected to be long, unless the guard meets
	 * one.  The guard writes, relaxed. */
	uint64_t calm_from_ns;
	/* When a turn longer than POLICY_LONG_NS last ended; 0: never.  Any
	 * thread writes, relaxed. */
	uint64_t long_ns;
	uint32_t unattended; /* without a leader, or with one in a long turn */
	uint32_t lends;      /* threads to send to unattended shards;
	                        the holder counts down */
	uint64_t changed_ns; /* when it was opened or its policy changed */
	/* The number of registered handlers. */
	uint32_t handlers;
	/* Handlers that get NOTE_SHIFT go to the shard with this id, which may
	 * have closed.
	 * The control thread writes, relaxed, before it posts the notes, which
	 * order it (P1). */
	uint32_t shift_to;

	/* A stack: any thread pushes, the leader takes all. */
	struct event_handler *mailbox CACHE_LINE_ALIGNED; /* [P2] */
	uint32_t asleep;    /* a leader waits without a time-out [P2] */
	uint32_t sleepers;  /* threads that wait beside others [P2] */
	uint32_t standbys;  /* threads in shard_stand_by */
	uint32_t orders;    /* members have a request [P10] */
	uint32_t unguarded; /* number of the guard's sleep, 0: awake [P18] */
	uint32_t inside;    /* threads that use the set [P28] */
	/* When a thread's wait for events last ended; 0: none has.  Any thread
	 * writes, relaxed. */
	uint64_t looked_ns;
	/* When the turn began for which the leader has published the token or
	 * given it up; 0: the turn was declared long, or the shard has no
	 * leader for another reason. */
	uint64_t busy_since_ns;

	/* Used by the holder only, and passed on with the token. */
	struct batch batch CACHE_LINE_ALIGNED;
};

/* Count the handler as registered at the shard, or no longer.  Caller owns the
 * handler, and has called pool_place in the same grace section. */
static inline void
shard_enter(struct shard *shard, struct event_handler *handler)
{
	atomic_store_relaxed(&handler->shard, shard);
	atomic_add_relaxed(&shard->handlers, 1u);
}

static inline void
shard_leave(struct event_handler *handler)
{
	atomic_sub_acq_rel(&handler->shard->handlers, 1u);
}

/* Initializes a shard without a handle set.  Returns 0 or -errno. */
int shard_init(struct shard *shard, struct pool *pool, unsigned id,
    const struct promotion_ops *promotion);
/* Frees the promotion, the alarm and the handle set; no thread may use the
 * shard. */
void shard_fini(struct shard *shard);

/* -- the handle set: control thread -- */

/* Whether threads may use the handle set. */
bool shard_has_set(const struct shard *shard);

/* Prepares a handle set for a shard that has none, and if alarm is set an
 * alarm, which the guard may watch.  Takes ownership of set. */
void shard_put_set(struct shard *shard, struct handle_set *set, bool alarm);
/* Lets the threads use the prepared set.  Does nothing if they may already. */
void shard_open_set(struct shard *shard);
/* Frees a set that was prepared and not opened, and the alarm. */
void shard_drop_set(struct shard *shard);
/* Frees the set of a closed shard, and the alarm.  Returns false if a thread
 * still uses the set.  No handler may be registered, and a grace period must
 * have passed since a thread could last choose the shard.  Never blocks. */
bool shard_close_set(struct shard *shard);

/* -- pool threads -- */

/* Serves the home shard, or a shard without a leader, until the thread is
 * summoned to retire. */
void shard_serve(struct pool_thread *self);
/* The same for a thread apart (pool_set_spares), which runs nothing but long
 * turns, of all shards. */
void shard_serve_long(struct pool_thread *self);

/* Makes a thread of the handler's shard run it.  Caller owns the handler, and
 * gives it up. */
void shard_submit(struct event_handler *handler);

/* Posts a note to the handler of that generation, and makes sure that it is
 * read.  Returns false if the handler has ended.  Any thread. */
bool shard_note(
    struct event_handler *handler, uint32_t generation, uint32_t note);

/* Wakes a thread that waits, in the handle set, for events of the shard: the
 * leader, or one beside it.  Any thread. */
void shard_wake(struct shard *shard);

/* Makes the holder sweep soon, and waiting threads look at their summons and at
 * the policy.  Any thread. */
void shard_order(struct shard *shard);

/* Looks whether the shard has been without a leader for longer than limit_ns:
 * its leader is in a turn, or no member leads.  If so, gives the token to a
 * parked member, or wakes a thread that stands by, which takes it; sets
 * unattended if there is neither.  Returns whether a thread was called.  Runs
 * on the thread of pool_guard. */
bool shard_guard(struct shard *shard, uint64_t now_ns, uint64_t limit_ns);

#endif
