/* SPDX-License-Identifier: MIT
 * See pss.h.
 */
#include "control/pss.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "base/atomics.h"
#include "control/system_facts.h"

static uint32_t running;     /* [P26] a thread is reading */
static struct pss found;     /* the thread's, until it is released */
static uint64_t begun, done; /* readings; control thread only */
static struct pss last;      /* of the one that was done last; likewise */

static void *
read_it(void *arg)
{
	uint64_t ignored;
	struct pss pss = {.bytes = 0};

	(void)arg;
	(void)pthread_setname_np(pthread_self(), "lf-pss");
	(void)system_pss(&ignored, &pss.bytes, &pss.took_us);
	found = pss;
	atomic_store_release(&running, 0u); /* [P26] */
	return NULL;
}

/* False when the system has no thread for it. */
static bool
start(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t id;
	int rc;

	if (pthread_attr_init(&attr) != 0)
		return false;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* Signals are for the control thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&id, &attr, read_it, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return rc == 0;
}

/* True when no thread reads. */
static bool
collect(void)
{
	if (atomic_load_acquire(&running)) /* [P26] */
		return false;
	if (done < begun) {
		last = found;
		done = begun;
	}
	return true;
}

uint64_t
pss_ask(void)
{
	if (!collect())
		return begun;
	begun++;
	found = (struct pss){.bytes = 0};
	atomic_store_relaxed(&running, 1u);
	if (!start())
		atomic_store_relaxed(&running, 0u);
	return begun;
}

bool
pss_read(uint64_t number, struct pss *ret_pss)
{
	(void)collect();
	if (done < number)
		return false;
	*ret_pss = last;
	return true;
}
