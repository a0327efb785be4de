/* SPDX-License-Identifier: MIT
 * The worker: jobs that take longer than the control loop may block, such as
 * reading files, sorting a million entries or hashing a password.
 *
 *   worker_submit --> waits in its queue --> run, on a thread --> done, in the
 *                                                                 control loop
 *
 * Jobs begin in the order of worker_submit, and at most `at_once` jobs of a
 * queue run at a time.  A job waits for jobs of its own queue only: a file on a
 * mount that does not answer never delays jobs of other kinds.  The number of
 * threads is at most the sum of all at_once.
 *
 * Each job has a thread, `lf-worker`, which is made when the job begins and
 * ends with it, so an idle process has no thread of the worker.  Making and
 * joining a thread takes 50 us, and nothing that takes less than a millisecond
 * is worth a job.
 *
 * The memory of a job is the owner's until worker_submit, and again from done
 * on.  In between it belongs to the worker: from the beginning of run to its
 * end only that thread uses it.  A job therefore owns, or holds references to,
 * everything that run uses, since its owner may be freed meanwhile (see
 * worker_cancel).
 *
 * There is one worker in a process.  All functions run on the control thread.
 * None blocks but worker_stop, and worker_submit without a loop.
 */
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

#include <ev.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"

/* Jobs of one kind.  Static; the user sets the first two members. */
struct work_queue {
	unsigned at_once; /* jobs that run at a time, at least 1 */
	int nice;         /* of their threads; 0: that of the process */
	unsigned running;
};

/* A job, embedded in a struct of its user, who sets the first three members.
 * The others are the worker's. */
struct work {
	struct work_queue *queue;
	/* Runs on the job's thread, where all signals are blocked. */
	void (*run)(struct work *work);
	/* Runs on the control thread, exactly once, and may free the job.
	 * error: 0 after run; ECANCELED after worker_cancel and in worker_stop,
	 * whether the job has run or not; otherwise the errno value for which
	 * the thread could not be made: the job has not run.  May call
	 * worker_submit and worker_cancel. */
	void (*done)(struct work *work, int error);

	struct list node;
	pthread_t thread;
	int error; /* of making the thread */
	bool begun, cancelled;
	bool ended; /* set by the thread */
};

/* Starts the worker, which calls done in the loop from now on. */
void worker_start(struct ev_loop *loop);

/* Submits the job.  done is not called from within this call, except while the
 * worker is not started, or stopped: then run and done are called at once. */
void worker_submit(struct work *work);

/* Cancels a job that was submitted and whose done was not called yet.  A job
 * that has not begun never runs, and done is called from within this call.
 * Otherwise done is called when run has ended.  Either way its error is
 * ECANCELED, so the owner of the job may be freed: done has to leave it
 * alone. */
void worker_cancel(struct work *work);

/* Calls run(object) on a thread, for example to free a large object, or at once
 * if that is impossible.  The queue's jobs may all be of this kind. */
void worker_call(
    struct work_queue *queue, void (*run)(void *object), void *object);

/* Stops the worker.  Cancels all jobs, and waits for those that have begun,
 * limit_ms in all.  Returns false if jobs are left behind, which use
 * the loop and libraries: then the caller must not destroy the loop, and ends
 * the process by _exit(2).  Returns true if the worker was not started. */
bool worker_stop(uint64_t limit_ms) MUST_CHECK;

#endif
