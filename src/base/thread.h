/* SPDX-License-Identifier: MIT
 * Threads other than the control thread.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>

/* Starts a thread with all signals blocked: they are for the control thread.
 * Returns 0 or an errno, as pthread_create does. */
static inline int
thread_start(pthread_t *ret_thread, const pthread_attr_t *attr,
    void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(ret_thread, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* Returns advice about an errno of starting threads, and what belongs to them,
 * to be appended to the error's text; "" if there is none. */
static inline const char *
thread_start_hint(int error)
{
	switch (error) {
	case EAGAIN:
		return "; raise the limit of threads (TasksMax, pids.max, "
		       "ulimit -u)";
	case EMFILE:
		return "; raise the limit of descriptors (LimitNOFILE, "
		       "ulimit -n)";
	default:
		return "";
	}
}

#endif
